"""Whose a wrap or session is: the connection at work on it, as lists and details show it."""

from __future__ import annotations

from dataclasses import dataclass

from core.actors import Actor
from core.models import ConnectionFacts


@dataclass(frozen=True, slots=True)
class Holder:
    """The connection at work on something. Fields are None where nothing is recorded."""

    connection_id: str | None
    client_name: str | None
    user: str | None
    via: str | None
    pid: int | None
    host: str | None
    session_id: str | None


def holder_of(found: ConnectionFacts | None, connection_id: str | None) -> Holder:
    """The holder in a connection's stored facts; without facts only its id is known."""
    if found is None:
        return Holder(connection_id, None, None, None, None, None, None)
    return Holder(
        connection_id,
        found.client_name,
        Actor.from_json(found.actor).name,
        found.via,
        found.process.pid,
        found.process.host,
        found.session_id,
    )
