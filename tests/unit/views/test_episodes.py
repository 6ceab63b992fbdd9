"""Episodes as an operator sees them: pages, search, one whole, and what is left of a deleted one (console.md, screen 6)."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import Refusal
from core.room import Room
from core.store.library import sqlite3
from core.views import episodes
from core.views.episodes import EpisodeDetail, EpisodePage, EpisodesFound
from tests.rooms import Rooms, text
from tests.unit.memory.wrapping import Wrapping


@pytest.fixture
def agent(rooms: Rooms) -> Room:
    return rooms.agent()


def record(room: Room, content: str, **more: Any) -> str:
    made: str = room.do("record", **{"content": content, "episode_type": "observation", "project_key": "demo", **more}).episode_id
    return made


def page(room: Room, key: str = "demo", **more: Any) -> EpisodePage:
    with room.snapshot() as view:
        return episodes.page(view, key, **more)


def search(room: Room, words: str, **more: Any) -> EpisodesFound:
    with room.snapshot() as view:
        return episodes.search(view, "demo", words, **more)


def whole(room: Room, episode_id: str) -> EpisodeDetail:
    with room.snapshot() as view:
        found = episodes.episode(view, episode_id)
    assert found is not None
    return found


def ids(found: EpisodePage | EpisodesFound) -> list[str]:
    return [row.episode_id for row in found.rows]


def every_page(room: Room, limit: int, **more: Any) -> list[str]:
    """All ids, page by page."""
    found, before = [], episodes.START
    while True:
        one = page(room, before=before, limit=limit, **more)
        assert len(one.rows) <= limit
        found += ids(one)
        assert len(found) <= one.total
        if one.next_before is None:
            return found
        before = one.next_before


def test_pages_go_from_the_newest_to_the_oldest_and_miss_nothing(agent: Room) -> None:
    made = [record(agent, f"thing {number}") for number in range(7)]
    assert ids(page(agent, limit=3)) == made[:-4:-1]
    assert page(agent, limit=3).total == 7
    assert every_page(agent, 3) == every_page(agent, 7) == made[::-1]
    record(agent, "elsewhere", project_key="other")
    assert ids(page(agent)) == made[::-1]
    assert page(agent, "nowhere") == EpisodePage((), 0, None)


def test_an_episode_recorded_meanwhile_moves_no_older_page(agent: Room) -> None:
    made = [record(agent, f"thing {number}") for number in range(4)]
    first = page(agent, limit=2)
    record(agent, "meanwhile")
    assert first.next_before is not None
    assert ids(page(agent, before=first.next_before)) == made[1::-1]


def test_a_type_is_shown_alone_and_counted(agent: Room) -> None:
    record(agent, "seen")
    decided = record(agent, "decided", episode_type="decision")
    found = page(agent, episode_type="decision")
    assert (ids(found), found.total) == ([decided], 1)
    assert page(agent, episode_type="no such type").rows == ()


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_deleted_ones_are_shown_where_they_were_when_asked_for(rooms: Rooms, agent: Room, limit: int) -> None:
    made = []
    for number in range(6):
        made.append(record(agent, f"thing {number}"))
        rooms.clock.advance(1)
    for gone in (made[1], made[4], made[2]):
        agent.do("delete_episode", episode_id=gone, project_key="demo")
    assert every_page(agent, limit) == [made[5], made[3], made[0]]
    assert every_page(agent, limit, also_deleted=True) == made[::-1]
    both = page(agent, also_deleted=True)
    assert both.total == 6
    assert [row.state for row in both.rows] == ["waiting", "deleted", "waiting", "deleted", "deleted", "waiting"]
    assert (both.rows[1].beginning, both.rows[1].characters) == ("", 7)
    assert page(agent, also_deleted=True, episode_type="decision").total == 0


def test_a_row_says_where_it_stands_on_its_way_into_the_continuity(agent: Room) -> None:
    covered = record(agent, "covered")
    opened = agent.do("prepare_wrap", project_key="demo")
    agent.do("save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token)
    frozen = record(agent, "frozen")
    second = agent.do("prepare_wrap", project_key="demo")
    waiting = record(agent, "waiting")
    rows = {row.episode_id: row for row in page(agent).rows}
    assert [rows[one].state for one in (covered, frozen, waiting)] == ["covered", "frozen", "waiting"]
    assert (rows[covered].covered_by, rows[frozen].frozen_in) == (opened.wrap_id, second.wrap_id)


def test_a_long_text_is_cut_in_a_list_and_whole_in_its_detail(agent: Room) -> None:
    long = "x" * 5_000
    made = record(agent, long)
    row = page(agent).rows[0]
    assert (row.beginning, row.characters) == ("x" * episodes.BEGINNING, 5_000)
    assert whole(agent, made).content == long


def test_a_search_has_the_exact_phrase_first_and_then_single_words(agent: Room) -> None:
    phrase = record(agent, "slow checkout under load", trust="external")
    apart = record(agent, "under heavy load the checkout was slow")
    newer = record(agent, "again a slow checkout under load")
    record(agent, "unrelated")
    found = search(agent, "slow checkout under load")
    assert ids(found) == [newer, phrase, apart]
    assert (found.exact, found.next_offset) == (2, None)
    assert [bool(row.words) for row in found.rows] == [False, False, True]
    listed = {row.episode_id: row for row in page(agent).rows}
    assert found.rows[:2] == (listed[newer], listed[phrase]), "the same rows as in a page"


@pytest.mark.parametrize(("words", "hit"), [("100%", "at 100% of it"), ("a_b", "name a_b here"), ('"quoted"', 'it "quoted" me')])
def test_nothing_in_the_words_of_a_search_is_special(agent: Room, words: str, hit: str) -> None:
    made = record(agent, hit)
    record(agent, "at 1000 of it, name axb here, it quoted me")
    assert ids(search(agent, words)) == [made]


def test_a_search_goes_on_where_its_page_ended_and_keeps_to_a_type(agent: Room) -> None:
    made = [record(agent, f"pool {number}") for number in range(5)]
    decided = record(agent, "pool of decisions", episode_type="decision")
    first = search(agent, "pool", limit=4)
    assert ids(first) == [decided, *made[:1:-1]]
    assert first.next_offset == 4
    rest = search(agent, "pool", limit=4, offset=4)
    assert (ids(rest), rest.next_offset) == (made[1::-1], None)
    assert ids(search(agent, "pool", episode_type="decision")) == [decided]
    with pytest.raises(Refusal) as refusal:
        search(agent, "pool", episode_type="nonsense")
    assert refusal.value.code == "invalid_input"


def test_a_search_shows_what_was_superseded_and_by_what(agent: Room) -> None:
    old = record(agent, "The pool limit is 20 connections")
    new = record(agent, "The pool limit is 40 connections", supersedes=[old])
    found = search(agent, "pool limit")
    assert [(row.episode_id, row.superseded_by) for row in found.rows] == [(new, None), (old, new)]


def test_one_whole_names_what_it_comes_from_and_what_replaced_it(agent: Room) -> None:
    source = record(agent, "Pool metrics at noon", trust="tool")
    old = record(agent, "The pool limit is 20 connections", trust="tool")
    made = record(
        agent,
        "The pool limit is 40 connections",
        derived_from=[source],
        supersedes=[old],
        state_key="Pool Limit",
        metadata={"tags": ["pool", 7, "limits"], "n": 1},
    )
    newest = record(agent, "The pool limit is 60 connections", state_key="pool limit")
    found = whole(agent, made)
    assert (found.row.trust, found.row.effective_trust, found.row.state_key) == ("agent", "tool", "pool limit")
    assert found.metadata == {"tags": ["pool", 7, "limits"], "n": 1}
    assert found.tags == ("pool", "limits")
    assert [(one.episode_id, one.effective_trust) for one in found.derived_from] == [(source, "tool")]
    assert [one.episode_id for one in found.supersedes] == [old]
    assert [one.episode_id for one in found.superseded_by] == [newest] == [found.row.superseded_by]
    assert found.holder.client_name == "claude-code"
    assert [row.event for row in found.timeline] == ["record"]
    assert [one.episode_id for one in whole(agent, source).derived] == [made]
    assert [one.episode_id for one in whole(agent, newest).supersedes] == [made]
    assert found.tombstone is None


def test_one_whole_names_every_wrap_that_froze_it_and_the_one_that_covers_it(rooms: Rooms, agent: Room) -> None:
    made = record(agent, "frozen twice")
    cancelled = agent.do("prepare_wrap", project_key="demo")
    agent.do("wrap_cancel", project_key="demo", wrap_token=cancelled.wrap_token)
    saved = agent.do("prepare_wrap", project_key="demo")
    assert [(one.state, one.covered) for one in whole(agent, made).wraps] == [("cancelled", False), ("open", False)]
    agent.do("save_continuity", project_key="demo", text=text(), wrap_token=saved.wrap_token)
    found = whole(agent, made)
    assert [(one.wrap_id, one.state, one.covered) for one in found.wraps] == [
        (cancelled.wrap_id, "cancelled", False),
        (saved.wrap_id, "saved", True),
    ]
    assert found.wraps[1].token_start == saved.wrap_token[:8]
    rooms.clock.advance(1)
    agent.do("delete_episode", episode_id=made, project_key="demo")
    assert [one.covered for one in whole(agent, made).wraps] == [False, True]


def test_what_is_left_of_a_deleted_one_is_its_tombstone(agent: Room) -> None:
    source = record(agent, "Pool metrics at noon")
    made = record(agent, "The pool is exhausted", derived_from=[source])
    agent.do("delete_episode", episode_id=source, project_key="demo")
    found = whole(agent, source)
    assert found.tombstone is not None
    assert (found.content, found.row.state, found.tombstone.characters) == (None, "deleted", len("Pool metrics at noon"))
    assert found.tombstone.removed_by.kind == "agent"
    assert [row.event for row in found.timeline] == ["record", "delete"]
    assert [(one.episode_id, one.beginning) for one in whole(agent, made).derived_from] == [(source, None)]
    with agent.snapshot() as view:
        assert episodes.episode(view, "ffffffff") is None


def test_one_whole_names_the_patterns_that_rest_on_it(rooms: Rooms) -> None:
    wrapping = Wrapping(rooms)
    wrapping.save("- pool-size | 1x ({today})")
    made = wrapping.record("The connection pool is exhausted whenever checkout is under load")
    wrapping.save(f'- pool-size | 2x ({{today}}) [evidence: {made} "checkout exhausts the connection pool"]')
    [resting] = whole(wrapping.agent, made).patterns
    assert (resting.name, resting.level, resting.rung) == ("pool-size", 2, 2)


def test_what_another_program_spoilt_is_shown_as_it_stands(rooms: Rooms, agent: Room) -> None:
    made = record(agent, "sound", metadata={"a": 1})
    with sqlite3.connect(rooms.path) as database:
        database.execute("update episodes set metadata = '{oops', derived_from = '7', connection_id = 'nobody'")
    database.close()
    found = whole(agent, made)
    assert (found.metadata, found.tags, found.derived_from, found.holder.client_name) == ("{oops", (), (), None)
