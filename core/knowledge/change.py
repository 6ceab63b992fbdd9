"""Changing knowledge: updating, archiving and deleting entries (issue 3; sessions.md a.6, d.21). For ADRs' own changes: adrs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.clock import stamp
from core.errors import Refusal
from core.knowledge import fields as shapes
from core.knowledge.entries import not_found
from core.knowledge.models import Entry, Kind, Status
from core.knowledge.reading import entry_of, kind_of
from core.knowledge.wording import pieces_of
from core.sessions.limits import unique_id
from core.store.deed import Deed
from core.texts import digest

FRESHNESS = ("fresh", "archived")
"""What `freshness_status` may be set to: brain-v42's way to archive an entry."""
DECISION_STATUSES: tuple[Status, ...] = ("active", "deprecated")


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change answers: the entry as it is now; `changed` is false when it was so already."""

    entry: Entry
    changed: bool


@dataclass(frozen=True, slots=True)
class Deleted:
    """What `brain_delete` answers. `released_id` is the entry that this one had replaced; it names no successor any more."""

    id: str
    kind: Kind
    project_key: str
    deleted_at: str
    released_id: str | None


def update(
    deed: Deed,
    *,
    entity_type: Kind,
    entity_id: str,
    fields: Mapping[str, Any],
    related_to: Sequence[Mapping[str, Any]] | None = None,
) -> Changed:
    """Change some of an entry's fields, and add relations; what is not sent stays.

    Refuses `invalid_input` naming the fields that the kind has, `knowledge_not_found`, and `knowledge_conflict` for the
    status of a decision that is superseded.
    """
    kind = kind_of(entity_type)
    wanted = unique_id(entity_id, "entity_id")
    _refuse_unknown(kind, fields, anything=bool(related_to))
    sent = _checked(kind, fields)
    relations = shapes.relations_of(related_to)
    entry = found(deed, kind, wanted)
    if "status" in sent and entry.status not in DECISION_STATUSES:
        raise Refusal(
            "knowledge_conflict",
            f"The decision {entry.id} is superseded by {entry.superseded_by or 'one that was deleted'}, so its status stays.",
            facts={"id": entry.id, "status": entry.status, "superseded_by": entry.superseded_by},
            project_key=entry.project_key,
            subject=f"knowledge:{entry.id}",
        )
    now = stamp(deed.clock.now())
    after = _merged(entry, sent, relations, now)
    if after == entry:
        return Changed(entry, False)
    deed.execute(
        "update knowledge set title = ?, tags = ?, details = ?, body = ?, pieces = ?, status = ?, archived_at = ?, updated_at = ?"
        " where id = ?",
        (
            after.title,
            json.dumps(after.tags, ensure_ascii=False),
            json.dumps(after.details, ensure_ascii=False),
            after.body,
            pieces_of(after.title, after.body),
            after.status,
            after.archived_at,
            now,
            entry.id,
        ),
    )
    data = {"fields": sorted(fields), "related_to": len(relations), "title": digest(after.title), "body": digest(after.body)}
    record(deed, "brain_update", entry, data)
    return Changed(replace(after, updated_at=now), True)


def archive(deed: Deed, *, entity_type: Kind, entity_id: str) -> Changed:
    """Take an entry out of lists and search without deleting it; a repetition keeps the first time.

    Refuses `invalid_input`, `knowledge_not_found`.
    """
    return _set_archived(deed, "brain_archive", entity_type, entity_id, stamp(deed.clock.now()))


def unarchive(deed: Deed, *, entity_type: Kind, entity_id: str) -> Changed:
    """Bring an archived entry back. Refuses `invalid_input`, `knowledge_not_found`."""
    return _set_archived(deed, "brain_unarchive", entity_type, entity_id, None)


def delete(deed: Deed, *, entity_type: Kind, entity_id: str) -> Deleted:
    """Delete an entry for good; one that it had replaced stays superseded, and can be replaced again.

    Refuses `invalid_input`, `knowledge_not_found`, and `knowledge_captured` for one in a session's ledger (sessions.md a.6).
    """
    entry = found(deed, kind_of(entity_type), unique_id(entity_id, "entity_id"))
    if entry.owner_session_id is not None:
        raise Refusal(
            "knowledge_captured",
            f"The {entry.kind} {entry.id} is in the ledger of session {entry.owner_session_id}, so it cannot be deleted; "
            "brain_archive takes it out of lists and search.",
            facts={"id": entry.id, "session_id": entry.owner_session_id},
            project_key=entry.project_key,
            subject=f"knowledge:{entry.id}",
        )
    released = deed.one("select id from knowledge where superseded_by = ?", (entry.id,))
    now = stamp(deed.clock.now())
    deed.execute("update knowledge set superseded_by = null, updated_at = ? where superseded_by = ?", (now, entry.id))
    deed.execute("delete from knowledge where id = ?", (entry.id,))
    released_id = released["id"] if released else None
    data = {"kind": entry.kind, "title": digest(entry.title), "body": digest(entry.body), "released_id": released_id}
    record(deed, "brain_delete", entry, data)
    return Deleted(entry.id, entry.kind, entry.project_key, now, released_id)


def found(deed: Deed, kind: Kind, knowledge_id: str) -> Entry:
    """The entry of that kind. Refuses `knowledge_not_found`."""
    entry = entry_of(deed.transaction, knowledge_id)
    if entry is None or entry.kind != kind:
        raise not_found(kind, knowledge_id)
    return entry


def record(deed: Deed, event: str, entry: Entry, data: Mapping[str, Any]) -> None:
    """The trail's row of a change of an entry."""
    deed.append(event, project_key=entry.project_key, subject=f"knowledge:{entry.id}", data=data)


