"""The rules of graduation beside anneal-memory's: the same line by chance is judged alike by both (wraps.md e3).

Where the two differ on purpose, the difference is tested singly below, and nothing above it meets it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest

from core.memory import continuity, pattern_lines, pattern_reports
from core.memory.graduation import CitableEpisode, Graduated, PatternRecord, Standing, graduate
from tests.differential.texts import IDS, NAMES, TODAY, PatternTexts

peer = pytest.importorskip("anneal_memory.graduation", reason="the peer comes with the bench extra")

EACH = 1_500
SECTIONS = continuity.DEFAULT_SECTIONS
GROUNDED_ON = ("2026-11-30", "2026-11-24", "2026-11-23", "2026-11-22", "2026-10-01", "2026-12-01", "2026-12-02", "2099-01-01")


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and all that it is judged against."""

    text: str
    before: str
    contents: dict[str, str]
    trusts: dict[str, str]
    records: dict[str, PatternRecord]
    saved: dict[tuple[str, str], int] | None
    citations_seen: bool


def case(seed: int) -> Case:
    """A case by chance."""
    chance = random.Random(seed)
    texts = PatternTexts(chance)
    records = {
        name: PatternRecord(
            chance.randrange(1, 6), tuple(texts.words(5) for _ in range(chance.choice((1, 1, 2)))), chance.choice(GROUNDED_ON)
        )
        for name in NAMES
        if chance.random() < 0.6
    }
    saved: dict[tuple[str, str], int] | None = None
    if chance.random() < 0.85:
        saved = {("name", name): chance.randrange(1, 6) for name in NAMES if chance.random() < 0.7}
        saved |= {("text", "multi word text"): 3} if chance.random() < 0.5 else {}
    return Case(
        texts.text(),
        texts.text() if chance.random() < 0.7 else "",
        {one: texts.words(chance.choice((3, 6, 12))) for one in IDS if chance.random() < 0.6},
        {one: chance.choice(("agent", "agent", "operator", "tool", "external")) for one in IDS},
        records,
        saved,
        chance.random() < 0.7,
    )


def ours(given: Case) -> Graduated:
    """What we make of it."""
    text, before = continuity.canonical(given.text), continuity.canonical(given.before)
    known = Standing(
        wrap_date=TODAY,
        headings=continuity.heading_lines(text, SECTIONS, "graduating"),
        citable={one: CitableEpisode(content, given.trusts[one]) for one, content in given.contents.items()},
        citations_seen=given.citations_seen,
        records=given.records,
        saved=given.saved,
        in_text=levels(before),
    )
    return graduate(text, known)


def theirs(given: Case) -> Any:
    """What anneal-memory makes of it, called as its own save calls it."""
    text, before = peer.canonical_continuity_text(given.text), peer.canonical_continuity_text(given.before)
    in_text = peer.pattern_line_levels(before)
    saved = in_text if given.saved is None else given.saved
    held = {name: min(level, in_text.get((kind, name), level)) for (kind, name), level in saved.items() if kind == "name"}

    def history(name: str) -> dict[str, Any] | None:
        record = given.records.get(name)
        return record and {
            "max_level_reached": record.highest,
            "explanation_corpus": "\n".join(record.explanations),
            "last_explanation": record.explanations[-1],
            "last_seen_at": f"{record.last_grounded_on}T00:00:00Z",
        }

    return peer.validate_graduations(
        text,
        set(given.contents),
        TODAY,
        given.contents,
        given.citations_seen,
        history,
        prior_levels=held,
        prior_text=before,
        saved_levels=given.saved,
        trust_of=given.trusts.__getitem__,
    )


def levels(text: str) -> dict[pattern_lines.Key, int]:
    """Our levels of a canonical text."""
    return pattern_lines.levels_of(text.split("\n"), continuity.heading_lines(text, SECTIONS, "graduating"))


def named(text: str) -> dict[str, pattern_reports.NamedLine]:
    """Our named patterns of a canonical text."""
    return pattern_reports.named_lines(text.split("\n"), continuity.heading_lines(text, SECTIONS, "graduating"))


def with_other_numerals(text: str) -> int:
    """Lines in which a level is no number: we report each as cut, the peer those of which it is the first level."""
    return sum(bool(pattern_lines.canonical_numerals(line)[1]) for line in text.split("\n"))


