"""Reading knowledge: one entry, a page of them, and what replaced what (issue 3)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from core import projects
from core.errors import Refusal
from core.knowledge.entries import ids_of, not_found
from core.knowledge.models import KINDS, Entry, EntryLine, Kind, Status
from core.sessions.limits import page, unique_id
from core.store.deed import Reading
from core.texts import storable

COLUMNS = "id, kind, project_key, number, title, body, details, tags, status, superseded_by, archived_at, created_at, updated_at"
LINE_COLUMNS = "id, kind, project_key, number, title, tags, status, archived_at, created_at"
CHAIN_LIMIT = 200
PREFIX_LEAST = 8


@dataclass(frozen=True, slots=True)
class EntryFound:
    """What `brain_get` answers."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class EntryPage:
    """What `brain_list` answers: newest first. `total` is of what is not archived and archived together."""

    entries: tuple[EntryLine, ...]
    limit: int
    offset: int
    more: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """What `brain_get_supersession_chain` answers: from the oldest to the one that stands."""

    entries: tuple[EntryLine, ...]
    standing_id: str


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
        details=_details(row["details"]),
        tags=ids_of(row["tags"]),
        status=row["status"],
        superseded_by=row["superseded_by"],
        archived_at=row["archived_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        owner_session_id=owner["session_id"] if owner else None,
    )


def line_of(row: Any) -> EntryLine:
    """The entry of a row read with LINE_COLUMNS."""
    return EntryLine(
        row["id"],
        row["kind"],
        row["project_key"],
        row["number"],
        row["title"],
        ids_of(row["tags"]),
        row["status"],
        row["archived_at"],
        row["created_at"],
    )


def get_entry(reading: Reading, *, entity_type: Kind, entity_id: str) -> EntryFound:
    """One entry by its id, or by a beginning of it of at least 8 characters that no other has.

    Refuses `invalid_input` (kind, id, a beginning that several have) and `knowledge_not_found`.
    """
    if entity_type not in KINDS:
        raise Refusal("invalid_input", f"entity_type is one of {', '.join(KINDS)}.")
    wanted = _resolved(reading, entity_type, storable(entity_id, "entity_id").strip().lower())
    entry = entry_of(reading, wanted)
    if entry is None or entry.kind != entity_type:
        raise not_found(entity_type, wanted)
    return EntryFound(entry)


def _resolved(reading: Reading, kind: Kind, given: str) -> str:
    plain = given.replace("-", "")
    if len(plain) >= 32 or len(plain) < PREFIX_LEAST or any(character not in "0123456789abcdef" for character in plain):
        return unique_id(given, "entity_id")
    start = plain[:8] + "".join(f"-{part}" for part in (plain[8:12], plain[12:16], plain[16:20], plain[20:]) if part)
    found = reading.all(
        "select id from knowledge where id >= ? and id < ? and kind = ? order by id limit 5", (start, start + "g", kind)
    )
    if len(found) > 1:
        ids = [row["id"] for row in found]
        raise Refusal("invalid_input", f"Several entries begin with {given}: {', '.join(ids)}.", facts={"ids": ids})
    return str(found[0]["id"]) if found else unique_id(given.ljust(32, "0")[:32], "entity_id")


def list_entries(
    reading: Reading,
    *,
    entity_type: Kind | None = None,
    project_key: str | None = None,
    status: Status | None = None,
    limit: int = 20,
    offset: int = 0,
    include_archived: bool = False,
) -> EntryPage:
    """A page of entries, newest first; a malformed or unknown project has none. Refuses `invalid_input`, `invalid_limit`."""
    limit, offset = page(limit, offset)
    where: list[str] = []
    values: list[Any] = []
    if project_key is not None:
        where.append("project_key = ?")
        values.append(projects.normal_key(project_key))
    for column, value in (("kind", entity_type), ("status", status)):
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    if not include_archived:
        where.append("archived_at is null")
    clause = f" where {' and '.join(where)}" if where else ""
    rows = reading.all(
        f"select {LINE_COLUMNS} from knowledge{clause} order by created_at desc, row_id desc limit ? offset ?",
        (*values, limit + 1, offset),
    )
    return EntryPage(tuple(line_of(row) for row in rows[:limit]), limit, offset, len(rows) > limit)


def chain(reading: Reading, *, decision_id: str) -> Chain:
    """Everything that an entry replaced and that replaced it, the oldest first. Refuses `invalid_input`, `knowledge_not_found`."""
    wanted = unique_id(decision_id, "decision_id")
    rows = reading.all(
        "with recursive older (id, steps) as (select ?, 0 union all"
        " select k.id, older.steps + 1 from knowledge k join older on k.superseded_by = older.id where older.steps < ?),"
        " newer (id, steps) as (select ?, 0 union all"
        " select k.superseded_by, newer.steps + 1 from knowledge k join newer on k.id = newer.id"
        " where k.superseded_by is not null and newer.steps < ?)"
        f" select {LINE_COLUMNS} from knowledge where id in (select id from older union select id from newer)"
        " order by created_at, row_id limit ?",
        (wanted, CHAIN_LIMIT, wanted, CHAIN_LIMIT, CHAIN_LIMIT),
    )
    if not rows:
        raise not_found("entry", wanted)
    entries = tuple(line_of(row) for row in rows)
    return Chain(entries, entries[-1].id)


def _details(text: object) -> dict[str, Any]:
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
