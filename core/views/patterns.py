"""Patterns as an operator sees them: a page of a project's, and one whole with its evidence and its history (console.md, screen 6).

The level is the store's (wraps.md e3); the line that says it stands in the continuity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from core.actors import Actor
from core.memory import pattern_lines
from core.memory.continuity import heading_lines
from core.memory.pattern_reports import PROVEN
from core.memory.recall import json_or_text
from core.memory.search import ascii_lower
from core.store.deed import Reading
from core.views import continuity

PATTERNS_SHOWN = 200
EVIDENCE_SHOWN = 200
HISTORY_SHOWN = 200
BEGINNING = 300
"""Characters of an episode that a pattern's evidence has."""

Before = tuple[int, str, int]
"""Where a page ends: level, name and id of its last pattern."""
START: Before = (2**62, "", 0)

_COLUMNS = (
    "p.id, p.project_key, p.kind, p.name, p.level, p.summary, p.in_text, p.highest, p.last_grounded_on, p.explanations,"
    " p.created_at, p.updated_at,"
    " (select count(distinct g.episode_id) from pattern_grounding g where g.pattern_id = p.id and g.gone_at is null) as standing,"
    " (select count(distinct g.episode_id) from pattern_grounding g where g.pattern_id = p.id and g.gone_at is not null) as gone,"
    " (select h.judgement from pattern_history h where h.pattern_id = p.id order by h.id desc limit 1) as judgement"
)


@dataclass(frozen=True, slots=True)
class PatternRow:
    """One pattern in a list. A line without a name has kind `text` and its own words for a name, and no history.

    `in_text`: the continuity has its line. `highest` is the level it ever earned with an explanation, 0 before any.
    `evidence` counts the episodes that its rungs rest on, `evidence_gone` those of them that were deleted.
    """

    pattern_id: int
    project_key: str
    kind: Literal["name", "text"]
    name: str
    level: int
    summary: str
    in_text: bool
    highest: int
    last_grounded_on: str | None
    explanations: int
    evidence: int
    evidence_gone: int
    last_judgement: str | None
    created_at: str
    updated_at: str

    @property
    def tier(self) -> Literal["proven", "sighted"]:
        """What its level makes of it: sighted at 1x, proven from 2x on."""
        return "proven" if self.level >= PROVEN else "sighted"


@dataclass(frozen=True, slots=True)
class PatternPage:
    """One page of patterns, the highest first and then by name, of `total`, and where the next page goes on (None at the end)."""

    rows: tuple[PatternRow, ...]
    total: int
    next_before: Before | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """An episode that a rung rests on. `rule`: whether an explanation was compared with it, `checked`, or not.

    `exists`: the store has it still; else `gone_at` says since when, and trust and beginning are None.
    """

    episode_id: str
    level: int
    wrap_id: int | None
    rule: Literal["checked", "unchecked"]
    earned_on: str
    exists: bool
    gone_at: str | None
    effective_trust: str | None
    beginning: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """One judgement in a pattern's history. `wrap_id` is None for what no wrap did: a deletion, a restore, an import.

    `written` is the level that the text claimed, `before` and `level` the store's before and after. `detail` says why.
    """

    wrap_id: int | None
    generation: int | None
    at: str
    judgement: str
    written: int | None
    before: int | None
    level: int
    explanation: str | None
    episode_ids: tuple[str, ...]
    detail: str | None
    who: Actor

    @property
    def movement(self) -> Literal["entered", "climbed", "held", "fell"]:
        """What became of the level."""
        if self.before is None:
            return "entered"
        if self.level == self.before:
            return "held"
        return "climbed" if self.level > self.before else "fell"


@dataclass(frozen=True, slots=True)
class PatternDetail:
    """One pattern whole: its line in the standing continuity (None when that has none), what it rests on, and how it got there.

    Evidence has the highest rung first; the history the oldest step first, the newest 200 of `history_total`.
    """

    row: PatternRow
    line: str | None
    explanations: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    history: tuple[Step, ...]
    history_total: int


