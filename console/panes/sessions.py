"""Sessions: who works on what, whether they live, and what they leave; ended ones on a toggle (console.md, screen 3)."""

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
from console.panes.faces import clock_words, count_cell, holder_words, verdict_cell
from console.panes.session_document import session_document, stale_words
from console.rows import Cell, Row
from console.table import Column, RowTable
from core.ages import words_for_age
from core.errors import StoreError
from core.views.sessions import Look, SessionDetail, SessionRow, ended_sessions, session_detail, sessions_named

ORDER = {"DEAD": 0, "PARTIAL": 1, "WEDGED": 2, "STALE": 3, "UNKNOWN": 4, "STARTING": 5, "LIVE": 6}
NEEDS_A_PERSON = ("DEAD", "WEDGED", "STALE")
STATUS_ROLES = {"open": "", "ended": "muted", "abandoned": "warning", "closed_inactive": "muted"}

SORT_KEYS: dict[str, Callable[[SessionRow], Any]] = {
    "session": lambda row: row.session_id,
    "project": lambda row: (row.project_key, row.started_at),
    "status": lambda row: (not row.is_open, row.is_trace, not row.is_stale, row.status, row.started_at),
    "verdict": lambda row: (
        not row.is_open,
        row.is_trace,
        ORDER[row.judgement.verdict] if row.judgement else 9,
        -(row.heartbeat_age_seconds or 0),
    ),
    "nature": lambda row: (row.is_trace, row.started_at),
    "who": lambda row: (row.holder.client_name or "", row.holder.pid or 0),
    "slot": lambda row: row.slot_title or "~",
    "heartbeat": lambda row: -(row.heartbeat_age_seconds or 0),
    "checkpoint": lambda row: row.last_checkpoint_at or "",
    "captured": lambda row: -row.captured,
}


