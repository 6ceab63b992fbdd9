"""An editor beside what it would replace: what stands, what would change, and further pages; measured as one types (console.md, Relay)."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from console.diff import diff_lines
from console.widgets.document import Line, Section
from console.widgets.editor import Editor
from console.widgets.meter import Meter
from console.widgets.sections import Lines

Page = tuple[Section, ...] | Widget
Pages = Mapping[str, tuple[str, Page]]
"""Further pages of the left side: a name, what it is called in the line of pages, and what it shows: lines, or a widget of its own.

A widget has the class `-page` while it is the page shown; whether it is there at other times its own dialog says."""
NARROW = 100
"""Columns under which one text stands above the other."""


class BesideTexts(Vertical):
    """The two texts, the line that names what the left side can show, and the meter."""

    DEFAULT_CSS = """
    BesideTexts {
        height: 1fr; min-height: 7;
        & > #texts { height: 1fr; min-height: 5; }
        & .column { width: 1fr; height: 1fr; }
        & #left { padding: 0 2 0 0; }
        & #left > VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
        & #right > Lines { height: 1; }
        &.-narrow > #texts { layout: vertical; }
        &.-narrow #left { height: 2fr; padding: 0; } &.-narrow #right { height: 3fr; }
    }
    """

    class Edited(Message):
        """The text was changed."""

    def __init__(self, text: str, standing: str, revision: int, pages: Pages) -> None:
        """`standing` is the text that would be replaced, `revision` its number; `pages` come behind F2 and F3."""
        super().__init__()
        self.standing, self.revision = standing, revision
        self.pages = dict(pages)
        self.side = "standing"
        self.moved: tuple[str, int] | None = None
        self._widgets = {name: page for name, (_, page) in self.pages.items() if isinstance(page, Widget)}
        self.sides, self.stands, self.yours = Lines(), Lines(), Lines()
        self.left_box = VerticalScroll(can_focus=False)
        self.editor = Editor(text, id="editor")
        self.meter = Meter()

    def compose(self) -> ComposeResult:
        """The line of pages, left and right, the meter."""
        yield self.sides
        with Horizontal(id="texts"):
            with Vertical(id="left", classes="column"):
                with self.left_box:
                    yield self.stands
                yield from self._widgets.values()
            with Vertical(id="right", classes="column"):
                yield self.yours
                yield self.editor
        yield self.meter

    def on_mount(self) -> None:
        """Show what stands."""
        self.yours.set_sections((Section("Your text (F6)", ()),))
        self.show_side("standing")

    def on_resize(self, event: events.Resize) -> None:
        """A narrow one has one text above the other."""
        self.set_class(event.size.width < NARROW - 10, "-narrow")

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """What the left side can show, in the order of its keys from F2 on."""
        own = (("standing", "stands now"), ("changes", "changes"))
        return (*own, *((name, words) for name, (words, _) in self.pages.items()))

    @property
    def text(self) -> str:
        """The text as typed, without blank lines around it."""
        return self.editor.text.strip()

    def show_side(self, side: str) -> None:
        """Show this on the left; a name that is none changes nothing."""
        names = self.names
        if side not in dict(names):
            return
        self.side = side
        own = self._widgets.get(side)
        self.left_box.display = own is None
        for widget in self._widgets.values():
            widget.set_class(widget is own, "-page")
        marked = "  ".join(f"{'▸' if name == side else ' '}F{number} {words}" for number, (name, words) in enumerate(names, 2))
        self.sides.set_lines(Line(f"{marked}   F6 your text", "muted"))
        self._show_left()

    def scroll_page(self, step: int) -> None:
        """Scroll the left side by a page."""
        self.left_box.scroll_relative(y=step * max(1, self.left_box.size.height - 1), animate=False)

    def show_moved(self, text: str, revision: int) -> None:
        """What stands is another text now: show what changed under the one that is being edited."""
        self.moved = (text, revision)
        self.show_side("standing")

    def take_moved(self) -> None:
        """Go on from the text that stands now."""
        if self.moved is not None:
            self.standing, self.revision = self.moved
            self.moved = None
            self.show_side("changes")

    def set_page(self, name: str, sections: tuple[Section, ...]) -> None:
        """Change the lines that a further page shows."""
        words, before = self.pages[name]
        if sections != before:
            self.pages[name] = (words, sections)
            if self.side == name:
                self._show_left()

    def _show_left(self) -> None:
        page = self.pages[self.side][1] if self.side in self.pages else None
        if isinstance(page, tuple):
            self.stands.set_sections(page)
        elif self.side == "changes" and self.moved is None:
            self.stands.set_sections((Section("What your text would change", diff_lines(self.standing, self.text)),))
        elif self.moved is not None:
            text, revision = self.moved
            title = f"It has moved under you: revision {self.revision} before, {revision} now"
            whole = Section(f"Revision {revision}, whole", (Line(text or "empty"),))
            self.stands.set_sections((Section(title, diff_lines(self.standing, text)), whole))
        else:
            title = f"Stands now, revision {self.revision}, {len(self.standing):,} characters"
            self.stands.set_sections((Section(title, (Line(self.standing) if self.standing else Line("no text", "muted"),)),))

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.side == "changes":
            self._show_left()
        self.post_message(self.Edited())


def lines_of(text: str) -> tuple[Line, ...]:
    """A text as lines, or that there is none."""
    return tuple(Line(line) for line in text.splitlines()) or (Line("no text", "muted"),)


def moment(stored: str) -> str:
    """A stored time to the second, as a person reads it."""
    return f"{stored[:19].replace('T', ' ')} UTC" if stored.endswith("Z") else stored
