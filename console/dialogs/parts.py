"""What dialogs are made of: a field that holds inert text, and a one-line button."""

from __future__ import annotations

import re
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Input, Static

from console.text import one_line
from console.widgets.piece import Piece, PieceLines

_ACTING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]+"
)


def typeable(text: str) -> str:
    """The text as a field may hold it: one line, and every run of characters that act on a terminal is a blank."""
    return _ACTING.sub(" ", text)


class TypedField(Input):
    """A one-line field; what is pasted into it becomes one inert line."""

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(typeable(value), placeholder=placeholder, compact=True, select_on_focus=False, id=id)
        self.cursor_blink = False

    def insert_text_at_cursor(self, text: str) -> None:
        """Insert the text, without what would act on the terminal."""
        super().insert_text_at_cursor(typeable(text))

    def replace(self, text: str, start: int, end: int) -> None:
        """Replace a range by the text, without what would act on the terminal."""
        super().replace(typeable(text), start, end)

    def _on_paste(self, event: events.Paste) -> None:
        # Textual's own takes the first line only, and a reason of two lines would lose its second.
        event.prevent_default()
        event.stop()
        self.replace(" ".join(event.text.split("\n")).strip(), *sorted(self.selection))


class Field(Horizontal):
    """A label, a field, and a note such as a counter, on one line."""

    DEFAULT_CSS = """
    Field {
        height: 1;
        width: 1fr;
        & > .label { width: auto; min-width: 8; padding: 0 1 0 0; color: $text-muted; }
        & > .note { width: auto; padding: 0 0 0 1; color: $text-muted; }
        & > .note.-bad { color: $text-error; text-style: bold; }
        & > TypedField { width: 1fr; background: $background; padding: 0 1;
            &:focus { background: $background; background-tint: transparent; } }
        &:focus-within > .label { color: $text-accent; text-style: bold; }
    }
    """

    def __init__(self, label: str, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self._label = Static(Content(one_line(label)), classes="label")
        self._note = Static(Content(""), classes="note")
        self._said = ("", False)
        self.input = TypedField(value, placeholder=placeholder)

    def compose(self) -> ComposeResult:
        """Label, field, note."""
        yield self._label
        yield self.input
        yield self._note

    @property
    def text(self) -> str:
        """What stands in the field."""
        return self.input.value

    @text.setter
    def text(self, text: str) -> None:
        self.input.value = typeable(text)
        self.input.cursor_position = len(self.input.value)

    def set_label(self, label: str) -> None:
        """Call the field this."""
        self._label.update(Content(one_line(label)))

    def set_note(self, note: str, bad: bool = False) -> None:
        """Say this behind the field."""
        if (note, bad) != self._said:
            self._said = (note, bad)
            self._note.update(Content(one_line(note)))
            self._note.set_class(bad, "-bad")


class CountedField(Field):
    """A field that counts what is typed against a limit, and says what is wrong with it: a reason, a note, a message."""

    def __init__(
        self, label: str, limit: int, value: str = "", *, required: str = "", placeholder: str = "", id: str | None = None
    ) -> None:
        """`limit` is in characters, without the blanks around them; `required` is said while there are none, "" lets it be empty."""
        super().__init__(label, value, placeholder=placeholder, id=id)
        self._called, self._limit, self._required = label, limit, required
        self.offer = ""
        """What is said before the count while the field is empty."""

    @property
    def words(self) -> str:
        """What is typed, without the blanks around it."""
        return self.text.strip()

    @property
    def problem(self) -> str:
        """What is wrong with it, as a sentence; "" when nothing is."""
        if not self.words:
            return self._required
        count = len(self.words)
        return f"The {self._called} has {count:,} characters; at most {self._limit:,} are kept." if count > self._limit else ""

    def on_mount(self) -> None:
        """Count from the start."""
        self.count()

    @on(Input.Changed)
    def count(self) -> None:
        """Say how many characters there are, and how many there may be."""
        count = len(self.words)
        offer = f"{self.offer}  " if self.offer and not self.text else ""
        self.set_note(f"{offer}{count:,}/{self._limit:,}", bad=count > self._limit)


class DialogButton(PieceLines, can_focus=True):
    """One line to press: by enter once tab has come to it, or by the mouse."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "press", "press", show=False)]

    DEFAULT_CSS = """
    DialogButton { height: 1; width: auto; margin: 0 2 0 0; }
    """

    class Pressed(Message):
        """The button was pressed."""

        def __init__(self, button: DialogButton, by_mouse: bool) -> None:
            super().__init__()
            self.button = button
            self.by_mouse = by_mouse

    def __init__(self, label: str, action: str, *, dangerous: bool = False) -> None:
        """`action` is the dialog's `action_…` that it stands for."""
        super().__init__()
        self.label = one_line(label)
        self.action = action
        self._dangerous = dangerous
        self._off = False

    @property
    def off(self) -> bool:
        """Whether pressing it would do nothing now; it keeps its place and the focus, so that nothing moves under the hand."""
        return self._off

    @off.setter
    def off(self, off: bool) -> None:
        if off != self._off:
            self._off = off
            self.refresh()

    def set_label(self, label: str) -> None:
        """Call it this."""
        if one_line(label) != self.label:
            self.label = one_line(label)
            self.refresh(layout=True)

    def lines_for(self, width: int) -> list[list[Piece]]:
        """The one line."""
        del width
        ink = "muted" if self._off else "danger" if self._dangerous else ""
        ground = "tab bold" if self.has_focus else ""
        return [[Piece("[ ", f"muted {ground}"), Piece(self.label, f"{ink} {ground}"), Piece(" ]", f"muted {ground}")]]

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """As wide as its label."""
        del container, viewport
        return sum(piece.width for piece in self.lines_for(0)[0])

    def watch_has_focus(self, has_focus: bool) -> None:
        """It looks different with the focus."""
        super().watch_has_focus(has_focus)
        self.refresh()

    def action_press(self) -> None:
        """Enter."""
        self.post_message(self.Pressed(self, by_mouse=False))

    def on_click(self, event: events.Click) -> None:
        """The mouse."""
        event.stop()
        self.post_message(self.Pressed(self, by_mouse=True))
