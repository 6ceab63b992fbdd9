"""Changing knowledge: accepting and deprecating ADRs, updating, archiving and deleting entries (issue 3; sessions.md a.6, d.21)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.clock import stamp
from core.errors import Refusal
from core.knowledge import fields as shapes
from core.knowledge.entries import not_found
from core.knowledge.models import KINDS, Entry, Kind
from core.knowledge.reading import entry_of
from core.sessions.limits import bounded, unique_id
from core.store.deed import Deed
from core.texts import digest

REASON_LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change answers: the entry as it is now; `changed` is false when it was so already."""

    entry: Entry
    changed: bool


@dataclass(frozen=True, slots=True)
class Deleted:
    """What `brain_delete` answers."""

    id: str
    kind: Kind
    project_key: str
    deleted_at: str


def accept_adr(deed: Deed, *, adr_id: str) -> Changed:
    """Accept a proposed ADR; accepting it again changes nothing. Refuses `invalid_input`, `knowledge_not_found`, `knowledge_conflict`."""
    return _set_status(deed, "brain_accept_adr", adr_id, "accepted", ("proposed",), None)


def deprecate_adr(deed: Deed, *, adr_id: str, reason: str | None = None) -> Changed:
    """Deprecate an ADR, with a reason. Refuses `invalid_input`, `knowledge_not_found`, `knowledge_conflict`."""
    why = None if reason is None else bounded(reason, "The reason", REASON_LIMIT)
    return _set_status(deed, "brain_deprecate_adr", adr_id, "deprecated", ("proposed", "accepted"), why)


def _set_status(deed: Deed, event: str, adr_id: str, status: str, before: tuple[str, ...], reason: str | None) -> Changed:
    entry = _found(deed, "adr", adr_id)
    if entry.status == status:
        return Changed(entry, False)
    if entry.status not in before:
        raise Refusal(
            "knowledge_conflict",
            f"ADR {entry.number} of project {entry.project_key} is {entry.status}, so it cannot become {status}.",
            facts={"id": entry.id, "status": entry.status},
            project_key=entry.project_key,
            subject=f"knowledge:{entry.id}",
        )
    details = {**entry.details, "decided_at" if status == "accepted" else "deprecated_at": stamp(deed.clock.now())}
    if reason is not None:
        details["deprecation_reason"] = reason
    deed.execute(
        "update knowledge set status = ?, details = ?, updated_at = ? where id = ?",
        (status, json.dumps(details, ensure_ascii=False), stamp(deed.clock.now()), entry.id),
    )
    _record(deed, event, entry, {"status": status, "was": entry.status, "reason": digest(reason)})
    return Changed(_found(deed, "adr", adr_id), True)


def update(deed: Deed, *, entity_type: Kind, entity_id: str, fields: Mapping[str, Any]) -> Changed:
    """Change some of an entry's own fields, its title or tags. Refuses `invalid_input` naming the fields that the kind has, `knowledge_not_found`."""
    kind = _kind(entity_type)
    known = ("title", "tags", *(field.name for field in shapes.FIELDS[kind]))
    unknown = sorted(set(fields) - set(known))
    if unknown or not fields:
        what = f"{unknown[0][:60]!r} is no field of a {kind}" if unknown else "no field was sent"
        raise Refusal("invalid_input", f"Nothing was changed: {what}. Its fields are {', '.join(known)}.")
    entry = _found(deed, kind, entity_id)
    title = shapes.title_of(fields["title"]) if "title" in fields else entry.title
    tags = shapes.tags_of(fields["tags"]) if "tags" in fields else entry.tags
    own = shapes.checked(kind, {**entry.details, **fields})
    details = {**entry.details, **own}
    body = shapes.body_of(kind, details)
    if (title, tags, details) == (entry.title, entry.tags, entry.details):
        return Changed(entry, False)
    deed.execute(
        "update knowledge set title = ?, tags = ?, details = ?, body = ?, updated_at = ? where id = ?",
        (
            title,
            json.dumps(tags, ensure_ascii=False),
            json.dumps(details, ensure_ascii=False),
            body,
            stamp(deed.clock.now()),
            entry.id,
        ),
    )
    _record(deed, "brain_update", entry, {"fields": sorted(fields), "title": digest(title), "body": digest(body)})
    return Changed(_found(deed, kind, entity_id), True)


def archive(deed: Deed, *, entity_type: Kind, entity_id: str) -> Changed:
    """Take an entry out of lists and search without deleting it; a repetition keeps the first time.

    Refuses `invalid_input`, `knowledge_not_found`.
    """
    return _set_archived(deed, "brain_archive", entity_type, entity_id, stamp(deed.clock.now()))


def unarchive(deed: Deed, *, entity_type: Kind, entity_id: str) -> Changed:
    """Bring an archived entry back. Refuses `invalid_input`, `knowledge_not_found`."""
    return _set_archived(deed, "brain_unarchive", entity_type, entity_id, None)


def _set_archived(deed: Deed, event: str, entity_type: Kind, entity_id: str, at: str | None) -> Changed:
    kind = _kind(entity_type)
    entry = _found(deed, kind, entity_id)
    if (entry.archived_at is None) == (at is None):
        return Changed(entry, False)
    deed.execute("update knowledge set archived_at = ?, updated_at = ? where id = ?", (at, stamp(deed.clock.now()), entry.id))
    _record(deed, event, entry, {"archived_at": at})
    return Changed(_found(deed, kind, entity_id), True)


def delete(deed: Deed, *, entity_type: Kind, entity_id: str) -> Deleted:
    """Delete an entry for good. Refuses `invalid_input`, `knowledge_not_found`, and `knowledge_captured` for one in a session's ledger."""
    kind = _kind(entity_type)
    entry = _found(deed, kind, entity_id)
    if entry.owner_session_id is not None:
        raise Refusal(
            "knowledge_captured",
            f"The {kind} {entry.id} is in the ledger of session {entry.owner_session_id}, so it cannot be deleted; brain_archive takes it "
            "out of lists and search.",
            facts={"id": entry.id, "session_id": entry.owner_session_id},
            project_key=entry.project_key,
            subject=f"knowledge:{entry.id}",
        )
    deed.execute("delete from knowledge where id = ?", (entry.id,))
    _record(deed, "brain_delete", entry, {"kind": kind, "title": digest(entry.title), "body": digest(entry.body)})
    return Deleted(entry.id, kind, entry.project_key, stamp(deed.clock.now()))


def _kind(entity_type: str) -> Kind:
    for kind in KINDS:
        if kind == entity_type:
            return kind
    raise Refusal("invalid_input", f"entity_type is one of {', '.join(KINDS)}.")


def _found(deed: Deed, kind: Kind, entity_id: str) -> Entry:
    wanted = unique_id(entity_id, "entity_id")
    entry = entry_of(deed.transaction, wanted)
    if entry is None or entry.kind != kind:
        raise not_found(kind, wanted)
    return entry


def _record(deed: Deed, event: str, entry: Entry, data: Mapping[str, Any]) -> None:
    deed.append(event, project_key=entry.project_key, subject=f"knowledge:{entry.id}", data=data)
