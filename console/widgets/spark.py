"""A line of bars out of a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from console.widgets.piece import Piece, PieceLines

BARS = "▁▂▃▄▅▆▇█"
NO_BAR = "·"


def spark(values: Sequence[int], width: int | None = None) -> str:
    """The numbers as bars, the highest of neighbours when there are more than `width`; nothing is a dot, never a bar."""
    values = _bucketed(values, width) if width is not None and len(values) > width else values
    top = max(values, default=0)
    return "".join(BARS[min(len(BARS) - 1, (value * len(BARS) - 1) // top)] if value > 0 else NO_BAR for value in values)


def _bucketed(values: Sequence[int], width: int) -> list[int]:
    edges = [number * len(values) // max(1, width) for number in range(width + 1)]
    return [max(values[first:last]) for first, last in pairwise(edges)]


class Spark(PieceLines):
    """Activity as one line, with words before and after it."""

    DEFAULT_CSS = """
    Spark {
        height: 1;
        width: 1fr;
        padding: 0 1;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._shown: tuple[tuple[int, ...] | None, str, str] = (None, "", "")

    def set_values(self, values: tuple[int, ...] | None, before: str = "", after: str = "") -> None:
        """Show these numbers; None is "not measured", which is not a row of zeros."""
        if self._shown != (values, before, after):
            self._shown = (values, before, after)
            self.refresh()

    def lines_for(self, width: int) -> list[list[Piece]]:
        """Words, bars, words."""
        values, before, after = self._shown
        lead = [Piece(f"{before}  ", "muted")] if before else []
        if values is None:
            return [[*lead, Piece("not measured", "muted")]]
        tail = [Piece(f"  {after}", "muted")] if after else []
        room = width - sum(piece.width for piece in (*lead, *tail))
        if room < 8:
            tail, room = [], width - sum(piece.width for piece in lead)
        return [[*lead, Piece(spark(values, max(1, room)), "muted"), *tail]]
