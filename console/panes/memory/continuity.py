"""Continuity: the text that stands in each project; with one project chosen, all its versions (console.md, screen 6)."""

from __future__ import annotations

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
from core.memory.continuity import Version
from core.store.database import View
from core.views import continuity
from core.views.continuity import Standing, VersionRow

ORIGIN_ROLES = {"saved": "", "adopted": "accent", "restored": "accent", "imported": "muted"}
READING = (Section("", (Line("reading…", "muted"),)),)


@dataclass(frozen=True, slots=True)
class VersionDetail:
    """One version whole, the one before it, and what stands."""

    version: Version
    before: Version | None
    standing: Standing


class ContinuityView(MemoryView):
    """The newest version of every project, or every version of one."""

    SCREEN = "memory.continuity"
    TITLE = "Continuity"
    EMPTY = "No continuity yet: the first saved wrap makes it"
    COLUMNS = (
        Column("project", "project", 12, grow=2, most=30, sortable=False),
        Column("revision", "rev", 4, align="right", sortable=False),
        Column("saved", "saved", 11, sortable=False, flashes=False),
        Column("characters", "characters", 10, align="right", sortable=False),
        Column("how", "how", 9, grow=1, most=26, sortable=False),
        Column("wrap", "wrap", 6, align="right", sortable=False, drop=1),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("memory.continuity", "pane")]

    def read(self, view: View, asked: Asked, clock: Clock) -> Listed:
        """Versions, the newest first."""
        del clock
        if asked.project:
            rows = continuity.versions(view, asked.project, limit=asked.limit + 1)
        else:
            rows = continuity.newest_versions(view, limit=asked.limit + 1)
        return Listed(rows[: asked.limit], len(rows) > asked.limit)

    def key_of(self, row: VersionRow) -> str:
        """Project and revision."""
        return f"{row.project_key}:{row.revision}"

    def words_of(self, row: VersionRow) -> tuple[str | None, ...]:
        """What names a version."""
        return row.project_key, str(row.revision), row.origin, row.sha256, how_words(row)

    def row_of(self, row: VersionRow) -> Row:
        """One version."""
        return Row(
            self.key_of(row),
            (
                row.project_key,
                str(row.revision),
                clock_short(row.created_at),
                f"{row.characters:,}",
                Cell(how_words(row), ORIGIN_ROLES[row.origin]),
                str(row.wrap_id) if row.wrap_id else Cell("–", "muted"),
            ),
        )

    def read_detail(self, view: View, row: VersionRow, clock: Clock) -> VersionDetail | None:
        """The version, the one before it, and what stands."""
        del clock
        found = continuity.version(view, row.project_key, row.revision)
        if found is None:
            return None
        earlier = continuity.versions(view, row.project_key, before_revision=row.revision, limit=1)
        before = continuity.version(view, row.project_key, earlier[0].revision) if earlier else None
        return VersionDetail(found, before, continuity.standing(view, row.project_key))

    def document(self, row: VersionRow, detail: VersionDetail | None) -> Document:
        """The text, what it changed, and where it comes from."""
        if detail is None:
            tabs = tuple(DetailTab(title, READING) for title in ("Text", "Changes", "About"))
        else:
            before = detail.before
            title = f"Since revision {before.revision}" if before else "The first version"
            changes = diff_lines(before.text if before else None, detail.version.text)
            tabs = (
                DetailTab("Text", (Section("", (Line(detail.version.text),)),)),
                DetailTab("Changes", (Section(title, changes),)),
                DetailTab("About", about_sections(row, detail.standing)),
            )
        return Document(f"continuity:{self.key_of(row)}", tabs)

    def text_of(self, row: VersionRow, detail: VersionDetail | None) -> str | None:
        """The version's text."""
        del row
        return detail.version.text if detail else None


def how_words(row: VersionRow) -> str:
    """How a version came to be."""
    if row.restored_from is not None:
        return f"restored from {row.restored_from}"
    return f"adopted from {row.adopted_from}" if row.adopted_from else row.origin


def about_sections(row: VersionRow, standing: Standing) -> tuple[Section, ...]:
    """The facts of a version, and the sections that the project's next wrap must have."""
    newest = row.revision == standing.revision
    stands = "this one" if newest else f"revision {standing.revision}"
    version = (
        Line(row.project_key, label="project"),
        Line(str(row.revision), label="revision"),
        Line(stands, "ok" if newest else "warning", label="stands"),
        Line(clock_words(row.created_at), label="saved"),
        Line(how_words(row), ORIGIN_ROLES[row.origin], label="how"),
        Line(str(row.wrap_id) if row.wrap_id else "–", label="wrap"),
        Line(f"{row.characters:,}; aim at {standing.target_characters:,}, at most {standing.hard_maximum:,}", label="characters"),
        Line(row.sha256, "muted", label="SHA-256"),
    )
    sections = tuple(Line(f"{one.heading}{' (optional)' if one.optional else ''}", label=one.role) for one in standing.sections)
    return Section("Version", version), Section(f"Sections of the next wrap: {standing.schema_name}", sections)
