"""The footer: the keys of where one is, as many as the line holds, out of the one table of actions."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.message import Message

from console.actions import Action, action_named, footer_actions
from console.widgets.piece import Piece, PieceLines, width_of

PINNED = ("palette", "help")
"""Always there, at the right end: from them one finds the rest."""


class KeyFooter(PieceLines):
    """One line of keys."""

    DEFAULT_CSS = """
    KeyFooter {
        dock: bottom;
        height: 1;
        width: 1fr;
        background: $panel;
    }
    """

    class Pressed(Message):
        """A key of the footer was clicked; run this action as its key would."""

        def __init__(self, action_id: str) -> None:
            super().__init__()
            self.action_id = action_id

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._actions: tuple[Action, ...] = ()

    def set_place(
        self, screen: str, *, read_only: bool = False, has_row: bool = True, keymap: Mapping[str, str] | None = None
    ) -> None:
        """Show the keys of this screen; without a row those that need one are not there."""
        actions = footer_actions(screen, read_only, has_row, keymap)
        if actions != self._actions:
            self._actions = actions
            self.refresh()

    def lines_for(self, width: int) -> list[list[Piece]]:
        """The one line."""
        return [[piece for piece, _ in footer_pieces(self._actions, width)]]

    def on_click(self, event: events.Click) -> None:
        """A click on a key does what the key does."""
        at = 0
        for piece, action_id in footer_pieces(self._actions, self.size.width):
            if action_id and at <= event.x < at + piece.width:
                self.post_message(self.Pressed(action_id))
                return
            at += piece.width


def footer_pieces(actions: tuple[Action, ...], width: int) -> list[tuple[Piece, str]]:
    """The line as pieces with the action each belongs to: the first actions that fit, then the pinned ones at the end."""
    own = {action.id: action for action in actions}
    pinned = [piece for action_id in PINNED for piece in _key(own.get(action_id, action_named(action_id)))]
    room = width - width_of(piece for piece, _ in pinned)
    left: list[tuple[Piece, str]] = []
    for action in actions:
        pieces = _key(action) if action.id not in PINNED else []
        size = width_of(piece for piece, _ in pieces)
        if size > room:
            break
        left += pieces
        room -= size
    return [*left, (Piece(" " * max(0, room)), ""), *pinned]


def _key(action: Action) -> list[tuple[Piece, str]]:
    return [
        (Piece(f" {action.shown_key}", "danger bold" if action.dangerous else "key"), action.id),
        (Piece(f" {action.label} ", "muted"), action.id),
    ]
