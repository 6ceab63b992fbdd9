"""Salvage: the texts of late saves that were refused and kept, one a tab (room.md 2.8)."""

from __future__ import annotations

from console.dialogs.reading import ReadingDialog
from console.panes.faces import clock_words
from console.widgets.detail import DetailTab, Document, Line, Section
from core.memory.salvage import Salvaged


class SalvageDialog(ReadingDialog):
    """The kept texts of one wrap, the newest first."""

    def __init__(self, project_key: str, wrap_id: int, texts: tuple[Salvaged, ...]) -> None:
        tabs = tuple(
            DetailTab(
                f"{clock_words(one.created_at)}",
                (
                    Section(f"{len(one.text):,} characters, refused with {one.code}", ()),
                    Section("", (Line(one.text),)),
                ),
            )
            for one in texts
        )
        super().__init__(f"Kept for wrap {wrap_id} of {project_key}", Document(f"salvage:{wrap_id}", tabs), texts[0].text)
        self._texts = texts

    def copied(self) -> str:
        """The text of the tab that is shown."""
        titles = [clock_words(one.created_at) for one in self._texts]
        title = self.detail.tab_title
        return self._texts[titles.index(title)].text if title in titles else ""
