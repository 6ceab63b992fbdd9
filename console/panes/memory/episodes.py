"""Episodes: what the agents recorded, newest first, searched as one types (console.md, screen 6; wraps.md a2)."""

from __future__ import annotations

import json
from typing import ClassVar

from textual.binding import BindingType

from console.actions import bindings_for
from console.panes.faces import clock_short, clock_words, holder_words
from console.panes.memory.view import Asked, Listed, MemoryView
from console.panes.wrap_document import timeline_line
from console.rows import Cell, Row
from console.table import Column
from console.widgets.document import DetailTab, Document, Line, Section
from core.clock import Clock
from core.store.database import View
from core.views import episodes
from core.views.episodes import EpisodeDetail, EpisodeRow, Neighbour

TRUST_ROLES = {"agent": "", "user": "", "tool": "muted", "external": "warning"}
STATE_ROLES = {"waiting": "accent", "frozen": "accent", "covered": "muted", "deleted": "danger"}
READING = (Section("", (Line("reading…", "muted"),)),)


class EpisodesView(MemoryView):
    """Every episode there is, or those that a search finds; one can be deleted."""

    SCREEN = "memory.episodes"
    TITLE = "Episodes"
    EMPTY = "No episodes yet"
    SEARCHES = True
    NOTHING_MATCHES = "No episode holds that: esc shows all"
    COLUMNS = (
        Column("at", "recorded", 11, sortable=False, flashes=False),
        Column("type", "type", 11, sortable=False, drop=2),
        Column("content", "what", 20, grow=6, most=160, sortable=False),
        Column("project", "project", 10, grow=1, most=24, sortable=False, drop=3),
        Column("source", "source", 10, grow=1, most=24, sortable=False, drop=5),
        Column("state", "state", 9, sortable=False, drop=4),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("memory.episodes", "pane")]

    def read(self, view: View, asked: Asked, clock: Clock) -> Listed:
        """The newest episodes, or what a search finds: those with the phrase first, then those with some of its words."""
        del clock
        if asked.words.strip():
            found = (
                episodes.search(view, asked.project, asked.words, limit=asked.limit)
                if asked.project
                else episodes.search_everywhere(view, asked.words, limit=asked.limit)
            )
            by_words = len(found.rows) - min(found.exact, len(found.rows))
            also = f", {by_words:,} more by words" if by_words else ""
            return Listed(found.rows, note=f"{found.exact:,} with the phrase{also}")
        page = episodes.page(view, asked.project or None, limit=asked.limit)
        return Listed(page.rows, page.next_before is not None)

    def key_of(self, row: EpisodeRow) -> str:
        """The episode's id."""
        return row.episode_id

    def row_of(self, row: EpisodeRow) -> Row:
        """One episode."""
        hidden = row.superseded_by is not None
        what = row.beginning if row.deleted_at is None else "deleted"
        return Row(
            row.episode_id,
            (
                clock_short(row.created_at),
                row.episode_type,
                Cell(what, "muted" if hidden or row.deleted_at else TRUST_ROLES.get(row.effective_trust, "")),
                row.project_key,
                row.source,
                Cell("replaced", "muted") if hidden else Cell(row.state, STATE_ROLES[row.state]),
            ),
        )

    def read_detail(self, view: View, row: EpisodeRow, clock: Clock) -> EpisodeDetail | None:
        """The episode whole; its tombstone once it is deleted."""
        del clock
        return episodes.episode(view, row.episode_id)

    def document(self, row: EpisodeRow, detail: EpisodeDetail | None) -> Document:
        """The episode, what it hangs together with, and what the trail knows of it."""
        # what the list has is there at once; what is read takes its place
        if detail is None:
            tabs = (
                DetailTab("Episode", episode_sections(row, None)),
                DetailTab("Links", READING),
                DetailTab("Timeline", READING),
            )
        else:
            timeline = tuple(timeline_line(one) for one in detail.timeline) or (Line("the trail knows nothing of it", "muted"),)
            tabs = (
                DetailTab("Episode", episode_sections(detail.row, detail)),
                DetailTab("Links", link_sections(detail)),
                DetailTab("Timeline", (Section("Out of the trail", timeline),)),
            )
        return Document(f"episode:{row.episode_id}", tabs)

    def text_of(self, row: EpisodeRow, detail: EpisodeDetail | None) -> str | None:
        """The episode's content."""
        del row
        return detail.content if detail else None


def episode_sections(row: EpisodeRow, detail: EpisodeDetail | None) -> tuple[Section, ...]:
    """Its content and its facts; until it is read, as much of them as the list has."""
    trust = row.trust if row.trust == row.effective_trust else f"{row.effective_trust}, recorded as {row.trust}"
    facts = [
        Line(row.episode_id, label="episode"),
        Line(row.project_key, label="project"),
        Line(clock_words(row.created_at), label="recorded"),
        Line(row.episode_type, label="type"),
        Line(trust, TRUST_ROLES.get(row.effective_trust, ""), label="trust"),
        Line(row.source, label="source"),
        Line(holder_words(detail.holder) if detail else "…", label="by"),
        Line(row.state, STATE_ROLES[row.state], label="state"),
    ]
    if row.state_key is not None:
        facts.append(Line(row.state_key, label="state key"))
    if detail is None:
        return Section("", (Line(row.beginning),)), Section("About it", tuple(facts))
    if detail.tags:
        facts.append(Line(", ".join(detail.tags), label="tags"))
    if detail.tombstone is not None:
        stone = detail.tombstone
        gone = (
            Line(clock_words(stone.removed_at), "danger", label="deleted"),
            Line(f"{stone.removed_by.kind} {stone.removed_by.name}", label="by"),
            Line(f"{stone.characters:,}", label="characters"),
            Line(stone.content_sha256, "muted", label="SHA-256"),
        )
        return Section("Its tombstone", gone), Section("What it was", tuple(facts))
    sections = [Section("", (Line(detail.content or ""),)), Section("About it", tuple(facts))]
    if detail.metadata:
        text = detail.metadata if isinstance(detail.metadata, str) else json.dumps(detail.metadata, ensure_ascii=False, indent=2)
        sections.append(Section("Metadata", (Line(text),)))
    return tuple(sections)


def link_sections(detail: EpisodeDetail) -> tuple[Section, ...]:
    """What it replaced, what it rests on, which wraps had it and which patterns rest on it."""
    sections = [
        Section(title, tuple(_neighbour(one) for one in found))
        for title, found in (
            ("Replaced by", detail.superseded_by),
            ("It replaces", detail.supersedes),
            ("Derived from", detail.derived_from),
            ("Derived of it", detail.derived),
        )
        if found
    ]
    if detail.patterns:
        resting = tuple(Line(f"{one.level}x; this grounds {one.rung}x", label=one.name) for one in detail.patterns)
        sections.append(Section("Patterns that rest on it", resting))
    if detail.wraps:
        frozen = tuple(
            Line(
                f"{one.state}{', took it in' if one.covered else ''}, {clock_words(one.started_at)}", label=f"wrap {one.wrap_id}"
            )
            for one in detail.wraps
        )
        sections.append(Section("Wraps that froze it", frozen))
    return tuple(sections) or (Section("", (Line("nothing hangs on it", "muted"),)),)


def _neighbour(one: Neighbour) -> Line:
    if one.created_at is None:
        return Line("not in the store", "muted", label=one.episode_id)
    return Line(one.beginning or "", TRUST_ROLES.get(one.effective_trust or "", ""), label=one.episode_id)
