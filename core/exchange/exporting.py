"""What an export of one project is made of: its rows, kind by kind, as of one moment (room.md 2.6 and 3).

An export only looks, so it leaves no row in the trail, and works on a store that may only be read. It reads inside one
snapshot, row by row. The token of a wrap stands in it as its first 8 characters and its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.store.database import SCHEMA_VERSION, View
from core.trail.append import TrailHead, head

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]
ROWS_BETWEEN = 500
"""Rows between two words of progress, and two questions whether it is cancelled."""


class ExportCancelled(Exception):
    """An export was stopped by its caller."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing: the table that holds it, which rows of it (aliased `t`) are the project's, and columns that are left out."""

    name: str
    table: str
    where: str = "t.project_key = :key"
    without: tuple[str, ...] = ()


_OF_PATTERN = "t.pattern_id in (select id from patterns where project_key = :key)"
_OF_SLOT = "t.slot_id in (select id from slots where project_key = :key)"
_OF_SESSION = "t.session_id in (select id from sessions where project_key = :key)"

KINDS = (
    Kind("project", "projects"),
    Kind("connection", "connections", "t.id in (select value from json_each(:connections))"),
    Kind("wrap", "wraps"),
    Kind("episode", "episodes"),
    Kind("supersession", "supersessions"),
    Kind("tombstone", "tombstones"),
    Kind("continuity", "continuity"),
    Kind("salvage", "salvage"),
    Kind("draft", "drafts"),
    Kind("pattern", "patterns"),
    Kind("pattern_evidence", "pattern_grounding", _OF_PATTERN),
    Kind("pattern_history", "pattern_history", _OF_PATTERN),
    Kind("loop", "spores"),
    Kind("loop_note", "spore_notes"),
    Kind("focus", "focus_history"),
    Kind("ticket", "tickets"),
    Kind("slot", "slots"),
    Kind("slot_anchor", "slot_anchors", _OF_SLOT),
    Kind("slot_revision", "slot_history", _OF_SLOT),
    Kind("session", "sessions"),
    Kind("session_checkpoint", "session_checkpoints", _OF_SESSION),
    Kind("session_artifact", "session_artifacts", _OF_SESSION),
    Kind("session_connection", "session_connections", _OF_SESSION),
    Kind("knowledge", "knowledge", without=("pieces",)),
    Kind("notice", "notices"),
    Kind("baton", "batons"),
    Kind("attachment", "attachments", without=("content",)),
    Kind("audit", "audit"),
)
"""Everything that belongs to a project, in an order in which what is referred to comes first. Rows of a kind are in the order they came."""
OF_NAME = {kind.name: kind for kind in KINDS}

CONNECTED = (
    *("select distinct connection_id from episodes where project_key = :key",),
    *("select connection_id from wraps where project_key = :key", "select connection_id from salvage where project_key = :key"),
    *("select connection_id from drafts where project_key = :key", "select connection_id from notices where project_key = :key"),
    *(
        "select connection_id from sessions where project_key = :key",
        "select connection_id from knowledge where project_key = :key",
    ),
    f"select t.connection_id from session_connections t where {_OF_SESSION}",
)


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote: of which project and moment, how many things of each kind, and the trail's head at that moment."""

    project_key: str
    exported_at: str
    store_id: str
    layout: int
    head: TrailHead | None
    counts: dict[str, int]

    @property
    def rows(self) -> int:
        """How many things in all."""
        return sum(self.counts.values())


class Source:
    """A project in a snapshot, ready to be written out."""

    def __init__(self, view: View, project_key: str, now: datetime) -> None:
        """Refuses `project_not_found`: an export of nothing is a mistyped name."""
        self.view = view
        self.key = projects.normal_key(project_key)
        if view.one("select 1 from projects where project_key = ?", (self.key,)) is None:
            raise Refusal(
                "project_not_found",
                f"There is no project {self.key[:60]!r} in this store, so nothing was exported. `watchroom projects` lists them.",
                facts={"project_key": self.key},
            )
        trail = view.all("select connection_id, count(*) from audit where project_key = ? group by connection_id", (self.key,))
        connected = {row[0] for row in trail}
        for sql in CONNECTED:
            connected |= {row[0] for row in view.all(sql, {"key": self.key})}
        self.parameters = {"key": self.key, "connections": json.dumps(sorted(one for one in connected if isinstance(one, str)))}
        counts = {kind.name: self._count(kind) for kind in KINDS if kind.name != "audit"}
        counts["audit"] = sum(row[1] for row in trail)
        self.exported = Exported(
            self.key, stamp(now), view.one("select store_id from store")[0], SCHEMA_VERSION, head(view), counts
        )

    def _count(self, kind: Kind) -> int:
        return int(self.view.one(f"select count(*) from {kind.table} t where {kind.where}", self.parameters)[0])

    def columns(self, kind: Kind) -> tuple[str, ...]:
        """The columns of a kind's rows, in the table's order."""
        return tuple(name for name in self.view.columns(kind.table) if name not in kind.without)

    def rows(
        self, kind: Kind, columns: Sequence[str], *, errors: str = "surrogateescape", order: str = "t.rowid"
    ) -> Iterator[tuple[Any, ...]]:
        """Every row of a kind in those columns, as stored. What is not UTF-8 is decoded with that error handler."""
        listed = ", ".join(f"t.{name}" for name in columns)
        sql = f"select {listed} from {kind.table} t where {kind.where} order by {order}"
        return self.view.stream(sql, self.parameters, errors=errors)


def short_token(token: object) -> tuple[str | None, str | None]:
    """A wrap's token as an export has it: its first 8 characters, and its SHA-256 (room.md 2.6)."""
    if token is None:
        return None, None
    text = token.decode("utf-8", "replace") if isinstance(token, bytes) else str(token)
    return text[:8], hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


class Ticker:
    """Counts rows, says now and then how far the work is, and stops it when it is cancelled."""

    def __init__(self, total: int, progress: Progress | None, cancelled: Cancelled | None) -> None:
        self._total = total
        self._progress = progress
        self._cancelled = cancelled
        self.done = 0

    def tick(self) -> None:
        """One more row. Raises ExportCancelled."""
        if self.done % ROWS_BETWEEN == 0:
            if self._cancelled and self._cancelled():
                raise ExportCancelled
            if self._progress:
                self._progress(self.done, self._total)
        self.done += 1
