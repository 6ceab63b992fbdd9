"""Knowledge as verbs answer it: one entry of one of five kinds (sessions.md a.6; issue 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["decision", "learning", "snippet", "runbook", "adr"]
"""The kinds of knowledge that this store keeps."""

KINDS: tuple[Kind, ...] = ("decision", "learning", "snippet", "runbook", "adr")

Status = Literal["active", "proposed", "accepted", "deprecated", "superseded"]
"""Where an entry stands; `proposed` and `accepted` are an ADR's."""

STATUSES: tuple[Status, ...] = ("active", "proposed", "accepted", "deprecated", "superseded")

Relation = Literal["MOTIVATED_BY", "IMPLEMENTS", "DOCUMENTS", "USES", "RELATED_TO"]
"""How an entry says that it is related to another."""

SourceType = Literal[
    "experience",
    "documentation",
    "code_review",
    "bug",
    "external",
    "article",
    "video",
    "book",
    "conversation",
    "research",
    "automated",
]
"""Where a learning comes from."""

Confidence = Literal["low", "medium", "high"]
"""How sure a learning is."""


@dataclass(frozen=True, slots=True)
class Created:
    """What every creation of knowledge answers (room.md 2.3). `number` is an ADR's, `superseded_id` what it replaces."""

    id: str
    kind: Kind
    project_key: str
    title: str
    status: Status
    number: int | None
    created_at: str
    superseded_id: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry whole. `details` are its kind's own fields; `owner_session_id` is the session whose ledger it is in."""

    id: str
    kind: Kind
    project_key: str
    number: int | None
    title: str
    body: str
    details: dict[str, Any]
    tags: tuple[str, ...]
    status: Status
    superseded_by: str | None
    archived_at: str | None
    created_at: str
    updated_at: str
    owner_session_id: str | None


@dataclass(frozen=True, slots=True)
class EntryLine:
    """One entry in a list; `text` is its beginning, None where only summaries were asked for."""

    id: str
    kind: Kind
    project_key: str
    number: int | None
    title: str
    text: str | None
    tags: tuple[str, ...]
    status: Status
    superseded_by: str | None
    archived_at: str | None
    created_at: str
