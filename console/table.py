"""RowTable, which draws every list: by lines, by keys, and only the lines that changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar, Final, TypeAlias

from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console import table_messages
from console.actions import EVERYWHERE, bindings_for
from console.columns import Column, Place, lay_out
from console.lines import LineLook, header_line, note_line, row_line
from console.rows import Cell, HeldRows, Row, RowSource, anchored_top, changed_cells, nearest_survivor
from console.themes import Palette, palette_of

__all__ = ["Cell", "Column", "Row", "RowSource", "RowTable"]

FLASH_SECONDS: Final = 0.6
_NOTHING: Final[frozenset[int]] = frozenset()


class RowTable(ScrollView, inherit_bindings=False):
    """A list of keyed rows with a cursor, marks and a sort arrow.

    Give it rows (`set_rows`) or, for what is too long to hold, a source (`set_source`). Every change goes through
    `_repaint_changed`, which compares what each visible line shows with what it should show and repaints the difference.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for(EVERYWHERE, "list")]

    DEFAULT_CSS = """
    RowTable {
        height: 1fr;
        width: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
    }
    """

    Highlighted: TypeAlias = table_messages.Highlighted
    Chosen: TypeAlias = table_messages.Chosen
    MarksChanged: TypeAlias = table_messages.MarksChanged
    SortChanged: TypeAlias = table_messages.SortChanged
    FollowChanged: TypeAlias = table_messages.FollowChanged

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        empty: str = "Nothing here",
        sort: tuple[str, bool] | None = None,
        markable: bool = True,
        follows: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`sort` is the column and whether it is reversed; a list that `follows` keeps to its end until one moves up."""
        super().__init__(id=id, classes=classes)
        self._columns = tuple(columns)
        self._empty = Cell(empty, "muted")
        self._sort = sort
        self._markable = markable
        self._follows = self._following = follows
        self._source: RowSource = HeldRows()
        self._count = 0
        self._cursor = 0
        self._announced: str | None = None
        self._moved_by_person = False
        self._marks: dict[str, None] = {}
        self._flashing: dict[str, frozenset[int]] = {}
        self._requested: tuple[int, int] | None = None
        self._asking = False
        self._places: tuple[Place, ...] = ()
        self._drawn: dict[int, object] = {}
        self._palette: Palette | None = None

    # What it shows.

    def set_rows(self, rows: Iterable[Row]) -> None:
        """Show these rows. The cursor, the marks and what is in view stay with their keys; only changed lines are repainted."""
        new = HeldRows(rows)
        old = self._source
        if not isinstance(old, HeldRows):
            self._take(new, cursor=0)
            return
        if new.rows == old.rows:
            return
        self._flash_changes(old, new)
        cursor = self._cursor
        anchor = self.scroll_offset.y
        if old.rows:
            kept = nearest_survivor(old.rows, self._cursor, new.numbers)
            cursor = min(self._cursor, len(new.rows) - 1) if kept is None else kept
            anchor = anchored_top(old, new, self.scroll_offset.y, self._body_height, self._cursor, cursor)
        self._take(new, cursor, anchor)

    def set_source(self, source: RowSource) -> None:
        """Show what this source has, from its first row, or from its end while the list follows."""
        self._flashing.clear()
        self._take(source, cursor=0, anchor=0)

    def count_changed(self) -> None:
        """The source has more or fewer rows at its end now."""
        self._take(self._source, self._cursor, self.scroll_offset.y)

    def page_arrived(self, first: int, last: int) -> None:
        """The rows from `first` to `last` are here (or changed): repaint those in view."""
        del first, last  # Each visible line is compared with what it showed, which is exact and costs no more.
        self._repaint_changed()
        self._announce()

    def retry(self) -> None:
        """Ask again for what is missing, after loading it has failed."""
        self._requested = None
        self._ask_soon()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Other columns, for rows with other cells."""
        if tuple(columns) != self._columns:
            self._columns = tuple(columns)
            self._lay_out()

    def set_empty(self, text: str, role: str = "muted") -> None:
        """What an empty list says, such as "Nothing needs you" or "not measured"."""
        empty = Cell(text, role)
        if empty != self._empty:
            self._empty = empty
            self._repaint_changed()

    def show_sort(self, column: str, reverse: bool) -> None:
        """Show the arrow of the order the rows are in."""
        if self._sort != (column, reverse):
            self._sort = (column, reverse)
            self._repaint_changed()

    # What can be asked of it.

    @property
    def cursor_key(self) -> str | None:
        """The key of the row under the cursor; None when there is none, or it isn't loaded."""
        row = self._row(self._cursor)
        return None if row is None else row.key

    @property
    def cursor_index(self) -> int:
        """The number of the row under the cursor."""
        return self._cursor

    @property
    def row_count(self) -> int:
        """How many rows are shown."""
        return self._count

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows shown, when the list holds them itself; empty over a source."""
        return self._source.rows if isinstance(self._source, HeldRows) else ()

    @property
    def sort(self) -> tuple[str, bool] | None:
        """The column sorted by and whether it is reversed."""
        return self._sort

    @property
    def following(self) -> bool:
        """Whether the list keeps to its end."""
        return self._following

    def marks(self) -> tuple[str, ...]:
        """Every mark, also those a filter hides."""
        return tuple(self._marks)

    def shown_marks(self) -> tuple[str, ...]:
        """The marked rows that are shown, in the order shown: the only ones anything may be done to."""
        return tuple(row.key for row in self.rows if row.key in self._marks)

    def clear_marks(self) -> bool:
        """Take every mark away; False when there was none, so that escape can go on to the next thing."""
        return self.drop_marks(tuple(self._marks))

    def drop_marks(self, keys: Iterable[str]) -> bool:
        """Take these marks away, for things that are no more."""
        gone = [key for key in keys if key in self._marks]
        for key in gone:
            del self._marks[key]
        if gone:
            self._marks_changed()
        return bool(gone)

    def go_to(self, key: str) -> bool:
        """Put the cursor on this row; False when it isn't shown."""
        source = self._source
        if not isinstance(source, HeldRows) or key not in source.numbers:
            return False
        self._move_to(source.numbers[key], by_person=False)
        return True

    def go_to_index(self, index: int) -> None:
        """Put the cursor on the row with this number."""
        self._move_to(index, by_person=False)

    # Keys and mouse.

    def action_move_down(self) -> None:
        """One row down."""
        self._move_to(self._cursor + 1)

    def action_move_up(self) -> None:
        """One row up."""
        self._move_to(self._cursor - 1)

    def action_move_home(self) -> None:
        """To the first row."""
        self._move_to(0)

    def action_move_end(self) -> None:
        """To the last row; a list that follows does so again."""
        self._move_to(self._count - 1)
        self._follow(self._follows)

    def action_page_down(self) -> None:
        """One page down."""
        self._move_to(self._cursor + max(1, self._body_height - 1))

    def action_page_up(self) -> None:
        """One page up."""
        self._move_to(self._cursor - max(1, self._body_height - 1))

    def action_choose(self) -> None:
        """Open the row under the cursor."""
        if (key := self.cursor_key) is not None:
            self.post_message(self.Chosen(self, key))

    def action_mark(self) -> None:
        """Mark the row under the cursor, or take its mark away."""
        if not self._markable or (key := self.cursor_key) is None:
            return
        if key in self._marks:
            del self._marks[key]
        else:
            self._marks[key] = None
        self._marks_changed()

    def action_mark_all(self) -> None:
        """Mark every row shown; when all are, take their marks away."""
        shown = [row.key for row in self.rows]
        if not self._markable or not shown:
            return
        if all(key in self._marks for key in shown):
            self.drop_marks(shown)
        else:
            self._marks.update(dict.fromkeys(shown))
            self._marks_changed()

    def action_sort_left(self) -> None:
        """Sort by the column to the left."""
        self._sort_beside(-1)

    def action_sort_right(self) -> None:
        """Sort by the column to the right."""
        self._sort_beside(1)

    def action_sort_reverse(self) -> None:
        """Turn the order round."""
        if self._sort is not None:
            self._sort_by(self._sort[0], not self._sort[1])

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one chooses; one on the header sorts."""
        at = event.get_content_offset(self)
        if at is None:
            return
        if at.y == 0:
            place = next((place for place in self._places if place.holds(at.x)), None)
            if place is not None and self._columns[place.index].sortable:
                column = self._columns[place.index].id
                self._sort_by(column, self._sort is not None and self._sort == (column, False))
            return
        index = self.scroll_offset.y + at.y - 1
        if not 0 <= index < self._count:
            return
        # The second click counts only on the row the first one went to: rows may have moved in between.
        same_row = index == self._cursor
        self._move_to(index)
        if event.chain == 2 and same_row:
            self.action_choose()

    def on_mouse_scroll_up(self) -> None:
        """Looking back in a following list freezes it, as moving up does."""
        self._follow(False)

    # Drawing.

    def render_line(self, y: int) -> Strip:
        """One line of the widget: the header, a row, or nothing."""
        width, base, look = self.size.width, self.rich_style, self._look
        if y == 0:
            self._drawn[0] = self._sort
            return header_line(self._columns, self._places, self._sort, width, base, look)
        shown = self._drawn[y] = self._line_at(y)
        if isinstance(shown, Cell):
            return note_line(shown, width, base, look)
        if isinstance(shown, tuple):
            row, line = shown
            return row_line(row, line, self._columns, self._places, width, base, look)
        return Strip.blank(width, base)

    def notify_style_update(self) -> None:
        """Another theme: the styles drawn with are looked up again."""
        super().notify_style_update()
        self._palette = None

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor's row looks different while something else has the focus."""
        super().watch_has_focus(has_focus)
        self._repaint_changed()

    def on_resize(self) -> None:
        """Another width: the columns share it anew."""
        self._lay_out()
        self._scroll_into_view()
        self._ask_soon()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Other rows are in view: have the missing ones loaded."""
        super().watch_scroll_y(old_value, new_value)
        self._ask_soon()

    @property
    def _look(self) -> Palette:
        if self._palette is None:
            self._palette = palette_of(self.app)
        return self._palette

    @property
    def _body_height(self) -> int:
        return max(1, self.size.height - 1)

    def _row(self, index: int) -> Row | None:
        return self._source.row_at(index) if 0 <= index < self._count else None

    def _lay_out(self) -> None:
        self._places = lay_out(self._columns, self.scrollable_content_region.width)
        self.refresh()

    def _line_at(self, y: int) -> tuple[Row | None, LineLook] | Cell | None:
        """All that decides how a line looks, to be compared with what it was when the line was last drawn."""
        if self._count == 0:
            return self._empty if y == min(2, self.size.height - 1) else None
        index = self.scroll_offset.y + y - 1
        if index >= self._count:
            return None
        row = self._row(index)
        at_cursor = index == self._cursor
        marked = row is not None and row.key in self._marks
        flashing = _NOTHING if row is None else self._flashing.get(row.key, _NOTHING)
        return row, LineLook(at_cursor, at_cursor and self.has_focus, marked, flashing)

    def _repaint_changed(self) -> None:
        """Repaint the lines that show something else than they should."""
        if not self.is_mounted:
            return
        for y in range(self.size.height):
            shown = self._line_at(y) if y else self._sort
            if y not in self._drawn or self._drawn[y] != shown:
                self.refresh(Region(0, y, self.size.width, 1))

    # Changing.

    def _take(self, source: RowSource, cursor: int, anchor: int | None = None) -> None:
        """Show this source with the cursor here and, if told, this row at the top."""
        if source is not self._source:
            self._requested = None
        self._source = source
        self._count = source.count()
        if self._following:
            cursor = self._count - 1
        self._cursor = max(0, min(cursor, self._count - 1))
        self.virtual_size = Size(0, self._count + 1)
        if self._following or anchor is None:
            self._scroll_into_view()
        elif anchor != self.scroll_offset.y or anchor > self.max_scroll_y:
            self.scroll_to(y=min(anchor, self.max_scroll_y), animate=False)
        self._repaint_changed()
        self._ask_soon()
        self._moved_by_person = False
        self._announce()

    def _move_to(self, index: int, by_person: bool = True) -> None:
        self._cursor = index = max(0, min(index, self._count - 1))
        if by_person and index < self._count - 1:
            self._follow(False)
        self._scroll_into_view()
        self._repaint_changed()
        self._ask_soon()
        self._moved_by_person = by_person
        self._announce()

    def _scroll_into_view(self) -> None:
        top, height = self.scroll_offset.y, self._body_height
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False)
        elif self._cursor >= top + height:
            self.scroll_to(y=self._cursor - height + 1, animate=False)

    def _follow(self, following: bool) -> None:
        following = following and self._follows
        if following != self._following:
            self._following = following
            self.post_message(self.FollowChanged(self, following))

    def _announce(self) -> None:
        """Say which row the cursor is on, once for each row; a row that isn't loaded is said when it comes."""
        key = self.cursor_key
        if key != self._announced and (key is not None or self._count == 0):
            self._announced = key
            self.post_message(self.Highlighted(self, key, self._cursor, self._moved_by_person))

    def _marks_changed(self) -> None:
        self._repaint_changed()
        self.post_message(self.MarksChanged(self))

    def _sort_beside(self, step: int) -> None:
        ids = [self._columns[place.index].id for place in self._places if self._columns[place.index].sortable]
        if not ids:
            return
        at = ids.index(self._sort[0]) if self._sort is not None and self._sort[0] in ids else -1 if step > 0 else len(ids)
        self._sort_by(ids[max(0, min(at + step, len(ids) - 1))], False)

    def _sort_by(self, column: str, reverse: bool) -> None:
        if self._sort != (column, reverse):
            self.show_sort(column, reverse)
            self.post_message(self.SortChanged(self, column, reverse))

    def _flash_changes(self, old: HeldRows, new: HeldRows) -> None:
        """Flash the changed cells of the rows in view once, unless motion is reduced."""
        if not self.is_mounted or self.app.animation_level == "none":
            return
        top = self.scroll_offset.y
        changed = changed_cells(self._columns, old.rows[top : top + self._body_height], new)
        if changed:
            self._flashing.update(changed)
            self.set_timer(FLASH_SECONDS, partial(self._end_flash, changed))

    def _end_flash(self, changed: dict[str, frozenset[int]]) -> None:
        for key, cells in changed.items():
            # A row that flashed again meanwhile has a later end of its own.
            if self._flashing.get(key) is cells:
                del self._flashing[key]
        self._repaint_changed()

    def _ask_soon(self) -> None:
        """Ask for missing rows once the keys and wheel turns that are waiting have been worked off."""
        if not self._asking and self.is_mounted and not isinstance(self._source, HeldRows):
            self._asking = True
            self.call_after_refresh(self._ask)

    def _ask(self) -> None:
        self._asking = False
        top = self.scroll_offset.y
        missing = [index for index in range(top, min(top + self._body_height, self._count)) if self._source.row_at(index) is None]
        # The same rows are not asked for twice in a row, so that a page that can't be read does not spin.
        if missing and self._requested != (missing[0], missing[-1]):
            self._requested = (missing[0], missing[-1])
            self._source.request(*self._requested)
