"""The small widgets: they say what they are told, less on a narrow line, and do nothing when told it again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.widget import Widget
from textual.widgets import Input

from console.actions import footer_actions
from console.table import Column, RowTable
from console.themes import install_themes, theme_defaults
from console.widgets.detail import DetailPane, DetailTab, Document, Line, Section
from console.widgets.document import lay_out_tab
from console.widgets.evidence import EvidenceList, evidence_lines
from console.widgets.filter_bar import FilterBar
from console.widgets.footer import KeyFooter, footer_pieces
from console.widgets.header import Freshness, HeaderState, RoomHeader, Tab, room_line, tab_pieces
from console.widgets.piece import Piece, width_of
from console.widgets.spark import Spark, spark
from console.widgets.split import ListDetail
from core.models import Evidence
from tests.console.hostile import ACTING, HOSTILE
from tests.console.waiting import until

TABS = (
    Tab("overview", "1", "Overview", "3", "danger"),
    Tab("wraps", "2", "Wraps", "24"),
    Tab("audit", "5", "Audit", "1,204,331"),
)
STATE = HeaderState("room.db", "atlas", "sohna (operator)", True, Freshness(), TABS, "wraps")
LOCKED = Freshness("locked since 12 s, showing 10:41:07", "warning", "◌")


class Shown(App[None]):
    def __init__(self, *widgets: Widget) -> None:
        super().__init__()
        install_themes(self)
        self.widgets = widgets
        self.said: list[object] = []

    CSS_PATH = "../../console/watchroom.tcss"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_defaults(self.current_theme)

    def compose(self) -> ComposeResult:
        yield from self.widgets

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        self.said.append(("changed", message.text))

    def on_filter_bar_submitted(self, message: FilterBar.Submitted) -> None:
        self.said.append(("submitted", message.text))

    def on_filter_bar_closed(self, message: FilterBar.Closed) -> None:
        self.said.append(("closed", message.text))

    def on_room_header_tab_chosen(self, message: RoomHeader.TabChosen) -> None:
        self.said.append(message.screen)

    def on_key_footer_pressed(self, message: KeyFooter.Pressed) -> None:
        self.said.append(message.action_id)


def text_of(pieces: tuple[Piece, ...] | list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


# Header and footer.


def test_the_header_says_where_one_is() -> None:
    line = text_of(room_line(STATE, 120))
    for words in ("room.db", "project atlas", "you sohna (operator)", "read-only", "● live"):
        assert words in line
    tabs = text_of([piece for piece, _ in tab_pieces(STATE, 120)])
    assert all(words in tabs for words in ("1 Overview 3", "2 Wraps 24", "5 Audit 1,204,331"))


@pytest.mark.parametrize("width", [200, 120, 80, 60, 40, 24])
def test_a_narrow_header_keeps_the_freshness_and_read_only(width: int) -> None:
    state = HeaderState("room.db", "atlas", "sohna (operator)", True, LOCKED if width >= 80 else Freshness(), TABS, "wraps")
    line = room_line(state, width)
    assert width_of(line) <= width
    assert state.freshness.text in text_of(line)
    assert "read-only" in text_of(line)
    assert width_of(piece for piece, _ in tab_pieces(state, width)) <= width
    assert "2 Wraps" in text_of([piece for piece, _ in tab_pieces(state, width)])


@pytest.mark.parametrize("width", [200, 120, 80, 40])
def test_the_footer_fits_and_always_leads_to_help(width: int) -> None:
    line = [piece for piece, _ in footer_pieces(footer_actions("wraps"), width)]
    assert width_of(line) <= width
    assert ": palette" in text_of(line)
    assert "? help" in text_of(line)
    assert text_of(line).startswith(" X force-cancel") == (width >= 80) or width < 80


async def test_header_and_footer_repaint_only_for_something_new() -> None:
    header, footer = RoomHeader(STATE), KeyFooter()
    app = Shown(header, footer)
    async with app.run_test(size=(120, 10)) as pilot:
        footer.set_place("wraps", read_only=True)
        await pilot.pause()
        assert "force-cancel" not in footer.render_line(0).text
        header.set_state(replace(STATE))
        footer.set_place("wraps", read_only=True)
        assert not header._repaint_required
        assert not footer._repaint_required
        header.set_state(replace(STATE, project="other"))
        assert header._repaint_required
        await pilot.click(RoomHeader, offset=(3, 1))
        await pilot.click(KeyFooter, offset=(117, 0))
        await pilot.pause()
        assert app.said == ["overview", "help"]


async def test_hostile_words_in_the_header_are_inert() -> None:
    header = RoomHeader()
    app = Shown(header)
    async with app.run_test(size=(80, 5)) as pilot:
        for text in HOSTILE:
            header.set_state(HeaderState(text, text, text, False, Freshness(text[:20]), (Tab("a", "1", text, text),), "a"))
            await pilot.pause()
            for y in range(2):
                assert not ACTING.search(header.render_line(y).text)
                assert cell_len(header.render_line(y).text) == 80


# Evidence and sparkline.


def test_facts_of_death_come_first() -> None:
    evidence = (Evidence("beat", "last beat 4 s ago"), Evidence("process_gone", "process 7 is gone", death=True))
    lines = evidence_lines("DEAD", evidence)
    assert [(line.glyph, line.text) for line in lines] == [
        ("✗", "DEAD"),
        ("✗", "process 7 is gone"),
        ("·", "last beat 4 s ago"),
    ]
    assert evidence_lines("UNKNOWN", ())[1].text == "no evidence either way"


async def test_evidence_is_as_high_as_it_needs_to_be() -> None:
    listed = EvidenceList()
    app = Shown(listed)
    async with app.run_test(size=(40, 20)) as pilot:
        listed.set_evidence("DEAD", (Evidence("process_gone", "process 4711 on this host is gone and so is its client", True),))
        await until(pilot, lambda: listed.size.height == 3)
        assert "✗ DEAD" in listed.render_line(0).text


def test_a_sparkline_never_shows_something_for_nothing() -> None:
    assert spark((0, 1, 8)) == "·▁█"
    assert spark((0, 0)) == "··"
    assert spark(()) == ""
    assert spark((0, 1, 0, 1000), 2) == "▁█"
    assert len(spark(tuple(range(1000)), 40)) == 40


async def test_what_was_not_measured_is_not_a_row_of_zeros() -> None:
    line = Spark()
    app = Shown(line)
    async with app.run_test(size=(40, 5)) as pilot:
        line.set_values(None, "last hour")
        await pilot.pause()
        assert line.render_line(0).text.strip() == "last hour  not measured"


# Detail.


def document(key: str, *texts: str, other: tuple[str, ...] = ("elsewhere",)) -> Document:
    return Document(key, (DetailTab("One", (Section("Title", texts),)), DetailTab("Two", (Section("", other),))))


def shown_by(detail: DetailPane) -> str:
    return "\n".join(detail.body.render_line(y).text.rstrip() for y in range(detail.body.size.height))


def test_labels_stand_in_a_column_and_long_texts_hang() -> None:
    section = Section("Wrap", (Line("atlas", label="project"), Line("a b c d e f g h i j k l", label="id", glyph="●")))
    lines = [text_of(line) for line in lay_out_tab(DetailTab("", (section,)), 24)]
    assert lines == ["Wrap", "project  atlas", "id       ● a b c d e f g", "           h i j k l"]


@pytest.mark.parametrize("width", [60, 20, 6, 2, 1])
def test_hostile_texts_are_inert_in_a_detail_of_any_width(width: int) -> None:
    lines = tuple(Line(text, label=text[:30], glyph="·") for text in HOSTILE)
    for line in lay_out_tab(DetailTab("", (Section("[/x]", lines),)), width)[:3000]:
        assert not ACTING.search(text_of(line))


async def test_the_place_one_reads_at_stays_while_it_is_the_same_thing() -> None:
    detail = DetailPane()
    app = Shown(detail)
    async with app.run_test(size=(60, 12)) as pilot:
        texts = [f"line {number} [/x]" for number in range(100)]
        detail.show(document("a", *texts))
        detail.body.focus()
        await pilot.pause()
        await pilot.press("ctrl+d", "j")
        place = detail.body.scroll_offset.y
        assert place > 0
        detail.show(document("a", *texts, "one more"))
        await pilot.pause()
        assert detail.body.scroll_offset.y == place
        detail.show(document("b", *texts))
        await pilot.pause()
        assert detail.body.scroll_offset.y == 0
        await pilot.press("G")
        assert "line 99 [/x]" in shown_by(detail)


async def test_tabs_go_left_and_right_and_stay_by_title() -> None:
    detail = DetailPane()
    app = Shown(detail)
    async with app.run_test(size=(60, 12)) as pilot:
        detail.show(document("a", "here"))
        detail.body.focus()
        await pilot.press("right_square_bracket", "right_square_bracket")
        assert detail.tab_title == "Two"
        assert "elsewhere" in shown_by(detail)
        detail.show(document("b", "here"))
        assert detail.tab_title == "Two"
        await pilot.press("left_square_bracket")
        assert detail.tab_title == "One"
        detail.show(Document("", ()))
        await pilot.pause()
        assert "Nothing chosen" in shown_by(detail)


async def test_finding_in_a_detail() -> None:
    detail = DetailPane()
    app = Shown(detail)
    async with app.run_test(size=(60, 12)) as pilot:
        detail.show(document("a", *(f"line {number}" for number in range(100)), "Needle [b", "more", "needle [b again"))
        detail.body.focus()
        await pilot.press("slash", *"needle", "space", "left_square_bracket", "b", "enter")
        await until(pilot, lambda: detail.body.finds() == (1, 2))
        assert "Needle [b" in shown_by(detail)
        assert app.focused is detail.body
        await pilot.press("n")
        assert detail.body.finds() == (2, 2)
        await pilot.press("n", "N")
        assert detail.body.finds() == (2, 2)
        assert detail.close_find() is True
        assert detail.close_find() is False
        assert detail.body.finds() == (0, 0)


async def test_plus_gives_the_detail_everything_and_gives_it_back() -> None:
    split = ListDetail(RowTable((Column("a", "a", 10),)), DetailPane())
    app = Shown(split)
    async with app.run_test(size=(80, 24)) as pilot:
        assert split.table.region.bottom <= split.detail.region.y + 1
        split.detail.body.focus()
        await pilot.press("plus")
        await until(pilot, lambda: split.detail.region.height == 24)
        assert not split.table.display
        await pilot.press("plus")
        await until(pilot, lambda: app.focused is split.table)
        await pilot.resize_terminal(140, 40)
        await until(pilot, lambda: split.detail.region.x > 0)


# Filter.


async def test_the_filter_says_what_is_typed_once_typing_pauses() -> None:
    bar = FilterBar()
    app = Shown(bar, RowTable((Column("a", "a", 10),)))
    async with app.run_test() as pilot:
        assert not bar.is_open
        bar.open()
        for letter in "abc":
            # Without a turn of the loop between them, so that a slow machine can't take the pause for the end of typing.
            bar.query_one(Input).insert_text_at_cursor(letter)
        await until(pilot, lambda: bool(app.said))
        assert app.said == [("changed", "abc")]
        await pilot.press("escape")
        await pilot.pause()
        assert app.said[-1] == ("closed", "abc")
        assert bar.is_open
        assert bar.clear() is True
        await pilot.pause()
        assert app.said[-1] == ("changed", "")
        assert not bar.is_open
        assert bar.clear() is False


async def test_enter_says_it_at_once_and_a_remembered_filter_says_nothing() -> None:
    bar = FilterBar()
    app = Shown(bar)
    async with app.run_test() as pilot:
        bar.set_text("kept")
        await pilot.pause()
        assert app.said == []
        assert bar.is_open
        bar.open()
        await pilot.press("x", "enter")
        await pilot.pause()
        assert app.said == [("changed", "keptx"), ("submitted", "keptx")]


async def test_a_pasted_escape_does_not_get_into_the_field() -> None:
    bar = FilterBar()
    app = Shown(bar)
    async with app.run_test() as pilot:
        bar.open()
        field = bar.query_one(Input)
        for text in ("\x1b[2J", "a\u202eb", "nul\x00"):
            field.insert_text_at_cursor(text)
        await pilot.pause()
        assert field.value == ""
