"""Patterns as an operator sees them: pages, and one whole with its evidence and how it got its level (console.md, screen 6)."""

from __future__ import annotations

from typing import Any

import pytest

from core.views import patterns
from core.views.patterns import PatternDetail, PatternPage
from tests.rooms import Rooms
from tests.unit.memory.wrapping import Wrapping

POOL = "The connection pool is exhausted whenever checkout is under load"


@pytest.fixture
def wrapping(rooms: Rooms) -> Wrapping:
    return Wrapping(rooms)


def page(wrapping: Wrapping, key: str = "demo", **more: Any) -> PatternPage:
    with wrapping.agent.snapshot() as view:
        return patterns.page(view, key, **more)


def whole(wrapping: Wrapping, name: str) -> PatternDetail:
    with wrapping.agent.snapshot() as view:
        pattern_id = patterns.named(view, "demo", name)
        assert pattern_id is not None
        found = patterns.pattern(view, pattern_id)
    assert found is not None
    return found


def climbed(wrapping: Wrapping) -> str:
    """A pattern that climbed to 2x beside one at 1x; gives the id of the episode that it rests on."""
    wrapping.save("- pool-size | 1x ({today})", "- once-seen | 1x ({today}) seen at noon")
    made = wrapping.record(POOL)
    wrapping.save(
        f'- pool-size | 2x ({{today}}) [evidence: {made} "checkout exhausts the connection pool"] Raise limits before a sale',
        "- once-seen | 1x ({today}) seen at noon",
    )
    return made


def test_the_highest_come_first_and_pages_miss_nothing(wrapping: Wrapping) -> None:
    climbed(wrapping)
    wrapping.save("- pool-size | 2x ({today})", *(f"- name-{number} | 1x ({{today}})" for number in range(4)))
    everything = [(row.name, row.level, row.tier) for row in page(wrapping).rows]
    sighted = [(f"name-{number}", 1, "sighted") for number in range(4)]
    assert everything == [("pool-size", 2, "proven"), *sighted, ("once-seen", 1, "sighted")]
    found, before = [], patterns.START
    while True:
        one = page(wrapping, before=before, limit=2)
        found += [(row.name, row.level, row.tier) for row in one.rows]
        assert one.total == 6 >= len(found)
        if one.next_before is None:
            break
        before = one.next_before
    assert found == everything
    assert page(wrapping, "nowhere") == PatternPage((), 0, None)


def test_words_of_the_name_and_a_least_level_filter(wrapping: Wrapping) -> None:
    climbed(wrapping)
    assert [row.name for row in page(wrapping, words="SIZE pool").rows] == ["pool-size"]
    assert page(wrapping, words="pool seen").total == 0
    assert page(wrapping, words="pool%").total == page(wrapping, words="pool_size").total == 0
    assert [row.name for row in page(wrapping, least_level=2).rows] == ["pool-size"]


def test_a_row_says_what_it_rests_on_and_how_it_was_judged_last(wrapping: Wrapping) -> None:
    climbed(wrapping)
    proven, sighted = page(wrapping).rows
    assert (proven.summary, proven.evidence, proven.evidence_gone, proven.highest) == ("Raise limits before a sale", 1, 0, 2)
    assert (proven.last_judgement, proven.last_grounded_on, proven.explanations) == ("validated", wrapping.today, 1)
    assert (sighted.last_judgement, sighted.last_grounded_on, sighted.evidence, sighted.highest) == ("entered", None, 0, 0)


def test_one_whole_tells_wrap_by_wrap_how_it_entered_climbed_and_fell(wrapping: Wrapping) -> None:
    made = climbed(wrapping)
    wrapping.agent.do("delete_episode", episode_id=made, project_key="demo")
    found = whole(wrapping, "pool-size")
    assert [(step.movement, step.judgement, step.before, step.level) for step in found.history] == [
        ("entered", "entered", None, 1),
        ("climbed", "validated", 1, 2),
        ("fell", "revoked", 2, 1),
    ]
    assert [step.generation for step in found.history] == [1, 2, None]
    assert found.history[1].episode_ids == (made,)
    assert found.history[1].explanation == "checkout exhausts the connection pool" == found.explanations[0]
    assert found.history[2].detail is not None and made in found.history[2].detail
    assert found.history_total == 3
    [evidence] = found.evidence
    assert (evidence.episode_id, evidence.level, evidence.rule, evidence.exists) == (made, 2, "checked", False)
    assert evidence.gone_at is not None and evidence.beginning is None
    row = found.row
    assert (row.level, row.evidence, row.evidence_gone) == (1, 0, 1)


def test_one_whole_has_its_line_in_the_continuity_and_its_evidence(wrapping: Wrapping) -> None:
    made = climbed(wrapping)
    found = whole(wrapping, "pool-size")
    assert found.line is not None and found.line.startswith("- pool-size | 2x")
    [evidence] = found.evidence
    assert (evidence.exists, evidence.beginning, evidence.effective_trust) == (True, POOL, "agent")
    assert evidence.wrap_id == found.history[1].wrap_id
    assert made == evidence.episode_id


def test_one_that_the_text_left_out_keeps_its_level_and_has_no_line(wrapping: Wrapping) -> None:
    climbed(wrapping)
    wrapping.save("- once-seen | 1x ({today})")
    found = whole(wrapping, "pool-size")
    assert (found.row.in_text, found.line, found.row.level) == (False, None, 2)
    assert (found.history[-1].movement, found.history[-1].judgement) == ("held", "left-out")


def test_a_line_without_a_name_has_its_own_words_for_one(wrapping: Wrapping) -> None:
    wrapping.save("- Ask before a release | 1x ({today})")
    [row] = page(wrapping, words="release").rows
    assert (row.kind, row.level) == ("text", 1)
    found = whole(wrapping, row.name)
    assert found.line is not None and found.line.startswith("- Ask before a release")
    assert (found.history, found.evidence) == ((), ())


def test_there_is_none_of_an_unknown_name_or_number(wrapping: Wrapping) -> None:
    climbed(wrapping)
    with wrapping.agent.snapshot() as view:
        assert patterns.pattern(view, 999) is None
        assert patterns.named(view, "demo", "pool") is None
        assert patterns.named(view, "other", "pool-size") is None
