"""The demo's fleet: it starts agents as processes, kills the one that is to die, and stops all of them (issue 2, item 9).

It kills only what it started, known by process handle and start time, never by a bare pid or a name (faults.md R16).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from core.errors import StoreError
from core.server.demo.reports import Order, Report
from core.server.demo.seed import seed
from core.views import wraps
from core.views.look import Looker

WEDGED_AFTER = "20"
"""Seconds after which the demo calls an idle holder WEDGED, for the environment of agents and observers."""
WATCH_SECONDS = 0.5
END_WITHIN_SECONDS = 7.0
ENTER_WITHIN_SECONDS = 8.0

Role = Literal["worker", "doomed", "blocked", "wedged", "waiter", "shift"]


@dataclass(frozen=True, slots=True)
class Part:
    """One agent of the cast. `protocol` is how its client negotiates: both eras take part."""

    name: str
    role: Role
    project: str
    protocol: Literal["auto", "legacy"] = "auto"


DOOMED = Part("release-agent", "doomed", "checkout")
BLOCKED = Part("bugfix-agent", "blocked", "checkout")
WEDGED = Part("ranking-agent", "wedged", "search", "legacy")
BILLING = Part("billing-agent", "worker", "payments")
WAITER = Part("review-agent", "waiter", "payments", "legacy")
DOCUMENTING = Part("docs-agent", "worker", "docs")
SHIFT = Part("relevance-agent", "shift", "search")
CAST = (DOOMED, BLOCKED, WEDGED, SHIFT, BILLING, WAITER, DOCUMENTING)
"""In the order they enter: first those whose story takes longest to see."""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something in the fleet's life: seconds since its start, which agent, and its report."""

    seconds: float
    agent: str
    report: Report

    @property
    def sentence(self) -> str:
        """It as one line for people."""
        return f"{self.seconds:6.1f} s  {self.agent:<14} {self.report.sentence}"


