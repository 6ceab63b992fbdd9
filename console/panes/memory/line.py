"""The line that names the views of the Memory screen."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.message import Message

from console.widgets.piece import Piece, PieceLines, spread, width_of


class ViewLine(PieceLines):
    """One line that names the views, the one in front standing out; a click goes there."""

    DEFAULT_CSS = """
    ViewLine { height: 1; width: 1fr; }
    """

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, view: str) -> None:
            super().__init__()
            self.view = view

    def __init__(self, titles: Mapping[str, str], view: str) -> None:
        """`titles` are the names by view, in their order."""
        super().__init__()
        self._titles = titles
        self._state = (view, 0)

    def set_state(self, view: str, waiting: int) -> None:
        """This view is in front, and in so many places kept texts wait."""
        if (view, waiting) != self._state:
            self._state = (view, waiting)
            self.refresh()

    def lines_for(self, width: int) -> list[tuple[Piece, ...]]:
        """The one line; the keys are named where there is room."""
        left = tuple(piece for piece, _ in self._pieces())
        right = (Piece("← → ", "key"), Piece("other view ", "muted"))
        return [spread(left, right if width_of(left) + width_of(right) + 2 <= width else (), width)]

    def on_click(self, event: events.Click) -> None:
        """A click on a name goes to that view."""
        at = 0
        for piece, view in self._pieces():
            if at <= event.x < at + piece.width:
                self.post_message(self.Chosen(view))
                return
            at += piece.width

    def _pieces(self) -> list[tuple[Piece, str]]:
        front, waiting = self._state
        pieces = []
        for view, title in self._titles.items():
            count = f" {waiting}" if view == "kept" and waiting else ""
            pieces.append((Piece(f" {title}{'' if count else ' '}", "strong tab" if view == front else "muted"), view))
            if count:
                pieces.append((Piece(f"{count} ", "warning tab" if view == front else "warning"), view))
        return pieces
