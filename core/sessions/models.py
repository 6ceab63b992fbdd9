"""What the verbs of sessions, slots and the base focus answer: frozen values in the protocol's own field names (sessions.md a)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.models import Verdict

SessionStatus = Literal["open", "ended", "abandoned", "closed_inactive"]
"""A session's status (sessions.md a.5.1); the last three are terminal."""

ListStatus = Literal["open", "stale", "ended", "abandoned", "closed_inactive", "all"]
"""What `brain_session_list` can be asked for (sessions.md b.3)."""

SlotListStatus = Literal["open", "closed", "all"]
"""What `brain_slot_list` can be asked for (sessions.md b.12)."""

Initiator = Literal["operator", "guard_mod"]
"""Who a relay says set it off; declared, not proven (sessions.md b.9, room.md 2.15)."""

FocusOutcome = Literal["applied", "conflict"]
"""What became of the focus that an end proposed (sessions.md b.8)."""

AnchorKind = Literal["ticket", "lot", "pr", "topic"]
"""What a slot can be anchored to (sessions.md a.3; room.md 2.17 adds topic)."""

FocusSource = Literal["session_end", "focus_tool", "context_upsert", "generic_update", "maintenance_scrub", "migration_seed"]
"""Who wrote a base focus (sessions.md a.2)."""


@dataclass(frozen=True, slots=True)
class SeenEvidence:
    """What the operator was shown of a session's connection before acting on it (console.md, Acting safely).

    `verdict`, `connection_id` and `last_call_at` are as shown; `typed` is what was typed of the session's id.
    """

    verdict: Verdict
    connection_id: str | None
    last_call_at: str | None
    typed: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A session's public shape (sessions.md a.5, room.md 2.14). Times are the store's texts."""

    id: str
    project_key: str
    client_key: str
    status: SessionStatus
    nature: Literal["agent", "operator"] | None
    started_focus: str | None
    started_focus_revision: int
    summary: str | None
    next_focus: str | None
    captured_knowledge_ids: tuple[str, ...]
    attributed_knowledge_ids: tuple[str, ...]
    nothing_to_capture_reason: str | None
    abandonment_reason: str | None
    end_expected_focus_revision: int | None
    focus_outcome: FocusOutcome | None
    focus_at_end: str | None
    focus_revision_at_end: int | None
    started_at: str
    last_heartbeat_at: str
    ended_at: str | None
    updated_at: str
    is_stale: bool
    slot_id: str | None
    relayed_from_session_id: str | None
    started_by_actor: str | None

    @property
    def is_open(self) -> bool:
        """Whether the session has not ended."""
        return self.status == "open"

    @property
    def is_trace(self) -> bool:
        """Whether the server opened it for a connection (an agent trace, sessions.md b.18)."""
        return self.nature == "agent"

    @property
    def subject(self) -> str:
        """Its name in the trail."""
        return f"session:{self.id}"


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a slot is about: exactly the fields of its kind are set (sessions.md a.3)."""

    kind: AnchorKind
    ticket_id: str | None = None
    target_release: str | None = None
    repository_id: int | None = None
    pr_number: int | None = None
    topic: str | None = None

    @property
    def reference(self) -> str:
        """The printable reference: `ticket:<uuid>`, `lot:<X.Y.Z>`, `pr:<repo>#<n>`, `topic:<text>`."""
        value = {
            "ticket": self.ticket_id,
            "lot": self.target_release,
            "pr": f"{self.repository_id}#{self.pr_number}",
            "topic": self.topic,
        }[self.kind]
        return f"{self.kind}:{value}"


@dataclass(frozen=True, slots=True)
class Slot:
    """A focus slot as stored (sessions.md a.3), its anchors in creation order."""

    id: str
    project_key: str
    title: str
    body: str
    revision: int
    opened_at: str
    body_updated_at: str
    closed_at: str | None
    close_reason: str | None
    close_note: str | None
    anchors: tuple[Anchor, ...]

    @property
    def subject(self) -> str:
        """Its name in the trail."""
        return f"slot:{self.id}"


@dataclass(frozen=True, slots=True)
class ListedSlot:
    """A slot with what is derived when it is read (sessions.md a.3): its holder, and whether it is stale or received."""

    id: str
    project_key: str
    title: str
    body: str
    revision: int
    opened_at: str
    body_updated_at: str
    closed_at: str | None
    close_reason: str | None
    close_note: str | None
    anchors: tuple[Anchor, ...]
    bound_session_id: str | None
    is_stale: bool
    receipt_pending: bool


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint of a session (sessions.md a.7)."""

    seq: int
    progress: str
    next_step: str
    blocker: str | None
    created_at: str
