"""Knowledge as an operator sees it: pages, a search with the same rows, and one whole (console.md, screen 6)."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import Refusal
from core.room import Room
from core.views import knowledge
from core.views.knowledge import KnowledgeFound, KnowledgePage
from tests.rooms import Rooms
from tests.unit.sessions.support import project


@pytest.fixture
def agent(rooms: Rooms) -> Room:
    room = rooms.agent()
    project(room)
    return room


def learn(room: Room, topic: str, **more: Any) -> str:
    made: str = room.do("brain_learn", topic=topic, insight=f"{topic} matters", project_key="demo", **more).id
    return made


def decide(room: Room, title: str, **more: Any) -> str:
    made: str = room.do(
        "brain_log_decision", title=title, context="c", decision_made="d", reasoning="r", project_key="demo", **more
    ).id
    return made


def page(room: Room, **more: Any) -> KnowledgePage:
    with room.snapshot() as view:
        return knowledge.page(view, "demo", **more)


def search(room: Room, words: str, **more: Any) -> KnowledgeFound:
    with room.snapshot() as view:
        return knowledge.search(view, "demo", words, **more)


def test_pages_go_from_the_newest_to_the_oldest_and_miss_nothing(agent: Room) -> None:
    made = [learn(agent, f"thing {number}") for number in range(5)]
    first = page(agent, limit=3)
    assert ([row.id for row in first.rows], first.total) == (made[:1:-1], 5)
    rest = page(agent, limit=3, before=first.next_before)
    assert ([row.id for row in rest.rows], rest.next_before) == (made[1::-1], None)


def test_a_kind_is_shown_alone_and_archived_ones_only_when_asked_for(agent: Room) -> None:
    learnt, decided = learn(agent, "pool"), decide(agent, "limits")
    found = page(agent, kind="decision")
    assert ([row.id for row in found.rows], found.total) == ([decided], 1)
    agent.do("brain_archive", entity_type="learning", entity_id=learnt)
    assert [row.id for row in page(agent).rows] == [decided]
    assert {row.id for row in page(agent, also_archived=True).rows} == {decided, learnt}


def test_a_search_gives_the_rows_of_a_page(agent: Room) -> None:
    learnt = learn(agent, "connection pool")
    decide(agent, "pool limits")
    found = search(agent, "pool", kind="learning")
    assert found.rows == page(agent, kind="learning").rows
    assert (found.rows[0].id, found.more, found.matched_by) == (learnt, False, "words")
    assert search(agent, "pool", limit=1).more
    with pytest.raises(Refusal):
        search(agent, " ")


def test_one_whole_has_what_it_replaced_and_what_it_is_related_to(agent: Room) -> None:
    learnt = learn(agent, "pool")
    old = decide(agent, "limit 20", related_to=[{"id": learnt, "type": "MOTIVATED_BY"}])
    new = agent.do(
        "brain_supersede_decision",
        old_decision_id=old,
        title="limit 40",
        context="c",
        decision_made="d",
        reasoning="r",
    ).id
    with agent.snapshot() as view:
        found, none = knowledge.entry(view, old), knowledge.entry(view, "00000000-0000-0000-0000-ffffffffffff")
    assert found is not None and none is None
    assert (found.entry.title, found.entry.superseded_by) == ("limit 20", new)
    assert [one.id for one in found.chain] == [old, new]
    assert [(one.relation, one.id, one.title) for one in found.relations] == [("MOTIVATED_BY", learnt, "pool")]
