"""Cases of sessions.json that need a clock and the sweep; and that every case which the runner skips has its test."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

from tests.cases import test_cases
from tests.rooms import Rooms
from tests.unit.sessions.support import again, outside, project, start, sweeping, trace, unchanged

DAY, HOUR = 86_400, 3_600
MODULES = ("test_fixture_cases_sessions", "test_fixture_cases_slots", "test_fixture_cases_sweep")


def test_bs_162_the_sweep_abandons_strictly_after_seven_days(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    project(agent)
    session = start(agent)
    sweeping(monkeypatch)
    rooms.clock.advance(7 * DAY)
    assert operator.do("sweep", dry=False).candidates == ()
    rooms.clock.advance(1)
    with unchanged(agent, "sessions", "counters"):
        swept = operator.do("sweep", dry=False)
    assert (swept.dry, swept.abandoned_count, swept.closed_inactive_count) == (False, 1, 0)
    found = agent.do("brain_session_list", project_key="demo", status="abandoned").sessions[0]
    assert (found.id, found.abandonment_reason) == (session.id, "auto_stale_7d")


def test_bs_163_a_dry_sweep_writes_nothing_and_counts_zero(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    project(agent)
    session = start(agent)
    rooms.clock.advance(8 * DAY)
    sweeping(monkeypatch, inactive=True)
    with unchanged(agent):
        swept = operator.do("sweep", dry=True)
    assert [one.session_id for one in swept.candidates] == [session.id]
    assert (swept.dry, swept.abandoned_count, swept.closed_inactive_count) == (True, 0, 0)


def test_bs_164_the_four_hour_rule_closes_only_observed_agent_traces(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    project(agent)
    session, seen, never_seen = start(agent), trace(rooms, monkeypatch), trace(rooms, monkeypatch)
    outside(rooms, "update sessions set last_observed_at = null where id = ?", (never_seen.id,))
    rooms.clock.advance(5 * HOUR)
    sweeping(monkeypatch, inactive=True)
    swept = operator.do("sweep", dry=False)
    assert (swept.closed_inactive_count, swept.abandoned_count) == (1, 0)
    assert [again(agent, one).status for one in (session, seen, never_seen)] == ["open", "closed_inactive", "open"]


def test_bs_165_a_trace_that_both_rules_meet_is_abandoned(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    project(agent)
    found = trace(rooms, monkeypatch)
    rooms.clock.advance(8 * DAY)
    sweeping(monkeypatch, inactive=True)
    swept = operator.do("sweep", dry=False)
    assert (swept.abandoned_count, swept.closed_inactive_count) == (1, 0)
    assert again(agent, found).status == "abandoned"


def test_every_case_that_needs_a_fixture_has_a_test_of_its_name() -> None:
    cases = json.loads((Path(test_cases.__file__).parent / "data" / "sessions.json").read_text())["cases"]
    wanted = {case["id"] for case in cases if '"fixture' in json.dumps(case)}
    here = __name__.rpartition(".")[0]
    names = [name for module in MODULES for name in dir(importlib.import_module(f"{here}.{module}"))]
    found = {f"BS-{number[1]}" for name in names if (number := re.match(r"test_bs_(\d+)_", name))}
    assert wanted and found == wanted