@pytest.mark.parametrize("part", range(10))
def test_both_read_judge_and_write_the_same(part: int) -> None:
    for seed in range(part * EACH, (part + 1) * EACH):
        given = case(seed)
        canonical = continuity.canonical(given.text)
        assert canonical == peer.canonical_continuity_text(given.text), seed
        before = continuity.canonical(given.before)
        assert levels(before) == peer.pattern_line_levels(before), seed
        we, they = ours(given), theirs(given)
        assert we.text == they.text, seed
        assert (we.validated, we.demoted) == (they.validated, they.demoted + they.bare_demoted), seed
        assert (we.skipped_by_date, dict(we.citations)) == (they.skipped_non_today, they.citation_counts), seed
        assert sorted(we.reused) == sorted(they.gaming_suspects), seed
        assert sum(line.judgement == "carried-forward" for line in we.lines) == len(they.carried_forward), seed
        assert sum(line.judgement == "uncorroborated" for line in we.lines) == len(they.uncorroborated), seed
        assert sum(line.judgement == "cross-session-overlap" for line in we.lines) == len(they.cross_session_collisions), seed
        capped = sum(line.capped for line in we.lines)
        assert len(they.level_capped) <= capped <= len(they.level_capped) + with_other_numerals(canonical), seed
        grounded = [(line.name, line.grounding) for line in we.lines if line.grounding and line.key[0] == "name"]
        assert sorted((name, one.rule, list(one.episode_ids)) for name, one in grounded) == sorted(
            (name, rule, sorted(ids)) for name, _, rule, ids in they.pattern_grounding
        ), seed


@pytest.mark.parametrize("part", range(4))
def test_both_report_the_same_vanished_and_undeclared_patterns(part: int) -> None:
    for seed in range(part * EACH, (part + 1) * EACH):
        given = case(seed)
        before, text = continuity.canonical(given.before), continuity.canonical(given.text)
        old, new = named(before), named(text)
        gone = [(one.name, one.prior_level) for one in peer.detect_pattern_omissions(before, text)]
        assert [(one.name, one.level) for one in pattern_reports.vanished(old, new)] == gone, seed
        silent = [(one.name, one.level) for one in peer.detect_proven_without_declaration(before, text, TODAY)]
        assert [(one.name, one.level) for one in pattern_reports.undeclared(old, new, TODAY)] == silent, seed


# granted differences


def judged(line: str, heading: str = "## Patterns") -> tuple[str, str]:
    """That line as each writes it, under a heading."""
    given = Case(
        f"{heading}\n{line}", "", dict.fromkeys(IDS, "connection pool exhausted"), dict.fromkeys(IDS, "agent"), {}, {}, True
    )
    return ours(given).text.split("\n")[1], theirs(given).text.split("\n")[1]


@pytest.mark.parametrize("heading", ["## Patterns of this month", "##  Patterns", "## Our patterns"])
def test_a_heading_that_only_contains_the_phrase_begins_a_graduating_section_here(heading: str) -> None:
    """A heading matches as a phrase (wraps.md a5); the peer's structure check says so too, but its graduation wants the whole line."""
    line = f"- pool | 7x ({TODAY})"
    assert judged(line, heading) == (f"- pool | 1x ({TODAY}) (needs-evidence) (level-capped)", line)


def test_a_level_that_is_no_number_becomes_1x_even_inside_an_unfinished_evidence_tag() -> None:
    """Other numerals become 1x (wraps.md e3); the peer takes it for a part of the tag that a later bracket ends."""
    line = f"- pool | 1x ({TODAY}) [evidence: 0a1b2c3d | \u00bdx ({TODAY}) [evidence: a]"
    assert judged(line) == (f"- pool | 1x ({TODAY}) [evidence: 0a1b2c3d | 1x ({TODAY}) (level-capped)", line)


def test_a_level_that_is_no_number_loses_an_evidence_tag_of_any_length() -> None:
    """The peer looks at no more than 4,096 characters of the tag, and leaves a longer one standing."""
    long = f"| 02x ({TODAY}) [evidence: {'0a1b2c3d, ' * 500}0a1b2c3d]"
    we, they = judged(f"- pool {long}")
    assert we == f"- pool | 1x ({TODAY}) (level-capped)"
    assert they.startswith(f"- pool | 1x ({TODAY}) (level-capped) [evidence:")


def test_every_line_whose_level_is_no_number_is_reported() -> None:
    """What the level bound cuts is reported (wraps.md e3); the peer reports it only when it is the line's first level."""
    given = Case(f"## Patterns\n- pool | 1x ({TODAY}) | \u00b2x", "", {}, {}, {}, {}, False)
    assert [line.capped for line in ours(given).lines] == [True]
    assert theirs(given).level_capped == []


# what both agree on, where chance seldom leads


def test_a_bracket_in_a_quoted_explanation_ends_no_other_tag() -> None:
    line = f'- pool | \u2460x (2099-12-31) [evidence: a "one the] other |3x ({TODAY}) [evidence: 0a1b2c3d "connection pool ] [" ] end'
    we, they = judged(line)
    assert we == they and "| 1x" in we and "other |" in we
