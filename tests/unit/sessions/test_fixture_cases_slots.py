"""Cases of sessions.json that need a clock, a receipt or a trace: slots, bound ends, relays and the briefing."""

from __future__ import annotations

import threading

import pytest

from core.errors import Refusal
from core.room import Room
from core.sessions.models import Session, Slot
from tests.rooms import Rooms, refused
from tests.unit.sessions.support import (
    abandon,
    again,
    bind,
    end,
    ending,
    outside,
    pair,
    project,
    receive,
    relay,
    relaying,
    rows,
    slot,
    slot_now,
    start,
    trace,
    unchanged,
)

DAY = 86_400


@pytest.fixture
def bound(rooms: Rooms) -> tuple[Room, Session, Slot]:
    """An agent, its session, and the slot it is bound to."""
    agent = rooms.agent()
    project(agent)
    opened = slot(agent)
    session = start(agent)
    bind(agent, session, opened)
    return agent, session, opened


def test_bs_081_a_slot_becomes_stale_after_seven_days_untouched(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    slot(agent)
    rooms.clock.advance(8 * DAY)
    found = agent.do("brain_slot_list", project_key="demo").slots[0]
    assert (found.is_stale, found.bound_session_id, found.receipt_pending) == (True, None, False)


def test_bs_082_a_recently_ended_binding_keeps_the_slot_fresh(rooms: Rooms, bound: tuple[Room, Session, Slot]) -> None:
    agent, session, _ = bound
    rooms.clock.advance(8 * DAY)
    end(agent, session, 0, "slot body")
    found = agent.do("brain_slot_list", project_key="demo").slots[0]
    assert (found.is_stale, found.bound_session_id) == (False, None)


def test_bs_095_an_agent_trace_cannot_be_bound(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = rooms.agent()
    project(agent)
    opened = slot(agent)
    found = trace(rooms, monkeypatch)
    with unchanged(agent):
        refusal = refused(agent, "brain_session_bind", **pair(found), slot_id=opened.id)
    assert refusal.code == "session_is_agent_trace"


def test_bs_096_binding_the_same_slot_again_after_its_receipt_is_refused(bound: tuple[Room, Session, Slot]) -> None:
    agent, session, opened = bound
    receive(agent, opened)
    with unchanged(agent):
        assert refused(agent, "brain_session_bind", **pair(session), slot_id=opened.id).code == "slot_closed"
    assert (again(agent, session).status, again(agent, session).slot_id) == ("open", opened.id)


def test_bs_104_a_bound_end_at_the_closed_slots_revision_is_refused_and_tells_the_way_out(
    bound: tuple[Room, Session, Slot],
) -> None:
    agent, session, opened = bound
    receive(agent, opened)
    with unchanged(agent):
        refusal = refused(agent, "brain_session_end", **ending(session, 1, "after close"))
    assert refusal.code == "slot_closed"
    assert "expected_focus_revision 0" in refusal.sentence and "abandon" in refusal.sentence
    assert again(agent, session).status == "open"


def test_bs_105_a_bound_end_at_the_revision_before_the_close_records_a_conflict(bound: tuple[Room, Session, Slot]) -> None:
    agent, session, opened = bound
    receive(agent, opened)
    with unchanged(agent, "sessions", "counters"):
        ended = end(agent, session, 0, "after close")
    assert (ended.focus_outcome, ended.focus_revision_at_end, ended.current_focus_revision) == ("conflict", 1, 1)
    assert ended.session.next_focus == "after close" and ended.focus_diff == ""


def test_bs_106_a_replayed_bound_end_reports_the_live_slot(bound: tuple[Room, Session, Slot]) -> None:
    agent, session, opened = bound
    end(agent, session, 0, "replayed body")
    receive(agent, opened)
    with unchanged(agent):
        replayed = end(agent, session, 0, "replayed body")
    assert (replayed.replayed, replayed.current_focus, replayed.current_focus_revision) == (True, "replayed body", 2)
    assert (replayed.focus_revision_at_end, replayed.focus_diff) == (1, "")


def test_bs_107_resume_flags_a_closed_slot(bound: tuple[Room, Session, Slot]) -> None:
    agent, session, opened = bound
    receive(agent, opened)
    resumed = agent.do("brain_session_resume", **pair(session))
    assert (resumed.current_focus, resumed.current_focus_revision, resumed.slot_closed) == ("slot body", 1, True)


def test_bs_112_a_slot_relay_on_a_closed_slot_is_refused_at_any_revision(bound: tuple[Room, Session, Slot]) -> None:
    agent, session, opened = bound
    receive(agent, opened)
    for revision in (0, 1, 2):
        with unchanged(agent):
            refusal = refused(agent, "brain_session_relay", **relaying(session, expected_slot_revision=revision))
        assert refusal.code == "slot_closed"
        assert "expected_focus_revision 0" in refusal.sentence and "abandon" in refusal.sentence
    assert agent.do("brain_session_get", session_id=session.id).successor_session_id is None


def test_bs_138_an_agent_trace_cannot_be_relayed(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = rooms.agent()
    project(agent)
    found = trace(rooms, monkeypatch)
    with unchanged(agent):
        assert refused(agent, "brain_session_relay", **relaying(found)).code == "session_is_agent_trace"
    assert again(agent, found).status == "open"


def test_bs_152_an_unrelated_base_relay_at_the_same_instant_is_no_successor(
    rooms: Rooms, bound: tuple[Room, Session, Slot]
) -> None:
    agent, session, _ = bound
    end(agent, session, 0, "same body", summary="same")
    unrelated = start(agent, "k5")
    # the clock stands still: this relay shares instant, summary, text and revision with the bound session's end
    heir = relay(agent, unrelated, "k6", "same body", summary="same", expected_focus_revision=0).session
    assert heir.started_at == again(agent, session).ended_at
    with unchanged(agent):
        refusal = refused(
            agent,
            "brain_session_relay",
            **relaying(session, "k6", "same body", summary="same", expected_focus_revision=0),
        )
    assert refusal.code == "terminal_conflict" and refusal.facts["successor_session_id"] is None


def test_bs_157_a_receipt_and_a_relay_at_once_are_one_of_the_two_orders(rooms: Rooms, bound: tuple[Room, Session, Slot]) -> None:
    agent, session, opened = bound
    operator = rooms.operator()
    gate, outcomes = threading.Barrier(2), {}

    def relaying_agent() -> None:
        gate.wait()
        try:
            relay(agent, session, expected_slot_revision=0)
            outcomes["relay"] = "ok"
        except Refusal as refusal:
            outcomes["relay"] = refusal.code

    def receiving_operator() -> None:
        gate.wait()
        outcomes["receipt"] = receive(operator, opened).closed_slot_ids

    threads = [threading.Thread(target=work) for work in (relaying_agent, receiving_operator)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    revision = slot_now(agent, opened).revision
    assert outcomes["receipt"] == (opened.id,)
    assert (outcomes["relay"], revision) in (("ok", 2), ("slot_closed", 1))
    assert (again(agent, session).status == "open") == (outcomes["relay"] == "slot_closed")


def test_bs_161_abandon_works_when_the_slot_is_closed(bound: tuple[Room, Session, Slot]) -> None:
    agent, session, opened = bound
    receive(agent, opened)
    with unchanged(agent, "sessions", "counters"):
        assert abandon(agent, session, "receipt closed the slot").session.status == "abandoned"


def test_bs_169_a_received_slot_is_to_be_distilled_until_the_base_is_written(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent, None)
    received, by_hand = slot(agent, "received topic"), slot(agent, "closed by hand")
    receive(agent, received)
    agent.do("brain_slot_close", slot_id=by_hand.id, expected_revision=0, note="done")
    rooms.clock.advance(1)
    started = agent.do("brain_session_start", project_key="demo", client_key="k1")
    distil = started.briefing.partition("## To distil")[2]
    assert "received topic" in distil and "closed by hand" not in distil
    end(agent, started.session, 0, "the base, rewritten")
    assert "## To distil" not in agent.do("brain_session_start", project_key="demo", client_key="k2").briefing


def test_a_pending_receipt_is_seen_when_a_ticket_was_received_by_another_program(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    opened = slot(agent)
    outside(rooms, "update tickets set receipt_id = ?, received_at = ?", (rooms.ids.unique(), opened.opened_at))
    assert slot_now(agent, opened).receipt_pending
    assert "receipt pending" in agent.do("brain_session_start", project_key="demo", client_key="k1").briefing
    assert rows(agent, "select closed_at from slots") == [(None,)]
