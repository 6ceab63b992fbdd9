"""What a RowTable says to its pane; each is also an attribute of RowTable, as `RowTable.Chosen`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from console.table import RowTable


class TableMessage(Message):
    """What every message of a table has, so that `@on(…, "#id")` can tell tables apart."""

    def __init__(self, table: RowTable) -> None:
        super().__init__()
        self.table = table

    @property
    def control(self) -> RowTable:
        """The table it comes from."""
        return self.table


class Highlighted(TableMessage, namespace="row_table"):
    """The cursor is on another row now; `key` is None when the list is empty. `by_person` tells a key from the store."""

    def __init__(self, table: RowTable, key: str | None, index: int, by_person: bool) -> None:
        super().__init__(table)
        self.key = key
        self.index = index
        self.by_person = by_person


class Chosen(TableMessage, namespace="row_table"):
    """Enter or a double click on this row."""

    def __init__(self, table: RowTable, key: str) -> None:
        super().__init__(table)
        self.key = key


class MarksChanged(TableMessage, namespace="row_table"):
    """The marks are other ones; read `shown_marks()`."""


class SortChanged(TableMessage, namespace="row_table"):
    """Another order is wanted; the pane sorts and calls `set_rows`."""

    def __init__(self, table: RowTable, column: str, reverse: bool) -> None:
        super().__init__(table)
        self.column = column
        self.reverse = reverse


class FollowChanged(TableMessage, namespace="row_table"):
    """The person left the end of a following list, or went back to it."""

    def __init__(self, table: RowTable, following: bool) -> None:
        super().__init__(table)
        self.following = following
