"""The columns of a list, and how they share a line: no row is measured, so a million of them cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from console.text import Align

GUTTER = 3
"""Cells before the first column: the cursor's bar, the mark, and a blank."""
GAP = 2
"""Blank cells between columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a list."""

    id: str
    title: str
    width: int
    """Its width in cells; the least it has when it grows."""
    grow: int = 0
    """Its share of what the line has left over; 0 keeps it at `width`."""
    most: int = 0
    """Where growing ends; 0 for never."""
    drop: int = 0
    """When the line is too short, columns go by this number, the highest first; 0 stays to the end."""
    align: Align = "left"
    sortable: bool = True
    flashes: bool = True
    """Whether a change flashes; off for what changes by itself, such as an age."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a column is drawn."""

    index: int
    """Which column, and so which cell of a row."""
    start: int
    width: int

    def holds(self, x: int) -> bool:
        """Whether this cell of the line belongs to the column, the gap after it included."""
        return self.start <= x < self.start + self.width + GAP


def lay_out(columns: Sequence[Column], width: int) -> tuple[Place, ...]:
    """Share a line of `width` cells out: drop what has to go, give what is left to the columns that grow."""
    kept = list(range(len(columns)))
    room = width - GUTTER

    def needed() -> int:
        return sum(columns[index].width for index in kept) + GAP * max(0, len(kept) - 1)

    while len(kept) > 1 and needed() > room:
        goes = max(kept, key=lambda index: (columns[index].drop, index))
        if columns[goes].drop == 0:
            break
        kept.remove(goes)

    widths = {index: columns[index].width for index in kept}
    _grow(columns, widths, room - needed())
    places: list[Place] = []
    start = GUTTER
    for index in kept:
        size = min(widths[index], width - start)
        if size <= 0:
            break
        places.append(Place(index, start, size))
        start += size + GAP
    return tuple(places)


def _grow(columns: Sequence[Column], widths: dict[int, int], spare: int) -> None:
    """Hand the spare cells to the growing columns by their shares, until none is left or all have their most."""
    growing = [index for index in widths if columns[index].grow > 0]
    while spare > 0 and growing:
        shares = sum(columns[index].grow for index in growing)
        given = 0
        for index in list(growing):
            column = columns[index]
            more = max(1, spare * column.grow // shares)
            if column.most:
                more = min(more, column.most - widths[index])
            more = max(0, min(more, spare - given))
            widths[index] += more
            given += more
            if column.most and widths[index] >= column.most:
                growing.remove(index)
        if given == 0:
            break
        spare -= given
