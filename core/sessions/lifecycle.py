"""A session's life outside end and relay: start, resume, heartbeat, abandon (sessions.md b.1, b.2, b.4, b.10)."""

from __future__ import annotations

from dataclasses import dataclass

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.sessions import base, evidence, rows
from core.sessions.absorption import Absorption
from core.sessions.limits import CLIENT_KEY_LIMIT, REASON_LIMIT, bounded, client_key, unique_id
from core.sessions.models import SeenEvidence, Session
from core.store.deed import Deed
from core.texts import digest

NO_BRIEFING = (
    "briefing unavailable: it could not be built. The session is kept and stays open; brain_session_resume builds it again."
)


@dataclass(frozen=True, slots=True)
class Started:
    """What `brain_session_start` answers; the briefing is built once the session is committed."""

    session: Session
    replayed: bool
    open_session_count: int
    briefing: str = NO_BRIEFING


@dataclass(frozen=True, slots=True)
class Resumed:
    """What `brain_session_resume` answers: for a bound session the focus fields are its slot's, else the live base."""

    session: Session
    open_session_count: int
    current_focus: str | None
    current_focus_revision: int
    slot_closed: bool
    briefing: str = NO_BRIEFING


@dataclass(frozen=True, slots=True)
class Beaten:
    """What `brain_session_heartbeat` answers; `absorption` is None where none was attempted."""

    session: Session
    absorption: Absorption | None = None


@dataclass(frozen=True, slots=True)
class Abandoned:
    """What `brain_session_abandon` answers."""

    session: Session
    replayed: bool
    remaining_open_session_count: int


def start(deed: Deed, *, project_key: str, client_key: str) -> Started:
    """Open a session with a snapshot of the base focus; the same key while it is open gives the same session (sessions.md b.1).

    Refuses `invalid_input` (project key, client key), `project_not_found`, `client_key_spent` for a key whose session is over.
    """
    key = projects.key_for_writing(project_key)
    own = bounded(client_key, "client_key", CLIENT_KEY_LIMIT)
    standing = base.of_project(deed, key)
    found = rows.by_client_key(deed.transaction, key, own, deed.clock.now())
    if found is not None:
        if not found.is_open:
            raise rows.refuse_ended(deed, found, "client_key_spent", " Its client key is spent for ever: start with a new one.")
        if rows.note_connection(deed, found.id):
            deed.append("brain_session_start", project_key=key, subject=found.subject, data={"replayed": True})
        return Started(found, True, rows.open_sessions_of(deed.transaction, key))
    session = insert(deed, standing, own, now=stamp(deed.clock.now()))
    deed.append(
        "brain_session_start",
        project_key=key,
        subject=session.subject,
        data={"client_key": own, "started_focus_revision": standing.focus_revision},
    )
    return Started(session, False, rows.open_sessions_of(deed.transaction, key))


def insert(
    deed: Deed,
    standing: base.Base,
    own_key: str,
    *,
    now: str,
    slot_id: str | None = None,
    relayed_from: str | None = None,
    started_by: str | None = None,
) -> Session:
    """Store a new open operator session with the base focus as it stands; the deed's connection is noted as at work on it."""
    session_id = deed.ids.unique()
    deed.execute(
        "insert into sessions (id, project_key, client_key, status, started_focus, started_focus_revision, started_at,"
        " last_heartbeat_at, updated_at, slot_id, relayed_from_session_id, started_by_actor)"
        " values (?, ?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            standing.project_key,
            own_key,
            standing.current_focus,
            standing.focus_revision,
            now,
            now,
            now,
            slot_id,
            relayed_from,
            started_by,
        ),
    )
    rows.note_connection(deed, session_id)
    return read(deed, session_id)


def read(deed: Deed, session_id: str) -> Session:
    """The session as it is stored now, inside the deed."""
    found = rows.find(deed.transaction, session_id, deed.clock.now())
    assert found is not None
    return found