class AgentProcess:
    """An agent that this fleet started: its process, its orders, its reports."""

    def __init__(self, part: Part, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self.part = part
        self.killed = False
        self.ended = threading.Event()
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the agent has been reaped
        self._writing = threading.Lock()
        self.process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
            cwd=Path(__file__).parents[3],
            # a ctrl-c in the console's terminal is not meant for agents
            start_new_session=True,
        )

    def order(self, order: Order) -> None:
        """Give an order; to one that is gone it is lost."""
        with self._writing, contextlib.suppress(OSError, ValueError):
            assert self.process.stdin
            self.process.stdin.write(order.encode() + b"\n")
            self.process.stdin.flush()

    def dismiss(self) -> None:
        """Let the agent end by itself: its orders end."""
        with self._writing, contextlib.suppress(OSError):
            assert self.process.stdin
            self.process.stdin.close()

    def kill(self) -> None:
        """SIGKILL for the agent's server and the agent itself, the server first, so that nobody has time to say goodbye."""
        import psutil

        if self.process.poll() is not None:
            return
        self.killed = True
        with contextlib.suppress(psutil.Error):
            # a child of a process that has not been reaped: its pid can't have become another's
            for server in psutil.Process(self.process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    server.kill()
        self.process.kill()

    def last_words(self) -> str:
        """What it or its server wrote to stderr last."""
        with contextlib.suppress(OSError, ValueError):
            self.errors.seek(0)
            lines = self.errors.read().decode("utf-8", "replace").strip().splitlines()
            return " | ".join(lines[-3:])
        return ""


class Fleet:
    """Builds the demo's store and runs its agents. `heard` is called for every happening, from the fleet's own thread."""

    def __init__(self, path: Path, server_command: Sequence[str], heard: Callable[[Happening], None] = lambda _: None) -> None:
        """Nothing is started yet. `server_command` starts a server; `--store`, `--project` and `--session-id` are added to it."""
        self.path = path
        self._server_command = list(server_command)
        self._heard = heard
        self._environment = {**os.environ, "WATCHROOM_WEDGED_AFTER": os.environ.get("WATCHROOM_WEDGED_AFTER") or WEDGED_AFTER}
        self._started_at = time.monotonic()
        self._agents: dict[str, AgentProcess] = {}
        self._reports: queue.SimpleQueue[tuple[Part, Report] | None] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._direct, name="watchroom-fleet", daemon=True)
        self._wedged_wrap: int | None = None
        self._free: set[Part] = set()

    @property
    def seconds(self) -> float:
        """Seconds since the fleet was made."""
        return time.monotonic() - self._started_at

    def start(self) -> None:
        """Build the store with its history, then let the agents come in the background. Raises StoreError."""
        atexit.register(self.stop)
        # the first agent imports its libraries while the history is written
        self._start(DOOMED)
        try:
            seed(self.path, gated_session=DOCUMENTING.name)
        except BaseException:
            self.stop()
            raise
        self._thread.start()

    def stop(self) -> None:
        """End every agent that this fleet started and wait for it; a second call does nothing more."""
        with self._lock:
            self._stopping.set()
            agents = list(self._agents.values())
        self._reports.put(None)
        for agent in agents:
            agent.dismiss()
        deadline = time.monotonic() + END_WITHIN_SECONDS
        for agent in agents:
            if not agent.ended.wait(max(0.0, deadline - time.monotonic())):
                agent.kill()
                agent.ended.wait(2.0)
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(2.0)
        atexit.unregister(self.stop)

    # the director: one thread

    def _direct(self) -> None:
        self._enter(DOOMED, until="entered")
        self._start(BLOCKED)
        self._take_reports(ENTER_WITHIN_SECONDS, stop_at=(DOOMED, "killed"))
        for part in CAST[1:]:
            self._start(part)
            self._enter(part, until="entered")
        with Looker(self.path) as looker:
            while not self._stopping.is_set():
                self._take_reports(WATCH_SECONDS)
                self._wake_the_wedged(looker)

    def _enter(self, part: Part, until: str) -> None:
        """Let an agent in and wait until it has come that far, but not for ever: two cores start few agents at once."""
        if not self._stopping.is_set():
            self._agents[part.name].order("enter")
            self._take_reports(ENTER_WITHIN_SECONDS, stop_at=(part, until))

    def _let_go(self, part: Part) -> None:
        """Tell an agent that what it waits for has come, now or when it has been started."""
        self._free.add(part)
        if part.name in self._agents:
            self._agents[part.name].order("go")

    def _take_reports(self, seconds: float, stop_at: tuple[Part, str] | None = None) -> None:
        """Pass reports on for a while, at most until the one to stop at has come."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self._stopping.is_set():
            try:
                item = self._reports.get(timeout=left)
            except queue.Empty:
                break
            if item is None:
                break
            part, report = item
            self._heard(Happening(self.seconds, part.name, report))
            if report.event == "prepared" and part is DOOMED:
                self._kill_the_doomed()
            elif report.event == "prepared" and part is WEDGED and self._wedged_wrap is None:
                self._wedged_wrap = report.facts.get("wrap_id")
            if stop_at and stop_at[0] is part and report.event in (stop_at[1], "lost", "ended"):
                break

    def _kill_the_doomed(self) -> None:
        self._agents[DOOMED.name].kill()
        self._reports.put((DOOMED, Report("killed", "is killed with -9 inside its wrap, client and server")))
        self._let_go(BLOCKED)

    def _wake_the_wedged(self, looker: Looker) -> None:
        """Wake the wedged agent when its wrap has ended: for it to look itself would be a call, which makes it LIVE."""
        if self._wedged_wrap is None or WEDGED in self._free:
            return
        with contextlib.suppress(StoreError), looker.snapshot() as (view, witness):
            detail = wraps.wrap_detail(view, witness, self._wedged_wrap)
            if detail is None or detail.row.ended_at is not None:
                self._let_go(WEDGED)

    # processes

    def _start(self, part: Part) -> None:
        with self._lock:
            if part.name in self._agents or self._stopping.is_set():
                return
            server = [*self._server_command, "--store", str(self.path), "--project", part.project, "--session-id", part.name]
            own = [sys.executable, "-m", "core.server.demo", "--name", part.name, "--role", part.role]
            arguments = [*own, "--project", part.project, "--protocol", part.protocol, "--", *server]
            agent = AgentProcess(part, arguments, self._environment)
            self._agents[part.name] = agent
        if part in self._free:
            agent.order("go")
        threading.Thread(target=self._read, args=(agent,), name=f"reports of {part.name}", daemon=True).start()

    def _read(self, agent: AgentProcess) -> None:
        stream: Any = agent.process.stdout
        for line in stream:
            report = Report.read(line.decode("utf-8", "replace"))
            if report:
                self._reports.put((agent.part, report))
        code = agent.process.wait()
        if not agent.killed and not self._stopping.is_set():
            words = agent.last_words()
            self._reports.put((agent.part, Report("ended", f"has ended with {code}: {words}", {"code": code})))
        stream.close()
        agent.errors.close()
        agent.ended.set()
