"""An editor for a text of several lines; whatever comes into it is inert (console.md, Feel)."""

from __future__ import annotations

import re

from textual import events
from textual.widgets import TextArea

_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]+"
)


def editable(text: str) -> str:
    """The text as an editor may hold it: line breaks and tabs stay, what would act on a terminal goes; joiners of emoji stay."""
    return _ACTING.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


class Editor(TextArea):
    """A text area without a language, in which tab moves on to the next field."""

    DEFAULT_CSS = """
    Editor {
        height: 1fr; width: 1fr; padding: 0 1; border: none; background: $background; color: $foreground;
        scrollbar-size-vertical: 1;
        &:focus { border: none; background: $background; background-tint: transparent; }
        & .text-area--cursor-line { background: $background; }
    }
    """

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(editable(text), id=id, soft_wrap=True, show_line_numbers=False, tab_behavior="focus", theme="css")
        self.cursor_blink = False

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = editable(event.text)
        await super()._on_paste(event)
