"""The episodes of a foreign store with their links and tombstones: read and checked, told apart from what is here, and written (wraps.md a2)."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from core import texts
from core.clock import stamp
from core.errors import Refusal
from core.exchange import foreign_values
from core.exchange.anneal_tables import Tables
from core.exchange.report import Tally
from core.memory.episodes import EPISODE_TYPES, TRUST_LEVELS, normal_key_of_state, refresh_superseded
from core.store.deed import Deed, Reading

Progress = Callable[[int, int], None]
BATCH = 2_000
"""Episodes between two words about how far the work is."""
ID_DIGITS = frozenset("0123456789abcdef")
LINKS, GRAVES = "links between old and new", "deleted episodes"


@dataclass(frozen=True, slots=True)
class ForeignEpisode:
    """An episode as it can be stored. `created_at` is None when its time cannot be read; `session` is the wrap that covers it over
    there, None while it waits; `sources` are the foreign ids of what it is derived from.
    """

    id: str
    created_at: str | None
    episode_type: str
    content: str
    source: str
    session: int | None
    metadata: str | None
    state_key: str | None
    trust: str
    effective_trust: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForeignLink:
    """A link from an episode to the one that supersedes it, by their foreign ids."""

    old: str
    new: str
    created_at: str | None


@dataclass(frozen=True, slots=True)
class ForeignGrave:
    """What is left of a deleted episode: over there only a keyed hash is kept, which says itself that it is one."""

    id: str
    created_at: str | None
    episode_type: str
    content_hash: str
    removed_at: str | None


# reading


def read(tables: Tables, tally: Tally, progress: Progress | None) -> tuple[ForeignEpisode, ...]:
    """Every episode that can be stored, oldest first; the others are counted with their reason."""
    keys = {row[0]: row[1] for row in tables.rows("state_keys", ("episode_id", "key"))}
    own, effective, sources = _trust(tables)
    columns = ("id", "timestamp", "type", "content", "source", "session_id", "metadata", "created_at")
    rows = tables.rows("episodes", columns, "timestamp, id")
    found: list[ForeignEpisode] = []
    seen: set[str] = set()
    for number, (episode_id, timestamp, kind, content, source, session, metadata, created) in enumerate(rows):
        if progress and number % BATCH == 0:
            progress(number, len(rows))
        said = foreign_values.words(content)
        if not isinstance(episode_id, str) or episode_id in seen:
            tally.leave_out("episodes", "their id is no text, or there twice")
        elif said is None:
            tally.leave_out("episodes", "their content is blank or no text")
        elif kind not in EPISODE_TYPES:
            tally.leave_out("episodes", "their type is unknown here")
        else:
            seen.add(episode_id)
            when = foreign_values.moment(timestamp) or foreign_values.moment(created)
            if when is None:
                tally.mend("episodes", "they have no readable time and get that of the import")
            found.append(
                ForeignEpisode(
                    episode_id,
                    when,
                    kind,
                    said,
                    foreign_values.text(source) or "",
                    _session(session),
                    _metadata(metadata, tally) if metadata is not None else None,
                    _state_key(keys[episode_id], tally) if episode_id in keys else None,
                    own.get(episode_id, "agent"),
                    effective.get(episode_id, "agent"),
                    tuple(sources.get(episode_id, ())),
                )
            )
    return tuple(found)


def _trust(tables: Tables) -> tuple[dict[str, str], dict[str, str], dict[str, list[str]]]:
    """Trust by id where it is not `agent`; effective trust, where that differs from `agent`; and the sources of each derived one.

    The effective trust is the lower of an episode's own and its best source's, through all levels (wraps.md a2): the
    greatest fixed point, so the order does not matter. A source that is gone counts as what it was marked with, else external.
    """
    own = {row[0]: row[1] for row in tables.rows("episode_trust", ("episode_id", "trust")) if row[1] in TRUST_LEVELS}
    edges = tables.rows("episode_derived", ("episode_id", "source_id", "gone_trust"), "episode_id, source_id")
    sources: dict[str, list[str]] = {}
    fixed: dict[tuple[str, str], str] = {}
    live = {row[0] for row in tables.rows("episodes", ("id",))} if edges else set()
    dependents: dict[str, list[str]] = {}
    for episode_id, source_id, gone in edges:
        if not isinstance(episode_id, str) or not isinstance(source_id, str):
            continue
        sources.setdefault(episode_id, []).append(source_id)
        dependents.setdefault(source_id, []).append(episode_id)
        if gone in TRUST_LEVELS or source_id not in live:
            fixed[episode_id, source_id] = gone if gone in TRUST_LEVELS else "external"
    effective = dict(own)
    waiting = list(sources)
    while waiting:
        one = waiting.pop()
        given = [fixed.get((one, source)) or effective.get(source, "agent") for source in sources.get(one, ())]
        best = max(given, key=TRUST_LEVELS.index, default="operator")
        now = min(own.get(one, "agent"), best, key=TRUST_LEVELS.index)
        if now != effective.get(one, "agent"):
            effective[one] = now
            waiting += dependents.get(one, ())
    return own, effective, sources


def _session(value: object) -> int | None:
    if value is None:
        return None
    try:
        return int(str(value))
    except ValueError:
        return 0  # as SQLite's cast reads it over there: covered by the first wrap


def _metadata(value: object, tally: Tally) -> str | None:
    if isinstance(value, str) and value and "\x00" not in value:
        try:
            if texts.depth(json.loads(value, parse_constant=_no_number)) <= texts.DEPTH_LIMIT:
                return value
        except (ValueError, RecursionError):
            pass
    if value != "":
        tally.leave_out("metadata", "it is no JSON that can be stored")
    return None


def _no_number(name: str) -> object:
    raise ValueError(name)


def _state_key(value: object, tally: Tally) -> str | None:
    try:
        return normal_key_of_state(str(value))
    except Refusal:
        tally.leave_out("state keys", "they are no state keys here")
        return None


def read_links(tables: Tables, episodes: Sequence[ForeignEpisode], tally: Tally) -> tuple[ForeignLink, ...]:
    """Every link whose two episodes are there and that leads from an older one to a newer one; no way leads back (wraps.md a2)."""
    times = {one.id: one.created_at or "" for one in episodes}
    rows = tables.rows("supersessions", ("old_id", "new_id", "recorded_at"), "recorded_at, old_id, new_id")
    found: dict[tuple[str, str], ForeignLink] = {}
    same_time: dict[str, list[str]] = {}
    for old, new, when in rows:
        if old not in times or new not in times:
            tally.leave_out(LINKS, "an episode that they join is not imported, or gone")
        elif times[new] < times[old] or old == new or (times[old] == times[new] and _leads(same_time, new, old)):
            tally.leave_out(LINKS, "they lead to an older episode, or round in a circle")
        else:
            found[old, new] = ForeignLink(old, new, foreign_values.moment(when))
            if times[old] == times[new]:
                same_time.setdefault(old, []).append(new)
    return tuple(found.values())


def _leads(steps: Mapping[str, list[str]], start: str, end: str) -> bool:
    waiting, seen = [start], {start}
    while waiting:
        fresh = [one for one in steps.get(waiting.pop(), ()) if one not in seen]
        if end in fresh:
            return True
        seen.update(fresh)
        waiting += fresh
    return False


def read_graves(tables: Tables, episodes: Sequence[ForeignEpisode], tally: Tally) -> tuple[ForeignGrave, ...]:
    """Every tombstone whose id names no living episode: over there an id may be given again (wraps.md a2)."""
    alive = {one.id for one in episodes}
    found: dict[str, ForeignGrave] = {}
    for episode_id, timestamp, kind, content_hash, removed in tables.rows(
        "tombstones", ("id", "timestamp", "type", "content_hash", "pruned_at"), "pruned_at, id"
    ):
        name = foreign_values.words(episode_id)
        if name is None or name in found:
            tally.leave_out(GRAVES, "their id is no text, or there twice")
        elif name in alive:
            tally.leave_out(GRAVES, "their id is in use again")
        else:
            found[name] = ForeignGrave(
                name,
                foreign_values.moment(timestamp),
                foreign_values.text(kind) or "",
                foreign_values.text(content_hash) or "",
                foreign_values.moment(removed),
            )
    return tuple(found.values())


# beside what is here


@dataclass(frozen=True, slots=True)
class Ids:
    """Foreign ids beside those of this store: which are new, which live in the project, and which names are taken by other projects."""

    new: frozenset[str]
    alive: frozenset[str]
    taken: frozenset[str]

    def fits(self, episode_id: str) -> bool:
        """Whether a new id can be kept as it is: over there it may be anything."""
        return len(episode_id) == 8 and ID_DIGITS.issuperset(episode_id) and episode_id not in self.taken


def sort_out(reading: Reading | None, found: Sequence[str], project_key: str, renamed: Mapping[str, str]) -> Ids:
    """Tell foreign ids that are here already from new ones; `renamed` are names that earlier imports gave."""
    if reading is None:
        return Ids(frozenset(found), frozenset(), frozenset())
    names = json.dumps([renamed.get(one, one) for one in found])
    here: dict[str, set[str]] = {}
    taken: set[str] = set()
    for table in ("episodes", "tombstones"):
        rows = reading.all(
            f"select t.episode_id, t.project_key from json_each(?) wanted cross join {table} t on t.episode_id = wanted.value",
            (names,),
        )
        here[table] = {row[0] for row in rows if row[1] == project_key}
        taken |= {row[0] for row in rows if row[1] != project_key}
    known = here["episodes"] | here["tombstones"]
    return Ids(
        frozenset(one for one in found if renamed.get(one, one) not in known),
        frozenset(one for one in found if renamed.get(one, one) in here["episodes"]),
        frozenset(taken),
    )


def new_links(
    reading: Reading | None, links: Sequence[ForeignLink], ids: Ids, project_key: str, names: Mapping[str, str]
) -> list[ForeignLink]:
    """The links that the project does not have, and whose episodes it has or is about to get."""
    if reading is None or not links:
        return list(links)
    rows = reading.all("select old_id, new_id from supersessions where project_key = ?", (project_key,))
    here = {(row[0], row[1]) for row in rows}
    there = ids.new | ids.alive
    return [
        one
        for one in links
        if one.old in there and one.new in there and (names.get(one.old, one.old), names.get(one.new, one.new)) not in here
    ]


def covered_by(session: int | None, covering: Mapping[int, int]) -> int | None:
    """The wrap here that covers an episode: none while it waits, else its own, or the next one when that is not there (wraps.md a2)."""
    if session is None or not covering:
        return None
    if session in covering:
        return covering[session]
    numbers = list(covering)
    place = bisect_left(numbers, session)
    return covering[numbers[place]] if place < len(numbers) else None


# writing


def write(
    deed: Deed,
    key: str,
    found: Sequence[ForeignEpisode],
    names: Mapping[str, str],
    covering: Mapping[int, int],
    progress: Progress | None,
) -> dict[int, list[str]]:
    """Write episodes in their order; gives the ids that each wrap covers."""
    now = stamp(deed.clock.now())
    columns = (
        *("episode_id", "project_key", "created_at", "episode_type", "content", "source", "trust", "effective_trust"),
        *("metadata", "derived_from", "state_key", "wrap_id"),
    )
    frozen: dict[int, list[str]] = {wrap_id: [] for wrap_id in covering.values()}

    def row(one: ForeignEpisode) -> tuple[Any, ...]:
        episode_id, wrap_id = names.get(one.id, one.id), covered_by(one.session, covering)
        if wrap_id is not None:
            frozen[wrap_id].append(episode_id)
        derived = json.dumps([names.get(each, each) for each in one.sources]) if one.sources else "[]"
        return (
            *(episode_id, key, one.created_at or now, one.episode_type, one.content, one.source, one.trust, one.effective_trust),
            *(one.metadata, derived, one.state_key, wrap_id),
        )

    for start in range(0, len(found), BATCH):
        if progress:
            progress(start, len(found))
        deed.transaction.insert("episodes", columns, [row(one) for one in found[start : start + BATCH]])
    if progress:
        progress(len(found), len(found))
    return frozen


def write_links(deed: Deed, key: str, links: Sequence[ForeignLink], names: Mapping[str, str]) -> None:
    """Write links, and hide what they and the state keys of the project supersede."""
    now = stamp(deed.clock.now())
    rows = [(names.get(one.old, one.old), names.get(one.new, one.new), key, one.created_at or now) for one in links]
    deed.transaction.insert("supersessions", ("old_id", "new_id", "project_key", "created_at"), rows)
    holders = deed.all(
        "select episode_id, state_key from episodes where project_key = ? and state_key is not null order by state_key, id",
        (key,),
    )
    replaced = [older[0] for older, newer in pairwise(holders) if older[1] == newer[1]]
    refresh_superseded(deed, dict.fromkeys([*(row[0] for row in rows), *replaced]))


def write_graves(deed: Deed, key: str, graves: Sequence[ForeignGrave]) -> None:
    """Write tombstones; the keyed hash stands where ours is."""
    now, actor = stamp(deed.clock.now()), deed.identity.actor.as_json()
    columns = (
        *("episode_id", "project_key", "created_at", "episode_type", "source", "trust", "content_sha256", "characters"),
        *("removed_at", "removed_by"),
    )
    rows = [
        (one.id, key, one.created_at or now, one.episode_type, "", "agent", one.content_hash, 0, one.removed_at or now, actor)
        for one in graves
    ]
    deed.transaction.insert("tombstones", columns, rows)
