"""Recalling episodes (wraps.md b, recall)."""

from __future__ import annotations

import string
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.errors import Refusal
from core.memory.search import INDEXED_CHARACTERS

from .support import SmallRoom

POOL = "Connection pool is exhausted under checkout load"
QUEUE = "Chose a bounded queue because retries amplified timeouts"


def ids(found: Any) -> list[str]:
    return [hit.episode_id for hit in found.episodes]


def test_the_newest_comes_first_and_pages_follow(room: SmallRoom) -> None:
    recorded = [room.record(f"Fact {number}").episode_id for number in range(5)]
    assert ids(room.recall()) == recorded[::-1]
    page = room.recall(limit=2, offset=1)
    assert (page.total, page.shown, ids(page)) == (5, 2, [recorded[3], recorded[2]])
    assert ids(room.recall(keyword="fact", limit=2, offset=4)) == recorded[:1]


@pytest.mark.parametrize("limit", [0, -4])
@pytest.mark.parametrize("keyword", [None, "pool", "pool zebra"])
def test_a_limit_of_0_or_less_shows_nothing(room: SmallRoom, limit: int, keyword: str | None) -> None:
    room.record(POOL)
    found = room.recall(limit=limit, keyword=keyword)
    assert (found.shown, found.episodes) == (0, ())


def test_a_negative_offset_reads_as_0_and_huge_numbers_are_no_error(room: SmallRoom) -> None:
    room.record(POOL)
    assert room.recall(offset=-3).shown == 1
    assert room.recall(limit=2**80).shown == 1
    assert room.recall(offset=2**80).shown == 0


def test_an_unknown_project_is_empty(room: SmallRoom) -> None:
    found = room.recall(project_key="Nobody Knows", keyword="pool zebra")
    assert (found.total, found.shown) == (0, 0)
    assert room.rows("select * from projects") == []


def test_filters_are_exact(room: SmallRoom) -> None:
    one = room.record(POOL, "decision", source="ci")
    room.record(POOL, "outcome", source="CI")
    room.record(POOL, "decision", project_key="other")
    assert ids(room.recall(source="ci")) == [one.episode_id]
    assert ids(room.recall(episode_type="decision", keyword="pool")) == [one.episode_id]
    assert room.recall(episode_type="decision").total == 1
    assert room.recall(source="c").total == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"episode_type": "note"},
        {"since": "soon"},
        {"until": "2026-13-01"},
        {"keyword": "a\x00"},
        {"source": "\ud800"},
        {"since": ""},
    ],
)
def test_unreadable_arguments_are_refused(room: SmallRoom, arguments: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="invalid_input"):
        room.recall(**arguments)


def test_since_and_until_are_inclusive(room: SmallRoom) -> None:
    room.record("first")
    middle = room.record("second")
    room.record("third")
    moment = middle.created_at
    assert [hit.content for hit in room.recall(since=moment).episodes] == ["third", "second"]
    assert [hit.content for hit in room.recall(until=moment).episodes] == ["second", "first"]
    assert room.recall(since=moment, until=moment).total == 1
    for same in (moment[:19], moment[:19] + "Z", moment[:19].replace("T", " "), f"{moment[:11]}13:00:{moment[17:19]}+01:00"):
        assert room.recall(since=same, until=same, keyword="second").total == 1, same


@pytest.mark.parametrize(
    ("since", "until", "total"),
    [
        ("2026-01-31", "2026-01-31", 1),
        ("2026-02-01", None, 0),
        (None, "2026-01-30", 0),
        ("2026-01-31T12:00", "2026-01-31T12:00", 1),
        ("2026-01-31T12", "2026-01-31T12", 1),
        ("20260131", "2026-W05-6", 1),
        ("0001-01-01", "9999-12-31", 1),
        ("2026-01-31T12:00:02.5Z", None, 0),
        ("2026-01-31T23:00:00+12:00", "2026-02-01T02:00:00+12:00", 1),
    ],
)
def test_a_time_names_the_span_it_is_precise_to(room: SmallRoom, since: str | None, until: str | None, total: int) -> None:
    room.record("a fact")
    assert room.recall(since=since, until=until).total == total


@pytest.mark.parametrize("keyword", ["%pool%", "p_ol", "pool*", '"pool"', "pool NEAR"])
def test_nothing_in_a_keyword_is_special(room: SmallRoom, keyword: str) -> None:
    room.record(POOL)
    literal = room.record(f"It says {keyword.upper()} here")
    found = room.recall(keyword=keyword)
    assert (found.total, ids(found)[0]) == (1, literal.episode_id)


