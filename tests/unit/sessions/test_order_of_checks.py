"""The order of refusals of each verb of sessions, as the tables of sessions.md (b) have it: everything is wrong, then one thing less."""

from __future__ import annotations

import uuid

import pytest

from tests.rooms import Rooms, refused
from tests.unit.sessions.support import (
    abandon,
    again,
    bind,
    capture,
    climb,
    end,
    ending,
    knowledge,
    note,
    outside,
    pair,
    project,
    receive,
    relaying,
    slot,
    start,
    topic,
    trace,
)

UNKNOWN = str(uuid.UUID(int=2**127))
LONG_KEY = "k" * 129


def test_start(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    abandon(agent, start(agent, "spent"))
    climb(
        agent,
        "brain_session_start",
        {"project_key": "Not A Key", "client_key": "  "},
        [
            ("invalid_input", "not-a-key", {"project_key": "unknown"}),
            ("invalid_input", "blank", {"client_key": LONG_KEY}),
            ("invalid_input", "128", {"client_key": "spent"}),
            ("project_not_found", "unknown", {"project_key": "demo"}),
            ("client_key_spent", "abandoned", {"client_key": "k" * 128}),
        ],
    )


@pytest.mark.parametrize("verb", ["resume", "heartbeat"])
def test_resume_and_heartbeat(rooms: Rooms, verb: str) -> None:
    agent = rooms.agent()
    project(agent)
    over, session = start(agent, "over"), start(agent)
    abandon(agent, over)
    climb(
        agent,
        f"brain_session_{verb}",
        {"session_id": "x", "expected_client_key": " "},
        [
            ("invalid_input", "session_id", {"session_id": UNKNOWN}),
            ("invalid_input", "blank", {"expected_client_key": LONG_KEY}),
            ("invalid_input", "128", {"expected_client_key": "other"}),
            ("session_not_found", UNKNOWN, {"session_id": over.id}),
            ("client_key_mismatch", over.id, {"expected_client_key": " over "}),
            ("session_not_open", "abandoned", pair(session)),
        ],
    )


def test_checkpoint(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    over, session = start(agent, "over"), start(agent)
    note(agent, over, 1)
    abandon(agent, over)
    note(agent, session, 1, "first", "next")
    climb(
        agent,
        "brain_session_checkpoint",
        {
            "session_id": UNKNOWN,
            "expected_client_key": " ",
            "seq": 0,
            "progress": " ",
            "next_step": "x" * 2_001,
            "blocker": "x" * 2_001,
        },
        [
            ("invalid_input", "expected_client_key", {"expected_client_key": "other"}),
            ("invalid_input", "seq", {"seq": True}),
            ("invalid_input", "seq", {"seq": 1}),
            ("invalid_input", "progress", {"progress": "p"}),
            ("invalid_input", "next_step", {"next_step": "n"}),
            ("invalid_input", "blocker", {"blocker": " "}),
            ("session_not_found", UNKNOWN, {"session_id": over.id}),
            ("client_key_mismatch", over.id, {"expected_client_key": "over"}),
            # the status comes before the replay: these are exactly the texts of its checkpoint 1
            ("session_not_open", "abandoned", pair(session)),
            ("checkpoint_conflict", "another seq", {"progress": " first ", "next_step": "next\n", "blocker": ""}),
        ],
    )


def test_capture(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    project(agent, key="other")
    old = knowledge(rooms, ago=1)
    session, rival = start(agent), start(agent, "rival")
    own, taken, foreign = knowledge(rooms), knowledge(rooms), knowledge(rooms, key="other")
    capture(agent, rival, taken)
    many = [knowledge(rooms) for _ in range(100)]
    captured = climb(
        agent,
        "brain_session_capture",
        {"session_id": UNKNOWN, "expected_client_key": " ", "knowledge_ids": []},
        [
            ("invalid_input", "expected_client_key", {"expected_client_key": "other"}),
            ("invalid_input", "empty", {"knowledge_ids": [*many, own]}),
            ("invalid_input", "101", {"knowledge_ids": [own, own]}),
            ("invalid_input", f"invalid ids: {own}", {"knowledge_ids": ["x"]}),
            ("invalid_input", "UUID", {"knowledge_ids": [own, taken, old, foreign, UNKNOWN]}),
            ("session_not_found", UNKNOWN, {"session_id": session.id}),
            ("client_key_mismatch", session.id, {"expected_client_key": "k1"}),
            ("capture_conflict", rival.id, {"knowledge_ids": [own, old, foreign, UNKNOWN]}),
            ("invalid_input", f"invalid ids: {old} is older", {"knowledge_ids": [own, foreign, UNKNOWN]}),
            ("invalid_input", f"invalid ids: {foreign} belongs", {"knowledge_ids": [own, UNKNOWN]}),
            ("invalid_input", f"invalid ids: {UNKNOWN} is no", {"knowledge_ids": many}),
        ],
    )
    assert len(captured.newly_captured_knowledge_ids) == 100
    full = refused(agent, "brain_session_capture", **pair(session), knowledge_ids=[own])
    assert full.code == "invalid_input" and "101" in full.sentence


def test_capture_on_a_session_that_is_over(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, http = rooms.agent(), rooms.agent(surface="http")
    project(agent)
    ended, given_up, rival = start(agent, "ended"), start(agent, "given-up"), start(agent, "rival")
    mine, theirs, free = knowledge(rooms), knowledge(rooms), knowledge(rooms)
    also = knowledge(rooms)
    capture(agent, ended, mine)
    capture(agent, given_up, also)
    capture(agent, rival, theirs)
    end(agent, ended)
    abandon(agent, given_up)
    assert refused(agent, "brain_session_capture", **pair(ended), knowledge_ids=[mine, theirs]).code == "capture_conflict"
    assert refused(agent, "brain_session_capture", **pair(ended), knowledge_ids=[mine, free]).code == "session_not_open"
    assert refused(agent, "brain_session_capture", **pair(ended), knowledge_ids=[free]).code == "session_not_open"
    for over, item in ((ended, mine), (given_up, also)):
        replayed = capture(agent, over, item)
        assert (replayed.replayed, replayed.replayed_knowledge_ids, replayed.session) == (True, (item,), again(agent, over))
    closed = trace(rooms, monkeypatch, http)
    http.close()
    assert again(agent, closed).status == "closed_inactive"
    assert refused(agent, "brain_session_capture", **pair(closed), knowledge_ids=[free]).code == "session_not_open"


def test_bind(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = rooms.agent()
    project(agent)
    project(agent, key="other")
    over, session, holder, bound = (start(agent, key) for key in ("over", "k1", "holder", "bound"))
    abandon(agent, over)
    kept = trace(rooms, monkeypatch)
    closed, foreign, held, own, free = (slot(agent, title) for title in ("closed", "foreign", "held", "own", "free"))
    foreign = slot(agent, "foreign", "body", topic(), key="other")
    bind(agent, holder, held)
    bind(agent, bound, own)
    receive(agent, closed)
    climb(
        agent,
        "brain_session_bind",
        {"session_id": UNKNOWN, "expected_client_key": " ", "slot_id": UNKNOWN},
        [
            ("invalid_input", "blank", {"expected_client_key": LONG_KEY}),
            ("invalid_input", "128", {"expected_client_key": "other"}),
            ("session_not_found", UNKNOWN, {"session_id": over.id}),
            ("client_key_mismatch", over.id, pair(over)),
            ("session_not_open", "abandoned", pair(kept)),
            ("session_is_agent_trace", kept.id, pair(bound)),
            ("session_already_bound", own.id, pair(session)),
            ("slot_not_found", UNKNOWN, {"slot_id": closed.id}),
            ("slot_closed", closed.id, {"slot_id": foreign.id}),
            ("slot_project_mismatch", foreign.id, {"slot_id": held.id}),
            ("slot_busy", holder.id, {"slot_id": free.id}),
        ],
    )
    # a closed slot of another project is closed first, and a busy one of another project is of another project first
    outsider = start(agent, "outsider", "other")
    assert refused(agent, "brain_session_bind", **pair(outsider), slot_id=closed.id).code == "slot_closed"
    assert refused(agent, "brain_session_bind", **pair(outsider), slot_id=held.id).code == "slot_project_mismatch"


def test_an_unbound_end(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent, "x" * 100)
    over, session = start(agent, "over"), start(agent)
    abandon(agent, over)
    item = knowledge(rooms)
    capture(agent, session, item)
    move = "update knowledge set project_key = ?"
    project(agent, key="other")
    outside(rooms, move, ("other",))
    ended = climb(
        agent,
        "brain_session_end",
        {
            "session_id": UNKNOWN,
            "expected_client_key": " ",
            "summary": " ",
            "next_focus": " ",
            "expected_focus_revision": -1,
            "nothing_to_capture_reason": " ",
        },
        [
            ("invalid_input", "summary", {"summary": "s"}),
            ("invalid_input", "next_focus", {"next_focus": "x" * 69}),
            ("invalid_input", "expected_client_key", {"expected_client_key": "other"}),
            ("invalid_input", "expected_focus_revision", {"expected_focus_revision": True}),
            ("invalid_input", "expected_focus_revision", {"expected_focus_revision": 0}),
            ("invalid_input", "nothing_to_capture_reason", {"nothing_to_capture_reason": "none"}),
            ("session_not_found", UNKNOWN, {"session_id": over.id}),
            ("client_key_mismatch", over.id, pair(over)),
            ("terminal_conflict", "abandoned", pair(session)),
            ("invalid_input", f"invalid ids: {item}", lambda: outside(rooms, move, ("demo",))),
            ("base_focus_shrink", "70", {"next_focus": "x" * 70}),
        ],
    )
    assert (ended.focus_outcome, ended.focus_revision_at_end) == ("applied", 1)


def test_a_bound_end(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    opened, session = slot(agent), start(agent)
    bind(agent, session, opened)
    item = knowledge(rooms)
    capture(agent, session, item)
    move = "update knowledge set created_at = ?"
    outside(rooms, move, ("2020-01-01T00:00:00.000000Z",))
    receive(agent, opened)
    ended = climb(
        agent,
        "brain_session_end",
        ending(session, 1, "x" * 4_001),
        [
            ("slot_body_too_long", "4,001", {"next_focus": " " + "x" * 4_000 + " "}),
            ("slot_closed", "abandon", {"expected_focus_revision": 0}),
            ("invalid_input", "invalid ids", lambda: outside(rooms, move, (session.started_at,))),
        ],
    )
    assert (ended.focus_outcome, len(ended.session.next_focus), ended.current_focus) == ("conflict", 4_000, "slot body")


def test_relay_up_to_the_store(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = rooms.agent()
    project(agent)
    opened, session = slot(agent), start(agent)
    bind(agent, session, opened)
    other = start(agent, "other")
    item = knowledge(rooms)
    relayed = climb(
        agent,
        "brain_session_relay",
        {
            "session_id": UNKNOWN,
            "expected_client_key": " ",
            "summary": " ",
            "handover": " ",
            "new_client_key": LONG_KEY,
            "initiator": "OPERATOR",
            "expected_slot_revision": -1,
            "expected_focus_revision": -1,
            "allow_focus_shrink": True,
            "knowledge_ids": [item] * 101,
            "nothing_to_capture_reason": " ",
        },
        [
            ("invalid_input", "initiator", {"initiator": "guard_mod"}),
            (
                "relay_guard_mod_disabled",
                "not enabled",
                lambda: monkeypatch.setenv("WATCHROOM_RELAY_GUARD_MOD_ENABLED", "true"),
            ),
            ("relay_shrink_override_operator_only", "guard mod", {"allow_focus_shrink": False}),
            ("relay_expects_one_revision", "both", {"expected_slot_revision": None, "expected_focus_revision": None}),
            ("relay_expects_one_revision", "neither", {"expected_slot_revision": -1}),
            ("invalid_input", "expected_client_key", {"expected_client_key": "same"}),
            ("invalid_input", "new_client_key", {"new_client_key": " same "}),
            ("relay_same_client_key", "own", {"new_client_key": "k2"}),
            ("invalid_input", "summary", {"summary": "s"}),
            ("invalid_input", "handover", {"handover": "x" * 4_001}),
            ("slot_body_too_long", "4,001", {"handover": " " + "x" * 4_000}),
            ("invalid_input", "expected_slot_revision", {"expected_slot_revision": True}),
            ("invalid_input", "expected_slot_revision", {"expected_slot_revision": 0}),
            ("invalid_input", "101", {"knowledge_ids": [item, item]}),
            ("invalid_input", "invalid ids", {"knowledge_ids": [item]}),
            ("invalid_input", "nothing_to_capture_reason", {"nothing_to_capture_reason": "none"}),
            ("session_not_found", UNKNOWN, {"session_id": other.id}),
            ("client_key_mismatch", other.id, pair(other)),
            ("relay_expects_focus_revision", "expected_focus_revision", pair(session)),
        ],
    )
    assert relayed.slot.revision == 1 and len(relayed.slot.body) == 4_000


def test_relay_in_the_base_form(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = rooms.agent()
    project(agent, "x" * 100)
    session, rival, over = start(agent), start(agent, "rival"), start(agent, "over")
    abandon(agent, over)
    kept = trace(rooms, monkeypatch)
    own, taken, old = knowledge(rooms), knowledge(rooms), knowledge(rooms, ago=1)
    many = [knowledge(rooms) for _ in range(100)]
    capture(agent, rival, taken)
    capture(agent, session, *many[:99])
    wrong = {"expected_slot_revision": 5, "expected_focus_revision": None}
    relayed = climb(
        agent,
        "brain_session_relay",
        relaying(over, "over-already", "x" * 69, knowledge_ids=[old, taken, own], **wrong),
        [
            ("terminal_conflict", "abandoned", pair(kept)),
            ("session_is_agent_trace", kept.id, pair(session)),
            ("relay_expects_focus_revision", session.id, {"expected_slot_revision": None, "expected_focus_revision": 5}),
            ("focus_revision_conflict", "revision 0", {"expected_focus_revision": 0, "new_client_key": "over"}),
            ("base_focus_shrink", "70", {"handover": "x" * 70}),
            ("invalid_input", f"invalid ids: {old}", {"knowledge_ids": [taken, own, many[99]]}),
            ("capture_conflict", rival.id, {"knowledge_ids": [own, many[99]]}),
            ("invalid_input", "101", {"knowledge_ids": [own, many[0]]}),
            ("client_key_conflict", over.id, {"new_client_key": "rival"}),
            ("client_key_conflict", rival.id, {"new_client_key": "fresh"}),
        ],
    )
    assert (relayed.focus_revision, relayed.slot, relayed.session.client_key) == (1, None, "fresh")
    assert len(again(agent, session).captured_knowledge_ids) == 100


def test_relay_in_the_slot_form(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    opened, session = slot(agent), start(agent)
    bind(agent, session, opened)
    old = knowledge(rooms, ago=1)
    relayed = climb(
        agent,
        "brain_session_relay",
        relaying(session, "k2", "x", expected_focus_revision=5, knowledge_ids=[old]),
        [
            ("relay_expects_slot_revision", opened.id, {"expected_focus_revision": None, "expected_slot_revision": 5}),
            ("slot_revision_conflict", "revision 0", {"expected_slot_revision": 0}),
            ("invalid_input", f"invalid ids: {old}", {"knowledge_ids": []}),
        ],
    )
    # the slot form has no shrink guard
    assert relayed.slot.body == "x"


def test_abandon(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    over, session = start(agent, "over"), start(agent)
    end(agent, over)
    climb(
        agent,
        "brain_session_abandon",
        {"session_id": UNKNOWN, "expected_client_key": " ", "reason": " "},
        [
            ("invalid_input", "expected_client_key", {"expected_client_key": "other"}),
            ("invalid_input", "blank", {"reason": "r" * 2_001}),
            ("invalid_input", "2,001", {"reason": "r" * 2_000}),
            ("session_not_found", UNKNOWN, {"session_id": over.id}),
            ("client_key_mismatch", over.id, pair(over)),
            ("terminal_conflict", "ended", pair(session)),
        ],
    )
    assert abandon(agent, session, "r" * 2_000).replayed
    refusal = refused(agent, "brain_session_abandon", **pair(session), reason="another one")
    assert refusal.code == "terminal_conflict" and "r" * 100 in refusal.sentence
