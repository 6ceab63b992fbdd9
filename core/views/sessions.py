"""Sessions as an operator sees them: who is at work, and the detail of one with its lineage (console.md, screen 3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.ages import seconds_since
from core.clock import parse_stamp
from core.life import connections
from core.life.beats import Beat
from core.life.witness import Witness
from core.models import Judgement
from core.sessions import base, checkpoint, rows, slots
from core.sessions.briefing import briefing
from core.sessions.limits import CAPTURE_LIMIT
from core.sessions.models import Checkpoint, SessionStatus, Slot
from core.store.deed import Reading
from core.views.holders import Holder, holder_of
from core.views.trail import TrailRow, rows_about

OPEN_SHOWN = 500
CHECKPOINTS_SHOWN = 200
LINEAGE_SHOWN = 100

COLUMNS = (
    "s.id, s.project_key, s.client_key, s.status, s.nature, s.started_at, s.last_heartbeat_at, s.ended_at, s.slot_id,"
    " s.relayed_from_session_id, s.started_by_actor, s.started_focus_revision, s.summary, s.next_focus, s.abandonment_reason,"
    " s.nothing_to_capture_reason, s.focus_outcome, s.focus_revision_at_end,"
    " (select title from slots where slots.id = s.slot_id) as slot_title,"
    " (select max(created_at) from session_checkpoints c where c.session_id = s.id) as last_checkpoint_at,"
    " (select count(*) from session_artifacts a where a.session_id = s.id) as captured,"
    " (select id from sessions n where n.relayed_from_session_id = s.id) as successor_id,"
    " (select connection_id from session_connections c where c.session_id = s.id"
    "  order by last_seen_at desc, first_seen_at desc limit 1) as connection_id"
)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in a list. Times are stored texts, ages seconds; `judgement` is None once it has ended."""

    session_id: str
    project_key: str
    client_key: str
    status: SessionStatus
    nature: Literal["agent", "operator"] | None
    is_stale: bool
    started_at: str
    age_seconds: float | None
    last_heartbeat_at: str
    heartbeat_age_seconds: float | None
    last_checkpoint_at: str | None
    ended_at: str | None
    slot_id: str | None
    slot_title: str | None
    captured: int
    predecessor_id: str | None
    successor_id: str | None
    started_by_actor: str | None
    holder: Holder
    judgement: Judgement | None
    last_call_at: str | None
    started_focus_revision: int
    summary: str | None
    next_focus: str | None
    abandonment_reason: str | None
    nothing_to_capture_reason: str | None
    focus_outcome: str | None
    focus_revision_at_end: int | None

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.status == "open"

    @property
    def is_trace(self) -> bool:
        """Whether the server keeps it for a connection."""
        return self.nature == "agent"


@dataclass(frozen=True, slots=True)
class KnowledgeLine:
    """An item of knowledge in a ledger, or one that could be captured (then `mode` and `captured_at` are None)."""

    id: str
    kind: str
    title: str
    created_at: str
    mode: str | None
    captured_at: str | None


@dataclass(frozen=True, slots=True)
class Generation:
    """One session in a lineage."""

    session_id: str
    client_key: str
    status: SessionStatus
    started_at: str
    ended_at: str | None


@dataclass(frozen=True, slots=True)
class SessionDetail:
    """Everything about one session. `standing_text` and `standing_revision` are what its end or relay would replace."""

    row: SessionRow
    standing_text: str | None
    standing_revision: int
    slot: Slot | None
    checkpoints: tuple[Checkpoint, ...]
    ledger: tuple[KnowledgeLine, ...]
    uncaptured: tuple[KnowledgeLine, ...]
    lineage: tuple[Generation, ...]
    timeline: tuple[TrailRow, ...]
    briefing: str


@dataclass(frozen=True, slots=True)
class Look:
    """What a view judges with: the witness, and everybody's beats read once."""

    witness: Witness
    beats: Mapping[str, Beat]
    newest_beat: datetime | None

    @classmethod
    def of(cls, witness: Witness) -> Look:
        """A look now."""
        return cls(witness, witness.beats.all(), witness.beats.newest())