def test_a_single_token_without_a_match_finds_nothing(room: SmallRoom) -> None:
    room.record(POOL)
    found = room.recall(keyword="%pool%")
    assert (found.total, found.shown) == (0, 0)


def test_only_ascii_case_is_ignored(room: SmallRoom) -> None:
    room.record("ÜBERLAUF im Puffer")
    assert room.recall(keyword="BERLAUF IM").total == 1
    assert room.recall(keyword="überlauf").total == 0
    room.record("K\u212aelvin")
    assert room.recall(keyword="KKelvin").total == 0
    assert room.recall(keyword="k\u212aELVIN").total == 1


def test_matches_beyond_the_indexed_characters_are_found(room: SmallRoom) -> None:
    long = room.record("x" * (INDEXED_CHARACTERS - 3) + "needle in hay")
    short = room.record("needle in hay")
    assert ids(room.recall(keyword="Needle in")) == [short.episode_id, long.episode_id]
    assert room.recall(keyword="needle in", project_key="other").total == 0


# word matches


def test_a_phrase_without_a_match_gives_the_best_word_matches(room: SmallRoom) -> None:
    pool, queue = room.record(POOL), room.record(QUEUE)
    both = room.record("checkout is exhausted, and so am I")
    found = room.recall(keyword="the checkout Exhausted")
    assert (found.total, found.shown, found.word_matches) == (0, 2, 2)
    assert ids(found) == [both.episode_id, pool.episode_id]
    assert found.episodes[0].words == ("checkout", "exhausted")
    assert "single words" in found.notes[0]
    assert queue.episode_id not in ids(found)


def test_rarer_words_weigh_more(room: SmallRoom) -> None:
    rare = room.record("zebra stripes")
    for number in range(20):
        room.record(f"common ground {number}")
    assert ids(room.recall(keyword="common zebra"))[0] == rare.episode_id


def test_word_matches_need_word_boundaries(room: SmallRoom) -> None:
    room.record("The whirlpools of loading")
    assert room.recall(keyword="pool load").shown == 0


def test_word_matches_are_capped_at_10_and_say_so(room: SmallRoom) -> None:
    recorded = [room.record(f"pool number {number}").episode_id for number in range(13)]
    found = room.recall(keyword="pool zebra")
    assert (found.total, found.shown, found.more_word_matches) == (0, 10, True)
    assert ids(found) == recorded[:2:-1]
    assert room.recall(keyword="pool zebra", limit=3).shown == 3
    assert room.recall(keyword="pool zebra", offset=1).shown == 0


def test_word_matches_need_two_tokens_and_a_distinctive_word(room: SmallRoom) -> None:
    room.record("pool of the and")
    assert room.recall(keyword="poolx").shown == 0
    assert room.recall(keyword="the and of").shown == 0
    assert room.recall(keyword="pool of it").shown == 1


def test_word_matches_keep_to_the_filters(room: SmallRoom) -> None:
    room.record(POOL, "decision")
    old = room.record(POOL)
    room.record(POOL, supersedes=[old.episode_id], trust="agent")
    room.record(POOL, project_key="other")
    assert room.recall(keyword="checkout zebra").shown == 2
    assert room.recall(keyword="checkout zebra", episode_type="decision").shown == 1
    assert room.recall(keyword="checkout zebra", include_superseded=True).shown == 3
    assert room.recall(keyword="checkout zebra", since="2027-01-01").shown == 0


def test_few_exact_hits_of_a_long_phrase_get_word_matches_appended(room: SmallRoom) -> None:
    exact = room.record(POOL)
    others = [room.record(f"checkout load {number}").episode_id for number in range(7)]
    found = room.recall(keyword="exhausted under checkout load")
    assert (found.total, found.shown, found.word_matches) == (1, 6, 5)
    assert ids(found) == [exact.episode_id, *others[:1:-1]]
    assert found.episodes[0].words == ()
    assert room.recall(keyword="checkout load", episode_type="observation").word_matches == 0
    assert room.recall(keyword="exhausted under checkout load", limit=2).shown == 2


def test_words_are_found_across_spellings(room: SmallRoom) -> None:
    room.record("Die Straße ist gesperrt")
    room.record("连接池耗尽了")
    assert room.recall(keyword="STRASSE zebra").shown == 1
    assert room.recall(keyword="Straße zebra").shown == 1
    assert room.recall(keyword="连接池 zebra").shown == 1


