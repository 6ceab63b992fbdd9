"""Salvage and drafts as an operator sees them: a list, and one text whole with what keeps it from being adopted (issue 4, 5).

`kept_texts` lists both kinds together, page by page, `kept_text` reads one, `newest_draft` the newest draft of a wrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from core.memory import adopt
from core.memory import kept_texts as kept
from core.memory.adopt import Obstacle
from core.memory.kept_texts import LEFT_BEHIND, TABLES, KeptKind, KeptText
from core.store.deed import Reading

TEXTS_SHOWN = 200
BEGINNING = 300
"""Characters of a text that a list has."""

Before = tuple[int, int]
"""Where a page ends: the lowest salvage id and the lowest draft id seen so far."""
START: Before = (2**62, 2**62)


@dataclass(frozen=True, slots=True)
class KeptRow:
    """One kept text in a list. `beginning` is cut; `code` is the refusal that made it salvage, None for a draft.

    `wrap_state` is that of the wrap it was written for: the draft of an open one is still its agent's.
    """

    kind: KeptKind
    id: int
    project_key: str
    wrap_id: int
    generation: int | None
    wrap_state: Literal["open", "saved", "cancelled", "gone"]
    wrap_ended_reason: str | None
    code: str | None
    client_name: str | None
    characters: int
    beginning: str
    created_at: str
    dealt_with_at: str | None

    @property
    def key(self) -> str:
        """What names it among both kinds: `salvage:3`, `draft:7`."""
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True)
class KeptPage:
    """One page of kept texts, the newest first, and where the next page goes on (None at the end)."""

    rows: tuple[KeptRow, ...]
    next_before: Before | None


@dataclass(frozen=True, slots=True)
class KeptDetail:
    """One kept text whole. `obstacles` say why it cannot be adopted, none when it can as far as its prepare goes.

    `episodes` counts what its wrap had frozen, `prepared_revision` is the continuity's revision that it was written from.
    """

    row: KeptRow
    text: str
    sha256: str
    obstacles: tuple[Obstacle, ...]
    episodes: int
    prepared_revision: int | None


def kept_texts(
    reading: Reading,
    *,
    project_key: str | None = None,
    waiting_only: bool = True,
    before: Before = START,
    limit: int = TEXTS_SHOWN,
) -> KeptPage:
    """Salvage and drafts together, the newest first, at most `limit`, from `before` (the last page's `next_before`) on.

    `waiting_only` leaves out what was dealt with, and the drafts of open wraps.
    """
    found = [
        row
        for kind, last in zip(("salvage", "draft"), before, strict=True)
        for row in _rows(reading, kind, project_key, waiting_only, last, limit + 1)
    ]
    found.sort(key=lambda row: (row.created_at, row.kind, row.id), reverse=True)
    shown = tuple(found[:limit])
    if len(found) <= limit:
        return KeptPage(shown, None)
    ids = [min((row.id for row in shown if row.kind == kind), default=last) for kind, last in zip(TABLES, before, strict=True)]
    return KeptPage(shown, (ids[0], ids[1]))


def kept_text(reading: Reading, kind: KeptKind, item_id: int) -> KeptDetail | None:
    """One kept text whole; None when there is none of that kind with that id."""
    item = kept.find(reading, kind, item_id)
    if item is None:
        return None
    wrap = reading.one(
        "select prepared_revision, case when json_valid(episode_ids) then json_array_length(episode_ids) end as episodes"
        " from wraps where id = ?",
        (item.wrap_id,),
    )
    return KeptDetail(
        _rows(reading, kind, None, False, item_id + 1, 1)[0],
        item.text,
        item.sha256,
        adopt.obstacles(reading, item),
        (wrap["episodes"] or 0) if wrap else 0,
        wrap["prepared_revision"] if wrap else None,
    )


def newest_draft(reading: Reading, wrap_id: int) -> KeptText | None:
    """The newest draft of a wrap whole, None when it has none."""
    return kept.newest_draft(reading, wrap_id)


def _rows(reading: Reading, kind: Any, project_key: str | None, waiting_only: bool, before_id: int, limit: int) -> list[KeptRow]:
    code = "t.code" if kind == "salvage" else "null"
    where = "t.id < ?"
    values: list[Any] = [before_id]
    if project_key is not None:
        where, values = f"{where} and t.project_key = ?", [*values, project_key]
    if waiting_only:
        where += " and t.dealt_with_at is null" + (f" and {LEFT_BEHIND}" if kind == "draft" else "")
    rows = reading.all(
        f"select t.id, t.project_key, t.wrap_id, w.generation, w.ended_at, w.outcome, w.ended_reason, w.id as found, {code} as code,"
        f" c.client_name, length(t.text) as characters, substr(t.text, 1, {BEGINNING}) as beginning, t.created_at, t.dealt_with_at"
        f" from {TABLES[kind]} t left join wraps w on w.id = t.wrap_id left join connections c on c.id = t.connection_id"
        f" where {where} order by t.id desc limit ?",
        (*values, limit),
    )
    return [
        KeptRow(
            kind,
            row["id"],
            row["project_key"],
            row["wrap_id"],
            row["generation"] if isinstance(row["generation"], int) else None,
            _wrap_state(row),
            row["ended_reason"] if isinstance(row["ended_reason"], str) else None,
            row["code"],
            row["client_name"],
            row["characters"],
            row["beginning"],
            row["created_at"],
            row["dealt_with_at"],
        )
        for row in rows
    ]


def _wrap_state(row: Any) -> Literal["open", "saved", "cancelled", "gone"]:
    if row["found"] is None:
        return "gone"
    if row["ended_at"] is None:
        return "open"
    return "saved" if row["outcome"] == "saved" else "cancelled"
