"""Pattern lines, rule by rule: what a line is known by, which levels it has, and what becomes of lines made to confuse (wraps.md e3)."""

from __future__ import annotations

import pytest

from core.memory import continuity, pattern_lines
from core.memory.graduation import CitableEpisode, Graduated, PatternRecord, Standing, graduate
from core.memory.pattern_lines import Key
from tests.rooms import Rooms, refused, text
from tests.unit.memory.wrapping import Wrapping

TODAY = "2026-11-30"
EPISODE = "0a1b2c3d"
HEADINGS = frozenset({"## Patterns"})


def judged(line: str, *, known: int = 1, seen: bool = True) -> Graduated:
    """That line in Patterns, of a store that has `pool` at that level and may be cited its one episode."""
    canonical = continuity.canonical(f"## Patterns\n{line}")
    standing = Standing(
        wrap_date=TODAY,
        headings=HEADINGS,
        citable={EPISODE: CitableEpisode("the connection pool is exhausted", "agent")},
        citations_seen=seen,
        records={},
        saved={("name", "pool"): known},
        in_text={},
    )
    return graduate(canonical, standing)


def written(line: str, **more: int) -> str:
    """It as it is saved."""
    return judged(line, **more).text.removeprefix("## Patterns\n")


def key_of(line: str) -> Key | None:
    """What a canonical line is known by."""
    found = pattern_lines.levels_in(line)
    return found[0] if found else None


# what a line is known by


@pytest.mark.parametrize(
    "mark", ["- ", "-   ", "  - ", "\t- ", "  ", "\t", "! ", "!! ", "? ", "✓ ", "* ", "- !! ", "- ✓ ", "  !!! "]
)
def test_a_name_follows_a_bullet_an_indentation_or_a_mark(mark: str) -> None:
    assert key_of(f"{mark}pool.main-2_x | 2x") == ("name", "pool.main-2_x")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("pool | 2x", ("text", "pool")),
        ("-pool | 2x", ("text", "-pool")),
        ("1. pool | 2x", ("text", "1. pool")),
        ("- two  Words | 2x", ("text", "two words")),
        ("- 9lives | 2x", ("text", "9lives")),
        ("- élan | 2x", ("text", "élan")),
        ("- | 9x", ("anon", "")),
        ("| 9x", ("anon", "")),
        ("- pool | two", None),
        ("- pool: 2x", None),
        ("- pool |2 x", None),
    ],
)
def test_any_other_line_with_a_level_is_known_by_its_words_if_it_has_any(line: str, key: Key | None) -> None:
    assert key_of(line) == key


def test_a_name_counts_once_at_its_highest_level_on_any_line() -> None:
    lines = ["## Patterns", "- pool | 2x", "- pool | 4x (2020-01-01) | 3x", "- two words | 7x", "## State", "- pool | 9x"]
    assert pattern_lines.levels_of(lines, HEADINGS) == {("name", "pool"): 4, ("text", "two words"): 7}


# the form of a claim


@pytest.mark.parametrize(
    "evidence",
    [
        f"[evidence: {EPISODE}]",
        f'[evidence:{EPISODE} "the pool is exhausted"]',
        f'[evidence: {EPISODE.upper()}, ffffffff "connection pool"]',
        f'[evidence: ffffffff  {EPISODE},  "connection pool" ]',
        f'[evidence: {EPISODE}abcd "connection pool"]',
    ],
)
def test_a_claim_rises_by_evidence_in_any_spacing_and_case(evidence: str) -> None:
    for marker in (f"| 2x ({TODAY}) ", f"|2x({TODAY})", f"|\t2x  ({TODAY})\t"):
        line = f"- pool {marker}{evidence}"
        assert (judged(line).validated, written(line)) == (1, line)


@pytest.mark.parametrize(
    "evidence",
    [
        f'[evidence: "connection pool" {EPISODE}]',
        f"[evidence: {EPISODE} connection pool]",
        f'[evidence: {EPISODE}"connection pool"]',
        f'[evidence: {EPISODE} "connection pool]',
        f"[evidence {EPISODE}]",
        f"(evidence: {EPISODE})",
        "[evidence:]",
        "[evidence: none]",
        f"[Evidence: {EPISODE}]",
    ],
)
def test_evidence_of_another_form_raises_nothing(evidence: str) -> None:
    found = judged(f"- pool | 2x ({TODAY}) {evidence}")
    assert (found.validated, found.lines[0].level) == (0, 1)


@pytest.mark.parametrize("date", ["2026-11-3", "2026-11-300", "26-11-30", "30.11.2026", "today", ""])
def test_a_claim_without_its_date_raises_nothing(date: str) -> None:
    found = judged(f"- pool | 2x ({date}) [evidence: {EPISODE}]")
    assert (found.validated, found.lines[0].level) == (0, 1)


