"""Knowledge: decisions, learnings, snippets, runbooks and ADRs, newest first or found by words (sessions.md a.6)."""

from __future__ import annotations

import json
from typing import ClassVar

from textual.binding import BindingType

from console.actions import bindings_for
from console.panes.faces import clock_short, clock_words
from console.panes.memory.view import Asked, Listed, MemoryView
from console.rows import Cell, Row
from console.table import Column
from console.widgets.document import DetailTab, Document, Line, Section
from core.clock import Clock
from core.knowledge.models import EntryLine
from core.store.database import View
from core.views import knowledge
from core.views.knowledge import KnowledgeDetail

STATUS_ROLES = {"active": "", "accepted": "ok", "proposed": "accent", "deprecated": "muted", "superseded": "muted"}
READING = (Section("", (Line("reading…", "muted"),)),)


class KnowledgeView(MemoryView):
    """The entries; with `h` the archived ones too."""

    SCREEN = "memory.knowledge"
    TITLE = "Knowledge"
    EMPTY = "No knowledge yet · h shows what is archived"
    SEARCHES = True
    NOTHING_MATCHES = "No entry holds that: esc shows all"
    COLUMNS = (
        Column("kind", "kind", 9, sortable=False),
        Column("title", "title", 20, grow=5, most=120, sortable=False),
        Column("status", "status", 10, sortable=False, drop=2),
        Column("project", "project", 10, grow=1, most=24, sortable=False, drop=1),
        Column("at", "captured", 11, sortable=False, flashes=False, drop=3),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("memory.knowledge", "pane")]

    def read(self, view: View, asked: Asked, clock: Clock) -> Listed:
        """The newest entries page by page, or what a search finds."""
        del clock
        project = asked.project or None
        if asked.words.strip():
            found = knowledge.search(view, project, asked.words)
            inside = " inside of words" if found.matched_by == "characters" else ""
            return Listed(found.rows, note=f"{len(found.rows):,}{' and more' if found.more else ''} found{inside}")
        rows: list[EntryLine] = []
        before: str | None = None
        while len(rows) < asked.limit:
            page = knowledge.page(view, project, also_archived=asked.over_too, before=before)
            rows += page.rows
            before = page.next_before
            if before is None:
                break
        return Listed(tuple(rows), before is not None)

    def key_of(self, row: EntryLine) -> str:
        """The entry's id."""
        return row.id

    def row_of(self, row: EntryLine) -> Row:
        """One entry."""
        number = f" {row.number}" if row.number is not None else ""
        over = row.archived_at is not None or row.superseded_by is not None
        status = Cell("archived", "muted") if row.archived_at else Cell(row.status, STATUS_ROLES[row.status])
        title = Cell(row.title or row.text or "", "muted" if over else "")
        return Row(row.id, (f"{row.kind}{number}", title, status, row.project_key, clock_short(row.created_at)))

    def read_detail(self, view: View, row: EntryLine, clock: Clock) -> KnowledgeDetail | None:
        """The entry whole."""
        del clock
        return knowledge.entry(view, row.id)

    def document(self, row: EntryLine, detail: KnowledgeDetail | None) -> Document:
        """The entry, and what replaced what."""
        if detail is None:
            tabs = tuple(DetailTab(title, READING) for title in ("Entry", "Links"))
        else:
            tabs = (DetailTab("Entry", entry_sections(detail)), DetailTab("Links", link_sections(detail)))
        return Document(f"knowledge:{row.id}", tabs)

    def text_of(self, row: EntryLine, detail: KnowledgeDetail | None) -> str | None:
        """The entry's text under its title."""
        del row
        return f"{detail.entry.title}\n\n{detail.entry.body}" if detail else None


def entry_sections(detail: KnowledgeDetail) -> tuple[Section, ...]:
    """Its text, its kind's own fields, its facts."""
    entry = detail.entry
    status = "archived" if entry.archived_at else entry.status
    facts = [
        Line(entry.id, label="entry"),
        Line(entry.kind if entry.number is None else f"{entry.kind} {entry.number}", label="kind"),
        Line(entry.project_key, label="project"),
        Line(status, STATUS_ROLES.get(status, "muted"), label="status"),
        Line(", ".join(entry.tags) or "–", label="tags"),
        Line(entry.owner_session_id or "no session", label="ledger of"),
        Line(clock_words(entry.created_at), label="captured"),
    ]
    if entry.updated_at != entry.created_at:
        facts.append(Line(clock_words(entry.updated_at), label="changed"))
    fields = tuple(
        Line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), label=name)
        for name, value in entry.details.items()
        # most of them are in the text already, in the words of its kind
        if value not in (None, "", []) and not (isinstance(value, str) and value in entry.body)
    )
    own = (Section("Its fields", fields),) if fields else ()
    return Section(entry.title, (Line(entry.body or "–"),)), *own, Section("About it", tuple(facts))


def link_sections(detail: KnowledgeDetail) -> tuple[Section, ...]:
    """What it replaced and was replaced by, and what it says it is related to."""
    sections = []
    if len(detail.chain) > 1:
        chain = tuple(
            Line(f"{one.title}  {clock_words(one.created_at)}", "strong" if one.id == detail.entry.id else "", label=one.id[:8])
            for one in detail.chain
        )
        sections.append(Section("From the oldest to the one that stands", chain))
    if detail.relations:
        related = tuple(Line(f"{one.title or 'not in the store'}  {one.id}", label=one.relation) for one in detail.relations)
        sections.append(Section("Related", related))
    return tuple(sections) or (Section("", (Line("nothing hangs on it", "muted"),)),)
