"""What goes before and after a session's verb, outside its transaction: the absorption's target, and the briefing (sessions.md b.0.3, b.0.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.sessions import capture, end, relay, rows
from core.sessions.briefing import briefing
from core.sessions.lifecycle import Resumed, Started, identity
from core.store.database import View


def pair(*, session_id: str, expected_client_key: str) -> tuple[str, str]:
    """The session that resume and heartbeat absorb into. Refuses `invalid_input`."""
    return identity(session_id, expected_client_key)


def of_capture(*, session_id: str, expected_client_key: str, knowledge_ids: Sequence[str]) -> tuple[str, str]:
    """The session that a capture absorbs into. Refuses `invalid_input`."""
    return capture.inputs(session_id=session_id, expected_client_key=expected_client_key, knowledge_ids=knowledge_ids)[:2]


def of_end(**arguments: Any) -> tuple[str, str]:
    """The session that an end absorbs into. Refuses what `end.inputs` does."""
    given = end.inputs(**arguments)
    return given.session_id, given.client_key


def of_relay(**arguments: Any) -> tuple[str, str]:
    """The session that a relay absorbs into. Refuses what `relay.inputs` does."""
    given = relay.inputs(**arguments)
    return given.session_id, given.client_key


def started(view: View, result: Started, now: datetime) -> Started:
    """A start with its briefing, and its session as it is now."""
    return replace(result, **_with_briefing(view, result, now))


def resumed(view: View, result: Resumed, now: datetime) -> Resumed:
    """A resume with its briefing."""
    return replace(result, **_with_briefing(view, result, now))


def relayed(view: View, result: relay.Relayed, now: datetime) -> relay.Relayed:
    """A relay with the successor's briefing."""
    return replace(result, **_with_briefing(view, result, now))


def _with_briefing(view: View, result: Started | Resumed | relay.Relayed, now: datetime) -> dict[str, Any]:
    session = rows.find(view, result.session.id, now) or result.session
    return {"session": session, "briefing": briefing(view, session.project_key, session.id, now)}
