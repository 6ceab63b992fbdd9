"""A late save lands nowhere (faults.md T4), and who ended a wrap is told to its holder (room.md 2.5, 2.8 and 2.13)."""

from __future__ import annotations

import sqlite3

import pytest

from tests.fleet.servers import Era, Fleet, rows
from tests.rooms import text


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_cancelled_agents_late_saves_are_refused_audited_and_leave_the_new_wrap_alone(fleet: Fleet, era: Era) -> None:
    a, b = fleet.agent(era=era, name="agent-a"), fleet.agent(era=era, name="agent-b")
    a.recorded()
    late = a.done("prepare_wrap")
    assert b.done("wrap_cancel", reason="its agent hangs")["outcome"] == "cancelled"
    current = b.done("prepare_wrap")
    before = rows(fleet.store, "select * from wraps order by id")
    assert current["generation"] > late["generation"]

    with_token = a.call("save_continuity", text=text(State="late, with a token"), wrap_token=late["wrap_token"])
    assert with_token["content"][0]["text"].startswith("wrap_cancelled: ")
    assert "its agent hangs" in with_token["content"][0]["text"]
    without = a.call("save_continuity", text=text(State="late, without one"))
    assert without["content"][0]["text"].startswith("wrap_token_required: ")

    assert rows(fleet.store, "select * from wraps order by id") == before
    assert rows(fleet.store, "select count(*) from continuity") == [(0,)]
    refused = rows(fleet.store, "select event, json_extract(data, '$.code') from audit where outcome = 'refused' order by seq")
    assert refused == [("save_continuity", "wrap_cancelled"), ("save_continuity", "wrap_token_required")]
    assert rows(fleet.store, "select count(*) from salvage") == [(2,)]
    assert b.done("save_continuity", text=text(State="in time"), wrap_token=current["wrap_token"])["outcome"] == "saved"


def test_the_holder_is_told_of_the_cancel_once(fleet: Fleet) -> None:
    a, b = fleet.agent(), fleet.agent()
    a.recorded()
    a.done("prepare_wrap")
    assert "watchroom/notices" not in b.call("wrap_cancel").get("_meta", {})
    told = a.call("status")
    assert [notice["kind"] for notice in told["_meta"]["watchroom/notices"]] == ["cancelled"]
    assert told["content"][-1]["text"].startswith("Notice: Your wrap ")
    assert "watchroom/notices" not in a.call("status").get("_meta", {})


def test_a_blocked_agent_is_told_which_wrap_whose_and_when_to_try_again(fleet: Fleet) -> None:
    holder, blocked = fleet.agent(name="claude-code"), fleet.agent()
    holder.recorded()
    wrap = holder.done("prepare_wrap")
    refusal = blocked.call("prepare_wrap")["_meta"]["watchroom/refusal"]
    assert refusal["code"] == "wrap_in_progress"
    assert f"wrap {wrap['wrap_id']} " in refusal["sentence"]
    assert f"claude-code (pid {holder.process.pid} on " in refusal["sentence"]
    assert refusal["facts"]["retry_after_seconds"] > 0
    for word in ("disk", "permission", "storage"):
        assert word not in refusal["sentence"]


def test_the_sessions_name_is_in_nothing_that_another_agent_gets(fleet: Fleet) -> None:
    holder = fleet.agent(session_id="alice")
    holder.recorded()
    with sqlite3.connect(fleet.store) as database:
        database.execute("update projects set gate = 'required'")
        database.execute(
            "insert into batons (project_key, session_id, claimed_at) values ('demo', 'alice', '2026-01-01T00:00:00.000000Z')"
        )
    database.close()
    holder.done("prepare_wrap")
    other = fleet.agent(session_id="bob")
    for tool, arguments in (
        ("status", {}),
        ("prepare_wrap", {}),
        ("wrap_cancel", {}),
        ("wrap_cancel", {"wrap_token": "0" * 32}),
        ("save_continuity", {"text": text()}),
    ):
        assert "alice" not in str(other.call(tool, **arguments))