def _set_archived(deed: Deed, event: str, entity_type: Kind, entity_id: str, at: str | None) -> Changed:
    entry = found(deed, kind_of(entity_type), unique_id(entity_id, "entity_id"))
    if (entry.archived_at is None) == (at is None):
        return Changed(entry, False)
    now = stamp(deed.clock.now())
    deed.execute("update knowledge set archived_at = ?, updated_at = ? where id = ?", (at, now, entry.id))
    record(deed, event, entry, {"archived_at": at})
    return Changed(replace(entry, archived_at=at, updated_at=now), True)


def _title_name(kind: Kind) -> str:
    # as the kind's creation calls it
    return "topic" if kind == "learning" else "title"


def _refuse_unknown(kind: Kind, fields: Mapping[str, Any], *, anything: bool) -> None:
    own = tuple(field.name for field in shapes.FIELDS[kind])
    known = (_title_name(kind), "tags", *own, "freshness_status", *(("status",) if kind == "decision" else ()))
    unknown = sorted(set(fields) - set(known))
    if not unknown and (fields or anything):
        return
    what = f"{unknown[0][:60]!r} is no field of this kind that can be changed" if unknown else "no field was sent"
    hint = " Its status is changed by brain_accept_adr, brain_deprecate_adr and brain_supersede_adr." if kind == "adr" else ""
    raise Refusal(
        "invalid_input",
        f"Nothing was changed: {what}. Fields of kind {kind} are {', '.join(known)}.{hint}",
        facts={"unknown": [name[:60] for name in unknown[:20]], "known": list(known)},
    )


def _checked(kind: Kind, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What was sent, checked, under the names that it is stored by."""
    sent = {field.name: shapes.checked(field, fields[field.name]) for field in shapes.FIELDS[kind] if field.name in fields}
    if _title_name(kind) in fields:
        sent["title"] = shapes.title_of(fields[_title_name(kind)])
    if "tags" in fields:
        sent["tags"] = shapes.tags_of(fields["tags"])
    for name, words in (("freshness_status", FRESHNESS), ("status", DECISION_STATUSES)):
        if name in fields:
            if fields[name] not in words:
                raise Refusal("invalid_input", f"{name} can be set to {' or '.join(words)}.")
            sent[name] = fields[name]
    return sent


def _merged(entry: Entry, sent: Mapping[str, Any], relations: list[dict[str, str]], now: str) -> Entry:
    own = {name: value for name, value in sent.items() if name not in ("title", "tags", "freshness_status", "status")}
    details = {**entry.details, **own}
    if relations:
        details["related_to"] = shapes.with_relations(entry.details, relations)
    lacking = shapes.missing(entry.kind, details) if own else ()
    if lacking:
        # its text is all that there is of an entry of another program: it is not overwritten by a part
        raise Refusal("invalid_input", f"Another program stored this entry without {', '.join(lacking)}: send those as well.")
    archived = entry.archived_at
    if "freshness_status" in sent:
        archived = None if sent["freshness_status"] == "fresh" else archived or now
    return replace(
        entry,
        title=sent.get("title", entry.title),
        tags=sent.get("tags", entry.tags),
        details=details,
        body=shapes.body_of(entry.kind, details) if own else entry.body,
        status=sent.get("status", entry.status),
        archived_at=archived,
    )
