"""Choosing one of many by typing, and the menu of a row by its letters (console.md, Keys)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual import events, on
from textual.widget import Widget
from textual.widgets import Button, Input

from console.actions import Action
from console.dialogs.base import Dialog
from console.panes.base import holds
from console.rows import Cell, Row
from console.table import Column, RowTable
from console.table_messages import Chosen


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose: `key` is what the dialog gives."""

    key: str
    label: str
    detail: str = ""


class ChooserDialog(Dialog[str]):
    """A list that narrows as one types; enter chooses."""

    DEFAULT_CSS = """
    ChooserDialog RowTable { height: 12; background: $panel; }
    """

    def __init__(self, title: str, choices: tuple[Choice, ...], current: str | None) -> None:
        super().__init__(title)
        self._choices = choices
        self._current = current
        columns = (Column("label", "name", 16, grow=2, sortable=False), Column("detail", "", 10, grow=1, sortable=False))
        self.table = RowTable(columns, empty="Nothing fits", markable=False)

    def body(self) -> Iterator[Widget]:
        """The list."""
        yield self.table

    def fields(self) -> Iterator[Widget]:
        """The words."""
        yield Input(placeholder="type to narrow, enter chooses", id="words", classes="field", compact=True)

    def on_mount(self) -> None:
        """Everything is shown, with the cursor on what is chosen now."""
        super().on_mount()
        self._show("")
        if self._current is not None:
            self.table.go_to(f"={self._current}")

    def on_key(self, event: events.Key) -> None:
        """Arrows move the list while one types."""
        moves = {"down": self.table.action_move_down, "up": self.table.action_move_up}
        if event.key in moves:
            event.stop()
            event.prevent_default()
            moves[event.key]()
        else:
            super().on_key(event)

    def _show(self, words: str) -> None:
        found = [one for one in self._choices if holds(words, one.label, one.detail)]
        self.table.set_rows([Row(f"={one.key}", (one.label, Cell(one.detail, "muted"))) for one in found])

    @on(Input.Changed, "#words")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._show(event.value)

    @on(Input.Submitted, "#words")
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self.table.cursor_key is not None:
            self.dismiss(self.table.cursor_key[1:])

    @on(Chosen)
    def _chosen(self, event: Chosen) -> None:
        event.stop()
        self.dismiss(event.key[1:])


class MenuDialog(Dialog[str]):
    """What can be done with a row: each entry's own letter does it."""

    DEFAULT_CSS = """
    MenuDialog RowTable { height: auto; max-height: 14; min-height: 3; background: $panel; }
    """

    def __init__(self, title: str, actions: tuple[Action, ...]) -> None:
        super().__init__(title)
        self._actions = actions
        columns = (
            Column("key", "key", 6, sortable=False),
            Column("label", "does", 16, sortable=False),
            Column("help", "", 20, grow=1, sortable=False),
        )
        self.table = RowTable(columns, empty="Nothing can be done with it", markable=False)

    def body(self) -> Iterator[Widget]:
        """The entries."""
        yield self.table

    def on_mount(self) -> None:
        """The list has the focus: its letters act."""
        super().on_mount()
        rows = [
            Row(
                action.id,
                (Cell(action.shown_key, "danger" if action.dangerous else "accent"), action.label, Cell(action.help, "muted")),
            )
            for action in self._actions
        ]
        self.table.set_rows(rows)
        self.table.styles.height = len(rows) + 1
        self.table.focus()

    def on_key(self, event: events.Key) -> None:
        """A letter of an entry does the entry."""
        for action in self._actions:
            if self.settled and (event.character in action.keys or event.key in action.keys) and action.id != "choose":
                event.stop()
                event.prevent_default()
                self.dismiss(action.id)
                return
        super().on_key(event)

    @on(Chosen)
    def _chosen(self, event: Chosen) -> None:
        event.stop()
        self.dismiss(event.key)

    @on(Button.Pressed, "#back")
    def _left(self) -> None:
        self.dismiss(None)
