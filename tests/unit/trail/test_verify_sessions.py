"""Verify holds sessions, slots and focus texts against the trail and their histories (room.md 5)."""

from __future__ import annotations

import pytest

from core.room import Room
from core.sessions.models import Anchor
from core.store.library import sqlite3
from core.trail.verify import Verification, verify_store
from tests.rooms import Rooms

PAIR = {"expected_client_key": "k1"}


@pytest.fixture
def agent(rooms: Rooms) -> Room:
    room = rooms.agent()
    room.do("brain_set_project_context", project_key="demo", name="demo", description="d", current_focus="base focus")
    return room


def started(agent: Room, key: str = "k1") -> str:
    session: str = agent.do("brain_session_start", project_key="demo", client_key=key).session.id
    return session


def relayed(agent: Room, session_id: str) -> str:
    successor: str = agent.do(
        "brain_session_relay",
        session_id=session_id,
        summary="s",
        handover="base focus handed over",
        new_client_key="k2",
        initiator="operator",
        expected_focus_revision=0,
        **PAIR,
    ).session.id
    return successor


def check(rooms: Rooms) -> Verification:
    return verify_store(rooms.path)


def damage(rooms: Rooms, *statements: str) -> None:
    connection = sqlite3.connect(rooms.path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_sessions_that_were_started_relayed_ended_and_abandoned_are_whole(agent: Room, rooms: Rooms) -> None:
    successor = relayed(agent, started(agent))
    agent.do("brain_session_abandon", session_id=successor, expected_client_key="k2", reason="r")
    started(agent, "k3")
    found = check(rooms)
    assert found.ok, found.words


def test_a_session_without_its_start_is_named(agent: Room, rooms: Rooms) -> None:
    session = started(agent)
    damage(
        rooms,
        "insert into sessions (id, project_key, client_key, started_focus_revision, started_at, last_heartbeat_at, updated_at)"
        " select 'forged', project_key, 'forged', 0, started_at, started_at, started_at from sessions",
    )
    found = check(rooms)
    assert found.store_mismatches == ("session forged is there, but the trail has no start of it",)
    assert session not in found.words


def test_a_successor_that_no_relay_named_is_without_its_start(agent: Room, rooms: Rooms) -> None:
    first, other = started(agent), started(agent, "k9")
    successor = relayed(agent, first)
    damage(rooms, f"update sessions set relayed_from_session_id = '{other}' where id = '{successor}'")
    assert f"session {successor} is there, but the trail has no start of it" in check(rooms).store_mismatches


def test_a_session_that_ended_without_the_trail_is_named(agent: Room, rooms: Rooms) -> None:
    session = started(agent)
    damage(rooms, "update sessions set status = 'abandoned', abandonment_reason = 'x', ended_at = started_at")
    assert f"session {session} has ended, but the trail does not say how" in check(rooms).store_mismatches


def test_a_session_that_was_opened_again_is_named(agent: Room, rooms: Rooms) -> None:
    session = started(agent)
    agent.do("brain_session_abandon", session_id=session, reason="r", **PAIR)
    damage(
        rooms,
        "drop trigger sessions_stay_ended",
        "update sessions set status = 'open', abandonment_reason = null, ended_at = null",
    )
    assert f"session {session} is open, but the trail says that it has ended" in check(rooms).store_mismatches


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("update projects set current_focus = 'another'", "the base focus of demo is not what its history says"),
        ("update projects set focus_revision = 7", "the base focus of demo is not what its history says"),
        ("update slots set body = 'another'", "is not what its history says"),
    ],
)
def test_a_focus_that_is_not_its_historys_is_named(agent: Room, rooms: Rooms, statement: str, words: str) -> None:
    agent.do("brain_slot_open", project_key="demo", title="t", body="b", anchors=[Anchor("topic", topic="x")])
    assert check(rooms).ok
    damage(rooms, statement)
    assert any(words in one for one in check(rooms).store_mismatches)


def test_a_relay_row_whose_data_are_spoilt_ends_no_query(agent: Room, rooms: Rooms) -> None:
    relayed(agent, started(agent))
    damage(rooms, "drop trigger audit_never_changes", "update audit set data = 'no json' where event = 'brain_session_relay'")
    found = check(rooms)
    assert found.breaks and found.store_mismatches
