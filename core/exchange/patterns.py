"""Patterns of a foreign store: their levels as it last saved them, what earned those, and the crystals that stand for them (wraps.md e3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.clock import stamp
from core.exchange import foreign_values
from core.exchange.anneal_tables import Tables
from core.exchange.history import History
from core.exchange.report import Tally
from core.memory import continuity, pattern_lines, pattern_reports
from core.store.deed import Deed

GONE_OF_AGE = ("agent", "operator")
"""How evidence is marked whose episode aged out: that takes no level back."""


@dataclass(frozen=True, slots=True)
class ForeignPattern:
    """A pattern with its level. `crystal_evidence` are the foreign ids that its crystal rests on, from `crystallized_on`."""

    kind: str
    name: str
    level: int
    highest: int
    summary: str
    explanations: tuple[str, ...]
    grounded_on: str | None
    in_text: bool
    crystal_evidence: tuple[str, ...] = ()
    crystallized_on: str | None = None


@dataclass(frozen=True, slots=True)
class Graduation:
    """A level that a pattern earned in a wrap, which is named by its number over there."""

    wrap_number: int
    name: str
    level: int
    explanation: str | None


@dataclass(frozen=True, slots=True)
class Ground:
    """An episode that a level rests on, and whether it is gone."""

    name: str
    level: int
    token: str
    line_number: int
    rule: str
    episode_id: str
    earned_on: str | None
    gone: bool


@dataclass(frozen=True, slots=True)
class Patterns:
    """Every pattern of a store that can be stored, and what belongs to them."""

    patterns: tuple[ForeignPattern, ...]
    graduations: tuple[Graduation, ...]
    grounds: tuple[Ground, ...]
    citations_seen: bool


# reading


def read(
    tables: Tables, history: History, crystals: Sequence[Mapping[str, Any]], meta: Mapping[str, Any], tally: Tally
) -> Patterns:
    """The patterns of the database, of the continuity's text and of the crystals; damaged ones are counted and left out."""
    lines, headings = _text_lines(history)
    in_text = pattern_lines.levels_of(lines, headings)
    named = pattern_reports.named_lines(lines, headings)
    records = {
        row[0]: row
        for row in tables.rows("pattern_history", ("pattern_name", "max_level_reached", "explanation_corpus", "last_seen_at"))
    }
    live = _live_crystals(crystals, tally)
    found: dict[tuple[str, str], ForeignPattern] = {}
    for (kind, name), level in _levels(tables, in_text, tally).items():
        summary = pattern_reports.summary(named[name].line) if kind == "name" and name in named else ""
        crystal = live.get(name, {}) if kind == "name" else {}
        found[kind, name] = _pattern(kind, name, level, summary, records.get(name), (kind, name) in in_text, crystal)
    for name, crystal in live.items():
        if ("name", name) not in found:
            claimed = _level(crystal.get("level"), 1)
            said = foreign_values.words(crystal.get("explanation")) or ""
            summary = pattern_reports.summary(said)
            found["name", name] = _pattern("name", name, claimed or 1, summary, records.get(name), False, crystal)
            if claimed is None:
                tally.mend("crystals", "they have no readable level and count as seen once")
    names = {name for kind, name in found if kind == "name"}
    return Patterns(
        tuple(found.values()),
        _graduations(tables, names, tally),
        _grounds(tables, names, tally),
        meta.get("citations_seen") is True,
    )


def _text_lines(history: History) -> tuple[list[str], frozenset[str]]:
    text = continuity.canonical(history.continuity or "")
    return text.split("\n"), continuity.heading_lines(text, history.sections or continuity.DEFAULT_SECTIONS, "graduating")


def _level(value: object, least: int) -> int | None:
    return foreign_values.whole(value, least, pattern_lines.LEVEL_LIMIT)


def _levels(tables: Tables, in_text: Mapping[pattern_lines.Key, int], tally: Tally) -> dict[tuple[str, str], int]:
    """The level of every pattern as the store last saved it; a store that never did has those of its text (wraps.md e3)."""
    rows = tables.rows("pattern_levels", ("kind", "key", "level"))
    if not any(row[0] == "init" for row in rows):
        return {key: level for key, level in in_text.items() if key[0] != "anon" and _level(level, 1)}
    found: dict[tuple[str, str], int] = {}
    for kind, key, level in rows:
        name = foreign_values.words(key)
        if kind == "init":
            continue
        if kind not in ("name", "text") or name is None or _level(level, 1) is None:
            tally.leave_out("patterns", "their name or level is damaged")
        else:
            found.setdefault((kind, name), level)
    return found


def _live_crystals(crystals: Sequence[Mapping[str, Any]], tally: Tally) -> dict[str, Mapping[str, Any]]:
    live: dict[str, Mapping[str, Any]] = {}
    for one in crystals:
        name = foreign_values.words(one.get("name"))
        if one.get("status") == "retired":
            tally.leave_out("retired crystals", "they stand for nothing any more; the attached crystal file keeps them")
        elif one.get("status") != "crystallized" or name is None:
            tally.leave_out("crystals", "they have no name, or are neither alive nor retired")
        else:
            live[name] = one
    return live


