"""Open loops beside anneal-memory's spores: scripts by chance of the eight `spore_*` tools, and every loop compared after each step."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.memory.loop_rules import KINDS
from tests.differential.sides import OK, Ours, Theirs, both

pytest.importorskip("anneal_memory", reason="the peer comes with the bench extra")

SCRIPTS = 60
STEPS = 25
DAY = 86_400
TEXTS = (
    *("Find out why the queue stalls", "two\r\nlines  \rthree \n\n", "  kept before, not behind \t", "e\u0301 composed", "a\tb"),
    *(
        "bidi \u202e here",
        "bell \x07 rings",
        "tag \U000e0041 spells",
        "zero \u200b width",
        "mark \u200e gone",
        "x",
        "del \x7f c1 \x9b",
    ),
)
BLANK = ("", " ", "\n", "\u202e", "\x07 ")
DAYS = ("2026-11-30", "2026-12-05", "2099-01-01", "2020-02-29")
NO_DAYS = ("2026-02-30", "tomorrow", "2026-1-1", "2026-12-05T00:00:00Z", "20261205")
FIELDS = ("id", "type", "text", "domain", "tier", "salience", "seen", "next", "pointer", "created", "status", "germination")
LISTED = re.compile(r"^\[(spore-\d+)\] (\w+)/(\w+)/(\w+) salience=(\d): ", re.MULTILINE)

GRANTED = {
    (tool, "invalid_input", code): "arguments that the schema rejects are so whatever the store has (room.md 2.2 and 2.4)"
    for tool in ("spore_update", "spore_descend", "spore_ascend")
    for code in ("spore_not_found", "spore_resolved")
}
"""Tool, our code and the peer's, and what grants the difference."""


class Script:
    """One script, made up as it goes."""

    def __init__(self, seed: int, ours: Ours, theirs: Theirs, clock: Any) -> None:
        self.chance = random.Random(seed)
        self.ours, self.theirs, self.clock = ours, theirs, clock
        self.planted = 0
        self.came: Counter[tuple[str, str]] = Counter()

    def run(self) -> None:
        """Every step on both sides, compared."""
        for _ in range(STEPS):
            self.clock.advance(self.chance.choice((1, 1, 1, DAY, 3 * DAY, 8 * DAY)))
            tool, arguments = self.step()
            we, they = self.ours.call("A", tool, arguments), self.theirs.call("A", tool, arguments)
            self.came[tool, we.code] += 1
            if we.code != they.code:
                assert (tool, we.code, they.code) in GRANTED, (tool, arguments, we, they)
            elif we.code == OK:
                self.planted += tool == "spore_add"
                self.answers(tool, we.data, they.words)
            self.compare((tool, arguments, we, they))

    def answers(self, tool: str, data: Any, words: str) -> None:
        """What both list is the same, in the same order."""
        if tool == "spore_list":
            found = [
                (one["spore_id"], one["type"], one["tier"], one["germination"], str(one["salience"])) for one in data["loops"]
            ]
            assert found == LISTED.findall(words)
        elif tool == "spore_surface":
            found = [f"({one['type']}/{one['tier']}/{one['germination']}) {one['text']}" for one in data["loops"]]
            assert words == ("\n".join(found) or "(no open spores)")

    def compare(self, told: tuple[Any, ...]) -> None:
        """Every loop is the same on both sides."""
        for number in range(1, self.planted + 1):
            we = self.ours.call("A", "spore_get", {"spore_id": f"spore-{number:03}"}).data
            they = json.loads(self.theirs.call("A", "spore_get", {"spore_id": f"spore-{number:03}"}).words)
            assert {name: we["spore_id" if name == "id" else name] for name in FIELDS} == {name: they[name] for name in FIELDS}, (
                told
            )
            assert [f"[{note['noted_on']}] {note['text']}" for note in we["notes"]] == they["notes"], told
            done = they["resolution"] or {}
            assert [(we["resolution"] or {}).get(name) for name in ("direction", "kind", "ref", "on")] == [
                done.get(name) for name in ("direction", "kind", "ref", "on")
            ], told

    def step(self) -> tuple[str, dict[str, Any]]:
        """The next call."""
        chance = self.chance
        tools = ("spore_add", "spore_update", "spore_touch", "spore_descend", "spore_ascend", "spore_list", "spore_surface")
        tool = chance.choices(tools, (7, 6, 3, 2, 2, 2, 1))[0]
        if tool == "spore_surface":
            return tool, {"top_of_mind": chance.random() < 0.5}
        if tool == "spore_list":
            return tool, self.some_of(
                {"type": self.type(), "tier": self.tier(), "germination": self.germination(), "domain": "work"}, 0.3
            )
        if tool == "spore_add":
            more = {
                "domain": self.text(),
                "tier": self.tier(),
                "salience": self.salience(),
                "next": self.day(),
                "pointer": "docs/x.md",
            }
            return tool, {"type": self.type(), "text": self.text(), **self.some_of(more, 0.4)}
        which = {"spore_id": chance.choice((f"spore-{chance.randrange(1, self.planted + 2):03}", " spore-001 ", "spore-1"))}
        if tool == "spore_update":
            more = {
                "tier": self.tier(),
                "next": chance.choice(("", self.day())),
                "text": self.text(),
                "salience": self.salience(),
                "domain": chance.choice(("", "work", self.text())),
                "pointer": chance.choice(("", "docs/y.md")),
                "add_note": chance.choice(("Seen again", "two\nlines")),
            }
            return tool, {**which, **self.some_of(more, 0.3)}
        kinds = [kind for each in KINDS.values() for of_type in each.values() for kind in of_type]
        more = {"ref": chance.choice(("docs/result.md", " ", "x"))} if tool == "spore_ascend" else {}
        return tool, which if tool == "spore_touch" else {**which, "kind": chance.choice(kinds), **more}

    def some_of(self, values: dict[str, Any], share: float) -> dict[str, Any]:
        """Some of these arguments."""
        return {name: value for name, value in values.items() if self.chance.random() < share}

    def rarely(self, usual: tuple[Any, ...], unusual: tuple[Any, ...]) -> Any:
        """One of the usual values, now and then one of the others."""
        return self.chance.choice(unusual if self.chance.random() < 0.06 else usual)

    def type(self) -> Any:
        return self.rarely(("task", "question", "thought"), ("chore", ""))

    def tier(self) -> Any:
        return self.rarely(("hot", "warm", "cold", "parked"), ("lukewarm", ""))

    def germination(self) -> Any:
        return self.rarely(("growing", "resting", "dormant", "parked"), ("gone",))

    def salience(self) -> Any:
        return self.rarely((0, 1, 2, 3), (-1, 4, 2.5, True, "2"))

    def day(self) -> Any:
        return self.rarely(DAYS, NO_DAYS)

    def text(self) -> Any:
        return self.rarely(TEXTS, BLANK)


