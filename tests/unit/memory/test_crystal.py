"""Graduated patterns as agents find them: index and recall (wraps.md b, the one-line tools)."""

from __future__ import annotations

import pytest

from core.room import Room
from tests.rooms import Rooms, refused
from tests.unit.memory.wrapping import Wrapping


@pytest.fixture
def wrapping(rooms: Rooms) -> Wrapping:
    return Wrapping(rooms)


def names(room: Room, query: str, **more: object) -> list[str]:
    return [one.name for one in room.do("crystal_recall", project_key="demo", query=query, **more).patterns]


def graduated(wrapping: Wrapping) -> str:
    """A pattern at 2x, and one at 1x; gives the id of the episode that the first rests on."""
    wrapping.save("- pool-size | 1x ({today})", "- once-seen | 1x ({today}) connection pool limits")
    episode = wrapping.record("The connection pool is exhausted whenever checkout is under load")
    wrapping.save(
        f'- pool-size | 2x ({{today}}) [evidence: {episode} "checkout exhausts the connection pool"] Raise limits before a sale',
        "- once-seen | 1x ({today}) connection pool limits",
    )
    return episode


def test_the_index_names_what_is_proven_with_one_clause_and_nothing_else(wrapping: Wrapping) -> None:
    graduated(wrapping)
    index = wrapping.agent.do("crystal_index", project_key="demo")
    assert [(one.name, one.clause) for one in index.patterns] == [("pool-size", "Raise limits before a sale")]
    assert index.total == 1


def test_an_unknown_project_has_neither_index_nor_answers(rooms: Rooms) -> None:
    agent = rooms.agent()
    assert agent.do("crystal_index", project_key="nowhere").total == 0
    assert agent.do("crystal_recall", project_key="nowhere", query="connection pool").patterns == ()


@pytest.mark.parametrize(
    ("query", "mode", "found"),
    [
        ("checkout and the pool", "prompt", ["pool-size"]),
        ("CHECKOUT, Pool!", "prompt", ["pool-size"]),
        ("pool", "prompt", []),
        ("pool", "query", ["pool-size"]),
        ("the sale is on", "query", ["pool-size"]),
        ("checkout by bicycle", "prompt", []),
        ("100% \" * ' OR pool_ -- checkout", "prompt", ["pool-size"]),
        ("unrelated words entirely", "query", []),
        ("it is", "query", []),
    ],
)
def test_a_prompt_takes_two_shared_words_and_a_query_one(wrapping: Wrapping, query: str, mode: str, found: list[str]) -> None:
    graduated(wrapping)
    assert names(wrapping.agent, query, mode=mode, associative=False) == found


def test_a_pattern_is_found_by_its_evidence_when_no_word_of_its_own_matches(wrapping: Wrapping) -> None:
    wrapping.save("- pool-size | 1x ({today})")
    episode = wrapping.record("Checkout latency doubled while the nightly backup saturated storage")
    wrapping.save(f'- pool-size | 2x ({{today}}) [evidence: {episode} "checkout latency doubled"] be careful')
    query = "nightly backup saturated everything"
    assert names(wrapping.agent, query, associative=False) == []
    (one,) = wrapping.agent.do("crystal_recall", project_key="demo", query=query).patterns
    assert (one.name, one.found_by, one.episode_ids) == ("pool-size", "evidence", (episode,))
    assert set(one.matched) == {"nightly", "backup", "saturated"}
    wrapping.agent.do("delete_episode", project_key="demo", episode_id=episode)
    assert names(wrapping.agent, query) == []


def test_words_come_before_evidence_and_the_limit_holds(wrapping: Wrapping) -> None:
    graduated(wrapping)
    assert names(wrapping.agent, "checkout pool load", max_patterns=0) == []
    assert names(wrapping.agent, "checkout pool load", max_patterns=-3) == []
    assert names(wrapping.agent, "checkout pool load", max_patterns=10**12) == ["pool-size"]


def test_a_pattern_that_the_text_left_out_is_still_called_up(wrapping: Wrapping) -> None:
    graduated(wrapping)
    wrapping.save()
    (one,) = wrapping.agent.do("crystal_recall", project_key="demo", query="checkout pool").patterns
    assert (one.name, one.level, one.in_text) == ("pool-size", 2, False)


@pytest.mark.parametrize(("query", "mode"), [(" ", "prompt"), ("a\0b", "prompt"), ("\ud800", "query"), ("pool", "guess")])
def test_bad_queries_are_refused(rooms: Rooms, query: str, mode: str) -> None:
    assert refused(rooms.agent(), "crystal_recall", project_key="demo", query=query, mode=mode).code == "invalid_input"


def test_scripts_without_spaces_are_searched_like_others(wrapping: Wrapping) -> None:
    wrapping.save("- pool-size | 1x ({today})")
    episode = wrapping.record("connection pool is exhausted under checkout load")
    wrapping.save(f'- pool-size | 2x ({{today}}) [evidence: {episode} "the pool under checkout load"] 接続プールが枯渇する')
    assert names(wrapping.agent, "接続プールが", mode="query", associative=False) == ["pool-size"]
