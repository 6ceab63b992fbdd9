"""Wraps: every open wrap, who holds it and whether they live; ended ones on a toggle (console.md, screen 2)."""

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
from console.panes.faces import age_cell, clock_words, count_cell, holder_words, verdict_cell
from console.panes.wrap_document import wrap_document
from console.rows import Cell, Row
from console.table import Column, RowTable
from core.errors import StoreError
from core.views.wraps import WrapDetail, WrapRow, ended_wraps, wrap_detail

ORDER = {"DEAD": 0, "PARTIAL": 1, "WEDGED": 2, "STALE": 3, "UNKNOWN": 4, "STARTING": 5, "LIVE": 6}
NEEDS_A_PERSON = ("DEAD", "PARTIAL", "WEDGED", "STALE")

SORT_KEYS: dict[str, Callable[[WrapRow], Any]] = {
    "verdict": lambda row: (row.ended_at is not None, ORDER[row.judgement.verdict], -row.blocks, -(row.age_seconds or 0)),
    "project": lambda row: row.project_key or "",
    "age": lambda row: -(row.age_seconds or 0),
    "holder": lambda row: (row.holder.client_name or "", row.holder.pid or 0),
    "user": lambda row: row.holder.user or "",
    "episodes": lambda row: row.episodes or 0,
    "blocks": lambda row: -row.blocks,
    "gate": lambda row: row.gate,
    "token": lambda row: row.token_start or "",
    "wrap": lambda row: row.wrap_id,
}


