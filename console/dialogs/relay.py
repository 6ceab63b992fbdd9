"""Relay: a session ends, its text is handed over, its successor opens, in one step (console.md, Acting safely; sessions.md b.9)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.widget import Widget

from console.dialogs.base import Do, Field
from console.dialogs.handover import HandoverDialog
from console.drafts import Draft, Drafts
from console.widgets.document import Line
from core.sessions.keys import for_the_agent, next_key
from core.sessions.limits import CLIENT_KEY_LIMIT
from core.sessions.relay import Relayed
from core.views.sessions import SessionDetail


class RelayDialog(HandoverDialog):
    """Gives the relay's receipt, or None."""

    KIND: ClassVar[str] = "relay"
    VERB: ClassVar[str] = "brain_session_relay"
    CONFIRM: ClassVar[str] = "Relay"

    def __init__(self, detail: SessionDetail, do: Do, drafts: Drafts, draft: Draft | None = None) -> None:
        row = detail.row
        super().__init__(f"Relay session {row.client_key} of {row.project_key}", detail, do, drafts, draft)
        proposed = draft.new_key if draft and draft.new_key else next_key(row.client_key)
        self.key = Field("next key", proposed, placeholder="the successor's client key", id="key")

    def more_fields(self) -> Iterable[Widget]:
        """The successor's key."""
        return (self.key,)

    def new_key(self) -> str:
        """The successor's key as typed."""
        return self.key.text

    def missing(self) -> str:
        """Everything, and a key of its own for the successor."""
        key = self.key.text.strip()
        found = super().missing()
        if found:
            return found
        if not key:
            return "The successor needs a client key."
        if key == self.row.client_key:
            return "The successor needs a client key of its own."
        return f"The key has {len(key)} characters; at most {CLIENT_KEY_LIMIT} are kept." if len(key) > CLIENT_KEY_LIMIT else ""

    def arguments(self) -> dict[str, Any]:
        """The handover, from the revision shown."""
        revision = {"expected_slot_revision" if self.bound else "expected_focus_revision": self.revision}
        return {
            "handover": self.editor.text,
            "new_client_key": self.key.text.strip(),
            "initiator": "operator",
            "knowledge_ids": list(self.named) or None,
            **revision,
        }

    def receipt_lines(self, found: Relayed) -> tuple[Line, ...]:
        """Who went, who goes on, what stands."""
        where = (
            f"slot {found.slot.title}, revision {found.slot.revision}"
            if found.slot
            else f"the base focus, revision {found.focus_revision}"
        )
        again = Line("This very relay was done before; nothing was changed.", "warning", "!")
        return (
            *((again,) if found.replayed else ()),
            Line(f"session {found.ended_session_id}", label="ended"),
            Line(f"session {found.session.id}", "accent", label="goes on"),
            Line(found.session.client_key, label="its key"),
            Line(where, "ok", label="stands"),
            Line(for_the_agent(found.session.id, found.session.client_key), label="for the agent"),
        )

    def for_agent(self) -> str:
        """How the agent comes back as the successor."""
        found = getattr(self, "_receipt", None)
        return for_the_agent(found.session.id, found.session.client_key) if isinstance(found, Relayed) else ""
