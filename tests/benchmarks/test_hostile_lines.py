"""Lines made to be slow: reading a text of twice the length takes about twice the time, whatever is in it (wraps.md e).

The quickest round of each length is compared: nothing but the machine makes one slower.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from core.memory import continuity, durable, pattern_lines, pattern_reports, text_gates
from core.memory.graduation import CitableEpisode, PatternRecord, Standing, graduate
from core.texts import normalized
from tests.benchmarks.figures import Figures, Goal, Side, in_turns, ms

CHARACTERS = 100_000
TODAY = "2026-11-30"
CLAIM = f"- pool | 2x ({TODAY}) "
CITED = f'{CLAIM}[evidence: 0a1b2c3d "connection pool"] '
SECTIONS = continuity.SCHEMAS["partnership"]
SHAPES = {
    "spaces": (CLAIM, " ", "x"),
    "tabs before a bar": ("- pool", "\t", "|"),
    "dashes": ("", "-", ""),
    "digits": ("- pool | ", "1", "x"),
    "digits of another script": ("- pool | ", "\u0663", "x"),
    "superscripts": ("- pool | ", "\u00b2x | ", ""),
    "bars": ("- pool ", "|", ""),
    "levels": ("- pool ", "| 2x ", ""),
    "dated levels": ("- pool ", f"| 2x ({TODAY}) ", ""),
    "half a date": ("- pool ", "| 2x (2026-11-30 ", ""),
    "nested brackets": (CLAIM, "[", ""),
    "brackets in brackets": (CLAIM, "[[a]] ", ""),
    "unfinished tags": (CLAIM, "[evidence: 0a1b2c3d ", ""),
    "unfinished quotes": (CLAIM, '[evidence: 0a1b2c3d "', ""),
    "quotes": (CLAIM, '" ', ""),
    "tags": (CITED, '[evidence: a "]" ', ""),
    "levels that are no numbers, with tags": ("- pool ", '| 02x [evidence: a "] ', ""),
    "10,000 citations": (f"{CLAIM}[evidence: ", "0a1b2c3d, ", "a]"),
    "a citation and spaces": (f"{CLAIM}[evidence: 0a1b2c3d", " ", '"x"]'),
    "a long explanation": (f'{CLAIM}[evidence: 0a1b2c3d "', "connection pool ", '"]'),
    "states": (f"{CLAIM}(ungrounded)", " (needs-evidence)", "x"),
    "stances": (CITED, "[contradicts: a ", ""),
    "annotations": ("", "[derive: a => b] [judged:", ""),
    "short lines": ("", "\n", ""),
    "pattern lines": ("", f"{CLAIM}\n", ""),
    "headings": ("", "\n## Statement", ""),
    "line breaks of other kinds": ("", "- a | 2x\u2028\x85\x0b\x0c\r", ""),
    "durable facts": ("\n## Durable Facts\n", "- a\n  b — cues: c\n", ""),
    "drop markers": ("\n## Durable Facts\n", "- [drop-durable: [", ""),
    "marks in disorder": (CLAIM, "\u0301\u0323", ""),
    "combining marks": (CLAIM, "e\u0301\u200d", ""),
}


def text_of(shape: str, characters: int) -> str:
    """A whole text with that much of a shape among its patterns."""
    start, unit, end = SHAPES[shape]
    line = start + unit * (characters // len(unit)) + end
    return f"## State\ns\n## Patterns\n{line}\n## Decisions\nd\n## Context\nc\n## Active Threads\na\n## Understanding\nu\n"


@pytest.mark.parametrize("marks", ["\u0301\u0323", "\uff9e\u0301", "\u0344\u0323"])
def test_normalising_grows_with_the_length_alone(benchmark: Any, figures: Figures, marks: str) -> None:
    sides = [Side(partial(normalized, "a" + marks * count, "NFKC")) for count in (4 * CHARACTERS, CHARACTERS)]
    longer, once = map(min, in_turns(benchmark, *sides, rounds=9))
    # four times the length is out of the processor's nearer caches, so a little more than four times; sorted at once, sixteen times
    name = f"marks {marks.encode('unicode_escape').decode()}, 800 KB against 200 KB"
    figures.add("hostile", name, longer / once, Goal(at_most=8), f"{ms(longer)} against {ms(once)}")


def read(text: str) -> None:
    """All that a save does with a text, the store left out."""
    whole, _ = durable.keep("## Durable Facts\n- a\n", continuity.canonical(text), SECTIONS)
    continuity.split_sections(whole, SECTIONS)
    text_gates.shrunk_parts(whole, whole, SECTIONS)
    for line in whole.split("\n"):
        text_gates._annotated(line)
    headings = continuity.heading_lines(whole, SECTIONS, "graduating")
    lines = whole.split("\n")
    standing = Standing(
        wrap_date=TODAY,
        headings=headings,
        citable={one: CitableEpisode("connection pool", "agent") for one in pattern_lines.cited_anywhere(whole)},
        citations_seen=True,
        records={"pool": PatternRecord(2, ("connection pool exhausted",), TODAY)},
        saved={("name", "pool"): 2},
        in_text=pattern_lines.levels_of(lines, headings),
    )
    written = graduate(whole, standing).text.split("\n")
    named = pattern_reports.named_lines(written, headings)
    pattern_reports.undeclared({}, named, TODAY)
    for one in named.values():
        pattern_reports.summary(one.line)


@pytest.mark.parametrize("shape", SHAPES)
def test_reading_grows_with_the_length_alone(benchmark: Any, figures: Figures, shape: str) -> None:
    sides = [Side(partial(read, text_of(shape, count))) for count in (2 * CHARACTERS, CHARACTERS)]
    twice, once = map(min, in_turns(benchmark, *sides, rounds=9))
    # a quadratic path would take four times as long
    goal = Goal(at_most=2.7)
    figures.add("hostile", f"{shape}, 200 KB against 100 KB", twice / once, goal, f"{ms(twice)} against {ms(once)}")
