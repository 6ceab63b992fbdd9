"""What an import takes once: schema, wraps, continuity, patterns and their evidence, gate, baton, the open wrap (wraps.md a3 to a8, e3)."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from core import projects
from core.clock import parse_stamp, stamp
from core.errors import Refusal
from core.exchange.anneal_source import AnnealSource, OpenWrap, moment
from core.exchange.report import Tally
from core.memory import continuity, pattern_lines, pattern_reports, section_schemas
from core.memory.loops import LoopType, Tier
from core.memory.wraps import seal_of
from core.store.deed import Deed, Reading
from core.texts import TOKEN_SHAPE

LEVELS = range(1, pattern_lines.LEVEL_LIMIT + 1)


def count(source: AnnealSource, tally: Tally) -> None:
    """Count what a first import takes."""
    found = {
        "wraps": source.count("wraps"),
        "continuity": int(source.continuity is not None and bool(source.continuity.strip())),
        "patterns": len(_levels(source)) + len(_only_crystals(source)),
        "open wrap": int(source.open_wrap() is not None),
        "baton": int(_baton(source) is not None),
    }
    tally.found |= found
    tally.imported.update(found)
    retired = sum(one.get("status") == "retired" for one in source.crystals)
    tally.leave_out("retired crystals", "they stand for nothing any more; the attached crystal file keeps them", retired)
    wrap = source.open_wrap()
    if wrap is not None and not _usable(wrap):
        tally.notes.append("its wrap is in a partial state: it is imported as such, and wrap_cancel with partial=true clears it")


# before the episodes


def completed_wraps(deed: Deed, source: AnnealSource, key: str) -> dict[int, int]:
    """Write the schema and the completed wraps; gives each foreign wrap's number its row here, by which episodes are covered."""
    _set_schema(deed, source, key)
    rows = source.rows("wraps", "id, wrapped_at, episodes_compressed, continuity_chars", "order by id")
    tokens = _tokens(source, rows)
    covering: dict[int, int] = {}
    actor = deed.identity.actor.as_json()
    for generation, row in enumerate(rows, 1):
        ended = moment(row[1]) or stamp(deed.clock.now())
        token = tokens.get(row[0])
        told = (source.trail.started or {}).get(token or "", {})
        wrap_id = deed.execute(
            "insert into wraps (project_key, generation, wrap_token, token_origin, started_at, ended_at, ended_by, ended_reason)"
            " values (?, ?, ?, 'minted', ?, ?, ?, 'imported from anneal-memory')",
            (key, generation, token, moment(told.get("ts")) or ended, ended, actor),
        ).lastrowid
        deed.execute("update wraps set outcome = 'saved' where id = ?", (wrap_id,))  # the counter counts this change
        covering[row[0]] = wrap_id
        deed.append(
            "wrap_completed",
            project_key=key,
            subject=f"wrap:{wrap_id}",
            data={
                "wrap_id": wrap_id,
                "generation": generation,
                "wrap_token_start": token[:8] if token else None,
                "episodes_compressed": row[2],
                "continuity_chars": row[3],
                "imported": True,
                "wrapped_at": ended,
            },
        )
    deed.execute("update projects set generation = ? where project_key = ?", (len(rows), key))
    return covering


def covered_by(session: int | None, covering: Mapping[int, int]) -> int | None:
    """The wrap here that covers an episode: none while it waits, else its own, or the next one when that is not there (wraps.md a2)."""
    if session is None or not covering:
        return None
    if session in covering:
        return covering[session]
    numbers = list(covering)
    place = bisect_left(numbers, session)
    return covering[numbers[place]] if place < len(numbers) else None


def _set_schema(deed: Deed, source: AnnealSource, key: str) -> None:
    found = _sections(source.metadata.get("section_schema", ""))
    if found is not None:
        section_schemas.set_section_schema(deed, project_key=key, schema=found)


def _sections(text: str) -> list[dict[str, Any]] | None:
    """A stored schema that this store can follow; None leaves the default one."""
    try:
        found = json.loads(text)
        wanted = [{name: one[name] for name in ("heading", "role", "optional") if name in one} for one in found]
        section_schemas.sections_wanted(wanted)
    except (ValueError, TypeError, KeyError, RecursionError, Refusal):
        return None
    return wanted


