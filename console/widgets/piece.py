"""Lines made of named pieces: what a small widget shows, before any theme is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from console.text import cells, crop, one_line
from console.themes import Palette, palette_of


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text with one style: a role of themes.ROLES, or one of Palette's own names (`heading`, `key`, `tab`, …)."""

    text: str
    style: str = ""

    @property
    def width(self) -> int:
        """Its width in cells, as drawn."""
        return cells(one_line(self.text))


def width_of(pieces: Iterable[Piece]) -> int:
    """The width of a line in cells."""
    return sum(piece.width for piece in pieces)


def spread(left: Sequence[Piece], right: Sequence[Piece], width: int) -> tuple[Piece, ...]:
    """A line with `left` at its start and `right` at its end; the right side stays whole and the left one is cropped."""
    room = max(0, width - width_of(right))
    kept: list[Piece] = []
    for piece in left:
        if piece.width > room:
            if room > 0:
                kept.append(Piece(crop(piece.text, room), piece.style))
            room = 0
            break
        kept.append(piece)
        room -= piece.width
    used = width_of(kept) + width_of(right)
    return (*kept, Piece(" " * max(0, width - used)), *right)


def strip_of(
    pieces: Iterable[Piece],
    width: int,
    base: Style,
    look: Palette,
    spans: Sequence[tuple[int, int, Style]] = (),
) -> Strip:
    """The pieces as an inert line of exactly `width` cells; `spans` lay a style over ranges of its characters."""
    segments: list[Segment] = []
    room, at = width, 0
    for piece in pieces:
        text = crop(piece.text, room)
        if not text:
            continue
        segments.extend(_laid_over(text, at, base + look.style(piece.style), spans))
        room -= cells(text)
        at += len(text)
    if room > 0:
        segments.append(Segment(" " * room, base))
    return Strip(segments, width)


def _laid_over(text: str, at: int, style: Style, spans: Sequence[tuple[int, int, Style]]) -> list[Segment]:
    """The text cut where spans begin and end, each part in its styles."""
    end = at + len(text)
    cuts = sorted({at, end, *(cut for first, last, _ in spans for cut in (first, last) if at < cut < end)})
    segments: list[Segment] = []
    for first, last in pairwise(cuts):
        shown = style
        for start, stop, over in spans:
            if start <= first and last <= stop:
                shown += over
        segments.append(Segment(text[first - at : last - at], shown))
    return segments


class PieceLines(Widget):
    """A widget of a few lines: `lines_for(width)` says what they are, and that is all a subclass has to know."""

    ALLOW_SELECT = False

    _palette: Palette | None = None

    def lines_for(self, width: int) -> Sequence[Sequence[Piece]]:
        """The lines at this width."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        lines = self.lines_for(self.size.width)
        return strip_of(lines[y] if y < len(lines) else (), self.size.width, self.rich_style, self.look)

    @property
    def look(self) -> Palette:
        """The styles of the theme that is on."""
        if self._palette is None:
            self._palette = palette_of(self.app)
        return self._palette

    def notify_style_update(self) -> None:
        """Another theme: the styles drawn with are looked up again."""
        super().notify_style_update()
        self._palette = None
