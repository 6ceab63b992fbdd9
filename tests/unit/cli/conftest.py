"""The command line in tests: run in this process on a fake clock and process table, or as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from console.cli import main
from core.room import Room
from tests.rooms import Rooms

ROOT = Path(__file__).resolve().parents[3]


class Cli:
    """`watchroom` on the store of a test's rooms."""

    def __init__(self, rooms: Rooms) -> None:
        self.rooms = rooms

    def __call__(self, *arguments: str, answers: str | None = None) -> Result:
        """Run a command with --store behind it."""
        return self.bare(*arguments, "--store", str(self.rooms.path), answers=answers)

    def bare(self, *arguments: str, answers: str | None = None) -> Result:
        """Run exactly these arguments; an exception that is no exit is an error of the test."""
        result = CliRunner().invoke(main, list(arguments), input=answers, prog_name="watchroom")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def json(self, *arguments: str, code: int = 0) -> Any:
        """The one JSON object of a command's answer; checks the exit code."""
        result = self(*arguments, "--json")
        assert result.exit_code == code, result.output
        lines = result.stdout.splitlines()
        assert len(lines) == 1, result.stdout
        return json.loads(lines[0])

    def data(self, *arguments: str, code: int = 0) -> Any:
        """The data of a command's answer."""
        return self.json(*arguments, code=code)["data"]

    def error(self, *arguments: str, code: int = 1) -> Any:
        """The error of a command's refusal."""
        return self.json(*arguments, code=code)["error"]


def process(*arguments: str, **more: Any) -> subprocess.Popen[str]:
    """`watchroom` as a process of its own, with pipes."""
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-m", "console.cli", *arguments]
    return subprocess.Popen(command, cwd=ROOT, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}, **{**pipes, **more})


def on_a_small_disk(*arguments: str, size: int) -> subprocess.CompletedProcess[str]:
    """`watchroom` as a process that cannot make a file longer than `size` bytes."""
    code = (
        "import resource, sys\nfrom console.cli import main\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\nmain(sys.argv[1:])"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=30
    )


@pytest.fixture
def cli(rooms: Rooms, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """The command line, looking with the rooms' clock and process table; whoever names no store gets none of ours."""
    for name in ("XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path_factory.mktemp("home")))
    for name in ("WATCHROOM_STORE", "WATCHROOM_PROJECT", "WATCHROOM_WEDGED_AFTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WATCHROOM_PATIENCE", "0.3")
    monkeypatch.setattr("core.clock.SystemClock", lambda: rooms.clock)
    for module in ("core.views.look", "core.room", "core.life.processes"):
        monkeypatch.setattr(f"{module}.SystemProcesses", lambda: rooms.processes)
    return Cli(rooms)


@pytest.fixture
def agent(rooms: Rooms) -> Room:
    """An agent with an open wrap of project demo that froze two episodes."""
    room = rooms.agent("alice")
    for content in ("the build is red", "the build is green"):
        room.do("record", project_key="demo", content=content, episode_type="observation")
    room.do("prepare_wrap", project_key="demo", max_chars=20_000, staleness_days=7)
    return room


@pytest.fixture
def writer(rooms: Rooms, agent: Room) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the store's write lock until the test ends."""
    code = (
        "import sys\nfrom core.store.library import sqlite3\nc = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('begin immediate')\nprint('held', flush=True)\nsys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(rooms.path)]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        yield holder
        assert holder.stdin is not None
        holder.stdin.close()
        holder.wait(10)


def damage(rooms: Rooms, sql: str, *values: object) -> None:
    """Write to the store around the program, as a careless tool would."""
    from core.store.library import sqlite3

    connection = sqlite3.connect(str(rooms.path), isolation_level=None, timeout=5)
    connection.execute(sql, values)
    connection.close()


def make_partial(rooms: Rooms, wrap_id: int = 1) -> None:
    """Damage a wrap's row, so that its seal does not match."""
    damage(rooms, "update wraps set started_at = 'x' where id = ?", wrap_id)
