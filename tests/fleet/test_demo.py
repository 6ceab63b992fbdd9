"""The demo as a whole: real processes, the operator's part played headless, and nothing left afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from core.server.demo.headless import DEAD_REASON, STEPS, WEDGED_REASON
from core.server.demo.reports import Report

ROOT = Path(__file__).parents[2]
STORY_SECONDS = 150
GONE_WITHIN_SECONDS = 10


class Demo:
    """A running `watchroom demo` with the lines it printed and the processes it was seen to have."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.lines: list[str] = []
        self.seen: dict[int, psutil.Process] = {}
        self._said = threading.Condition()
        self._over = False
        self.process = subprocess.Popen(
            [sys.executable, "-m", "console.cli", "demo", "--headless", *options],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, words: str, seconds: float = 60) -> str:
        """Wait until a line with these words was printed, and give it."""
        with self._said:
            self._said.wait_for(lambda: self._over or self._line_with(words) is not None, timeout=seconds)
        line = self._line_with(words)
        assert line is not None, f"{words!r} was not said:\n{self.text}"
        return line

    @property
    def text(self) -> str:
        """All that was printed."""
        return "\n".join(self.lines)

    def finish(self) -> int:
        """Wait for the end and give the exit code."""
        code = self.process.wait(STORY_SECONDS)
        self._reader.join(5)
        return code

    def left_over(self, within: float = GONE_WITHIN_SECONDS) -> list[psutil.Process]:
        """The processes that are still there after so many seconds; a zombie is gone."""
        _, alive = psutil.wait_procs(self.seen.values(), timeout=0)
        running = [one for one in alive if not _ended(one)]
        _, alive = psutil.wait_procs(running, timeout=within)
        return [one for one in alive if not _ended(one)]

    def _line_with(self, words: str) -> str | None:
        return next((line for line in self.lines if words in line), None)

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._remember()
            with self._said:
                self.lines.append(line.rstrip("\n"))
                self._said.notify_all()
        with self._said:
            self._over = True
            self._said.notify_all()

    def _remember(self) -> None:
        with contextlib.suppress(psutil.Error):
            for one in psutil.Process(self.process.pid).children(recursive=True):
                self.seen.setdefault(one.pid, one)


def _ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def demos(tmp_path: Path) -> Iterator[list[Demo]]:
    """The demos that a test started; what is left of them is ended, so that one failure brings no other."""
    started: list[Demo] = []
    yield started
    for demo in started:
        for one in [*demo.seen.values(), psutil.Process(demo.process.pid)] if demo.process.poll() is None else demo.seen.values():
            with contextlib.suppress(psutil.Error):
                one.kill()
        demo.process.wait(10)


def test_the_whole_story_is_seen_headless_and_nothing_is_left(tmp_path: Path, demos: list[Demo]) -> None:
    demo = Demo(tmp_path, "--for", "120s")
    demos.append(demo)
    dead = demo.wait_for("is DEAD, open")
    assert "blocks 1 agent" in dead
    assert dead.count("is gone") == 2, "both the server and its client are named as gone"
    assert float(dead.split()[0]) < 30, "DEAD within 30 s"
    assert demo.finish() == 0, demo.text
    for words in (
        "entered at 1x in wrap 1 and climbed to 2x in wrap",
        "is killed with -9 inside its wrap",
        "wrap_in_progress: wrap",
        DEAD_REASON,
        "looks LIVE",
        "backs off",
        "is WEDGED",
        "wrap_cancelled",
        WEDGED_REASON,
        "as salvage",
        f"{len(STEPS)} of {len(STEPS)} steps",
        "every agent has ended",
    ):
        assert words in demo.text, words
    assert len(demo.seen) >= 10, "agents and servers were processes"
    assert demo.left_over() == []
    assert list(tmp_path.iterdir()) == []


def test_a_killed_fleet_takes_its_agents_and_servers_with_it(tmp_path: Path, demos: list[Demo]) -> None:
    demo = Demo(tmp_path, "--for", "120s", "--store", str(tmp_path / "kept.db"))
    demos.append(demo)
    demo.wait_for("billing-agent  enters")
    demo.process.kill()
    demo.process.wait(10)
    assert len(demo.seen) >= 6
    assert demo.left_over() == []


def test_a_story_cut_short_says_what_was_not_seen(tmp_path: Path, demos: list[Demo]) -> None:
    demo = Demo(tmp_path, "--for", "1s")
    demos.append(demo)
    assert demo.finish() == 1
    assert f"not seen: {STEPS['dead_cancelled']}" in demo.text
    assert demo.left_over() == []
    assert list(tmp_path.iterdir()) == []


def test_an_ended_demo_cleans_up(tmp_path: Path, demos: list[Demo]) -> None:
    demo = Demo(tmp_path)
    demos.append(demo)
    demo.wait_for("release-agent  enters")
    demo.process.send_signal(signal.SIGTERM)
    assert demo.finish() == 130
    assert demo.left_over() == []
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_exists_is_left_alone(tmp_path: Path, demos: list[Demo]) -> None:
    path = tmp_path / "mine.db"
    path.write_bytes(b"somebody's")
    demo = Demo(tmp_path, "--store", str(path))
    demos.append(demo)
    assert demo.finish() == 2
    assert "exists already" in demo.text
    assert path.read_bytes() == b"somebody's"


def test_a_store_that_cannot_be_made_is_said_in_a_sentence(tmp_path: Path, demos: list[Demo]) -> None:
    (tmp_path / "file").touch()
    demo = Demo(tmp_path, "--store", str(tmp_path / "file" / "demo.db"))
    demos.append(demo)
    assert demo.finish() == 1
    assert "Traceback" not in demo.text
    assert demo.left_over() == []


def test_an_agent_that_loses_its_server_says_so_and_ends(tmp_path: Path) -> None:
    own = ["-m", "core.server.demo", "--name", "lonely", "--role", "worker", "--project", "docs", "--protocol", "legacy", "--"]
    process = subprocess.Popen(
        [sys.executable, *own, sys.executable, "-c", "pass"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout
    process.stdin.write("enter\n")
    process.stdin.flush()
    report = Report.read(process.stdout.readline())
    assert process.wait(20) == 1, "although its orders have not ended"
    process.stdin.close()
    process.stdout.close()
    assert report is not None and report.event == "lost"
