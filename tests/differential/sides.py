"""The two systems behind one interface: our agent server's tools, and those of anneal-memory's server, on a store each.

A script names episodes and wraps by handles; each side has its own ids for them, and its texts come back with the handles in
them. Both live by the same fake clock. What a call comes to is a code, ours or what the peer's words amount to.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from core.room import Room
from core.server.service import Service
from tests.fakes import FakeClock
from tests.rooms import Rooms
from tests.unit.server.support import service_on

OK = "ok"
PROJECT = "demo"
_ID = re.compile(r"\b[0-9a-f]{8}\b")
_HANDLE = re.compile(r"\{(\w+)\}")
THEIR_WORDS: tuple[tuple[str, str], ...] = (
    (r"no longer holds partial wrap state", "wrap_not_partial"),
    (r"partial and wrap_token cannot be combined", "invalid_input"),
    (r"is already resolved", "spore_resolved"),
    (r"[Ss]pore \S+ not found", "spore_not_found"),
    (r"kind .* is invalid for|requires a ref|no fields to update|: invalid (type|tier|germination)", "invalid_input"),
    (r"PARTIAL wrap state|partial wrap-in-progress|wrap_started_at is set but|partial .*state", "wrap_partial"),
    (r"Nothing to cancel: the wrap you named has already", "wrap_already_finished"),
    (r"is NOT the one you named", "wrap_token_mismatch"),
    (r"already in progress|wrap is in progress", "wrap_in_progress"),
    (r"No wrap in progress", "no_wrap"),
    (r"wrap_token mismatch", "wrap_token_mismatch"),
    (r"must contain all sections|Ambiguous section heading", "continuity_structure"),
    (r"above this schema's hard maximum", "continuity_too_big"),
    (
        r"not found\. Use recall|derived_from: no episode|the old episode .* does not exist|supersede: .* does not exist",
        "episode_not_found",
    ),
    (
        r"is required|cannot be empty|must be|is not a valid|supersede|derived_from:|state_key|is not an episode id",
        "invalid_input",
    ),
)
"""What the peer's refusals say, the first that fits, and our code for it."""


@dataclass(frozen=True, slots=True)
class Came:
    """What a call came to: `ok` or a code, what each side says beside it, and our result as data."""

    code: str
    words: str
    data: Any = None


class Names:
    """One side's ids by the script's handles, and back."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def learn(self, handle: str, own: str) -> None:
        """This side calls it so."""
        self._ids[handle] = own

    def fill(self, value: Any) -> Any:
        """The same arguments with this side's ids; a handle that it never learnt is an id that nobody has."""
        if isinstance(value, str):
            return _HANDLE.sub(lambda match: self._ids.get(match.group(1), "f" * (32 if match.group(1)[0] == "w" else 8)), value)
        if isinstance(value, Mapping):
            return {name: self.fill(one) for name, one in value.items()}
        return [self.fill(one) for one in value] if isinstance(value, list) else value

    def handles(self, text: str) -> str:
        """A text with handles for this side's ids."""
        back = {own: f"<{handle}>" for handle, own in self._ids.items()}
        return _ID.sub(lambda match: back.get(match.group(), match.group()), text)


class Ours:
    """Our server's tools, for two agents on one store."""

    def __init__(self, folder: Path, clock: FakeClock) -> None:
        self.rooms = Rooms(folder / "ours.db")
        self.rooms.clock = clock
        self.names = Names()
        self._rooms: dict[str, Room] = {}
        self._agents: dict[str, Service] = {}

    def _room(self, agent: str) -> Room:
        if agent not in self._rooms:
            self._rooms[agent] = self.rooms.agent()
            self._agents[agent] = service_on(self._rooms[agent], PROJECT)
        return self._rooms[agent]

    def call(self, agent: str, tool: str, arguments: Mapping[str, Any], handle: str | None = None) -> Came:
        """One call by an agent, who comes when it first calls."""
        self._room(agent)
        answer = self._agents[agent].answer(tool, self.names.fill(arguments))
        words = answer["content"][0]["text"]
        if answer["isError"]:
            return Came(words.split(":")[0], words)
        data = answer["structuredContent"]
        if tool == "prepare_wrap" and data["outcome"] != "opened":
            return Came(data["outcome"], words)
        if handle:
            self.names.learn(handle, data["wrap_token"] if tool == "prepare_wrap" else data["episode_id"])
        return Came(OK, words, data)

    def counts(self) -> dict[str, Any]:
        """Episodes in all and waiting, wraps completed, whether one is open."""
        found = self._room("A").do("status", project_key=PROJECT)
        return {
            "total": found.episodes_total,
            "waiting": found.episodes_waiting,
            "completed": found.wraps_completed,
            "open": found.wrap is not None,
        }

    def text(self) -> str | None:
        """The continuity, with handles."""
        with self._room("A").snapshot() as view:
            row = view.one("select text from continuity where project_key = ? order by revision desc limit 1", (PROJECT,))
        return None if row is None else self.names.handles(row["text"])

    def levels(self) -> dict[tuple[str, str], int]:
        """The levels of every pattern that the store knows."""
        with self._room("A").snapshot() as view:
            rows = view.all("select kind, name, level from patterns where project_key = ?", (PROJECT,))
        return {(row["kind"], row["name"]): row["level"] for row in rows}

    def close(self) -> None:
        """Close every room."""
        self.rooms.close()


