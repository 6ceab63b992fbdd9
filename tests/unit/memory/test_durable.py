"""Durable facts, rule by rule: lines that a save puts back, drops only by a marker, and does not count (wraps.md a5 and e1)."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import Refusal
from core.memory import continuity, durable
from core.memory.durable import DurableFacts
from tests.rooms import Rooms, text
from tests.unit.memory.wrapping import Wrapping

SECTIONS = continuity.DEFAULT_SECTIONS
BEFORE = "## Durable Facts\n- The primary is db1\n- Port 5432 — cues: port, db\n  since the move\n- Deploys on Tuesday | cues: deploy\n"


def keep(body: str, before: str | None = BEFORE) -> tuple[list[str], DurableFacts]:
    """The section's lines after a save of that body."""
    written, facts = durable.keep(before, f"## Durable Facts\n{body}", SECTIONS)
    return written.split("\n")[1:], facts


def test_facts_that_the_text_leaves_out_are_put_back_in_their_order() -> None:
    lines, facts = keep("- Deploys on Tuesday\n- A new one\n")
    put_back = ["- The primary is db1", "- Port 5432 — cues: port, db", "  since the move"]
    assert lines == ["- Deploys on Tuesday", "- A new one", *put_back, ""]
    assert facts.reinserted == ("- The primary is db1", "- Port 5432 — cues: port, db\n  since the move")


def test_a_text_that_has_them_all_comes_back_as_it_was() -> None:
    same = BEFORE.replace("\n", "\r\n").replace("- The", "*   The")
    assert durable.keep(BEFORE, same, SECTIONS) == (same, DurableFacts(characters=len(same), budget=3_000))


@pytest.mark.parametrize(
    "written",
    [
        "- The  primary\tis db1",
        "* The primary is db1",
        "7. The primary is db1",
        "   - The primary is db1  ",
        "- The primary is db1 — cues: x",
    ],
)
def test_bullet_spacing_and_cues_are_no_part_of_a_fact(written: str) -> None:
    assert keep(written, "## Durable Facts\n- The primary is db1\n")[1].reinserted == ()


@pytest.mark.parametrize(
    "written", ["- The primary is db2", "- the primary is db1", "The primary is db1", "- The primary is db1 now"]
)
def test_a_fact_in_other_words_is_another_fact(written: str) -> None:
    lines, facts = keep(written, "## Durable Facts\n- The primary is db1\n")
    assert facts.reinserted == ("- The primary is db1",) and written in lines


@pytest.mark.parametrize(
    "marker",
    [
        "[drop-durable: The primary is db1]",
        "- [DROP-DURABLE:The  primary is db1 ]",
        "  3. [drop-durable: - The primary is db1]",
        "* [drop-durable: The primary is db1 | cues: any]",
    ],
)
def test_a_marker_of_the_exact_text_drops_the_fact_and_itself(marker: str) -> None:
    lines, facts = keep(f"- The primary is db1\n{marker}\n")
    assert facts.dropped == ("- The primary is db1",) and facts.unknown_drops == ()
    assert not any("primary" in line or "drop-durable" in line.lower() for line in lines)


@pytest.mark.parametrize(
    "marker",
    [
        "[drop-durable: Port 5432 — cues: port, db]",
        "[drop-durable: - Port 5432 — cues: port, db]",
        "[drop-durable: Port 5432 — cues: port, db since the move]",
    ],
)
def test_a_marker_may_name_a_fact_of_several_lines_by_its_first_one(marker: str) -> None:
    assert keep(marker)[1].dropped == ("- Port 5432 — cues: port, db\n  since the move",)


def test_a_fact_with_brackets_can_be_named() -> None:
    before = "## Durable Facts\n- Tuesday [not Monday]\n"
    assert keep("- [drop-durable: Tuesday [not Monday]]\n", before)[1].dropped == ("- Tuesday [not Monday]",)


