"""brain_search: words, parts of words, scripts without spaces, filters, grouping; whatever is asked, it is text (issue 3, item 4)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Refusal
from core.room import Room
from tests.rooms import Rooms, refused
from tests.unit.knowledge.test_knowledge import make
from tests.unit.sessions.support import project

ENTRIES = (
    ("learning", {"topic": "Connection pools", "insight": "A pool of twelve is enough for the reconciliation job."}),
    ("learning", {"topic": "用語集", "insight": "一つの言葉に一つの意味。翻訳はその後で続く。"}),
    ("decision", {"title": "Pools are closed at night", "reasoning": "Connections idle for hours cost memory."}),
    ("snippet", {"title": "Straße und Größe", "code": "café(naïve) -> 'ﬁle' [brackets] {braces} \\escape"}),
    ("adr", {"title": "One writer", "context": "SQLite has one writer; a queue orders them →."}),
)


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    """A room with knowledge of each kind, read only by the tests."""
    folder = Path(tempfile.mkdtemp())
    rooms = Rooms(folder / "room.db")
    agent = rooms.agent()
    project(agent)
    for kind, more in ENTRIES:
        make(agent, kind, **more)
        rooms.clock.advance(3_600)
    yield agent
    rooms.close()
    shutil.rmtree(folder)


def titles(room: Room, query: str, **more: Any) -> list[str]:
    """The titles found, the best first."""
    return [hit.title for hit in room.do("brain_search", query=query, **more).results]


def test_a_title_counts_more_than_a_text_and_scores_are_between_0_and_1(room: Room) -> None:
    found = room.do("brain_search", query="connection")
    assert [hit.title for hit in found.results] == ["Connection pools", "Pools are closed at night"]
    scores = [hit.score for hit in found.results]
    assert scores == sorted(scores, reverse=True) and all(0 < score < 1 for score in scores)
    assert found.matched_by == "words"


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("reconcil", "Connection pools"),
        ("用語", "用語集"),
        ("言葉", "用語集"),
        ("翻訳はその", "用語集"),
        ("strasse", "Straße und Größe"),
        ("STRASSE", "Straße und Größe"),
        ("cafe", "Straße und Größe"),
        ("naive", "Straße und Größe"),
        ("file", "Straße und Größe"),
        ("[brackets]", "Straße und Größe"),
        ("→", "One writer"),
        ("onciliat", "Connection pools"),
    ],
)
def test_what_is_found(room: Room, query: str, title: str) -> None:
    assert titles(room, query)[0] == title


def test_a_part_inside_a_word_is_found_as_characters_and_said_so(room: Room) -> None:
    assert room.do("brain_search", query="onciliat").matched_by == "characters"
    assert room.do("brain_search", query="nothing-like-it-anywhere").matched_by == "nothing"


def test_filters_and_grouping(room: Room) -> None:
    assert titles(room, "pools", types=["decision"]) == ["Pools are closed at night"]
    assert titles(room, "pools", project_key="other") == []
    assert titles(room, "pools", limit=1) == titles(room, "pools")[:1]
    assert titles(room, "pools", min_score=0.999999) == []
    grouped = room.do("brain_search", query="pools", group_by_type=True).groups
    assert [group.kind for group in grouped] == ["decision", "learning"]
    assert room.do("brain_search", query="pools").groups is None


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"query": " "}, "invalid_input"),
        ({"query": "x" * 10_001}, "invalid_input"),
        ({"query": "x", "limit": 0}, "invalid_limit"),
        ({"query": "x", "types": ["nope"]}, "invalid_input"),
        ({"query": "x", "project_key": "a", "project_group": "b"}, "invalid_input"),
        ({"query": "x", "since": "yesterday-ish"}, "invalid_input"),
    ],
)
def test_what_cannot_be_asked(room: Room, wrong: dict[str, Any], code: str) -> None:
    assert refused(room, "brain_search", **wrong).code == code


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text(alphabet="\"'*:^()-+ORANDNEAR{}[]\\% _用語aé👩\u200d🚀\n\x00", max_size=40)))
def test_whatever_is_asked_is_text_and_never_a_query_language(room: Room, query: str) -> None:
    try:
        found = room.do("brain_search", query=query)
    except Refusal as refusal:
        assert refusal.code == "invalid_input"
    else:
        assert found.query == query.strip() and len(found.results) <= 5


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ENTRIES), st.data())
def test_every_word_of_an_entry_finds_it(room: Room, entry: tuple[str, dict[str, str]], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(list(entry[1].values())))
    word = data.draw(st.sampled_from(text.split()))
    assert (entry[1].get("title") or entry[1]["topic"]) in titles(room, word)
