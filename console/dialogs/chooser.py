"""Choosing one of many by typing a part of its name, and the menu of a row by its letters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.fuzzy import Matcher
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Input

from console import table_messages
from console.actions import Action
from console.dialogs.base import Dialog, DialogButton, Field
from console.lines import LineLook
from console.rows import Cell, Row
from console.table import Column, RowTable
from console.text import cells, one_line

MOST_ROWS = 14


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose; label and detail may be foreign text."""

    key: str
    label: str
    detail: str = ""


class ChoiceTable(RowTable, can_focus=False):
    """A list whose cursor is moved by the dialog while something else has the keys; as high as its rows."""

    DEFAULT_CSS = """
    ChoiceTable { height: auto; scrollbar-size-horizontal: 0; }
    """

    most_rows = MOST_ROWS

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As high as its rows, within limits."""
        del container, width
        return max(2, min(self.row_count + 1, self.most_rows, viewport.height - 8))

    def _line_at(self, y: int) -> tuple[Row | None, LineLook] | Cell | None:
        # The dialog's keys move this cursor, so it looks as if the list had the focus.
        shown = super()._line_at(y)
        if isinstance(shown, tuple):
            row, look = shown
            return row, LineLook(look.at_cursor, look.at_cursor, look.marked, look.flashing)
        return shown


class ListDialog(Dialog[str]):
    """A dialog of one list, moved in from anywhere; gives the key of the row chosen."""

    HINT: ClassVar[str] = "↑↓ move · enter choose · esc back"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "up", show=False),
        Binding("down", "move(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
    ]

    DEFAULT_CSS = """
    ListDialog > Panel { max-width: 84; padding: 0 1; background: $background; & > #buttons { display: none; } }
    """

    def __init__(self, heading: str, columns: tuple[Column, ...], empty: str) -> None:
        super().__init__(heading)
        self.table = ChoiceTable(columns, empty=empty, markable=False)

    def body(self) -> Iterable[Widget]:
        """The list."""
        return (self.table,)

    def buttons(self) -> Iterable[DialogButton]:
        """None: the list is the answer."""
        return ()

    def action_move(self, step: int) -> None:
        """One row up or down."""
        if step < 0:
            self.table.action_move_up()
        else:
            self.table.action_move_down()

    def action_page(self, step: int) -> None:
        """A page up or down."""
        if step < 0:
            self.table.action_page_up()
        else:
            self.table.action_page_down()

    def why_not(self) -> str:
        """Whether there is a row to choose."""
        return "" if self.table.cursor_key is not None else "Nothing here fits."

    async def confirm(self) -> None:
        """Choose the row under the cursor."""
        if (key := self.table.cursor_key) is not None:
            self.close(key)

    @on(RowTable.Chosen)
    def _chosen(self, event: table_messages.Chosen) -> None:
        event.stop()
        self.close(event.key)


class ChooserDialog(ListDialog):
    """Type a part of the name; enter chooses. Gives the key, None for none."""

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("name", "name", 20, grow=2, sortable=False, flashes=False),
        Column("about", "", 16, grow=1, drop=1, sortable=False, flashes=False),
    )

    def __init__(self, heading: str, choices: tuple[Choice, ...], current: str | None = None) -> None:
        """The cursor starts on the choice with the key `current`."""
        super().__init__(heading, self.COLUMNS, "Nothing fits these words")
        self._choices = {choice.key: choice for choice in choices}
        self._current = current
        self.field = Field("find", placeholder="a part of the name")
        # As many lines as there are choices, so that the dialog doesn't shrink under what is typed.
        self.table.styles.min_height = min(len(choices) + 1, MOST_ROWS)

    def body(self) -> Iterable[Widget]:
        """The field over the list."""
        return (self.field, self.table)

    def on_mount(self) -> None:
        """Everything, with the cursor on what is chosen now."""
        self._fill("")
        if self._current is not None:
            self.table.go_to(self._current)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)
        self.table.go_to_index(0)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        event.prevent_default()
        self.action_confirm()

    def _fill(self, words: str) -> None:
        found = list(self._choices.values())
        if words.strip():
            matcher = Matcher(words.strip())
            scored = [(matcher.match(one_line(choice.label)), choice) for choice in found]
            found = [choice for score, choice in sorted(scored, key=lambda pair: -pair[0]) if score > 0]
        self.table.set_rows(Row(one.key, (self._face(one), Cell(one.detail, "muted"))) for one in found)
        self.field.set_note(f"{len(found):,} of {len(self._choices):,}" if words.strip() else f"{len(found):,}")
        self.fit_soon()

    def _face(self, choice: Choice) -> Cell:
        return Cell(choice.label, "accent", "●") if choice.key == self._current else Cell(choice.label)


class MenuDialog(ListDialog):
    """What can be done with a row: each entry's letter does it at once. Gives the action's id."""

    HINT = "its letter, or ↑↓ and enter · esc back"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move(1)", "down", show=False),
        Binding("k", "move(-1)", "up", show=False),
        Binding("enter", "confirm", "choose", show=False),
    ]

    def __init__(self, heading: str, actions: tuple[Action, ...]) -> None:
        widest = max((cells(one_line(action.label)) for action in actions), default=8)
        columns = (
            Column("key", "key", 6, sortable=False, flashes=False),
            Column("label", "does", max(8, widest), sortable=False, flashes=False),
            Column("help", "", 20, grow=1, drop=1, sortable=False, flashes=False),
        )
        super().__init__(heading, columns, "Nothing can be done with this row")
        self._actions = actions

    def first_focus(self) -> Widget | None:
        """None: the letters come to the dialog itself."""
        return None

    def on_mount(self) -> None:
        """List the actions."""
        self.table.set_rows(
            Row(
                action.id,
                (
                    Cell(action.shown_key, "danger" if action.dangerous else "accent"),
                    Cell(action.label, "danger" if action.dangerous else ""),
                    Cell(action.help, "muted"),
                ),
            )
            for action in self._actions
        )

    def on_key(self, event: events.Key) -> None:
        """A letter of an entry does it; enter is the list's."""
        if event.key == "enter":
            return
        for action in self._actions:
            if event.key in action.keys or (event.is_printable and event.character in action.keys):
                event.stop()
                event.prevent_default()
                self.close(action.id)
                return
