"""Slots: topics in flight with their holder or as orphans, and every project's base focus; closed ones on a toggle (console.md, screen 4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, ClassVar

from textual import on, work
from textual.binding import BindingType

from console import table_messages
from console.actions import bindings_for
from console.panes.base import ListPane, holds
from console.panes.faces import age_cell, clock_words
from console.panes.slot_document import base_document, slot_document
from console.rows import Cell, Row
from console.table import Column, RowTable
from core.errors import StoreError
from core.views.sessions import SessionRow
from core.views.slots import BaseFocus, SlotDetail, SlotRow, base_focus, closed_slots, slot_detail, slots_named

BASE = "base:"
"""How the key of a base focus begins; a slot's is its id."""

SORT_KEYS: dict[str, Callable[[SlotRow], Any]] = {
    "project": lambda row: (row.project_key, not row.is_open, row.title),
    "title": lambda row: (row.title, row.project_key),
    "revision": lambda row: (-row.revision, row.project_key),
    "holder": lambda row: (not row.is_open, not row.is_orphan, row.holder_client_key or "", row.project_key),
    "state": lambda row: (not row.is_open, not row.receipt_pending, not row.is_stale, row.project_key),
    "anchors": lambda row: (row.anchors, row.project_key),
    "touched": lambda row: -(row.body_age_seconds or 0),
}