def resume(deed: Deed, *, session_id: str, expected_client_key: str) -> Resumed:
    """What an agent needs to go on with its session; neither heartbeat nor state changes (sessions.md b.2).

    A connection that names the session anew is noted, and that alone is a deed. Refuses `invalid_input`, `session_not_found`,
    `client_key_mismatch`, `session_not_open`.
    """
    wanted, own = identity(session_id, expected_client_key)
    session = rows.identified(deed, wanted, own)
    rows.open_only(deed, session)
    if rows.note_connection(deed, session.id):
        deed.append("brain_session_resume", project_key=session.project_key, subject=session.subject, data={})
    count = rows.open_sessions_of(deed.transaction, session.project_key)
    if session.slot_id is not None:
        slot = deed.one("select body, revision, closed_at from slots where id = ?", (session.slot_id,))
        return Resumed(session, count, slot["body"], slot["revision"], slot["closed_at"] is not None)
    standing = base.of_project(deed, session.project_key)
    return Resumed(session, count, standing.current_focus, standing.focus_revision, False)


def heartbeat(deed: Deed, *, session_id: str, expected_client_key: str) -> Beaten:
    """Say that the session is still worked on: its heartbeat moves, and nothing else (sessions.md b.4).

    Refuses `invalid_input`, `session_not_found`, `client_key_mismatch`, `session_not_open`.
    """
    wanted, own = identity(session_id, expected_client_key)
    session = rows.identified(deed, wanted, own)
    rows.open_only(deed, session)
    refresh(deed, session.id)
    rows.note_connection(deed, session.id)
    deed.append("brain_session_heartbeat", project_key=session.project_key, subject=session.subject, data={})
    return Beaten(read(deed, session.id))


def refresh(deed: Deed, session_id: str) -> None:
    """Move the session's heartbeat to now."""
    now = stamp(deed.clock.now())
    deed.execute("update sessions set last_heartbeat_at = ?, updated_at = ? where id = ?", (now, now, session_id))


def abandon(deed: Deed, *, session_id: str, expected_client_key: str, reason: str, seen: SeenEvidence | None = None) -> Abandoned:
    """Give an open session up: its slot becomes free, its ledger stays its own, no focus changes (sessions.md b.10).

    The same reason again is a replay. `seen` is what an operator was shown. Refuses `invalid_input`, `session_not_found`,
    `client_key_mismatch`, `terminal_conflict`, and with `seen` `evidence_changed`.
    """
    wanted, own = identity(session_id, expected_client_key)
    why = bounded(reason, "The reason", REASON_LIMIT)
    session = rows.identified(deed, wanted, own)
    if not session.is_open:
        if session.status == "abandoned" and session.abandonment_reason == why:
            return Abandoned(session, True, rows.open_sessions_of(deed.transaction, session.project_key))
        raise rows.refuse_ended(deed, session, "terminal_conflict")
    judgement = evidence.refuse_changed(deed, session, seen)
    give_up(deed, session, why)
    deed.append(
        "brain_session_abandon",
        project_key=session.project_key,
        subject=session.subject,
        data={"reason": digest(why), "slot_id": session.slot_id, **(judgement.as_data() if judgement else {})},
    )
    return Abandoned(read(deed, session.id), False, rows.open_sessions_of(deed.transaction, session.project_key))


def give_up(deed: Deed, session: Session, reason: str) -> None:
    """Store an open session as abandoned."""
    now = stamp(deed.clock.now())
    deed.execute(
        "update sessions set status = 'abandoned', abandonment_reason = ?, ended_at = ?, updated_at = ?"
        " where id = ? and status = 'open'",
        (reason, now, now, session.id),
    )


def identity(session_id: str, expected_client_key: str) -> tuple[str, str]:
    """The identity pair as it is looked up (sessions.md b.0.1). Refuses `invalid_input`."""
    return unique_id(session_id, "session_id"), client_key(expected_client_key)


def spent(session: Session) -> Refusal:
    """`client_key_conflict`: the key that a successor was to have names a session already, open or over."""
    return Refusal(
        "client_key_conflict",
        f"The new client key already names session {session.id} of project {session.project_key} ({session.status}). "
        "Nothing was changed: relay again with another new_client_key.",
        facts={"session_id": session.id, "project_key": session.project_key, "status": session.status},
        project_key=session.project_key,
        subject=session.subject,
    )
