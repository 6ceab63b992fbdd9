"""The episodes of a foreign store: read, checked and renamed where an id is taken here, in the order of their times (wraps.md a2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from core import texts
from core.errors import Refusal
from core.exchange.anneal_source import AnnealSource, moment
from core.exchange.report import Tally
from core.memory.episodes import EPISODE_TYPES, normal_key_of_state
from core.store.deed import Reading

BATCH = 1_000
ID_DIGITS = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Ids:
    """Which foreign ids are new here, and under what name each is kept: its own, unless that is taken or no id at all."""

    new: frozenset[str]
    taken: frozenset[str]

    def fits(self, episode_id: str) -> bool:
        """Whether an id can be kept as it is."""
        return len(episode_id) == 8 and ID_DIGITS.issuperset(episode_id) and episode_id not in self.taken


def sort_out(reading: Reading | None, source: AnnealSource, project_key: str, renamed: dict[str, str]) -> Ids:
    """Tell the ids that are here already from new ones; `renamed` are names that earlier imports gave."""
    found = [str(row[0]) for row in source.view.all("select id from episodes")]
    if reading is None:
        return Ids(frozenset(found), frozenset())
    names = json.dumps([renamed.get(one, one) for one in found])
    known: set[str] = set()
    taken: set[str] = set()
    for table in ("episodes", "tombstones"):
        rows = reading.all(
            f"select t.episode_id, t.project_key from json_each(?) wanted cross join {table} t on t.episode_id = wanted.value",
            (names,),
        )
        for row in rows:
            (known if row["project_key"] == project_key else taken).add(row["episode_id"])
    return Ids(frozenset(one for one in found if renamed.get(one, one) not in known), frozenset(taken))


@dataclass(frozen=True, slots=True)
class ForeignEpisode:
    """An episode as it can be stored. `session` is the wrap that covers it over there, None while it waits."""

    id: str
    created_at: str
    episode_type: str
    content: str
    source: str
    session: int | None
    metadata: str | None
    state_key: str | None


def new_episodes(source: AnnealSource, ids: Ids, fallback_time: str, tally: Tally) -> Iterator[ForeignEpisode]:
    """Every new episode that can be stored, oldest first; the others are counted with their reason."""
    keys = {str(row[0]): row[1] for row in source.rows("state_keys", "episode_id, key")}
    cursor = source.view.execute(
        "select id, timestamp, type, content, source, session_id, metadata, created_at from episodes order by timestamp, id"
    )
    for row in cursor:
        episode_id = str(row[0])
        if episode_id not in ids.new:
            continue
        content = _text(row[3])
        if content is None or not content.strip():
            tally.leave_out("episodes", "their content is blank or no text")
        elif row[2] not in EPISODE_TYPES:
            tally.leave_out("episodes", "their type is unknown here")
        else:
            when = moment(row[1]) or moment(row[7])
            if when is None:
                tally.notes.append(f"episode {episode_id[:20]} has no readable time: it gets that of the import")
            metadata = _metadata(row[6], tally)
            key = _state_key(keys.get(episode_id), tally)
            yield ForeignEpisode(
                episode_id, when or fallback_time, row[2], content, _text(row[4]) or "", _session(row[5]), metadata, key
            )


def in_batches(rows: Iterator[Any], then: Callable[[list[Any]], None]) -> None:
    """Hand rows on a thousand at a time."""
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            then(batch)
            batch = []
    if batch:
        then(batch)


def _text(value: object) -> str | None:
    # a NUL is no text for any other tool: it is shown as what it is, unreadable
    return value.replace("\x00", "\ufffd") if isinstance(value, str) else None


def _session(value: object) -> int | None:
    if value is None:
        return None
    try:
        return int(str(value))
    except ValueError:
        return 0  # as SQLite's cast reads it over there: covered by the first wrap


def _metadata(value: object, tally: Tally) -> str | None:
    if not isinstance(value, str) or not value:
        return None
    try:
        if texts.depth(json.loads(value, parse_constant=_no_number)) <= texts.DEPTH_LIMIT and "\x00" not in value:
            return value
    except (ValueError, RecursionError):
        pass
    tally.leave_out("metadata", "it is no JSON that can be stored")
    return None


def _no_number(name: str) -> object:
    raise ValueError(name)


def _state_key(value: object, tally: Tally) -> str | None:
    if value is None:
        return None
    try:
        return normal_key_of_state(str(value))
    except Refusal:
        tally.leave_out("state keys", "they are no state keys here")
        return None
