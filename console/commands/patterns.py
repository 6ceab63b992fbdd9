"""`watchroom patterns`: what came to be believed, and how each got its level (console.md, screen 6; wraps.md e3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from console.commands.common import Call, CommandRefusal, DefaultedGroup, for_listing
from console.commands.output import Column, cell, plain, table, terminal_width
from console.text import copyable

if TYPE_CHECKING:
    from core.views.patterns import PatternDetail, PatternRow, Step

PATTERNS = (
    Column("id", right=True),
    Column("level", right=True),
    Column("pattern", flexible=True),
    Column("project", flexible=True),
    Column("evidence", right=True),
    Column("grounded"),
    Column("last"),
    Column("in text"),
    Column("what it says", flexible=True),
)
EVIDENCE = (
    Column("rung", right=True),
    Column("episode"),
    Column("wrap", right=True),
    Column("state"),
    Column("content", flexible=True),
)
HISTORY = (
    Column("wrap", right=True),
    Column("at"),
    Column("level", right=True),
    Column("moved"),
    Column("judged"),
    Column("who"),
    Column("why", flexible=True),
)
NUMBER_DIGITS = 18
"""Digits that a pattern's number has at most."""


@click.group(cls=DefaultedGroup, default="list")
def patterns() -> None:
    """Patterns: lines of the continuity that earn a level by evidence. Without a command they are listed."""


@patterns.command("list")
@click.option("--words", default="", metavar="TEXT", help="Only those with each of these words in their name.")
@click.option("--proven", is_flag=True, help="Only those at 2x or more.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most so many.")
@for_listing
def list_patterns(call: Call, words: str, proven: bool, limit: int) -> int | None:
    """The patterns, the highest first."""
    from core.memory.pattern_reports import PROVEN
    from core.views.patterns import page

    with call.look() as looker, looker.snapshot() as (view, _):
        found = page(view, call.given_key, words=words, least_level=PROVEN if proven else 0, limit=limit)
    more = found.total - len(found.rows)
    data = {"patterns": [data_of(row) for row in found.rows], "total": found.total, "more": more > 0}
    told = [f"and {more:,} more: --limit shows them"] if more else []
    call.answer(data, lambda: [*list_lines(found.rows), *told] if found.rows else ["No pattern is known."])
    return None


@patterns.command()
@click.argument("pattern")
@for_listing
def show(call: Call, pattern: str) -> int | None:
    """Print PATTERN, its name or its id, whole: its line, what it rests on, and how it got its level, wrap by wrap."""
    found = find(call, pattern)
    data: dict[str, Any] = {**plain(found), "pattern": data_of(found.row)}
    data["history"] = [{**plain(step), "movement": step.movement} for step in found.history]
    del data["row"]
    call.answer(data, lambda: detail_lines(found))
    return None


def find(call: Call, name: str) -> PatternDetail:
    """The pattern of that id, or of that name in the project. Raises CommandRefusal when there is none."""
    from core.projects import normal_key
    from core.views import patterns as views

    given = name.strip()
    is_number = given.isascii() and given.isdigit() and len(given) <= NUMBER_DIGITS
    key = call.given_key if is_number else normal_key(call.project)
    with call.look() as looker, looker.snapshot() as (view, _):
        pattern_id = int(given) if is_number else views.named(view, str(key), given)
        found = None if pattern_id is None else views.pattern(view, pattern_id)
    if found is None or key not in (None, found.row.project_key):
        where = f"project {key} of this store" if key else "this store"
        raise CommandRefusal(
            "pattern_not_found", f"There is no pattern {name} in {where}.", {"pattern": name, "project_key": key}
        )
    return found


def data_of(row: PatternRow) -> dict[str, Any]:
    """A pattern as JSON data, with its tier."""
    return {**plain(row), "tier": row.tier}


def list_lines(rows: tuple[PatternRow, ...]) -> list[str]:
    """Patterns for people."""
    drawn = [
        (
            row.pattern_id,
            f"{row.level}x",
            row.name,
            row.project_key,
            f"{row.evidence} -{row.evidence_gone}" if row.evidence_gone else row.evidence,
            row.last_grounded_on,
            row.last_judgement,
            row.in_text,
            row.summary,
        )
        for row in rows
    ]
    return table(PATTERNS, drawn, terminal_width())


def detail_lines(found: PatternDetail) -> list[str]:
    """Everything about one pattern for people."""
    row = found.row
    facts = [
        ("says", row.summary or None),
        ("highest", f"{row.highest}x was earned" if row.highest else "none was earned yet"),
        ("grounded", f"last on {row.last_grounded_on}" if row.last_grounded_on else "never"),
    ]
    drawn = [cell(f"Pattern {row.pattern_id} of {row.project_key}: {row.name}, {row.level}x, {row.tier}")]
    drawn += [cell(f"  {name:<9} {value}") for name, value in facts if value]
    drawn += ["", copyable(found.line) if found.line else "The continuity that stands has no line of it; its level is kept."]
    if found.explanations:
        drawn += ["", "What was said for it", *(cell(f"  {one}") for one in found.explanations)]
    drawn += ["", f"Evidence ({len(found.evidence)})"]
    rests = [
        (f"{one.level}x", one.episode_id, one.wrap_id, "stands" if one.exists else f"gone since {one.gone_at}", one.beginning)
        for one in found.evidence
    ]
    drawn += table(EVIDENCE, rests, terminal_width()) if rests else ["  none: 1x rests on nothing"]
    drawn += ["", f"History ({found.history_total})"]
    steps = [
        (one.wrap_id, one.at, levels(one), one.movement, one.judgement, f"{one.who.kind} {one.who.name}", why(one))
        for one in found.history
    ]
    if len(steps) < found.history_total:
        drawn.append(f"  {found.history_total - len(steps):,} older steps, then")
    return [*drawn, *(table(HISTORY, steps, terminal_width()) if steps else ["  none"])]


def levels(step: Step) -> str:
    """A step's levels."""
    return f"{step.level}x" if step.before in (None, step.level) else f"{step.before}x → {step.level}x"


def why(step: Step) -> str:
    """What was said for a step, and what the store says of it."""
    said = "; ".join(one for one in (step.explanation, step.detail) if one)
    untold = [one for one in step.episode_ids if one not in said]
    return "; ".join(one for one in (said, f"episodes {', '.join(untold)}" if untold else "") if one)
