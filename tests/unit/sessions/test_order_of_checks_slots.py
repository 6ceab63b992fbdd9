"""The order of refusals of the verbs of slots and of the base focus, as the tables of sessions.md (b) have it."""

from __future__ import annotations

import uuid

import pytest

from core.sessions.models import Anchor
from tests.rooms import Rooms, refused
from tests.unit.sessions.support import abandon, bind, climb, project, receive, slot, start, ticket, topic

UNKNOWN = str(uuid.UUID(int=2**127))


def test_slot_open(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    project(agent, key="other")
    mine, foreign, received = ticket(agent), ticket(agent, key="other"), ticket(agent, "1.2.3")
    slot(agent, "taken", "body", topic())
    agent.do("brain_ticket_receive", ticket_id=received)
    agent.do("brain_ticket_receive", ticket_id=foreign)
    eleven = [topic(str(number)) for number in range(11)]
    opened = climb(
        agent,
        "brain_slot_open",
        {"project_key": "Not A Key", "title": " ", "body": " ", "anchors": []},
        [
            ("invalid_input", "not-a-key", {"project_key": "unknown"}),
            ("invalid_input", "title", {"title": "t" * 121}),
            ("invalid_input", "121", {"title": "taken"}),
            ("invalid_input", "body", {"body": "b" * 4_001}),
            ("slot_body_too_long", "4,001", {"body": "b" * 4_000}),
            ("anchor_required", "anchor", {"anchors": eleven}),
            ("anchor_invalid", "11", {"anchors": [topic(), topic(" no ticket ")]}),
            (
                "anchor_invalid",
                "twice",
                {"anchors": [Anchor("ticket", ticket_id=foreign), Anchor("lot", target_release="9.9.9")]},
            ),
            ("project_not_found", "unknown", {"project_key": "demo"}),
            ("slot_title_conflict", "title", {"title": "t" * 120}),
            # of a foreign ticket nothing is told, not even that it was received (d.22)
            ("anchor_ticket_foreign", foreign, {"anchors": [Anchor("ticket", ticket_id=UNKNOWN)]}),
            (
                "anchor_ticket_foreign",
                UNKNOWN,
                {"anchors": [Anchor("lot", target_release="9.9.9"), Anchor("pr", repository_id=1, pr_number=1)]},
            ),
            (
                "anchor_lot_unplanned",
                "9.9.9",
                {"anchors": [Anchor("pr", repository_id=1, pr_number=1), Anchor("ticket", ticket_id=received)]},
            ),
            (
                "anchor_unbound_pr",
                "pr:1#1",
                {"anchors": [Anchor("ticket", ticket_id=received), Anchor("ticket", ticket_id=foreign)]},
            ),
            ("anchor_already_received", received, {"anchors": [Anchor("lot", target_release="1.2.3")]}),
            ("anchor_already_received", "lot:1.2.3", {"anchors": [Anchor("ticket", ticket_id=mine), *eleven[:9]]}),
        ],
    )
    assert (len(opened.slot.anchors), opened.slot.revision, opened.replayed) == (10, 0, False)


@pytest.mark.parametrize(
    "anchor",
    [
        Anchor("ticket"),
        Anchor("ticket", ticket_id="x"),
        Anchor("ticket", ticket_id=UNKNOWN, topic="t"),
        Anchor("lot", target_release="v1.2.3"),
        Anchor("lot", target_release="1.2"),
        Anchor("lot", target_release="1.2.3\n"),
        Anchor("lot", target_release="1.2.٣"),
        Anchor("pr", repository_id=1),
        Anchor("pr", repository_id=1, pr_number=0),
        Anchor("pr", repository_id=0, pr_number=1),
        Anchor("pr", repository_id=1, pr_number=2**63),
        Anchor("topic", topic=" "),
        Anchor("topic", topic="t" * 121),
        Anchor("issue", topic="t"),  # type: ignore[arg-type]
    ],
)
def test_an_anchor_of_another_shape_is_invalid(rooms: Rooms, anchor: Anchor) -> None:
    agent = rooms.agent()
    project(agent)
    refusal = refused(agent, "brain_slot_open", project_key="demo", title="t", body="b", anchors=[anchor])
    assert refusal.code == "anchor_invalid"


def test_slot_close(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    closed, opened, session = slot(agent, "closed"), slot(agent), start(agent)
    receive(agent, closed)
    bind(agent, session, opened)
    done = climb(
        agent,
        "brain_slot_close",
        {"slot_id": UNKNOWN, "expected_revision": -1, "note": " "},
        [
            ("invalid_input", "expected_revision", {"expected_revision": True}),
            ("invalid_input", "expected_revision", {"expected_revision": 7}),
            ("invalid_input", "note", {"note": "n" * 2_001}),
            ("invalid_input", "2,001", {"note": "n" * 2_000}),
            ("slot_not_found", UNKNOWN, {"slot_id": closed.id}),
            ("slot_closed", closed.id, {"slot_id": opened.id}),
            ("slot_revision_conflict", "revision 0", {"expected_revision": 0}),
            ("slot_bound", session.id, lambda: abandon(agent, session)),
        ],
    )
    assert (done.slot.revision, done.slot.close_reason, done.slot.body) == (1, "explicit", "slot body")
    again_refused = refused(agent, "brain_slot_close", slot_id=opened.id, expected_revision=1, note="n")
    assert again_refused.code == "slot_closed"


def test_slot_list(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    found = climb(
        agent,
        "brain_slot_list",
        {"project_key": "Not A Key", "status": "stale", "limit": 101, "offset": -1},
        [
            ("invalid_input", "status", {"status": "all"}),
            ("invalid_limit", "101", {"limit": 0}),
            ("invalid_limit", "0", {"limit": 100}),
            ("invalid_limit", "-1", {"offset": 0}),
            ("invalid_input", "not-a-key", {"project_key": "unknown"}),
            ("project_not_found", "unknown", {"project_key": " demo "}),
        ],
    )
    assert (found.slots, found.total, found.limit) == ((), 0, 100)


def test_update_of_the_focus(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent, "x" * 10)
    updated = climb(
        agent,
        "brain_update_project_focus",
        {
            "project_key": "unknown",
            "current_focus": " ",
            "expected_focus_revision": -1,
            "feature_status": {"a": "ready"},
            "unpin": ["a"],
        },
        [
            ("invalid_input", "current_focus", {"current_focus": "x" * 10_001}),
            ("invalid_input", "10,001", {"current_focus": "xxx   "}),
            ("invalid_input", "expected_focus_revision", {"expected_focus_revision": 3}),
            ("invalid_input", "ready", {"feature_status": {"a": "done"}}),
            ("invalid_input", "both", {"unpin": ["b"]}),
            ("project_not_found", "unknown", {"project_key": "demo"}),
            ("focus_revision_conflict", "revision 0", {"expected_focus_revision": 0}),
            ("base_focus_shrink", "REPLACES", {"current_focus": "x" * 7}),
            ("invalid_input", "'a'", {"feature_status": {}}),
            ("invalid_input", "'b'", {"unpin": []}),
        ],
    )
    assert (updated.focus_revision, updated.focus_diff, updated.shrink_overridden) == (1, "+0/-3 chars", False)
