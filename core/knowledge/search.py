"""brain_search: full text over knowledge, with scores, filters and grouping (issue 3).

Words are looked for first, with their beginnings (core.knowledge.wording); where no entry has one of them, the query's parts are
looked for inside words, by any three characters in a row.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core import projects
from core.errors import Refusal
from core.knowledge.fields import stored_relations, tags_of
from core.knowledge.models import KINDS, STATUSES, Kind, Relation, Status
from core.knowledge.reading import EXCERPT, HAS_TAG, details_of, excerpt_of, kind_of
from core.knowledge.wording import query_of
from core.memory.recall import bound
from core.memory.search import ascii_lower, phrase_query
from core.sessions.limits import page
from core.sessions.rows import ids_of
from core.store.deed import Reading
from core.texts import not_blank, storable

QUERY_LIMIT = 10_000
PARTS_LIMIT = 32
"""Parts of a query, as spaces divide it, that are looked for inside words."""
LIMIT_MOST = 100
GRAM = 3
SCANNED = 5_000
"""Entries that are looked through for signs that no index knows, such as an arrow: the newest ones."""
TITLE_WEIGHT = 4.0
INSIDE_SCORE = 0.0001
"""The score of an entry that has no word of the query, only its characters."""
RELATED_LIMIT = 50

MatchedBy = Literal["words", "characters", "nothing"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry that was found. `score` is b / (1 + b) for b the bm25 weight of its words, a title's counting four times.

    It is above 0 and below 1, the higher the better, and compares the hits of one answer. `text` is the entry's beginning, or
    with `full` all of it.
    """

    id: str
    kind: Kind
    project_key: str
    number: int | None
    title: str
    text: str
    score: float
    tags: tuple[str, ...]
    status: Status
    superseded_by: str | None
    archived_at: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class Group:
    """The hits of one kind, by their ids, the best first."""

    kind: Kind
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """An entry that a hit says it is related to."""

    from_id: str
    relation: Relation
    id: str
    kind: Kind
    project_key: str
    title: str


@dataclass(frozen=True, slots=True)
class Found:
    """What `brain_search` answers: the best first. `matched_by` says whether words or only characters inside of words were found.

    `groups` and `related` are None where they were not asked for.
    """

    query: str
    shown: int
    more: bool
    matched_by: MatchedBy
    results: tuple[Hit, ...]
    groups: tuple[Group, ...] | None
    related: tuple[Related, ...] | None