class WrapsPane(ListPane):
    """The list of wraps with the detail of one."""

    SCREEN = "wraps"
    EMPTY = "No open wraps"
    SORT = ("verdict", False)
    COLUMNS = (
        Column("wrap", "wrap", 5, align="right", drop=6),
        Column("project", "project", 12, grow=2, most=30),
        Column("verdict", "verdict", 10),
        Column("age", "open for", 11, flashes=False),
        Column("holder", "holder", 18, grow=3, most=44),
        Column("user", "user", 8, grow=1, most=16, drop=9),
        Column("episodes", "episodes", 8, align="right", drop=7),
        Column("blocks", "blocks", 6, align="right"),
        Column("gate", "gate", 8, drop=8),
        Column("token", "token", 9, drop=5),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("wraps", "pane")]

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, WrapRow] = {}
        self._ended: tuple[WrapRow, ...] = ()
        self._show_ended = False
        self._detail: WrapDetail | None = None
        self._detail_for: tuple[int, object] | None = None

    @property
    def current(self) -> WrapRow | None:
        """The wrap under the cursor."""
        return self.rows.get(self.table.cursor_key or "")

    def chosen(self) -> tuple[WrapRow, ...]:
        """What an action is about: the marked wraps that are shown, or the one under the cursor."""
        marked = tuple(self.rows[key] for key in self.table.shown_marks() if key in self.rows)
        return marked or ((self.current,) if self.current else ())

    def refresh_rows(self) -> None:
        """Filter, sort and show the wraps of the snapshot."""
        snapshot = self.shown.snapshot
        if snapshot is None:
            self.table.set_empty("not measured: the store has not been read yet", "warning")
            self.set_rows(())
            return
        found = [*snapshot.wraps, *(self._ended if self._show_ended else ())]
        wanted = [row for row in found if self._wanted_row(row)]
        column, reverse = self.table.sort or ("verdict", False)
        wanted.sort(key=SORT_KEYS[column], reverse=reverse)
        self.rows = {str(row.wrap_id): row for row in wanted}
        self._say_empty(len(found), snapshot.ended_wraps)
        self.table.drop_marks(key for key in self.table.marks() if key not in {str(row.wrap_id) for row in found})
        self.set_rows([self._row(row) for row in wanted])
        self.show_detail()

    def filter_changed(self, words: str) -> None:
        """Narrow the list."""
        self.refresh_rows()
        self.filter_bar.set_note(f"{len(self.rows)} shown" if words else "")

    def go_to_place(self, place: str | None) -> None:
        """Go to a wrap; an ended one is loaded first."""
        super().go_to_place(place)
        snapshot = self.shown.snapshot
        if place and snapshot and place not in self.rows and not any(str(row.wrap_id) == place for row in snapshot.wraps):
            self._show_ended = True
            self._load_ended()

    def action_show_ended(self) -> None:
        """Show or hide the ended wraps."""
        self._show_ended = not self._show_ended
        if self._show_ended:
            self._load_ended()
        else:
            self.refresh_rows()

    def copied(self) -> tuple[str, str] | None:
        """The id and the JSON of the wrap under the cursor, to be copied."""
        row = self.current
        return None if row is None else (str(row.wrap_id), json.dumps(asdict(row), ensure_ascii=False, default=str))

    def lines(self) -> list[str]:
        """What is shown, as JSON lines for a file."""
        return [json.dumps(asdict(row), ensure_ascii=False, default=str) for row in self.rows.values()]

    @on(RowTable.Chosen)
    def _opened(self, event: table_messages.Chosen) -> None:
        event.stop()
        self.detail.body.focus()
        if not self.detail.display:
            self.split.toggle_enlarged()

    def _wanted_row(self, row: WrapRow) -> bool:
        if self.shown.project and row.project_key != self.shown.project:
            return False
        if self.shown.only_attention and (row.ended_at or row.judgement.verdict not in NEEDS_A_PERSON):
            return False
        holder = row.holder
        words = self.filter_bar.text
        texts = (row.project_key, row.judgement.verdict, row.state, holder.client_name, holder.user, holder.host, str(holder.pid))
        return not words or holds(words, *texts, row.token_start, str(row.wrap_id), row.ended_reason)

    def _say_empty(self, found: int, ended: int) -> None:
        if found:
            self.table.set_empty("No wrap matches what is filtered: esc shows all")
        else:
            more = f" · {ended} ended, h shows them" if ended and not self._show_ended else ""
            self.table.set_empty(f"No open wraps{more}")

    def _row(self, row: WrapRow) -> Row:
        ended = row.ended_at is not None
        state = Cell(row.state, "muted" if row.state == "saved" else "warning") if ended else verdict_cell(row.judgement.verdict)
        return Row(
            str(row.wrap_id),
            (
                str(row.wrap_id),
                Cell(row.project_key or "no project", "" if row.project_key else "warning"),
                state,
                Cell(clock_words(row.ended_at), "muted") if ended else age_cell(row.age_seconds),
                holder_words(row.holder),
                row.holder.user or "–",
                "–" if row.episodes is None else str(row.episodes),
                count_cell(row.blocks, "danger"),
                Cell("baton", "accent") if row.gated_session else Cell(row.gate, "muted"),
                Cell(row.token_start or "–", "muted"),
            ),
        )

    def show_detail(self) -> None:
        """Bring the detail in line with the row under the cursor."""
        row = self.current
        if row is None:
            self._detail = None
            self.detail.show(wrap_document(None, None))
            return
        if self._detail is not None and self._detail.row.wrap_id != row.wrap_id:
            self._detail = None
        self.detail.show(wrap_document(row, self._detail))
        snapshot = self.shown.snapshot
        wanted = (row.wrap_id, snapshot.trail_last if snapshot else None)
        if self._detail_for != wanted:
            self._detail_for = wanted
            self._load_detail(row.wrap_id)

    @work(thread=True, exclusive=True, group="wrap-detail", exit_on_error=False)
    def _load_detail(self, wrap_id: int) -> None:
        try:
            with self.room.looker.snapshot() as (view, witness):
                detail = wrap_detail(view, witness, wrap_id)
        except StoreError:
            return
        self.app.call_from_thread(self._detail_loaded, detail)

    def _detail_loaded(self, detail: WrapDetail | None) -> None:
        row = self.current
        if row is not None and detail is not None and detail.row.wrap_id == row.wrap_id:
            self._detail = detail
            self.detail.show(wrap_document(row, detail))

    @work(thread=True, exclusive=True, group="ended-wraps", exit_on_error=False)
    def _load_ended(self) -> None:
        try:
            with self.room.looker.snapshot() as (view, witness):
                rows = ended_wraps(view, witness)
        except StoreError:
            return
        self.app.call_from_thread(self._ended_loaded, rows)

    def _ended_loaded(self, rows: tuple[WrapRow, ...]) -> None:
        self._ended = rows
        self.refresh_rows()
