"""Patterns: what came to be believed, by level, with the evidence it rests on and how it got there (wraps.md e3)."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from console.actions import bindings_for
from console.panes.faces import clock_short, clock_words
from console.panes.memory.view import Asked, Listed, MemoryView
from console.rows import Cell, Row
from console.table import Column
from console.widgets.document import DetailTab, Document, Line, Section
from core.clock import Clock
from core.store.database import View
from core.views import patterns
from core.views.patterns import Evidence, PatternDetail, PatternRow, Step

MOVEMENTS = {"entered": ("+", "accent"), "climbed": ("↑", "ok"), "held": ("·", "muted"), "fell": ("↓", "danger")}
READING = (Section("", (Line("reading…", "muted"),)),)


class PatternsView(MemoryView):
    """Every pattern the store keeps a level of."""

    SCREEN = "memory.patterns"
    TITLE = "Patterns"
    EMPTY = "No patterns yet: a saved wrap's Patterns section makes them"
    SORT = ("level", True)
    SORT_KEYS: ClassVar = {
        "level": lambda row: (row.level, row.highest),
        "name": lambda row: (row.name, row.project_key),
        "grounded": lambda row: row.last_grounded_on or "",
        "project": lambda row: (row.project_key, -row.level, row.name),
    }
    COLUMNS = (
        Column("level", "level", 7),
        Column("name", "pattern", 24, grow=2, most=48),
        Column("summary", "what it says", 16, grow=4, most=120, sortable=False, drop=3),
        Column("evidence", "evidence", 8, align="right", sortable=False, drop=4),
        Column("grounded", "grounded", 10),
        Column("last", "last", 15, sortable=False, drop=2),
        Column("project", "project", 10, grow=1, most=24, drop=1),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("memory.patterns", "pane")]

    def read(self, view: View, asked: Asked, clock: Clock) -> Listed:
        """Patterns, the highest first."""
        del clock
        page = patterns.page(view, asked.project or None, limit=asked.limit)
        return Listed(page.rows, page.next_before is not None)

    def key_of(self, row: PatternRow) -> str:
        """The pattern's number."""
        return str(row.pattern_id)

    def id_of(self, row: PatternRow) -> str:
        """The pattern's name."""
        return row.name

    def words_of(self, row: PatternRow) -> tuple[str | None, ...]:
        """What a filter looks in."""
        return row.name, row.summary, row.project_key, f"{row.level}x", row.tier, row.last_judgement

    def row_of(self, row: PatternRow) -> Row:
        """One pattern."""
        fell = row.level < row.highest
        gone = f" -{row.evidence_gone}" if row.evidence_gone else ""
        return Row(
            self.key_of(row),
            (
                Cell(f"{row.level}x", "danger" if fell else "ok" if row.tier == "proven" else ""),
                Cell(row.name, "" if row.in_text else "muted"),
                Cell(row.summary, "muted"),
                Cell(f"{row.evidence}{gone}", "warning" if gone else "" if row.evidence else "muted"),
                row.last_grounded_on or Cell("never", "muted"),
                Cell(row.last_judgement or "–", "danger" if row.last_judgement == "revoked" else "muted"),
                row.project_key,
            ),
        )

    def read_detail(self, view: View, row: PatternRow, clock: Clock) -> PatternDetail | None:
        """The pattern with its evidence and history."""
        del clock
        return patterns.pattern(view, row.pattern_id)

    def document(self, row: PatternRow, detail: PatternDetail | None) -> Document:
        """The pattern, what it rests on, and how it got there."""
        if detail is None:
            tabs = tuple(DetailTab(title, READING) for title in ("Pattern", "Evidence", "History"))
        else:
            tabs = (
                DetailTab("Pattern", pattern_sections(detail)),
                DetailTab("Evidence", evidence_sections(detail)),
                DetailTab("History", history_sections(detail)),
            )
        return Document(f"pattern:{row.pattern_id}", tabs)

    def text_of(self, row: PatternRow, detail: PatternDetail | None) -> str | None:
        """The pattern's line in the continuity, else what it says."""
        return (detail.line if detail else None) or row.summary or None


def pattern_sections(detail: PatternDetail) -> tuple[Section, ...]:
    """The line that stands, the facts, and what was said for it."""
    row = detail.row
    line = Line(detail.line) if detail.line else Line("the continuity that stands has no line of it; its level is kept", "muted")
    fell = row.level < row.highest
    facts = (
        Line(row.name, label="pattern"),
        Line(row.project_key, label="project"),
        Line(f"{row.level}x, {row.tier}", "danger" if fell else "ok" if row.tier == "proven" else "", label="level"),
        Line(f"{row.highest}x" if row.highest else "none yet", label="highest earned"),
        Line(row.last_grounded_on or "never", label="last grounded"),
        Line(f"{row.evidence:,} standing, {row.evidence_gone:,} gone", "warning" if row.evidence_gone else "", label="evidence"),
    )
    said = tuple(Line(one, glyph="·") for one in detail.explanations) or (Line("nothing yet", "muted"),)
    return Section("Its line", (line,)), Section("About it", facts), Section("What was said for it", said)


def evidence_sections(detail: PatternDetail) -> tuple[Section, ...]:
    """What each rung rests on, the highest first."""
    if not detail.evidence:
        return (Section("", (Line("no rung was earned yet: 1x rests on nothing", "muted"),)),)
    rungs = dict.fromkeys(one.level for one in detail.evidence)
    return tuple(
        Section(f"{level}x rests on", tuple(_evidence(one) for one in detail.evidence if one.level == level)) for level in rungs
    )


def _evidence(one: Evidence) -> Line:
    if not one.exists:
        return Line(f"deleted {clock_short(one.gone_at)}", "danger", "✗", one.episode_id)
    compared = "" if one.rule == "checked" else " (not compared)"
    return Line(f"{one.beginning or ''}{compared}", "", "✓", one.episode_id)


def history_sections(detail: PatternDetail) -> tuple[Section, ...]:
    """Every judgement, the newest first."""
    left_out = detail.history_total - len(detail.history)
    steps = tuple(line for step in reversed(detail.history) for line in _step(step))
    more = (Line(f"and {left_out:,} older ones", "muted"),) if left_out else ()
    return (Section("Newest first", (*steps, *more) or (Line("no history", "muted"),)),)


def _step(step: Step) -> tuple[Line, ...]:
    glyph, role = MOVEMENTS[step.movement]
    levels = f"{step.level}x" if step.before in (None, step.level) else f"{step.before}x → {step.level}x"
    where = f" · wrap {step.wrap_id}" if step.wrap_id is not None else ""
    lines = [Line(f"{levels} {step.judgement}{where} · {clock_words(step.at)} · {step.who.kind} {step.who.name}", role, glyph)]
    because = " · ".join(one for one in (step.explanation, step.detail) if one)
    if because:
        lines.append(Line(because, "muted", indent=2))
    if step.episode_ids and not all(one in because for one in step.episode_ids):
        lines.append(Line(f"episodes {', '.join(step.episode_ids)}", "muted", indent=2))
    return tuple(lines)
