"""What the Memory screen asks of all projects together: newest versions, loops, episodes, patterns and knowledge (console.md, screen 6)."""

from __future__ import annotations

from datetime import timedelta

from core.views import continuity, episodes, knowledge, loops, patterns
from tests.rooms import Rooms
from tests.unit.memory.wrapping import Wrapping


def two_projects(rooms: Rooms) -> tuple[Wrapping, Wrapping]:
    one, other = Wrapping(rooms, "one"), Wrapping(rooms, "other")
    one.save("- pool | 1x ({today})")
    episode = one.record()
    one.save(f'- pool | 2x ({{today}}) [evidence: {episode} "connection pool exhausted under checkout"]')
    other.save("- cache | 1x ({today})")
    return one, other


def test_the_newest_version_of_each_project_stands_in_the_list(rooms: Rooms) -> None:
    one, _ = two_projects(rooms)
    with one.agent.snapshot() as view:
        found = continuity.newest_versions(view)
        assert [(row.project_key, row.revision) for row in found] == [("one", 2), ("other", 1)]
        assert len(continuity.newest_versions(view, limit=1)) == 1


def test_episodes_of_all_projects_are_one_list_newest_first(rooms: Rooms) -> None:
    one, other = two_projects(rooms)
    waiting = other.record("Cold cache after the deploy")
    opened = other.agent.do("prepare_wrap", project_key="other")
    last = one.record("Connection pool is fine again")
    with one.agent.snapshot() as view:
        page = episodes.page(view, None)
        assert [row.episode_id for row in page.rows[:2]] == [last, waiting]
        assert page.total == len(page.rows) == sum(episodes.page(view, key).total for key in ("one", "other"))
        assert page.rows[1].frozen_in == opened.wrap_id and page.rows[0].frozen_in is None
        first = episodes.page(view, None, limit=2)
        assert first.next_before is not None
        assert [row.episode_id for row in episodes.page(view, None, before=first.next_before).rows] == [
            row.episode_id for row in page.rows[2:]
        ]


def test_deleted_episodes_of_all_projects_stand_among_them(rooms: Rooms) -> None:
    one, other = two_projects(rooms)
    gone = [one.record("A secret"), other.record("Another secret")]
    for wrapping, episode_id in zip((one, other), gone, strict=True):
        wrapping.agent.do("delete_episode", project_key=wrapping.key, episode_id=episode_id)
    with one.agent.snapshot() as view:
        shown = episodes.page(view, None, also_deleted=True)
        assert {row.episode_id for row in shown.rows if row.state == "deleted"} == set(gone)
        assert shown.total == episodes.page(view, None).total + 2


def test_a_search_everywhere_has_the_phrase_of_any_project_before_mere_words(rooms: Rooms) -> None:
    one, other = two_projects(rooms)
    words = Wrapping(rooms, "third").record("The cache of the gateway was cold")
    phrase = other.record("It was a cold cache")
    newer = one.record("Cold cache, once more")
    with one.agent.snapshot() as view:
        found = episodes.search_everywhere(view, "cold cache")
        assert [row.episode_id for row in found.rows] == [newer, phrase, words]
        assert found.exact == 2
        assert [row.episode_id for row in episodes.search_everywhere(view, "cold cache", limit=1).rows] == [newer]


def test_patterns_and_knowledge_of_all_projects(rooms: Rooms) -> None:
    one, _ = two_projects(rooms)
    for key in ("one", "other"):
        one.agent.do("brain_learn", project_key=key, topic=f"Of {key}", insight="Something.")
    with one.agent.snapshot() as view:
        assert [(row.name, row.level) for row in patterns.page(view, None).rows] == [("pool", 2), ("cache", 1)]
        assert patterns.page(view, None).total == 2
        page = knowledge.page(view, None)
        assert ([row.title for row in page.rows], page.total) == (["Of other", "Of one"], 2)
        assert {row.title for row in knowledge.search(view, None, "something").rows} == {"Of one", "Of other"}


def test_loops_have_their_order_over_all_projects_and_the_resolved_ones_behind(rooms: Rooms) -> None:
    agent = rooms.agent()
    plant = [("one", "warm", 0), ("other", "hot", 1), ("one", "hot", 3), ("other", "warm", 0)]
    ids = [
        (key, agent.do("spore_add", project_key=key, type="task", text=f"Do it {key}", tier=tier, salience=salience).spore_id)
        for key, tier, salience in plant
    ]
    agent.do("spore_descend", project_key=ids[3][0], spore_id=ids[3][1], kind="done")
    today = rooms.clock.today()
    with agent.snapshot() as view:
        found = loops.loops(view, None, today=today).rows
        assert [(loop.project_key, loop.spore_id) for loop in found] == [ids[2], ids[1], ids[0]]
        both = loops.loops(view, None, resolved_too=True, today=today).rows
        assert [(loop.project_key, loop.spore_id) for loop in both] == [ids[2], ids[1], ids[0], ids[3]]
        of_other = loops.loops(view, "other", resolved_too=True, today=today).rows
        assert [loop.project_key for loop in of_other] == ["other", "other"]
        later = loops.loops(view, "one", today=today + timedelta(days=9)).rows
        assert {loop.germination for loop in later} == {"dormant"}


def test_a_short_list_of_loops_begins_with_what_matters_most_and_says_that_there_are_more(rooms: Rooms) -> None:
    agent = rooms.agent()
    tiers = ["cold", "cold", "warm", "hot"]
    ids = [agent.do("spore_add", project_key="one", type="task", text="Do it", tier=tier).spore_id for tier in tiers]
    agent.do("spore_descend", project_key="one", spore_id=ids[0], kind="done")
    rooms.clock.advance(9 * 86_400)
    agent.do("spore_touch", project_key="one", spore_id=ids[3])
    today = rooms.clock.today()
    with agent.snapshot() as view:

        def listed(limit: int, **options: bool) -> tuple[list[str], bool]:
            page = loops.loops(view, "one", today=today, limit=limit, **options)
            return [loop.spore_id for loop in page.rows], page.more

        assert listed(1) == ([ids[3]], True)
        assert listed(3) == ([ids[3], ids[2], ids[1]], False)
        assert listed(3, resolved_too=True) == ([ids[3], ids[2], ids[1]], True)
        assert listed(4, resolved_too=True) == ([ids[3], ids[2], ids[1], ids[0]], False)
        assert listed(1, dormant_only=True) == ([ids[2]], True)
        assert listed(2, dormant_only=True, resolved_too=True) == ([ids[2], ids[1]], False)
