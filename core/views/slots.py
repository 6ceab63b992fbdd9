"""Slots and base focuses as an operator sees them: holder or orphan, and every revision (console.md, screen 4)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.ages import seconds_since
from core.clock import parse_stamp
from core.models import Verdict
from core.sessions import slots
from core.sessions.slots import SlotRevision
from core.store.deed import Reading
from core.views.sessions import SessionRow
from core.views.trail import TrailRow, rows_about

OPEN_SHOWN = 500
REVISIONS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class SlotRow:
    """One slot in a list. Times are stored texts, ages seconds; an open slot without a holder is an orphan."""

    slot_id: str
    project_key: str
    title: str
    revision: int
    holder_session_id: str | None
    holder_client_key: str | None
    holder_verdict: Verdict | None
    is_stale: bool
    receipt_pending: bool
    was_bound: bool
    anchors: tuple[str, ...]
    opened_at: str
    age_seconds: float | None
    body_updated_at: str
    body_age_seconds: float | None
    closed_at: str | None
    close_reason: str | None
    close_note: str | None
    body: str

    @property
    def is_open(self) -> bool:
        """Whether it is not closed."""
        return self.closed_at is None

    @property
    def is_orphan(self) -> bool:
        """Whether it is open and nobody holds it."""
        return self.is_open and self.holder_session_id is None


@dataclass(frozen=True, slots=True)
class SlotDetail:
    """Everything about one slot: its revisions newest first, and its timeline out of the trail."""

    row: SlotRow
    history: tuple[SlotRevision, ...]
    timeline: tuple[TrailRow, ...]


@dataclass(frozen=True, slots=True)
class FocusRevision:
    """One revision of a base focus, as stored; a `focus` of None was erased or never written."""

    focus_revision: int
    focus: str | None
    source: str
    actor: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class BaseFocus:
    """A project's base focus with its revisions, the newest first."""

    project_key: str
    name: str | None
    current_focus: str | None
    focus_revision: int
    focus_updated_at: str | None
    history: tuple[FocusRevision, ...]


def open_slots(
    reading: Reading, sessions: Sequence[SessionRow], now: datetime, *, project_key: str | None = None, limit: int = OPEN_SHOWN
) -> tuple[SlotRow, ...]:
    """The open slots of the store, the newest first, at most `limit`; `sessions` are the open ones, for their verdicts."""
    of_project, values = ("", ()) if project_key is None else (" and project_key = ?", (project_key,))
    found = reading.all(
        f"select {slots.COLUMNS} from slots where closed_at is null{of_project} order by opened_at desc, id desc limit ?",
        (*values, limit),
    )
    return _rows(reading, found, {row.session_id: row for row in sessions}, now)


def closed_slots(
    reading: Reading, now: datetime, *, before: tuple[str, str] | None = None, project_key: str | None = None, limit: int = 200
) -> tuple[SlotRow, ...]:
    """Closed slots, the newest opened first, from `before` (opening and id of the last one seen) on."""
    at, last_id = before or ("~", "~")
    of_project, values = ("", ()) if project_key is None else (" and project_key = ?", (project_key,))
    found = reading.all(
        f"select {slots.COLUMNS} from slots where closed_at is not null{of_project} and (opened_at, id) < (?, ?)"
        " order by opened_at desc, id desc limit ?",
        (*values, at, last_id, limit),
    )
    return _rows(reading, found, {}, now)


def slots_named(
    reading: Reading, name: str, sessions: Sequence[SessionRow], now: datetime, *, limit: int = 20
) -> tuple[SlotRow, ...]:
    """Slots by id or by the beginning of an id."""
    found = reading.all(
        f"select {slots.COLUMNS} from slots where id >= ? and id < ? || 'g' order by closed_at is not null, opened_at desc limit ?",
        (name, name, limit),
    )
    return _rows(reading, found, {row.session_id: row for row in sessions}, now)


def slot_detail(reading: Reading, slot_id: str, sessions: Sequence[SessionRow], now: datetime) -> SlotDetail | None:
    """One slot whole; None when there is none with that id."""
    found = reading.all(f"select {slots.COLUMNS} from slots where id = ?", (slot_id,))
    if not found:
        return None
    row = _rows(reading, found, {one.session_id: one for one in sessions}, now)[0]
    history = reading.all(
        "select revision, body, source, session_id, actor, created_at from slot_history where slot_id = ?"
        " order by revision desc limit ?",
        (slot_id, REVISIONS_SHOWN),
    )
    return SlotDetail(row, tuple(SlotRevision(*tuple(one)) for one in history), rows_about(reading, f"slot:{slot_id}"))


def base_focus(reading: Reading, project_key: str) -> BaseFocus | None:
    """A project's base focus with its history; None when there is no such project."""
    row = reading.one(
        "select project_key, name, current_focus, focus_revision, focus_updated_at from projects where project_key = ?",
        (project_key,),
    )
    if row is None:
        return None
    history = reading.all(
        "select focus_revision, focus, source, actor, created_at from focus_history where project_key = ?"
        " order by focus_revision desc limit ?",
        (project_key, REVISIONS_SHOWN),
    )
    return BaseFocus(*(*row, tuple(FocusRevision(*tuple(one)) for one in history)))


def _rows(reading: Reading, found: Sequence[Any], sessions: Mapping[str, SessionRow], now: datetime) -> tuple[SlotRow, ...]:
    bound = _ever_bound(reading, [row["id"] for row in found])
    result = []
    for slot in slots.listed(reading, found, now):
        holder = sessions.get(slot.bound_session_id or "")
        result.append(
            SlotRow(
                slot_id=slot.id,
                project_key=slot.project_key,
                title=slot.title,
                revision=slot.revision,
                holder_session_id=slot.bound_session_id,
                holder_client_key=holder.client_key if holder else None,
                holder_verdict=holder.judgement.verdict if holder and holder.judgement else None,
                is_stale=slot.is_stale,
                receipt_pending=slot.receipt_pending,
                was_bound=slot.id in bound,
                anchors=tuple(anchor.reference for anchor in slot.anchors),
                opened_at=slot.opened_at,
                age_seconds=_age(slot.opened_at, now),
                body_updated_at=slot.body_updated_at,
                body_age_seconds=_age(slot.body_updated_at, now),
                closed_at=slot.closed_at,
                close_reason=slot.close_reason,
                close_note=slot.close_note,
                body=slot.body,
            )
        )
    return tuple(result)


def _ever_bound(reading: Reading, slot_ids: Sequence[str]) -> frozenset[str]:
    rows = reading.all(
        "select wanted.value as id from json_each(?) wanted where exists (select 1 from sessions s where s.slot_id = wanted.value)",
        (json.dumps(list(slot_ids)),),
    )
    return frozenset(row["id"] for row in rows)


def _age(stored: str, now: datetime) -> float | None:
    moment = parse_stamp(stored)
    return None if moment is None else seconds_since(moment, now)