def _tokens(source: AnnealSource, rows: list[Any]) -> dict[int, str]:
    """The token of each completed wrap, as far as the foreign trail tells: its last entries belong to the last wraps."""
    tokens: dict[int, str] = {}
    for row, told in zip(reversed(rows), reversed(source.trail.completed), strict=False):
        token = told.get("wrap_token")
        if told.get("episodes_compressed") != row[2]:
            break
        if isinstance(token, str) and TOKEN_SHAPE.fullmatch(token):
            tokens[row[0]] = token
    return tokens


# after them


def after_episodes(
    deed: Deed, source: AnnealSource, key: str, names: Mapping[str, str], covering: Mapping[int, int], tally: Tally
) -> None:
    """Write what refers to episodes: the frozen lists, continuity, patterns, gate and baton, and the open wrap last."""
    for wrap_id in covering.values():
        deed.execute(
            "update wraps set episode_ids = (select json_group_array(episode_id) from (select episode_id from episodes"
            " where project_key = ? and wrap_id = wraps.id order by id)) where id = ?",
            (key, wrap_id),
        )
    last = max(covering.values(), default=None)
    revision = _continuity(deed, source, key, last)
    _patterns(deed, source, key, names, covering, tally)
    _gate_and_baton(deed, source, key)
    wrap = source.open_wrap()
    if wrap is not None:
        _open_wrap(deed, source, key, wrap, names, revision)


def _continuity(deed: Deed, source: AnnealSource, key: str, wrap_id: int | None) -> int:
    text = (source.continuity or "").replace("\x00", "\ufffd")
    if not text.strip():
        return 0
    digest, now = hashlib.sha256(text.encode()).hexdigest(), stamp(deed.clock.now())
    deed.execute(
        "insert into continuity (project_key, revision, text, sha256, wrap_id, created_at) values (?, 1, ?, ?, ?, ?)",
        (key, text, digest, wrap_id, now),
    )
    deed.execute("update wraps set continuity_revision = 1 where id = ?", (wrap_id,))
    deed.append(
        "continuity_saved",
        project_key=key,
        subject=f"wrap:{wrap_id}" if wrap_id else f"project:{key}",
        data={"revision": 1, "chars": len(text), "content_hash": digest, "imported": True},
    )
    return 1


def _gate_and_baton(deed: Deed, source: AnnealSource, key: str) -> None:
    if source.metadata.get("consolidate_requires_baton", "0") not in ("", "0"):
        projects.set_gate(deed, project_key=key, gate="required")
    held = _baton(source)
    if held is None:
        return
    session_id, claimed, previous = held
    deed.execute(
        "insert into batons (project_key, session_id, claimed_at, previous_holder) values (?, ?, ?, ?)",
        (key, session_id, claimed or stamp(deed.clock.now()), previous),
    )
    deed.append(
        "baton_claimed",
        project_key=key,
        subject=f"project:{key}",
        data={"session_id": session_id, "was": previous, "imported": True},
    )


def _baton(source: AnnealSource) -> tuple[str, str | None, str | None] | None:
    found = source.baton or {}
    session_id, claimed, previous = found.get("session_id"), found.get("claimed_at"), found.get("previous_holder")
    if not isinstance(session_id, str) or not session_id.strip() or "\x00" in session_id:
        return None
    try:
        when = stamp(datetime.fromtimestamp(float(claimed), UTC)) if isinstance(claimed, int | float) else None
    except (ValueError, OverflowError, OSError):
        when = None
    return session_id, when, previous if isinstance(previous, str) else None


def _usable(wrap: OpenWrap) -> bool:
    return wrap.coherent and bool(TOKEN_SHAPE.fullmatch(wrap.token)) and parse_stamp(wrap.started_at) is not None


