"""The one way to make a store in tests: rooms on a temporary path, with a fake clock and a fake process table."""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path
from typing import Any

from core.errors import Refusal
from core.models import ProcessIdentity
from core.room import Place, Room, Surface
from tests.fakes import HERE, FakeClock, FakeProcesses

SECTIONS = ("State", "Patterns", "Decisions", "Context")


class CountingIds:
    """Ids that a test can foresee: they count, over all rooms of one store."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def token(self) -> str:
        """A wrap token."""
        return hashlib.sha256(f"token {next(self._numbers)}".encode()).hexdigest()[:32]

    def episode_id(self) -> str:
        """An episode id."""
        return f"{next(self._numbers):08x}"

    def unique(self) -> str:
        """A UUID-like text."""
        return f"00000000-0000-0000-0000-{next(self._numbers):012x}"


class Rooms:
    """Rooms on one store: each is a process of its own in the fake process table."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = FakeClock()
        self.processes = FakeProcesses()
        self.ids = CountingIds()
        self._pids = itertools.count(1_000)
        self._rooms: list[Room] = []

    def agent(self, session_id: str | None = None, *, surface: Surface = "stdio", client: str = "claude-code") -> Room:
        """An agent's server, registered and beating once."""
        pid = next(self._pids)
        parent = pid + 5_000
        self.processes.table[pid] = pid * 10
        self.processes.table[parent] = parent * 10
        identity = ProcessIdentity(HERE.host, HERE.boot, HERE.namespace, pid, pid * 10)
        room = self._open(Place(self.path, surface, session_id), identity, (parent, parent * 10))
        room.enter()
        room.called(client, "1.0")
        return room

    def operator(self) -> Room:
        """An operator's command."""
        return self._open(Place(self.path, "cli"), HERE, None)

    def kill(self, room: Room) -> None:
        """Kill -9 an agent, its server and its client: their processes are gone and nobody beats for it again."""
        facts = room.processes
        assert isinstance(facts, FakeProcesses)
        self.processes.table.pop(facts.identity.pid, None)
        if facts.parent_of_here:
            self.processes.table.pop(facts.parent_of_here[0], None)

    def close(self) -> None:
        """Close every room."""
        for room in self._rooms:
            room.close()

    def _open(self, place: Place, identity: ProcessIdentity, parent: tuple[int, int] | None) -> Room:
        processes = FakeProcesses(identity, parent)
        processes.table = self.processes.table
        processes.denied = self.processes.denied
        room = Room(place, clock=self.clock, ids=self.ids, processes=processes, patience=2.0)
        self._rooms.append(room)
        return room


def text(**bodies: str) -> str:
    """A continuity text that has every required section."""
    return "".join(f"## {name}\n{bodies.get(name, 'nothing to note')}\n\n" for name in SECTIONS)


def refused(room: Room, verb: str, **arguments: Any) -> Refusal:
    """The refusal that a verb must give."""
    try:
        result = room.do(verb, **arguments)
    except Refusal as refusal:
        return refusal
    raise AssertionError(f"{verb} was not refused: {result}")


def trail(room: Room, outcome: str | None = "done") -> list[tuple[str, str | None]]:
    """Events and subjects of the trail, without connections', store's and projects' own."""
    with room.snapshot() as view:
        rows = view.all("select event, subject, outcome from audit order by seq")
    quiet = ("connection_", "store_", "project_")
    return [
        (row["event"], row["subject"]) for row in rows if outcome in (None, row["outcome"]) and not row["event"].startswith(quiet)
    ]
