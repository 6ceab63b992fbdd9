"""Durable facts: lines that a save puts back when the new text leaves them out, and drops only by a marker (wraps.md a5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from core.memory import continuity
from core.memory.continuity import Section

_BULLET = re.compile(r"[ \t]*+(?:[-*]|\d++\.)[ \t]++(?P<fact>.*)")
_MARKER = re.compile(r"[ \t]*+(?:(?:[-*]|\d++\.)[ \t]++)?\[drop-durable:(?P<fact>.*)\][ \t]*", re.IGNORECASE)
_CUES = re.compile(r"(?:—|–|--|\|)[ \t]*+cues:", re.IGNORECASE)
QUOTED_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class DurableFacts:
    """What a save did to the durable facts: lines put back, lines dropped by a marker, markers that name no fact.

    `recreated`: the section itself was missing and was written again. `characters` and `budget` count the section, heading included.
    """

    reinserted: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    unknown_drops: tuple[str, ...] = ()
    recreated: bool = False
    characters: int = 0
    budget: int = 0


@dataclass(frozen=True, slots=True)
class _Item:
    """A piece of the section: a fact with its indented continuation lines, a drop marker, or anything else."""

    lines: list[str]
    fact: str | None = None
    first: str | None = None
    drops: str | None = None


def keep(standing: str | None, text: str, sections: tuple[Section, ...]) -> tuple[str, DurableFacts]:
    """The new text with every durable fact of the standing one that it neither has nor drops.

    Facts are compared with single spaces and without their cues. A marker `[drop-durable: TEXT]` in the section removes the
    fact of exactly that text, and itself. Text that needs nothing comes back as it was.
    """
    section = next((one for one in sections if one.role == "durable"), None)
    if section is None:
        return text, DurableFacts()
    lines = text.replace("\r\n", "\n").split("\n")
    spans = _spans(lines, section)
    items = [item for start, end in spans for item in _items(lines[start + 1 : end])]
    before = _facts(standing or "", section)
    drops = {name for item in items if item.drops is not None for name in _names(item.drops)}
    dropped = {key: item for key, item in before.items() if key in drops or (item.first and _single_spaced(item.first) in drops)}
    body = [item for item in items if item.drops is None and item.fact not in dropped]
    present = {item.fact for item in body}
    missing = [item for key, item in before.items() if key not in present and key not in dropped]
    known = {name for key, item in dropped.items() for name in (key, _single_spaced(item.first or ""))}
    unknown = [item.drops for item in items if item.drops is not None and not _names(item.drops) & known]
    changed = bool(missing) or len(body) != len(items) or len(spans) > 1
    if changed:
        lines = _written(lines, spans, body, missing, section, sections)
        text = ("\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n").join(lines)
    return text, DurableFacts(
        tuple("\n".join(item.lines) for item in missing),
        tuple("\n".join(item.lines) for item in dropped.values()),
        tuple(unknown),
        bool(missing) and not spans,
        characters(text, sections),
        continuity.durable_budget(sections),
    )


def facts(text: str | None, sections: tuple[Section, ...]) -> list[str]:
    """The durable facts of a text, each as it stands there."""
    section = next((one for one in sections if one.role == "durable"), None)
    return ["\n".join(item.lines) for item in _facts(text or "", section).values()] if section else []


def measured_characters(text: str, sections: tuple[Section, ...]) -> int:
    """The characters that count against the hard maximum: all but the section of durable facts (wraps.md a5)."""
    return len(text) - characters(text, sections)


def characters(text: str, sections: tuple[Section, ...]) -> int:
    """The characters of the section of durable facts, its heading line included."""
    section = next((one for one in sections if one.role == "durable"), None)
    if section is None:
        return 0
    lines = text.split("\n")
    spans = _spans(lines, section)
    unbroken = bool(spans) and spans[-1][1] == len(lines)  # the text's last line ends in no line break
    return sum(len(line) + 1 for start, end in spans for line in lines[start:end]) - unbroken


def _facts(text: str, section: Section) -> dict[str, _Item]:
    lines = text.replace("\r\n", "\n").split("\n")
    found: dict[str, _Item] = {}
    for start, end in _spans(lines, section):
        for item in _items(lines[start + 1 : end]):
            if item.fact is not None:
                found.setdefault(item.fact, item)
    return found


def _spans(lines: list[str], section: Section) -> list[tuple[int, int]]:
    """Where the section's heading lines stand, each with the place of the next heading; the heading must be exactly the section's."""
    headings = [place for place, line in enumerate(lines) if line.startswith("## ")]
    exact = section.heading.strip().lower()
    return [(start, end) for start, end in pairwise([*headings, len(lines)]) if lines[start][3:].strip().lower() == exact]


def _items(body: list[str]) -> Iterator[_Item]:
    pending: list[str] = []
    for line in body:
        marker, bullet = _MARKER.fullmatch(line), _BULLET.match(line)
        if pending and line.strip() and line[0] in " \t" and not bullet and not marker:
            pending.append(line)
            continue
        if pending:
            yield _fact(pending)
        pending = [line] if bullet and bullet.group("fact") and not marker else []
        if not pending:
            yield _Item([line], drops=marker.group("fact").strip() if marker else None)
    if pending:
        yield _fact(pending)


def _fact(lines: list[str]) -> _Item:
    match = _BULLET.match(lines[0])
    assert match is not None
    first = match.group("fact").strip()
    *parts, last = [first, *(line.strip() for line in lines[1:])]
    key = _single_spaced(" ".join([*parts, _without_cues(last)]))
    return _Item(list(lines), fact=key, first=first) if key else _Item(list(lines))


def _names(marked: str) -> set[str]:
    """What a drop marker may name a fact by: its text or its whole first line, with or without the bullet."""
    bullet = _BULLET.match(marked)
    texts = (marked, bullet.group("fact")) if bullet else (marked,)
    return {name for text in texts for name in (_single_spaced(text), _single_spaced(_without_cues(text))) if name}


def _without_cues(text: str) -> str:
    cues = _CUES.search(text)
    return text[: cues.start()] if cues else text


def _single_spaced(text: str) -> str:
    return " ".join(text.split())


def _written(
    lines: list[str],
    spans: list[tuple[int, int]],
    body: list[_Item],
    missing: list[_Item],
    section: Section,
    sections: tuple[Section, ...],
) -> list[str]:
    put_back = [line for item in missing for line in item.lines]
    if not spans:
        return _with_section(lines, [f"## {section.heading}", *put_back], section, sections)
    kept = [line for item in body for line in item.lines]
    blank = len(kept)
    while blank and not kept[blank - 1].strip():
        blank -= 1
    kept[blank:blank] = put_back
    written, last = [], 0
    for number, (start, end) in enumerate(spans):
        written += lines[last:start]
        if number == 0:
            written += [lines[start], *_collapsed(kept)]
        last = end
    return [*written, *lines[last:]]


def _collapsed(body: list[str]) -> list[str]:
    return [line for place, line in enumerate(body) if line.strip() or place == 0 or body[place - 1].strip()]


def _with_section(lines: list[str], block: list[str], section: Section, sections: tuple[Section, ...]) -> list[str]:
    """The lines with the section before the first heading of one that the schema puts later, else at the end."""
    later = sections[sections.index(section) + 1 :]
    for place, line in enumerate(lines):
        matched = continuity.sections_of(line, sections)
        if len(matched) == 1 and matched[0] in later:
            return [*lines[:place], *block, "", *lines[place:]]
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], "", *block, *lines[end:]]