class Theirs:
    """The peer's server, for two agents on one store."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "theirs.db"
        self.names = Names()
        self._agents: dict[str, Any] = {}

    def call(self, agent: str, tool: str, arguments: Mapping[str, Any], handle: str | None = None) -> Came:
        """One call by an agent, who comes when it first calls."""
        answer = self._agent(agent)._handle_tools_call({"name": tool, "arguments": self.names.fill(arguments)})
        words = answer["content"][0]["text"]
        if answer["isError"]:
            return Came(next((code for said, code in THEIR_WORDS if re.search(said, words)), f"? {words}"), words)
        if tool == "prepare_wrap" and "Wrap token: " not in words:
            return Came("downgraded" if "(downgraded" in words else "nothing_to_wrap", words)
        if handle:
            found = re.search(r"Wrap token: ([0-9a-f]{32})$" if tool == "prepare_wrap" else r"\(([0-9a-f]{8})\)", words)
            assert found, words
            self.names.learn(handle, found.group(1))
        return Came(OK, words)

    def counts(self) -> dict[str, Any]:
        """The same."""
        found = self.store.status()
        return {
            "total": found.total_episodes,
            "waiting": found.episodes_since_wrap,
            "completed": found.total_wraps,
            "open": found.wrap_in_progress,
        }

    def text(self) -> str | None:
        """The same."""
        path = self._path.with_suffix(".continuity.md")
        return self.names.handles(path.read_bytes().decode()) if path.exists() else None

    def stored_levels(self) -> dict[tuple[str, str], int]:
        """The levels as the last save left them."""
        return dict(self.store.saved_pattern_levels() or {})

    def levels(self) -> dict[tuple[str, str], int]:
        """The levels that the next save will begin from: those whose evidence went are cut only then."""
        from anneal_memory.continuity import _gone_marks, _grounded_trust
        from anneal_memory.graduation import revoked_pattern_levels

        grounding = self.store.pattern_grounding()
        ids = {one for rungs in grounding.values() for groups in rungs.values() for group in groups for one in group["episodes"]}
        trust, _ = _grounded_trust(self.store, ids, set())
        _gone_marks(grounding)
        revoked = revoked_pattern_levels(grounding, lambda one: trust.get(one, "agent"))
        return {
            (kind, name): min(level, revoked.get(name, level)) if kind == "name" else level
            for (kind, name), level in self.stored_levels().items()
        }

    @property
    def store(self) -> Any:
        """The first agent's store."""
        return self._agent("A")._store

    def _agent(self, name: str) -> Any:
        from anneal_memory.server import Server
        from anneal_memory.store import Store

        if name not in self._agents:
            store = Store(self._path, audit=False)
            store._conn.execute("pragma synchronous = off")
            self._agents[name] = Server(store)
        return self._agents[name]

    def close(self) -> None:
        """Close every store."""
        for server in self._agents.values():
            server._store.close()


@contextlib.contextmanager
def both(folder: Path) -> Iterator[tuple[Ours, Theirs, FakeClock]]:
    """Both systems on new stores, by one clock; the peer, which reads the machine's, is given it, and waits for no disk."""
    clock = FakeClock()

    class Day(date):
        @classmethod
        def today(cls) -> date:
            return clock.today()

    class Moment(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return clock.now() if tz else clock.now().replace(tzinfo=None)

    module = "anneal_memory"
    with contextlib.ExitStack() as stack:
        for name in ("continuity", "spores"):
            stack.enter_context(mock.patch(f"{module}.{name}.date", Day))
        for name in ("store", "spores"):
            stack.enter_context(mock.patch(f"{module}.{name}.datetime", Moment))
        stack.enter_context(mock.patch.object(os, "fsync"))
        stack.enter_context(mock.patch(f"{module}.server.logger.disabled", True))
        ours, theirs = Ours(folder, clock), Theirs(folder)
        stack.callback(ours.close)
        stack.callback(theirs.close)
        yield ours, theirs, clock