@pytest.mark.parametrize("marker", ["[drop-durable: Port]", "[drop-durable: ]", "[drop-durable: db1]"])
def test_a_marker_that_names_no_fact_is_taken_away_and_told(marker: str) -> None:
    lines, facts = keep(marker)
    assert (len(facts.unknown_drops), facts.dropped, len(facts.reinserted)) == (1, (), 3)
    assert not any("drop-durable" in line for line in lines)


@pytest.mark.parametrize(
    "outside",
    ["## State\n[drop-durable: The primary is db1]\n", "## Archived Durable Facts\n[drop-durable: The primary is db1]\n"],
)
def test_a_marker_outside_the_section_drops_nothing(outside: str) -> None:
    written, facts = durable.keep(BEFORE, outside + BEFORE, SECTIONS)
    assert (written, facts.dropped) == (outside + BEFORE, ())


def test_an_empty_bullet_is_no_fact_and_ends_the_one_before_it() -> None:
    before = "## Durable Facts\n- The primary is db1\n  - \n"
    assert keep("- Another\n", before)[1].reinserted == ("- The primary is db1",)


def test_a_missing_section_is_written_again_before_the_next_one_of_the_schema() -> None:
    written, facts = durable.keep("## Durable Facts\n- db1\n", "## State\ns\n## Decisions\nd\n", SECTIONS)
    assert written == "## State\ns\n## Durable Facts\n- db1\n\n## Decisions\nd\n" and facts.recreated


def test_a_missing_section_is_written_at_the_end_when_nothing_follows() -> None:
    assert (
        durable.keep("## Durable Facts\n- db1\n", "## State\ns\n\n", SECTIONS)[0] == "## State\ns\n\n## Durable Facts\n- db1\n\n"
    )


def test_several_sections_become_one() -> None:
    text = "## Durable Facts\n- one\n## State\ns\n## durable facts\n- two\n"
    assert durable.keep(None, text, SECTIONS)[0] == "## Durable Facts\n- one\n- two\n\n## State\ns"


def test_a_schema_without_the_section_leaves_the_text_alone() -> None:
    assert durable.keep(BEFORE, "## Plan\n", continuity.SCHEMAS["project"]) == ("## Plan\n", DurableFacts())


# through a save


def saved(wrapping: Wrapping, body: str) -> Any:
    """A save whose text has that section."""
    wrapping.record()
    opened = wrapping.agent.do("prepare_wrap", project_key="demo")
    whole = f"{text()}## Durable Facts\n{body}"
    return wrapping.agent.do("save_continuity", project_key="demo", text=whole, wrap_token=opened.wrap_token)


def test_a_save_puts_back_and_says_so(rooms: Rooms) -> None:
    wrapping = Wrapping(rooms)
    saved(wrapping, "- The primary is db1\n")
    assert saved(wrapping, "- Another\n").durable.reinserted == ("- The primary is db1",)
    assert "- The primary is db1" in wrapping.saved_text()
    assert wrapping.save().durable.recreated and "- Another" in wrapping.saved_text()


def test_the_section_counts_neither_heading_nor_facts_against_the_hard_maximum_and_has_a_budget(rooms: Rooms) -> None:
    wrapping = Wrapping(rooms)
    room_left = continuity.hard_maximum(SECTIONS) - len(text(State=""))
    facts = "".join(f"- fact {number} {'x' * 80}\n" for number in range(50))
    wrapping.record()
    opened = wrapping.agent.do("prepare_wrap", project_key="demo")
    for more in (1, 0):
        whole = f"{text(State='x' * (room_left + more))}## Durable Facts\n{facts}"
        save = {"project_key": "demo", "text": whole, "wrap_token": opened.wrap_token}
        if more:
            with pytest.raises(Refusal, match="1 fewer") as refused:
                wrapping.agent.do("save_continuity", **save)
            assert (refused.value.code, refused.value.facts["over_by"]) == ("continuity_too_big", 1)
        else:
            done = wrapping.agent.do("save_continuity", **save)
    assert (done.durable.characters, done.durable.budget) == (len("## Durable Facts\n") + len(facts), 3_000)
