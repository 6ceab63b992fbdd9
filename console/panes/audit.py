"""Audit: the trail, newest at the end and followed; filtered, read row by row, verified and exported (console.md, screen 5)."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.worker import get_current_worker

from console import table_messages
from console.actions import bindings_for
from console.panes.base import ListPane
from console.panes.trail_source import FoundRows, TrailSource
from console.panes.trail_words import parse_filter
from console.table import Column, RowTable
from console.widgets.document import NOTHING, DetailTab, Document, Line, Section
from core.errors import StoreError
from core.views import trail
from core.views.trail import TrailFilter, TrailRow

MOST_FOUND = 5_000
"""Matches that a filtered list holds; more are counted as "≥"."""


class AuditPane(ListPane):
    """The trail with the detail of one row."""

    SCREEN = "audit"
    EMPTY = "The trail is empty"
    COLUMNS = (
        Column("seq", "row", 8, align="right", sortable=False),
        Column("at", "time", 11, sortable=False),
        Column("event", "event", 18, grow=1, most=24, sortable=False),
        Column("outcome", "outcome", 9, sortable=False),
        Column("project", "project", 10, grow=1, most=24, drop=2, sortable=False),
        Column("actor", "actor", 14, grow=1, most=26, sortable=False),
        Column("via", "via", 8, grow=2, most=40, drop=3, sortable=False),
        Column("subject", "subject", 12, grow=1, most=46, drop=1, sortable=False),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("audit", "pane")]

    def __init__(self) -> None:
        super().__init__()
        self.source = TrailSource(self._load_page)
        self.found: FoundRows | None = None
        self.wanted = TrailFilter()
        self._listed = False
        self._looked_to = 0

    def make_table(self) -> RowTable:
        """A list that keeps to its end until one moves up."""
        return RowTable(self.COLUMNS, empty=self.EMPTY, markable=False, follows=True)

    @property
    def current(self) -> TrailRow | None:
        """The row under the cursor."""
        held = self.found if self.found is not None else self.source
        return held.trail_row_at(self.table.cursor_index)

    def chosen(self) -> tuple[()]:
        """No row of the trail can be acted on."""
        return ()

    def refresh_rows(self) -> None:
        """Take the trail's new end in, and the project filter."""
        snapshot = self.shown.snapshot
        if snapshot is None:
            self.table.set_empty("not measured: the store has not been read yet", "warning")
            return
        self.table.set_empty("No row matches the filter" if self.found is not None else self.EMPTY)
        grown = self.source.grow(snapshot.trail_first, snapshot.trail_last)
        self._apply_filter()
        if self.found is None:
            if not self._listed:
                self._listed = True
                self.table.set_source(self.source)
            elif grown:
                self.table.count_changed()
        elif grown:
            self._find_newer(self.wanted, self._looked_to, snapshot.trail_last)
        self.show_detail()

    def filter_changed(self, words: str) -> None:
        """Other words in the filter."""
        del words
        self._apply_filter()
        self.show_detail()

    def go_to_place(self, place: str | None) -> None:
        """Go to the row with that number."""
        if place and place.isdigit() and self.found is None and self.source.count():
            self.table.go_to_index(int(place) - self.source.first)

    def copied(self) -> tuple[str, str] | None:
        """The number and the JSON of the row under the cursor, to be copied."""
        row = self.current
        return None if row is None else (str(row.seq), json.dumps(asdict(row), ensure_ascii=False))

    def lines(self) -> list[str]:
        """What is shown, as JSON lines for a file: the matches of the filter, or the pages that are held."""
        held = self.found if self.found is not None else self.source
        rows = (held.trail_row_at(number) for number in range(held.count()))
        return [json.dumps(asdict(row), ensure_ascii=False) for row in rows if row is not None]

    def action_verify(self) -> None:
        """Check the trail link by link."""
        self.room.verify_trail()

    def action_export_trail(self) -> None:
        """Write the whole trail to a file."""
        self.room.export_trail()

    def action_accept_anchors(self) -> None:
        """Say what the anchors say, and let them start again after a restore."""
        self.room.accept_anchors()

    @on(RowTable.Chosen)
    def _opened(self, event: table_messages.Chosen) -> None:
        event.stop()
        row = self.current
        if row is not None and row.subject and row.subject.startswith("wrap:"):
            self.room.go_to_target(row.subject)
        else:
            self.detail.body.focus()

    def _apply_filter(self) -> None:
        wanted, problems = parse_filter(self.filter_bar.text, self.room.looker.clock.now())
        if self.shown.project and not wanted.project_key:
            wanted = replace(wanted, project_key=self.shown.project)
        if self.shown.only_attention and not wanted.outcome:
            wanted = replace(wanted, outcome="refused")
        if problems:
            self.filter_bar.set_note("; ".join(problems))
        if wanted == self.wanted:
            return
        self.wanted = wanted
        if wanted.empty:
            self.found = None
            self.filter_bar.set_note("; ".join(problems))
            self._listed = True
            self.table.set_source(self.source)
            return
        self.found = FoundRows()
        self.table.set_empty("looking…")
        self.table.set_source(self.found)
        self._looked_to = self.source.last
        self._find_older(wanted, self.source.last + 1)

    def show_detail(self) -> None:
        """Bring the detail in line with the row under the cursor."""
        row = self.current
        self.detail.show(NOTHING if row is None else trail_document(row))

    def _load_page(self, first: int, last: int) -> None:
        self._fetch_page(first, last)

    @work(thread=True, group="trail-pages", exit_on_error=False)
    def _fetch_page(self, first: int, last: int) -> None:
        try:
            with self.room.looker.snapshot() as (view, _):
                rows = trail.page(view, first, last)
        except StoreError:
            self.app.call_from_thread(self.source.failed, first)
            return
        self.app.call_from_thread(self._page_arrived, first, last, rows)

    def _page_arrived(self, first: int, last: int, rows: tuple[TrailRow, ...]) -> None:
        whole = self.source.arrived(first, rows)
        if self.found is None:
            if not whole:
                self.table.retry()
            self.table.page_arrived(first - self.source.first, last - self.source.first)
            self.show_detail()

    @work(thread=True, exclusive=True, group="trail-filter", exit_on_error=False)
    def _find_older(self, wanted: TrailFilter, before: int | None) -> None:
        worker = get_current_worker()
        held = 0
        while before is not None and held < MOST_FOUND and not worker.is_cancelled:
            try:
                with self.room.looker.snapshot() as (view, _):
                    found = trail.filter_chunk(view, wanted, before)
            except StoreError:
                return
            held += len(found.rows)
            before = found.next_before
            self.app.call_from_thread(self._found_older, wanted, found.rows, before is None, held >= MOST_FOUND)

    def _found_older(self, wanted: TrailFilter, rows: tuple[TrailRow, ...], complete: bool, full: bool) -> None:
        if self.found is None or wanted != self.wanted:
            return  # another filter has taken its place since
        self.found.add_older(rows)
        self.found.complete = complete
        count = f"{self.found.count():,}"
        self.filter_bar.set_note(f"{count} found" if complete else f"≥ {count}" if full else f"{count} found, looking…")
        if complete:
            self.table.set_empty("No row matches the filter")
        if rows or complete:
            self.table.count_changed()
            self.show_detail()

    @work(thread=True, exclusive=True, group="trail-newer", exit_on_error=False)
    def _find_newer(self, wanted: TrailFilter, seen: int, last: int) -> None:
        try:
            with self.room.looker.snapshot() as (view, _):
                found = trail.filter_chunk(view, wanted, last + 1, chunk=max(1, last - seen))
        except StoreError:
            return
        self.app.call_from_thread(self._found_newer, wanted, found.rows, last)

    def _found_newer(self, wanted: TrailFilter, rows: tuple[TrailRow, ...], last: int) -> None:
        if self.found is None or wanted != self.wanted:
            return
        newest = self.found.newest
        fresh = tuple(row for row in rows if row.seq > newest)
        self._looked_to = last
        if fresh:
            self.found.add_newer(fresh)
            self.table.count_changed()


