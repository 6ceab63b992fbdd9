"""Abandon: a session is given up, with a reason (sessions.md b.10)."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from console.dialogs.base import REASON_REQUIRED, CountedField, DialogButton, Do, Lines
from console.dialogs.session_dialog import SessionDialog
from console.widgets.document import Line, Section
from core.errors import Refusal, StoreError
from core.sessions.limits import REASON_LIMIT
from core.views.sessions import SessionRow

CONSEQUENCES = Section(
    "If you go on",
    (
        Line("The session is over for good, and its client key is spent.", "", "✗"),
        Line("No focus is changed. Its slot becomes free; its ledger stays its own.", "", "✓"),
    ),
)


class AbandonSessionDialog(SessionDialog):
    """A reason, and the session is given up."""

    def __init__(self, row: SessionRow, do: Do) -> None:
        super().__init__(f"Abandon session {row.client_key} of {row.project_key}", row, do)
        self.reason = CountedField(
            "reason", REASON_LIMIT, required=REASON_REQUIRED, placeholder="why it is given up", id="reason"
        )
        self.hint = "esc back · tab moves on · ctrl+s abandons"

    def consequences(self) -> Iterable[Widget]:
        """What would follow."""
        return (Lines((CONSEQUENCES,)),)

    def fields(self) -> Iterable[Widget]:
        """The reason, and the session's id where it is asked for."""
        return (self.reason, self.typed)

    def buttons(self) -> Iterable[DialogButton]:
        """Back and the deed."""
        return (self.back_button, DialogButton("Abandon", "confirm", dangerous=True))

    def missing(self) -> str:
        """A reason of up to 2,000 characters."""
        return self.reason.problem

    async def confirm(self) -> None:
        """Give the session up."""
        found = await self.attempt(
            self._do,
            "brain_session_abandon",
            "abandoning…",
            session_id=self.row.session_id,
            expected_client_key=self.row.client_key,
            reason=self.reason.words,
            seen=self.seen(),
        )
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            self.refused(found)
        else:
            self.close(found)
