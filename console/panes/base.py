"""What every pane has: a place in the app, a list with its filter, and one step back at a time (console.md, Keys)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from console import table_messages
from console.rows import Row
from console.table import Column, RowTable
from console.widgets.detail import DetailPane
from console.widgets.filter_bar import FilterBar
from console.widgets.split import ListDetail
from core.views.snapshot import Snapshot

if TYPE_CHECKING:
    from console.app import ConsoleApp
    from core.views.sessions import SessionRow
    from core.views.wraps import WrapRow


@dataclass(frozen=True, slots=True)
class Shown:
    """What a pane is to show: a snapshot and how the app narrows it. `project` is "" for all."""

    snapshot: Snapshot | None
    project: str = ""
    only_attention: bool = False


class Pane(Container):
    """One screen. The app calls `show` with each new state; everything a person does comes as an action."""

    SCREEN: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = []

    DEFAULT_CSS = """
    Pane { width: 1fr; height: 1fr; layout: vertical; }
    """

    shown: Shown = Shown(None)

    @property
    def room(self) -> ConsoleApp:
        """The app, as what it is."""
        return cast("ConsoleApp", self.app)

    @property
    def front(self) -> Pane:
        """What is shown and acted on: the pane itself, or the view of it that is in front."""
        return self

    def on_mount(self) -> None:
        """Before the first state there is nothing to show, which is never called empty."""
        self.refresh_rows()

    def show(self, shown: Shown) -> None:
        """Show this state; does nothing when it is the one shown already."""
        if shown != self.shown:
            self.shown = shown
            self.refresh_rows()

    def refresh_rows(self) -> None:
        """Bring the lists in line with `shown`."""

    def focus_list(self) -> None:
        """Give the focus to the pane's list."""

    def step_back(self) -> bool:
        """One step back inside the pane; False when there was none to take."""
        return False

    @property
    def has_row(self) -> bool:
        """Whether there is a row that an action could be about."""
        return False

    @property
    def place(self) -> str | None:
        """Which row one is at, to come back to."""
        return None

    @property
    def current(self) -> Any:
        """The thing under the cursor, None when there is none."""
        return None

    def chosen(self) -> tuple[WrapRow, ...]:
        """The wraps that an action is about: the marked ones that are shown, or the one under the cursor."""
        return ()

    @property
    def session(self) -> SessionRow | None:
        """The session that an action is about."""
        return None

    @property
    def project_key(self) -> str | None:
        """The project that an action is about, where one can be told."""
        return self.shown.project or None

    def copied(self) -> tuple[str, str] | None:
        """The id and the JSON of the row under the cursor, None when there is no row."""
        return None

    def whole_text(self) -> str | None:
        """The text of the thing under the cursor, None when there is none or it is not read yet."""
        return None

    def lines(self) -> list[str]:
        """What is shown, as JSON lines for a file."""
        return []

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The app's rule holds for every pane: what the table does not allow here is not there."""
        return self.room.check_action(action, parameters)

    def action_only_attention(self) -> None:
        """Only what needs a person."""
        self.room.action_only_attention()

    def action_row_menu(self) -> None:
        """Everything that can be done with this row."""
        self.room.open_row_menu()

    def action_force_cancel(self) -> None:
        """Force-cancel the marked wraps, or the one under the cursor."""
        self.room.force_cancel(self.chosen())

    def action_ask_for_release(self) -> None:
        """Ask the holder of this wrap to release it."""
        self.room.ask_for_release(self.current)

    def action_salvage(self) -> None:
        """Read what was kept of late saves for this wrap."""
        self.room.show_salvage(self.current)

    def action_relay(self) -> None:
        """Relay the session under the cursor, or the one that holds this slot."""
        self.room.relay_session(self.session)

    def action_end_session(self) -> None:
        """End the session under the cursor."""
        self.room.end_session(self.session)

    def action_abandon_session(self) -> None:
        """Abandon the session under the cursor."""
        self.room.abandon_session(self.session)

    def action_bind_session(self) -> None:
        """Bind the session under the cursor to a slot."""
        self.room.bind_session(self.session)

    def action_open_slot(self) -> None:
        """Open a slot."""
        self.room.open_slot(self.project_key)

    def action_close_slot(self) -> None:
        """Close the slot under the cursor."""
        self.room.close_slot(self.current)

    def action_delete_episode(self) -> None:
        """Delete the episode under the cursor."""
        self.room.delete_episode(self.current)

    def action_adopt(self) -> None:
        """Adopt the kept text under the cursor."""
        if self.current is not None:
            self.room.adopt_text(self.current.kind, self.current.id)

    def action_deal_with(self) -> None:
        """Mark the kept text under the cursor as dealt with."""
        if self.current is not None:
            self.room.deal_with_text(self.current)

    def action_copy_text(self) -> None:
        """Copy the text under the cursor."""
        text = self.whole_text()
        if text is not None:
            self.room.copy(text, "text")

    def action_copy_id(self) -> None:
        """Copy the id of this row."""
        found = self.copied()
        if found:
            self.room.copy(found[0], "id")

    def action_copy_json(self) -> None:
        """Copy this row as JSON."""
        found = self.copied()
        if found:
            self.room.copy(found[1], "JSON")

    def action_write_file(self) -> None:
        """Write what is shown to a file."""
        self.room.write_file(f"watchroom-{self.SCREEN}.jsonl", self.lines)

    async def arrive(self, place: str | None) -> None:
        """Go to a place of this pane, making what it needs to be shown first."""
        self.go_to_place(place)

    def go_to_place(self, place: str | None) -> None:
        """Go to that row, now or when it is loaded."""


