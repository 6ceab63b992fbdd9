"""What a list is made of: rows with keys, cells with roles, and where rows come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from console.columns import Column


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of a row. `role` is a name out of themes.ROLES, or "" for plain text."""

    text: str
    role: str = ""
    glyph: str = ""

    @property
    def shown(self) -> str:
        """Glyph and text, as they are drawn."""
        return f"{self.glyph} {self.text}" if self.glyph else self.text


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list. Everything that is done to a row is done to its key, never to its place."""

    key: str
    cells: tuple[Cell | str, ...]


class RowSource(Protocol):
    """Rows by number, for a list too long to hold: the table asks only for what it is about to draw."""

    def count(self) -> int:
        """How many rows there are."""

    def row_at(self, index: int) -> Row | None:
        """The row with this number, or None while its page isn't here; never waits."""

    def request(self, first: int, last: int) -> None:
        """Have these rows loaded (both ends included), and call `table.page_arrived(first, last)` when they are here."""


class HeldRows:
    """A source that has all its rows."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows: tuple[Row, ...] = tuple(rows)
        self.numbers: dict[str, int] = {row.key: number for number, row in enumerate(self.rows)}
        if len(self.numbers) != len(self.rows):
            raise ValueError("two rows of a list have the same key")

    def count(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def row_at(self, index: int) -> Row | None:
        """The row with this number."""
        return self.rows[index] if 0 <= index < len(self.rows) else None

    def request(self, first: int, last: int) -> None:
        """Nothing is ever missing here."""


def nearest_survivor(old: Sequence[Row], at: int, numbers: dict[str, int]) -> int | None:
    """Where the row nearest to the vanished one at `at` is now: the next one that is still there, else the one before."""
    for row in old[at:]:
        if row.key in numbers:
            return numbers[row.key]
    for row in reversed(old[:at]):
        if row.key in numbers:
            return numbers[row.key]
    return None


def anchored_top(old: HeldRows, new: HeldRows, top: int, height: int, old_cursor: int, cursor: int) -> int:
    """Which row goes to the top of the view so that the one looked at stays where it is on the screen."""
    if top == 0 and cursor < height:
        # At the top of a list new rows are meant to be seen, not scrolled past.
        return 0
    if top <= old_cursor < top + height:
        return max(0, cursor - (old_cursor - top))
    kept = nearest_survivor(old.rows, top, new.numbers)
    return top if kept is None else kept


def changed_cells(columns: Sequence[Column], in_view: Sequence[Row], new: HeldRows) -> dict[str, frozenset[int]]:
    """By key, which cells of these rows have another content now, in columns whose changes are worth a look."""
    changed: dict[str, frozenset[int]] = {}
    for before in in_view:
        number = new.numbers.get(before.key)
        if number is None or new.rows[number] == before:
            continue
        cells = enumerate(zip(columns, before.cells, new.rows[number].cells, strict=False))
        changed[before.key] = frozenset(index for index, (column, was, now) in cells if column.flashes and was != now)
    return {key: cells for key, cells in changed.items() if cells}