# trust and replacements


def test_what_tools_and_outsiders_said_comes_last_and_is_flagged(room: SmallRoom) -> None:
    agent = room.record("Pool one")
    tool = room.record("Pool two", trust="tool")
    derived = room.record("Pool three", derived_from=[tool.episode_id])
    newest = room.record("Pool four")
    for found in (room.recall(), room.recall(keyword="pool"), room.recall(keyword="pool zebra")):
        assert ids(found) == [newest.episode_id, agent.episode_id, derived.episode_id, tool.episode_id]
        assert [hit.low_trust for hit in found.episodes] == [False, False, True, True]
        assert any("not instructions" in note for note in found.notes)


def test_hidden_matches_name_what_replaced_them(room: SmallRoom) -> None:
    olds = [room.record(f"Pool size is {number}").episode_id for number in range(7)]
    middle = room.record("Pool size is eight", supersedes=olds)
    last = room.record("Pool size is nine", supersedes=[middle.episode_id])
    for found in (room.recall(), room.recall(keyword="pool size"), room.recall(source="agent")):
        assert (found.total, found.hidden) == (1, 8)
        (replacement,) = found.replacements
        assert replacement.newer_id == last.episode_id
        assert (len(replacement.old_ids), replacement.more) == (5, 3)
        assert replacement.old_ids[0] == middle.episode_id
    shown = room.recall(include_superseded=True)
    assert (shown.total, shown.hidden, shown.replacements) == (9, 0, ())
    assert shown.episodes[-1].superseded_by == middle.episode_id


def test_at_most_5_replacements_are_named(room: SmallRoom) -> None:
    for number in range(7):
        old = room.record(f"Pool {number}")
        room.record(f"Pool {number} again", supersedes=[old.episode_id])
    assert len(room.recall(keyword="pool").replacements) == 5


def test_a_hit_tells_all_there_is(room: SmallRoom) -> None:
    source = room.record(POOL)
    receipt = room.record(QUEUE, "decision", source="ci", metadata={"a": 1}, state_key="Queue", derived_from=[source.episode_id])
    hit = room.recall(keyword="bounded").episodes[0]
    assert (hit.episode_id, hit.created_at, hit.episode_type, hit.content) == (
        receipt.episode_id,
        receipt.created_at,
        "decision",
        QUEUE,
    )
    assert (hit.source, hit.trust, hit.effective_trust, hit.state_key, hit.metadata) == (
        "ci",
        "agent",
        "agent",
        "queue",
        {"a": 1},
    )
    assert (hit.derived_from, hit.superseded_by, hit.waiting) == ((source.episode_id,), None, True)


# the index and plain Python agree

WORD_PIECES = ["NEAR", " AND ", "or", "NOT", "pool", "POOL", "ool", "连接池", "接池", "🙂", "👩\u200d👧", "e\u0301"]
FOLDING = ["\u212a", "ß", "ẞ", "ſ", "İ", "ı", "é", "Σ", "ς", "\n", "\t"]
PIECES = [*"%_'\"*()^:-+{}[]\\ .kKsS", *WORD_PIECES, *FOLDING]
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join),
    st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=20),
    st.text("aAbB ", min_size=1, max_size=30),
).filter(str.strip)
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@given(contents=st.lists(TEXTS, min_size=1, max_size=8), data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_recall_by_keyword_agrees_with_plain_python(contents: list[str], data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from(contents))
    start = data.draw(st.integers(0, len(whole) - 1))
    piece = whole[start : data.draw(st.integers(start + 1, len(whole)))]
    keyword = data.draw(st.one_of(st.just(piece), st.just(piece.swapcase()), TEXTS))
    agree(contents, keyword)


@given(keyword=TEXTS)
@example(keyword='"')
@example(keyword='a"b" AND (c')
@settings(max_examples=60, deadline=None)
def test_a_content_is_found_by_itself(keyword: str) -> None:
    agree([f"x{keyword}y", keyword.translate(LOWER), "something else"], keyword)


def agree(contents: list[str], keyword: str) -> None:
    expected = [content for content in reversed(contents) if keyword.translate(LOWER) in content.translate(LOWER)]
    with tempfile.TemporaryDirectory() as folder:
        room = SmallRoom(Path(folder) / "store.db")
        try:
            for content in contents:
                room.record(content)
            found = room.recall(keyword=keyword)
        finally:
            room.close()
    assert found.total == len(expected)
    assert [hit.content for hit in found.episodes if not hit.words][: len(expected)] == expected
