"""Ask for release: the gentle way, a notice for the holder (faults.md R8; room.md 2.13)."""

from __future__ import annotations

from collections.abc import Iterator

from textual.widget import Widget
from textual.widgets import Button, Input, Static

from console.dialogs.base import Dialog, Do
from console.panes.faces import holder_words
from console.text import safe_content
from console.widgets.evidence import EvidenceList
from core.errors import Refusal, StoreError
from core.texts import REASON_LIMIT
from core.views.wraps import WrapRow


class AskReleaseDialog(Dialog[bool]):
    """Leaves the holder of one wrap a notice, with a message if one is given."""

    def __init__(self, row: WrapRow, do: Do) -> None:
        super().__init__(f"Ask for the release of wrap {row.wrap_id} of {row.project_key or 'no project'}")
        self._row = row
        self._do = do
        self._done = False

    def body(self) -> Iterator[Widget]:
        """Whom the notice reaches, and how."""
        words = (
            f"{holder_words(self._row.holder)} gets it with the answer to its next call, and again each minute until the wrap ends. "
            "Nothing is cancelled."
        )
        yield Static(safe_content(words))
        yield EvidenceList(id="evidence-of")

    def fields(self) -> Iterator[Widget]:
        """The message."""
        yield Input(
            placeholder="a message to its holder (optional)", id="message", classes="field", max_length=REASON_LIMIT, compact=True
        )

    def buttons(self) -> Iterator[Widget]:
        """Back and ask."""
        yield Button("Back", id="back")
        yield Button("Ask", id="confirm")

    def hint(self) -> str:
        """How it is confirmed."""
        return "ctrl+s asks · esc goes back"

    def on_mount(self) -> None:
        """The evidence, and the focus on the message."""
        super().on_mount()
        self.query_one("#evidence-of", EvidenceList).set_evidence(self._row.judgement.verdict, self._row.judgement.evidence)

    async def confirm(self) -> None:
        """Leave the notice."""
        if self._done:
            self.dismiss(True)
            return
        try:
            receipt = await self._do(
                "ask_release", wrap_id=self._row.wrap_id, message=self.query_one("#message", Input).value.strip() or None
            )
        except (Refusal, StoreError) as error:
            self.say(getattr(error, "sentence", str(error)), "warning")
            return
        self._done = True
        self.say(f"Asked: the notice waits for {receipt.holder}.", "ok")
        self.query_one("#confirm", Button).display = False
        self.query_one("#back", Button).focus()
