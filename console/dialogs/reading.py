"""What dialogs to read in have: a text with find and copy, and one step back at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from console.dialogs.base import Dialog, DialogButton
from console.text import copyable
from console.widgets.detail import DetailPane
from console.widgets.document import DetailTab, Document, Section


def document_of(text: str, key: str = "text", title: str = "") -> Document:
    """A document of one text."""
    return Document(key, (DetailTab(title, (Section("", (text,)),)),) if text else (), empty="It is empty")


def text_of(document: Document) -> str:
    """All texts of a document, for the clipboard."""
    return "\n".join(
        line if isinstance(line, str) else line.text
        for tab in document.tabs
        for section in tab.sections
        for line in section.lines
    )


class ReadingDialog(Dialog[None]):
    """What dialogs to read in have: a detail with the focus, find, copy, and one step back at a time."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "copy", "copy", show=False, id="copy_id")]
    HINT: ClassVar[str] = "/ find · n N next · y copy · esc close"

    def __init__(self, heading: str) -> None:
        super().__init__(heading, whole=True)
        self.detail = DetailPane()

    def body(self) -> Iterable[Widget]:
        """The detail."""
        return (self.detail,)

    def buttons(self) -> Iterable[DialogButton]:
        """Only a way out."""
        return (DialogButton("Close", "back"),)

    def first_focus(self) -> Widget | None:
        """The text, so that the keys move in it."""
        return self.detail.body

    @property
    def copied_text(self) -> str:
        """What `y` copies."""
        return text_of(self.detail.document)

    def action_copy(self) -> None:
        """Copy the text, with everything that acts or hides named."""
        text = copyable(self.copied_text)
        self.app.copy_to_clipboard(text)
        self.say(f"Copied {len(text):,} characters.", "ok")

    def action_back(self) -> None:
        """Out of the find first, then out of the dialog."""
        if not self.detail.close_find():
            super().action_back()
