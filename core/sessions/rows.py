"""Reading sessions, telling the right caller, and the refusals they share (sessions.md a.5, b.0 and b.18)."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from core.clock import stamp
from core.errors import Code, Refusal
from core.sessions.limits import CONNECTION_ID_LIMIT, SESSION_STALE_HOURS
from core.sessions.models import Session
from core.store.deed import Deed, Reading

COLUMNS = (
    "id, project_key, client_key, status, nature, started_focus, started_focus_revision, summary, next_focus,"
    " captured_knowledge_ids, nothing_to_capture_reason, abandonment_reason, end_expected_focus_revision, focus_outcome,"
    " focus_at_end, focus_revision_at_end, started_at, last_heartbeat_at, ended_at, updated_at, slot_id,"
    " relayed_from_session_id, started_by_actor"
)


def stale_before(now: datetime) -> str:
    """The heartbeat at or before which an open session is stale: 24 hours ago, inclusive (sessions.md a.5)."""
    return stamp(now - timedelta(hours=SESSION_STALE_HOURS))


def find(reading: Reading, session_id: str, now: datetime) -> Session | None:
    """The session with that id, its ledger as it is now; None when there is none."""
    row = reading.one(f"select {COLUMNS} from sessions where id = ?", (session_id,))
    return None if row is None else sessions_of(reading, [row], now)[0]


def by_client_key(reading: Reading, project_key: str, client_key: str, now: datetime) -> Session | None:
    """The session that ever had this key in the project: a key is burnt for ever (sessions.md b.1)."""
    row = reading.one(f"select {COLUMNS} from sessions where project_key = ? and client_key = ?", (project_key, client_key))
    return None if row is None else sessions_of(reading, [row], now)[0]


def successor(reading: Reading, session_id: str, now: datetime) -> Session | None:
    """The session that a relay of this one opened, by the stored link alone (room.md 2.14)."""
    row = reading.one(f"select {COLUMNS} from sessions where relayed_from_session_id = ?", (session_id,))
    return None if row is None else sessions_of(reading, [row], now)[0]


def sessions_of(reading: Reading, rows: Sequence[Any], now: datetime) -> list[Session]:
    """Sessions of rows read with COLUMNS, each with its ledger, in one more query."""
    ledgers = ledgers_of(reading, [row["id"] for row in rows])
    stale = stale_before(now)
    return [
        Session(
            id=row["id"],
            project_key=row["project_key"],
            client_key=row["client_key"],
            status=row["status"],
            nature=row["nature"],
            started_focus=row["started_focus"],
            started_focus_revision=row["started_focus_revision"],
            summary=row["summary"],
            next_focus=row["next_focus"],
            captured_knowledge_ids=ids_of(row["captured_knowledge_ids"]),
            attributed_knowledge_ids=tuple(ledgers.get(row["id"], ())),
            nothing_to_capture_reason=row["nothing_to_capture_reason"],
            abandonment_reason=row["abandonment_reason"],
            end_expected_focus_revision=row["end_expected_focus_revision"],
            focus_outcome=row["focus_outcome"],
            focus_at_end=row["focus_at_end"],
            focus_revision_at_end=row["focus_revision_at_end"],
            started_at=row["started_at"],
            last_heartbeat_at=row["last_heartbeat_at"],
            ended_at=row["ended_at"],
            updated_at=row["updated_at"],
            is_stale=row["status"] == "open" and row["last_heartbeat_at"] <= stale,
            slot_id=row["slot_id"],
            relayed_from_session_id=row["relayed_from_session_id"],
            started_by_actor=row["started_by_actor"],
        )
        for row in rows
    ]


def ids_of(text: object) -> tuple[str, ...]:
    """The ids in a stored JSON list; what cannot be read (damage from outside) is none."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return ()
    return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()


def ledgers_of(reading: Reading, session_ids: Iterable[str]) -> dict[str, list[str]]:
    """The knowledge that each session owns now, its ids sorted as text."""
    found: dict[str, list[str]] = {}
    rows = reading.all(
        "select a.session_id, a.knowledge_id from json_each(?) wanted"
        " cross join session_artifacts a on a.session_id = wanted.value order by a.knowledge_id",
        (json.dumps(list(session_ids)),),
    )
    for row in rows:
        found.setdefault(row["session_id"], []).append(row["knowledge_id"])
    return found


