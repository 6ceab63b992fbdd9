"""Kept texts: salvage of late saves and drafts left behind, to be read, adopted or marked as dealt with (room.md 2.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType

from console.actions import bindings_for
from console.diff import diff_lines
from console.panes.faces import clock_short, clock_words
from console.panes.memory.view import Asked, Listed, MemoryView
from console.rows import Cell, Row
from console.table import Column
from console.widgets.document import DetailTab, Document, Line, Section
from core.clock import Clock
from core.store.database import View
from core.views import continuity, kept_texts
from core.views.continuity import Standing
from core.views.kept_texts import KeptDetail, KeptRow

READING = (Section("", (Line("reading…", "muted"),)),)


@dataclass(frozen=True, slots=True)
class KeptBeside:
    """A kept text whole, and what stands in its project."""

    kept: KeptDetail
    standing: Standing


class KeptView(MemoryView):
    """The texts that wait for a person; with `h` those dealt with too."""

    SCREEN = "memory.kept"
    TITLE = "Kept texts"
    EMPTY = "No kept text waits for you · h shows those dealt with"
    COLUMNS = (
        Column("kept", "kept", 10, sortable=False),
        Column("at", "at", 11, sortable=False, flashes=False),
        Column("project", "project", 10, grow=1, most=24, sortable=False),
        Column("why", "why", 16, grow=2, most=32, sortable=False),
        Column("characters", "chars", 7, align="right", sortable=False, drop=1),
        Column("client", "of", 12, grow=1, most=24, sortable=False, drop=2),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("memory.kept", "pane")]

    def read(self, view: View, asked: Asked, clock: Clock) -> Listed:
        """Kept texts, the newest first."""
        del clock
        page = kept_texts.kept_texts(
            view,
            project_key=asked.project or None,
            waiting_only=asked.only_attention or not asked.over_too,
            limit=asked.limit,
        )
        return Listed(page.rows, page.next_before is not None)

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows, and go to the newest text of the wrap that was waited for."""
        if self._wanted is not None:
            self._wanted = self._of_wrap(self._wanted) or self._wanted
        super().set_rows(rows)
        self._look_further()

    def _of_wrap(self, place: str) -> str | None:
        kind, _, number = place.partition(":")
        return next((key for key, row in self.rows.items() if kind == "wrap" and str(row.wrap_id) == number), None)

    def go_to_place(self, place: str | None) -> None:
        """Go to a kept text, by itself or as the newest of `wrap:7`; one dealt with is loaded first."""
        place = self._of_wrap(place) or place if place else None
        super().go_to_place(place)
        self._look_further()

    def _look_further(self) -> None:
        """What is waited for and not among the texts that wait was dealt with: have those read too."""
        if self._wanted is not None and not self._over_too and self._asked is not None and self._reading is None:
            self._over_too = True
            self.call_later(self.refresh_rows)

    def key_of(self, row: KeptRow) -> str:
        """`salvage:3` or `draft:7`."""
        return row.key

    def words_of(self, row: KeptRow) -> tuple[str | None, ...]:
        """What tells one from another."""
        return row.key, row.project_key, row.code, row.client_name, row.beginning, why_words(row)

    def row_of(self, row: KeptRow) -> Row:
        """One kept text."""
        over = row.dealt_with_at is not None
        return Row(
            row.key,
            (
                Cell(f"{row.kind} {row.id}", "muted" if over else ""),
                clock_short(row.created_at),
                row.project_key,
                Cell("dealt with", "muted") if over else Cell(why_words(row), "warning"),
                f"{row.characters:,}",
                Cell(row.client_name) if row.client_name else Cell("–", "muted"),
            ),
        )

    def read_detail(self, view: View, row: KeptRow, clock: Clock) -> KeptBeside | None:
        """The text, and what stands."""
        del clock
        found = kept_texts.kept_text(view, row.kind, row.id)
        return None if found is None else KeptBeside(found, continuity.standing(view, row.project_key))

    def document(self, row: KeptRow, detail: KeptBeside | None) -> Document:
        """The text, how it differs from what stands, and what keeps it from being adopted."""
        if detail is None:
            tabs = tuple(DetailTab(title, READING) for title in ("Text", "Against what stands", "About"))
        else:
            version = detail.standing.version
            title = f"From revision {version.revision} to this text" if version else "Nothing stands yet"
            tabs = (
                DetailTab("Text", (Section("", (Line(detail.kept.text),)),)),
                DetailTab(
                    "Against what stands", (Section(title, diff_lines(version.text if version else None, detail.kept.text)),)
                ),
                DetailTab("About", about_sections(row, detail.kept)),
            )
        return Document(f"kept:{row.key}", tabs)

    def text_of(self, row: KeptRow, detail: KeptBeside | None) -> str | None:
        """The kept text."""
        del row
        return detail.kept.text if detail else None


def why_words(row: KeptRow) -> str:
    """Why it was kept."""
    return row.code or ("still being written" if row.wrap_state == "open" else f"its wrap was {row.wrap_state}")


def about_sections(row: KeptRow, detail: KeptDetail) -> tuple[Section, ...]:
    """The facts of a kept text, and whether it can be adopted."""
    facts = [
        Line(f"{row.kind} {row.id}", label="kept"),
        Line(row.project_key, label="project"),
        Line(f"{row.wrap_id}, {row.wrap_state}", label="wrap"),
        Line(why_words(row), "warning", label="because"),
        Line(clock_words(row.created_at), label="at"),
        Line(row.client_name or "unknown", label="of"),
        Line(f"{row.characters:,}", label="characters"),
        Line(f"{detail.episodes:,} frozen by its wrap", label="episodes"),
        Line("–" if detail.prepared_revision is None else str(detail.prepared_revision), label="from revision"),
        Line(detail.sha256, "muted", label="SHA-256"),
    ]
    if row.wrap_ended_reason:
        facts.insert(4, Line(row.wrap_ended_reason, label="ended because"))
    if row.dealt_with_at:
        facts.append(Line(clock_words(row.dealt_with_at), "ok", label="dealt with"))
    can = [Line(one.sentence, "warning", "✗") for one in detail.obstacles]
    return Section("Kept", tuple(facts)), Section("Can it be adopted?", tuple(can) or (Line("Yes: I adopts it.", "ok", "✓"),))
