"""`watchroom import anneal`: its report first, asking only on a terminal, whole or not at all (issue 4, import; console.md, Feel)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from console.commands import importing as importing_module
from tests.foreign import copied, lengthened, spoilt
from tests.unit.cli.conftest import ROOT, Cli
from tests.unit.cli.terminal import on_terminal

MIDDLE = """
import sys, threading
from console.commands import output
def stop_in_the_middle(self, done, total):
    if self._what == "importing" and done >= 4_000:
        print("in the middle", flush=True)
        threading.Event().wait()
output.Progress.__call__ = stop_in_the_middle
from console.cli import main
main(sys.argv[1:])
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The database of a real store of 1.0.2."""
    return copied("1.0.2", tmp_path)


def counts(report: Any) -> dict[str, tuple[int, int]]:
    return {one["what"]: (one["found"], one["imported"]) for one in report["taken"]}


def projects(cli: Cli) -> list[tuple[str, int]]:
    return [(one["project_key"], one["episodes"]) for one in cli.data("status")["projects"]]


def test_a_dry_run_prints_the_report_and_makes_not_even_a_store(cli: Cli, source: Path) -> None:
    shown = cli("import", "anneal", str(source), "--dry-run", "--project", "shop")
    assert shown.exit_code == 0 and shown.stderr == ""
    lines = shown.stdout.splitlines()
    assert lines[0] == f"{source}, format 2, into project shop"
    assert ["episodes", "10", "10"] in [line.split() for line in lines]
    assert any(line.split()[:3] == ["retired", "crystals", "1"] for line in lines)
    assert any(line.startswith("Its audit trail holds: ") for line in lines)
    assert cli.data("import", "anneal", str(source), "--dry-run")["outcome"] == "dry_run"
    assert not cli.rooms.path.exists()


def test_without_a_terminal_it_imports_and_asks_nobody(cli: Cli, source: Path) -> None:
    done = cli("import", "anneal", str(source), "--project", "shop")
    assert done.exit_code == 0 and done.stderr == ""
    assert done.stdout.splitlines()[0] == f"{source}, format 2, into project shop"
    last = done.stdout.splitlines()[-1]
    assert last.startswith("Imported into shop: 10 episodes, ") and last.endswith(" Other writers waited 0.0 s.")
    assert projects(cli) == [("shop", 10)]
    assert cli.bare("audit", "verify", "--store", str(cli.rooms.path)).stdout.startswith("OK: ")
    again = cli("import", "anneal", str(source), "--project", "shop")
    assert again.stdout.splitlines()[-1] == "Nothing is new since the last import into shop; nothing was changed."


def test_json_is_one_line_with_what_was_found_and_taken(cli: Cli, source: Path) -> None:
    done = cli.data("import", "anneal", str(source))
    assert (done["outcome"], done["project_key"], done["first"]) == ("imported", "default", True)
    assert counts(done)["episodes"] == (10, 10) and counts(done)["open wrap"] == (1, 1)
    assert (done["trail_entries"] > 10, done["trail_findings"]) == (True, [])
    again = cli.data("import", "anneal", str(source))
    assert (again["outcome"], again["first"], counts(again)["episodes"]) == ("nothing_new", False, (10, 0))


@pytest.mark.parametrize(("answer", "code", "there"), [("y", 0, [("default", 10)]), ("n", 130, []), ("", 130, [])])
def test_a_terminal_is_asked_after_the_report(
    cli: Cli, source: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, there: list[Any]
) -> None:
    monkeypatch.setattr(importing_module, "on_terminal", lambda: True)
    cli.rooms.operator()
    result = cli("import", "anneal", str(source), answers=f"{answer}\n" if answer else "")
    assert result.exit_code == code
    assert result.stderr.count("Import this?") == 1 and "into project default" in result.stdout
    assert projects(cli) == there


def test_yes_asks_nobody_and_neither_does_an_import_with_nothing_new(
    cli: Cli, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing_module, "on_terminal", lambda: True)
    for arguments in (("--yes",), ()):
        result = cli("import", "anneal", str(source), *arguments)
        assert (result.exit_code, result.stderr) == (0, "")
    assert projects(cli) == [("default", 10)]


def test_what_cannot_be_imported_is_refused_in_clear_words(cli: Cli, source: Path, tmp_path: Path) -> None:
    cli.rooms.operator().do("record", project_key="mine", content="my own", episode_type="context")
    words = tmp_path / "words.txt"
    words.write_text("no database at all, but long enough to be looked at" * 40)
    newer = copied("0.9.6", tmp_path / "newer")
    with spoilt(newer) as there:
        there.execute("update metadata set value = '3' where key = 'format_version'")
    for path, code, said in (
        (tmp_path / "none.db", "store_unusable", "no file"),
        (tmp_path, "store_unusable", "folder"),
        (words, "store_unusable", "no SQLite file"),
        (cli.rooms.path, "store_unusable", "watchroom store"),
        (newer, "import_newer_format", "Update watchroom"),
    ):
        for more in ((), ("--dry-run",)):
            error = cli.error("import", "anneal", str(path), *more)
            assert error["code"] == code and said in error["sentence"], path
    for more in ((), ("--dry-run",)):
        assert cli.error("import", "anneal", str(source), "--project", "mine", *more)["code"] == "import_project_in_use"
    cli.data("import", "anneal", str(source), "--project", "shop")
    error = cli.error("import", "anneal", str(source), "--project", "other")
    assert (error["code"], error["facts"]) == ("import_elsewhere", {"project_key": "shop"})
    assert cli("import", "anneal", str(source), "--project", "No Key").exit_code == 1
    assert cli("import", "anneal").exit_code == 2
    assert cli("import", "sqlite", str(source)).exit_code == 2
    assert projects(cli) == [("mine", 1), ("shop", 10)]


def test_a_busy_store_is_said_to_be_busy(cli: Cli, source: Path, writer: subprocess.Popen[str]) -> None:
    assert cli.data("import", "anneal", str(source), "--project", "shop", "--dry-run")["outcome"] == "dry_run"
    assert cli.error("import", "anneal", str(source), "--project", "shop")["code"] == "store_busy"


def test_findings_are_shown_and_drive_no_terminal(cli: Cli, source: Path) -> None:
    log = source.with_name("memory.audit.jsonl")
    log.write_bytes(log.read_bytes().replace(b'"type":"decision"', b'"type":"tension"', 1))
    with spoilt(source) as there:
        there.execute('create table "\x1b[31m[/x] odd" (one)')
        there.execute('insert into "\x1b[31m[/x] odd" values (1)')
    shown = cli("import", "anneal", str(source), "--dry-run").stdout
    assert "\x1b" not in shown and "[/x] odd" in shown
    assert "Its audit trail is BROKEN in 1 places" in shown and "is altered or missing" in shown


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_one_that_is_ended_in_the_middle_leaves_no_trace_and_can_be_done_again(
    cli: Cli, source: Path, sent: int, code: int
) -> None:
    before = cli.rooms.operator()
    before.do("record", project_key="mine", content="my own", episode_type="context")
    lengthened(source, 10_000)
    with before.snapshot() as view:
        rows = view.one(
            "select (select count(*) from audit), (select count(*) from connections), (select count(*) from attachments)"
        )
    arguments = ["import", "anneal", str(source), "--project", "shop", "--store", str(cli.rooms.path)]
    with subprocess.Popen(
        [sys.executable, "-c", MIDDLE, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as one:
        assert one.stdout is not None and one.stderr is not None
        while (line := one.stdout.readline()) != "in the middle\n":
            assert line, one.stderr.read()
        assert projects(cli) == [("mine", 1)], "nobody sees a half import"
        one.send_signal(sent)
        assert one.wait(20) == code, one.stderr.read()
    assert cli.bare("audit", "verify", "--store", str(cli.rooms.path)).stdout.startswith("OK: ")
    assert cli.bare("doctor", "--thorough", "--store", str(cli.rooms.path)).exit_code == 0
    assert projects(cli) == [("mine", 1)]
    with before.snapshot() as view:
        again = view.one(
            "select (select count(*) from audit), (select count(*) from connections), (select count(*) from attachments)"
        )
    assert tuple(again) == tuple(rows)
    done = cli.data("import", "anneal", str(source), "--project", "shop")
    assert (done["first"], counts(done)["episodes"]) == (True, (10_010, 10_010))
    assert projects(cli) == [("mine", 1), ("shop", 10_010)]
    assert cli.bare("audit", "verify", "--store", str(cli.rooms.path)).stdout.startswith("OK: ")


@pytest.mark.parametrize(("answer", "code"), [(b"y\r", 0), (b"n\r", 130)])
def test_a_real_terminal_is_shown_how_far_it_is_and_asked(cli: Cli, source: Path, answer: bytes, code: int) -> None:
    lengthened(source, 5_000)
    with on_terminal("import", "anneal", str(source), "--store", str(cli.rooms.path)) as terminal:
        terminal.wait_for(b"Import this? [y/N]: ")
        assert b"\rreading: 2,000 of 5,010 rows" in terminal.shown
        assert not cli.rooms.path.exists(), "before the answer nothing is written"
        terminal.type(answer)
        assert terminal.end() == code, terminal.shown
        assert (b"\rimporting: 2,000 of 5,010 rows" in terminal.shown) == (code == 0)
        assert (b"Imported into default: 5,010 episodes" in terminal.shown) == (code == 0)
        assert b"Traceback" not in terminal.shown
    assert cli.rooms.path.exists() == (code == 0)


def test_without_a_terminal_no_progress_is_written(cli: Cli, source: Path) -> None:
    command = [sys.executable, "-m", "console.cli", "import", "anneal", str(source), "--store", str(cli.rooms.path), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=60)
    assert done.stderr == "" and json.loads(done.stdout)["data"]["outcome"] == "imported"
