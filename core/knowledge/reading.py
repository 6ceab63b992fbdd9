"""Reading knowledge: one entry, a page of them, and what replaced what (issue 3)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core import projects
from core.errors import Refusal
from core.knowledge.entries import not_found
from core.knowledge.fields import tags_of
from core.knowledge.models import KINDS, STATUSES, Confidence, Entry, EntryLine, Kind, Status
from core.sessions.limits import page, unique_id
from core.sessions.rows import ids_of
from core.store.deed import Reading
from core.texts import DEPTH_LIMIT, depth, storable

COLUMNS = "id, kind, project_key, number, title, body, details, tags, status, superseded_by, archived_at, created_at, updated_at"
EXCERPT = 300
"""Characters of an entry's text that lists and search show."""
LINE_COLUMNS = f"id, kind, project_key, number, title, substr(body, 1, {EXCERPT + 1}) as text, tags, status, superseded_by, archived_at, created_at"
HAS_TAG = (
    "exists (select 1 from json_each(case when json_valid({name}.tags) then {name}.tags else '[]' end) tag"
    " join json_each(?) wanted on wanted.value = tag.value)"
)
CHAIN_LIMIT = 500
"""Steps that a chain is followed in either direction."""
_SHORT_ID = re.compile(r"[0-9a-f]{8,31}")


@dataclass(frozen=True, slots=True)
class EntryFound:
    """What `brain_get` answers."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class EntryPage:
    """What `brain_list` answers: newest first. `next_before` is what `before` must be for the page after; None on the last."""

    entries: tuple[EntryLine, ...]
    limit: int
    offset: int
    more: bool
    next_before: str | None


@dataclass(frozen=True, slots=True)
class Chain:
    """What `brain_get_supersession_chain` answers: from the oldest to the one that stands."""

    entries: tuple[EntryLine, ...]
    standing_id: str


def kind_of(entity_type: str) -> Kind:
    """The kind of that name. Refuses `invalid_input` naming the kinds."""
    for kind in KINDS:
        if kind == entity_type:
            return kind
    raise Refusal("invalid_input", f"entity_type is one of {', '.join(KINDS)}.")


def entry_of(reading: Reading, knowledge_id: str) -> Entry | None:
    """The entry with that id; None when there is none."""
    row = reading.one(f"select {COLUMNS} from knowledge where id = ?", (knowledge_id,))
    if row is None:
        return None
    owner = reading.one("select session_id from session_artifacts where knowledge_id = ?", (knowledge_id,))
    return Entry(
        id=row["id"],
        kind=row["kind"],
        project_key=row["project_key"],
        number=row["number"],
        title=row["title"],
        body=row["body"],
        details=details_of(row["details"]),
        tags=ids_of(row["tags"]),
        status=row["status"],
        superseded_by=row["superseded_by"],
        archived_at=row["archived_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        owner_session_id=owner["session_id"] if owner else None,
    )


def get_entry(reading: Reading, *, entity_type: Kind, entity_id: str) -> EntryFound:
    """One entry by its id, or by a beginning of it of at least 8 characters that no other of its kind has.

    Refuses `invalid_input` (kind, id, a beginning that several have) and `knowledge_not_found`.
    """
    kind = kind_of(entity_type)
    given = storable(entity_id, "entity_id").strip().lower()
    plain = given.replace("-", "")
    wanted = _begun(reading, kind, given, plain) if _SHORT_ID.fullmatch(plain) else unique_id(given, "entity_id")
    entry = entry_of(reading, wanted)
    if entry is None or entry.kind != kind:
        raise not_found(kind, wanted)
    return EntryFound(entry)


def list_entries(
    reading: Reading,
    *,
    entity_type: Kind | None = None,
    project_key: str | None = None,
    limit: int = 20,
    offset: int = 0,
    status: Status | None = None,
    confidence: Confidence | None = None,
    language: str | None = None,
    tags: Sequence[str] | None = None,
    include_archived: bool = False,
    summary_only: bool = False,
    before: str | None = None,
) -> EntryPage:
    """A page of entries, newest first; a malformed or unknown project has none.

    `before` continues after the entry with that id, whatever was added meanwhile. Refuses `invalid_input`, `invalid_limit`,
    and `knowledge_not_found` when that entry was deleted.
    """
    limit, offset = page(limit, offset)
    where, values = _filters(entity_type, project_key, status, confidence, language, tags, include_archived=include_archived)
    if before is not None:
        last = unique_id(before, "before")
        row = reading.one("select created_at, row_id from knowledge where id = ?", (last,))
        if row is None:
            raise not_found("entry", last)
        where.append("(created_at, row_id) < (?, ?)")
        values += [row["created_at"], row["row_id"]]
    clause = f" where {' and '.join(where)}" if where else ""
    rows = reading.all(
        f"select {LINE_COLUMNS} from knowledge{clause} order by created_at desc, row_id desc limit ? offset ?",
        (*values, limit + 1, offset),
    )
    entries = tuple(_line(row, with_text=not summary_only) for row in rows[:limit])
    more = len(rows) > limit
    return EntryPage(entries, limit, offset, more, entries[-1].id if more else None)


def chain(reading: Reading, *, decision_id: str) -> Chain:
    """Everything that an entry replaced and that replaced it, the oldest first. Refuses `invalid_input`, `knowledge_not_found`."""
    wanted = unique_id(decision_id, "decision_id")
    older = _steps(reading, wanted, "select id from knowledge where superseded_by = ?")
    newer = _steps(reading, wanted, "select superseded_by from knowledge where id = ? and superseded_by is not null")
    ids = [*reversed(older), wanted, *newer]
    rows = reading.all(
        f"select {LINE_COLUMNS} from knowledge where id in (select value from json_each(?))",
        (json.dumps(ids, ensure_ascii=False),),
    )
    by_id = {row["id"]: _line(row, with_text=False) for row in rows}
    if wanted not in by_id:
        raise not_found("entry", wanted)
    entries = tuple(by_id[one] for one in ids if one in by_id)
    return Chain(entries, entries[-1].id)


def excerpt_of(text: str) -> str:
    """The beginning of a text, with an ellipsis where it goes on."""
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…"


def details_of(text: object) -> dict[str, Any]:
    """The fields of a stored entry; what cannot be read (damage from outside) is none."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and depth(found) <= DEPTH_LIMIT else {}


