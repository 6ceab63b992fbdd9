"""What a save tells of its patterns beside the judgements: reports, which never refuse (wraps.md e3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from core.memory import pattern_lines

PROVEN = 2
"""From this level on a pattern is proven; 1x is its first sighting."""
SUMMARY_CHARACTERS = 120
NAME_CHARACTERS = 60
"""Characters of a stale pattern's name that a package has."""
_NAME = r"[A-Za-z][\w.\-]*+"
_STANCE = re.compile(rf"\[no-contradicts\]|\[contradicts:\s*+{_NAME}(?:\s*+,\s*+{_NAME})*+\s*+\]")
_EVIDENCE = re.compile(r'\[evidence:(?:[^\]"]|"[^"]*+")*+\]?')
_SCAFFOLD = re.compile(r"\[(?:contradicts|provenance):[^\]]*+\]?|\[no-contradicts\]")
_STATES = re.compile(
    r"\((?:ungrounded|cross-session-overlap|carried-forward|needs-evidence|level-capped|uncorroborated)\)", re.IGNORECASE
)
_LEADING_DATE = re.compile(r"\s*\(\d{4}-\d{2}-\d{2}\)")
_LINK = re.compile(r"\[\[([^\[\]]++)\]\]")


@dataclass(frozen=True, slots=True)
class NamedLine:
    """The line of a named pattern with the highest level, and that level."""

    level: int
    line: str


@dataclass(frozen=True, slots=True)
class Proven:
    """A proven pattern by its name and level."""

    name: str
    level: int


@dataclass(frozen=True, slots=True)
class Stale:
    """A pattern's line whose date is `days` old: it may be let go. `name` is its name, or the line's own words, cut.

    `line_number` counts the standing text's lines from 1.
    """

    line_number: int
    name: str
    level: int
    date: str
    days: int


def stale(lines: list[str], headings: frozenset[str], today: str, staleness_days: int) -> tuple[Stale, ...]:
    """The lines of the graduating sections dated `staleness_days` ago or earlier, the oldest first (wraps.md b, prepare_wrap)."""
    found = []
    for place in pattern_lines.graduating_lines(lines, headings):
        parsed, dated = pattern_lines.levels_in(lines[place]), pattern_lines.dated(lines[place])
        if parsed is None or dated is None:
            continue
        try:
            days = (date.fromisoformat(today) - date.fromisoformat(dated[1])).days
        except ValueError:
            continue
        if days >= staleness_days:
            found.append(Stale(place + 1, parsed[0][1][:NAME_CHARACTERS], dated[0], dated[1], days))
    return tuple(sorted(found, key=lambda one: (-one.days, one.line_number)))


def named_lines(lines: list[str], headings: frozenset[str]) -> dict[str, NamedLine]:
    """The named patterns of the graduating sections."""
    found: dict[str, NamedLine] = {}
    for place in pattern_lines.graduating_lines(lines, headings):
        own = pattern_lines.named(lines[place])
        if own and (own.name not in found or own.level > found[own.name].level):
            found[own.name] = NamedLine(own.level, lines[place])
    return found


def vanished(before: dict[str, NamedLine], after: dict[str, NamedLine]) -> tuple[Proven, ...]:
    """Proven patterns that the new text leaves out, the highest first."""
    gone = [Proven(name, one.level) for name, one in before.items() if one.level >= PROVEN and name not in after]
    return tuple(sorted(gone, key=lambda one: (-one.level, one.name)))


def undeclared(before: dict[str, NamedLine], after: dict[str, NamedLine], wrap_date: str) -> tuple[Proven, ...]:
    """Patterns that are proven, or proven further, today and say neither what they contradict nor that they contradict nothing."""
    found = []
    for name, one in after.items():
        risen = one.level >= PROVEN and (name not in before or before[name].level < one.level)
        date = pattern_lines.dated(one.line)
        if risen and date and date[1] == wrap_date and not _STANCE.search(pattern_lines.masked(one.line)):
            found.append(Proven(name, one.level))
    return tuple(sorted(found, key=lambda one: (-one.level, one.name)))


def summary(line: str) -> str:
    """One clause for a pattern: the prose after its level, date and evidence, or else the explanation that it quotes."""
    own = pattern_lines.named_with_evidence(line)
    level = pattern_lines.named(line)
    rest = line[level.level_at[1] + 1 :] if level else line
    rest = _LEADING_DATE.sub("", rest, count=1) if _LEADING_DATE.match(rest) else rest
    for expression, instead in ((_EVIDENCE, " "), (_LINK, r"\1"), (_SCAFFOLD, " "), (_STATES, " ")):
        rest = expression.sub(instead, rest)
    prose = " ".join(rest.lstrip(" \t—-–:").split()) or (own.explanation or "" if own else "").strip()
    return prose if len(prose) <= SUMMARY_CHARACTERS else f"{prose[: SUMMARY_CHARACTERS - 1].rstrip()}…"
