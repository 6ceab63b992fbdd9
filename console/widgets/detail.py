"""The detail of one thing: titled sections in tabs, read by keys, searched by `/`."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from console.actions import EVERYWHERE, bindings_for
from console.themes import Palette, palette_of
from console.widgets.document import NOTHING, DetailTab, Document, Line, Section, lay_out_tab
from console.widgets.filter_bar import FilterBar
from console.widgets.piece import Piece, PieceLines, strip_of

__all__ = ["DetailPane", "DetailTab", "Document", "Line", "Section"]


class DetailPane(Vertical):
    """Tabs, a text that scrolls, and the field to find in it."""

    DEFAULT_CSS = """
    DetailPane {
        width: 1fr;
        height: 1fr;
    }
    """

    class EnlargeAsked(Message):
        """`+`: the pane gives the detail the whole screen, or takes it back."""

    class TabChanged(Message):
        """Another tab is shown: load what it needs."""

        def __init__(self, pane: DetailPane, title: str) -> None:
            super().__init__()
            self.pane = pane
            self.title = title

        @property
        def control(self) -> DetailPane:
            """The detail it comes from."""
            return self.pane

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._document = NOTHING
        self._tab = 0
        self.body = DetailBody(self)
        self.tabs = _TabLine()
        self.find_bar = FilterBar("find")

    def compose(self) -> ComposeResult:
        """Tabs, text, field."""
        yield self.tabs
        yield self.body
        yield self.find_bar

    @property
    def document(self) -> Document:
        """What is shown."""
        return self._document

    @property
    def tab_title(self) -> str:
        """The title of the tab shown; "" when there is none."""
        return self._document.tabs[self._tab].title if self._document.tabs else ""

    def show(self, document: Document) -> None:
        """Show this; the tab stays by its title, and the place one reads at stays while it is the same thing."""
        if document == self._document:
            return
        same_thing = document.key == self._document.key
        title = self.tab_title
        self._document = document
        titles = [tab.title for tab in document.tabs]
        self._tab = titles.index(title) if title in titles else 0
        self._show_tab(keep_place=same_thing and self.tab_title == title)

    def action_next_tab(self) -> None:
        """The tab to the right."""
        self._choose_tab(self._tab + 1)

    def action_previous_tab(self) -> None:
        """The tab to the left."""
        self._choose_tab(self._tab - 1)

    def action_enlarge(self) -> None:
        """Ask for the whole screen, or give it back."""
        self.post_message(self.EnlargeAsked())

    def action_find(self) -> None:
        """Find words in this text."""
        self.find_bar.open()

    def action_find_next(self) -> None:
        """To the next find."""
        self._note_finds(self.body.go_to_find(1))

    def action_find_previous(self) -> None:
        """To the find before."""
        self._note_finds(self.body.go_to_find(-1))

    @on(FilterBar.Changed)
    def _find(self, event: FilterBar.Changed) -> None:
        event.stop()
        self._note_finds(self.body.find(event.text))

    @on(FilterBar.Submitted)
    @on(FilterBar.Closed)
    def _leave_field(self, event: FilterBar.FilterMessage) -> None:
        event.stop()
        self.body.focus()

    def close_find(self) -> bool:
        """Take the find away; False when there was none, so that escape can go on to the next thing."""
        had = self.find_bar.clear()
        self.body.find("")
        return had

    def _choose_tab(self, number: int) -> None:
        number = max(0, min(number, len(self._document.tabs) - 1))
        if number != self._tab:
            self._tab = number
            self._show_tab(keep_place=False)
            self.post_message(self.TabChanged(self, self.tab_title))

    def _show_tab(self, keep_place: bool) -> None:
        self.tabs.set_tabs(tuple(tab.title for tab in self._document.tabs), self._tab)
        shown = self._document.tabs[self._tab] if self._document.tabs else DetailTab("", ())
        if not shown.sections:
            shown = DetailTab(shown.title, (Section("", (Line(self._document.empty, "muted"),)),))
        self.body.set_tab(shown, keep_place)
        self._note_finds(self.body.finds())

    def _note_finds(self, finds: tuple[int, int]) -> None:
        at, count = finds
        self.find_bar.set_note("" if not self.find_bar.text else f"{at} of {count}" if count else "not found")


class DetailBody(ScrollView, inherit_bindings=False):
    """The lines of one tab."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for(EVERYWHERE, "detail")]

    DEFAULT_CSS = """
    DetailBody {
        height: 1fr;
        width: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        padding: 0 1;
    }
    """

    def __init__(self, pane: DetailPane) -> None:
        super().__init__()
        self._pane = pane
        self._tab = DetailTab("", ())
        self._lines: tuple[tuple[Piece, ...], ...] = ()
        self._laid_width = -1
        self._words: re.Pattern[str] | None = None
        self._hits: list[int] = []
        self._hit = 0
        self._palette: Palette | None = None

    def set_tab(self, tab: DetailTab, keep_place: bool) -> None:
        """Show this tab, from its top or from where one reads."""
        if not keep_place:
            self.scroll_to(y=0, animate=False)
        if tab != self._tab:
            self._tab = tab
            self._lay_out()

    def find(self, words: str) -> tuple[int, int]:
        """Mark these words wherever they are, and go to the first find at or after the top line."""
        self._words = re.compile(re.escape(words), re.IGNORECASE) if words else None
        self._search()
        self._hit = next((number for number, y in enumerate(self._hits) if y >= self.scroll_offset.y), 0)
        self.refresh()
        return self.go_to_find(0)

    def finds(self) -> tuple[int, int]:
        """Which find one is at, from 1, and how many there are."""
        return (self._hit + 1 if self._hits else 0), len(self._hits)

    def go_to_find(self, step: int) -> tuple[int, int]:
        """So many finds on, round and round."""
        if self._hits:
            self._hit = (self._hit + step) % len(self._hits)
            y = self._hits[self._hit]
            if not self.scroll_offset.y <= y < self.scroll_offset.y + self.size.height:
                self.scroll_to(y=max(0, y - self.size.height // 3), animate=False)
        return self.finds()

    # The keys; what concerns the whole detail goes on to its pane.

    def action_move_down(self) -> None:
        """One line down."""
        self.scroll_to(y=self.scroll_offset.y + 1, animate=False)

    def action_move_up(self) -> None:
        """One line up."""
        self.scroll_to(y=self.scroll_offset.y - 1, animate=False)

    def action_move_home(self) -> None:
        """To the first line."""
        self.scroll_to(y=0, animate=False)

    def action_move_end(self) -> None:
        """To the last line."""
        self.scroll_to(y=self.max_scroll_y, animate=False)

    def action_page_down(self) -> None:
        """One page down."""
        self.scroll_to(y=self.scroll_offset.y + max(1, self.size.height - 1), animate=False)

    def action_page_up(self) -> None:
        """One page up."""
        self.scroll_to(y=self.scroll_offset.y - max(1, self.size.height - 1), animate=False)

    def action_next_tab(self) -> None:
        """The tab to the right."""
        self._pane.action_next_tab()

    def action_previous_tab(self) -> None:
        """The tab to the left."""
        self._pane.action_previous_tab()

    def action_enlarge(self) -> None:
        """The whole screen for this, or back."""
        self._pane.action_enlarge()

    def action_find(self) -> None:
        """Find words in this text."""
        self._pane.action_find()

    def action_find_next(self) -> None:
        """To the next find."""
        self._pane.action_find_next()

    def action_find_previous(self) -> None:
        """To the find before."""
        self._pane.action_find_previous()

    # Drawing.

    def render_line(self, y: int) -> Strip:
        """One line, with finds and selected text standing out."""
        at = self.scroll_offset.y + y
        width, base = self.size.width, self.rich_style
        if at >= len(self._lines):
            return Strip.blank(width, base)
        if self._palette is None:
            self._palette = palette_of(self.app)
        spans = self._spans(at, self._palette)
        return strip_of(self._lines[at], width, base, self._palette, spans).apply_offsets(0, at)

    def on_resize(self, event: events.Resize) -> None:
        """Another width wraps everything anew."""
        del event
        if self.scrollable_content_region.width != self._laid_width:
            self._lay_out()

    def notify_style_update(self) -> None:
        """Another theme: the styles drawn with are looked up again."""
        super().notify_style_update()
        self._palette = None

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text selected with the mouse, already inert."""
        return selection.extract("\n".join(map(_text_of, self._lines))), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        del selection
        self.refresh()

    def _spans(self, at: int, look: Palette) -> list[tuple[int, int, Style]]:
        spans: list[tuple[int, int, Style]] = []
        if self._words is not None:
            spans += [(*find.span(), look.style("found")) for find in self._words.finditer(_text_of(self._lines[at]))]
        if (selection := self.text_selection) is not None and (selected := selection.get_span(at)) is not None:
            first, last = selected
            style = self.screen.get_component_rich_style("screen--selection")
            spans.append((first, len(_text_of(self._lines[at])) if last == -1 else last, style))
        return spans

    def _lay_out(self) -> None:
        if (width := self.scrollable_content_region.width) <= 0:
            return
        same_width, before = width == self._laid_width, self._lines
        self._laid_width = width
        self._lines = lay_out_tab(self._tab, width)
        self.virtual_size = Size(0, len(self._lines))
        self._search()
        if same_width:
            self._repaint_changed(before)
        else:
            self.refresh()

    def _repaint_changed(self, before: tuple[tuple[Piece, ...], ...]) -> None:
        """Repaint the lines in view that are others than before."""
        top = self.scroll_offset.y
        for y in range(self.size.height):
            if before[top + y : top + y + 1] != self._lines[top + y : top + y + 1]:
                self.refresh(Region(0, y, self.size.width, 1))

    def _search(self) -> None:
        self._hits = (
            [] if self._words is None else [y for y, line in enumerate(self._lines) if self._words.search(_text_of(line))]
        )
        self._hit = max(0, min(self._hit, len(self._hits) - 1))


class _TabLine(PieceLines):
    """The titles of a detail's tabs; not there when there is only one."""

    DEFAULT_CSS = """
    _TabLine {
        height: 1;
        width: 1fr;
        display: none;
        &.-several { display: block; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[tuple[str, ...], int] = ((), 0)

    def set_tabs(self, titles: tuple[str, ...], active: int) -> None:
        """Show these titles, this one as the one that is open."""
        if self._shown != (titles, active):
            self._shown = (titles, active)
            self.set_class(len(titles) > 1, "-several")
            self.refresh()

    def lines_for(self, width: int) -> list[list[Piece]]:
        """The one line; the open tab's title is always on it."""
        del width
        titles, active = self._shown
        return [[Piece(f" {title} ", "strong tab" if number == active else "muted") for number, title in enumerate(titles)]]


def _text_of(line: tuple[Piece, ...]) -> str:
    return "".join(piece.text for piece in line)