def _open_wrap(deed: Deed, source: AnnealSource, key: str, wrap: OpenWrap, names: Mapping[str, str], revision: int) -> None:
    """The wrap that is open over there is open here, under the same token; a partial one stays partial (wraps.md a4, room.md 2.9).

    No connection of ours opened it, so nothing is known of its holder, and nobody may call it dead.
    """
    usable = _usable(wrap)
    ids = [names.get(one, one) for one in wrap.ids or []]
    project = projects.find(deed.transaction, key)
    listed = _sections(wrap.section_schema)
    sections = section_schemas.sections_wanted(listed) if listed else section_schemas.of_project(project)
    started = parse_stamp(wrap.started_at)
    day = wrap.wrap_date or (started.astimezone().date().isoformat() if started else None)
    bound = bool(wrap.token) and wrap.bound_token == wrap.token
    values: dict[str, Any] = {
        "project_key": key,
        "generation": project.generation + 1,
        "wrap_token": wrap.token or None,
        "token_origin": "caller" if bound else "minted",
        "started_at": stamp(started) if started else wrap.started_at or None,
        "episode_ids": json.dumps(ids, separators=(",", ":")) if usable else wrap.episode_ids,
        "section_schema": continuity.frozen_schema(sections),
        "gated_session": wrap.gated_session or None,
        "wrap_date": day,
        "connection_id": None,
    }
    names_of = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    wrap_id = deed.execute(
        f"insert into wraps ({names_of}, seal, prepared_revision) values ({marks}, :seal, :prepared_revision)",
        {**values, "seal": seal_of(values) if usable else None, "prepared_revision": revision},
    ).lastrowid
    deed.execute("update projects set generation = generation + 1 where project_key = ?", (key,))
    deed.append(
        "wrap_started",
        project_key=key,
        subject=f"wrap:{wrap_id}",
        data={
            "wrap_id": wrap_id,
            "generation": values["generation"],
            "wrap_token_start": wrap.token[:8],
            "wrap_token_bound": bound,
            "wrap_gated_session": values["gated_session"],
            "wrap_section_schema": json.loads(values["section_schema"]),
            "wrap_date": day,
            "wrap_episode_count": len(ids),
            "wrap_episode_ids": ids,
            "imported": True,
            **({} if usable else {"partial_state": True}),
        },
    )


# patterns


def _levels(source: AnnealSource) -> dict[tuple[str, str], int]:
    """The level of every pattern as the store last saved it; a store that never did has those of its text (wraps.md e3)."""
    rows = source.rows("pattern_levels", "kind, key, level")
    if any(row[0] == "init" for row in rows):
        return {(row[0], str(row[1])): row[2] for row in rows if row[0] in ("name", "text") and row[2] in LEVELS}
    found = pattern_lines.levels_of(*_text_lines(source))
    return {key: level for key, level in found.items() if level in LEVELS and key[0] != "anon"}


def _text_lines(source: AnnealSource) -> tuple[list[str], frozenset[str]]:
    text = continuity.canonical(source.continuity or "")
    listed = _sections(source.metadata.get("section_schema", ""))
    sections = section_schemas.sections_wanted(listed) if listed else continuity.DEFAULT_SECTIONS
    return text.split("\n"), continuity.heading_lines(text, sections, "graduating")


def _only_crystals(source: AnnealSource) -> list[dict[str, Any]]:
    levels = _levels(source)
    return [one for one in _live_crystals(source) if ("name", one["name"]) not in levels]


def _live_crystals(source: AnnealSource) -> list[dict[str, Any]]:
    found = [
        one
        for one in source.crystals
        if one.get("status") == "crystallized"
        and isinstance(one.get("name"), str)
        and one["name"].strip()
        and "\x00" not in one["name"]
    ]
    return list({one["name"]: one for one in found}.values())


def _patterns(
    deed: Deed, source: AnnealSource, key: str, names: Mapping[str, str], covering: Mapping[int, int], tally: Tally
) -> None:
    lines, headings = _text_lines(source)
    in_text = pattern_lines.levels_of(lines, headings)
    named = pattern_reports.named_lines(lines, headings)
    last = max(covering.values(), default=None)
    records = {
        str(row[0]): row
        for row in source.rows("pattern_history", "pattern_name, max_level_reached, explanation_corpus, last_seen_at")
    }
    ids: dict[str, int] = {}
    for (kind, name), level in _levels(source).items():
        record = records.get(name) if kind == "name" else None
        summary = pattern_reports.summary(named[name].line) if name in named else ""
        here = int((kind, name) in in_text)
        pattern_id = _pattern(deed, key, kind, name, level, summary, record, last, here)
        if kind == "name":
            ids[name] = pattern_id
    for one in _only_crystals(source):
        claimed = one.get("level")
        rung = claimed if isinstance(claimed, int) and claimed in LEVELS else 1
        ids[one["name"]] = _pattern(deed, key, "name", one["name"], rung, _words(one), records.get(one["name"]), last, 0)
    for one in _live_crystals(source):
        _crystal_evidence(deed, key, ids[one["name"]], one, names)
    _grounding(deed, source, key, ids, names, covering, tally)
    _graduations(deed, source, ids, covering)
    if source.meta.get("citations_seen") is True:
        deed.execute("update projects set citations_seen = 1 where project_key = ?", (key,))