def test_evidence_raises_only_the_claim_that_it_follows() -> None:
    found = judged(f"- pool | 2x, like other | 2x ({TODAY}) [evidence: {EPISODE}]")
    assert (found.validated, [token.level for token in pattern_lines.levels_in(found.text.split("\n")[1])[1]]) == (0, [1, 1])


def test_a_demoted_claim_loses_all_its_tags_and_the_next_level_keeps_its_own() -> None:
    line = f'- pool | 3x ({TODAY}) [evidence: ffffffff "a ] b"] [evidence: zz] then | 1x (2020-01-01) [evidence: {EPISODE}]'
    assert written(line, known=3) == f"- pool | 2x ({TODAY}) (ungrounded) then | 1x (2020-01-01) [evidence: {EPISODE}]"


def test_a_mark_of_an_earlier_cut_goes_when_the_line_is_within_its_bound() -> None:
    assert written(f"- pool | 1x ({TODAY}) (level-capped)") == f"- pool | 1x ({TODAY})"
    assert written("- pool | 9x (2020-01-01) (level-capped)") == "- pool | 1x (2020-01-01) (level-capped)"


def test_a_line_twice_as_good_is_one_earning() -> None:
    standing = f"- pool | 2x ({TODAY}) [evidence: {EPISODE}]"
    assert judged(f"{standing}\n{standing}").validated == 2
    assert judged(f"{standing}\n{standing.replace('2x', '3x')}").text.count("| 2x") == 2


# other scripts and line breaks


@pytest.mark.parametrize("digits", ["\u0662", "\uff12", "\u0968", "\U0001d7d0", "\u17e2"])
def test_digits_of_other_scripts_are_written_as_0_to_9(digits: str) -> None:
    assert written(f"- pool | {digits}x (2020-01-01)", known=2) == "- pool | 2x (2020-01-01)"
    assert written("- pool | 2x (\uff12020-01-01) prose \u0662x", known=2) == "- pool | 2x (2020-01-01) prose \u0662x"


@pytest.mark.parametrize(
    "numeral", ["\u00b2", "\u2461", "\u00bd", "\u2167", "\u4e8c", "\u0968\u00b2", "000", "1234567890", "9" * 5_000]
)
def test_numerals_that_are_no_level_become_1x_and_lose_their_evidence(numeral: str) -> None:
    for evidence in ("", f" [evidence: {EPISODE}]", ' [evidence: a "] |', f'[evidence: {EPISODE} "] ["]'):
        line = written(f"- pool | {numeral}x ({TODAY}){evidence}", known=5)
        kept = evidence if evidence.endswith("|") else ""
        assert line == f"- pool | 1x ({TODAY}) (level-capped){kept}"


@pytest.mark.parametrize("token", ["two", "-2", "1_0", "2.5", "+2", "x"])
def test_what_is_no_numeral_is_no_level(token: str) -> None:
    line = f"- pool | {token}x ({TODAY})"
    assert (written(line), judged(line).lines) == (line, ())