class ListPane(Pane):
    """A pane of one list with a filter and a detail."""

    COLUMNS: ClassVar[tuple[Column, ...]] = ()
    SORT: ClassVar[tuple[str, bool] | None] = None
    EMPTY: ClassVar[str] = "Nothing here"
    MARKABLE: ClassVar[bool] = True
    """Whether something can be done to several rows at once."""

    def __init__(self) -> None:
        super().__init__(id=f"pane-{self.SCREEN.replace('.', '-')}")
        self.table = self.make_table()
        self.detail = DetailPane()
        self.filter_bar = FilterBar("filter")
        self.split = ListDetail(self.table, self.detail)
        self._wanted: str | None = None

    def make_table(self) -> RowTable:
        """The pane's list."""
        return RowTable(self.COLUMNS, empty=self.EMPTY, sort=self.SORT, markable=self.MARKABLE)

    def compose(self) -> ComposeResult:
        """List and detail, and the filter below them."""
        yield self.split
        yield self.filter_bar

    def focus_list(self) -> None:
        """Give the focus to the list, or to the detail while that has everything."""
        if self.split.enlarged:
            self.detail.body.focus()
        else:
            self.table.focus()

    @property
    def has_row(self) -> bool:
        """Whether the cursor is on a row."""
        return self.table.cursor_key is not None

    @property
    def place(self) -> str | None:
        """The key of the row under the cursor."""
        return self.table.cursor_key

    def go_to_place(self, place: str | None) -> None:
        """Put the cursor on that row; when it is not shown yet, as soon as it is."""
        if place is not None and not self.table.go_to(place):
            self._wanted = place

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows and go to the one that was waited for."""
        self.table.set_rows(rows)
        if self._wanted is not None and self.table.go_to(self._wanted):
            self._wanted = None

    def step_back(self) -> bool:
        """Out of the detail, the find, the filter, the marks: the innermost first."""
        if self.detail.body.has_focus:
            if self.detail.close_find():
                return True
            if self.split.enlarged:
                self.split.toggle_enlarged()
            else:
                self.table.focus()
            return True
        if self.split.enlarged:
            self.split.toggle_enlarged()
            return True
        return self.filter_bar.clear() or self.table.clear_marks()

    def action_filter(self) -> None:
        """Filter the list."""
        self.filter_bar.open()

    def action_next_tab(self) -> None:
        """The detail's next tab."""
        self.detail.action_next_tab()

    def action_previous_tab(self) -> None:
        """The detail's tab before."""
        self.detail.action_previous_tab()

    def action_enlarge(self) -> None:
        """Give the detail everything, or give it back."""
        self.split.toggle_enlarged()

    def action_find_next(self) -> None:
        """The next find in the detail."""
        self.detail.action_find_next()

    def action_find_previous(self) -> None:
        """The find before in the detail."""
        self.detail.action_find_previous()

    @on(FilterBar.Changed)
    def _filtered(self, event: FilterBar.Changed) -> None:
        event.stop()
        self.filter_changed(event.text)

    @on(FilterBar.Submitted)
    @on(FilterBar.Closed)
    def _left_field(self, event: FilterBar.FilterMessage) -> None:
        event.stop()
        self.focus_list()

    @on(RowTable.Highlighted)
    def _moved(self, event: table_messages.Highlighted) -> None:
        event.stop()
        if event.table is self.table:
            self.show_detail()
            self.room.place_changed()

    @on(RowTable.SortChanged)
    def _sorted(self, event: table_messages.SortChanged) -> None:
        event.stop()
        self.table.show_sort(event.column, event.reverse)
        self.room.remember_sort(self.SCREEN, event.column, event.reverse)
        self.refresh_rows()

    def show_detail(self) -> None:
        """Bring the detail in line with the row under the cursor."""

    def filter_changed(self, words: str) -> None:
        """Other words in the filter."""
        del words
        self.refresh_rows()


def holds(words: str, *texts: str | None) -> bool:
    """Whether every word of a filter is in one of the texts, without regard to case."""
    lowered = [text.casefold() for text in texts if text]
    return all(any(word in text for text in lowered) for word in words.casefold().split())
