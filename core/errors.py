"""Refusals: the expected "no" of a verb, and the errors of a store that cannot be used (room.md 1 and 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

Code = Literal[
    "invalid_input",
    "session_not_found",
    "project_not_found",
    "client_key_mismatch",
    "session_not_open",
    "client_key_spent",
    "terminal_conflict",
    "capture_conflict",
    "checkpoint_conflict",
    "focus_revision_conflict",
    "knowledge_captured",
    "wrap_in_progress",
    "wrap_gated",
    "wrap_token_required",
    "wrap_token_mismatch",
    "wrap_token_spent",
    "wrap_already_finished",
    "wrap_partial",
    "wrap_not_partial",
    "wrap_cancelled",
    "no_wrap",
    "save_not_authorized",
    "continuity_structure",
    "continuity_too_big",
    "continuity_shrink",
    "episode_not_found",
    "evidence_changed",
    "wrap_not_dead",
    "store_busy",
    "store_unusable",
    "operator_role_required",
    "baton_held",
    "session_is_agent_trace",
    "session_already_bound",
    "slot_not_found",
    "slot_closed",
    "slot_bound",
    "slot_busy",
    "slot_project_mismatch",
    "slot_revision_conflict",
    "slot_title_conflict",
    "slot_body_too_long",
    "anchor_required",
    "anchor_invalid",
    "anchor_ticket_foreign",
    "anchor_lot_unplanned",
    "anchor_unbound_pr",
    "anchor_already_received",
    "invalid_limit",
    "base_focus_shrink",
    "client_key_conflict",
    "relay_guard_mod_disabled",
    "relay_shrink_override_operator_only",
    "relay_expects_one_revision",
    "relay_expects_focus_revision",
    "relay_expects_slot_revision",
    "relay_same_client_key",
    "knowledge_not_found",
    "knowledge_conflict",
    "ticket_not_found",
    "kept_text_not_found",
    "adopt_conflict",
    "continuity_not_found",
    "continuity_revision_conflict",
    "spore_not_found",
    "spore_resolved",
    "import_newer_format",
    "import_project_in_use",
    "import_elsewhere",
    "file_exists",
    "file_unwritable",
]
"""Every code that a refusal may carry (room.md 2.2, sessions.md b).

Ours are `baton_held`, `store_unusable`, `knowledge_not_found`, `knowledge_conflict`, `ticket_not_found`, `kept_text_not_found`,
`adopt_conflict`, `continuity_not_found`, `continuity_revision_conflict`, `spore_not_found`, `spore_resolved`, those of an import, and
those of a file that a person named.
"""


class Refusal(Exception):
    """An expected "no": a code, a sentence and facts; nothing changed (room.md 1).

    `facts` is JSON data for the caller. `subject` names the thing refused about, `project_key` its project; both go
    to the trail. `texts` names the facts that are texts of their own: the trail keeps their digests. `salvage` is set when
    the refused text may have to be kept (room.md 2.8).
    """

    def __init__(
        self,
        code: Code,
        sentence: str,
        *,
        facts: dict[str, Any] | None = None,
        project_key: str | None = None,
        subject: str | None = None,
        texts: Sequence[str] = (),
        salvage: Any = None,
    ) -> None:
        super().__init__(f"{code}: {sentence}")
        self.code: Code = code
        self.sentence = sentence
        self.facts: dict[str, Any] = facts or {}
        self.project_key = project_key
        self.subject = subject
        self.texts = tuple(texts)
        self.salvage = salvage


class StoreError(Exception):
    """The store cannot be used; the text tells a person what is wrong and what to do next."""


class StoreMissing(StoreError):
    """There is no store at the path, and the caller only looks."""


class StoreNewer(StoreError):
    """The store was written by a newer program (room.md 3)."""


class StoreLocked(StoreError):
    """Another process holds the store; transient, so it is never called damage (faults.md S7)."""