def open_sessions_of(reading: Reading, project_key: str) -> int:
    """How many operator sessions of the project are open; agent traces do not count (sessions.md b.0.5)."""
    row = reading.one("select value from counters where project_key = ? and name = 'sessions:open:operator'", (project_key,))
    return int(row[0]) if row else 0


# who may


def identified(deed: Deed, session_id: str, client_key: str) -> Session:
    """The session, if the trimmed key is its own: a guard against mis-targeting, before any change (sessions.md b.0.1).

    Refuses `session_not_found` and `client_key_mismatch`; keys are compared in constant time.
    """
    found = find(deed.transaction, session_id, deed.clock.now())
    if found is None:
        raise Refusal(
            "session_not_found",
            f"There is no session {session_id} in this store; brain_session_list shows those there are.",
            facts={"session_id": session_id},
            subject=f"session:{session_id}",
        )
    if not hmac.compare_digest(client_key.encode(), found.client_key.encode("utf-8", "surrogatepass")):
        raise Refusal(
            "client_key_mismatch",
            f"Session {found.id} has another client key, so it is not yours to act on. Nothing was changed.",
            facts={"session_id": found.id, "project_key": found.project_key},
            project_key=found.project_key,
            subject=found.subject,
        )
    return found


def open_only(deed: Deed, session: Session) -> None:
    """Refuses `session_not_open` for a terminal session, saying how it ended and who goes on for it."""
    if not session.is_open:
        raise refuse_ended(deed, session, "session_not_open")


def refuse_trace(session: Session) -> None:
    """Refuses `session_is_agent_trace` for a session that the server opened for a connection."""
    if session.is_trace:
        raise Refusal(
            "session_is_agent_trace",
            f"Session {session.id} is a trace that the server keeps of a connection, nobody's working session: it can be "
            "neither bound nor relayed. Start a session of your own with brain_session_start.",
            facts={"session_id": session.id, "project_key": session.project_key},
            project_key=session.project_key,
            subject=session.subject,
        )


def refuse_ended(deed: Deed, session: Session, code: Code, more: str = "") -> Refusal:
    """A refusal about a terminal session: its status, since when, why, and its successor if a relay opened one."""
    heir = successor(deed.transaction, session.id, deed.clock.now())
    why = f", with this reason: “{session.abandonment_reason}”" if session.abandonment_reason else ""
    after = f" Its successor is session {heir.id}." if heir else ""
    return Refusal(
        code,
        f"Session {session.id} of project {session.project_key} is {session.status.replace('_', ' ')} since {session.ended_at}"
        f"{why}.{after}{more} Nothing was changed.",
        facts={
            "session_id": session.id,
            "project_key": session.project_key,
            "status": session.status,
            "ended_at": session.ended_at,
            "abandonment_reason": session.abandonment_reason,
            "successor_session_id": heir.id if heir else None,
        },
        project_key=session.project_key,
        subject=session.subject,
        texts=("abandonment_reason",),
    )


# who is at work


def connection_of(reading: Reading, session_id: str) -> str | None:
    """The session's connection: the last one that named it in a call (room.md 4)."""
    row = reading.one(
        "select connection_id from session_connections where session_id = ? order by last_seen_at desc, first_seen_at desc limit 1",
        (session_id,),
    )
    return None if row is None else str(row[0])


def note_connection(deed: Deed, session_id: str) -> bool:
    """Note that the deed's connection named this session, if it is an agent's; gives whether it is another one than before.

    An operator who looks after a session does not become the one at work on it.
    """
    identity = deed.identity
    own = identity.connection_id[:CONNECTION_ID_LIMIT]
    if identity.role != "agent" or connection_of(deed.transaction, session_id) == own:
        return False
    now = stamp(deed.clock.now())
    deed.execute(
        "insert into session_connections (session_id, connection_id, first_seen_at, last_seen_at) values (?, ?, ?, ?)"
        " on conflict (session_id, connection_id) do update set last_seen_at = excluded.last_seen_at",
        (session_id, own, now, now),
    )
    return True
