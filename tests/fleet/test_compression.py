"""The demo agents' texts: they read a package as it is rendered, and write a continuity that the store takes."""

from __future__ import annotations

import pytest

from core.memory import continuity
from core.memory.graduation import REPEATED_WORDS
from core.memory.grounding import grounded, repetition_words
from core.server.demo.compression import TRUSTED, compress, read_package
from core.server.demo.seed import seed
from core.server.demo.stories import STORIES, Pattern
from core.views import episodes, patterns, snapshot
from core.views.look import Looker
from tests.rooms import Rooms


def test_every_episode_of_a_package_is_read_with_its_source_and_trust(rooms: Rooms) -> None:
    room = rooms.agent()
    room.do("record", content="plain: a [bracket] and a: colon", episode_type="decision", project_key="docs")
    room.do("record", content="says so", episode_type="outcome", source="web: blog", trust="external", project_key="docs")
    room.do("record", content="counted", episode_type="outcome", source="ci", trust="tool", project_key="docs")
    package = room.do("prepare_wrap", project_key="docs").package
    found, earlier = read_package(package)
    assert [(one.episode_type, one.source, one.trust, one.text) for one in found] == [
        ("decision", "agent", "agent", "plain: a [bracket] and a: colon"),
        ("outcome", "web: blog", "external", "says so"),
        ("outcome", "ci", "tool", "counted"),
    ]
    assert "none yet" in earlier


def test_continuity_has_every_section_and_does_not_grow_for_ever(rooms: Rooms) -> None:
    room = rooms.agent()
    story = STORIES["payments"]
    lines = story.episodes("a test")
    lengths = []
    judged = set()
    for _ in range(30):
        for _ in range(4):
            line = next(lines)
            room.do("record", content=line.text, episode_type=line.episode_type, project_key="payments")
        prepared = room.do("prepare_wrap", project_key="payments")
        text = compress(story, *read_package(prepared.package), prepared.wrap_date)
        saved = room.do("save_continuity", text=text, wrap_token=prepared.wrap_token, project_key="payments")
        assert all(saved.section_characters[one.heading] > 0 for one in continuity.DEFAULT_SECTIONS)
        lengths.append(saved.characters)
        judged |= {one.judgement for one in saved.patterns}
        assert all(one.level <= (one.prior or 0) + 1 for one in saved.patterns), "a rung a wrap"
    assert {one.name: one.level for one in saved.patterns} == {"ask-before-retry": 3, "ledger-is-the-truth": 3}
    assert judged == {"kept", "validated", "carried-forward"}, "no line was ever demoted"
    assert max(lengths) < 6_000
    assert "120 episodes in 30 wraps." in text


@pytest.mark.parametrize("pattern", [one for story in STORIES.values() for one in story.patterns], ids=lambda one: one.name)
def test_every_lesson_is_true_of_an_episode_that_an_agent_saw_and_repeats_no_other(pattern: Pattern) -> None:
    story = next(story for story in STORIES.values() if pattern in story.patterns)
    seen = [line.text for line in story.lines if line.trust in TRUSTED]
    assert any(pattern.word in text.lower() for text in seen)
    said: list[frozenset[str]] = []
    for lesson in pattern.lessons:
        cited = [text for text in seen if lesson.words in text]
        assert cited and all(grounded(lesson.explanation, text) for text in cited)
        words = repetition_words(lesson.explanation)
        assert all(len(words & earlier) < REPEATED_WORDS for earlier in said)
        said.append(words)


def test_the_history_has_a_pattern_that_climbed_by_a_cited_episode_of_its_second_wrap(rooms: Rooms) -> None:
    path = rooms.path.with_name("demo.db")
    seed(path, gated_session="docs-agent")
    with Looker(path) as looker, looker.snapshot() as (view, _):
        pattern_id = patterns.named(view, "checkout", "retry-needs-idempotency-key")
        assert pattern_id is not None
        found = patterns.pattern(view, pattern_id)
        assert found is not None
        entered, climbed = found.history
        cited = episodes.episode(view, climbed.episode_ids[0])
    assert (entered.movement, entered.level, climbed.movement, climbed.level) == ("entered", 1, "climbed", 2)
    assert entered.wrap_id != climbed.wrap_id
    assert found.line is not None and found.line.startswith("- retry-needs-idempotency-key | 2x")
    assert cited is not None and cited.row.covered_by == climbed.wrap_id
    assert climbed.explanation is not None and cited.content is not None and grounded(climbed.explanation, cited.content)


def test_the_history_is_believable_and_leaves_nothing_open(tmp_path: object, rooms: Rooms) -> None:
    path = rooms.path.with_name("demo.db")
    seed(path, gated_session="docs-agent")
    with Looker(path) as looker, looker.snapshot() as (view, witness):
        room = snapshot.take(view, witness)
    assert {one.project_key for one in room.projects} == {"checkout", "search", "payments", "docs"}
    assert room.wraps == ()
    assert room.connections == ()
    # a slot whose session ended with work left waits for somebody: the one thing that the history asks for
    assert [one.kind for one in room.attention] == ["orphan_slot"]
    assert sum(one.wraps_cancelled for one in room.projects) == 1
    assert sum(1 for minute in room.activity if minute) > 30, "the hour before has activity"