def _words(crystal: Mapping[str, Any]) -> str:
    said = crystal.get("explanation")
    return pattern_reports.summary(said.replace("\x00", "\ufffd")) if isinstance(said, str) else ""


def _pattern(
    deed: Deed, key: str, kind: str, name: str, level: int, summary: str, record: Any, wrap_id: int | None, in_text: int
) -> int:
    now = stamp(deed.clock.now())
    highest = record[1] if record is not None and record[1] in LEVELS else 0
    said = [one for one in str(record[2] or "").split("\n") if one.strip()] if record is not None else []
    grounded = moment(record[3]) if record is not None else None
    pattern_id = deed.execute(
        "insert into patterns (project_key, kind, name, level, highest, summary, explanations, last_grounded_on, wrap_id, in_text,"
        " created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(key, kind, name.replace("\x00", "\ufffd"), level, highest, summary, json.dumps(said, ensure_ascii=False)),
            *(grounded[:10] if grounded else None, wrap_id, in_text, now, now),
        ),
    ).lastrowid
    _history(deed, pattern_id, wrap_id, now, "imported", level, None, "its level in the store of anneal-memory")
    return int(pattern_id)


def _history(
    deed: Deed, pattern_id: int, wrap_id: int | None, at: str, judgement: str, level: int, explanation: str | None, detail: str
) -> None:
    deed.execute(
        "insert into pattern_history (pattern_id, wrap_id, at, judgement, level, explanation, detail, actor) values (?, ?, ?, ?, ?, ?, ?, ?)",
        (pattern_id, wrap_id, at, judgement, level, explanation, detail, deed.identity.actor.as_json()),
    )


def _graduations(deed: Deed, source: AnnealSource, ids: Mapping[str, int], covering: Mapping[int, int]) -> None:
    when = {row[0]: moment(row[1]) for row in source.rows("wraps", "id, wrapped_at")}
    for number, name, level, said in source.rows(
        "wrap_graduations", "wrap_id, name, level, explanation", "order by wrap_id, name"
    ):
        if str(name) in ids and level in LEVELS and number in covering:
            at = when.get(number) or stamp(deed.clock.now())
            said = said.replace("\x00", "\ufffd") if isinstance(said, str) else None
            _history(deed, ids[str(name)], covering[number], at, "validated", level, said, "earned over there")


def _grounding(
    deed: Deed,
    source: AnnealSource,
    key: str,
    ids: Mapping[str, int],
    names: Mapping[str, str],
    covering: Mapping[int, int],
    tally: Tally,
) -> None:
    rows = source.rows("pattern_grounding", "name, level, earned_on, earning, rule, episode_id, gone_trust", "order by rowid")
    by_token = {
        token: covering[number]
        for number, token in _tokens(source, source.rows("wraps", "id, wrapped_at, episodes_compressed", "order by id")).items()
    }
    now = stamp(deed.clock.now())
    for name, level, earned_on, earning, rule, episode_id, gone in rows:
        token, _, place = str(earning).rpartition(":")
        if str(name) not in ids or level not in LEVELS or level < pattern_reports.PROVEN or rule not in ("checked", "unchecked"):
            tally.leave_out("evidence", "its pattern is not here")
        elif gone in ("agent", "operator"):
            tally.leave_out("evidence", "its episode aged out, which takes nothing back")
        else:
            deed.execute(
                "insert or ignore into pattern_grounding (pattern_id, level, wrap_id, line_number, rule, episode_id, earned_on, gone_at)"
                " values (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(
                        ids[str(name)],
                        level,
                        by_token.get(token),
                        int(place) + 1 if place.isdecimal() and len(place) < 9 else 0,
                        rule,
                    ),
                    *(names.get(str(episode_id), str(episode_id)), str(earned_on)[:10], now if gone else None),
                ),
            )


