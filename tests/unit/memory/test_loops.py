"""Open loops: planting, germination, order, and the two ways of resolving (wraps.md b, the one-line tools)."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from core.memory.loop_rules import KINDS
from core.memory.loops import Loop, germination
from core.room import Room
from core.texts import digest
from tests.rooms import Rooms, refused, trail

DAY = 86_400


def plant(room: Room, text: str = "Find out why the queue stalls", **more: Any) -> Loop:
    loop: Loop = room.do("spore_add", **{"project_key": "demo", "type": "task", "text": text, **more})
    return loop


def listed(room: Room, **filters: Any) -> list[str]:
    return [loop.spore_id for loop in room.do("spore_list", project_key="demo", **filters).loops]


@pytest.mark.parametrize(
    ("tier", "seen", "next_date", "expected"),
    [
        ("warm", "2026-01-31", None, "growing"),
        ("warm", "2026-01-29", None, "growing"),
        ("warm", "2026-01-28", None, "resting"),
        ("hot", "2026-01-24", None, "resting"),
        ("hot", "2026-01-23", None, "dormant"),
        ("cold", "2026-02-07", None, "growing"),
        ("warm", "2026-01-31", "2026-01-31", "dormant"),
        ("warm", "2026-01-31", "2026-02-01", "growing"),
        ("warm", "no date", None, "dormant"),
        ("parked", "2020-01-01", "2020-01-02", "parked"),
    ],
)
def test_germination(tier: str, seen: str, next_date: str | None, expected: str) -> None:
    assert germination(date(2026, 1, 31), tier=tier, seen=seen, next_date=next_date) == expected


def test_ids_count_within_a_project(rooms: Rooms) -> None:
    agent = rooms.agent()
    assert [plant(agent).spore_id, plant(agent).spore_id] == ["spore-001", "spore-002"]
    assert plant(agent, project_key="other").spore_id == "spore-001"


def test_the_order_is_tier_then_salience_then_germination_then_age(rooms: Rooms) -> None:
    agent = rooms.agent()
    for more in (
        {"tier": "cold", "salience": 3},
        {"tier": "hot"},
        {"tier": "warm"},
        {"tier": "warm", "salience": 1},
        {"tier": "parked"},
    ):
        plant(agent, **more)
    plant(agent, next=rooms.clock.today().isoformat())
    plant(agent)
    assert listed(agent) == ["spore-002", "spore-004", "spore-003", "spore-007", "spore-006", "spore-001", "spore-005"]


def test_filters_and_the_surface(rooms: Rooms) -> None:
    agent = rooms.agent()
    plant(agent, type="question", domain="billing")
    rooms.clock.advance(8 * DAY)
    plant(agent, tier="hot")
    plant(agent, type="thought", tier="parked")
    assert listed(agent, type="question") == ["spore-001"] == listed(agent, domain="billing")
    assert listed(agent, germination="dormant") == ["spore-001"]
    assert listed(agent, tier="parked", germination="parked") == ["spore-003"]
    assert [one.spore_id for one in agent.do("spore_surface", project_key="demo", top_of_mind=True).loops] == ["spore-002"]
    assert agent.do("spore_surface", project_key="demo").total == 3


def test_touching_makes_it_grow_and_clears_a_date_that_has_come(rooms: Rooms) -> None:
    agent = rooms.agent()
    plant(agent, next="2026-12-05")
    rooms.clock.advance(20 * DAY)
    done = agent.do("spore_touch", project_key="demo", spore_id="spore-001")
    assert (done.loop.germination, done.loop.next) == ("growing", None)
    assert agent.do("spore_touch", project_key="demo", spore_id="spore-001").changed == ()


def test_a_date_still_to_come_stays(rooms: Rooms) -> None:
    agent = rooms.agent()
    plant(agent, next="2099-01-01")
    assert agent.do("spore_touch", project_key="demo", spore_id="spore-001").loop.next == "2099-01-01"


def test_an_update_changes_what_is_given_clears_what_is_empty_and_keeps_notes(rooms: Rooms) -> None:
    agent = rooms.agent()
    plant(agent, domain="billing", pointer="docs/queue.md", next="2099-01-01")
    rooms.clock.advance(9 * DAY)
    done = agent.do(
        "spore_update",
        project_key="demo",
        spore_id="spore-001",
        domain="",
        pointer="",
        next="",
        salience=2,
        add_note="Seen again",
    )
    loop = agent.do("spore_get", project_key="demo", spore_id=" spore-001 ")
    assert (loop.domain, loop.pointer, loop.next, loop.salience) == ("", None, None, 2)
    assert [(note.noted_on, note.text) for note in loop.notes] == [(rooms.clock.today().isoformat(), "Seen again")]
    assert set(done.changed) == {"domain", "pointer", "next", "salience", "notes"}
    assert loop.germination == "dormant"


@pytest.mark.parametrize("direction", ["descend", "ascend"])
@pytest.mark.parametrize("loop_type", ["task", "question", "thought"])
def test_only_kinds_that_fit_the_type_resolve_it(rooms: Rooms, direction: Any, loop_type: str) -> None:
    agent = rooms.agent()
    every = {kind for kinds in KINDS[direction].values() for kind in kinds}
    ref = {"ref": "docs/result.md"} if direction == "ascend" else {}
    for kind in sorted(every):
        loop = plant(agent, type=loop_type)
        if kind in KINDS[direction][loop_type]:
            done = agent.do(f"spore_{direction}", project_key="demo", spore_id=loop.spore_id, kind=kind, **ref)
            assert (done.loop.status, done.loop.resolution.kind) == ("resolved", kind)
            assert loop.spore_id not in listed(agent)
        else:
            refusal = refused(agent, f"spore_{direction}", project_key="demo", spore_id=loop.spore_id, kind=kind, **ref)
            assert refusal.code == "invalid_input"
            assert set(refusal.facts["kinds"]) == set(KINDS[direction][loop_type])


@pytest.mark.parametrize("verb", ["spore_touch", "spore_update", "spore_descend", "spore_ascend"])
def test_a_resolved_loop_changes_no_more(rooms: Rooms, verb: str) -> None:
    agent = rooms.agent()
    plant(agent)
    agent.do("spore_ascend", project_key="demo", spore_id="spore-001", kind="project", ref="work/queue")
    more = {"spore_update": {"tier": "hot"}, "spore_descend": {"kind": "done"}, "spore_ascend": {"kind": "thread", "ref": "x"}}
    refusal = refused(agent, verb, project_key="demo", spore_id="spore-001", **more.get(verb, {}))
    assert (refusal.code, refusal.facts["ref"]) == ("spore_resolved", "work/queue")
    assert agent.do("spore_get", project_key="demo", spore_id="spore-001").resolution.ref == "work/queue"


@pytest.mark.parametrize("verb", ["spore_get", "spore_touch"])
def test_an_unknown_loop(rooms: Rooms, verb: str) -> None:
    assert refused(rooms.agent(), verb, project_key="demo", spore_id="spore-404").code == "spore_not_found"


@pytest.mark.parametrize(
    "bad",
    [
        {"text": "  \n"},
        {"text": "a\0b"},
        {"text": "\ud800"},
        {"text": "x" * 100_001},
        {"text": "\u202e\u200f"},
        {"type": "chore"},
        {"tier": "lukewarm"},
        {"salience": 4},
        {"salience": -1},
        {"next": "2026-02-30"},
        {"next": "tomorrow"},
        {"next": "\u0662026-01-01"},
        {"next": "2026-1-1"},
        {"domain": "a\0"},
        {"pointer": "\udfff"},
    ],
)
def test_bad_input_plants_nothing(rooms: Rooms, bad: dict[str, Any]) -> None:
    agent = rooms.agent()
    assert refused(agent, "spore_add", **{"project_key": "demo", "type": "task", "text": "fine", **bad}).code == "invalid_input"
    assert listed(agent) == []


def test_an_update_of_nothing_is_refused(rooms: Rooms) -> None:
    agent = rooms.agent()
    plant(agent)
    assert refused(agent, "spore_update", project_key="demo", spore_id="spore-001").code == "invalid_input"


def test_a_text_keeps_its_lines_and_loses_what_would_act_on_a_terminal(rooms: Rooms) -> None:
    loop = plant(rooms.agent(), "first\r\nsecond \u202e\x1b[31m e\u0301 ")
    assert loop.text == "first\nsecond [31m \u00e9"


def test_the_trail_has_every_change_and_no_text(rooms: Rooms) -> None:
    agent = rooms.agent()
    plant(agent, "A secret plan")
    agent.do("spore_update", project_key="demo", spore_id="spore-001", text="Another secret", add_note="hidden")
    agent.do("spore_touch", project_key="demo", spore_id="spore-001")
    agent.do("spore_descend", project_key="demo", spore_id="spore-001", kind="done")
    assert trail(agent) == [(event, "spore:spore-001") for event in ("spore_add", "spore_update", "spore_descend")]
    with agent.snapshot() as view:
        data = " ".join(row["data"] for row in view.all("select data from audit"))
    assert "secret" not in data and "hidden" not in data and json.dumps("done") in data


def test_the_trail_has_the_digest_of_the_text_that_is_stored(rooms: Rooms) -> None:
    agent = rooms.agent()
    loop = plant(agent, "as typed \r\n")
    with agent.snapshot() as view:
        data = json.loads(view.one("select data from audit where event = 'spore_add'")["data"])
    assert data["text"] == digest(loop.text)
