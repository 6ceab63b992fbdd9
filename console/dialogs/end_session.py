"""End: a session closes with a summary and the text that is to stand (sessions.md b.8)."""

from __future__ import annotations

from typing import Any, ClassVar

from console.dialogs.base import Do
from console.dialogs.handover import HandoverDialog
from console.drafts import Draft, Drafts
from console.widgets.document import Line
from core.sessions.end import Ended
from core.views.sessions import SessionDetail


class EndSessionDialog(HandoverDialog):
    """Gives the end's receipt, or None. What is ticked is captured before, in a deed of its own."""

    KIND: ClassVar[str] = "end"
    VERB: ClassVar[str] = "brain_session_end"
    CONFIRM: ClassVar[str] = "End"

    def __init__(self, detail: SessionDetail, do: Do, drafts: Drafts, draft: Draft | None = None) -> None:
        row = detail.row
        super().__init__(f"End session {row.client_key} of {row.project_key}", detail, do, drafts, draft)

    def arguments(self) -> dict[str, Any]:
        """The next focus, from the revision shown."""
        return {"next_focus": self.editor.text, "expected_focus_revision": self.revision}

    async def confirm(self) -> None:
        """Capture what is ticked, then end."""
        if self.named:
            found = await self.attempt(
                self._do,
                "brain_session_capture",
                "capturing…",
                session_id=self.row.session_id,
                expected_client_key=self.row.client_key,
                knowledge_ids=list(self.named),
            )
            if not self.is_mounted:
                return
            if isinstance(found, Exception):
                self.refused(found)  # type: ignore[arg-type]
                return
        await super().confirm()

    def receipt_lines(self, found: Ended) -> tuple[Line, ...]:
        """How it ended, and what became of the text."""
        conflict = found.focus_outcome == "conflict"
        revision = found.focus_revision_at_end
        words = f"CONFLICT: what stands had moved to revision {revision}; your text is kept with the session alone"
        applied = Line(f"applied, revision {revision}, {found.focus_diff}", "ok", "✓")
        outcome = Line(words, "warning", "!") if conflict else applied
        again = Line("It had ended with this very text before; nothing was changed.", "warning", "!")
        left = Line(f"{found.unattributed_in_window} item(s) of knowledge made meanwhile belong to no session", "muted")
        return (
            *((again,) if found.replayed else ()),
            Line(f"session {found.session.id}", label="ended"),
            outcome,
            *((left,) if found.unattributed_in_window else ()),
        )
