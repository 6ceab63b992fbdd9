"""Decisions, learnings, snippets, runbooks and ADRs: kept, changed, replaced, listed and deleted (issue 3, item 4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.room import Room
from core.trail.verify import verify_store
from tests.rooms import Rooms, refused
from tests.unit.sessions.support import capture, everything, project, rows, start

MAKE: dict[str, tuple[str, dict[str, Any]]] = {
    "decision": ("brain_log_decision", {"title": "T", "context": "c", "decision_made": "d", "reasoning": "r"}),
    "learning": ("brain_learn", {"topic": "T", "insight": "i"}),
    "snippet": ("brain_save_snippet", {"title": "T", "intention": "i", "code": "x = 1", "language": "python"}),
    "runbook": (
        "brain_create_runbook",
        {"title": "T", "description": "d", "trigger": "t", "steps": [{"title": "Look"}, {"title": "Act", "command": "true"}]},
    ),
    "adr": ("brain_propose_adr", {"title": "T", "context": "c", "decision": "d", "consequences": "q"}),
}
OWN_TEXT = {"decision": "reasoning", "learning": "insight", "snippet": "code", "runbook": "description", "adr": "context"}


@pytest.fixture
def agent(rooms: Rooms) -> Room:
    """An agent of project demo."""
    room = rooms.agent()
    project(room)
    return room


def make(room: Room, kind: str, **more: Any) -> str:
    """A new entry's id."""
    verb, arguments = MAKE[kind]
    made: str = room.do(verb, **{**arguments, "project_key": "demo", **more}).id
    return made


def get(room: Room, kind: str, entity_id: str) -> Any:
    """An entry whole."""
    return room.do("brain_get", entity_type=kind, entity_id=entity_id).entry


@pytest.mark.parametrize("kind", MAKE)
def test_what_was_kept_is_what_is_got(agent: Room, kind: str) -> None:
    made = make(agent, kind, tags=["one", "two"])
    entry = get(agent, kind, made)
    assert (entry.kind, entry.project_key, entry.title, entry.tags) == (kind, "demo", "T", ("one", "two"))
    assert entry.status == ("proposed" if kind == "adr" else "active")
    assert get(agent, kind, made[:35]) == entry, "a beginning that no other has is enough"
    other = "decision" if kind != "decision" else "learning"
    assert refused(agent, "brain_get", entity_type=other, entity_id=made).code == "knowledge_not_found"


@pytest.mark.parametrize("kind", MAKE)
def test_an_update_changes_what_was_sent_and_nothing_else(agent: Room, kind: str) -> None:
    made = make(agent, kind, tags=["one"])
    before = get(agent, kind, made)
    changed = agent.do("brain_update", entity_type=kind, entity_id=made, fields={OWN_TEXT[kind]: "another text"})
    after = get(agent, kind, made)
    assert changed.changed and after.details[OWN_TEXT[kind]] == "another text" and after.tags == ("one",)
    assert {**before.details, OWN_TEXT[kind]: "another text"} == after.details
    assert not agent.do("brain_update", entity_type=kind, entity_id=made, fields={OWN_TEXT[kind]: "another text"}).changed
    unknown = refused(agent, "brain_update", entity_type=kind, entity_id=made, fields={"nope": 1})
    assert unknown.code == "invalid_input" and OWN_TEXT[kind] in unknown.sentence
    assert refused(agent, "brain_update", entity_type=kind, entity_id=made, fields={}).code == "invalid_input"
    assert [one.id for one in agent.do("brain_search", query="another").results] == [made], "the index follows"


@pytest.mark.parametrize("kind", MAKE)
def test_an_archived_entry_is_out_of_lists_and_search_until_it_is_asked_for(agent: Room, kind: str) -> None:
    made = make(agent, kind)
    for _ in range(2):
        agent.do("brain_archive", entity_type=kind, entity_id=made)
    assert agent.do("brain_list", entity_type=kind, project_key="demo").entries == ()
    assert agent.do("brain_search", query="T").results == ()
    assert [one.id for one in agent.do("brain_list", entity_type=kind, include_archived=True).entries] == [made]
    agent.do("brain_unarchive", entity_type=kind, entity_id=made)
    assert [one.id for one in agent.do("brain_list", entity_type=kind).entries] == [made]
    assert len(rows(agent, "select 1 from audit where event = 'brain_archive'")) == 1, "a repetition leaves no row"


@pytest.mark.parametrize("kind", MAKE)
def test_what_a_session_has_captured_is_not_deleted(agent: Room, kind: str) -> None:
    session = start(agent)
    made, free = make(agent, kind), make(agent, kind)
    capture(agent, session, made)
    refusal = refused(agent, "brain_delete", entity_type=kind, entity_id=made)
    assert (refusal.code, refusal.facts["session_id"]) == ("knowledge_captured", session.id)
    agent.do("brain_delete", entity_type=kind, entity_id=free)
    assert refused(agent, "brain_get", entity_type=kind, entity_id=free).code == "knowledge_not_found"
    assert refused(agent, "brain_delete", entity_type=kind, entity_id=free).code == "knowledge_not_found"
    assert [one.id for one in agent.do("brain_search", query="T").results] == [made], "the index has let it go"