class SlotsPane(ListPane):
    """The list of slots and base focuses with the detail of one."""

    SCREEN = "slots"
    EMPTY = "No slots and no projects"
    SORT = ("project", False)
    COLUMNS = (
        Column("project", "project", 10, grow=1, most=24),
        Column("title", "title", 16, grow=4, most=60),
        Column("revision", "rev", 4, align="right"),
        Column("holder", "holder", 14, grow=2, most=32),
        Column("state", "state", 10, drop=6),
        Column("anchors", "anchors", 14, grow=3, most=48, drop=5),
        Column("touched", "text is", 11, flashes=False),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("slots", "pane")]

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, SlotRow] = {}
        self.bases: tuple[str, ...] = ()
        self._closed_rows: tuple[SlotRow, ...] = ()
        self._show_closed = False
        self._detail: SlotDetail | None = None
        self._base: BaseFocus | None = None
        self._detail_for: tuple[str, object] | None = None

    @property
    def current(self) -> SlotRow | None:
        """The slot under the cursor; None on a base focus."""
        return self.rows.get(self.table.cursor_key or "")

    @property
    def project_key(self) -> str | None:
        """The project of the row under the cursor, else the one that is shown."""
        key = self.table.cursor_key or ""
        row = self.current
        if row is not None:
            return row.project_key
        return key.removeprefix(BASE) if key.startswith(BASE) else self.shown.project or None

    @property
    def session(self) -> SessionRow | None:
        """The session that holds the slot under the cursor."""
        row, snapshot = self.current, self.shown.snapshot
        if row is None or snapshot is None or row.holder_session_id is None:
            return None
        return next((one for one in snapshot.sessions if one.session_id == row.holder_session_id), None)

    def refresh_rows(self) -> None:
        """Filter, sort and show the slots of the snapshot, each project's base focus before its slots."""
        snapshot = self.shown.snapshot
        if snapshot is None:
            self.table.set_empty("not measured: the store has not been read yet", "warning")
            self.set_rows(())
            return
        open_ids = {row.slot_id for row in snapshot.slots}
        found = [*snapshot.slots, *(row for row in self._closed_rows if self._show_closed and row.slot_id not in open_ids)]
        wanted = [row for row in found if self._wanted_row(row)]
        column, reverse = self.table.sort or ("project", False)
        wanted.sort(key=SORT_KEYS[column], reverse=reverse)
        self.rows = {row.slot_id: row for row in wanted}
        self.bases = tuple(row.project_key for row in snapshot.projects if self._wanted_base(row.project_key))
        more = f" · {snapshot.closed_slots:,} closed, h shows them" if snapshot.closed_slots and not self._show_closed else ""
        self.table.set_empty("No slot matches what is filtered: esc shows all" if found else f"No open slots{more}")
        self.table.drop_marks(key for key in self.table.marks() if key not in self.rows)
        self.set_rows(self._in_order(wanted, by_project=column == "project", reverse=reverse))
        self.show_detail()

    def _in_order(self, wanted: list[SlotRow], *, by_project: bool, reverse: bool) -> list[Row]:
        now = self.room.clock.now()
        bases = [self._base_row(key) for key in (reversed(self.bases) if reverse else self.bases)]
        slots = [_row(row, now) for row in wanted]
        if not by_project:
            return [*slots, *bases]
        projects = dict.fromkeys([*self.bases, *sorted({row.project_key for row in wanted})])
        ordered: list[Row] = []
        for project in sorted(projects, reverse=reverse):
            ordered += [self._base_row(key) for key in self.bases if key == project]
            ordered += [_row(row, now) for row in wanted if row.project_key == project]
        return ordered

    def _base_row(self, project_key: str) -> Row:
        snapshot = self.shown.snapshot
        projects = snapshot.projects if snapshot else ()
        revision = next((one.focus_revision for one in projects if one.project_key == project_key), 0)
        muted = Cell("–", "muted")
        cells = (project_key, Cell("base focus", "muted"), Cell(str(revision), "muted"), muted, muted, muted, muted)
        return Row(f"{BASE}{project_key}", cells)

    def filter_changed(self, words: str) -> None:
        """Narrow the list."""
        self.refresh_rows()
        self.filter_bar.set_note(f"{len(self.rows)} shown" if words else "")

    def go_to_place(self, place: str | None) -> None:
        """Go to a slot; a closed one is loaded first."""
        super().go_to_place(place)
        if place and not place.startswith(BASE) and self.shown.snapshot is not None and place not in self.rows:
            self._show_closed = True
            self._load_closed(place)

    def action_show_ended(self) -> None:
        """Show or hide the slots that are closed."""
        self._show_closed = not self._show_closed
        if self._show_closed:
            self._load_closed(None)
        else:
            self.refresh_rows()

    def copied(self) -> tuple[str, str] | None:
        """The id and the JSON of the slot under the cursor, or of the base focus."""
        row = self.current
        if row is not None:
            return row.slot_id, json.dumps(asdict(row), ensure_ascii=False, default=str)
        if self._base is not None and self.table.cursor_key == f"{BASE}{self._base.project_key}":
            return self._base.project_key, json.dumps(asdict(self._base), ensure_ascii=False, default=str)
        return None

    def lines(self) -> list[str]:
        """What is shown, as JSON lines for a file."""
        return [json.dumps(asdict(row), ensure_ascii=False, default=str) for row in self.rows.values()]

    @on(RowTable.Chosen)
    def _opened(self, event: table_messages.Chosen) -> None:
        event.stop()
        self.detail.body.focus()
        if not self.detail.display:
            self.split.toggle_enlarged()

    def _wanted_row(self, row: SlotRow) -> bool:
        if self.shown.project and row.project_key != self.shown.project:
            return False
        if self.shown.only_attention and not (row.receipt_pending or (row.is_orphan and (row.was_bound or row.is_stale))):
            return False
        words = self.filter_bar.text
        state = "orphan" if row.is_orphan else row.holder_client_key
        return not words or holds(words, row.project_key, row.title, row.slot_id, row.body, state, *row.anchors)

    def _wanted_base(self, project_key: str) -> bool:
        if self.shown.only_attention or (self.shown.project and project_key != self.shown.project):
            return False
        words = self.filter_bar.text
        return not words or holds(words, project_key, "base focus")

    def show_detail(self) -> None:
        """Bring the detail in line with the row under the cursor."""
        key, row = self.table.cursor_key, self.current
        project = self.project_key
        if key is None or project is None:
            self.detail.show(slot_document(None, None, None))
            return
        if self._detail is not None and (row is None or self._detail.row.slot_id != row.slot_id):
            self._detail = None
        if self._base is not None and self._base.project_key != project:
            self._base = None
        self.detail.show(base_document(project, self._base) if row is None else slot_document(row, self._detail, self._base))
        snapshot = self.shown.snapshot
        wanted = (key, snapshot.trail_last if snapshot else None)
        if self._detail_for != wanted:
            self._detail_for = wanted
            self._load_detail(row.slot_id if row else None, project)

    @work(thread=True, exclusive=True, group="slot-detail", exit_on_error=False)
    def _load_detail(self, slot_id: str | None, project_key: str) -> None:
        snapshot = self.shown.snapshot
        sessions = snapshot.sessions if snapshot else ()
        try:
            with self.room.looker.snapshot() as (view, witness):
                detail = slot_detail(view, slot_id, sessions, witness.clock.now()) if slot_id else None
                base = base_focus(view, project_key)
        except StoreError:
            return
        self.app.call_from_thread(self._detail_loaded, slot_id, detail, base)

    def _detail_loaded(self, slot_id: str | None, detail: SlotDetail | None, base: BaseFocus | None) -> None:
        row = self.current
        if base is None or base.project_key != self.project_key or (row.slot_id if row else None) != slot_id:
            return
        self._detail, self._base = detail, base
        self.detail.show(base_document(base.project_key, base) if row is None else slot_document(row, detail, base))

    @work(thread=True, exclusive=True, group="closed-slots", exit_on_error=False)
    def _load_closed(self, wanted: str | None) -> None:
        try:
            with self.room.looker.snapshot() as (view, witness):
                now = witness.clock.now()
                rows = closed_slots(view, now)
                if wanted is not None and all(row.slot_id != wanted for row in rows):
                    rows = (*rows, *(row for row in slots_named(view, wanted, (), now) if not row.is_open))
        except StoreError:
            return
        self.app.call_from_thread(self._closed_loaded, rows)

    def _closed_loaded(self, rows: tuple[SlotRow, ...]) -> None:
        self._closed_rows = rows
        self.refresh_rows()


def _row(row: SlotRow, now: Any) -> Row:
    if not row.is_open:
        holder = Cell("closed", "muted")
        state = Cell((row.close_reason or "").partition(":")[0].replace("explicit", "by hand"), "muted")
        touched = Cell(clock_words(row.closed_at, now), "muted")
    else:
        orphan = Cell("orphan", "warning", "○")
        holder = orphan if row.is_orphan else Cell(row.holder_client_key or (row.holder_session_id or "")[:8], "", "●")
        state = (
            Cell("received", "accent")
            if row.receipt_pending
            else Cell("stale", "warning")
            if row.is_stale
            else Cell("·", "muted")
        )
        touched = age_cell(row.body_age_seconds)
    return Row(row.slot_id, (row.project_key, row.title, str(row.revision), holder, state, ", ".join(row.anchors), touched))
