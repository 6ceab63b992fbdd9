"""Slots: a focus text for one topic in flight, with its own revision and history (sessions.md a.3, a.4, b.11 to b.13)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.sessions import base, slot_anchors
from core.sessions.limits import (
    ACTOR_LIMIT,
    REASON_LIMIT,
    SLOT_BODY_LIMIT,
    SLOT_STALE_DAYS,
    TITLE_LIMIT,
    bounded,
    page,
    unique_id,
    whole,
)
from core.sessions.models import Anchor, ListedSlot, Slot, SlotListStatus
from core.store.deed import Deed, Reading
from core.texts import digest, storable

COLUMNS = "id, project_key, title, body, revision, opened_at, body_updated_at, closed_at, close_reason, close_note"
HISTORY_SHOWN = 50

SlotSource = Literal["slot_open", "session_end", "session_relay", "slot_close"]


@dataclass(frozen=True, slots=True)
class SlotOpened:
    """What `brain_slot_open` answers."""

    slot: Slot
    replayed: bool


@dataclass(frozen=True, slots=True)
class SlotClosed:
    """What `brain_slot_close` answers."""

    slot: Slot


@dataclass(frozen=True, slots=True)
class SlotPage:
    """What `brain_slot_list` answers: newest opened first."""

    slots: tuple[ListedSlot, ...]
    total: int
    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class SlotRevision:
    """One row of a slot's history."""

    revision: int
    body: str
    source: SlotSource
    session_id: str | None
    actor: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class SlotFound:
    """What `brain_slot_get` answers: the slot with its newest revisions, the newest first."""

    slot: ListedSlot
    history: tuple[SlotRevision, ...]


def find(reading: Reading, slot_id: str) -> Slot | None:
    """The slot with that id, its anchors in creation order; None when there is none."""
    row = reading.one(f"select {COLUMNS} from slots where id = ?", (slot_id,))
    return None if row is None else Slot(*(*row, anchors_of(reading, [slot_id]).get(slot_id, ())))


def of_session(reading: Reading, slot_id: str) -> Slot:
    """The slot that a session is bound to; the store keeps it as long as the session."""
    found = find(reading, slot_id)
    assert found is not None
    return found


def anchors_of(reading: Reading, slot_ids: Sequence[str]) -> dict[str, tuple[Anchor, ...]]:
    """The anchors of these slots, each in creation order."""
    found: dict[str, list[Anchor]] = {}
    rows = reading.all(
        "select a.slot_id, a.kind, a.ticket_id, a.target_release, a.repository_id, a.pr_number, a.topic"
        " from json_each(?) wanted cross join slot_anchors a on a.slot_id = wanted.value order by a.id",
        (json.dumps(list(slot_ids)),),
    )
    for row in rows:
        found.setdefault(row["slot_id"], []).append(Anchor(*tuple(row)[1:]))
    return {slot_id: tuple(anchors) for slot_id, anchors in found.items()}


def not_found(slot_id: str) -> Refusal:
    """`slot_not_found`."""
    return Refusal(
        "slot_not_found",
        f"There is no slot {slot_id} in this store; brain_slot_list shows those there are.",
        facts={"slot_id": slot_id},
        subject=f"slot:{slot_id}",
    )


def facts_about(slot: Slot) -> dict[str, Any]:
    """What a refusal says of a slot: never its body."""
    return {
        "slot_id": slot.id,
        "project_key": slot.project_key,
        "title": slot.title,
        "revision": slot.revision,
        "closed_at": slot.closed_at,
        "close_reason": slot.close_reason,
    }


def open_slot(deed: Deed, *, project_key: str, title: str, body: str, anchors: Sequence[Anchor]) -> SlotOpened:
    """Open a slot with its anchors; an equal open is a replay as long as the body is still that one (sessions.md b.11).

    Refuses, in this order, `invalid_input`, `slot_body_too_long`, `anchor_required`, `anchor_invalid`, `project_not_found`,
    `slot_title_conflict`, `anchor_ticket_foreign`, `anchor_lot_unplanned`, `anchor_unbound_pr`, `anchor_already_received`.
    """
    key = projects.key_for_writing(project_key)
    name = bounded(title, "The title", TITLE_LIMIT)
    text = _body(body, key)
    wanted = slot_anchors.checked(anchors)
    base.key_of_existing(deed.transaction, key)
    same = deed.one("select id from slots where project_key = ? and title = ? and closed_at is null", (key, name))
    if same is not None:
        standing = of_session(deed.transaction, same["id"])
        if standing.body == text and set(standing.anchors) == set(wanted):
            return SlotOpened(standing, True)
        raise Refusal(
            "slot_title_conflict",
            f"Slot {standing.id} of project {key} is open under this title already, with another body or other anchors (revision "
            f"{standing.revision}). Bind to that one, or take another title.",
            facts=facts_about(standing),
            project_key=key,
            subject=standing.subject,
        )
    slot_anchors.refuse_foreign(deed, key, wanted)
    slot_id, now = deed.ids.unique(), stamp(deed.clock.now())
    deed.execute(
        "insert into slots (id, project_key, title, body, revision, opened_at, body_updated_at) values (?, ?, ?, ?, 0, ?, ?)",
        (slot_id, key, name, text, now, now),
    )
    for anchor in wanted:
        deed.execute(
            "insert into slot_anchors (slot_id, kind, ticket_id, target_release, repository_id, pr_number, topic)"
            " values (?, ?, ?, ?, ?, ?, ?)",
            (
                slot_id,
                anchor.kind,
                anchor.ticket_id,
                anchor.target_release,
                anchor.repository_id,
                anchor.pr_number,
                anchor.topic,
            ),
        )
    _keep_history(deed, slot_id, 0, text, "slot_open", None, now)
    slot = of_session(deed.transaction, slot_id)
    deed.append(
        "brain_slot_open",
        project_key=key,
        subject=slot.subject,
        data={"title": name, "body": digest(text), "anchors": [anchor.reference for anchor in wanted], "revision": 0},
    )
    return SlotOpened(slot, False)


