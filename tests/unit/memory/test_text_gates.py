"""What a text must pass before its patterns are judged, rule by rule: sections, state lines, shrinking, size (wraps.md a5 and e1)."""

from __future__ import annotations

import json

import pytest

from core.errors import Refusal
from core.memory import continuity, text_gates
from core.memory.continuity import Section
from tests.rooms import Rooms, refused, text, trail

DEFAULT = continuity.DEFAULT_SECTIONS
PROJECT = continuity.SCHEMAS["project"]
PARTNERSHIP = continuity.SCHEMAS["partnership"]


def state(*lines: str) -> str:
    """A text of the project schema with those lines of state."""
    return "## State\n" + "\n".join(lines) + "\n## Plan\nprose without an annotation\n"


# sections


@pytest.mark.parametrize(
    ("heading", "is_one"),
    [
        ("## State", True),
        ("## state of mind", True),
        ("##  STATE", True),
        ("## The (State)", True),
        ("## State\r", True),
        ("## Interstate", False),
        ("## States", False),
        ("## State_2", False),
        ("### State", False),
        (" ## State", False),
        ("##State", False),
    ],
)
def test_a_heading_matches_as_a_phrase_of_whole_words_in_any_case(heading: str, is_one: bool) -> None:
    given = text(State="").replace("## State", heading)
    if is_one:
        assert "State" in continuity.split_sections(given, DEFAULT)
    else:
        with pytest.raises(Refusal, match="lacks the section State") as lacking:
            continuity.split_sections(given, DEFAULT)
        assert (lacking.value.code, lacking.value.facts["missing"]) == ("continuity_structure", ["State"])


def test_a_heading_may_end_in_signs() -> None:
    sections = (Section("C++", "narrative"),)
    assert continuity.split_sections("## About C++ code\n", sections)
    with pytest.raises(Refusal):
        continuity.split_sections("## C+++1\n", (Section("C", "narrative"), Section("C++", "narrative")))


def test_a_line_that_matches_two_required_sections_is_refused() -> None:
    with pytest.raises(Refusal, match="two required sections: Decisions and Context") as ambiguous:
        continuity.split_sections("## State\n## Patterns\n## Decisions and Context\n", DEFAULT)
    assert ambiguous.value.code == "continuity_structure"


def test_an_optional_section_is_one_only_under_exactly_its_heading() -> None:
    given = text() + "## Decisions (durable facts)\n- x\n"
    assert "Durable Facts" not in continuity.split_sections(given, DEFAULT)
    assert continuity.split_sections(text() + "## durable facts \n- x\n", DEFAULT)["Durable Facts"] == "\n- x\n"


def test_the_order_of_sections_and_other_headings_do_not_matter() -> None:
    given = "## Context\nc\n## Own notes\nn\n## Decisions\nd\n## State\ns\n## Patterns\np\n## Context again\nmore\n"
    assert continuity.split_sections(given, DEFAULT)["Context"] == "\nc\n\nmore\n"


# state lines


@pytest.mark.parametrize(
    "line",
    [
        "- The queue holds [judged: operator, today, against the dashboard]",
        "- 3 tests fail [derive: grep -c FAIL log.txt => 3]",
        "- The queue holds [derive@main: test -f queue.md]",
        "### Sub [judged: only a heading]",
        "- a [link] and [judged: b [c]]",
        "- trailing blanks [judged: operator] \t",
        "",
        "   ",
    ],
)
def test_a_state_line_says_how_it_is_known(line: str) -> None:
    text_gates.refuse_unannotated_state(state(line), PROJECT)


@pytest.mark.parametrize(
    "line",
    [
        "- The queue holds",
        "- The queue holds [judged: operator] today",
        "- The queue holds [judged: ]",
        "- The queue holds [derive:]",
        "- [judged: a] and [judged: b]",
        "- [derive: grep '[judged:' a.md => 1]",
        "- [judged: a] [ JUDGED : b]",
        "- hidden [jud\u200eged: a] [judged: b]",
        "- [derive@Main: test -f a.md]",
        "- [derive@: test -f a.md]",
        "- (judged: operator)",
        "### Sub",
    ],
)
def test_a_state_line_without_its_one_annotation_is_refused_by_its_number(line: str) -> None:
    with pytest.raises(Refusal, match="line 3 of the text has not") as refusal:
        text_gates.refuse_unannotated_state(state("- fine [judged: x]", line), PROJECT)
    assert (refusal.value.code, refusal.value.facts) == ("continuity_structure", {"unannotated_lines": [3]})