def _crystal_evidence(deed: Deed, key: str, pattern_id: int, crystal: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """A crystal's explanation and the episodes that it rests on, as far as they are here."""
    row = deed.one("select level, explanations from patterns where id = ?", (pattern_id,))
    said, known = crystal.get("explanation"), json.loads(row["explanations"])
    if isinstance(said, str) and said.strip() and said not in known:
        told = json.dumps([*known, said.replace("\x00", "\ufffd")], ensure_ascii=False)
        deed.execute("update patterns set explanations = ? where id = ?", (told, pattern_id))
    evidence = crystal.get("evidence")
    for one in evidence if isinstance(evidence, list) and row["level"] >= pattern_reports.PROVEN else ():
        deed.execute(
            "insert or ignore into pattern_grounding (pattern_id, level, line_number, rule, episode_id, earned_on)"
            " select ?, ?, 0, 'checked', episode_id, ? from episodes where episode_id = ? and project_key = ?",
            (pattern_id, row["level"], str(crystal.get("crystallized_on"))[:10], names.get(str(one), str(one)), key),
        )


# open loops


def new_loops(reading: Reading | None, source: AnnealSource, key: str) -> list[dict[str, Any]]:
    """The open loops that keep the rules of one and are not here yet."""
    here: set[str] = set()
    if reading is not None:
        for row in reading.all("select spore_id, origin_key from spores where project_key = ?", (key,)):
            here |= {row[0], f"origin:{row[1]}"}
    found = []
    for one in source.spores:
        if not _is_loop(one) or one["id"] in here or f"origin:{one.get('origin_key')}" in here:
            continue
        here |= {one["id"], f"origin:{one.get('origin_key') or one['id']}"}
        found.append(one)
    return found


def _is_loop(one: Mapping[str, Any]) -> bool:
    texts = (one.get("id"), one.get("type"), one.get("text"), one.get("status"))
    if not all(isinstance(value, str) and value.strip() and "\x00" not in value for value in texts):
        return False
    end = one.get("resolution") or {}
    fits = isinstance(end, dict) and (not end or end.get("direction") in ("descend", "ascend"))
    if one["status"] == "resolved":
        fits = fits and bool(end.get("kind")) and (end.get("direction") != "ascend" or bool(end.get("ref")))
    return (
        fits
        and one["type"] in get_args(LoopType)
        and one["status"] in ("open", "resolved")
        and (one["status"] == "resolved") == bool(end)
    )


def write_loops(deed: Deed, key: str, loops: list[dict[str, Any]]) -> int:
    """Write open loops and their notes, and give how many."""
    now, actor = stamp(deed.clock.now()), deed.identity.actor.as_json()
    for one in loops:
        end = one.get("resolution") or {}
        created = _day(one.get("created")) or now[:10]
        salience = one.get("salience")
        deed.execute(
            "insert into spores (spore_id, project_key, type, text, domain, tier, salience, seen, next, pointer, created, status, direction,"
            " kind, ref, resolved_on, resolved_at, origin_key) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(one["id"], key, one["type"], one["text"], _plain(one.get("domain")) or ""),
                one["tier"] if one.get("tier") in get_args(Tier) else "warm",
                min(3, max(0, salience)) if isinstance(salience, int) else 0,
                *(_day(one.get("seen")) or created, _day(one.get("next")), _plain(one.get("pointer")), created, one["status"]),
                *(end.get("direction"), _plain(end.get("kind")), _plain(end.get("ref"))),
                *((_day(end.get("on")) or created, moment(end.get("at")) or now) if end else (None, None)),
                _plain(one.get("origin_key")) or deed.ids.unique().replace("-", ""),
            ),
        )
        notes = one.get("notes")
        for note in notes if isinstance(notes, list) else ():
            if isinstance(note, str) and note.strip():
                deed.execute(
                    "insert into spore_notes (project_key, spore_id, text, noted_on, actor, created_at) values (?, ?, ?, ?, ?, ?)",
                    (key, one["id"], note.replace("\x00", "\ufffd"), _day(one.get("seen")) or created, actor, now),
                )
    return len(loops)


def _plain(value: object) -> str | None:
    return value.replace("\x00", "\ufffd") if isinstance(value, str) and value.strip() else None


def _day(value: object) -> str | None:
    found = parse_stamp(value[:10]) if isinstance(value, str) else None
    return found.date().isoformat() if found else None
