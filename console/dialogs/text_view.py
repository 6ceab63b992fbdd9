"""A long foreign text to read, find in and copy."""

from __future__ import annotations

from console.dialogs.reading import ReadingDialog, document_of
from console.widgets.document import Document


class TextDialog(ReadingDialog):
    """One text, or any document."""

    def __init__(self, heading: str, document: Document | None = None, text: str = "") -> None:
        """`text` is what is copied; without a `document` it is also what is shown."""
        super().__init__(heading)
        self._document = document or document_of(text)
        self._text = text

    def on_mount(self) -> None:
        """Show it."""
        self.detail.show(self._document)

    @property
    def copied_text(self) -> str:
        """The text itself, or all of the document."""
        return self._text or super().copied_text
