"""Sessions over real servers: who is at work, who takes over, and what a peer is told (sessions.md b; room.md 4; faults.md T8, T49, T50)."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from core.models import Judgement
from core.sessions import rows
from core.trail.verify import verify_store
from core.views.look import Looker
from tests.fleet.servers import Agent, Era, Fleet, until
from tests.fleet.servers import rows as stored

BASE = "The base focus as the operator wrote it, long enough to be worth guarding."


def project(agent: Agent, focus: str = BASE) -> None:
    agent.done("brain_set_project_context", project_key="demo", name="demo", description="d", current_focus=focus)


def start(agent: Agent, key: str = "k1") -> dict[str, Any]:
    return agent.done("brain_session_start", project_key="demo", client_key=key)


def judged(store: Path, session_id: str) -> Judgement:
    """The verdict on a session's connection, as a console sees it."""
    with contextlib.closing(Looker(store)) as looker, looker.snapshot() as (view, witness):
        session = rows.find(view, session_id, witness.clock.now())
        assert session is not None
        return witness.judge_session(view, rows.connection_of(view, session_id), started_at=session.started_at)


def relay(agent: Agent, session_id: str, **more: Any) -> dict[str, Any]:
    arguments = {
        "session_id": session_id,
        "expected_client_key": "k1",
        "summary": "what happened",
        "handover": BASE + " And on it goes.",
        "new_client_key": "k2",
        "initiator": "operator",
        "expected_focus_revision": 0,
    }
    return agent.call("brain_session_relay", **{**arguments, **more})


def code(answer: dict[str, Any]) -> str | None:
    return answer["_meta"]["watchroom/refusal"]["code"] if answer["isError"] else None


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_an_agent_that_comes_back_as_the_successor_gets_the_briefing(fleet: Fleet, era: Era) -> None:
    first, second = fleet.agent(era=era), fleet.agent(era=era)
    project(first)
    session = start(first)["session"]
    heir = relay(second, session["id"])["structuredContent"]["session"]
    refusal = first.call("brain_session_heartbeat", session_id=session["id"], expected_client_key="k1")
    assert code(refusal) == "session_not_open"
    facts = refusal["_meta"]["watchroom/refusal"]["facts"]
    assert facts["successor_session_id"] == heir["id"]
    back = first.done("brain_session_resume", session_id=heir["id"], expected_client_key="k2")
    assert back["current_focus_revision"] == 1
    assert f"{BASE} And on it goes." in back["briefing"]


def test_a_session_whose_agent_was_killed_is_dead_and_live_again_with_the_one_who_resumes_it(fleet: Fleet) -> None:
    first, second = fleet.agent(), fleet.agent()
    project(first)
    session = start(first)["session"]["id"]
    assert judged(fleet.store, session).verdict in ("STARTING", "LIVE")
    first.process.kill()
    first.process.wait()
    verdict = until(lambda: (found := judged(fleet.store, session)).verdict in ("DEAD", "STALE") and found)
    assert any(f"pid {first.process.pid} " in reason.text for reason in verdict.evidence)
    # looking and starting anew under the same key: the same session, another connection
    again = start(second)
    assert (again["replayed"], again["session"]["id"]) == (True, session)
    assert judged(fleet.store, session).verdict in ("STARTING", "LIVE")
    assert verify_store(fleet.store).ok


def test_a_wrap_whose_work_session_has_ended_is_not_live_though_its_server_beats(fleet: Fleet) -> None:
    holder, peer = fleet.agent(session_id="k1"), fleet.agent()
    project(holder)
    session = start(holder)["session"]["id"]
    holder.recorded()
    holder.done("prepare_wrap")
    holder.done(
        "brain_session_end",
        session_id=session,
        expected_client_key="k1",
        summary="done",
        next_focus=BASE,
        expected_focus_revision=0,
    )
    facts = peer.call("prepare_wrap")["_meta"]["watchroom/refusal"]["facts"]
    assert facts["verdict"] == "STALE"
    assert any("the session was ended at" in reason for reason in facts["evidence"])


def test_two_relays_of_one_session_leave_one_successor_and_lose_no_text(fleet: Fleet) -> None:
    first, second = fleet.agent(), fleet.agent()
    project(first)
    session = start(first)["session"]["id"]
    won = relay(first, session)
    lost = relay(second, session, new_client_key="k3", handover=BASE + " Another text.")
    assert (code(won), code(lost)) == (None, "terminal_conflict")
    assert won["structuredContent"]["session"]["id"] in lost["content"][0]["text"]
    assert stored(fleet.store, "select count(*) from sessions where relayed_from_session_id = ?", session) == [(1,)]
    assert stored(fleet.store, "select current_focus from projects") == [(BASE + " And on it goes.",)]


def test_reading_a_session_consumes_nothing(fleet: Fleet) -> None:
    agent = fleet.agent()
    project(agent)
    session = start(agent)["session"]["id"]
    relay(agent, session)
    before = stored(fleet.store, "select * from audit")
    for _ in range(2):
        agent.done("brain_session_list")
        agent.done("brain_session_get", session_id=session)
        agent.done("brain_project_get", project_key="demo")
        agent.done("brain_focus_history", project_key="demo")
    assert stored(fleet.store, "select * from audit") == before


def test_a_shrinking_relay_is_refused_with_both_lengths_and_the_floor_and_spells_no_override_out(fleet: Fleet) -> None:
    agent = fleet.agent()
    project(agent, "x" * 100)
    session = start(agent)["session"]["id"]
    refusal = relay(agent, session, handover="y" * 69)
    text = refusal["content"][0]["text"]
    assert text.startswith("base_focus_shrink: ")
    for piece in ("69", "100", "70", "REPLACES"):
        assert piece in text
    assert "allow_focus_shrink" not in str(refusal)
    assert code(relay(agent, session, handover="y" * 70)) is None