def _line(row: Any, *, with_text: bool) -> EntryLine:
    return EntryLine(
        id=row["id"],
        kind=row["kind"],
        project_key=row["project_key"],
        number=row["number"],
        title=row["title"],
        text=excerpt_of(row["text"]) if with_text else None,
        tags=ids_of(row["tags"]),
        status=row["status"],
        superseded_by=row["superseded_by"],
        archived_at=row["archived_at"],
        created_at=row["created_at"],
    )


def _begun(reading: Reading, kind: Kind, given: str, plain: str) -> str:
    """The one id that begins so. Ids are stored in their canonical spelling, so the index has them in order."""
    parts = (plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:])
    start = "-".join(part for part in parts if part)
    found = reading.all(
        "select id from knowledge where id >= ? and id < ? and kind = ? order by id limit 5", (start, f"{start}g", kind)
    )
    if len(found) > 1:
        ids = [row["id"] for row in found]
        raise Refusal("invalid_input", f"Several entries begin with {given}, such as {', '.join(ids)}.", facts={"ids": ids})
    if not found:
        raise not_found(kind, f"that begins with {given}")
    return str(found[0]["id"])


def _filters(
    kind: str | None,
    project_key: str | None,
    status: str | None,
    confidence: str | None,
    language: str | None,
    tags: Sequence[str] | None,
    *,
    include_archived: bool,
) -> tuple[list[str], list[Any]]:
    if status is not None and status not in STATUSES:
        raise Refusal("invalid_input", f"status is one of {', '.join(STATUSES)}.")
    where: list[str] = []
    values: list[Any] = []
    # few entries have another status than active, so its index beats those of project and kind
    alone = "+" if status not in (None, "active") else ""
    if project_key is not None:
        where.append(f"{alone}project_key = ?")
        values.append(projects.normal_key(project_key))
    if kind is not None:
        where.append(f"{alone}kind = ?")
        values.append(kind_of(kind))
    if status is not None:
        where.append("status = ?" if alone else "+status = ?")
        values.append(status)
    for name, value in (("confidence", confidence), ("language", language)):
        if value is not None:
            where.append(f"case when json_valid(details) then json_extract(details, '$.{name}') end = ?")
            values.append(storable(value, name))
    if tags:
        where.append(HAS_TAG.format(name="knowledge"))
        values.append(json.dumps(tags_of(tags), ensure_ascii=False))
    if not include_archived:
        where.append("archived_at is null")
    return where, values


def _steps(reading: Reading, start: str, following: str) -> list[str]:
    """The ids that follow one another from an entry on; a circle that another program made is gone round once."""
    found: list[str] = []
    seen = {start}
    at = start
    for _ in range(CHAIN_LIMIT):
        row = reading.one(following, (at,))
        if row is None or row[0] in seen:
            break
        at = row[0]
        seen.add(at)
        found.append(at)
    return found
