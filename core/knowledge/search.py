"""brain_search: full text over knowledge, with scores, filters and grouping (issue 3).

Words are looked for first, with their beginnings; where no entry has one, any run of three characters; then the short rest by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core import projects
from core.errors import Refusal
from core.knowledge.entries import ids_of
from core.knowledge.models import KINDS, Kind, Status
from core.memory.words import meaningful
from core.store.deed import Reading
from core.texts import not_blank

QUERY_LIMIT = 1_000
WORDS_LIMIT = 32
LIMIT_MOST = 100
EXCERPT = 300
GRAM = 3
SCANNED = 10_000
"""Entries of a scope that are looked through for a term that no index knows, the newest first."""
TITLE_WEIGHT = 4.0
WORD = re.compile(r"\w+")

MatchedBy = Literal["words", "characters", "nothing"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry that was found. `score` is above 0 and below 1, the higher the better; `text` is its beginning, or with `full` all of it."""

    id: str
    kind: Kind
    project_key: str
    title: str
    text: str
    score: float
    tags: tuple[str, ...]
    status: Status
    archived_at: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class Group:
    """The hits of one kind, by their ids, the best first."""

    kind: Kind
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What `brain_search` answers: the best first. `matched_by` says whether whole words or only characters were found."""

    query: str
    shown: int
    more: bool
    matched_by: MatchedBy
    results: tuple[Hit, ...]
    groups: tuple[Group, ...] | None


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
    full: bool = False,
) -> Found:
    """Find knowledge by its words, the best first. Whatever the query holds, it is text and never a query language.

    Refuses `invalid_input` for a blank or too long query, both a project and a group, or an unknown kind, and `invalid_limit`.
    """
    text = not_blank(query, "The query").strip()
    if len(text) > QUERY_LIMIT:
        raise Refusal("invalid_input", f"The query has {len(text)} characters; at most {QUERY_LIMIT} are taken.")
    if project_key is not None and project_group is not None:
        raise Refusal("invalid_input", "project_key and project_group go one without the other.")
    if not 1 <= limit <= LIMIT_MOST:
        raise Refusal("invalid_limit", f"limit is 1 to {LIMIT_MOST}; {limit} was sent.")
    if any(kind not in KINDS for kind in types or ()):
        raise Refusal("invalid_input", f"types are some of {', '.join(KINDS)}.")
    scope = _Scope.of(types, project_key, project_group, tags, include_archived)
    matched_by, rows = _matches(reading, text, scope, limit + 1)
    hits = tuple(hit for hit in (_hit(row, full) for row in rows) if hit.score >= min_score)
    shown = hits[:limit]
    groups = None
    if group_by_type:
        groups = tuple(Group(kind, ids) for kind in KINDS if (ids := tuple(hit.id for hit in shown if hit.kind == kind)))
    return Found(text, len(shown), len(hits) > limit, matched_by, shown, groups)


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where to look, as the end of a WHERE clause with its values."""

    where: str
    values: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        types: Sequence[Kind] | None,
        project_key: str | None,
        project_group: str | None,
        tags: Sequence[str] | None,
        include_archived: bool,
    ) -> _Scope:
        parts, values = [], []
        if project_key is not None:
            parts.append("k.project_key = ?")
            values.append(projects.normal_key(project_key))
        if project_group is not None:
            parts.append("k.project_key in (select project_key from projects where project_group = ?)")
            values.append(project_group)
        if types:
            parts.append("k.kind in (select value from json_each(?))")
            values.append(json.dumps(list(types)))
        if tags:
            parts.append("exists (select 1 from json_each(k.tags) t join json_each(?) wanted on wanted.value = t.value)")
            values.append(json.dumps(list(tags), ensure_ascii=False))
        if not include_archived:
            parts.append("k.archived_at is null")
        return cls("".join(f" and {part}" for part in parts), tuple(values))


COLUMNS = "k.id, k.kind, k.project_key, k.title, k.body, k.tags, k.status, k.archived_at, k.created_at"


def _matches(reading: Reading, text: str, scope: _Scope, limit: int) -> tuple[MatchedBy, list[Any]]:
    words = _words(text)
    if words:
        rows = reading.all(
            f"select {COLUMNS}, -bm25(knowledge_words_fts, {TITLE_WEIGHT}, 1.0) as weight from knowledge_words_fts f"
            f" join knowledge k on k.row_id = f.rowid where knowledge_words_fts match ?{scope.where}"
            " order by bm25(knowledge_words_fts, 4.0, 1.0), k.row_id desc limit ?",
            (_any_of(words), *scope.values, limit),
        )
        if rows:
            return "words", rows
    terms = [term for term in text.split() if term][:WORDS_LIMIT]
    long = [term for term in terms if len(term) >= GRAM]
    if long:
        # the index knows three characters each, not their order: what it finds is looked at once more
        sought = " or ".join("instr(lower(k.title || ' ' || k.body), lower(?)) > 0" for _ in long)
        grams = [term[at : at + GRAM] for term in long for at in (0, max(0, (len(term) - GRAM) // 2), len(term) - GRAM)]
        rows = reading.all(
            f"select {COLUMNS}, 0.1 as weight from knowledge_fts f join knowledge k on k.row_id = f.rowid"
            f" where knowledge_fts match ? and ({sought}){scope.where} order by k.row_id desc limit ?",
            (" OR ".join(_quoted(gram) for gram in dict.fromkeys(grams)), *long, *scope.values, limit),
        )
        if rows:
            return "characters", rows
    if terms:
        sought = " or ".join("instr(lower(k.title || ' ' || k.body), lower(?)) > 0" for _ in terms)
        rows = reading.all(
            f"select {COLUMNS}, 0.1 as weight from (select * from knowledge k where 1 = 1{scope.where}"
            f" order by created_at desc, row_id desc limit {SCANNED}) k where {sought} limit ?",
            (*scope.values, *terms, limit),
        )
        if rows:
            return "characters", rows
    return "nothing", []


def _words(text: str) -> list[str]:
    """The words to look for: those with a meaning, or all of them where none has."""
    every = list(dict.fromkeys(WORD.findall(text.casefold())))
    telling = meaningful(text)
    return [word for word in every if word in telling][:WORDS_LIMIT] or every[:WORDS_LIMIT]


def _any_of(words: Sequence[str]) -> str:
    return " OR ".join(f"{_quoted(word)}*" if len(word) >= GRAM else _quoted(word) for word in words)


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _hit(row: Any, full: bool) -> Hit:
    weight = max(float(row["weight"]), 1e-6)
    body = row["body"]
    return Hit(
        row["id"],
        row["kind"],
        row["project_key"],
        row["title"],
        body if full or len(body) <= EXCERPT else f"{body[:EXCERPT]}…",
        round(weight / (1 + weight), 4),
        ids_of(row["tags"]),
        row["status"],
        row["archived_at"],
        row["created_at"],
    )
