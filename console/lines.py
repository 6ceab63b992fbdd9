"""How the lines of a list are drawn: from values alone, so that what a line shows is a function of what is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.columns import GUTTER, Column, Place
from console.rows import Cell, Row
from console.text import ELLIPSIS, fit
from console.themes import Palette, uncoloured

CURSOR_BAR = "▌"
MARK = "✓"


@dataclass(frozen=True, slots=True)
class LineLook:
    """All but the row that decides how a line looks."""

    at_cursor: bool
    focused: bool
    marked: bool
    flashing: frozenset[int]
    """The numbers of the cells that just changed."""


def header_line(
    columns: Sequence[Column], places: Sequence[Place], sort: tuple[str, bool] | None, width: int, base: Style, look: Palette
) -> Strip:
    """The titles, with an arrow at the column sorted by."""
    pieces: list[tuple[Place, str, Style]] = []
    for place in places:
        column = columns[place.index]
        title, style = column.title, base + look.heading
        if sort is not None and sort[0] == column.id:
            title = f"{fit(title, place.width - 2).rstrip()} {'▼' if sort[1] else '▲'}"
            style = base + look.bar
        pieces.append((place, fit(title, place.width, column.align), style))
    return _strip([Segment(" " * GUTTER, base)], pieces, width, base)


def row_line(
    row: Row | None, line: LineLook, columns: Sequence[Column], places: Sequence[Place], width: int, base: Style, look: Palette
) -> Strip:
    """One row; an ellipsis while it is being loaded."""
    if line.marked:
        base += look.mark
    if line.at_cursor:
        base += look.cursor if line.focused else look.cursor_idle
    reversed_row = bool(base.reverse)
    gutter = f"{CURSOR_BAR if line.at_cursor else ' '}{MARK if line.marked else ' '} "
    lead = [Segment(gutter, base + (uncoloured(look.bar) if reversed_row else look.bar))]
    if row is None:
        return Strip([*lead, Segment(fit(ELLIPSIS, width - GUTTER), base + look.role("muted"))], width)
    pieces: list[tuple[Place, str, Style]] = []
    for place in places:
        cell = row.cells[place.index] if place.index < len(row.cells) else ""
        text, role = (cell, "") if isinstance(cell, str) else (cell.shown, cell.role)
        ink = look.style(role)
        style = base + (uncoloured(ink) if reversed_row else ink)
        if place.index in line.flashing:
            style += look.flash
        pieces.append((place, fit(text, place.width, columns[place.index].align), style))
    return _strip(lead, pieces, width, base)


def note_line(note: Cell, width: int, base: Style, look: Palette) -> Strip:
    """What an empty list says."""
    return Strip([Segment(fit(" " * GUTTER + note.shown, width), base + look.role(note.role))], width)


def _strip(segments: list[Segment], pieces: Sequence[tuple[Place, str, Style]], width: int, base: Style) -> Strip:
    """The pieces at their places, with blanks between them and up to the width."""
    end = GUTTER
    for place, text, style in pieces:
        if place.start > end:
            segments.append(Segment(" " * (place.start - end), base))
        segments.append(Segment(text, style))
        end = place.start + place.width
    if width > end:
        segments.append(Segment(" " * (width - end), base))
    return Strip(segments, max(width, end))