def _pattern(
    kind: str, name: str, level: int, summary: str, record: Any, in_text: bool, crystal: Mapping[str, Any]
) -> ForeignPattern:
    _, highest, corpus, seen = record or (None, None, None, None)
    said = [one for one in (foreign_values.text(corpus) or "").split("\n") if one.strip()]
    explanation = foreign_values.words(crystal.get("explanation"))
    if explanation is not None and explanation not in said:
        said.append(explanation)
    grounded, evidence = foreign_values.moment(seen), crystal.get("evidence")
    return ForeignPattern(
        kind,
        name,
        level,
        _level(highest, 0) or 0,
        summary,
        tuple(said),
        grounded[:10] if grounded else None,
        in_text,
        tuple(foreign_values.texts([one for one in evidence if isinstance(one, str)]) or ())
        if isinstance(evidence, list)
        else (),
        foreign_values.day(crystal.get("crystallized_on")),
    )


def _graduations(tables: Tables, names: set[str], tally: Tally) -> tuple[Graduation, ...]:
    found = []
    for number, key, level, said in tables.rows("wrap_graduations", ("wrap_id", "name", "level", "explanation"), "wrap_id, name"):
        name = foreign_values.text(key)
        if name in names and isinstance(number, int) and _level(level, 1):
            found.append(Graduation(number, name, level, foreign_values.text(said)))
        else:
            tally.leave_out("graduations", "their pattern is not here, or they are damaged")
    return tuple(found)


def _grounds(tables: Tables, names: set[str], tally: Tally) -> tuple[Ground, ...]:
    columns = ("name", "level", "earned_on", "earning", "rule", "episode_id", "gone_trust")
    found = []
    for key, level, earned_on, earning, rule, episode_id, gone in tables.rows("pattern_grounding", columns):
        name, token, place = foreign_values.text(key), *_earning(earning)
        if name not in names or _level(level, pattern_reports.PROVEN) is None:
            tally.leave_out("evidence", "its pattern is not here")
        elif rule not in ("checked", "unchecked") or not isinstance(episode_id, str):
            tally.leave_out("evidence", "it is damaged")
        elif gone in GONE_OF_AGE:
            tally.leave_out("evidence", "its episode aged out, which takes nothing back")
        else:
            day = foreign_values.day(earned_on)
            if day is None:
                tally.mend("pieces of evidence", "they have no readable day and get that of the import")
            found.append(Ground(name, level, token, place, rule, episode_id, day, gone is not None))
    return tuple(found)


def _earning(value: object) -> tuple[str, int]:
    """The wrap's token and the line's number of an earning; over there lines are counted from 0."""
    token, _, place = (foreign_values.text(value) or "").rpartition(":")
    return token, int(place) + 1 if place.isascii() and place.isdigit() and len(place) < 9 else 0


# writing


def write(deed: Deed, found: Patterns, history: History, key: str, names: Mapping[str, str], covering: Mapping[int, int]) -> None:
    """Write patterns with their history and evidence; `covering` gives the wraps here by their numbers over there."""
    now, last = stamp(deed.clock.now()), max(covering.values(), default=None)
    ids: dict[str, int] = {}
    for one in found.patterns:
        pattern_id = deed.execute(
            "insert into patterns (project_key, kind, name, level, highest, summary, explanations, last_grounded_on, wrap_id, in_text,"
            " created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(key, one.kind, one.name, one.level, one.highest, one.summary, json.dumps(one.explanations, ensure_ascii=False)),
                *(one.grounded_on, last, int(one.in_text), now, now),
            ),
        ).lastrowid
        _note(deed, pattern_id, last, now, "imported", one.level, None, "its level in the store of anneal-memory")
        if one.kind == "name":
            ids[one.name] = pattern_id
        if one.level >= pattern_reports.PROVEN:
            _crystal_evidence(deed, key, pattern_id, one, names, now)
    ended = {covering[one.number]: one.ended_at or now for one in history.wraps}
    for each in found.graduations:
        if each.wrap_number in covering:
            wrap_id = covering[each.wrap_number]
            _note(deed, ids[each.name], wrap_id, ended[wrap_id], "validated", each.level, each.explanation, "earned over there")
    by_token = {one.token: covering[one.number] for one in history.wraps if one.token}
    for ground in found.grounds:
        deed.execute(
            "insert or ignore into pattern_grounding (pattern_id, level, wrap_id, line_number, rule, episode_id, earned_on, gone_at)"
            " values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(ids[ground.name], ground.level, by_token.get(ground.token), ground.line_number, ground.rule),
                *(names.get(ground.episode_id, ground.episode_id), ground.earned_on or now[:10], now if ground.gone else None),
            ),
        )
    if found.citations_seen:
        deed.execute("update projects set citations_seen = 1 where project_key = ?", (key,))


def _note(
    deed: Deed, pattern_id: int, wrap_id: int | None, at: str, judgement: str, level: int, explanation: str | None, detail: str
) -> None:
    deed.execute(
        "insert into pattern_history (pattern_id, wrap_id, at, judgement, level, explanation, detail, actor) values (?, ?, ?, ?, ?, ?, ?, ?)",
        (pattern_id, wrap_id, at, judgement, level, explanation, detail, deed.identity.actor.as_json()),
    )


def _crystal_evidence(deed: Deed, key: str, pattern_id: int, one: ForeignPattern, names: Mapping[str, str], now: str) -> None:
    """The episodes that a crystal rests on, as far as they are here."""
    for episode_id in one.crystal_evidence:
        deed.execute(
            "insert or ignore into pattern_grounding (pattern_id, level, line_number, rule, episode_id, earned_on)"
            " select ?, ?, 0, 'checked', episode_id, ? from episodes where episode_id = ? and project_key = ?",
            (pattern_id, one.level, one.crystallized_on or now[:10], names.get(episode_id, episode_id), key),
        )