def search(
    reading: Reading,
    *,
    query: str,
    types: Sequence[Kind] | None = None,
    project_key: str | None = None,
    project_group: str | None = None,
    limit: int = 20,
    min_score: float = 0.0,
    include_archived: bool = False,
    group_by_type: bool = False,
    tags: Sequence[str] | None = None,
    include_related: bool = False,
    full: bool = False,
    status: Status | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Found:
    """Find knowledge by its words, the best first. Whatever the query holds, it is text and never a query language.

    `tags` is any of them; `since` and `until` are ISO dates or times of creation, inclusive. Refuses `invalid_input` for a query
    that is blank, too long or cannot be stored, both a project and a group, an unknown kind or status, or a time that cannot
    be read, and `invalid_limit`.
    """
    text = not_blank(query, "The query").strip()
    if len(query) > QUERY_LIMIT:
        raise Refusal("invalid_input", f"The query has {len(query):,} characters; at most {QUERY_LIMIT:,} are taken.")
    if project_key is not None and project_group is not None:
        raise Refusal("invalid_input", "project_key and project_group go one without the other.")
    page(limit, 0, most=LIMIT_MOST)
    if status is not None and status not in STATUSES:
        raise Refusal("invalid_input", f"status is one of {', '.join(STATUSES)}.")
    where = _Where()
    where.filter(types, project_key, project_group, tags, status, since, until, include_archived=include_archived)
    matched_by, weights = _matches(reading, text, where, limit + 1)
    scored = [(row_id, score) for row_id, score in weights if score >= min_score]
    hits, related = _read(reading, scored[:limit], full=full, include_related=include_related)
    groups = None
    if group_by_type:
        groups = tuple(Group(kind, ids) for kind in KINDS if (ids := tuple(hit.id for hit in hits if hit.kind == kind)))
    return Found(text, len(hits), len(scored) > limit, matched_by, hits, groups, related)


class _Where:
    """Where to look: the end of a WHERE clause on `knowledge k`, with its values."""

    def __init__(self) -> None:
        self.clause = ""
        self.values: list[Any] = []

    def add(self, condition: str, *values: Any) -> None:
        self.clause += f" and {condition}"
        self.values += values

    def filter(
        self,
        types: Sequence[str] | None,
        project_key: str | None,
        project_group: str | None,
        tags: Sequence[str] | None,
        status: str | None,
        since: str | None,
        until: str | None,
        *,
        include_archived: bool,
    ) -> None:
        if project_key is not None:
            self.add("k.project_key = ?", projects.normal_key(project_key))
        if project_group is not None:
            group = storable(project_group, "project_group").strip()
            self.add("k.project_key in (select project_key from projects where project_group = ?)", group)
        if types:
            self.add("k.kind in (select value from json_each(?))", json.dumps([kind_of(kind) for kind in types]))
        if tags:
            self.add(HAS_TAG.format(name="k"), json.dumps(tags_of(tags), ensure_ascii=False))
        if status is not None:
            self.add("k.status = ?", status)
        if since is not None:
            self.add("k.created_at >= ?", bound(since, "since", last=False))
        if until is not None:
            self.add("k.created_at <= ?", bound(until, "until", last=True))
        if not include_archived:
            self.add("k.archived_at is null")


def _matches(reading: Reading, text: str, where: _Where, limit: int) -> tuple[MatchedBy, list[tuple[int, float]]]:
    """Row numbers with their scores, the best first."""
    words = query_of(text)
    if words is not None:
        # cross join keeps the index first
        rows = reading.all(
            f"select k.row_id, -bm25(knowledge_words_fts, {TITLE_WEIGHT}, 1.0, 1.0) as weight from knowledge_words_fts"
            " cross join knowledge k on k.row_id = knowledge_words_fts.rowid"
            f" where knowledge_words_fts match ?{where.clause} order by weight desc, k.row_id desc limit ?",
            (words, *where.values, limit),
        )
        if rows:
            return "words", [(row[0], _score(row[1])) for row in rows]
    parts = list(dict.fromkeys(ascii_lower(part) for part in text.split()))[:PARTS_LIMIT]
    inside = _inside(reading, parts, where, limit) or ([] if words else _scanned(reading, parts, where, limit))
    return ("characters", [(row[0], INSIDE_SCORE) for row in inside]) if inside else ("nothing", [])


HOLDS = "instr(lower(k.title || ' ' || k.body), ?) > 0"


def _inside(reading: Reading, parts: Sequence[str], where: _Where, limit: int) -> list[Any]:
    long = [part for part in parts if len(part) >= GRAM]
    if not long:
        return []
    # the index knows three characters each, not their order: what it finds is looked at once more
    return reading.all(
        "select k.row_id from knowledge_fts cross join knowledge k on k.row_id = knowledge_fts.rowid"
        f" where knowledge_fts match ? and ({' or '.join([HOLDS] * len(long))}){where.clause}"
        " order by knowledge_fts.rowid desc limit ?",
        (" OR ".join(f"({phrase_query(part)})" for part in long), *long, *where.values, limit),
    )


def _scanned(reading: Reading, parts: Sequence[str], where: _Where, limit: int) -> list[Any]:
    return reading.all(
        f"select k.row_id from (select * from knowledge k where 1 = 1{where.clause} order by created_at desc, row_id desc"
        f" limit {SCANNED}) k where {' or '.join([HOLDS] * len(parts))} limit ?",
        (*where.values, *parts, limit),
    )


def _score(weight: float) -> float:
    # a word that most entries have weighs next to nothing, which is more than only its characters do
    found = max(float(weight), 2 * INSIDE_SCORE)
    return round(found / (1 + found), 6)


def _read(
    reading: Reading, scored: Sequence[tuple[int, float]], *, full: bool, include_related: bool
) -> tuple[tuple[Hit, ...], tuple[Related, ...] | None]:
    text = "body" if full else f"substr(body, 1, {EXCERPT + 1})"
    details = "details" if include_related else "null"
    rows = reading.all(
        f"select row_id, id, kind, project_key, number, title, {text} as text, {details} as details, tags, status, superseded_by,"
        " archived_at, created_at from knowledge where row_id in (select value from json_each(?))",
        (json.dumps([row_id for row_id, _ in scored]),),
    )
    by_row = {row["row_id"]: row for row in rows}
    hits = tuple(_hit(by_row[row_id], score, full=full) for row_id, score in scored)
    return hits, _related(reading, [by_row[row_id] for row_id, _ in scored]) if include_related else None


def _hit(row: Any, score: float, *, full: bool) -> Hit:
    return Hit(
        id=row["id"],
        kind=row["kind"],
        project_key=row["project_key"],
        number=row["number"],
        title=row["title"],
        text=row["text"] if full else excerpt_of(row["text"]),
        score=score,
        tags=ids_of(row["tags"]),
        status=row["status"],
        superseded_by=row["superseded_by"],
        archived_at=row["archived_at"],
        created_at=row["created_at"],
    )


def _related(reading: Reading, rows: Sequence[Any]) -> tuple[Related, ...]:
    """The entries that hits name, as far as this store has them, at most 50."""
    named = [(row["id"], one) for row in rows for one in stored_relations(details_of(row["details"]))]
    found = reading.all(
        "select id, kind, project_key, title from knowledge where id in (select value from json_each(?))",
        (json.dumps(list(dict.fromkeys(one["id"] for _, one in named))),),
    )
    by_id = {row["id"]: row for row in found}
    return tuple(
        Related(from_id, one["type"], one["id"], row["kind"], row["project_key"], row["title"])  # type: ignore[arg-type]
        for from_id, one in named
        if (row := by_id.get(one["id"])) is not None
    )[:RELATED_LIMIT]