@pytest.mark.parametrize("part", range(6))
def test_the_same_comes_of_the_same_calls(part: int, tmp_path: Path) -> None:
    for seed in range(part * SCRIPTS // 6, (part + 1) * SCRIPTS // 6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with both(folder) as (ours, theirs, clock):
            Script(seed, ours, theirs, clock).run()


PLANT = ("spore_add", {"type": "task", "text": "x"})
SINGLY: dict[str, tuple[tuple[str, dict[str, Any]], str, str]] = {
    # a project is ours alone (room.md 2.1)
    "a loop of a project that nobody has": (
        ("spore_get", {"spore_id": "spore-001", "project_key": "none"}),
        "spore_not_found",
        OK,
    ),
    # arguments are strict (room.md 2.4)
    "an argument that the tool has not": (("spore_touch", {"spore_id": "spore-001", "seen": "2020-01-01"}), "invalid_input", OK),
    "a day in other digits": (("spore_add", {**PLANT[1], "next": "\uff12026-12-05"}), "invalid_input", OK),
    "a text for a boolean": (("spore_surface", {"top_of_mind": "false"}), "invalid_input", OK),
    # a text of a loop is bounded here
    "a text of more than 100,000 characters": (("spore_add", {**PLANT[1], "text": "x" * 100_001}), "invalid_input", OK),
    "a note of blanks": (("spore_update", {"spore_id": "spore-001", "add_note": " "}), "invalid_input", OK),
}


@pytest.mark.parametrize("what", SINGLY)
def test_a_granted_difference(what: str, tmp_path: Path) -> None:
    call, we, they = SINGLY[what]
    with both(tmp_path) as (ours, theirs, _):
        assert (ours.call("A", *PLANT).code, theirs.call("A", *PLANT).code) == (OK, OK)
        assert (ours.call("A", *call).code, theirs.call("A", *call).code) == (we, they)


def test_null_is_as_if_left_out_and_only_an_empty_text_clears(tmp_path: Path) -> None:
    """The peer clears a field that is null; here a null argument is one that was not given (room.md 2.1, project_key)."""
    with both(tmp_path) as (ours, theirs, _):
        for side in (ours, theirs):
            side.call("A", "spore_add", {**PLANT[1], "pointer": "docs/x.md"})
            side.call("A", "spore_update", {"spore_id": "spore-001", "pointer": None, "tier": "hot"})
        assert ours.call("A", "spore_get", {"spore_id": "spore-001"}).data["pointer"] == "docs/x.md"
        assert json.loads(theirs.call("A", "spore_get", {"spore_id": "spore-001"}).words)["pointer"] is None
