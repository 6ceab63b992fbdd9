"""Reading sessions over a tool: brain_session_list and brain_session_get (sessions.md b.3, room.md 2.14)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from core import projects
from core.errors import Refusal
from core.sessions import checkpoint, rows
from core.sessions.limits import page, unique_id
from core.sessions.models import Checkpoint, ListStatus, Session
from core.store.deed import Reading

CHECKPOINTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class SessionPage:
    """What `brain_session_list` answers; `last_checkpoint_at` names only sessions that have one."""

    sessions: tuple[Session, ...]
    total: int
    limit: int
    offset: int
    last_checkpoint_at: dict[str, str]


@dataclass(frozen=True, slots=True)
class SessionFound:
    """What `brain_session_get` answers: the session, its newest checkpoints, and who goes on for it."""

    session: Session
    checkpoints: tuple[Checkpoint, ...]
    checkpoint_count: int
    successor_session_id: str | None


def list_sessions(
    reading: Reading,
    *,
    project_key: str | None = None,
    status: ListStatus = "open",
    limit: int = 20,
    offset: int = 0,
    now: datetime,
) -> SessionPage:
    """A page of sessions, newest first: of one project, or without a key of all (sessions.md b.3).

    `open` has stale ones and traces in it. A malformed or unknown key finds nothing. Refuses `invalid_input` (status),
    `invalid_limit`.
    """
    if status not in ("open", "stale", "ended", "abandoned", "closed_inactive", "all"):
        raise Refusal("invalid_input", "status is one of open, stale, ended, abandoned, closed_inactive, all.")
    limit, offset = page(limit, offset)
    key = None if project_key is None else projects.normal_key(project_key)
    where, values = ["1 = 1"], []
    if key is not None:
        where, values = ["project_key = ?"], [key]
    if status == "stale":
        where, values = [*where, "status = 'open'", "last_heartbeat_at <= ?"], [*values, rows.stale_before(now)]
    elif status != "all":
        where, values = [*where, "status = ?"], [*values, status]
    found = reading.all(
        f"select {rows.COLUMNS} from sessions where {' and '.join(where)} order by started_at desc, id desc limit ? offset ?",
        (*values, limit, offset),
    )
    sessions = tuple(rows.sessions_of(reading, found, now))
    if status == "stale":
        total = reading.one(f"select count(*) from sessions where {' and '.join(where)}", values)[0]
    else:
        total = _counted(reading, key, status)
    marks = reading.all(
        "select c.session_id, max(c.created_at) as at from json_each(?) wanted"
        " cross join session_checkpoints c on c.session_id = wanted.value group by c.session_id",
        (json.dumps([session.id for session in sessions]),),
    )
    return SessionPage(sessions, total, limit, offset, {row["session_id"]: row["at"] for row in marks})


def _counted(reading: Reading, key: str | None, status: ListStatus) -> int:
    """How many sessions there are of a status, from the counters."""
    names = [f"sessions:{one}" for one in ("open", "ended", "abandoned", "closed_inactive") if status in ("all", one)]
    marks = ",".join("?" * len(names))
    of_project, values = ("", names) if key is None else (" and project_key = ?", [*names, key])
    return int(reading.one(f"select coalesce(sum(value), 0) from counters where name in ({marks}){of_project}", values)[0])


def get_session(reading: Reading, *, session_id: str, now: datetime) -> SessionFound:
    """One session, without a client key, for looking only. Refuses `invalid_input`, `session_not_found`."""
    wanted = unique_id(session_id, "session_id")
    session = rows.find(reading, wanted, now)
    if session is None:
        raise Refusal(
            "session_not_found",
            f"There is no session {wanted} in this store; brain_session_list shows those there are.",
            facts={"session_id": wanted},
            subject=f"session:{wanted}",
        )
    count = reading.one("select count(*) from session_checkpoints where session_id = ?", (wanted,))[0]
    heir = reading.one("select id from sessions where relayed_from_session_id = ?", (wanted,))
    return SessionFound(session, checkpoint.newest(reading, wanted, CHECKPOINTS_SHOWN), count, heir["id"] if heir else None)