def open_sessions(
    reading: Reading, look: Look, *, project_key: str | None = None, limit: int = OPEN_SHOWN
) -> tuple[SessionRow, ...]:
    """The open sessions of the store, traces too, the newest first, at most `limit`."""
    of_project, values = ("", ()) if project_key is None else (" and s.project_key = ?", (project_key,))
    found = reading.all(
        f"select {COLUMNS} from sessions s where s.status = 'open'{of_project} order by s.started_at desc, s.id desc limit ?",
        (*values, limit),
    )
    return _rows(reading, look, found)


def ended_sessions(
    reading: Reading, look: Look, *, before: tuple[str, str] | None = None, project_key: str | None = None, limit: int = 200
) -> tuple[SessionRow, ...]:
    """Sessions that have ended, the newest started first, from `before` (start and id of the last one seen) on."""
    at, last_id = before or ("~", "~")
    of_project, values = ("", ()) if project_key is None else (" and s.project_key = ?", (project_key,))
    found = reading.all(
        f"select {COLUMNS} from sessions s where s.status <> 'open'{of_project} and (s.started_at, s.id) < (?, ?)"
        " order by s.started_at desc, s.id desc limit ?",
        (*values, at, last_id, limit),
    )
    return _rows(reading, look, found)


def sessions_named(reading: Reading, look: Look, name: str, *, limit: int = 20) -> tuple[SessionRow, ...]:
    """Sessions by id, by the beginning of an id, or by client key: those that are open first."""
    found = reading.all(
        f"select {COLUMNS} from sessions s where s.id in (select id from sessions where id >= ? and id < ? || 'g'"
        " union select id from sessions where client_key = ?)"
        " order by s.status = 'open' desc, s.started_at desc limit ?",
        (name, name, name, limit),
    )
    return _rows(reading, look, found)


def session_detail(reading: Reading, witness: Witness, session_id: str) -> SessionDetail | None:
    """One session whole; None when there is none with that id."""
    found = reading.all(f"select {COLUMNS} from sessions s where s.id = ?", (session_id,))
    if not found:
        return None
    row = _rows(reading, Look.of(witness), found)[0]
    slot = slots.find(reading, row.slot_id) if row.slot_id else None
    standing = base.read(reading, row.project_key)
    text: str | None = None
    revision = 0
    if slot is not None:
        text, revision = slot.body, slot.revision
    elif standing is not None:
        text, revision = standing.current_focus, standing.focus_revision
    return SessionDetail(
        row,
        text,
        revision,
        slot,
        checkpoint.newest(reading, session_id, CHECKPOINTS_SHOWN),
        _ledger(reading, session_id),
        _uncaptured(reading, row) if row.is_open else (),
        _lineage(reading, session_id),
        _timeline(reading, row),
        briefing(reading, row.project_key, session_id, witness.clock.now()),
    )


def _rows(reading: Reading, look: Look, found: Sequence[Any]) -> tuple[SessionRow, ...]:
    now = look.witness.clock.now()
    stale = rows.stale_before(now)
    facts = _facts(reading, look, [row["connection_id"] for row in found if row["connection_id"]])
    return tuple(_row(look, row, facts.get(row["connection_id"]), now, stale) for row in found)


def _facts(reading: Reading, look: Look, connection_ids: Sequence[str]) -> dict[str, Any]:
    stored = reading.all(
        f"select {connections.COLUMNS} from connections where id in (select value from json_each(?))",
        (json.dumps(sorted(set(connection_ids))),),
    )
    return {row["id"]: connections.facts_of(row, look.beats.get(row["id"])) for row in stored}


