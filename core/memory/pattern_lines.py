"""The grammar of pattern lines (wraps.md e3): `name | Nx (YYYY-MM-DD) [evidence: id, id "explanation"]`.

Every expression here runs in time that grows with the line's length alone: quantifiers are possessive, and what they
would have to try again is looked up. A quoted explanation is never searched for markers: it is masked first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["name", "text", "anon"]
Key = tuple[Kind, str]
"""What a line is known by: its name, or its text before the level when it has no name; `anon` when it has neither."""

LEVEL_LIMIT = 999_999_999
_LEVEL = "[1-9][0-9]{0,8}"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_EVIDENCE = r'\[evidence:\s*+(?P<ids>[a-fA-F0-9][a-fA-F0-9, ]*+)\s*+(?:(?<=\s)"(?P<explanation>[^"]*+)"\s*+)?\]'
_PREFIX = r"(?:[ \t]*+-[ \t]++|[ \t]++|(?=(?:!++|\?|✓|\*)[ \t]))(?:(?:!++|\?|✓|\*)[ \t]++)?"
_EVIDENCE_TAG = re.compile(_EVIDENCE)
_CITED = re.compile(rf"\|\s*+(?!1x)(?P<level>{_LEVEL})x\s*+\((?P<date>{_DATE})\)\s*+{_EVIDENCE}")
_BARE = re.compile(rf"\|\s*+(?!1x)(?P<level>{_LEVEL})x\s*+\((?P<date>{_DATE})\)(?![ \t]*+\[evidence:)[ \t]*+")
_DATED = re.compile(rf"\|\s*+(?P<level>{_LEVEL})x\s*+\((?P<date>{_DATE})\)")
_TOKEN = re.compile(r"\|\s*+(?P<level>\d++)x(?:\s*+\(\d{4}-\d{2}-\d{2}\))?")
_NUMERAL = re.compile(rf"(?P<bar>\|\s*+)(?P<numeral>[^\s|()\[\]]+?)x\b(?P<date>(?:\s*+\({_DATE}\))?)")
_FOREIGN_DIGITS = re.compile(r"\|[ \t]*+\d++x(?:[ \t]*+\(\d{4}-\d{2}-\d{2}\))?")
_NAMED = re.compile(rf"{_PREFIX}(?P<name>[A-Za-z][A-Za-z0-9_.\-]*+)[ \t]*+\|[ \t]*+(?P<level>{_LEVEL})x")
_NAMED_CITED = re.compile(
    rf"{_PREFIX}(?P<name>[A-Za-z][A-Za-z0-9_.\-]*+)[ \t]*+\|[ \t]*+(?P<level>{_LEVEL})x[ \t]*+\((?P<date>{_DATE})\)[ \t]*+{_EVIDENCE}"
)
_UNNAMED_PREFIX = re.compile(r"[ \t]*+(?:-[ \t]++)?(?:(?:!++|\?|✓|\*)[ \t]++)?")
_ID_BREAKS = re.compile(r"[,\s]+")
_EVIDENCE_FOLLOWS = re.compile(r"\s*+\[evidence:")
TAG_START = "[evidence:"


@dataclass(frozen=True, slots=True)
class Claim:
    """A marker of 2x or more with its date, as it stands in a line: what graduation judges.

    `start` and `end` bound the marker, its evidence included; `level_at` and `date_at` bound its parts. `cited` are the
    ids as they are compared, lower-case and 8 characters at most; None for a bare marker.
    """

    start: int
    end: int
    level: int
    level_at: tuple[int, int]
    date: str
    date_at: tuple[int, int]
    cited: frozenset[str] | None
    explanation: str | None
    evidence_at: int


@dataclass(frozen=True, slots=True)
class Token:
    """Any level in a line, dated or not, with where its digits stand."""

    start: int
    end: int
    level: int
    level_at: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Named:
    """A line that begins with a pattern's name: its level and, when evidence follows the marker at once, that."""

    name: str
    level: int
    level_at: tuple[int, int]
    date: str | None = None
    cited: frozenset[str] = frozenset()
    explanation: str | None = None


def masked(line: str) -> str:
    """The line with every quoted explanation blanked out, length and places kept."""
    if TAG_START not in line:
        return line
    parts, last = [], 0
    for match in _EVIDENCE_TAG.finditer(line):
        start, end = match.span("explanation")
        if start >= 0:
            parts += [line[last:start], "_" * (end - start)]
            last = end
    return "".join([*parts, line[last:]])


def ascii_digits(text: str) -> str:
    """The text with other scripts' digits in level markers written as 0 to 9 (wraps.md a5)."""
    if text.isascii():
        return text
    return "\n".join(line if line.isascii() else _ascii_line(line) for line in text.split("\n"))


def _ascii_line(line: str) -> str:
    parts, last = [], 0
    for match in _FOREIGN_DIGITS.finditer(masked(line)):
        marker = "".join(str(unicodedata.digit(character)) if character.isdecimal() else character for character in match.group())
        parts += [line[last : match.start()], marker]
        last = match.end()
    return "".join([*parts, line[last:]])


def graduating_lines(lines: list[str], headings: frozenset[str]) -> Iterator[int]:
    """The places of the lines that may have a level, under a heading line that is one of `headings`, given as whole lines."""
    inside = False
    for place, line in enumerate(lines):
        if line.startswith("## "):
            inside = line in headings
        elif inside and "|" in line:
            yield place