def close_slot(deed: Deed, *, slot_id: str, expected_revision: int, note: str) -> SlotClosed:
    """Close a slot for good, with a note; its body stays, its revision moves by one (sessions.md b.13). Not idempotent.

    Refuses `invalid_input`, `slot_not_found`, `slot_closed`, `slot_revision_conflict`, `slot_bound`.
    """
    wanted = unique_id(slot_id, "slot_id")
    expected = whole(expected_revision, "expected_revision")
    words = bounded(note, "The note", REASON_LIMIT)
    slot = find(deed.transaction, wanted)
    if slot is None:
        raise not_found(wanted)
    if slot.closed_at is not None:
        raise closed(slot, "It cannot be closed twice.")
    if slot.revision != expected:
        raise revision_conflict(slot, expected, subject=slot.subject)
    holder = holder_of(deed.transaction, slot.id)
    if holder is not None:
        raise Refusal(
            "slot_bound",
            f"Session {holder} is open on slot {slot.id}: end, relay or abandon it first. Nothing was changed.",
            facts={**facts_about(slot), "bound_session_id": holder},
            project_key=slot.project_key,
            subject=slot.subject,
        )
    return SlotClosed(close(deed, slot, "explicit", words))


def close(deed: Deed, slot: Slot, reason: str, note: str | None) -> Slot:
    """Store an open slot as closed, with its history row and its trail row; `reason` is `explicit` or `receipt:<id>`."""
    now = stamp(deed.clock.now())
    deed.execute(
        "update slots set closed_at = ?, close_reason = ?, close_note = ?, revision = revision + 1 where id = ?",
        (now, reason, note, slot.id),
    )
    _keep_history(deed, slot.id, slot.revision + 1, slot.body, "slot_close", None, now)
    deed.append(
        "brain_slot_close",
        project_key=slot.project_key,
        subject=slot.subject,
        data={"reason": reason, "note": digest(note), "revision": slot.revision + 1},
    )
    return of_session(deed.transaction, slot.id)


def write_body(deed: Deed, slot: Slot, text: str, source: Literal["session_end", "session_relay"], session_id: str) -> Slot:
    """Write the body at the next revision, with its history row; `body_updated_at` moves only when the text changes."""
    now = stamp(deed.clock.now())
    changed_at = now if text != slot.body else slot.body_updated_at
    deed.execute(
        "update slots set body = ?, body_updated_at = ?, revision = revision + 1 where id = ?", (text, changed_at, slot.id)
    )
    _keep_history(deed, slot.id, slot.revision + 1, text, source, session_id, now)
    return of_session(deed.transaction, slot.id)


def _keep_history(
    deed: Deed, slot_id: str, revision: int, body: str, source: SlotSource, session_id: str | None, now: str
) -> None:
    deed.execute(
        "insert into slot_history (slot_id, revision, body, source, session_id, actor, created_at) values (?, ?, ?, ?, ?, ?, ?)",
        (slot_id, revision, body, source, session_id, deed.identity.actor.name[:ACTOR_LIMIT], now),
    )


def holder_of(reading: Reading, slot_id: str) -> str | None:
    """The one open session that is bound to the slot."""
    row = reading.one("select id from sessions where slot_id = ? and status = 'open'", (slot_id,))
    return None if row is None else str(row[0])


# refusals that bind, end and relay share


def closed(slot: Slot, more: str) -> Refusal:
    """`slot_closed`: since when and how, and what to do."""
    return Refusal(
        "slot_closed",
        f"Slot {slot.id} is closed since {slot.closed_at} ({(slot.close_reason or '').partition(':')[0]}). {more} Nothing was changed.",
        facts={**facts_about(slot), "revision_before_close": slot.revision - 1},
        project_key=slot.project_key,
        subject=slot.subject,
    )