@pytest.mark.parametrize("line_break", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r", "\n"])
def test_every_line_break_ends_a_line(line_break: str) -> None:
    given = f"- pool | 2x ({TODAY}){line_break}[evidence: {EPISODE}]"
    found = judged(given)
    assert (found.validated, len(found.text.split("\n"))) == (0, 3)
    assert judged(f"prose{line_break}- pool | 7x (2020-01-01)").text.endswith("\n- pool | 1x (2020-01-01) (level-capped)")


def test_a_heading_hides_behind_no_line_break() -> None:
    hidden = continuity.canonical("## State\ns\u2028## Patterns\x0b- pool | 9x")
    assert continuity.heading_lines(hidden, continuity.DEFAULT_SECTIONS, "graduating") == {"## Patterns"}


def test_crlf_is_kept_and_marks_come_before_it() -> None:
    assert written("- pool | 9x (2020-01-01)\r\n- cache | 1x\r") == "- pool | 1x (2020-01-01) (level-capped)\r\n- cache | 1x\n"


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\u3000", "\u202f", "\x1f"])
def test_every_space_is_one(space: str) -> None:
    line = f"-{space}pool{space}|{space}2x{space}({TODAY}){space}[evidence:{space}{EPISODE}]"
    assert (judged(line).validated, written(line)) == (1, line.replace(space, " "))


def test_what_is_quoted_is_left_as_it_was_written() -> None:
    line = f'- pool | 2x ({TODAY}) [evidence: {EPISODE} "connection pool | \u0669x | 02x | 9x (2020-01-01)"]'
    assert (judged(line).validated, written(line)) == (1, line)


# lines made to be slow or to break


@pytest.mark.parametrize(
    ("start", "unit", "end", "level"),
    [
        ("- pool | 2x", " ", f"({TODAY}) [evidence: {EPISODE}]", 2),
        (f"- pool | 2x ({TODAY}) [evidence: {EPISODE}, ", "ffffffff, ", f'{EPISODE} "connection pool"]', 2),
        (f"- pool | 2x ({TODAY}) [evidence: ", f"{EPISODE}, ", "a]", 2),
        (f"- pool | 2x ({TODAY}) [evidence: {EPISODE}", " ", '"connection pool"]', 2),
        (f'- pool | 2x ({TODAY}) [evidence: {EPISODE} "connection pool ', "is ", '"]', 2),
        (f"- pool | 2x ({TODAY}) [evidence: {EPISODE}] ", "[", "", 2),
        (f"- pool | 2x ({TODAY}) [evidence: {EPISODE}] ", "]", "", 2),
        (f"- pool | 2x ({TODAY}) [evidence: {EPISODE}] ", "-", "", 2),
        (f"- pool | 2x ({TODAY}) [evidence: {EPISODE}] ", '"', "", 2),
        (f"- pool | 2x ({TODAY}) ", "[evidence: ", "", 1),
        (f"- pool | 2x ({TODAY}) ", f'[evidence: {EPISODE} "', "", 1),
        ("- pool ", "| 2x ", "", 1),
        ("- pool ", "| ", f"2x ({TODAY})", 1),
        ("- pool | ", "1" * 10, f"x ({TODAY})", 1),
        ("- ", "[[a]] ", "| 3x", 1),
    ],
)
def test_a_line_of_100_kb_is_judged_as_a_short_one(start: str, unit: str, end: str, level: int) -> None:
    short, long = (judged(f"{start}{unit * count}{end}") for count in (3, 100_000 // len(unit)))
    for found in (short, long):
        assert [line.level for line in found.lines] == [level]
    assert (short.validated, short.demoted, short.lines[0].judgement) == (long.validated, long.demoted, long.lines[0].judgement)


def test_a_report_names_no_more_of_a_line_than_it_needs() -> None:
    (line,) = judged("- " + "word " * 20_000 + "| 3x").lines
    assert len(line.name) == 121


# through a save


@pytest.fixture
def wrapping(rooms: Rooms) -> Wrapping:
    return Wrapping(rooms)


def test_10_000_citations_of_one_episode_are_one(wrapping: Wrapping) -> None:
    wrapping.save("- pool | 1x ({today})")
    episode = wrapping.record()
    saved = wrapping.save(f"- pool | 2x ({{today}}) [evidence: {f'{episode}, ' * 1_500}{episode}]")
    assert (wrapping.level("pool"), saved.cited_often, len(saved.patterns[0].cited)) == (2, (), 1)
    ids = ", ".join(f"{number:08x}" for number in range(16**7, 16**7 + 10_000))
    episode = wrapping.record("another thing")
    saved = wrapping.save(f"- pool | 3x ({{today}}) [evidence: {ids}]")
    assert (saved.patterns[0].judgement, wrapping.level("pool"), len(saved.patterns[0].cited)) == ("ungrounded", 2, 20)


@pytest.mark.parametrize(
    "line", ["- po\0ol | 1x", "- pool | 1x\0", '- pool | 2x (2026-11-30) [evidence: a "\0"]', "\ud800", "- pool | 1x \udfff"]
)
def test_a_text_that_cannot_be_stored_is_refused_and_the_wrap_stays_open(wrapping: Wrapping, line: str) -> None:
    wrapping.record()
    opened = wrapping.agent.do("prepare_wrap", project_key="demo")
    save = {"project_key": "demo", "wrap_token": opened.wrap_token}
    assert refused(wrapping.agent, "save_continuity", text=text(Patterns=line), **save).code == "invalid_input"
    assert wrapping.agent.do("save_continuity", text=text(Patterns="- pool | 1x"), **save).outcome == "saved"


def test_names_that_differ_in_case_or_form_are_different_patterns(wrapping: Wrapping) -> None:
    wrapping.save("- pool | 1x", "- Pool | 1x", "- POOL-2 | 1x")
    with wrapping.agent.snapshot() as view:
        assert {row["name"] for row in view.all("select name from patterns")} == {"pool", "Pool", "POOL-2"}


def test_a_line_without_a_name_is_forgotten_with_its_text_and_a_name_is_not(wrapping: Wrapping) -> None:
    for _ in range(2):
        wrapping.save("- two words | 1x", "- pool | 1x")
    wrapping.save("none")
    with wrapping.agent.snapshot() as view:
        assert [tuple(row) for row in view.all("select kind, name, in_text from patterns")] == [("name", "pool", 0)]


def test_a_record_of_the_highest_level_is_kept_through_a_fall() -> None:
    record = PatternRecord(3, ("connection pool exhausted",), TODAY)
    standing = Standing(TODAY, HEADINGS, {}, True, {"pool": record}, {("name", "pool"): 2}, {})
    found = graduate(f"## Patterns\n- pool | 3x ({TODAY})", standing)
    assert (found.lines[0].judgement, found.lines[0].level) == ("carried-forward", 2)
