"""What a text must pass before its patterns are judged: annotated state, and no sudden shrinking (wraps.md e1, 6 and 7)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from core.errors import Refusal
from core.memory.continuity import Role, Section, sections_of
from core.texts import normalized

SMALLEST_JUDGED = 500
"""Characters that the previous text of a part must have had for its shrinking to be looked at."""
KEPT_PERCENT: dict[Role, int] = {"narrative-timeless": 50, "graduating": 50}
KEPT_PERCENT_OF_REST = 25
_OPENER = re.compile(r"\[(?:derive(?:@[a-z0-9][a-z0-9-]{0,31})?|judged):")
_LOOKS_LIKE_ONE = re.compile(r"\[\s*+(?:derive|judged)(?![a-z0-9])", re.IGNORECASE)
LINES_NAMED = 20
_INVISIBLE = ("Cf", "Mn", "Me")


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A part of the continuity that keeps too little: what it is, its characters before and after, and the least that it needs."""

    part: str
    before: int
    after: int
    floor: int


def refuse_unannotated_state(text: str, sections: tuple[Section, ...]) -> None:
    """Refuses `continuity_structure` when a line of a derived-state section says neither how it is derived nor that it is judged.

    Each non-blank line needs `[derive: command => expected]` or `[judged: why]` at its end. The commands are not run here.
    """
    if not any(one.role == "derived-state" for one in sections):
        return
    bare: list[int] = []
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("## "):
            inside = any(one.role == "derived-state" for one in sections_of(line, sections))
        elif inside and line.strip() and not _annotated(line.rstrip()):
            bare.append(number)
    if bare:
        named = ", ".join(map(str, bare[:LINES_NAMED])) + (
            f" and {len(bare) - LINES_NAMED} more" if len(bare) > LINES_NAMED else ""
        )
        raise Refusal(
            "continuity_structure",
            f"Every line of the state section needs [derive: command => expected] or [judged: why] at its end, and only one; line {named}"
            " of the text has not.",
            facts={"unannotated_lines": bare[:1000]},
        )


def _annotated(line: str) -> bool:
    """Whether the line ends in its only annotation; what looks like a second one makes it unclear which of them the claim has."""
    openers = list(_OPENER.finditer(line))
    seen = "".join(one for one in normalized(line, "NFKC") if unicodedata.category(one) not in _INVISIBLE)
    if len(openers) != 1 or len(_LOOKS_LIKE_ONE.findall(seen)) != 1 or not line.endswith("]"):
        return False
    return bool(line[openers[0].end() : -1].strip())


def shrunk_parts(standing: str | None, text: str, sections: tuple[Section, ...]) -> list[Shrunk]:
    """The parts that keep too little of the standing text: only of a schema with a narrative-timeless section (wraps.md e1.7).

    Each timeless or graduating layer must keep half of its characters, the rest (durable facts left out) a quarter.
    """
    if not standing or not any(one.role == "narrative-timeless" for one in sections):
        return []
    before, after = _by_role(standing, sections), _by_role(text, sections)
    parts = []
    for role, percent in KEPT_PERCENT.items():
        names = " and ".join(one.heading for one in sections if one.role == role)
        if names:
            parts.append((names, before.get(role, 0), after.get(role, 0), percent))
    apart: tuple[Role, ...] = ("graduating", "durable")
    rest = [len(one) - sum(sizes.get(role, 0) for role in apart) for one, sizes in ((standing, before), (text, after))]
    parts.append(("everything but patterns and durable facts", rest[0], rest[1], KEPT_PERCENT_OF_REST))
    judged = [Shrunk(name, old, new, -(-old * percent // 100)) for name, old, new, percent in parts if old >= SMALLEST_JUDGED]
    return [one for one in judged if one.after < one.floor]


def _by_role(text: str, sections: tuple[Section, ...]) -> dict[Role, int]:
    """The characters of the sections of each role, heading lines and line breaks counted."""
    sizes: dict[Role, int] = {}
    roles: set[Role] = set()
    for line in text.split("\n"):
        if line.startswith("## "):
            matched = sections_of(line, sections)
            roles = {matched[0].role} if len(matched) == 1 else set()
        for role in roles:
            sizes[role] = sizes.get(role, 0) + len(line) + 1
    return sizes


def shrink_refusal(shrunk: list[Shrunk]) -> Refusal:
    """The `continuity_shrink` refusal: both lengths and the floor of each part, and that the save replaces the whole text."""
    told = "; ".join(f"{one.part}: {one.before:,} characters before, {one.after:,} now, at least {one.floor:,}" for one in shrunk)
    return Refusal(
        "continuity_shrink",
        f"This text REPLACES the whole continuity and would lose much of it. {told}. Carry the earlier text forward and change what"
        " changed.",
        facts={"parts": [{"part": one.part, "before": one.before, "after": one.after, "floor": one.floor} for one in shrunk]},
    )
