"""Cases of sessions.json that need a clock, a trace, a deposit or checkpoints: starting, reading, checkpoints, capture."""

from __future__ import annotations

import pytest

from core.sessions import finishing
from tests.rooms import Rooms, refused
from tests.unit.sessions.support import (
    BASE,
    again,
    capture,
    knowledge,
    note,
    outside,
    pair,
    project,
    rows,
    start,
    trace,
    unchanged,
)

HOUR = 3_600


def test_bs_010_a_briefing_that_fails_keeps_the_session(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = rooms.agent()
    project(agent)

    def broken(*_: object) -> str:
        raise RuntimeError("no briefing today")

    monkeypatch.setattr(finishing, "briefing", broken)
    started = agent.do("brain_session_start", project_key="demo", client_key="k1")
    assert (started.session.status, started.replayed) == ("open", False)
    assert "briefing unavailable" in started.briefing
    assert rows(agent, "select status from sessions") == [("open",)]


def test_bs_013_resume_returns_the_live_base_and_does_not_refresh_the_heartbeat(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    session = start(agent)
    rooms.clock.advance(25 * HOUR)
    resumed = agent.do("brain_session_resume", **pair(session))
    assert (resumed.current_focus, resumed.current_focus_revision, resumed.slot_closed) == (BASE, 0, False)
    assert resumed.session.is_stale
    assert again(agent, session).last_heartbeat_at == session.last_heartbeat_at


def test_bs_015_the_stale_filter_is_inclusive_at_24_hours_and_a_heartbeat_clears_it(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    session = start(agent)
    rooms.clock.advance(24 * HOUR - 0.000001)
    assert agent.do("brain_session_list", project_key="demo", status="stale").total == 0
    rooms.clock.advance(0.000001)
    found = agent.do("brain_session_list", project_key="demo", status="stale")
    assert (found.total, found.sessions[0].status, found.sessions[0].is_stale) == (1, "open", True)
    agent.do("brain_session_heartbeat", **pair(session))
    assert agent.do("brain_session_list", project_key="demo", status="stale").sessions == ()


def test_bs_016_a_heartbeat_on_a_stale_session_moves_nothing_else(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    session = start(agent)
    rooms.clock.advance(25 * HOUR)
    with unchanged(agent, "sessions"):
        beaten = agent.do("brain_session_heartbeat", **pair(session))
    assert (beaten.session.is_stale, beaten.session.status, beaten.absorption) == (False, "open", None)
    moved = {"last_heartbeat_at", "updated_at", "is_stale"}
    assert {name for name in session.__slots__ if getattr(session, name) != getattr(beaten.session, name)} <= moved


def test_bs_020_open_counts_exclude_agent_traces_but_the_open_list_includes_them(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = rooms.agent()
    project(agent)
    trace(rooms, monkeypatch)
    assert agent.do("brain_session_start", project_key="demo", client_key="k1").open_session_count == 1
    assert agent.do("brain_session_list", project_key="demo", status="open").total == 2


def test_bs_023_a_checkpoint_touches_neither_heartbeat_nor_focus(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    session = start(agent)
    rooms.clock.advance(HOUR)
    with unchanged(agent, "session_checkpoints"):
        assert note(agent, session, 1).checkpoint_count == 1
    assert again(agent, session) == session


def fill_checkpoints(rooms: Rooms, session_id: str, count: int) -> None:
    """So many checkpoints at once."""
    outside(
        rooms,
        "with recursive n (seq) as (select 1 union all select seq + 1 from n where seq < ?)"
        " insert into session_checkpoints (session_id, seq, progress, next_step, created_at)"
        " select ?, seq, 'bulk', 'bulk', '2026-11-30T12:00:00.000000Z' from n",
        (count, session_id),
    )


def test_bs_025_the_201st_checkpoint_is_refused(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    session = start(agent)
    fill_checkpoints(rooms, session.id, 199)
    assert note(agent, session, 200).checkpoint_count == 200
    with unchanged(agent):
        refusal = refused(agent, "brain_session_checkpoint", **pair(session), seq=201, progress="p", next_step="n")
    assert refusal.code == "invalid_input" and "200" in refusal.sentence
    assert rows(agent, "select count(*) from session_checkpoints") == [(200,)]


def test_bs_026_an_exact_replay_at_the_ceiling_still_answers(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    session = start(agent)
    fill_checkpoints(rooms, session.id, 200)
    with unchanged(agent):
        replayed = note(agent, session, 200, "bulk", "bulk", blocker=None)
    assert (replayed.replayed, replayed.checkpoint_count) == (True, 200)
    conflict = refused(agent, "brain_session_checkpoint", **pair(session), seq=200, progress="other", next_step="bulk")
    assert conflict.code == "checkpoint_conflict"


def test_bs_032_knowledge_made_before_the_session_is_refused(rooms: Rooms) -> None:
    agent = rooms.agent()
    project(agent)
    old = knowledge(rooms)
    rooms.clock.advance(60)
    session = start(agent)
    with unchanged(agent):
        refusal = refused(agent, "brain_session_capture", **pair(session), knowledge_ids=[old])
    assert refusal.code == "invalid_input" and old in refusal.sentence


def test_bs_034_knowledge_that_a_trace_holds_is_taken_over_and_reported_as_replayed(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = rooms.agent()
    project(agent)
    session = start(agent)
    holder = trace(rooms, monkeypatch)
    item = knowledge(rooms)
    outside(
        rooms,
        "insert into session_artifacts (knowledge_id, session_id, knowledge_type, captured_at, attribution_mode)"
        " values (?, ?, 'decision', ?, 'derived_deposit')",
        (item, holder.id, holder.started_at),
    )
    captured = capture(agent, session, item)
    assert captured.session.attributed_knowledge_ids == (item,)
    assert (captured.replayed_knowledge_ids, captured.newly_captured_knowledge_ids, captured.replayed) == ((item,), (), True)
    assert rows(agent, "select session_id, attribution_mode from session_artifacts") == [(session.id, "explicit")]
    assert again(agent, holder).attributed_knowledge_ids == ()
