"""Agent traces: what the server itself keeps of an HTTP connection, behind its switch (sessions.md b.18)."""

from __future__ import annotations

from datetime import datetime, timedelta

from core import projects
from core.clock import stamp
from core.sessions import base, rows
from core.sessions.absorption import connection_of
from core.sessions.limits import ACTOR_LIMIT, CAPTURE_LIMIT, INACTIVE_HOURS
from core.sessions.models import Session
from core.sessions.switches import is_on
from core.store.deed import Deed, Identity

KEY_PREFIX = "auto:"


def is_kept(identity: Identity) -> bool:
    """Whether the server keeps traces for this connection: the switch is on and it is an HTTP client's."""
    return is_on("AUTO_OPEN_ENABLED") and identity.actor.via.startswith("http")


def observe(deed: Deed, *, project_key: str) -> Session | None:
    """Open the connection's trace in the project, or note that it was seen again; None where there is no such project.

    Birth sets its three times to one reading; seen again it moves the last two only, never `started_at` and `updated_at`.
    """
    key = projects.normal_key(project_key)
    standing = base.read(deed.transaction, key)
    if standing is None:
        return None
    connection_id, now = connection_of(deed.identity), stamp(deed.clock.now())
    found = deed.one(
        "select id from sessions where project_key = ? and connection_id = ? and status = 'open'", (key, connection_id)
    )
    if found is not None:
        deed.execute("update sessions set last_heartbeat_at = ?, last_observed_at = ? where id = ?", (now, now, found["id"]))
        return rows.find(deed.transaction, found["id"], deed.clock.now())
    session_id = deed.ids.unique()
    deed.execute(
        "insert into sessions (id, project_key, client_key, status, nature, started_focus, started_focus_revision, started_at,"
        " last_heartbeat_at, last_observed_at, updated_at, connection_id, started_by_actor)"
        " values (?, ?, ?, 'open', 'agent', ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            key,
            f"{KEY_PREFIX}{deed.ids.unique()}",
            standing.current_focus,
            standing.focus_revision,
            now,
            now,
            now,
            now,
            connection_id,
            deed.identity.actor.name[:ACTOR_LIMIT],
        ),
    )
    rows.note_connection(deed, session_id)
    trace = rows.find(deed.transaction, session_id, deed.clock.now())
    assert trace is not None
    deed.append("brain_session_start", project_key=key, subject=trace.subject, data={"nature": "agent"})
    return trace


def close_connection(deed: Deed) -> int:
    """Close the open traces of the deed's connection, as its transport has ended; gives how many."""
    found = deed.all(
        "select id, project_key from sessions where connection_id = ? and status = 'open' and nature = 'agent'",
        (connection_of(deed.identity),),
    )
    for row in found:
        close(deed, row["id"], row["project_key"])
    return len(found)


def inactive_before(now: datetime) -> str:
    """The observation strictly before which an open trace is inactive."""
    return stamp(now - timedelta(hours=INACTIVE_HOURS))


def close(deed: Deed, session_id: str, project_key: str) -> None:
    """Store an open trace as closed for inactivity: no reason, its ledger stays its own."""
    now = stamp(deed.clock.now())
    deed.execute(
        "update sessions set status = 'closed_inactive', ended_at = ?, updated_at = ? where id = ? and status = 'open' and nature = 'agent'",
        (now, now, session_id),
    )
    deed.append("session_closed_inactive", project_key=project_key, subject=f"session:{session_id}", data={})


def deposit(deed: Deed, knowledge_id: str, kind: str, project_key: str) -> bool:
    """Put a new item of knowledge into the ledger of the trace of the connection that made it, if it has one.

    Skipped without a word where the switch is off, the ledger is full or the item is owned already: it never breaks a creation.
    """
    if not is_on("DERIVED_CAPTURE_ENABLED"):
        return False
    trace = deed.one(
        "select s.id, (select count(*) from session_artifacts a where a.session_id = s.id) as size from sessions s"
        " where s.project_key = ? and s.connection_id = ? and s.status = 'open' and s.nature = 'agent'",
        (project_key, connection_of(deed.identity)),
    )
    if trace is None or trace["size"] >= CAPTURE_LIMIT:
        return False
    done = deed.execute(
        "insert into session_artifacts (knowledge_id, session_id, knowledge_type, captured_at, attribution_mode)"
        " values (?, ?, ?, ?, 'derived_deposit') on conflict (knowledge_id) do nothing",
        (knowledge_id, trace["id"], kind, stamp(deed.clock.now())),
    )
    return bool(done.rowcount)
