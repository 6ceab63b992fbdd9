"""Absorption: knowledge that the server kept for a connection moves into the operator session it belongs to (sessions.md b.0.3, b.18)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.actors import Actor
from core.clock import stamp
from core.sessions import ledger, rows
from core.sessions.limits import CAPTURE_LIMIT, CONNECTION_ID_LIMIT
from core.sessions.models import Session
from core.sessions.switches import is_on
from core.store.deed import Deed, Identity

Reason = Literal[
    "absorbed", "ambiguous", "nothing_to_absorb", "ledger_full", "failed", "not_open", "agent_target", "unknown_session"
]
RIVALS_NAMED = 10
TRACES_LOOKED_AT = 500
"""Donors of one absorption, at most: the ledger has room for a hundred items anyway."""


@dataclass(frozen=True, slots=True)
class Absorption:
    """What an absorption did. `held_by_tracers` is how many items the project's traces held before it."""

    outcome: Literal["absorbed", "abstained", "nothing"]
    reason: Reason
    moved: int
    rivals: tuple[str, ...]
    held_by_tracers: int


def is_attempted(identity: Identity) -> bool:
    """Whether a call absorbs at all: the switch is on and the caller has an HTTP connection (sessions.md b.0.3)."""
    return is_on("DERIVED_CAPTURE_ENABLED") and identity.actor.via.startswith("http")


def failed() -> Absorption:
    """What is said of an absorption that could not be done; the command goes on without it."""
    return _nothing("failed")


def absorb(deed: Deed, *, session_id: str, client_key: str) -> Absorption:
    """Move into an open operator session what the traces of its own connections hold, then what can only be its own.

    Refuses `client_key_mismatch`; everything else is said in the result. A transaction of its own, before the command's.
    """
    found = rows.find(deed.transaction, session_id, deed.clock.now())
    if found is None:
        return _nothing("unknown_session")
    session = rows.identified(deed, session_id, client_key)
    if not session.is_open:
        return _nothing("not_open")
    if session.is_trace:
        return _nothing("agent_target")
    rows.note_connection(deed, session.id)
    traces = _traces(deed, session)
    held = sum(len(trace.items) for trace in traces)
    room = CAPTURE_LIMIT - len(session.attributed_knowledge_ids)
    if room <= 0:
        return _nothing("ledger_full", held)
    connections = {
        row[0] for row in deed.all("select connection_id from session_connections where session_id = ?", (session.id,))
    }
    own = [item for trace in traces if trace.connection_id in connections for item in trace.items][:room]
    own_ids = {item["knowledge_id"] for item in own}
    left = [item for trace in traces if trace.by_a_person for item in trace.items if item["knowledge_id"] not in own_ids]
    deduced, rivals = _unrivalled(deed, session, left)
    deduced = deduced[: room - len(own)]
    _move(deed, session, own, "derived_connection")
    _move(deed, session, deduced, "derived_window")
    moved = [item["knowledge_id"] for item in (*own, *deduced)]
    if moved:
        deed.append(
            "session_absorbed",
            project_key=session.project_key,
            subject=session.subject,
            data={"connection": len(own), "window": len(deduced), "moved": moved},
        )
        return Absorption("absorbed", "absorbed", len(moved), rivals, held)
    return Absorption("abstained", "ambiguous", 0, rivals, held) if rivals else _nothing("nothing_to_absorb", held)


@dataclass(frozen=True, slots=True)
class _Trace:
    connection_id: str | None
    by_a_person: bool
    items: tuple[Any, ...]


def _traces(deed: Deed, session: Session) -> list[_Trace]:
    """The project's traces that are open or closed as inactive, oldest first, with what of theirs this session could have."""
    items: dict[str, list[Any]] = {}
    found = deed.all(
        "select s.id, s.connection_id, s.started_by_actor, a.knowledge_id, a.knowledge_type, k.created_at from sessions s"
        " join session_artifacts a on a.session_id = s.id join knowledge k on k.id = a.knowledge_id"
        " where s.project_key = ? and s.nature = 'agent' and s.status in ('open', 'closed_inactive')"
        " and k.project_key = s.project_key and k.created_at >= ? order by s.started_at, s.id, k.created_at, k.id limit ?",
        (session.project_key, session.started_at, TRACES_LOOKED_AT),
    )
    heads: dict[str, Any] = {}
    for row in found:
        heads.setdefault(row["id"], row)
        items.setdefault(row["id"], []).append(row)
    return [
        _Trace(head["connection_id"], Actor.from_json(head["started_by_actor"]).kind == "operator", tuple(items[trace_id]))
        for trace_id, head in heads.items()
    ]


def _unrivalled(deed: Deed, session: Session, items: Sequence[Any]) -> tuple[list[Any], tuple[str, ...]]:
    """The items at whose creation no other operator session of the project was open, and the sessions that stood in the way."""
    now = stamp(deed.clock.now())
    free: list[Any] = []
    rivals: dict[str, None] = {}
    for item in items:
        others = deed.all(
            "select id from sessions where project_key = ? and id <> ? and nature is not 'agent' and started_at <= ?"
            " and coalesce(ended_at, ?) >= ? order by started_at limit ?",
            (session.project_key, session.id, item["created_at"], now, item["created_at"], RIVALS_NAMED),
        )
        if others:
            rivals |= {row["id"]: None for row in others}
        else:
            free.append(item)
    return free, tuple(rivals)[:RIVALS_NAMED]


def _move(deed: Deed, session: Session, items: Sequence[Any], mode: ledger.Mode) -> None:
    for item in items:
        deed.execute(
            "update session_artifacts set session_id = ?, attribution_mode = ? where knowledge_id = ?",
            (session.id, mode, item["knowledge_id"]),
        )


def _nothing(reason: Reason, held: int = 0) -> Absorption:
    return Absorption("nothing", reason, 0, (), held)


def connection_of(identity: Identity) -> str:
    """The connection as sessions keep it: cut to 64 characters (sessions.md a.8)."""
    return identity.connection_id[:CONNECTION_ID_LIMIT]
