"""Graduated patterns as agents find them: the index of all, and those that a text calls to mind (wraps.md b, the one-line tools).

A pattern is graduated from 2x on, whether the continuity still has its line or not. What a text calls to mind is found by
words of the pattern itself first; the places that are left go to patterns whose evidence the text matches.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal

from core import projects, texts
from core.errors import Refusal
from core.memory import search
from core.memory.pattern_reports import PROVEN
from core.memory.words import in_order, meaningful
from core.store.deed import Reading

Mode = Literal["prompt", "query"]
WORDS_WANTED: dict[Mode, int] = {"prompt": 2, "query": 1}
"""Words that a text must have, and a pattern or an episode share with it: a prompt is not to call up what one word brushes."""
INDEX_LIMIT = 500
CLAUSE_CHARACTERS = 100
PATTERNS_LIMIT = 50
SEEDS = 20
"""Episodes by whose evidence patterns are looked for."""
EVIDENCE_TOLD = 5


@dataclass(frozen=True, slots=True)
class IndexLine:
    """A graduated pattern's name, and one clause of what it says."""

    name: str
    clause: str


@dataclass(frozen=True, slots=True)
class CrystalIndex:
    """What `crystal_index` answers: the graduated patterns by name, at most 500, of `total`."""

    project_key: str
    total: int
    patterns: tuple[IndexLine, ...]


@dataclass(frozen=True, slots=True)
class RelevantPattern:
    """A graduated pattern that a text calls to mind.

    `found_by` says how: `words` of its own, or its `evidence`; `matched` are the words, `episode_ids` the episodes that
    matched. `score` is the rarity of the words together, to compare within one answer. `in_text`: the continuity has its line.
    """

    name: str
    level: int
    summary: str
    explanation: str | None
    last_grounded_on: str | None
    in_text: bool
    found_by: Literal["words", "evidence"]
    matched: tuple[str, ...]
    episode_ids: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class CrystalRecall:
    """What `crystal_recall` answers: the patterns, the best first, and the words of the query that were looked for."""

    project_key: str
    patterns: tuple[RelevantPattern, ...]
    words: tuple[str, ...]
    words_wanted: int


def crystal_index(view: Reading, *, project_key: str) -> CrystalIndex:
    """Every graduated pattern of a project by its name with one clause (wraps.md b); an unknown project has none."""
    key = texts.storable(projects.normal_key(project_key), "project_key")
    graduated = "from patterns where project_key = ? and kind = 'name' and level >= ?"
    total = view.one(f"select count(*) {graduated}", (key, PROVEN))[0]
    rows = view.all(f"select name, summary {graduated} order by name limit ?", (key, PROVEN, INDEX_LIMIT))
    return CrystalIndex(key, total, tuple(IndexLine(row["name"], _clause(row["summary"])) for row in rows))


def crystal_recall(
    view: Reading,
    *,
    project_key: str,
    query: str,
    max_patterns: int = 3,
    associative: bool = True,
    mode: str = "prompt",
) -> CrystalRecall:
    """The graduated patterns that a text calls to mind, at most `max_patterns` (0 to 50), the best first (wraps.md b).

    `prompt` is for any text, and takes two words shared with a pattern; `query`, a question asked on purpose, takes one.
    `associative` fills what places are left with patterns that rest on an episode which shares as many words. Refuses
    `invalid_input` for a blank query, another mode, a NUL or a lone surrogate.
    """
    key = texts.storable(projects.normal_key(project_key), "project_key")
    query = texts.storable(query, "The query")
    if not query.strip():
        raise Refusal("invalid_input", "query is blank: say what to look for.")
    if mode not in WORDS_WANTED:
        raise Refusal("invalid_input", f"mode is prompt or query, not {mode[:20]!r}.")
    wanted = WORDS_WANTED[mode]
    words = in_order(query)[: search.WORDS]
    places = min(max(max_patterns, 0), PATTERNS_LIMIT)
    if len(words) < wanted or not places:
        return CrystalRecall(key, (), words, wanted)
    found = _by_words(view, key, words, wanted)[:places]
    if associative and len(found) < places:
        found += _by_evidence(view, key, words, wanted, {one.name for one in found})[: places - len(found)]
    return CrystalRecall(key, tuple(found), words, wanted)


def _by_words(view: Reading, key: str, words: tuple[str, ...], wanted: int) -> list[RelevantPattern]:
    rows = view.all(
        "select p.* from patterns_fts cross join patterns p on p.id = patterns_fts.rowid"
        " where patterns_fts match ? and p.project_key = ? and p.kind = 'name' and p.level >= ?",
        (" OR ".join(f"({search.word_query(word)})" for word in words), key, PROVEN),
    )
    held = [(row, meaningful(" ".join([row["name"], row["summary"], *json.loads(row["explanations"])]))) for row in rows]
    rarity = {word: math.log(1 + len(rows) / (1 + sum(word in own for _, own in held))) for word in words}
    found = []
    for row, own in held:
        matched = tuple(word for word in words if word in own)
        if len(matched) >= wanted:
            found.append(_pattern(row, "words", matched, (), sum(rarity[word] for word in matched)))
    return sorted(found, key=_best_first)


def _by_evidence(view: Reading, key: str, words: tuple[str, ...], wanted: int, without: set[str]) -> list[RelevantPattern]:
    scope = search.Scope(key, "e.project_key = ?", (key,), counted=True)
    ranked = search.by_words(view, scope, words, cap=SEEDS, without=frozenset(), include_superseded=False)
    seeds = {number: (place, matched) for place, (number, matched) in enumerate(ranked) if len(matched) >= wanted}
    rows = view.all(
        "select p.*, e.id as episode_number, e.episode_id from json_each(?) seed cross join episodes e on e.id = seed.value"
        " cross join pattern_grounding g on g.episode_id = e.episode_id join patterns p on p.id = g.pattern_id"
        " where g.gone_at is null and g.level <= p.level and p.project_key = ? and p.level >= ?"
        " group by p.id, e.id order by e.id",
        (json.dumps(list(seeds)), key, PROVEN),
    )
    by_name: dict[str, list[Any]] = {}
    for row in sorted(rows, key=lambda row: seeds[row["episode_number"]][0]):
        if row["name"] not in without:
            by_name.setdefault(row["name"], []).append(row)
    found = []
    for cited in by_name.values():
        place, matched = seeds[cited[0]["episode_number"]]
        ids = tuple(row["episode_id"] for row in cited[:EVIDENCE_TOLD])
        found.append(_pattern(cited[0], "evidence", matched, ids, (SEEDS - place) / SEEDS))
    return sorted(found, key=_best_first)


def _best_first(one: RelevantPattern) -> tuple[float, int, str]:
    return (-one.score, -one.level, one.name)


def _pattern(
    row: Any, found_by: Literal["words", "evidence"], matched: tuple[str, ...], episode_ids: tuple[str, ...], score: float
) -> RelevantPattern:
    explanations = json.loads(row["explanations"])
    return RelevantPattern(
        row["name"],
        row["level"],
        row["summary"],
        explanations[-1] if explanations else None,
        row["last_grounded_on"],
        bool(row["in_text"]),
        found_by,
        matched,
        episode_ids,
        round(score, 3),
    )


def _clause(summary: str) -> str:
    return summary if len(summary) <= CLAUSE_CHARACTERS else f"{summary[: CLAUSE_CHARACTERS - 1].rstrip()}…"
