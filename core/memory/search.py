"""Searching the full-text index: an exact phrase through its trigrams, and single words with their rarity (wraps.md b)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from core import projects
from core.memory.words import meaningful
from core.store.deed import Reading

INDEXED_CHARACTERS = 65_536
"""How much of a content the index holds (core.store.schema); longer ones are scanned as well."""
TRIGRAMS = 4
"""Trigrams of a phrase that are asked for; more would cost more than the candidates they rule out."""
RARE_ENOUGH = 120
"""Rarity of the trigrams together at which no more are asked for: common ones cost their every episode."""
PART_WEIGHED = 100
"""Trigrams in a part of a phrase among which the rarest is looked for."""
WORD_CANDIDATES = 5_000
WORDS = 16
"""Distinctive words of a keyword that are looked up."""
VERIFIED = 2_000
"""Candidates whose text is read at most for one ranking."""
_BATCH = 50
_RANK = {letter: rank for rank, letter in enumerate(" etaonisrhldcumfpgwybvkxjqz")}
"""Letters from the commonest on, in plain English; what is not among them counts as rarer than all of them."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The filters of a recall as a condition on `episodes e`; `counted` when the project's counters answer how many."""

    project_key: str
    where: str
    parameters: tuple[Any, ...]
    counted: bool


def ascii_lower(text: str) -> str:
    """Lower case for A to Z alone, as SQLite's lower() does it."""
    return text.translate(_ASCII_LOWER)


_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def exact(view: Reading, scope: Scope, keyword: str) -> list[tuple[int, bool]]:
    """Row numbers, newest first, of the episodes that hold the keyword, each with whether it is superseded."""
    needle = ascii_lower(keyword)
    holds = f"{scope.where} and instr(lower(e.content), ?) > 0"
    columns = "e.id, e.superseded_by is not null"
    if len(needle) < 3:
        rows = view.all(f"select {columns} from episodes e where {holds} order by e.id desc", (*scope.parameters, needle))
        return [(row[0], bool(row[1])) for row in rows]
    # cross join keeps the index first: it names few candidates, which are then verified
    indexed = view.all(
        f"select {columns} from episodes_fts cross join episodes e on e.id = episodes_fts.rowid"
        f" where episodes_fts match ? and {holds} order by episodes_fts.rowid desc",
        (phrase_query(needle), *scope.parameters, needle),
    )
    found = {row[0]: bool(row[1]) for row in indexed}
    beyond = view.all(
        f"select {columns} from episodes e indexed by episodes_long where {holds} and length(e.content) > {INDEXED_CHARACTERS}",
        (*scope.parameters, needle),
    )
    new = {row[0]: bool(row[1]) for row in beyond if row[0] not in found}
    return sorted((found | new).items(), reverse=True) if new else list(found.items())


def by_words(
    view: Reading, scope: Scope, words: Sequence[str], *, cap: int, without: frozenset[int], include_superseded: bool
) -> list[tuple[int, tuple[str, ...]]]:
    """The best row numbers by the rarity of the words they hold, at most `cap`, each with those words; ties newest first.

    Only the newest 5,000 candidates of a word count, and only the first 65,536 characters of a content.
    """
    visible = "" if include_superseded else " and e.superseded_by is null"
    total = max(1, projects.counters(view, scope.project_key).get("episodes", 0))
    weight: dict[str, float] = {}
    held: dict[int, list[str]] = {}
    for word in words[:WORDS]:
        rows = view.all(
            "select e.id from episodes_fts cross join episodes e on e.id = episodes_fts.rowid"
            f" where episodes_fts match ? and {scope.where}{visible} order by episodes_fts.rowid desc limit {WORD_CANDIDATES}",
            (word_query(word), *scope.parameters),
        )
        weight[word] = math.log(1 + total / (1 + len(rows)))
        for row in rows:
            if row[0] not in without:
                held.setdefault(row[0], []).append(word)

    def score(found: Iterable[str]) -> float:
        return sum(weight[word] for word in found)

    # trigrams promise no word boundary, so a candidate's score can only fall when its text is read
    candidates = sorted(held, key=lambda number: (score(held[number]), number), reverse=True)[:VERIFIED]
    verified: list[tuple[float, int, tuple[str, ...]]] = []
    for start in range(0, len(candidates), _BATCH):
        batch = candidates[start : start + _BATCH]
        if len(verified) >= cap and verified[cap - 1][:2] > (score(held[batch[0]]), batch[0]):
            break
        texts = view.all(
            f"select id, substr(content, 1, {INDEXED_CHARACTERS}) from episodes where id in (select value from json_each(?))",
            (json.dumps(batch),),
        )
        for number, text in texts:
            present = meaningful(text)
            real = tuple(word for word in held[number] if word in present)
            if real:
                verified.append((score(real), number, real))
        verified.sort(reverse=True)
    return [(number, real) for _, number, real in verified[:cap]]


def phrase_query(needle: str) -> str:
    """The index query whose answers include every text that holds the phrase: an AND of at most 4 of its trigrams.

    They are spread over the phrase, and in each part of it the one that looks rarest is taken. The index folds case by
    Unicode, one character at a time, so a text that holds the phrase up to ASCII case has all of them.
    """
    places = len(needle) - 2
    parts = min(TRIGRAMS, places)
    edges = [places * part // parts for part in range(parts + 1)]
    spread = [
        max((needle[place : place + 3] for place in range(start, min(end, start + PART_WEIGHED))), key=_rarity)
        for start, end in pairwise(edges)
    ]
    chosen: dict[str, int] = {}
    for trigram in sorted(spread, key=_rarity, reverse=True):
        if sum(chosen.values()) >= RARE_ENOUGH:
            break
        chosen[trigram] = _rarity(trigram)
    return " AND ".join(map(_quoted, chosen))


def _rarity(trigram: str) -> int:
    """How rare a trigram may be, by its letters alone: a guess that costs nothing."""
    return sum(_RANK.get(letter, len(_RANK)) for letter in trigram)


def word_query(word: str) -> str:
    """The index query for a case-folded word of three characters or more."""
    # the index keeps the sharp s, which case folding spells ss
    sharp = word.replace("ss", "ß")
    return phrase_query(word) if sharp == word or len(sharp) < 3 else f"({phrase_query(word)}) OR ({phrase_query(sharp)})"


def _quoted(trigram: str) -> str:
    return '"' + trigram.replace('"', '""') + '"'
