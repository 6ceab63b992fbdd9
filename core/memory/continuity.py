"""Continuity: the consolidated text of a project, its section schemas and sizes (wraps.md a5 and e1)."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.errors import Refusal
from core.memory import pattern_lines
from core.store.deed import Reading

Role = Literal["live-state", "durable", "graduating", "decisions", "narrative", "narrative-timeless", "derived-state", "frozen"]


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a schema: its heading, what it is for, and whether a text may leave it out."""

    heading: str
    role: Role
    optional: bool = False


DEFAULT_SECTIONS = (
    Section("State", "live-state"),
    Section("Durable Facts", "durable", optional=True),
    Section("Patterns", "graduating"),
    Section("Decisions", "decisions"),
    Section("Context", "narrative"),
)
SCHEMAS: dict[str, tuple[Section, ...]] = {
    "default": DEFAULT_SECTIONS,
    "partnership": (*DEFAULT_SECTIONS, Section("Active Threads", "live-state"), Section("Understanding", "narrative-timeless")),
    "project": (
        Section("Plan", "decisions"),
        Section("State", "derived-state"),
        Section("Decisions", "decisions"),
        Section("Open", "live-state"),
        Section("Lessons", "graduating"),
        Section("History", "narrative"),
    ),
}
BASE_TARGET = 20_000
EXTRA_TARGET: dict[Role, int] = {
    "live-state": 1_500,
    "decisions": 1_500,
    "derived-state": 1_500,
    "graduating": 2_500,
    "narrative": 2_500,
    "narrative-timeless": 4_000,
    "frozen": 1_000,
    "durable": 0,
}
FREE_ONCE: tuple[Role, ...] = ("live-state", "graduating", "decisions", "narrative")


@dataclass(frozen=True, slots=True)
class Version:
    """A kept version of a project's continuity."""

    project_key: str
    revision: int
    text: str
    sha256: str
    wrap_id: int | None
    created_at: str


def frozen_schema(sections: tuple[Section, ...]) -> str:
    """A section schema as a wrap freezes it: a JSON list of heading, role and, where true, optional (wraps.md a3)."""
    listed = [{"heading": one.heading, "role": one.role, **({"optional": True} if one.optional else {})} for one in sections]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))


def thaw_schema(text: str) -> tuple[Section, ...]:
    """The sections of a frozen schema, which a coherent wrap's seal vouches for."""
    return tuple(Section(item["heading"], item["role"], bool(item.get("optional"))) for item in json.loads(text))


def target_characters(sections: tuple[Section, ...]) -> int:
    """The length to aim at: 20,000 and a share for each further section by its role (wraps.md a5)."""
    free = set(FREE_ONCE)
    total = BASE_TARGET
    for section in sections:
        if section.role in free:
            free.discard(section.role)
        else:
            total += EXTRA_TARGET[section.role]
    return total


def hard_maximum(sections: tuple[Section, ...]) -> int:
    """The length that no override passes: 1.25 times the target, durable facts not counted (wraps.md a5)."""
    return math.ceil(target_characters(sections) * 1.25)


def newest(reading: Reading, project_key: str) -> Version | None:
    """The standing continuity of a project, or None before the first save."""
    row = reading.one(
        "select project_key, revision, text, sha256, wrap_id, created_at from continuity where project_key = ? order by revision desc limit 1",
        (project_key,),
    )
    return Version(*tuple(row)) if row else None


def version(reading: Reading, project_key: str, revision: int) -> Version | None:
    """One kept version of a project's continuity, None when there is none of that revision."""
    row = reading.one(
        "select project_key, revision, text, sha256, wrap_id, created_at from continuity where project_key = ? and revision = ?",
        (project_key, revision),
    )
    return Version(*tuple(row)) if row else None


# the text

EXOTIC_BREAKS = re.compile("[\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]|\r(?!\n)")
EXOTIC_SPACES = re.compile("[\x1f\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
HEADING = re.compile(r"^## .*$", re.MULTILINE)


def canonical(text: str) -> str:
    """The text with one kind of line break, of space, and of digits in level markers: exotic ones replaced, CRLF kept (wraps.md a5)."""
    return pattern_lines.ascii_digits(EXOTIC_SPACES.sub(" ", EXOTIC_BREAKS.sub("\n", text)))


def sections_of(line: str, sections: tuple[Section, ...]) -> list[Section]:
    """The sections that a line is the heading of: none for any other line.

    A heading matches as a word-bounded, case-insensitive phrase (wraps.md a5); one that may be left out, as a whole.
    """
    if not line.startswith("## "):
        return []
    title = line[3:].strip().lower()
    return [one for one in sections if (title == one.heading.lower() if one.optional else _phrase(one.heading).search(title))]


@lru_cache(maxsize=256)
def _phrase(heading: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(heading.lower())}(?!\w)")


def heading_lines(text: str, sections: tuple[Section, ...], role: Role) -> frozenset[str]:
    """The text's heading lines of the sections with that role."""
    return frozenset(
        line
        for line in text.split("\n")
        if line.startswith("## ") and any(one.role == role for one in sections_of(line, sections))
    )


def split_sections(text: str, sections: tuple[Section, ...]) -> dict[str, str]:
    """The body of each section that the text has, by its heading in the schema.

    Refuses `continuity_structure` when a line matches two required sections, or a required section is missing; the sentence
    names the headings.
    """
    lines = list(HEADING.finditer(text))
    bodies: dict[str, str] = {}
    for position, line in enumerate(lines):
        matched = sections_of(line.group(), sections)
        required = [section.heading for section in matched if not section.optional]
        if len(required) > 1:
            raise Refusal(
                "continuity_structure",
                f"The heading line {line.group()[:80]!r} matches two required sections: {' and '.join(required)}. Give each a line of its own.",
                facts={"ambiguous": required},
            )
        end = lines[position + 1].start() if position + 1 < len(lines) else len(text)
        for section in matched:
            bodies[section.heading] = bodies.get(section.heading, "") + text[line.end() : end]
    missing = [one.heading for one in sections if not one.optional and one.heading not in bodies]
    if missing:
        wanted = ", ".join(f"## {one.heading}" for one in sections if not one.optional)
        raise Refusal(
            "continuity_structure",
            f"The text lacks the section{'s' if len(missing) > 1 else ''} {', '.join(missing)}. It needs a line for each of: {wanted}.",
            facts={"missing": missing, "required": [one.heading for one in sections if not one.optional]},
        )
    return bodies


def durable_budget(sections: tuple[Section, ...]) -> int:
    """The characters that durable facts should keep within, a warning only: 15 % of the target (wraps.md a5)."""
    return target_characters(sections) * 15 // 100


def refuse_too_big(characters: int, sections: tuple[Section, ...]) -> None:
    """Refuses `continuity_too_big` when a text is longer than the hard maximum; there is no override (wraps.md a5)."""
    bound = hard_maximum(sections)
    if characters > bound:
        raise Refusal(
            "continuity_too_big",
            f"The text has {characters:,} characters (durable facts not counted); at most {bound:,} are allowed, {characters - bound:,} fewer. "
            f"Aim at {target_characters(sections):,}.",
            facts={"chars": characters, "bound": bound, "target": target_characters(sections), "over_by": characters - bound},
        )
