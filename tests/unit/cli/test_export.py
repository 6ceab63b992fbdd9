"""`watchroom export`: stdout is the data, a file is whole or not there, and the store is only read (console.md, Feel)."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import select
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core.room import Room
from core.store.library import sqlite3
from tests.unit.cli.conftest import ROOT, Cli, on_a_small_disk

TEXTS = ("jsonl", "markdown")
FORMS = (*TEXTS, "sqlite")
MIDDLE = """
import sys, threading
from core.exchange import exporting
tick = exporting.Ticker.tick
def stop_in_the_middle(self):
    tick(self)
    if self.done == 5:
        print("in the middle", flush=True)
        threading.Event().wait()
exporting.Ticker.tick = stop_in_the_middle
from console.cli import main
main(sys.argv[1:])
"""

SAYS_WHEN_READ = """
import sys
from core.views.look import Looker
close = Looker.close
def says(self):
    close(self)
    print("read", file=sys.stderr, flush=True)
Looker.close = says
from console.cli import main
main(sys.argv[1:])
"""


@pytest.fixture
def demo(agent: Room) -> Room:
    """A project demo with more than one block of a file holds."""
    for number in range(20):
        agent.do("record", project_key="demo", content=f"{number} words " * 60, episode_type="context")
    return agent


@pytest.mark.parametrize("form", TEXTS)
def test_a_file_and_stdout_have_the_same(cli: Cli, demo: Room, tmp_path: Path, form: str) -> None:
    file = tmp_path / "out" / "demo"
    file.parent.mkdir()
    receipt = cli.data("export", "demo", "--format", form, "-o", str(file))
    content = file.read_bytes()
    assert (receipt["file"], receipt["format"], receipt["project"]) == (str(file), form, "demo")
    assert (receipt["bytes"], receipt["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert receipt["counts"]["episode"] == 22 and receipt["rows"] == sum(receipt["counts"].values())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for arguments in (("demo",), ("--project", "demo"), ("demo", "-o", "-")):
        shown = cli("export", *arguments, "--format", form)
        assert (shown.exit_code, shown.stdout_bytes, shown.stderr) == (0, content, "")
    assert list(file.parent.iterdir()) == [file]


def test_it_says_what_it_wrote(cli: Cli, demo: Room, tmp_path: Path) -> None:
    done = cli("export", "demo", "-o", str(tmp_path / "demo.jsonl"))
    rows = len((tmp_path / "demo.jsonl").read_text().splitlines()) - 2
    assert done.stdout == f"Wrote {rows} rows of project demo to {tmp_path / 'demo.jsonl'}.\n"


def test_a_store_of_its_own_opens_and_verifies(cli: Cli, demo: Room, tmp_path: Path) -> None:
    file = tmp_path / "out" / "demo.db"
    file.parent.mkdir()
    receipt = cli.data("export", "demo", "--format", "sqlite", "-o", str(file))
    assert list(file.parent.iterdir()) == [file] and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert receipt["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest() and receipt["bytes"] == file.stat().st_size
    status = json.loads(cli.bare("status", "--store", str(file), "--json").stdout)["data"]
    assert [(one["project_key"], one["episodes"]) for one in status["projects"]] == [("demo", 22)]
    assert cli.bare("audit", "verify", "--store", str(file)).stdout.startswith("OK: ")
    doctor = cli.bare("doctor", "--store", str(file), "--thorough")
    assert doctor.exit_code == 0 and "broken " not in doctor.stdout


@pytest.mark.parametrize("form", FORMS)
def test_what_is_there_is_left_alone_unless_forced(cli: Cli, demo: Room, tmp_path: Path, form: str) -> None:
    file = tmp_path / "demo"
    file.write_text("mine")
    arguments = ("export", "demo", "--format", form, "-o", str(file))
    assert cli.error(*arguments)["code"] == "file_exists"
    assert file.read_text() == "mine"
    cli.data(*arguments, "--force")
    assert file.read_bytes() != b"mine"
    own = ("export", "demo", "--format", form, "--force", "-o")
    assert "own files" in cli.error(*own, str(cli.rooms.path))["sentence"]
    assert cli.error(*own, str(tmp_path / "no" / "where"))["code"] == "file_unwritable"


def test_wrong_usage_is_told(cli: Cli, demo: Room) -> None:
    assert cli("export", "demo", "--json").exit_code == 2, "a receipt and the rows cannot share stdout"
    assert cli("export", "demo", "--project", "other").exit_code == 2
    assert cli("export", "demo", "--format", "xml").exit_code == 2
    assert cli("export", "demo", "--format", "sqlite").exit_code == 2, "a store is a file"
    unknown = cli("export", "no-such-project")
    assert (unknown.exit_code, unknown.stdout) == (1, "") and "project_not_found" in unknown.stderr


def test_an_export_leaves_no_trace_in_the_store(cli: Cli, demo: Room) -> None:
    with demo.snapshot() as view:
        before = view.one("select max(seq) from audit")[0], view.one("select count(*) from connections")[0]
    cli("export", "demo")
    with demo.snapshot() as view:
        assert (view.one("select max(seq) from audit")[0], view.one("select count(*) from connections")[0]) == before


def test_a_store_that_another_process_writes_to_is_exported_at_once(
    cli: Cli, demo: Room, writer: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert cli.data("export", "demo", "-o", str(tmp_path / "out"))["counts"]["episode"] == 22


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_one_that_is_ended_in_the_middle_leaves_no_file(demo: Room, tmp_path: Path, form: str, sent: int, code: int) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    store = str(demo.place.path)
    command = [sys.executable, "-c", MIDDLE, "export", "demo", "--format", form, "-o", str(folder / "demo"), "--store", store]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as export:
        assert export.stdout is not None and export.stderr is not None
        assert export.stdout.readline() == "in the middle\n"
        assert [one.name[:6] for one in folder.iterdir()] == [".demo."]
        export.send_signal(sent)
        assert export.wait(20) == code, export.stderr.read()
    assert not (folder / "demo").exists()
    if sent == signal.SIGINT:
        assert list(folder.iterdir()) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_disk_that_is_full_is_said_of_the_file_and_not_of_the_store(demo: Room, tmp_path: Path, form: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    arguments = ["export", "demo", "--format", form, "-o", str(folder / "demo"), "--store", str(demo.place.path), "--json"]
    done = on_a_small_disk(*arguments, size=4_096)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"]) == (1, "file_unwritable")
    assert error["sentence"].startswith(f"{folder / 'demo'} could not be written: ")
    assert "/.demo." not in error["sentence"], "nobody knows the name that it has meanwhile"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("command", [("export", "demo"), ("export", "demo", "--format", "markdown"), ("audit", "export")])
def test_a_slow_reader_does_not_hold_the_store_s_snapshot(demo: Room, command: tuple[str, ...]) -> None:
    """Faults.md S6: a pipe that nobody reads must not keep the log from being cut."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4_096)
    arguments = [sys.executable, "-c", SAYS_WHEN_READ, *command, "--store", str(demo.place.path)]
    with subprocess.Popen(arguments, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True) as export:
        os.close(writing)
        assert export.stderr is not None
        ready = select.select([export.stderr], [], [], 20)[0]
        if not ready:
            export.kill()
        assert ready and export.stderr.readline() == "read\n"
        demo.do("record", project_key="demo", content="after the snapshot", episode_type="context")
        outside = sqlite3.connect(str(demo.place.path), isolation_level=None)
        busy = outside.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
        outside.close()
        assert busy == 0, "nobody reads the store any more, though the export is not done"
        assert export.poll() is None
        with os.fdopen(reading) as pipe:
            assert len(pipe.read()) > 4_096
        assert export.wait(20) == 0


@pytest.mark.parametrize("command", [("export", "demo"), ("audit", "export")])
def test_a_reader_that_leaves_is_no_fault_of_the_store(demo: Room, command: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    arguments = [sys.executable, "-m", "console.cli", *command, "--store", str(demo.place.path)]
    done = subprocess.run(arguments, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=30, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")
