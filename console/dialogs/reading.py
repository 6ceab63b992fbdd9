"""Dialogs that are only read: a document with find and copy, help, and salvaged texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Button

from console.dialogs.base import Dialog
from console.text import copyable
from console.widgets.detail import DetailPane, Document


class ReadingDialog(Dialog[None]):
    """A document to read: scroll, tabs, `/` finds, `y` copies what `copied` gives."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy", "copy", show=False),
        Binding("question_mark", "back", "close", show=False),
    ]

    DEFAULT_CSS = """
    ReadingDialog {
        & > .dialog { width: 94%; max-width: 110; height: 86%; }
        & > Vertical > VerticalScroll { height: 1fr; max-height: 100%; }
        & DetailPane { height: 1fr; }
        & DetailBody { background: $panel; }
    }
    """

    def __init__(self, title: str, document: Document, text: str = "") -> None:
        super().__init__(title)
        self._document = document
        self._text = text
        self.detail = DetailPane()

    def body(self) -> Iterator[Widget]:
        """The document."""
        yield self.detail

    def buttons(self) -> Iterator[Widget]:
        """Back."""
        yield Button("Close", id="back")

    def hint(self) -> str:
        """What can be done."""
        return "/ finds" + (" · y copies" if self._text else "") + " · esc closes"

    def on_mount(self) -> None:
        """The text has the focus."""
        super().on_mount()
        self.detail.show(self._document)
        self.detail.body.focus()

    def copied(self) -> str:
        """What `y` copies."""
        return self._text

    def action_copy(self) -> None:
        """Copy the text, made safe."""
        text = self.copied()
        if text:
            self.app.copy_to_clipboard(copyable(text))
            self.app.notify(f"copied {len(text):,} characters", markup=False)

    def action_back(self) -> None:
        """Out of a find first, then close."""
        if not self.detail.close_find():
            self.dismiss(None)
