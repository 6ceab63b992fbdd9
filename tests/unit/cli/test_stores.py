"""Stores that cannot be used: said in a sentence, never shown as empty, never a traceback (faults.md T19, T55, S1, S7)."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.room import Room
from core.store.library import sqlite3
from tests.rooms import Rooms
from tests.unit.cli.conftest import Cli, damage, process

LOOKING = [
    *(
        ("status",),
        (),
        ("wraps",),
        ("wraps", "1"),
        ("audit", "list"),
        ("audit", "verify"),
        ("audit", "export"),
        ("audit", "anchor"),
    ),
    *(("audit", "follow", "--for", "0"), ("baton", "status"), ("gate", "status")),
]
ACTING_ON_WHAT_IS_THERE = [
    *(("cancel", "1", "--reason", "x"), ("cancel", "--reason", "x"), ("ask-release", "1"), ("baton", "release", "bob")),
    ("audit", "anchor", "--accept", "x"),
]


def unusable(cli: Cli, path: Path, command: tuple[str, ...], code: str) -> str:
    """The sentence with which a command refuses a store, in words and as JSON."""
    result = cli.bare(*command, "--store", str(path))
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.startswith(f"{code}: ")
    return " ".join(result.stderr.split())


@pytest.mark.parametrize("command", LOOKING + ACTING_ON_WHAT_IS_THERE, ids=" ".join)
def test_a_missing_store_is_said_and_not_made(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "none.db"
    assert f"There is no store at {path}" in unusable(cli, path, command, "store_missing")
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_prepares_a_room_makes_the_store(cli: Cli) -> None:
    assert cli.data("gate", "require", "--project", "demo")["gate"] == "required"
    assert cli.rooms.path.exists()


@pytest.mark.parametrize("command", [("wraps",), ("gate", "open"), ("audit", "verify")], ids=" ".join)
def test_a_folder_is_no_store(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    assert "is a folder" in unusable(cli, tmp_path, command, "store_unusable")


@pytest.mark.parametrize("command", [("wraps",), ("gate", "open"), ("cancel", "7", "--reason", "x")], ids=" ".join)
def test_a_path_that_cannot_be_looked_at_is_said_to_be_so(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    words = unusable(cli, tmp_path / ("x" * 300), command, "store_unusable")
    assert words.endswith("cannot be used: File name too long.")


def test_a_foreign_store_that_cannot_be_looked_at_is_said_to_be_so(cli: Cli, tmp_path: Path) -> None:
    error = cli.error("import", "anneal", str(tmp_path / ("x" * 300)))
    assert error["code"] == "store_unusable" and "cannot be read: File name too long" in error["sentence"]


@pytest.mark.parametrize("command", [("wraps",), ("gate", "open"), ("audit", "verify")], ids=" ".join)
def test_a_text_file_is_no_store_and_stays_as_it_is(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n" * 500)
    assert "is not a watchroom store" in unusable(cli, path, command, "store_unusable")
    assert path.read_text() == "my notes\n" * 500


@pytest.mark.parametrize("command", [("wraps",), ("gate", "open"), ("audit", "list")], ids=" ".join)
def test_a_newer_store_is_left_alone(cli: Cli, agent: Room, command: tuple[str, ...]) -> None:
    damage(cli.rooms, "pragma user_version = 99")
    assert "layout 99" in unusable(cli, cli.rooms.path, command, "store_newer")


def test_an_empty_file_is_said_to_be_empty(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    assert "is empty" in unusable(cli, path, ("wraps",), "store_missing")


def test_another_programs_file_is_no_store(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(str(path))
    connection.execute("create table t (x)")
    connection.commit()
    connection.close()
    assert "another program" in unusable(cli, path, ("status",), "store_unusable")


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_looking_waits_for_no_writer(cli: Cli, writer: subprocess.Popen[str], command: tuple[str, ...]) -> None:
    result = cli(*command)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "command", [("gate", "require"), ("baton", "claim", "bob"), ("cancel", "1", "--reason", "x", "--typed", "x")], ids=" ".join
)
def test_doing_says_that_the_store_is_busy(cli: Cli, writer: subprocess.Popen[str], command: tuple[str, ...]) -> None:
    error = cli.error(*command)
    assert error["code"] == "store_busy"
    assert "Nothing was changed" in error["sentence"] or "nothing was changed" in error["sentence"]
    assert not any(word in error["sentence"].lower() for word in ("disk", "permission"))


@pytest.mark.parametrize("command", [*LOOKING, ("doctor",), ("doctor", "--thorough")], ids=" ".join)
def test_looking_writes_nothing(cli: Cli, agent: Room, command: tuple[str, ...]) -> None:
    # a process of its own reads the bytes: closing them in this one would drop its locks (faults.md S3)
    before = in_a_process(state_code(cli.rooms.path))
    assert cli(*command).exit_code == 0
    assert in_a_process(state_code(cli.rooms.path)) == before


def test_a_server_that_cannot_start_says_so_on_stderr_alone(tmp_path: Path) -> None:
    with process("serve", "--store", str(tmp_path)) as one:
        out, words = one.communicate(timeout=60)
    assert (one.returncode, out) == (1, "")
    assert "is a folder" in words and "Traceback" not in words


def state_code(path: Path) -> str:
    """A program that prints the hashes of the store's files."""
    return (
        "import hashlib, pathlib\n"
        f"path = pathlib.Path({str(path)!r})\n"
        "for name in ('', '-wal', '.anchors'):\n"
        "    print(name, hashlib.sha256(path.with_name(path.name + name).read_bytes()).hexdigest())\n"
        "print(sorted(one.name for one in path.parent.iterdir()))\n"
    )


def in_a_process(code: str) -> str:
    """What a program prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30).stdout


@contextlib.contextmanager
def without_privileges() -> Iterator[None]:
    """As somebody who owns nothing here: root would be stopped by no file mode."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="file modes")
def test_a_read_only_store_can_be_looked_at_and_refuses_deeds_in_a_sentence(cli: Cli) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        rooms = Rooms(folder / "store.db")
        room = rooms.agent()
        room.do("record", project_key="demo", content="x", episode_type="observation")
        others = Cli(rooms)
        assert others("wraps").exit_code == others("gate", "open").exit_code == 0  # everything is imported now
        for one in folder.iterdir():
            one.chmod(0o444)
        folder.chmod(0o555)
        with without_privileges():
            looked, done = others("wraps"), others("gate", "require")
        folder.chmod(0o755)
        assert looked.exit_code == 0, looked.output
        assert done.exit_code == 1
        assert "read-only for you" in " ".join(done.stderr.split()) or "cannot be opened" in done.stderr
        rooms.close()
