"""Episodes as an operator sees them: a page of a project's, a search, and one whole (console.md, screen 6).

`page` and `search` give the same rows; `episode` gives one with all that hangs on it, a deleted one by its tombstone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Any, Literal

from core import projects
from core.actors import Actor
from core.life import connections
from core.memory import wraps
from core.memory.recall import json_or_text, newest_replacement, recall
from core.store.deed import Reading
from core.views.holders import Holder, holder_of
from core.views.trail import TrailRow, rows_about
from core.views.wraps import WrapState, state_of

EPISODES_SHOWN = 200
BEGINNING = 300
"""Characters of a content that a list has."""
NEIGHBOURS_SHOWN = 200
WRAPS_SHOWN = 50

Before = tuple[int, str, str]
"""Where a page ends: the lowest row number seen so far, and time and id of the last deleted episode."""
START: Before = (2**62, "~", "")

_COLUMNS = (
    "e.id as number, e.episode_id, e.project_key, e.created_at, e.episode_type, e.source, e.trust, e.effective_trust, e.state_key,"
    f" e.superseded_by, e.wrap_id, null as deleted_at, substr(e.content, 1, {BEGINNING}) as beginning, length(e.content) as characters"
)
_TOMBSTONE_COLUMNS = (
    "null as number, episode_id, project_key, created_at, episode_type, source, trust, trust as effective_trust, null as state_key,"
    " null as superseded_by, null as wrap_id, removed_at as deleted_at, '' as beginning, characters"
)


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode in a list. `beginning` is cut, and empty for a deleted one, of which only the length is known.

    `covered_by` is the saved wrap that has it, `frozen_in` the open one that holds it now; `superseded_by` the newest
    episode that hides it. `words` are those of the search that it was found by, empty when it holds the phrase itself.
    """

    episode_id: str
    project_key: str
    created_at: str
    episode_type: str
    beginning: str
    characters: int
    source: str
    trust: str
    effective_trust: str
    state_key: str | None
    superseded_by: str | None
    covered_by: int | None
    frozen_in: int | None
    deleted_at: str | None
    words: tuple[str, ...] = ()

    @property
    def state(self) -> Literal["waiting", "frozen", "covered", "deleted"]:
        """Where it stands on its way into the continuity."""
        if self.deleted_at is not None:
            return "deleted"
        if self.covered_by is not None:
            return "covered"
        return "waiting" if self.frozen_in is None else "frozen"


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """One page of episodes, the newest first, of `total`, and where the next page goes on (None at the end)."""

    rows: tuple[EpisodeRow, ...]
    total: int
    next_before: Before | None


@dataclass(frozen=True, slots=True)
class EpisodesFound:
    """What a search found: `exact` episodes hold the phrase itself and come first, the rest of `rows` some of its words.

    `next_offset` is where the next page of exact ones begins, None at the end; `notes` are sentences about the answer.
    """

    rows: tuple[EpisodeRow, ...]
    exact: int
    next_offset: int | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An episode that another one names; all but its id is None when the store has it no more."""

    episode_id: str
    created_at: str | None
    effective_trust: str | None
    beginning: str | None


@dataclass(frozen=True, slots=True)
class Frozen:
    """A wrap that froze an episode. `covered`: its save took the episode in. `token_start` is all of the token that is shown."""

    wrap_id: int
    generation: int | None
    state: WrapState
    token_start: str | None
    started_at: str | None
    ended_at: str | None
    covered: bool


@dataclass(frozen=True, slots=True)
class Grounded:
    """A pattern that rests on an episode: its level now, and the highest of its rungs that the episode grounds."""

    pattern_id: int
    name: str
    level: int
    rung: int


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is kept of a deleted episode."""

    removed_at: str
    removed_by: Actor
    content_sha256: str
    characters: int


