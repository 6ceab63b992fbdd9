"""Overview: what needs a person first, then counts, activity and who is connected (console.md, screen 1)."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from console import table_messages
from console.actions import bindings_for
from console.panes.base import ListPane, holds
from console.panes.faces import count_cell, verdict_cell
from console.rows import Cell, Row
from console.table import Column, RowTable
from console.text import safe_content
from console.widgets.detail import DetailTab, Document, Line, Section
from console.widgets.document import NOTHING
from console.widgets.evidence import evidence_lines
from console.widgets.piece import Piece, PieceLines
from console.widgets.spark import Spark
from core.actors import Actor
from core.ages import words_for_age
from core.views.attention import Attention, AttentionKind
from core.views.snapshot import ConnectionRow, Snapshot
from core.views.wraps import WrapRow

WORDS: dict[AttentionKind, Cell] = {
    "dead_wrap": verdict_cell("DEAD"),
    "partial_wrap": verdict_cell("PARTIAL"),
    "wedged_wrap": verdict_cell("WEDGED"),
    "stale_wrap": verdict_cell("STALE"),
    "salvage": Cell("SALVAGE", "accent", "▣"),
    "dead_session": verdict_cell("DEAD"),
    "wedged_session": verdict_cell("WEDGED"),
    "received_slot": Cell("RECEIVED", "accent", "▣"),
    "orphan_slot": Cell("ORPHAN", "warning", "○"),
    "broken_trail": Cell("BROKEN", "danger", "✗"),
}


class OverviewPane(ListPane):
    """The list of what needs a person, the figures, and the connections."""

    SCREEN = "overview"
    EMPTY = "Nothing needs you"
    COLUMNS = (
        Column("kind", "needs you", 10, sortable=False),
        Column("what", "what", 8, sortable=False),
        Column("project", "project", 10, grow=1, most=24, sortable=False),
        Column("since", "since", 9, flashes=False, sortable=False),
        Column("blocks", "blocks", 6, align="right", sortable=False),
        Column("why", "why", 20, grow=6, sortable=False, drop=1),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("overview", "pane")]

    DEFAULT_CSS = """
    OverviewPane {
        & > ListDetail { height: 3fr; }
        & > .room-title { height: 1; padding: 0 1; color: $text-muted; text-style: bold; border-top: solid $border-blurred; height: 2; }
        & > #connected { height: 2fr; min-height: 3; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[str, Attention] = {}
        self.figures = Figures()
        self.spark = Spark()
        self.connected = RowTable(
            (
                Column("state", "state", 10, sortable=False),
                Column("client", "client", 14, grow=2, most=30, sortable=False),
                Column("user", "user", 8, grow=1, most=16, drop=2, sortable=False),
                Column("process", "process", 20, grow=2, most=36, drop=1, sortable=False),
                Column("calls", "calls", 7, align="right", flashes=False, sortable=False),
                Column("refused", "refused", 7, align="right", sortable=False),
                Column("holds", "holds", 8, grow=1, most=24, sortable=False),
            ),
            empty="Nobody is connected",
            markable=False,
            id="connected",
        )

    def compose(self) -> ComposeResult:
        """What needs a person, the figures, the connections."""
        yield self.split
        yield self.filter_bar
        yield Static(safe_content("The room"), classes="room-title")
        yield self.figures
        yield self.spark
        yield self.connected

    def refresh_rows(self) -> None:
        """Show the snapshot's needs, figures and connections."""
        snapshot = self.shown.snapshot
        if snapshot is None:
            self.table.set_empty("not measured: the store has not been read yet", "warning")
            self.connected.set_empty("not measured", "warning")
            return
        found = [item for item in snapshot.attention if self._wanted_item(item)]
        self.items = {f"{item.kind} {item.target}": item for item in found}
        narrowed = bool(self.shown.project or self.filter_bar.text)
        self.table.set_empty(
            "Nothing here needs you: a filter is on" if narrowed and snapshot.attention else "Nothing needs you",
            "muted" if narrowed else "ok",
        )
        self.set_rows([_row(key, item) for key, item in self.items.items()])
        self.figures.set_snapshot(snapshot, self.shown.project)
        self.spark.set_values(snapshot.activity, "last hour", f"{sum(snapshot.activity)} rows in the trail")
        self.connected.set_empty("Nobody is connected")
        self.connected.set_rows([_connection(row) for row in _order(snapshot.connections)])
        self.show_detail()

    @property
    def current(self) -> WrapRow | None:
        """The wrap that the row under the cursor is about."""
        return self._wrap_of(self.items.get(self.table.cursor_key or ""))

    def chosen(self) -> tuple[WrapRow, ...]:
        """The wraps of the marked rows that are shown, or that of the row under the cursor."""
        marked = [self._wrap_of(self.items.get(key)) for key in self.table.shown_marks()]
        found = marked or [self.current]
        return tuple(dict.fromkeys(row for row in found if row is not None))

    def copied(self) -> tuple[str, str] | None:
        """The target and the JSON of the row under the cursor, to be copied."""
        item = self.items.get(self.table.cursor_key or "")
        return None if item is None else (item.target, json.dumps(asdict(item), ensure_ascii=False, default=str))

    def lines(self) -> list[str]:
        """What is shown, as JSON lines for a file."""
        return [json.dumps(asdict(item), ensure_ascii=False, default=str) for item in self.items.values()]

    @on(RowTable.Chosen)
    def _opened(self, event: table_messages.Chosen) -> None:
        event.stop()
        item = self.items.get(event.key)
        if event.table is self.table and item is not None:
            # what waits is the text, not the wrap that it was written for
            self.room.go_to_target(f"kept:{item.target}" if item.kind == "salvage" else item.target)

    def _wanted_item(self, item: Attention) -> bool:
        if self.shown.project and item.project_key not in (self.shown.project, None):
            return False
        words = self.filter_bar.text
        return not words or holds(words, item.what, item.project_key, *item.why)

    def _wrap_of(self, item: Attention | None) -> WrapRow | None:
        snapshot = self.shown.snapshot
        if item is None or snapshot is None:
            return None
        return next((row for row in snapshot.wraps if f"wrap:{row.wrap_id}" == item.target), None)

    def show_detail(self) -> None:
        """Bring the detail in line with the row under the cursor."""
        item = self.items.get(self.table.cursor_key or "")
        self.detail.show(NOTHING if item is None else _document(item, self._wrap_of(item)))


class Figures(PieceLines):
    """The room in figures: one line, or two where the line is short."""

    DEFAULT_CSS = """
    Figures { height: auto; width: 1fr; padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._figures: tuple[tuple[str, str, str], ...] = ()

    def set_snapshot(self, snapshot: Snapshot, project: str) -> None:
        """Count this snapshot's room, or one project of it."""
        projects = [row for row in snapshot.projects if project in ("", row.project_key)]
        open_wraps = [row for row in snapshot.wraps if project in ("", row.project_key or "")]
        alive = sum(1 for row in snapshot.connections if row.judgement.verdict not in ("DEAD", "STALE"))
        figures = (
            (str(len(projects)), "project" if len(projects) == 1 else "projects", ""),
            (f"{sum(row.episodes for row in projects):,}", "episodes", ""),
            (f"{sum(row.waiting for row in projects):,}", "waiting", ""),
            (str(len(open_wraps)), "open wrap" if len(open_wraps) == 1 else "open wraps", "accent" if open_wraps else ""),
            (f"{sum(row.wraps_completed for row in projects):,}", "saved", ""),
            (f"{sum(row.wraps_cancelled for row in projects):,}", "cancelled", ""),
            (str(snapshot.salvage_waiting), "salvaged", "accent" if snapshot.salvage_waiting else ""),
            (f"{snapshot.open_sessions:,}", "session" if snapshot.open_sessions == 1 else "sessions", ""),
            (f"{snapshot.open_slots:,}", "slot" if snapshot.open_slots == 1 else "slots", ""),
            (str(alive), "connected", ""),
            (f"{snapshot.trail_last:,}", "trail rows", ""),
        )
        if figures != self._figures:
            self._figures = figures
            self.refresh(layout=True)

    def lines_for(self, width: int) -> list[list[Piece]]:
        """The figures, wrapped between two of them."""
        lines: list[list[Piece]] = [[]]
        used = 0
        for number, word, role in self._figures:
            size = len(number) + 1 + len(word)
            if used and used + 3 + size > width:
                lines.append([])
                used = 0
            gap = [Piece("   ")] if used else []
            lines[-1] += [*gap, Piece(number, f"{role} strong".strip()), Piece(f" {word}", "muted")]
            used += size + (3 if gap else 0)
        return lines

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """As many lines as the figures take."""
        del container, viewport
        return len(self.lines_for(width))


def _row(key: str, item: Attention) -> Row:
    why = item.why[0] if item.why else item.what
    more = f"  +{len(item.why) - 1}" if len(item.why) > 1 else ""
    since = Cell("–", "muted") if item.since_seconds is None else Cell(words_for_age(item.since_seconds))
    kind, _, name = item.target.partition(":")
    what = Cell(f"{kind} {name}" if name.isdigit() and len(name) < 7 else kind, "muted")
    return Row(key, (WORDS[item.kind], what, item.project_key or "–", since, count_cell(item.blocks, "danger"), f"{why}{more}"))


def _document(item: Attention, wrap: WrapRow | None) -> Document:
    sections = [Section("What", (Line(item.what),))]
    if wrap is not None:
        sections.append(Section("Why", evidence_lines(wrap.judgement.verdict, wrap.judgement.evidence)))
    elif item.why:
        sections.append(Section("Why", tuple(Line(reason) for reason in item.why)))
    todo = {
        "dead_wrap": "X ends it; its episodes come back, and whoever waits can prepare again. enter shows it whole.",
        "partial_wrap": "X clears the damaged row; no episode is lost. enter shows it whole.",
        "wedged_wrap": "It may still be at work: enter, then m asks its holder to release it. X ends it by force.",
        "stale_wrap": "One fact is not enough to call it dead: look again in a minute, or ask its holder (enter, then m).",
        "salvage": "enter shows the text that was kept: I adopts it, u marks it as dealt with.",
        "broken_trail": "enter shows where; keep a copy of the store before anything else.",
        "dead_session": "enter, then R relays it to a successor, or A gives it up; its slot becomes free.",
        "wedged_session": "It may still be at work: enter shows it whole. R relays it, A gives it up.",
        "received_slot": "All it is anchored to is received: enter, then C closes it.",
        "orphan_slot": "enter shows its text: bind a session to it (3, then b), or C closes it.",
    }[item.kind]
    sections.append(Section("What you can do", (Line(todo),)))
    return Document(f"{item.kind} {item.target}", (DetailTab("Why", tuple(sections)),))


def _order(rows: tuple[ConnectionRow, ...]) -> list[ConnectionRow]:
    """The living first; the dead go to the end, the newest of them first, and not more than a screenful."""
    living = [row for row in rows if row.judgement.verdict != "DEAD"]
    dead = [row for row in rows if row.judgement.verdict == "DEAD"]
    return [*sorted(living, key=lambda row: row.facts.opened_at), *dead[:20]]


def _connection(row: ConnectionRow) -> Row:
    facts = row.facts
    actor = Actor.from_json(facts.actor)
    holds_words = ", ".join(f"wrap {number}" for number in row.open_wraps)
    return Row(
        facts.connection_id,
        (
            verdict_cell(row.judgement.verdict),
            facts.client_name or actor.via,
            actor.name,
            f"pid {facts.process.pid} on {facts.process.host}",
            f"{row.calls:,}",
            count_cell(row.refusals),
            Cell(holds_words, "accent") if holds_words else Cell("–", "muted"),
        ),
    )
