"""What a detail is made of, and how it is laid out into lines: values and functions, no widget."""

from __future__ import annotations

from dataclasses import dataclass

from console.text import block, cells, fit, one_line
from console.widgets.piece import Piece

MOST_LINES = 2_000
"""Lines one text may take in a detail; what is over is counted, and can be written to a file."""
WIDEST_LABEL = 18


@dataclass(frozen=True, slots=True)
class Line:
    """One text of a detail, wrapped to the width; `label` makes it a named field, `glyph` hangs before it."""

    text: str
    role: str = ""
    glyph: str = ""
    label: str = ""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A titled group of lines."""

    title: str
    lines: tuple[Line | str, ...]


@dataclass(frozen=True, slots=True)
class DetailTab:
    """One tab of a detail."""

    title: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The detail of one thing; while `key` is the same, the place one reads at is kept."""

    key: str
    tabs: tuple[DetailTab, ...]
    empty: str = "Nothing chosen"

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not any(tab.sections for tab in self.tabs)


NOTHING = Document("", ())


def lay_out_tab(tab: DetailTab, width: int) -> tuple[tuple[Piece, ...], ...]:
    """The lines of one tab, wrapped at `width` cells."""
    laid: list[tuple[Piece, ...]] = []
    for section in tab.sections:
        if laid:
            laid.append(())
        if section.title:
            laid.append((Piece(one_line(section.title), "heading"),))
        lines = [Line(line) if isinstance(line, str) else line for line in section.lines]
        label_width = min(WIDEST_LABEL, max((cells(one_line(line.label)) for line in lines), default=0))
        for line in lines:
            laid.extend(_laid(line, label_width, width))
    return tuple(laid)


def _laid(line: Line, label_width: int, width: int) -> list[tuple[Piece, ...]]:
    """One text as lines: what hangs before it on the first, blanks as wide on the others."""
    indent = " " * line.indent
    label = f"{indent}{fit(line.label, label_width)}  " if line.label else indent
    glyph = f"{line.glyph} " if line.glyph else ""
    hang = cells(label) + cells(glyph)
    # So narrow a detail has no room for labels beside their texts.
    stacked = bool(line.label) and width - hang < 12
    laid: list[tuple[Piece, ...]] = [(Piece(label, "muted"),)] if stacked else []
    hang = cells(glyph) if stacked else hang
    before = (Piece(glyph, line.role),) if stacked else (Piece(label, "muted"), Piece(glyph, line.role))
    for text in block(line.text, MOST_LINES, max(2, width - hang)):
        laid.append((*(piece for piece in before if piece.text), Piece(text, line.role)))
        before = (Piece(" " * hang),)
    return laid