def canonical_numerals(line: str) -> tuple[str, list[int]]:
    """The line with every level that is no number of 1 to 999,999,999 made 1x, its evidence taken away and marked.

    Beside it the levels that were written so; one that is no such number at all counts as over the limit.
    """
    found: list[int] = []
    parts, last = [], 0
    ends: list[int] | None = None
    plain = masked(line)
    for match in _NUMERAL.finditer(plain):
        numeral = match.group("numeral")
        if re.fullmatch(_LEVEL, numeral) or not numeral.isnumeric() or match.start() < last:
            continue
        written = int(numeral) if numeral.isdecimal() and len(numeral) <= 9 else LEVEL_LIMIT + 1
        found.append(written)
        parts += [line[last : match.start()], f"{match.group('bar')}1x{match.group('date')} (level-capped)"]
        last = match.end()
        tag = _EVIDENCE_FOLLOWS.match(line, last)
        if tag:
            ends = ends or tag_ends(plain)
            last = max(last, ends[tag.end()])
    return "".join([*parts, line[last:]]), found


def tag_ends(line: str) -> list[int]:
    """For each place, the place behind the first `]` outside quotes from there on; -1 when there is none."""
    ends = [-1] * (len(line) + 1)
    quote = -1
    for place in range(len(line) - 1, -1, -1):
        character = line[place]
        if character == "]":
            ends[place] = place + 1
        elif character == '"':
            ends[place] = ends[quote + 1] if quote >= 0 else -1
            quote = place
        else:
            ends[place] = ends[place + 1]
    return ends


def claim_with_evidence(line: str) -> Claim | None:
    """The first marker of 2x or more that has its date and its evidence."""
    match = _CITED.search(masked(line))
    if match is None:
        return None
    start, end = match.span("explanation")
    return _claim(match, ids_of(match.group("ids")), line[start:end] if start >= 0 else None)


def bare_claim(line: str) -> Claim | None:
    """The first dated marker of 2x or more that no evidence follows."""
    match = _BARE.search(masked(line))
    return _claim(match, None, None) if match else None


def _claim(match: re.Match[str], cited: frozenset[str] | None, explanation: str | None) -> Claim:
    evidence_at = match.string.index(TAG_START, match.end("date")) if cited is not None else match.end()
    return Claim(
        match.start(),
        match.end(),
        int(match.group("level")),
        match.span("level"),
        match.group("date"),
        match.span("date"),
        cited,
        explanation,
        evidence_at,
    )


def ids_of(text: str) -> frozenset[str]:
    """The ids of an evidence tag as they are compared (wraps.md e3)."""
    return frozenset(one.lower()[:8] for one in _ID_BREAKS.split(text) if one)


def named(line: str) -> Named | None:
    """The name and level that a line begins with, after a bullet, an indentation or a mark; None when it has no name."""
    match = _NAMED.match(line)
    return Named(match.group("name"), int(match.group("level")), match.span("level")) if match else None


def named_with_evidence(line: str) -> Named | None:
    """The same for a line in which date and evidence follow the level at once."""
    match = _NAMED_CITED.match(line)
    if match is None:
        return None
    return Named(
        match.group("name"),
        int(match.group("level")),
        match.span("level"),
        match.group("date"),
        ids_of(match.group("ids")),
        match.group("explanation"),
    )


def cited_anywhere(text: str) -> frozenset[str]:
    """Every id that any evidence tag of a text cites."""
    return frozenset(one for match in _EVIDENCE_TAG.finditer(text) for one in ids_of(match.group("ids")))


def dated(line: str) -> tuple[int, str] | None:
    """The first level that has a date, with it, whatever follows."""
    match = _DATED.search(masked(line))
    return (int(match.group("level")), match.group("date")) if match else None


def levels_in(line: str) -> tuple[Key, list[Token]] | None:
    """What the line is known by, and every level in it; None for a line without one."""
    tokens = [
        Token(match.start(), match.end(), _bounded(match.group("level")), match.span("level"))
        for match in _TOKEN.finditer(masked(line))
    ]
    if not tokens:
        return None
    own = named(line)
    if own:
        return ("name", own.name), tokens
    head = " ".join(_UNNAMED_PREFIX.sub("", line[: tokens[0].start], count=1).lower().split())
    return (("text", head) if head else ("anon", "")), tokens


def _bounded(digits: str) -> int:
    return int(digits) if len(digits) <= 9 else LEVEL_LIMIT + 1


def levels_of(lines: list[str], headings: frozenset[str]) -> dict[Key, int]:
    """The highest level that each line's name or text has in the graduating sections."""
    levels: dict[Key, int] = {}
    for place in graduating_lines(lines, headings):
        parsed = levels_in(lines[place])
        if parsed and parsed[0][0] != "anon":
            key, tokens = parsed
            levels[key] = max(levels.get(key, -1), *(token.level for token in tokens))
    return levels


def without_other_evidence(rest: str) -> str:
    """What follows a judged marker, without the evidence tags up to the next level: they belonged to that marker."""
    if TAG_START not in rest:
        return rest
    ends = tag_ends(rest)
    cut = _next_level(rest, ends)
    parts, last = [], 0
    place = rest.find(TAG_START)
    while 0 <= place < cut:
        end = ends[place]
        if 0 < end <= cut:
            parts.append(rest[last:place].rstrip(" \t"))
            last = end
        place = rest.find(TAG_START, max(end, place + 1))
    return "".join([*parts, rest[last:]])


def _next_level(rest: str, ends: list[int]) -> int:
    place = 0
    while place < len(rest):
        if rest[place] == "[":
            place = ends[place + 1] if ends[place + 1] > 0 else len(rest)
        elif rest[place] == "|" and _TOKEN.match(rest, place):
            return place
        else:
            place += 1
    return len(rest)
