"""Ask for release: a notice to the holder of a wrap that others wait for it (faults.md R8: cooperative first)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.widget import Widget

from console.dialogs.base import CountedField, Dialog, DialogButton, Do, Lines, sentence_of
from console.dialogs.force_cancel_words import changes, facts
from console.text import one_line
from console.widgets.document import Line, Section
from console.widgets.evidence import EvidenceList
from core.errors import Refusal, StoreError
from core.texts import REASON_LIMIT
from core.views.snapshot import Snapshot
from core.views.wraps import WrapRow

HOW = Section(
    "How it reaches the holder",
    (
        Line("With the answer to its next call, and again each minute until the wrap ends.", "", "✉"),
        Line("Nothing is ended: the holder saves, or cancels with its own token.", "", "✓"),
    ),
)


class AskReleaseDialog(Dialog[Any]):
    """An optional message to the holder of one wrap; gives the receipt, or None."""

    DEFAULT_CSS = """
    AskReleaseDialog { & EvidenceList { margin: 1 0; } &.-small EvidenceList { margin: 0; } }
    """

    def __init__(self, row: WrapRow, do: Do) -> None:
        super().__init__(f"Ask for release of wrap {row.wrap_id} of {row.project_key or 'no project'}")
        self.row = row
        self._do = do
        self._ended = False
        self._about = Lines()
        self._evidence = EvidenceList()
        self.message = CountedField("message", REASON_LIMIT, placeholder="optional: what you would like to tell it", id="message")
        self.confirm_button = DialogButton("Ask for release", "confirm")
        self.hint = "esc back · tab moves on · ctrl+s asks"

    def body(self) -> Iterable[Widget]:
        """The wrap, what is known of its holder, and the way of the notice."""
        return (self._about, self._evidence, Lines((HOW,)))

    def fields(self) -> Iterable[Widget]:
        """The message."""
        return (self.message,)

    def buttons(self) -> Iterable[DialogButton]:
        """Back and the deed."""
        return (DialogButton("Back", "back"), self.confirm_button)

    def on_mount(self) -> None:
        """Show what the dialog was opened with."""
        self._show()

    def _show(self) -> None:
        self._about.set_sections((facts(self.row),))
        self._evidence.set_evidence(self.row.judgement.verdict, self.row.judgement.evidence)
        self.refresh_buttons()
        self.fit_soon()

    def follow(self, snapshot: Snapshot) -> None:
        """Show the wrap as it is now."""
        if self.busy or self._ended:
            return
        row = next((one for one in snapshot.wraps if one.wrap_id == self.row.wrap_id), None)
        if row is None:
            self._ended = True
            self.hold("It has ended meanwhile, so there is nothing left to release.")
            return
        changed = changes(self.row, row)
        self.row = row
        self._show()
        if changed:
            self.hold(f"changed: {changed}")

    def why_not(self) -> str:
        """What stands in the way."""
        return "The wrap has ended: there is nobody left to ask." if self._ended else self.message.problem

    async def confirm(self) -> None:
        """Leave the notice."""
        message = self.message.words or None
        found = await self.attempt(self._do, "ask_release", "asking…", wrap_id=self.row.wrap_id, message=message)
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            if isinstance(found, Refusal) and found.code == "wrap_already_finished":
                self._ended = True
                self.refresh_buttons()
            self.say(sentence_of(found), "danger")
            return
        holder = one_line(str(getattr(found, "holder", "its holder")), 80)
        self.app.notify(f"Asked {holder}: it is told with its next call.", markup=False)
        self.close(found)