def test_a_schema_without_derived_state_wants_no_annotations() -> None:
    text_gates.refuse_unannotated_state(text(State="- The queue holds"), DEFAULT)


# shrinking


def partnership(timeless: int, patterns: int = 0, rest: int = 2_000) -> str:
    """A text of the partnership schema whose parts have so many characters, headings and line breaks included."""
    filled = {"Understanding": timeless, "Patterns": patterns, "Context": rest}
    return "".join(
        f"## {one.heading}\n{'x' * max(0, filled.get(one.heading, 0) - len(one.heading) - 5)}\n"
        for one in PARTNERSHIP
        if not one.optional
    )[:-1]


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ((1_000,), (500,), True),
        ((1_000,), (499,), False),
        ((499,), (0,), True),
        ((500,), (249,), False),
        ((0, 1_000), (0, 500), True),
        ((0, 1_000), (0, 499), False),
        ((0, 0, 4_000), (0, 0, 2_000), True),
        ((0, 0, 4_000), (0, 0, 500), False),
    ],
)
def test_timeless_and_graduating_layers_keep_half_and_the_rest_a_quarter(
    before: tuple[int, ...], after: tuple[int, ...], kept: bool
) -> None:
    assert (text_gates.shrunk_parts(partnership(*before), partnership(*after), PARTNERSHIP) == []) == kept


def test_a_first_text_has_nothing_to_shrink_from() -> None:
    assert text_gates.shrunk_parts(None, partnership(0), PARTNERSHIP) == []


def test_headings_that_split_a_layer_are_counted_together() -> None:
    sections = (*PARTNERSHIP, Section("Lessons", "graduating"))
    before = partnership(0, 600) + "\n## Lessons\n" + "x" * 588
    assert text_gates.shrunk_parts(before, partnership(0, 588) + "\n## Lessons\n", sections) == []
    (one,) = text_gates.shrunk_parts(before, partnership(0, 580) + "\n## Lessons\n", sections)
    assert (one.part, one.before, one.after, one.floor) == ("Patterns and Lessons", 1_200, 592, 600)


def test_other_schemas_may_shrink() -> None:
    assert text_gates.shrunk_parts(text(State="x" * 9_000), text(), DEFAULT) == []


# through a save, in the order of e1


def test_structure_comes_before_state_before_shrinking_before_size_and_the_wrap_stays_open(rooms: Rooms) -> None:
    operator, agent = rooms.operator(), rooms.agent()
    agent.do("record", project_key="demo", content="something", episode_type="observation")
    schema = [
        {"heading": "State", "role": "derived-state"},
        {"heading": "Lessons", "role": "graduating"},
        {"heading": "Understanding", "role": "narrative-timeless"},
    ]
    operator.do("set_section_schema", project_key="demo", schema=schema)
    good = "## State\n- a [judged: x]\n## Lessons\n" + "l" * 2_000 + "\n## Understanding\n" + "u" * 2_000 + "\n"
    opened = agent.do("prepare_wrap", project_key="demo")
    agent.do("save_continuity", project_key="demo", text=good, wrap_token=opened.wrap_token)
    agent.do("record", project_key="demo", content="something else", episode_type="observation")
    opened = agent.do("prepare_wrap", project_key="demo")
    huge = "## State\n- a [judged: x]\n## Lessons\n" + "l" * 99_000 + "\n## Understanding\n"
    bare = huge.replace(" [judged: x]", "")
    for given, code in (
        (" \n", "invalid_input"),
        (bare.replace("## Lessons", "## Less"), "continuity_structure"),
        (bare, "continuity_structure"),
        (huge, "continuity_shrink"),
        (huge + "u" * 2_000, "continuity_too_big"),
    ):
        refusal = refused(agent, "save_continuity", project_key="demo", text=given, wrap_token=opened.wrap_token)
        assert refusal.code == code and "still open" in refusal.sentence
    refusal = refused(agent, "save_continuity", project_key="demo", text=huge, wrap_token=opened.wrap_token, allow_shrink=True)
    assert refusal.code == "continuity_too_big"
    small = "## State\n- a [judged: x]\n## Lessons\nl\n## Understanding\nu\n"
    agent.do("save_continuity", project_key="demo", text=small, wrap_token=opened.wrap_token, allow_shrink=True)
    assert ("continuity_saved", f"wrap:{opened.wrap_id}") in trail(agent)
    with agent.snapshot() as view:
        data = view.one("select data from audit where event = 'continuity_saved' order by seq desc limit 1")["data"]
    assert json.loads(data)["allow_shrink"]["requested"] is True
    assert {"Lessons", "Understanding"} <= set(json.loads(data)["allow_shrink"]["mattered"])
