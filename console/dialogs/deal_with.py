"""Deal with: a kept text is marked, with a note, and waits for nobody any more (issue 4, 5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.widget import Widget

from console.dialogs.base import CountedField, Dialog, DialogButton, Do, Lines, sentence_of
from console.text import block
from console.widgets.beside import moment
from console.widgets.document import Line, Section
from core.errors import Refusal, StoreError
from core.texts import REASON_LIMIT
from core.views.kept_texts import KeptRow

BEGINNING_LINES = 6


class DealWithDialog(Dialog[Any]):
    """Gives the receipt, or None."""

    def __init__(self, row: KeptRow, do: Do) -> None:
        super().__init__(f"Deal with {row.kind} {row.id} of {row.project_key}")
        self.row = row
        self._do = do
        self.about = Lines()
        self.note = CountedField(
            "note", REASON_LIMIT, placeholder="what became of it; may stay empty, it is in the trail", id="note"
        )
        self.hint = "esc back · ctrl+s marks it"

    def body(self) -> Iterable[Widget]:
        """Which text, how it begins, what follows."""
        return (self.about,)

    def fields(self) -> Iterable[Widget]:
        """A note."""
        return (self.note,)

    def buttons(self) -> Iterable[DialogButton]:
        """Back, the deed."""
        return (DialogButton("Back", "back"), DialogButton("Mark as dealt with", "confirm"))

    def on_mount(self) -> None:
        """Show the text's beginning."""
        row = self.row
        because = f"refused ({row.code})" if row.code else "a draft left behind"
        older = " The older drafts of its wrap are marked with it." if row.kind == "draft" else ""
        facts = (
            Line(f"{because}, for wrap {row.wrap_id}", label="kept"),
            Line(f"{row.characters:,} characters, at {moment(row.created_at)}", label="text"),
        )
        begins = tuple(Line(line) for line in block(row.beginning, BEGINNING_LINES, 90))
        follows = (Line(f"It is kept, and waits for nobody any more.{older}", "", "✓"),)
        self.about.set_sections((Section("", facts), Section("It begins", begins), Section("If you go on", follows)))

    def why_not(self) -> str:
        """What is wrong with the note."""
        return self.note.problem

    async def confirm(self) -> None:
        """Mark it."""
        note = self.note.words or None
        found = await self.attempt(self._do, "deal_with", "marking…", kind=self.row.kind, item_id=self.row.id, note=note)
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            self.say(sentence_of(found), "danger")
        else:
            self.close(found)