def page(
    reading: Reading,
    project_key: str | None,
    *,
    words: str = "",
    least_level: int = 0,
    before: Before = START,
    limit: int = PATTERNS_SHOWN,
) -> PatternPage:
    """The patterns of a project, or of all (None), from `least_level` on, the highest first, at most `limit`.

    A page goes on from `before`, the last page's `next_before`.

    Each of `words` must stand in the name, without regard to ASCII case; nothing in them is special.
    """
    where = "p.level >= ?"
    values: list[Any] = [least_level]
    if project_key is not None:
        where, values = f"p.project_key = ? and {where}", [project_key, *values]
    for word in words.split():
        where += " and instr(lower(p.name), ?) > 0"
        values.append(ascii_lower(word))
    total = reading.one(f"select count(*) from patterns p where {where}", values)[0]
    level, name, pattern_id = before
    rows = reading.all(
        f"select {_COLUMNS} from patterns p where {where} and p.level <= ? and (p.level < ? or (p.name, p.id) > (?, ?))"
        " order by p.level desc, p.name, p.id limit ?",
        (*values, level, level, name, pattern_id, limit + 1),
    )
    found = tuple(_row(row) for row in rows[:limit])
    last = found[-1] if len(rows) > limit else None
    return PatternPage(found, total, (last.level, last.name, last.pattern_id) if last else None)


def pattern(reading: Reading, pattern_id: int) -> PatternDetail | None:
    """One pattern whole; None when there is none with that id."""
    row = reading.one(f"select {_COLUMNS} from patterns p where p.id = ?", (pattern_id,))
    if row is None:
        return None
    steps = reading.all(
        "select h.*, w.generation from pattern_history h left join wraps w on w.id = h.wrap_id where h.pattern_id = ?"
        " order by h.id desc limit ?",
        (pattern_id, HISTORY_SHOWN),
    )
    return PatternDetail(
        _row(row),
        _line(reading, row["project_key"], (row["kind"], row["name"])),
        _texts(row["explanations"]),
        _evidence(reading, pattern_id),
        tuple(_step(step) for step in reversed(steps)),
        reading.one("select count(*) from pattern_history where pattern_id = ?", (pattern_id,))[0],
    )


def named(reading: Reading, project_key: str, name: str) -> int | None:
    """The id of the project's pattern with exactly that name; None when it has none."""
    row = reading.one(
        "select id from patterns where project_key = ? and name = ? order by kind limit 1",
        (project_key, name),
    )
    return None if row is None else int(row["id"])


def _row(row: Any) -> PatternRow:
    return PatternRow(
        row["id"],
        row["project_key"],
        row["kind"],
        row["name"],
        row["level"],
        row["summary"],
        bool(row["in_text"]),
        row["highest"],
        row["last_grounded_on"],
        len(_texts(row["explanations"])),
        row["standing"],
        row["gone"],
        row["judgement"],
        row["created_at"],
        row["updated_at"],
    )


def _line(reading: Reading, project_key: str, key: pattern_lines.Key) -> str | None:
    """The line of the standing continuity with the pattern's highest level."""
    standing = continuity.standing(reading, project_key)
    if standing.version is None:
        return None
    text = standing.version.text
    lines, found = text.split("\n"), []
    for place in pattern_lines.graduating_lines(lines, heading_lines(text, standing.sections, "graduating")):
        parsed = pattern_lines.levels_in(lines[place])
        if parsed and parsed[0] == key:
            found.append((max(token.level for token in parsed[1]), lines[place]))
    return max(found, key=lambda one: one[0])[1] if found else None


def _evidence(reading: Reading, pattern_id: int) -> tuple[Evidence, ...]:
    rows = reading.all(
        "select g.episode_id, g.level, g.wrap_id, g.rule, g.earned_on, e.id is not null as found, g.gone_at, e.effective_trust,"
        f" substr(e.content, 1, {BEGINNING}) as beginning from pattern_grounding g"
        " left join episodes e on e.episode_id = g.episode_id where g.pattern_id = ? order by g.level desc, g.id limit ?",
        (pattern_id, EVIDENCE_SHOWN),
    )
    return tuple(
        Evidence(
            row["episode_id"],
            row["level"],
            row["wrap_id"],
            row["rule"],
            row["earned_on"],
            bool(row["found"]),
            row["gone_at"],
            row["effective_trust"],
            row["beginning"],
        )
        for row in rows
    )


def _step(row: Any) -> Step:
    return Step(
        row["wrap_id"],
        row["generation"] if isinstance(row["generation"], int) else None,
        row["at"],
        row["judgement"],
        row["written"],
        row["before"],
        row["level"],
        row["explanation"],
        _texts(row["episode_ids"]),
        row["detail"],
        Actor.from_json(row["actor"]),
    )


def _texts(stored: str | None) -> tuple[str, ...]:
    """The texts of a stored JSON list; what another program spoilt is left out."""
    found = json_or_text(stored)
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()
