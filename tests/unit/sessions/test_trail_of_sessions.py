"""What the trail keeps of sessions, slots and the base: every deed, refusals of guarded verbs too, texts as lengths and hashes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from core.room import Room
from core.trail.verify import verify_store
from tests.rooms import Rooms, refused
from tests.unit.sessions.support import (
    abandon,
    bind,
    capture,
    end,
    ending,
    knowledge,
    note,
    pair,
    project,
    receive,
    relay,
    relaying,
    rows,
    slot,
    start,
    topic,
)

SECRET = "the text itself, word for word"


def trail_data(room: Room, event: str, outcome: str = "done") -> dict[str, Any]:
    """The data of the newest row of an event."""
    found = rows(room, "select data from audit where event = ? and outcome = ? order by seq desc limit 1", event, outcome)
    data: dict[str, Any] = json.loads(found[0][0])
    return data


def digest(text: str) -> dict[str, object]:
    """What is kept of a text."""
    return {"characters": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def in_trail(room: Room, text: str) -> list[str]:
    """The events of rows that hold a text."""
    return [event for event, data in rows(room, "select event, data from audit") if text in data]


def test_every_deed_has_its_row_with_its_subject_and_no_text_is_copied(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent, SECRET)
    agent.do("brain_update_project_focus", project_key="demo", current_focus=SECRET + " 2", expected_focus_revision=0)
    opened, bare = slot(agent, body=SECRET), start(agent)
    session = start(agent, "k2")
    bind(agent, session, opened)
    agent.do("brain_session_heartbeat", **pair(session))
    note(agent, session, 1, SECRET, SECRET, blocker=SECRET)
    item = knowledge(rooms)
    capture(agent, session, item)
    heir = relay(agent, session, "k3", SECRET, summary=SECRET, expected_slot_revision=0).session
    abandon(agent, heir, SECRET)
    end(agent, bare, 1, SECRET, summary=SECRET, nothing_to_capture_reason=SECRET)
    agent.do("brain_slot_close", slot_id=opened.id, expected_revision=1, note=SECRET)
    received = slot(agent, "received")
    receive(agent, received)
    agent.do("brain_project_archive", project_key="demo", reason=SECRET)
    agent.do("brain_project_unarchive", project_key="demo")
    events = rows(
        agent, "select event, subject from audit where event not like 'connection%' and event not like 'store%' order by seq"
    )
    of_project, of_slot = "project:demo", f"slot:{opened.id}"
    assert events == [
        ("project_created", of_project),
        ("brain_set_project_context", of_project),
        ("brain_update_project_focus", of_project),
        ("brain_ticket_create", f"ticket:{opened.anchors[0].ticket_id}"),
        ("brain_slot_open", of_slot),
        ("brain_session_start", bare.subject),
        ("brain_session_start", session.subject),
        ("brain_session_bind", session.subject),
        ("brain_session_heartbeat", session.subject),
        ("brain_session_checkpoint", session.subject),
        ("brain_session_capture", session.subject),
        ("brain_session_relay", session.subject),
        ("brain_session_abandon", heir.subject),
        ("brain_session_end", bare.subject),
        ("brain_slot_close", of_slot),
        ("brain_ticket_create", f"ticket:{received.anchors[0].ticket_id}"),
        ("brain_slot_open", received.subject),
        ("brain_ticket_receive", f"ticket:{received.anchors[0].ticket_id}"),
        ("brain_slot_close", received.subject),
        ("brain_project_archive", of_project),
        ("brain_project_unarchive", of_project),
    ]
    assert in_trail(agent, SECRET) == []
    assert verify_store(rooms.path).ok


def test_a_relays_row_names_the_successor_the_claimed_initiator_and_digests(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    session = start(agent)
    heir = relay(agent, session, "k2", SECRET, summary="what was done").session
    data = trail_data(agent, "brain_session_relay")
    assert (data["successor_session_id"], data["initiator_claimed"]) == (heir.id, "operator")
    assert (data["handover"], data["summary"]) == (digest(SECRET), digest("what was done"))
    assert (data["focus_revision_before"], data["focus_revision"]) == (0, 1)
    # the actor is who the system says it is, whatever was claimed
    assert json.loads(rows(agent, "select actor from audit where event = 'brain_session_relay'")[0][0])["kind"] == "agent"


def test_a_replay_leaves_no_row(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    relayed, ended, given_up = start(agent, "k1"), start(agent, "e1"), start(agent, "a1")
    opened, other, bound = slot(agent), slot(agent, "other"), start(agent, "b1")

    def everything_once() -> None:
        bind(agent, bound, opened)
        note(agent, bound, 1)
        relay(agent, relayed)
        end(agent, ended, 1, "handover text that stands")
        abandon(agent, given_up)
        agent.do("brain_slot_open", project_key="demo", title=opened.title, body=opened.body, anchors=opened.anchors)
        receive(agent, other)

    everything_once()
    before = rows(agent, "select max(seq) from audit")
    everything_once()
    assert rows(agent, "select max(seq) from audit") == before


@pytest.mark.parametrize(
    "verb",
    [
        "brain_session_bind",
        "brain_session_end",
        "brain_session_relay",
        "brain_session_abandon",
        "brain_slot_open",
        "brain_slot_close",
        "brain_update_project_focus",
    ],
)
def test_a_refused_guarded_verb_is_recorded(rooms: Rooms, verb: str) -> None:
    agent = rooms.agent()
    project(agent)
    session, opened = start(agent), slot(agent, "topic", "body", topic())
    wrong = {"session_id": session.id, "expected_client_key": "another"}
    arguments: dict[str, dict[str, Any]] = {
        "brain_session_bind": {**wrong, "slot_id": opened.id},
        "brain_session_end": {**ending(session), **wrong},
        "brain_session_relay": {**relaying(session), **wrong},
        "brain_session_abandon": {**wrong, "reason": "r"},
        "brain_slot_open": {"project_key": "demo", "title": "topic", "body": "another", "anchors": [topic()]},
        "brain_slot_close": {"slot_id": opened.id, "expected_revision": 3, "note": "n"},
        "brain_update_project_focus": {"project_key": "demo", "current_focus": "f", "expected_focus_revision": 3},
    }
    refusal = refused(agent, verb, **arguments[verb])
    assert rows(agent, "select outcome, subject, project_key from audit where event = ? order by seq desc limit 1", verb) == [
        ("refused", refusal.subject, "demo")
    ]
    assert trail_data(agent, verb, "refused")["code"] == refusal.code


def test_a_wrong_key_over_http_is_recorded_though_the_absorption_meets_it_first(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHROOM_DERIVED_CAPTURE_ENABLED", "true")
    agent = rooms.agent(surface="http")
    project(agent)
    session = start(agent)
    refusal = refused(agent, "brain_session_end", **{**ending(session), "expected_client_key": "another"})
    assert refusal.code == "client_key_mismatch"
    assert trail_data(agent, "brain_session_end", "refused")["code"] == "client_key_mismatch"


def test_a_refusal_tells_its_caller_the_text_and_the_trail_its_digest(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent, SECRET)
    conflict = refused(agent, "brain_update_project_focus", project_key="demo", current_focus="f", expected_focus_revision=3)
    assert conflict.facts["current_focus"] == SECRET
    assert trail_data(agent, "brain_update_project_focus", "refused")["current_focus"] == digest(SECRET)
    opened, session = slot(agent, body=SECRET), start(agent)
    bind(agent, session, opened)
    stale = refused(agent, "brain_session_relay", **relaying(session, expected_slot_revision=3))
    assert stale.facts["current_body"] == SECRET
    assert trail_data(agent, "brain_session_relay", "refused")["current_body"] == digest(SECRET)
    abandon(agent, session, SECRET)
    over = refused(agent, "brain_session_end", **ending(session))
    assert SECRET in over.sentence and over.facts["abandonment_reason"] == SECRET
    assert trail_data(agent, "brain_session_end", "refused")["abandonment_reason"] == digest(SECRET)
    assert in_trail(agent, SECRET) == []


def test_an_override_of_the_shrink_guard_is_in_the_trail_with_its_reason(rooms: Rooms) -> None:
    operator = rooms.operator()
    project(operator, "x" * 100)
    for verb, more in (
        ("brain_update_project_focus", {"project_key": "demo", "current_focus": "x" * 60, "expected_focus_revision": 0}),
        ("brain_session_end", ending(start(operator), 1, "x" * 30)),
        ("brain_session_relay", relaying(start(operator, "k8"), "k9", "x" * 10, expected_focus_revision=2)),
    ):
        operator.do(verb, **more, allow_focus_shrink=True, shrink_reason=" compressed on purpose ")
        data = trail_data(operator, verb)
        assert (data["allow_focus_shrink"], data["shrink_reason"]) == (True, "compressed on purpose")


def test_an_override_that_was_not_needed_is_none(rooms: Rooms) -> None:
    operator = rooms.operator()
    project(operator, "x" * 100)
    end(operator, start(operator), 0, "x" * 100, allow_focus_shrink=True)
    assert "allow_focus_shrink" not in trail_data(operator, "brain_session_end")