def trail_document(row: TrailRow) -> Document:
    """The detail of one row of the trail."""
    who = row.who
    about = (
        Line(str(row.seq), label="row"),
        Line(row.at, label="time"),
        Line(row.event, label="event"),
        Line(row.outcome, "warning" if row.outcome == "refused" else "", label="outcome"),
        Line(row.project_key or "–", label="project"),
        Line(f"{who.kind} {who.name}", label="actor"),
        Line(who.via, label="via"),
        Line(row.connection_id or "–", label="connection"),
        Line(
            f"{row.subject}  (enter goes there)" if (row.subject or "").startswith("wrap:") else row.subject or "–",
            label="subject",
        ),
    )
    hashes = (
        Line(row.prev_hash, "muted", label="previous"),
        Line(row.hash, "muted", label="hash"),
        Line(str(row.version), "muted", label="version"),
    )
    return Document(
        f"trail:{row.seq}",
        (
            DetailTab("Row", (Section("Row", about), Section("Data", _data(row.data)), Section("Chain", hashes))),
            DetailTab("Raw", (Section("Data as stored", (Line(row.data),)), Section("Actor as stored", (Line(row.actor),)))),
        ),
    )


def _data(text: str) -> tuple[Line, ...]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return (Line("cannot be read as JSON; see Raw", "warning"), Line(text))
    if not isinstance(data, dict) or not data:
        return (Line("none" if data == {} else text, "muted"),)
    return tuple(Line(_value(value), label=str(name)) for name, value in data.items())


def _value(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(value) if any(len(item) > 20 for item in value) else ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