def way_out(slot: Slot) -> str:
    """What a session bound to a closed slot can do (sessions.md d.19)."""
    return (
        f"brain_session_end with expected_focus_revision {slot.revision - 1} (the revision before it was closed) records your "
        "text with the session as a conflict; or give the session up with brain_session_abandon."
    )


def revision_conflict(slot: Slot, expected: int, *, subject: str) -> Refusal:
    """`slot_revision_conflict`: what was expected and what is so now."""
    return Refusal(
        "slot_revision_conflict",
        f"Slot {slot.id} is at revision {slot.revision}, not {expected}. Nothing was changed: read it again and decide anew.",
        facts={**facts_about(slot), "expected_revision": expected, "current_revision": slot.revision, "current_body": slot.body},
        project_key=slot.project_key,
        subject=subject,
        texts=("current_body",),
    )


def body_too_long(text: str, project_key: str | None, subject: str | None) -> Refusal:
    """`slot_body_too_long`: how long the trimmed text is."""
    return Refusal(
        "slot_body_too_long",
        f"A slot's body has at most {SLOT_BODY_LIMIT:,} characters; this text has {len(text):,}. Nothing was changed: shorten it.",
        facts={"characters": len(text), "limit": SLOT_BODY_LIMIT},
        project_key=project_key,
        subject=subject,
    )


def _body(body: str, key: str) -> str:
    text = storable(body, "The body").strip()
    if not text:
        raise Refusal("invalid_input", "The body is blank.")
    if len(text) > SLOT_BODY_LIMIT:
        raise body_too_long(text, key, None)
    return text


# reading


def list_slots(
    reading: Reading, *, project_key: str, status: SlotListStatus = "open", limit: int = 20, offset: int = 0, now: datetime
) -> SlotPage:
    """A page of the project's slots, newest opened first, with what is derived (sessions.md b.12).

    Refuses `invalid_input` (key, status), `invalid_limit`, `project_not_found`.
    """
    if status not in ("open", "closed", "all"):
        raise Refusal("invalid_input", "status is one of open, closed, all.")
    limit, offset = page(limit, offset)
    key = base.key_of_existing(reading, project_key)
    where = {"open": " and closed_at is null", "closed": " and closed_at is not null", "all": ""}[status]
    rows = reading.all(
        f"select {COLUMNS} from slots where project_key = ?{where} order by opened_at desc, id desc limit ? offset ?",
        (key, limit, offset),
    )
    figures = projects.counters(reading, key)
    counted = {"open": ("slots:open",), "closed": ("slots:closed",), "all": ("slots:open", "slots:closed")}[status]
    return SlotPage(listed(reading, rows, now), sum(figures.get(name, 0) for name in counted), limit, offset)


def get_slot(reading: Reading, *, slot_id: str, now: datetime) -> SlotFound:
    """One slot with its history (room.md 2.14). Refuses `invalid_input`, `slot_not_found`."""
    wanted = unique_id(slot_id, "slot_id")
    rows = reading.all(f"select {COLUMNS} from slots where id = ?", (wanted,))
    if not rows:
        raise not_found(wanted)
    history = reading.all(
        "select revision, body, source, session_id, actor, created_at from slot_history where slot_id = ?"
        " order by revision desc limit ?",
        (wanted, HISTORY_SHOWN),
    )
    return SlotFound(listed(reading, rows, now)[0], tuple(SlotRevision(*tuple(row)) for row in history))


def listed(reading: Reading, rows: Sequence[Any], now: datetime) -> tuple[ListedSlot, ...]:
    """Slots of rows read with COLUMNS, with holder, staleness and receipt, derived in three more queries and one a lot."""
    ids = [row["id"] for row in rows]
    anchors = anchors_of(reading, ids)
    activity = reading.all(
        "select s.slot_id, max(s.ended_at) as ended_at, max(case when s.status = 'open' then s.id end) as holder"
        " from json_each(?) wanted cross join sessions s on s.slot_id = wanted.value group by s.slot_id",
        (json.dumps(ids),),
    )
    bound = {row["slot_id"]: row for row in activity}
    long_ago = stamp(now - timedelta(days=SLOT_STALE_DAYS))
    found = []
    for row in rows:
        sessions = bound.get(row["id"])
        is_open, holder = row["closed_at"] is None, sessions["holder"] if sessions else None
        last = max(row["body_updated_at"], (sessions["ended_at"] or "") if sessions else "")
        own = anchors.get(row["id"], ())
        found.append(
            ListedSlot(
                *(
                    *row,
                    own,
                    holder,
                    is_open and holder is None and last < long_ago,
                    is_open and slot_anchors.receipt_of(reading, row["project_key"], own) is not None,
                )
            )
        )
    return tuple(found)