def _row(look: Look, row: Any, facts: Any, now: datetime, stale: str) -> SessionRow:
    is_open = row["status"] == "open"
    judgement = None
    if is_open:
        judgement = look.witness.judge_facts(
            facts, look.newest_beat if facts else None, coherent=True, started_at=row["started_at"]
        )
    beat = look.beats.get(row["connection_id"]) if row["connection_id"] else None
    return SessionRow(
        session_id=row["id"],
        project_key=row["project_key"],
        client_key=row["client_key"],
        status=row["status"],
        nature=row["nature"],
        is_stale=is_open and row["last_heartbeat_at"] <= stale,
        started_at=row["started_at"],
        age_seconds=_age(row["started_at"], now),
        last_heartbeat_at=row["last_heartbeat_at"],
        heartbeat_age_seconds=_age(row["last_heartbeat_at"], now),
        last_checkpoint_at=row["last_checkpoint_at"],
        ended_at=row["ended_at"],
        slot_id=row["slot_id"],
        slot_title=row["slot_title"],
        captured=row["captured"],
        predecessor_id=row["relayed_from_session_id"],
        successor_id=row["successor_id"],
        started_by_actor=row["started_by_actor"],
        holder=holder_of(facts, row["connection_id"]),
        judgement=judgement,
        last_call_at=beat.call_at if beat else None,
        started_focus_revision=row["started_focus_revision"],
        summary=row["summary"],
        next_focus=row["next_focus"],
        abandonment_reason=row["abandonment_reason"],
        nothing_to_capture_reason=row["nothing_to_capture_reason"],
        focus_outcome=row["focus_outcome"],
        focus_revision_at_end=row["focus_revision_at_end"],
    )


def _age(stored: str, now: datetime) -> float | None:
    moment = parse_stamp(stored)
    return None if moment is None else seconds_since(moment, now)


def _ledger(reading: Reading, session_id: str) -> tuple[KnowledgeLine, ...]:
    found = reading.all(
        "select a.knowledge_id, a.knowledge_type, coalesce(k.title, '(not in this store)') as title,"
        " coalesce(k.created_at, a.captured_at) as created_at, a.attribution_mode, a.captured_at"
        " from session_artifacts a left join knowledge k on k.id = a.knowledge_id where a.session_id = ?"
        " order by a.captured_at, a.knowledge_id",
        (session_id,),
    )
    return tuple(KnowledgeLine(*tuple(row)) for row in found)


def _uncaptured(reading: Reading, row: SessionRow) -> tuple[KnowledgeLine, ...]:
    """The project's knowledge that the session could capture: made since it began, and in no other session's ledger."""
    found = reading.all(
        "select k.id, k.kind, k.title, k.created_at, null, null from knowledge k where k.project_key = ? and k.created_at >= ?"
        " and not exists (select 1 from session_artifacts a join sessions s on s.id = a.session_id"
        "  where a.knowledge_id = k.id and s.nature is not 'agent')"
        " order by k.created_at desc, k.id limit ?",
        (row.project_key, row.started_at, CAPTURE_LIMIT),
    )
    return tuple(KnowledgeLine(*tuple(one)) for one in found)


def _lineage(reading: Reading, session_id: str) -> tuple[Generation, ...]:
    """The session with all its predecessors and successors, the oldest first."""
    found = reading.all(
        "with recursive older (id, steps) as (select ?, 0 union all select s.relayed_from_session_id, older.steps + 1 from sessions s"
        " join older on s.id = older.id where s.relayed_from_session_id is not null and older.steps < ?),"
        " newer (id, steps) as (select ?, 0 union all select s.id, newer.steps + 1 from sessions s"
        " join newer on s.relayed_from_session_id = newer.id where newer.steps < ?)"
        " select id, client_key, status, started_at, ended_at from sessions"
        " where id in (select id from older union select id from newer) order by started_at, ended_at is null",
        (session_id, LINEAGE_SHOWN, session_id, LINEAGE_SHOWN),
    )
    return tuple(Generation(*tuple(row)) for row in found)


def _timeline(reading: Reading, row: SessionRow) -> tuple[TrailRow, ...]:
    """The trail's rows about the session; the relay that opened it is its predecessor's row, and comes first."""
    own = rows_about(reading, f"session:{row.session_id}")
    if row.predecessor_id is None:
        return own
    before = [
        one
        for one in rows_about(reading, f"session:{row.predecessor_id}")
        if one.event == "brain_session_relay" and one.outcome == "done"
    ]
    return (*before[-1:], *own)
