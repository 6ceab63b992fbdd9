"""The field behind `/`: it says what is typed once the typing pauses, and closes without taking the words away."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from console.text import safe_content

DEBOUNCE_SECONDS = 0.12
# What may be typed or pasted: anything but characters that act on the terminal or turn the line.
_TYPEABLE = r"[^\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]*"


class FilterBar(Horizontal):
    """One line with a field; hidden until `open()`, and again after `close()` when nothing is in it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", show=False, id="step_back")]

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        width: 1fr;
        display: none;
        background: $panel;
        &.-open { display: block; }
        & > Static { width: auto; padding: 0 1; }
        & > #prompt { color: $text-accent; text-style: bold; }
        & > #note { color: $text-muted; }
        & > Input { width: 1fr; background: $panel; &:focus { background: $panel; background-tint: transparent; } }
    }
    """

    class FilterMessage(Message):
        """What every message of the bar has."""

        def __init__(self, bar: FilterBar, text: str) -> None:
            super().__init__()
            self.bar = bar
            self.text = text

        @property
        def control(self) -> FilterBar:
            """The bar it comes from."""
            return self.bar

    class Changed(FilterMessage):
        """Other words, 120 ms after the last key, or at once on enter."""

    class Submitted(FilterMessage):
        """Enter: the words stay, and the pane takes the focus back."""

    class Closed(FilterMessage):
        """Escape: the words stay, and the pane takes the focus back; the next escape is the pane's, which clears them."""

    def __init__(self, prompt: str = "filter", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._prompt = prompt
        self._said = ""
        self._note = ""
        self._waiting: Timer | None = None
        self._field = Input(compact=True, restrict=_TYPEABLE, select_on_focus=False)
        self._note_label = Static(Content(""), id="note")

    def compose(self) -> ComposeResult:
        """Prompt, field, and a note such as "12 of 340"."""
        yield Static(Content(self._prompt), id="prompt")
        yield self._field
        yield self._note_label

    @property
    def text(self) -> str:
        """The words in force: those last said."""
        return self._said

    @property
    def is_open(self) -> bool:
        """Whether the bar is to be seen."""
        return self.has_class("-open")

    def open(self) -> None:
        """Show the bar and type into it, from the next key on."""
        self.add_class("-open")
        # at once, where focus() comes after what is waiting: a key typed ahead is the field's
        self.screen.set_focus(self._field)

    def set_text(self, text: str) -> None:
        """Put these words in force without saying so: a filter remembered from the last time."""
        if text != self._said:
            self._said = text
            with self._field.prevent(Input.Changed):
                self._field.value = text
            self.set_class(bool(text) or self._field.has_focus, "-open")

    def set_note(self, note: str) -> None:
        """Say how much was found."""
        if note != self._note:
            self._note = note
            self._note_label.update(safe_content(note))

    def clear(self) -> bool:
        """Take the words away and hide the bar; False when there were none, so that escape can go on to the next thing."""
        had = bool(self._said or self._field.value)
        self._field.value = ""
        self._say()
        self.remove_class("-open")
        return had

    def action_leave(self) -> None:
        """Out of the field, with its words in force."""
        self._say()
        self.set_class(bool(self._said), "-open")
        self.post_message(self.Closed(self, self._said))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self.set_timer(DEBOUNCE_SECONDS, self._say)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._say()
        self.set_class(bool(self._said), "-open")
        self.post_message(self.Submitted(self, self._said))

    def _say(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        text = self._field.value
        if text != self._said:
            self._said = text
            self.post_message(self.Changed(self, text))