@dataclass(frozen=True, slots=True)
class EpisodeDetail:
    """One episode whole. `content` is None when it was deleted: then `tombstone` says by whom, and metadata and links are gone.

    `derived` were recorded as derived from it; `patterns` rest on it and may fall with it; `timeline` is what the trail says.
    """

    row: EpisodeRow
    content: str | None
    metadata: Any
    holder: Holder
    supersedes: tuple[Neighbour, ...]
    superseded_by: tuple[Neighbour, ...]
    derived_from: tuple[Neighbour, ...]
    derived: tuple[Neighbour, ...]
    wraps: tuple[Frozen, ...]
    patterns: tuple[Grounded, ...]
    timeline: tuple[TrailRow, ...]
    tombstone: Tombstone | None

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that its metadata names."""
        found = self.metadata.get("tags") if isinstance(self.metadata, dict) else None
        return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def page(
    reading: Reading,
    project_key: str | None,
    *,
    episode_type: str | None = None,
    also_deleted: bool = False,
    before: Before = START,
    limit: int = EPISODES_SHOWN,
) -> EpisodePage:
    """The episodes of a project, or of all (None), the newest first, at most `limit`, from `before` (the last page's `next_before`) on.

    Superseded ones are among them; a project that does not exist has none, nor has an unknown type.
    """
    number, deleted_at, deleted_id = before
    wanted = {"project_key": project_key, "episode_type": episode_type}
    values = [value for value in wanted.values() if value is not None]
    of = "".join(f"{name} = ? and " for name, value in wanted.items() if value is not None)
    found = reading.all(
        f"select {_COLUMNS} from episodes e where {of}e.id < ? order by e.id desc limit ?", (*values, number, limit + 1)
    )
    total = _counted(reading, project_key, "episodes" if episode_type is None else f"episodes:{episode_type}")
    if also_deleted:
        gone = reading.all(
            f"select {_TOMBSTONE_COLUMNS} from tombstones where {of}(created_at, episode_id) < (?, ?)"
            " order by created_at desc, episode_id desc limit ?",
            (*values, deleted_at, deleted_id, limit + 1),
        )
        total += reading.one(f"select count(*) from tombstones where {of}true", values)[0]
        found = list(islice(merge(found, gone, key=lambda row: row["created_at"], reverse=True), limit + 1))
    frozen = _frozen_now(reading, project_key)
    rows = tuple(_row(reading, row, frozen) for row in found[:limit])
    if len(found) <= limit:
        return EpisodePage(rows, total, None)
    for row in found[:limit]:
        if row["number"] is None:
            deleted_at, deleted_id = row["created_at"], row["episode_id"]
        else:
            number = row["number"]
    return EpisodePage(rows, total, (number, deleted_at, deleted_id))


def search_everywhere(
    reading: Reading, words: str, *, episode_type: str | None = None, limit: int = EPISODES_SHOWN
) -> EpisodesFound:
    """What `search` finds in every project together: those with the phrase itself first, the newest of them first.

    Refuses what `search` refuses.
    """
    keys = [row[0] for row in reading.all("select project_key from projects")]
    found = [search(reading, key, words, episode_type=episode_type, limit=limit) for key in keys]
    exact = [row for one in found for row in one.rows if not row.words]
    by_words = [row for one in found for row in one.rows if row.words]
    exact.sort(key=lambda row: row.created_at, reverse=True)
    by_words.sort(key=lambda row: len(row.words), reverse=True)
    return EpisodesFound(tuple([*exact, *by_words][:limit]), sum(one.exact for one in found), None, ())


def search(
    reading: Reading,
    project_key: str,
    words: str,
    *,
    episode_type: str | None = None,
    offset: int = 0,
    limit: int = EPISODES_SHOWN,
) -> EpisodesFound:
    """The episodes that `recall` finds for some words, superseded ones too: those with the phrase itself first, newest first.

    Nothing in the words is special. Refuses `invalid_input` for an unknown type, a NUL or a lone surrogate.
    """
    found = recall(
        reading,
        project_key=project_key,
        episode_type=episode_type,
        keyword=words,
        limit=limit,
        offset=offset,
        include_superseded=True,
    )
    stored = {
        row["episode_id"]: row
        for row in reading.all(
            f"select {_COLUMNS} from json_each(?) wanted cross join episodes e on e.episode_id = wanted.value",
            (json.dumps([hit.episode_id for hit in found.episodes]),),
        )
    }
    exact = sorted(
        (hit for hit in found.episodes if not hit.words), key=lambda hit: stored[hit.episode_id]["number"], reverse=True
    )
    by_words = [hit for hit in found.episodes if hit.words]
    frozen = _frozen_now(reading, found.project_key)
    rows = tuple(_row(reading, stored[hit.episode_id], frozen, hit.words) for hit in [*exact, *by_words])
    seen = offset + len(exact)
    return EpisodesFound(rows, found.total, seen if exact and seen < found.total else None, found.notes)


def episode(reading: Reading, episode_id: str) -> EpisodeDetail | None:
    """One episode whole, or what is kept of a deleted one; None when the store never had it."""
    row = reading.one(
        f"select {_COLUMNS}, content, metadata, derived_from, connection_id from episodes e where e.episode_id = ?", (episode_id,)
    )
    if row is None:
        return _deleted(reading, episode_id)
    older = _ids(reading, "select old_id from supersessions where new_id = ?", episode_id)
    newer = _ids(reading, "select new_id from supersessions where old_id = ?", episode_id)
    if row["state_key"] is not None:
        holders = "select episode_id from episodes where project_key = ? and state_key = ? and id"
        of_key = (row["project_key"], row["state_key"], row["number"])
        older += _ids(reading, f"{holders} < ? order by id desc limit 1", *of_key)
        newer += _ids(reading, f"{holders} > ? order by id desc limit 1", *of_key)
    sources = json_or_text(row["derived_from"])
    found = connections.facts(reading, row["connection_id"], None) if row["connection_id"] else None
    return EpisodeDetail(
        _row(reading, row, _frozen_now(reading, row["project_key"])),
        row["content"],
        json_or_text(row["metadata"]),
        holder_of(found, row["connection_id"]),
        _neighbours(reading, older),
        _neighbours(reading, newer),
        _neighbours(reading, [one for one in sources if isinstance(one, str)] if isinstance(sources, list) else []),
        _derived(reading, episode_id),
        _wraps(reading, row),
        _patterns(reading, episode_id),
        rows_about(reading, f"episode:{episode_id}"),
        None,
    )


def _deleted(reading: Reading, episode_id: str) -> EpisodeDetail | None:
    row = reading.one(
        f"select {_TOMBSTONE_COLUMNS}, removed_by, content_sha256 from tombstones where episode_id = ?", (episode_id,)
    )
    if row is None:
        return None
    removed = Tombstone(row["deleted_at"], Actor.from_json(row["removed_by"]), row["content_sha256"], row["characters"])
    return EpisodeDetail(
        _row(reading, row, {}),
        None,
        None,
        holder_of(None, None),
        (),
        (),
        (),
        _derived(reading, episode_id),
        _wraps(reading, row),
        _patterns(reading, episode_id),
        rows_about(reading, f"episode:{episode_id}"),
        removed,
    )


def _row(reading: Reading, row: Any, frozen: dict[str, int], words: tuple[str, ...] = ()) -> EpisodeRow:
    return EpisodeRow(
        row["episode_id"],
        row["project_key"],
        row["created_at"],
        row["episode_type"],
        row["beginning"],
        row["characters"],
        row["source"],
        row["trust"],
        row["effective_trust"],
        row["state_key"],
        newest_replacement(reading, row),
        row["wrap_id"],
        frozen.get(row["episode_id"]) if row["wrap_id"] is None else None,
        row["deleted_at"],
        words,
    )


def _counted(reading: Reading, project_key: str | None, counter: str) -> int:
    if project_key is not None:
        return projects.counters(reading, project_key).get(counter, 0)
    return int(reading.one("select coalesce(sum(value), 0) from counters where name = ?", (counter,))[0])


def _frozen_now(reading: Reading, project_key: str | None) -> dict[str, int]:
    """The episodes that the project's open wrap holds, or those of all; a damaged row says nothing that can be trusted."""
    if project_key is None:
        keys = [
            row[0] for row in reading.all("select distinct project_key from wraps where ended_at is null and project_key <> ''")
        ]
        return {episode_id: wrap_id for key in keys for episode_id, wrap_id in _frozen_now(reading, key).items()}
    wrap = wraps.open_state(reading, project_key).wrap
    return dict.fromkeys(wrap.episode_ids, wrap.id) if wrap else {}


def _wraps(reading: Reading, row: Any) -> tuple[Frozen, ...]:
    """The newest wraps that froze an episode, the oldest of them first. One deleted after a save was covered by it."""
    episode_id, deleted_at = row["episode_id"], row["deleted_at"]
    ids = reading.all(
        "select id from wraps where project_key = ? and instr(episode_ids, ?) > 0 order by id desc limit ?",
        (row["project_key"], f'"{episode_id}"', WRAPS_SHOWN),
    )
    found = []
    for one in reversed(ids):
        wrap = wraps.by_id(reading, one["id"])
        if wrap is None or episode_id not in wrap.episode_ids:
            continue
        state = state_of(wrap)
        survived = row["wrap_id"] == wrap.id if deleted_at is None else deleted_at > (wrap.ended_at or "~")
        covered = state == "saved" and survived
        found.append(Frozen(wrap.id, wrap.generation, state, wrap.token_start, wrap.started_at, wrap.ended_at, covered))
    return tuple(found)


def _derived(reading: Reading, episode_id: str) -> tuple[Neighbour, ...]:
    return _neighbours(
        reading, _ids(reading, "select episode_id from episode_sources where source_id = ? order by episode_id", episode_id)
    )


def _ids(reading: Reading, sql: str, *values: Any) -> list[str]:
    return [row[0] for row in reading.all(sql, values)]


def _neighbours(reading: Reading, episode_ids: Iterable[str]) -> tuple[Neighbour, ...]:
    wanted = list(dict.fromkeys(episode_ids))[:NEIGHBOURS_SHOWN]
    rows = reading.all(
        f"select wanted.value as episode_id, e.created_at, e.effective_trust, substr(e.content, 1, {BEGINNING}) as beginning"
        " from json_each(?) wanted left join episodes e on e.episode_id = wanted.value order by wanted.key",
        (json.dumps(wanted),),
    )
    return tuple(Neighbour(*tuple(row)) for row in rows)


def _patterns(reading: Reading, episode_id: str) -> tuple[Grounded, ...]:
    rows = reading.all(
        "select p.id, p.name, p.level, max(g.level) from pattern_grounding g join patterns p on p.id = g.pattern_id"
        " where g.episode_id = ? group by p.id order by p.name",
        (episode_id,),
    )
    return tuple(Grounded(*tuple(row)) for row in rows)
