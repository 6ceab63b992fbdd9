"""What every view of the Memory screen has: a list read in the background, longer as one goes down, and a detail of one thing."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from textual import on, work
from textual.message import Message

from console import table_messages
from console.panes.base import ListPane, holds
from console.rows import Row
from console.table import RowTable
from console.widgets.document import NOTHING, Document
from core.clock import Clock
from core.errors import Refusal, StoreError
from core.store.database import View

PAGE = 200
"""Rows that a list begins with; as many more are read each time one comes near its end."""
MOST = 5_000
"""Rows that a list holds; what is older is found by `/`."""
NEAR_END = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """What a list is asked for: of one project or of all (""), what holds these words, what is over too, so many rows."""

    project: str = ""
    words: str = ""
    over_too: bool = False
    only_attention: bool = False
    limit: int = PAGE
    trail_last: int = 0
    """The trail's end as of which it was asked; a later end is the same question again."""

    def same_question(self, other: Asked | None) -> bool:
        """Whether the other asks the same, whenever."""
        return other is not None and replace(self, trail_last=0) == replace(other, trail_last=0)


@dataclass(frozen=True, slots=True)
class Listed:
    """What was found: rows in their order, whether there are more, and a sentence that the list says when it is empty."""

    rows: tuple[Any, ...]
    more: bool = False
    note: str = ""
    """What the filter says beside its words, such as "12 of 340"."""


