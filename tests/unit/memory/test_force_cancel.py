"""The operator's force-cancel: exactly what was shown, with a reason, checked again in its own transaction (console.md, Acting safely)."""

from __future__ import annotations

from typing import Any

import pytest

from core.room import Room
from core.views import wraps as wrap_views
from tests.rooms import Rooms, refused, trail
from tests.unit.memory.test_wraps import damage, record


def shown(room: Room) -> dict[str, Any]:
    """The arguments of a force-cancel as a screen would take them from its row."""
    with room.snapshot() as view:
        row = wrap_views.open_wraps(view, room.witness, room.beats_reader.all(), room.beats_reader.newest())[0]
    return {
        "wrap_id": row.wrap_id,
        "verdict": row.judgement.verdict,
        "generation": row.generation,
        "token_start": row.token_start,
        "last_call_at": row.last_call_at,
        "row_sha256": row.row_sha256,
        "reason": "the agent is gone",
    }


@pytest.fixture
def held(rooms: Rooms) -> tuple[Room, Room]:
    """A holder with an open wrap, and an operator."""
    holder = rooms.agent()
    record(holder)
    holder.do("prepare_wrap", project_key="demo")
    return holder, rooms.operator()


def test_a_dead_wrap_is_cancelled_plainly_and_the_trail_says_who_why_and_which_episodes(
    rooms: Rooms, held: tuple[Room, Room]
) -> None:
    holder, operator = held
    rooms.kill(holder)
    receipt = operator.do("force_cancel", **shown(operator))
    assert (receipt.outcome, receipt.verdict, receipt.episodes) == ("cancelled", "DEAD", 1)
    with operator.snapshot() as view:
        row = view.one("select actor, data from audit where event = 'wrap_cancelled'")
    assert '"kind":"operator"' in row["actor"]
    assert "the agent is gone" in row["data"] and "wrap_episode_ids" in row["data"] and "is gone" in row["data"]
    assert rooms.agent().do("prepare_wrap", project_key="demo").outcome == "opened"


def test_a_second_press_says_already(rooms: Rooms, held: tuple[Room, Room]) -> None:
    holder, operator = held
    rooms.kill(holder)
    arguments = shown(operator)
    operator.do("force_cancel", **arguments)
    refusal = refused(operator, "force_cancel", **arguments)
    assert refusal.code == "wrap_already_finished" and "already" in refusal.sentence


def test_a_live_wrap_asks_for_the_typed_start_of_its_token(held: tuple[Room, Room]) -> None:
    _, operator = held
    arguments = shown(operator)
    assert refused(operator, "force_cancel", **arguments).code == "invalid_input"
    typed = arguments["token_start"][:6]
    assert operator.do("force_cancel", **arguments, typed=typed).verdict == "LIVE"


def test_a_livelier_verdict_since_it_was_shown_stops_the_cancel(rooms: Rooms, held: tuple[Room, Room]) -> None:
    holder, operator = held
    table = dict(rooms.processes.table)
    rooms.kill(holder)
    arguments = shown(operator)
    rooms.processes.table.update(table)
    refusal = refused(operator, "force_cancel", **arguments)
    assert refusal.code == "evidence_changed" and refusal.facts["verdict"] == "LIVE"
    assert ("wrap_cancelled", "wrap:1") not in trail(operator)
    assert ("force_cancel", "wrap:1") in trail(operator, "refused")


def test_a_newer_call_since_it_was_shown_stops_the_cancel(rooms: Rooms, held: tuple[Room, Room]) -> None:
    holder, operator = held
    arguments = shown(operator)
    rooms.clock.advance(1)
    holder.called()
    refusal = refused(operator, "force_cancel", **arguments, typed=arguments["token_start"][:6])
    assert refusal.code == "evidence_changed" and "called since" in refusal.sentence


def test_damage_is_compared_by_the_row_itself(rooms: Rooms, held: tuple[Room, Room]) -> None:
    _, operator = held
    damage(rooms, "update wraps set episode_ids = 'x'")
    arguments = shown(operator)
    assert arguments["verdict"] == "PARTIAL"
    damage(rooms, "update wraps set episode_ids = 'y'")
    assert refused(operator, "force_cancel", **arguments).code == "evidence_changed"
    assert operator.do("force_cancel", **shown(operator)).outcome == "partial_cleared"


def test_damage_without_a_project_can_be_cleared(rooms: Rooms, held: tuple[Room, Room]) -> None:
    _, operator = held
    damage(rooms, "update wraps set project_key = null")
    assert operator.do("force_cancel", **shown(operator)).outcome == "partial_cleared"


def test_a_reason_is_required_and_bounded(held: tuple[Room, Room]) -> None:
    _, operator = held
    for reason in ("", "   ", "x" * 501, "half \ud800"):
        assert refused(operator, "force_cancel", **{**shown(operator), "reason": reason}).code == "invalid_input"


def test_an_agent_has_no_force_cancel(held: tuple[Room, Room]) -> None:
    holder, _ = held
    assert refused(holder, "force_cancel", **shown(holder)).code == "operator_role_required"
