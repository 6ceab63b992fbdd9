"""Knowledge as an operator sees it: a page of entries, a search, and one whole with what it replaced (console.md, screen 6).

`page` and `search` give the same rows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from core.knowledge import reading as knowledge
from core.knowledge.fields import stored_relations
from core.knowledge.models import KINDS, Entry, EntryLine, Kind
from core.knowledge.search import MatchedBy
from core.knowledge.search import search as search_entries
from core.sessions.limits import LIST_LIMIT
from core.store.deed import Reading

ENTRIES_SHOWN = LIST_LIMIT


@dataclass(frozen=True, slots=True)
class KnowledgePage:
    """One page of entries, the newest first, and the id after which the next page goes on (None at the end).

    `total` counts all that the project has of the kind, archived ones too.
    """

    rows: tuple[EntryLine, ...]
    total: int
    next_before: str | None


@dataclass(frozen=True, slots=True)
class KnowledgeFound:
    """What a search found, the best first. `matched_by` says whether words or only characters inside of words were found."""

    rows: tuple[EntryLine, ...]
    more: bool
    matched_by: MatchedBy


@dataclass(frozen=True, slots=True)
class Relation:
    """What an entry says that it is related to; title and kind are None when the store has no such entry."""

    relation: str
    id: str
    kind: Kind | None
    title: str | None


@dataclass(frozen=True, slots=True)
class KnowledgeDetail:
    """One entry whole. `chain` is all that it replaced and that replaced it, the oldest first, itself among them."""

    entry: Entry
    chain: tuple[EntryLine, ...]
    relations: tuple[Relation, ...]


def page(
    reading: Reading,
    project_key: str | None,
    *,
    kind: Kind | None = None,
    also_archived: bool = False,
    before: str | None = None,
    limit: int = ENTRIES_SHOWN,
) -> KnowledgePage:
    """The entries of a project, or of all (None), the newest first, at most `limit` (1 to 100), from `before` (the last page's `next_before`) on.

    Refuses `invalid_input` for an unknown kind, `invalid_limit`, and `knowledge_not_found` when the entry `before` was deleted.
    """
    found = knowledge.list_entries(
        reading, entity_type=kind, project_key=project_key, include_archived=also_archived, before=before, limit=limit
    )
    of_project, values = ("project_key = ? and ", [project_key]) if project_key is not None else ("", [])
    counters = [f"knowledge:{one}" for one in (KINDS if kind is None else (kind,))]
    counted = reading.one(
        f"select coalesce(sum(value), 0) from counters where {of_project}name in (select value from json_each(?))",
        (*values, json.dumps(counters)),
    )
    total = int(counted[0])
    return KnowledgePage(found.entries, total, found.next_before)


def search(
    reading: Reading, project_key: str | None, words: str, *, kind: Kind | None = None, limit: int = ENTRIES_SHOWN
) -> KnowledgeFound:
    """The entries that `brain_search` finds in a project, or in all (None), for some words, archived ones too, at most `limit` (1 to 100).

    Refuses `invalid_input` for words that are blank, too long or cannot be stored, and `invalid_limit`.
    """
    found = search_entries(
        reading, query=words, types=None if kind is None else [kind], project_key=project_key, include_archived=True, limit=limit
    )
    rows = tuple(
        EntryLine(
            id=hit.id,
            kind=hit.kind,
            project_key=hit.project_key,
            number=hit.number,
            title=hit.title,
            text=hit.text,
            tags=hit.tags,
            status=hit.status,
            superseded_by=hit.superseded_by,
            archived_at=hit.archived_at,
            created_at=hit.created_at,
        )
        for hit in found.results
    )
    return KnowledgeFound(rows, found.more, found.matched_by)


def entries_named(reading: Reading, name: str, project_key: str | None, *, limit: int = 20) -> tuple[str, ...]:
    """The ids of the entries, of a project or of all (None), that have that id or begin with it."""
    rows = reading.all(
        "select id from knowledge where id >= ? and id < ? || 'g' and coalesce(project_key = ?, true) order by id limit ?",
        (name, name, project_key, limit),
    )
    return tuple(row["id"] for row in rows)


def entry(reading: Reading, knowledge_id: str) -> KnowledgeDetail | None:
    """One entry whole; None when there is none with that id."""
    found = knowledge.entry_of(reading, knowledge_id)
    if found is None:
        return None
    relations = []
    for one in stored_relations(found.details):
        other = knowledge.entry_of(reading, one["id"])
        relations.append(Relation(one["type"], one["id"], other.kind if other else None, other.title if other else None))
    return KnowledgeDetail(found, knowledge.chain(reading, decision_id=knowledge_id).entries, tuple(relations))
