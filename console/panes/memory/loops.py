"""Open loops: what is to be done, known or thought through, by tier and by how alive it is (wraps.md b)."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from console.actions import bindings_for
from console.panes.faces import clock_words
from console.panes.memory.view import Asked, Listed, MemoryView
from console.rows import Cell, Row
from console.table import Column
from console.widgets.document import DetailTab, Document, Line, Section
from core.clock import Clock
from core.memory.loops import Loop, spore_get
from core.store.database import View
from core.views import loops

STATE_ROLES = {"growing": "ok", "resting": "", "dormant": "warning", "parked": "muted"}
TIER_ROLES = {"hot": "accent", "warm": "", "cold": "muted", "parked": "muted"}


class LoopsView(MemoryView):
    """The loops that are open; with `h` the resolved ones too."""

    SCREEN = "memory.loops"
    TITLE = "Loops"
    EMPTY = "No open loops · h shows the resolved ones"
    NOTHING_MATCHES = "No loop matches what is filtered: esc shows all"
    COLUMNS = (
        Column("loop", "loop", 9, sortable=False),
        Column("tier", "tier", 6, sortable=False),
        Column("state", "state", 8, sortable=False),
        Column("text", "text", 20, grow=5, most=120, sortable=False),
        Column("type", "type", 8, sortable=False, drop=2),
        Column("project", "project", 10, grow=1, most=24, sortable=False, drop=1),
        Column("seen", "seen", 10, sortable=False, drop=3, flashes=False),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("memory.loops", "pane")]

    def read(self, view: View, asked: Asked, clock: Clock) -> Listed:
        """Loops in their order; "needs you" are the dormant ones, which nobody has looked at."""
        page = loops.loops(
            view,
            asked.project or None,
            resolved_too=asked.over_too,
            dormant_only=asked.only_attention,
            today=clock.today(),
            limit=asked.limit,
        )
        return Listed(page.rows, page.more)

    def key_of(self, row: Loop) -> str:
        """Project and loop: a loop's id is its project's own."""
        return f"{row.project_key}:{row.spore_id}"

    def id_of(self, row: Loop) -> str:
        """The loop's id."""
        return row.spore_id

    def words_of(self, row: Loop) -> tuple[str | None, ...]:
        """What a filter looks in."""
        return row.spore_id, row.type, row.tier, row.germination, row.text, row.project_key, row.domain, row.status

    def row_of(self, row: Loop) -> Row:
        """One loop."""
        state = Cell(row.germination, STATE_ROLES[row.germination])
        if row.resolution:
            state = Cell(row.resolution.kind, "muted", "✓")
        return Row(
            self.key_of(row),
            (
                row.spore_id,
                Cell(row.tier, TIER_ROLES[row.tier]),
                state,
                Cell(row.text, "muted" if row.resolution else ""),
                row.type,
                row.project_key,
                row.seen,
            ),
        )

    def read_detail(self, view: View, row: Loop, clock: Clock) -> Loop:
        """The loop with its notes."""
        return spore_get(view, project_key=row.project_key, spore_id=row.spore_id, clock=clock)

    def document(self, row: Loop, detail: Loop | None) -> Document:
        """The loop, and what was noted on it."""
        loop = detail or row
        return Document(f"loop:{self.key_of(row)}", (DetailTab("Loop", loop_sections(loop)), DetailTab("Notes", _notes(detail))))

    def text_of(self, row: Loop, detail: Loop | None) -> str:
        """The loop's text."""
        del detail
        return row.text


def loop_sections(loop: Loop) -> tuple[Section, ...]:
    """A loop's text and facts."""
    facts = [
        Line(loop.spore_id, label="loop"),
        Line(loop.project_key, label="project"),
        Line(loop.type, label="type"),
        Line(loop.tier, TIER_ROLES[loop.tier], label="tier"),
        Line(str(loop.salience), label="salience"),
        Line(loop.germination, STATE_ROLES[loop.germination], label="state")
        if loop.status == "open"
        else Line("resolved", "muted", label="state"),
        Line(loop.seen, label="seen"),
        Line(loop.next or "–", label="next"),
        Line(loop.domain or "–", label="domain"),
        Line(loop.pointer or "–", label="more at"),
        Line(loop.created, label="planted"),
    ]
    if loop.resolution:
        became = f", became {loop.resolution.ref}" if loop.resolution.ref else ""
        facts.append(
            Line(
                f"{clock_words(loop.resolution.at)}: {loop.resolution.direction} as {loop.resolution.kind}{became}",
                label="resolved",
            )
        )
    return Section("", (Line(loop.text),)), Section("About it", tuple(facts))


def _notes(loop: Loop | None) -> tuple[Section, ...]:
    if loop is None:
        return (Section("", (Line("reading…", "muted"),)),)
    notes = tuple(Line(one.text, label=one.noted_on) for one in loop.notes)
    return (Section("Oldest first", notes or (Line("nothing was noted", "muted"),)),)
