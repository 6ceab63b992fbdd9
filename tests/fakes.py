"""The one fake clock and the one fake process table of the tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from core.models import ProcessIdentity, ProcessState

START = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
HERE = ProcessIdentity(host="db1", boot="boot-1", namespace="pid:[1]", pid=100, started_ticks=1_000)


class FakeClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._monotonic = 1_000.0

    def now(self) -> datetime:
        """The time in UTC."""
        return self._now

    def today(self) -> date:
        """The calendar date, which is UTC's here."""
        return self._now.date()

    def monotonic(self) -> float:
        """Seconds on a clock that nobody sets."""
        return self._monotonic

    def advance(self, seconds: float) -> datetime:
        """Let time pass; gives the new time."""
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
        return self._now

    def suspend(self, seconds: float) -> datetime:
        """Let the machine sleep: the wall clock goes on, the monotonic one does not."""
        self._now += timedelta(seconds=seconds)
        return self._now

    def set(self, moment: datetime) -> None:
        """Set the wall clock, as an operator or NTP would."""
        self._now = moment


class FakeProcesses:
    """A process table that a test fills; this process and its parent are in it and alive."""

    def __init__(
        self, here: ProcessIdentity = HERE, parent: tuple[int, int] | None = (90, 900), program: str | None = "sh"
    ) -> None:
        self.identity = here
        self.parent_of_here = parent
        self.program = program
        self.table: dict[int, int] = {here.pid: here.started_ticks or 0}
        if parent:
            self.table[parent[0]] = parent[1]
        self.denied: set[int] = set()
        self.probed: list[int] = []

    def here(self) -> ProcessIdentity:
        """This process."""
        return self.identity

    def parent(self) -> tuple[int | None, int | None]:
        """Pid and start of the parent."""
        return self.parent_of_here or (None, None)

    def state(self, pid: int, started_ticks: int | None) -> ProcessState:
        """What the table says; the probe is noted in `probed`."""
        self.probed.append(pid)
        if pid in self.denied:
            return "unknown"
        if pid not in self.table:
            return "gone"
        return "alive" if started_ticks in (None, self.table[pid]) else "gone"

    def program_of_parent(self) -> str | None:
        """The name of the parent program."""
        return self.program

    def add(self, pid: int, started_ticks: int) -> ProcessIdentity:
        """Start a process on this host; gives its identity."""
        self.table[pid] = started_ticks
        return replace(self.identity, pid=pid, started_ticks=started_ticks)

    def kill(self, pid: int) -> None:
        """End a process."""
        self.table.pop(pid, None)

    def deny(self, pid: int) -> None:
        """Make every probe of a pid fail."""
        self.denied.add(pid)