class MemoryView(ListPane):
    """One view. A subclass says what its rows are (`read`, `key_of`, `row_of`) and what the detail of one is."""

    MARKABLE = False
    TITLE: ClassVar[str] = ""
    SEARCHES: ClassVar[bool] = False
    """Whether the words of the filter go to the store; else they narrow the rows that are held."""
    SORT_KEYS: ClassVar[dict[str, Callable[[Any], Any]]] = {}
    NOTHING_MATCHES: ClassVar[str] = "Nothing matches what is filtered: esc shows all"

    class StepAsked(Message):
        """To another view, so many to the right."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, Any] = {}
        self._held = Listed(())
        self._asked: Asked | None = None
        self._reading: Asked | None = None
        self._again = False
        self._failed = False
        self._limit = PAGE
        self._over_too = False
        self._detail: Any = None
        self._detail_for: tuple[str, object] | None = None

    # what a subclass says

    def read(self, view: View, asked: Asked, clock: Clock) -> Listed:
        """The rows, read off the UI thread. May raise a Refusal, which the list says."""
        raise NotImplementedError

    def key_of(self, row: Any) -> str:
        """The key of a row."""
        raise NotImplementedError

    def row_of(self, row: Any) -> Row:
        """A row as a line of the list."""
        raise NotImplementedError

    def words_of(self, row: Any) -> Sequence[str | None]:
        """The texts that a filter looks in, where it is not the store's."""
        del row
        return ()

    def read_detail(self, view: View, row: Any, clock: Clock) -> Any:
        """What the detail needs beyond the row, read off the UI thread; None when the thing is gone."""
        del view, clock
        return row

    def document(self, row: Any, detail: Any) -> Document:
        """The detail of a thing; `detail` is None until it is read."""
        raise NotImplementedError

    def text_of(self, row: Any, detail: Any) -> str | None:
        """The text that `c` copies, None until it is read."""
        raise NotImplementedError

    # the list

    @property
    def current(self) -> Any:
        """The thing under the cursor."""
        return self.rows.get(self.table.cursor_key or "")

    @property
    def project_key(self) -> str | None:
        """The project of the thing under the cursor, else the one that is shown."""
        row = self.current
        return row.project_key if row is not None else self.shown.project or None

    def refresh_rows(self) -> None:
        """Ask for the rows again when something has moved."""
        snapshot = self.shown.snapshot
        if snapshot is None:
            self.table.set_empty("not measured: the store has not been read yet", "warning")
            self.set_rows(())
            return
        words = self.filter_bar.text if self.SEARCHES else ""
        asked = Asked(
            self.shown.project,
            words,
            self._over_too,
            self.shown.only_attention and self.room.check_action("only_attention", ()) is True,
            # a filter over held rows has to hold them all
            MOST if self.filter_bar.text and not self.SEARCHES else self._limit,
            snapshot.trail_last,
        )
        if asked != self._asked:
            if not asked.same_question(self._asked) and self._asked is not None:
                self.filter_bar.set_note("looking…" if words else "")
            self._asked = asked
            self._ask()
        self._show_rows()

    def _ask(self) -> None:
        if self._reading is not None:
            # one read at a time; the one at work is of no use any more when it answers another question
            self._again = True
            if not self._reading.same_question(self._asked):
                self.room.searcher.interrupt()
            return
        self._reading = self._asked
        if self._asked is not None:
            self._read_list(self._asked)

    @work(thread=True, group="memory-list", exit_on_error=False)
    def _read_list(self, asked: Asked) -> None:
        found: Listed | Refusal | None
        try:
            with self.room.searcher.snapshot() as (view, witness):
                found = self.read(view, asked, witness.clock)
        except Refusal as refusal:
            found = refusal
        except StoreError:
            found = None
        self.app.call_from_thread(self._list_read, asked, found)

    def _list_read(self, asked: Asked, found: Listed | Refusal | None) -> None:
        self._reading = None
        if asked.same_question(self._asked):
            self._failed = found is None
            if isinstance(found, Listed):
                self._held = found
                self.filter_bar.set_note(found.note)
            elif found is not None:
                self._held = Listed(())
                self.filter_bar.set_note(found.sentence)
            elif not self._again:
                self._asked = None  # the header says what ails the store; the next state asks again
            self._show_rows()
        if self._again:
            self._again = False
            self._ask()

    def _show_rows(self) -> None:
        held = self._held.rows
        words = self.filter_bar.text
        if words and not self.SEARCHES:
            held = tuple(row for row in held if holds(words, *self.words_of(row)))
            self.filter_bar.set_note(f"{len(held):,} shown")
        column, reverse = self.table.sort or ("", False)
        if column in self.SORT_KEYS:
            held = tuple(sorted(held, key=self.SORT_KEYS[column], reverse=reverse))
        self.rows = {self.key_of(row): row for row in held}
        if self._failed:
            self.table.set_empty("not measured: the store can't be read now", "warning")
        elif self._reading is not None:
            self.table.set_empty("reading…")
        else:
            self.table.set_empty(self.NOTHING_MATCHES if words or self.shown.only_attention else self.EMPTY)
        self.set_rows([self.row_of(row) for row in self.rows.values()])
        self.show_detail()
        self.room.place_changed()

    def filter_changed(self, words: str) -> None:
        """Other words: a search, or a narrower list."""
        del words
        self._limit = PAGE
        self.refresh_rows()

    def action_show_ended(self) -> None:
        """Show or hide what is over."""
        self._over_too = not self._over_too
        self.refresh_rows()

    def action_previous_view(self) -> None:
        """The view to the left."""
        self.post_message(self.StepAsked(-1))

    def action_next_view(self) -> None:
        """The view to the right."""
        self.post_message(self.StepAsked(1))

    def copied(self) -> tuple[str, str] | None:
        """The id and the JSON of the thing under the cursor."""
        row = self.current
        return None if row is None else (self.id_of(row), json.dumps(asdict(row), ensure_ascii=False, default=str))

    def id_of(self, row: Any) -> str:
        """What names the thing, to be copied."""
        return self.key_of(row)

    def whole_text(self) -> str | None:
        """The text of the thing under the cursor."""
        row = self.current
        return None if row is None else self.text_of(row, self._detail)

    def lines(self) -> list[str]:
        """What is shown, as JSON lines for a file."""
        return [json.dumps(asdict(row), ensure_ascii=False, default=str) for row in self.rows.values()]

    @on(RowTable.Chosen)
    def _opened(self, event: table_messages.Chosen) -> None:
        event.stop()
        self.detail.body.focus()
        if not self.detail.display:
            self.split.toggle_enlarged()

    # the detail

    def show_detail(self) -> None:
        """Bring the detail in line with the row under the cursor; near the end of the list, have more of it read."""
        self._go_on()
        row = self.current
        if row is None:
            self._detail, self._detail_for = None, None
            self.detail.show(NOTHING)
            return
        key = self.key_of(row)
        if self._detail_for is None or self._detail_for[0] != key:
            self._detail = None
        self.detail.show(self.document(row, self._detail))
        snapshot = self.shown.snapshot
        wanted = (key, snapshot.trail_last if snapshot else None)
        if self._detail_for != wanted:
            self._detail_for = wanted
            self._load_detail(key, row)

    def _go_on(self) -> None:
        near = self.table.cursor_index >= self.table.row_count - NEAR_END
        if self._held.more and near and self._limit < MOST and self._reading is None and not self.filter_bar.text:
            self._limit = min(MOST, self._limit + PAGE)
            self.call_later(self.refresh_rows)

    @work(thread=True, exclusive=True, group="memory-detail", exit_on_error=False)
    def _load_detail(self, key: Hashable, row: Any) -> None:
        try:
            with self.room.looker.snapshot() as (view, witness):
                detail = self.read_detail(view, row, witness.clock)
        except (StoreError, Refusal):
            detail = None
        self.app.call_from_thread(self._detail_loaded, key, detail)

    def _detail_loaded(self, key: Hashable, detail: Any) -> None:
        row = self.current
        if row is None or self.key_of(row) != key:
            return
        if detail is None:
            self._detail_for = None  # it is asked for again with the next state
            return
        self._detail = detail
        self.detail.show(self.document(row, detail))
