"""RowTable: everything by key, only changed lines repainted, and a million rows for the price of a screenful."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.strip import Strip

from console.columns import GUTTER, lay_out
from console.table import Cell, Column, Row, RowTable
from console.themes import install_themes, theme_defaults
from tests.console.hostile import ACTING, HOSTILE
from tests.console.waiting import until

COLUMNS = (
    Column("name", "name", 10, grow=1, most=20),
    Column("verdict", "verdict", 10),
    Column("age", "age", 6, align="right", flashes=False),
    Column("note", "note", 16, grow=2, drop=1),
    Column("token", "token", 10, drop=2, sortable=False),
)


def row(key: str, *, verdict: str = "LIVE", age: str = "1m", note: str = "") -> Row:
    return Row(key, (key, Cell(verdict, "ok", "●"), age, note, Cell("token", "muted")))


def rows(*keys: str) -> list[Row]:
    return [row(key) for key in keys]


def many(count: int, first: int = 0) -> list[Row]:
    return rows(*(f"r{number}" for number in range(first, first + count)))


class Counted(RowTable):
    """A table that notes which lines were drawn."""

    def __init__(self, columns: Sequence[Column] = COLUMNS, **options: object) -> None:
        super().__init__(columns, **options)  # type: ignore[arg-type]
        self.lines: list[int] = []

    def render_line(self, y: int) -> Strip:
        self.lines.append(y)
        return super().render_line(y)


class Listing(App[None]):
    def __init__(self, table: Counted | None = None) -> None:
        super().__init__()
        install_themes(self)
        self.table = table or Counted()
        self.said: list[tuple[object, ...]] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.table.focus()

    def on_row_table_highlighted(self, message: RowTable.Highlighted) -> None:
        self.said.append(("highlighted", message.key, message.by_person))

    def on_row_table_chosen(self, message: RowTable.Chosen) -> None:
        self.said.append(("chosen", message.key))

    def on_row_table_marks_changed(self, message: RowTable.MarksChanged) -> None:
        self.said.append(("marks", message.table.shown_marks()))

    def on_row_table_sort_changed(self, message: RowTable.SortChanged) -> None:
        self.said.append(("sort", message.column, message.reverse))

    def on_row_table_follow_changed(self, message: RowTable.FollowChanged) -> None:
        self.said.append(("follow", message.following))

    def shown(self) -> list[str]:
        return [self.table.render_line(y).text for y in range(self.table.size.height)]

    def chosen(self) -> list[tuple[object, ...]]:
        return self.said_of("chosen")

    def said_of(self, kind: str) -> list[tuple[object, ...]]:
        return [said for said in self.said if said[0] == kind]


async def settled(pilot: Pilot[None], app: Listing) -> None:
    """Let everything be drawn, then count anew."""
    await until(pilot, lambda: not app.table._flashing)
    await pilot.pause()
    await pilot.pause()
    app.table.lines.clear()
    app.said.clear()


# The cursor stays with its key.


@pytest.mark.parametrize(
    ("after", "cursor"),
    [
        (("c", "a", "b", "d"), "c"),
        (("x", "y", "a", "b", "c", "d"), "c"),
        (("c",), "c"),
        (("a", "b", "d"), "d"),
        (("a", "b"), "b"),
        (("d",), "d"),
        (("x", "y"), "y"),
        ((), None),
    ],
)
async def test_the_cursor_stays_on_its_row_or_goes_to_its_nearest_neighbour(after: tuple[str, ...], cursor: str | None) -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.table.set_rows(rows("a", "b", "c", "d"))
        await pilot.press("j", "j")
        assert app.table.cursor_key == "c"
        app.table.set_rows(rows(*after))
        await pilot.pause()
        assert app.table.cursor_key == cursor
        assert app.chosen() == []
        if cursor != "c":
            assert app.said[-1] == ("highlighted", cursor, False)


async def test_enter_acts_on_the_row_that_was_looked_at_though_rows_moved() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.table.set_rows(rows("a", "b", "c"))
        await pilot.press("j")
        app.table.set_rows(rows("c", "x", "a", "b"))
        await pilot.press("enter")
        await pilot.pause()
        assert app.chosen() == [("chosen", "b")]


async def test_what_is_looked_at_stays_where_it_is_on_the_screen() -> None:
    app = Listing()
    async with app.run_test(size=(80, 11)) as pilot:
        app.table.set_rows(many(100))
        app.table.go_to("r50")
        await pilot.pause()
        offset = app.table.cursor_index - app.table.scroll_offset.y
        app.table.set_rows([*rows("new1", "new2", "new3"), *many(100)])
        await pilot.pause()
        assert app.table.cursor_key == "r50"
        assert app.table.cursor_index - app.table.scroll_offset.y == offset


async def test_at_the_top_new_rows_are_seen() -> None:
    app = Listing()
    async with app.run_test(size=(80, 11)) as pilot:
        app.table.set_rows(many(100))
        await pilot.pause()
        app.table.set_rows([*rows("new"), *many(100)])
        await pilot.pause()
        assert app.table.cursor_key == "r0"
        assert "new" in app.shown()[1]


async def test_two_rows_with_one_key_are_refused() -> None:
    app = Listing()
    async with app.run_test():
        with pytest.raises(ValueError, match="same key"):
            app.table.set_rows(rows("a", "a"))


# Marks.


async def test_marks_stay_and_a_hidden_one_is_not_acted_on() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.table.set_rows(rows("a", "b", "c", "d"))
        await pilot.press("space", "j", "space", "j", "j", "space")
        assert app.table.shown_marks() == ("a", "b", "d")
        app.table.set_rows(rows("d", "c", "a"))
        assert app.table.shown_marks() == ("d", "a")
        assert set(app.table.marks()) == {"a", "b", "d"}
        app.table.set_rows(rows("a", "b", "c", "d"))
        assert app.table.shown_marks() == ("a", "b", "d")


async def test_mark_all_marks_what_is_shown_and_again_takes_it_away() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.table.set_rows(rows("a", "b", "c"))
        await pilot.press("space")
        app.table.set_rows(rows("b", "c"))
        await pilot.press("asterisk")
        assert app.table.shown_marks() == ("b", "c")
        await pilot.press("asterisk")
        assert app.table.shown_marks() == ()
        assert app.table.marks() == ("a",)
        assert app.table.clear_marks() is True
        assert app.table.clear_marks() is False


async def test_a_mark_is_told_by_a_glyph() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.table.set_rows(rows("a", "b"))
        await pilot.press("space", "j")
        await pilot.pause()
        assert app.shown()[1].startswith(" ✓ a")
        assert app.shown()[2].startswith("▌  b")


# Only what changed is repainted.


async def test_one_changed_row_repaints_one_line() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.table.set_rows(many(100))
        await settled(pilot, app)
        changed = many(100)
        changed[4] = row("r4", age="9m")
        app.table.set_rows(changed)
        await pilot.pause()
        assert app.table.lines == [5]


async def test_a_move_repaints_two_lines() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.table.set_rows(many(100))
        await settled(pilot, app)
        await pilot.press("j")
        await pilot.pause()
        assert sorted(app.table.lines) == [1, 2]


async def test_the_same_rows_again_repaint_nothing_and_say_nothing() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.table.set_rows(many(100))
        await settled(pilot, app)
        app.table.set_rows(many(100))
        app.table.set_empty("Nothing here")
        app.table.set_columns(COLUMNS)
        await pilot.pause()
        assert app.table.lines == []
        assert app.said == []


async def test_a_change_out_of_view_repaints_nothing() -> None:
    app = Listing()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.set_rows(many(100))
        await settled(pilot, app)
        changed = many(100)
        changed[90] = row("r90", note="changed")
        app.table.set_rows(changed)
        await pilot.pause()
        assert app.table.lines == []


async def test_a_changed_cell_flashes_once_and_ends() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.animation_level = "full"
        app.table.set_rows(rows("a", "b"))
        await settled(pilot, app)
        app.table.set_rows([row("a", verdict="DEAD", age="2m"), row("b")])
        assert app.table._flashing == {"a": frozenset({1})}
        await until(pilot, lambda: not app.table._flashing)
        await pilot.pause()
        assert app.table.lines.count(1) == 2


async def test_with_reduced_motion_nothing_flashes() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.animation_level = "none"
        app.table.set_rows(rows("a"))
        await pilot.pause()
        app.table.set_rows([row("a", verdict="DEAD")])
        assert app.table._flashing == {}


async def test_idle_has_no_timer() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.table.set_rows(many(10))
        await settled(pilot, app)
        for _ in range(5):
            await pilot.pause()
        assert app.table.lines == []
        assert len(app.table._timers) == 0


# Keys and mouse.


async def test_the_movement_keys() -> None:
    app = Listing()
    async with app.run_test(size=(80, 11)) as pilot:
        app.table.set_rows(many(100))
        await pilot.pause()
        for key, index in (
            ("j", 1), ("down", 2), ("k", 1), ("up", 0), ("up", 0), ("G", 99), ("j", 99), ("g", 0), ("end", 99), ("home", 0),
            ("ctrl+d", 9), ("pagedown", 18), ("ctrl+u", 9), ("pageup", 0),
        ):  # fmt: skip
            await pilot.press(key)
            assert app.table.cursor_index == index, key
            assert app.table.scroll_offset.y <= index < app.table.scroll_offset.y + 10


async def test_sorting_says_what_is_wanted_and_shows_the_arrow() -> None:
    app = Listing(Counted(sort=("name", False)))
    async with app.run_test(size=(120, 20)) as pilot:
        app.table.set_rows(rows("a"))
        await pilot.press("greater_than_sign", "s", "less_than_sign")
        await pilot.pause()
        assert app.said_of("sort") == [
            ("sort", "verdict", False), ("sort", "verdict", True), ("sort", "name", False),
        ]  # fmt: skip
        assert "name ▲" in app.shown()[0]
        await pilot.press("s")
        assert "name ▼" in app.shown()[0]


async def test_the_mouse() -> None:
    app = Listing(Counted(sort=("name", False)))
    async with app.run_test(size=(120, 20)) as pilot:
        app.table.set_rows(rows("a", "b", "c"))
        await pilot.pause()
        await pilot.click(RowTable, offset=(8, 2))
        assert app.table.cursor_key == "b"
        assert app.chosen() == []
        await pilot.click(RowTable, offset=(8, 3), times=2)
        await pilot.pause()
        assert app.chosen() == [("chosen", "c")]
        await pilot.click(RowTable, offset=(4, 0))
        await pilot.pause()
        assert app.said[-1] == ("sort", "name", True)
        await pilot.click(RowTable, offset=(8, 15))
        assert app.table.cursor_key == "c"


async def test_keys_on_an_empty_list_do_nothing() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        await pilot.press("j", "k", "G", "g", "space", "asterisk", "enter", "ctrl+d", "ctrl+u", "s")
        await pilot.pause()
        assert app.said == []
        assert app.table.cursor_key is None


async def test_an_empty_list_says_why() -> None:
    app = Listing(Counted(empty="No open wraps"))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert "No open wraps" in app.shown()[2]
        app.table.set_empty("not measured", "warning")
        await pilot.pause()
        assert "not measured" in app.shown()[2]
        app.table.set_rows(rows("a"))
        await pilot.pause()
        assert not any("not measured" in line for line in app.shown())


# A million rows.


class Pages:
    """A source that has nothing until a page is delivered."""

    def __init__(self, count: int) -> None:
        self.total = count
        self.loaded: dict[int, Row] = {}
        self.asked: list[tuple[int, int]] = []

    def count(self) -> int:
        return self.total

    def row_at(self, index: int) -> Row | None:
        return self.loaded.get(index)

    def request(self, first: int, last: int) -> None:
        self.asked.append((first, last))

    def deliver(self, table: RowTable) -> None:
        first, last = self.asked[-1]
        self.loaded |= {index: row(f"seq{index}") for index in range(first, last + 1)}
        table.page_arrived(first, last)


async def test_a_million_rows_ask_only_for_what_is_in_view() -> None:
    app = Listing()
    source = Pages(1_000_000)
    async with app.run_test(size=(80, 21)) as pilot:
        await pilot.pause()
        start = time.process_time()
        app.table.set_source(source)
        await until(pilot, lambda: bool(source.asked))
        assert source.asked == [(0, 19)]
        assert app.table.cursor_key is None
        assert "…" in app.shown()[1]
        source.deliver(app.table)
        await until(pilot, lambda: app.table.cursor_key == "seq0")
        await pilot.press("G")
        await until(pilot, lambda: len(source.asked) == 2)
        assert source.asked[-1] == (999_980, 999_999)
        source.deliver(app.table)
        await until(pilot, lambda: app.table.cursor_key == "seq999999")
        assert "seq999999" in app.shown()[20]
        assert len(source.loaded) == 40
        # Generous: what it must not do is touch a million rows.
        assert time.process_time() - start < 5
        await until(pilot, lambda: app.said[-1] == ("highlighted", "seq999999", True))


async def test_held_down_keys_ask_for_where_they_ended() -> None:
    app = Listing()
    source = Pages(1_000_000)
    async with app.run_test(size=(80, 21)) as pilot:
        app.table.set_source(source)
        await until(pilot, lambda: bool(source.asked))
        for _ in range(50):
            app.table.action_page_down()
        await until(pilot, lambda: source.asked[-1][1] >= 950)
        assert len(source.asked) == 2
        first, last = source.asked[-1]
        assert last - first == 19


async def test_a_page_that_can_not_be_read_is_asked_for_once() -> None:
    app = Listing()
    source = Pages(1_000)
    async with app.run_test(size=(80, 21)) as pilot:
        app.table.set_source(source)
        await until(pilot, lambda: bool(source.asked))
        for _ in range(3):
            app.table.page_arrived(*source.asked[-1])
            await pilot.pause()
        assert len(source.asked) == 1
        app.table.retry()
        await until(pilot, lambda: len(source.asked) == 2)


async def test_a_row_not_loaded_is_not_acted_on() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.table.set_source(Pages(1_000))
        await pilot.press("j", "enter", "space")
        await pilot.pause()
        assert app.said == []
        assert app.table.marks() == ()


async def test_a_following_list_keeps_to_its_end_until_one_looks_back() -> None:
    app = Listing(Counted(follows=True, markable=False))
    source = Pages(100)
    async with app.run_test(size=(80, 11)) as pilot:
        app.table.set_source(source)
        await pilot.pause()
        assert app.table.cursor_index == 99
        source.total = 120
        app.table.count_changed()
        await pilot.pause()
        assert app.table.cursor_index == 119
        assert app.table.scroll_offset.y == 110
        await pilot.press("k")
        source.total = 150
        app.table.count_changed()
        await pilot.pause()
        assert app.table.cursor_index == 118
        assert app.table.scroll_offset.y == 110
        await pilot.press("G")
        await pilot.pause()
        assert app.table.following
        assert app.table.cursor_index == 149
        assert app.said_of("follow") == [("follow", False), ("follow", True)]


# Foreign text and narrow terminals.


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_hostile_text_is_inert_and_holds_its_columns(size: tuple[int, int]) -> None:
    app = Listing()
    async with app.run_test(size=size) as pilot:
        listed = [Row(f"k{number}", (text, Cell(text, "danger", "✗"), text, text, text)) for number, text in enumerate(HOSTILE)]
        app.table.set_rows(listed)
        await pilot.pause()
        for y in range(app.table.size.height):
            line = app.table.render_line(y)
            assert cell_len(line.text) == size[0]
            assert line.cell_length == size[0]
            assert not ACTING.search(line.text)
            assert not any(segment.style is not None and segment.style.meta for segment in line)


@pytest.mark.parametrize("text", ["[/x]", "[/", "[b", "[red]", "[/INST]"])
async def test_brackets_are_shown_as_written_in_rows_titles_and_the_empty_line(text: str) -> None:
    app = Listing(Counted((Column("a", text, 20),), empty=text))
    async with app.run_test() as pilot:
        await pilot.pause()
        assert text in app.shown()[0]
        assert text in app.shown()[2]
        app.table.set_rows([Row(text, (text,))])
        await pilot.press("enter")
        await pilot.pause()
        assert text in app.shown()[1]
        assert app.chosen() == [("chosen", text)]


@pytest.mark.parametrize(
    ("width", "kept"), [(200, 5), (120, 5), (80, 5), (56, 4), (45, 3), (30, 3), (10, 1), (4, 1), (2, 0), (0, 0)]
)
def test_a_narrow_terminal_shows_less_and_never_breaks(width: int, kept: int) -> None:
    places = lay_out(COLUMNS, width)
    assert len(places) == kept
    assert all(place.start >= GUTTER and place.start + place.width <= max(width, GUTTER) for place in places)
    for before, after in pairwise(places):
        assert before.start + before.width < after.start


def test_columns_that_grow_share_what_is_left_up_to_their_most() -> None:
    widths = {COLUMNS[place.index].id: place.width for place in lay_out(COLUMNS, 120)}
    assert widths["name"] == 20
    assert widths["verdict"] == 10
    assert sum(widths.values()) == 120 - GUTTER - 8


async def test_a_terminal_made_smaller_keeps_the_cursor_in_view() -> None:
    app = Listing()
    async with app.run_test(size=(120, 40)) as pilot:
        app.table.set_rows(many(100))
        app.table.go_to("r37")
        await pilot.resize_terminal(60, 10)
        await pilot.pause()
        top = app.table.scroll_offset.y
        assert top <= 37 < top + 9
        assert any("r37" in line for line in app.shown())