def test_a_chain_of_decisions_names_the_one_that_stands(agent: Room) -> None:
    verb, arguments = MAKE["decision"]
    ids = [make(agent, "decision")]
    for number in range(3):
        more = {**arguments, "title": f"T{number}"}
        ids.append(agent.do("brain_supersede_decision", old_decision_id=ids[-1], **more).id)
    for one in ids:
        chain = agent.do("brain_get_supersession_chain", decision_id=one)
        assert ([entry.id for entry in chain.entries], chain.standing_id) == (ids, ids[-1])
    refusal = refused(agent, "brain_supersede_decision", old_decision_id=ids[0], **arguments)
    assert refusal.code == "knowledge_conflict" and ids[1] in refusal.sentence
    del verb


def test_a_chain_that_another_program_closed_to_a_circle_ends(agent: Room) -> None:
    from tests.unit.cli.conftest import damage

    first = make(agent, "decision")
    second = agent.do("brain_supersede_decision", old_decision_id=first, **MAKE["decision"][1]).id

    class Here:
        path = agent.place.path

    damage(Here(), "update knowledge set superseded_by = ? where id = ?", first, second)  # type: ignore[arg-type]
    chain = agent.do("brain_get_supersession_chain", decision_id=first)
    assert {entry.id for entry in chain.entries} == {first, second}


def test_an_adr_is_proposed_accepted_deprecated_and_replaced_with_numbers_of_its_project(agent: Room) -> None:
    project(agent, key="other")
    first, second = make(agent, "adr"), make(agent, "adr")
    assert [get(agent, "adr", one).number for one in (first, second)] == [1, 2]
    assert get(agent, "adr", make(agent, "adr", project_key="other")).number == 1
    assert agent.do("brain_accept_adr", adr_id=first).changed and not agent.do("brain_accept_adr", adr_id=first).changed
    heir = agent.do("brain_supersede_adr", old_adr_id=first, **MAKE["adr"][1])
    assert (heir.status, heir.number, heir.superseded_id) == ("accepted", 3, first)
    agent.do("brain_deprecate_adr", adr_id=second, reason="no longer")
    assert get(agent, "adr", second).details["deprecation_reason"] == "no longer"
    for adr_id in (first, second):
        assert refused(agent, "brain_accept_adr", adr_id=adr_id).code == "knowledge_conflict"
    assert refused(agent, "brain_accept_adr", adr_id=make(agent, "decision")).code == "knowledge_not_found"


def test_deleting_what_replaced_another_lets_that_be_replaced_again(agent: Room) -> None:
    old = make(agent, "decision")
    new = agent.do("brain_supersede_decision", old_decision_id=old, **MAKE["decision"][1]).id
    assert agent.do("brain_delete", entity_type="decision", entity_id=new).released_id == old
    assert get(agent, "decision", old).status == "superseded" and get(agent, "decision", old).superseded_by is None
    assert agent.do("brain_supersede_decision", old_decision_id=old, **MAKE["decision"][1]).superseded_id == old


def test_pages_follow_one_another_whatever_is_added_meanwhile(agent: Room) -> None:
    ids = [make(agent, "learning") for _ in range(7)][::-1]
    seen, before = [], None
    while True:
        page = agent.do("brain_list", entity_type="learning", limit=3, before=before)
        seen += [one.id for one in page.entries]
        before = page.next_before
        if before is None:
            break
        make(agent, "learning")
    assert seen == ids
    assert refused(agent, "brain_list", limit=0).code == refused(agent, "brain_list", limit=101).code == "invalid_limit"


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("decision", {"title": " "}),
        ("decision", {"reasoning": ""}),
        ("decision", {"title": "x" * 10_000}),
        ("decision", {"tags": ["x" * 500]}),
        ("learning", {"insight": "\x00"}),
        ("learning", {"insight": "\ud800"}),
        ("snippet", {"code": "   "}),
        ("runbook", {"steps": []}),
        ("adr", {"consequences": ""}),
    ],
)
def test_what_cannot_be_kept_is_refused_and_nothing_is(agent: Room, kind: str, wrong: dict[str, Any]) -> None:
    verb, arguments = MAKE[kind]
    before = everything(agent)
    assert refused(agent, verb, **{**arguments, "project_key": "demo", **wrong}).code == "invalid_input"
    assert everything(agent) == before


def test_a_project_that_is_not_there_gets_nothing(agent: Room) -> None:
    for verb, arguments in MAKE.values():
        assert refused(agent, verb, **arguments, project_key="nowhere").code == "project_not_found"


def test_the_trail_has_every_deed_and_no_text(agent: Room, rooms: Rooms) -> None:
    secret = "the text itself, word for word"
    made = make(agent, "decision", title=secret, reasoning=secret, tags=[secret])
    agent.do("brain_update", entity_type="decision", entity_id=made, fields={"reasoning": f"{secret} 2"})
    adr = make(agent, "adr", context=secret)
    agent.do("brain_deprecate_adr", adr_id=adr, reason=secret)
    agent.do("brain_delete", entity_type="decision", entity_id=made)
    trail = rows(agent, "select event, subject, data from audit where subject like 'knowledge:%' order by seq")
    assert [event for event, _, _ in trail] == [
        *("brain_log_decision", "brain_update", "brain_propose_adr", "brain_deprecate_adr", "brain_delete")
    ]
    assert not [event for event, _, data in trail if secret in data]
    assert json.loads(trail[0][2])["title"]["characters"] == len(secret)
    assert verify_store(rooms.path).ok