class SessionsPane(ListPane):
    """The list of sessions with the detail of one."""

    SCREEN = "sessions"
    EMPTY = "No open sessions"
    SORT = ("verdict", False)
    COLUMNS = (
        Column("session", "session", 8, drop=8),
        Column("project", "project", 10, grow=1, most=24),
        Column("status", "status", 11, drop=5),
        Column("verdict", "at work", 10),
        Column("nature", "nature", 6, drop=9),
        Column("who", "who", 18, grow=2, most=36),
        Column("slot", "slot", 10, grow=3, most=40, drop=4),
        Column("heartbeat", "heartbeat", 9, flashes=False),
        Column("checkpoint", "checkpoint", 10, drop=7, flashes=False),
        Column("captured", "captured", 8, align="right", drop=6),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("sessions", "pane")]

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, SessionRow] = {}
        self._ended: tuple[SessionRow, ...] = ()
        self._show_ended = False
        self._detail: SessionDetail | None = None
        self._detail_for: tuple[str, object] | None = None

    @property
    def current(self) -> SessionRow | None:
        """The session under the cursor."""
        return self.rows.get(self.table.cursor_key or "")

    @property
    def session(self) -> SessionRow | None:
        """The session under the cursor."""
        return self.current

    def refresh_rows(self) -> None:
        """Filter, sort and show the sessions of the snapshot."""
        snapshot = self.shown.snapshot
        if snapshot is None:
            self.table.set_empty("not measured: the store has not been read yet", "warning")
            self.set_rows(())
            return
        open_ids = {row.session_id for row in snapshot.sessions}
        found = [*snapshot.sessions, *(row for row in self._ended if self._show_ended and row.session_id not in open_ids)]
        wanted = [row for row in found if self._wanted_row(row)]
        column, reverse = self.table.sort or ("verdict", False)
        wanted.sort(key=SORT_KEYS[column], reverse=reverse)
        self.rows = {row.session_id: row for row in wanted}
        self._say_empty(len(found), snapshot.ended_sessions)
        self.table.drop_marks(key for key in self.table.marks() if key not in self.rows)
        self.set_rows([_row(row, self.room.clock.now()) for row in wanted])
        self.show_detail()

    def filter_changed(self, words: str) -> None:
        """Narrow the list."""
        self.refresh_rows()
        self.filter_bar.set_note(f"{len(self.rows)} shown" if words else "")

    def go_to_place(self, place: str | None) -> None:
        """Go to a session; one that has ended is loaded first."""
        super().go_to_place(place)
        if place and self.shown.snapshot is not None and place not in self.rows:
            self._show_ended = True
            self._load_ended(place)

    def action_show_ended(self) -> None:
        """Show or hide the sessions that have ended."""
        self._show_ended = not self._show_ended
        if self._show_ended:
            self._load_ended(None)
        else:
            self.refresh_rows()

    def action_predecessor(self) -> None:
        """Go to the session that this one follows."""
        self._walk(self.current.predecessor_id if self.current else None, "It follows no other session.")

    def action_successor(self) -> None:
        """Go to the session that follows this one."""
        self._walk(self.current.successor_id if self.current else None, "No session follows it.")

    def _walk(self, session_id: str | None, otherwise: str) -> None:
        if session_id is None:
            self.room.say(otherwise)
        else:
            self.room.go_to_target(f"session:{session_id}")

    def copied(self) -> tuple[str, str] | None:
        """The id and the JSON of the session under the cursor, to be copied."""
        row = self.current
        return None if row is None else (row.session_id, json.dumps(asdict(row), ensure_ascii=False, default=str))

    def lines(self) -> list[str]:
        """What is shown, as JSON lines for a file."""
        return [json.dumps(asdict(row), ensure_ascii=False, default=str) for row in self.rows.values()]

    @on(RowTable.Chosen)
    def _opened(self, event: table_messages.Chosen) -> None:
        event.stop()
        self.detail.body.focus()
        if not self.detail.display:
            self.split.toggle_enlarged()

    def _wanted_row(self, row: SessionRow) -> bool:
        if self.shown.project and row.project_key != self.shown.project:
            return False
        verdict = row.judgement.verdict if row.judgement else None
        if self.shown.only_attention and not (row.is_open and not row.is_trace and (row.is_stale or verdict in NEEDS_A_PERSON)):
            return False
        words = self.filter_bar.text
        holder = row.holder
        texts = (row.project_key, row.status, verdict, row.client_key, row.slot_title, row.session_id, holder.client_name)
        return not words or holds(words, *texts, holder.user, str(holder.pid), row.summary, "stale" if row.is_stale else "")

    def _say_empty(self, found: int, ended: int) -> None:
        if found:
            self.table.set_empty("No session matches what is filtered: esc shows all")
        else:
            more = f" · {ended:,} ended, h shows them" if ended and not self._show_ended else ""
            self.table.set_empty(f"No open sessions{more}")

    def show_detail(self) -> None:
        """Bring the detail in line with the row under the cursor."""
        row = self.current
        if row is None:
            self._detail = None
            self.detail.show(session_document(None, None))
            return
        if self._detail is not None and self._detail.row.session_id != row.session_id:
            self._detail = None
        self.detail.show(session_document(row, self._detail))
        snapshot = self.shown.snapshot
        wanted = (row.session_id, snapshot.trail_last if snapshot else None)
        if self._detail_for != wanted:
            self._detail_for = wanted
            self._load_detail(row.session_id)

    @work(thread=True, exclusive=True, group="session-detail", exit_on_error=False)
    def _load_detail(self, session_id: str) -> None:
        try:
            with self.room.looker.snapshot() as (view, witness):
                detail = session_detail(view, witness, session_id)
        except StoreError:
            return
        self.app.call_from_thread(self._detail_loaded, detail)

    def _detail_loaded(self, detail: SessionDetail | None) -> None:
        row = self.current
        if row is not None and detail is not None and detail.row.session_id == row.session_id:
            self._detail = detail
            self.detail.show(session_document(row, detail))

    @work(thread=True, exclusive=True, group="ended-sessions", exit_on_error=False)
    def _load_ended(self, wanted: str | None) -> None:
        try:
            with self.room.looker.snapshot() as (view, witness):
                look = Look.of(witness)
                rows = ended_sessions(view, look)
                if wanted is not None and all(row.session_id != wanted for row in rows):
                    rows = (*rows, *(row for row in sessions_named(view, look, wanted) if not row.is_open))
        except StoreError:
            return
        self.app.call_from_thread(self._ended_loaded, rows)

    def _ended_loaded(self, rows: tuple[SessionRow, ...]) -> None:
        self._ended = rows
        self.refresh_rows()


def _row(row: SessionRow, now: Any) -> Row:
    status = row.status.replace("closed_inactive", "inactive")
    state = Cell("open, stale", "warning") if row.is_stale else Cell(status, STATUS_ROLES[row.status])
    at_work = verdict_cell(row.judgement.verdict) if row.judgement else Cell(status, STATUS_ROLES[row.status])
    heartbeat = Cell(stale_words(row), "warning" if row.is_stale else "")
    slot = Cell(row.slot_title, "accent") if row.slot_title else Cell("base focus", "muted")
    return Row(
        row.session_id,
        (
            Cell(row.session_id[:8], "muted"),
            row.project_key,
            state,
            at_work,
            Cell("trace", "muted") if row.is_trace else Cell("work"),
            holder_words(row.holder) if row.holder.connection_id else row.client_key,
            slot,
            heartbeat if row.is_open else Cell(clock_words(row.ended_at, now), "muted"),
            Cell(clock_words(row.last_checkpoint_at, now)) if row.last_checkpoint_at else Cell("–", "muted"),
            count_cell(row.captured, "accent"),
        ),
    )


def age_words(seconds: float | None) -> str:
    """An age for a dialog; what cannot be read is said."""
    return "unreadable" if seconds is None else words_for_age(seconds)
