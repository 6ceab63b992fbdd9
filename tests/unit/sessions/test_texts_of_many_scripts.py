"""Handovers of ten thousand characters, emoji with joiners, brackets and escapes: counted in code points, stored and shown right (issue 3)."""

from __future__ import annotations

import pytest

from console.diff import compare
from console.text import one_line
from core.room import Room
from core.sessions.limits import FOCUS_LIMIT
from tests.rooms import Rooms, refused
from tests.unit.sessions.support import project, relay, relaying, rows, start

CJK = "用" * 10_000
FAMILY = "👨‍👩‍👧"
EMOJI = (FAMILY * 2_000)[:9_999]
"""9,999 code points: emoji joined by ZWJ, the last one cut short."""
ACTING = "[bold red]not markup[/] {0} %s \x1b[2J\x1b]0;title\x07 \u202ereversed\u202c\r\n\ttabs\n" * 20


@pytest.mark.parametrize("text", [CJK, EMOJI, ACTING.strip()], ids=["10,000 CJK", "9,999 emoji with ZWJ", "brackets and escapes"])
def test_a_handover_is_counted_stored_and_compared_as_it_is(rooms: Rooms, text: str) -> None:
    agent = rooms.agent()
    project(agent, "base focus")
    session = start(agent)
    heir = relay(agent, session, "k2", text).session
    assert len(text) <= FOCUS_LIMIT
    stored = rows(agent, "select current_focus, length(current_focus) from projects where project_key = 'demo'")
    assert stored == [(text, len(text))]
    listed = agent.do("brain_focus_history", project_key="demo").revisions[0]
    assert listed.characters == len(text)
    resumed = agent.do("brain_session_resume", session_id=heir.id, expected_client_key="k2")
    assert text[:100].strip() in str(resumed.briefing) or repr(text[:20])[1:-1] in str(resumed.briefing)
    changed = compare(text, text + "!")
    assert [line.kind for line in changed if line.kind != "same"][-1] == "added"
    assert compare(text, text) == ()
    assert "\x1b" not in one_line(text) and "\n" not in one_line(text)


@pytest.mark.parametrize("text", [CJK + "用", EMOJI + "👩‍🚀"], ids=["10,001 CJK", "10,002 code points"])
def test_one_code_point_more_is_refused_and_nothing_is_written(rooms: Rooms, text: str) -> None:
    agent = rooms.agent()
    project(agent, "base focus")
    session = start(agent)
    refusal = refused(agent, "brain_session_relay", **relaying(session, "k2", text))
    assert refusal.code == "invalid_input" and f"{len(text):,}" in refusal.sentence.replace(str(len(text)), f"{len(text):,}")
    assert rows(agent, "select focus_revision from projects where project_key = 'demo'") == [(0,)]


def test_the_floor_is_counted_in_code_points(rooms: Rooms) -> None:
    agent: Room = rooms.agent()
    project(agent, CJK)
    session = start(agent)
    assert refused(agent, "brain_session_relay", **relaying(session, "k2", CJK[:6_999])).code == "base_focus_shrink"
    assert relay(agent, session, "k2", FAMILY * 1_400).focus_revision == 1, "7,000 code points, whatever they look like"
