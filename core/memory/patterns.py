"""Patterns as the store keeps them: levels, what was said for them, and the episodes that each rung rests on (wraps.md e3).

The level stands here and not in the text, which can only lower it. It falls again when the evidence of a rung is deleted
or loses its trust.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from core.clock import stamp
from core.memory import continuity, pattern_lines, pattern_reports
from core.memory.continuity import Section
from core.memory.graduation import TRUST_ORDER, CitableEpisode, Graduated, PatternLine, PatternRecord, Standing
from core.memory.pattern_lines import Key
from core.memory.pattern_reports import NamedLine
from core.memory.wraps import Wrap
from core.store.deed import Deed, Reading


@dataclass(frozen=True, slots=True)
class Revoked:
    """A pattern that lost rungs because the evidence they rested on failed."""

    name: str
    before: int
    level: int


# before a save


def standing(
    reading: Reading, project_key: str, wrap: Wrap, text: str, before: str | None, sections: tuple[Section, ...]
) -> Standing:
    """All that the text of a save is judged against: what may be cited, and what the store knows of the lines it names."""
    lines = text.split("\n")
    headings = continuity.heading_lines(text, sections, "graduating")
    names = {own.name for place in pattern_lines.graduating_lines(lines, headings) if (own := pattern_lines.named(lines[place]))}
    rows = reading.all(
        "select kind, name, level, highest, explanations, last_grounded_on from patterns where project_key = ?"
        " and (kind = 'text' or name in (select value from json_each(?)))",
        (project_key, json.dumps(sorted(names))),
    )
    known = rows or reading.one("select 1 from patterns where project_key = ? limit 1", (project_key,))
    records = {
        row["name"]: PatternRecord(row["highest"], tuple(json.loads(row["explanations"])), row["last_grounded_on"])
        for row in rows
        if row["kind"] == "name" and row["highest"]
    }
    earlier = before or ""
    return Standing(
        wrap_date=wrap.wrap_date or "",
        headings=headings,
        citable=_citable(reading, project_key, wrap, pattern_lines.cited_anywhere(text)),
        citations_seen=bool(reading.one("select citations_seen from projects where project_key = ?", (project_key,))[0]),
        records=records,
        saved={(row["kind"], row["name"]): row["level"] for row in rows} if known else None,
        in_text=pattern_lines.levels_of(earlier.split("\n"), continuity.heading_lines(earlier, sections, "graduating")),
    )


def _citable(reading: Reading, project_key: str, wrap: Wrap, cited: frozenset[str]) -> dict[str, CitableEpisode]:
    wanted = sorted(cited & set(wrap.episode_ids))
    rows = reading.all(
        "select e.episode_id, e.content, e.effective_trust from json_each(?) wanted cross join episodes e on e.episode_id = wanted.value"
        " where e.project_key = ? and e.wrap_id is null and e.superseded_by is null",
        (json.dumps(wanted), project_key),
    )
    return {row["episode_id"]: CitableEpisode(row["content"], row["effective_trust"]) for row in rows}


# with a save


def record(deed: Deed, project_key: str, wrap: Wrap, graduated: Graduated, known: Standing, before: dict[str, NamedLine]) -> None:
    """Keep what a save made of the patterns: levels, explanations, grounding, and a row of history for all that was judged."""
    lines = graduated.text.split("\n")
    levels = pattern_lines.levels_of(lines, known.headings)
    named = pattern_reports.named_lines(lines, known.headings)
    _leave_out(deed, project_key, wrap, levels, known, before)
    ids = {key: _set_level(deed, project_key, wrap, key, level, named) for key, level in levels.items()}
    for place in pattern_lines.graduating_lines(lines, known.headings):
        own = pattern_lines.named_with_evidence(lines[place])
        if own and own.explanation and own.date == wrap.wrap_date:
            _explained(deed, ids["name", own.name], own.level, own.explanation, wrap.wrap_date or "")
    # the line that a name's level stands on is told last, as what became of it
    for line in sorted(graduated.lines, key=lambda line: line.level):
        if line.key[0] == "name":
            _note(deed, ids[line.key], wrap, line, known.prior(line.key))
    if graduated.validated or graduated.citations:
        deed.execute("update projects set citations_seen = 1 where project_key = ? and citations_seen = 0", (project_key,))


def _set_level(deed: Deed, project_key: str, wrap: Wrap, key: Key, level: int, named: dict[str, NamedLine]) -> int:
    now = stamp(deed.clock.now())
    summary = pattern_reports.summary(named[key[1]].line) if key[0] == "name" and key[1] in named else ""
    deed.execute(
        "insert into patterns (project_key, kind, name, level, summary, wrap_id, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?)"
        " on conflict (project_key, kind, name) do update set level = excluded.level, summary = excluded.summary,"
        " wrap_id = excluded.wrap_id, in_text = 1, updated_at = excluded.updated_at",
        (project_key, key[0], key[1], level, summary, wrap.id, now, now),
    )
    row = deed.one("select id from patterns where project_key = ? and kind = ? and name = ?", (project_key, *key))
    return int(row["id"])


def _leave_out(
    deed: Deed, project_key: str, wrap: Wrap, levels: dict[Key, int], known: Standing, before: dict[str, NamedLine]
) -> None:
    """A name that the text leaves out keeps its row and history; a line without a name leaves nothing."""
    kept = json.dumps(sorted(name for kind, name in levels if kind == "text"))
    deed.execute(
        "delete from patterns where project_key = ? and kind = 'text' and name not in (select value from json_each(?))",
        (project_key, kept),
    )
    kept = json.dumps(sorted(name for kind, name in levels if kind == "name"))
    rows = deed.all(
        "select id, name, level from patterns where project_key = ? and kind = 'name' and in_text = 1"
        " and name not in (select value from json_each(?))",
        (project_key, kept),
    )
    now = stamp(deed.clock.now())
    for row in rows:
        level = min(row["level"], known.in_text.get(("name", row["name"]), row["level"]))
        deed.execute("update patterns set level = ?, in_text = 0, updated_at = ? where id = ?", (level, now, row["id"]))
        if row["name"] in before:
            why = "the saved text leaves it out; its level is kept for its return"
            _history(deed, row["id"], wrap.id, "left-out", row["level"], row["level"], level, why)


def _explained(deed: Deed, pattern_id: int, level: int, explanation: str, wrap_date: str) -> None:
    row = deed.one("select highest, explanations from patterns where id = ?", (pattern_id,))
    earlier = json.loads(row["explanations"])
    if _plain(explanation) not in {_plain(one) for one in earlier}:
        earlier.append(explanation)
    deed.execute(
        "update patterns set highest = ?, explanations = ?, last_grounded_on = ? where id = ?",
        (max(level, row["highest"]), json.dumps(earlier, ensure_ascii=False), wrap_date, pattern_id),
    )


def _plain(explanation: str) -> str:
    """An explanation as it is told apart from another: case, spacing and punctuation around it do not count."""
    return " ".join(explanation.lower().split()).strip(" .,;:!?\"'`()[]{}-–—…")


def _note(deed: Deed, pattern_id: int, wrap: Wrap, line: PatternLine, prior: int | None) -> None:
    judgement: str = line.judgement
    if judgement in ("kept", "older"):
        if line.capped:
            judgement = "level-capped"
        elif prior is None:
            judgement = "entered"
        elif line.level == prior:
            return
        else:
            judgement = "lowered"
    ids = line.grounding.episode_ids if line.grounding else line.cited
    _history(deed, pattern_id, wrap.id, judgement, line.written, prior, line.level, line.detail, line.explanation, ids)
    # the whole line rests on it: any level in it may be the rung that rose
    if line.grounding and line.level >= pattern_reports.PROVEN:
        for episode_id in line.grounding.episode_ids:
            deed.execute(
                "insert into pattern_grounding (pattern_id, level, wrap_id, line_number, rule, episode_id, earned_on)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                (pattern_id, line.level, wrap.id, line.line_number, line.grounding.rule, episode_id, wrap.wrap_date),
            )


def _history(
    deed: Deed,
    pattern_id: int,
    wrap_id: int | None,
    judgement: str,
    written: int | None,
    before: int | None,
    level: int,
    detail: str,
    explanation: str | None = None,
    episode_ids: Iterable[str] = (),
) -> None:
    deed.execute(
        "insert into pattern_history (pattern_id, wrap_id, at, judgement, written, before, level, explanation, episode_ids, detail, actor)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            pattern_id,
            wrap_id,
            stamp(deed.clock.now()),
            judgement,
            written,
            before,
            level,
            explanation,
            json.dumps(list(episode_ids)),
            detail or None,
            deed.identity.actor.as_json(),
        ),
    )


# after a restore


def restored(deed: Deed, project_key: str, text: str, sections: tuple[Section, ...], revision: int) -> None:
    """Tell which patterns stand in the continuity again after an older text was restored; no level of a name changes.

    A line without a name has no other record than its text, so it stands at the level that the store saved it with.
    """
    levels = pattern_lines.levels_of(text.split("\n"), continuity.heading_lines(text, sections, "graduating"))
    now = stamp(deed.clock.now())
    known = deed.all("select id, kind, name, level, in_text from patterns where project_key = ?", (project_key,))
    for row in known:
        present = (row["kind"], row["name"]) in levels
        if row["kind"] == "text" and not present:
            deed.execute("delete from patterns where id = ?", (row["id"],))
        elif row["kind"] == "name" and present != bool(row["in_text"]):
            deed.execute("update patterns set in_text = ?, updated_at = ? where id = ?", (int(present), now, row["id"]))
            judgement = "returned" if present else "left-out"
            why = f"revision {revision} of the continuity was restored, which {'has it' if present else 'leaves it out'}"
            _history(deed, row["id"], None, judgement, None, row["level"], row["level"], why)
    names = {(row["kind"], row["name"]) for row in known}
    for (kind, name), level in levels.items():
        if kind == "text" and (kind, name) not in names:
            deed.execute(
                "insert into patterns (project_key, kind, name, level, created_at, updated_at) values (?, 'text', ?, ?, ?, ?)",
                (project_key, name, level, now, now),
            )


# after a deletion


def evidence_gone(deed: Deed, episode_id: str) -> tuple[list[str], list[Revoked]]:
    """Lower what rested on a deleted episode: the trust of what was derived from it, and the rungs that it grounded.

    Gives the ids whose effective trust fell, and the patterns that fell. A gone source counts as external.
    """
    now = stamp(deed.clock.now())
    deed.execute("update pattern_grounding set gone_at = ? where episode_id = ? and gone_at is null", (now, episode_id))
    lowered = _lower_derived(deed, episode_id)
    rows = deed.all(
        "select distinct g.pattern_id, p.name, p.level from json_each(?) failed cross join pattern_grounding g"
        " on g.episode_id = failed.value join patterns p on p.id = g.pattern_id order by p.name",
        (json.dumps([episode_id, *lowered]),),
    )
    revoked = []
    for row in rows:
        level = _level_still_earned(deed, row["pattern_id"])
        if level is not None and level < row["level"]:
            deed.execute("update patterns set level = ?, updated_at = ? where id = ?", (level, now, row["pattern_id"]))
            why = f"the evidence of {level + 1}x was deleted or lost its trust (episode {episode_id})"
            _history(deed, row["pattern_id"], None, "revoked", None, row["level"], level, why, None, [episode_id])
            revoked.append(Revoked(row["name"], row["level"], level))
    return lowered, revoked


def _lower_derived(deed: Deed, episode_id: str) -> list[str]:
    waiting, lowered = [episode_id], []
    while waiting:
        derived = deed.all(
            "select e.episode_id, e.trust, e.effective_trust, e.derived_from from episode_sources s"
            " join episodes e on e.episode_id = s.episode_id where s.source_id = ? order by e.episode_id",
            (waiting.pop(),),
        )
        for row in derived:
            sources = deed.all(
                "select coalesce(e.effective_trust, 'external') from json_each(?) s left join episodes e on e.episode_id = s.value",
                (row["derived_from"],),
            )
            best = max((source[0] for source in sources), key=TRUST_ORDER.index)
            trust = min(row["trust"], best, key=TRUST_ORDER.index)
            if TRUST_ORDER.index(trust) < TRUST_ORDER.index(row["effective_trust"]):
                deed.execute("update episodes set effective_trust = ? where episode_id = ?", (trust, row["episode_id"]))
                lowered.append(row["episode_id"])
                waiting.append(row["episode_id"])
    return lowered


def _level_still_earned(deed: Deed, pattern_id: int) -> int | None:
    """The level below the lowest rung of which every earning failed; None when none did.

    An earning whose explanation was compared fails when all its episodes are gone or below agent; one that was not
    compared, when any is.
    """
    rows = deed.all(
        "select g.level, g.wrap_id, g.line_number, g.rule, g.gone_at, e.effective_trust from pattern_grounding g"
        " left join episodes e on e.episode_id = g.episode_id where g.pattern_id = ?",
        (pattern_id,),
    )
    earnings: dict[int, dict[tuple[Any, ...], list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        trusted = row["effective_trust"] in TRUST_ORDER[TRUST_ORDER.index("agent") :]
        failed = row["gone_at"] is not None or not trusted
        earnings[row["level"]][row["wrap_id"], row["line_number"], row["rule"]].append(failed)
    for level in sorted(earnings):
        if all((all if earning[2] == "checked" else any)(failed) for earning, failed in earnings[level].items()):
            return level - 1
    return None
