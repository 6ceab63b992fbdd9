"""What an import takes once beside the patterns: schema, completed wraps, continuity, gate, baton, the open wrap (wraps.md a3 to a8)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core import projects
from core.clock import parse_stamp, stamp
from core.errors import Refusal
from core.exchange import foreign_values
from core.exchange.anneal_tables import Tables
from core.exchange.anneal_trail import ForeignTrail
from core.exchange.report import Tally
from core.memory import continuity, opening, section_schemas
from core.memory.continuity import Section
from core.memory.wraps import seal_of
from core.store.deed import Deed
from core.texts import TOKEN_SHAPE

COUNT_LIMIT = 2**53


@dataclass(frozen=True, slots=True)
class ForeignWrap:
    """A completed wrap: its number over there, when it began and ended, and its token where the trail tells it."""

    number: int
    started_at: str | None
    ended_at: str | None
    token: str | None
    episodes_compressed: int | None
    continuity_chars: int | None


@dataclass(frozen=True, slots=True)
class OpenWrap:
    """The lifecycle fields of an open or partial wrap, as texts (wraps.md a3)."""

    started_at: str
    token: str
    episode_ids: str
    section_schema: str
    gated_session: str
    bound_token: str
    wrap_date: str

    @property
    def ids(self) -> list[str] | None:
        """The frozen ids, or None when the list is no list of texts."""
        return foreign_values.texts(foreign_values.document(self.episode_ids))

    @property
    def whole(self) -> bool:
        """Whether it is an open wrap that can be one here; anything else is partial (wraps.md a4)."""
        return bool(TOKEN_SHAPE.fullmatch(self.token)) and parse_stamp(self.started_at) is not None and self.ids is not None


@dataclass(frozen=True, slots=True)
class Baton:
    """Who holds the baton over there, since when, and who held it before."""

    session_id: str
    claimed_at: str | None
    previous_holder: str | None


@dataclass(frozen=True, slots=True)
class History:
    """All of it, as it can be stored. `sections` is None where the default schema is meant."""

    wraps: tuple[ForeignWrap, ...]
    sections: tuple[Section, ...] | None
    continuity: str | None
    gated: bool
    baton: Baton | None
    open_wrap: OpenWrap | None

    def count(self, tally: Tally) -> None:
        """Count what a first import takes."""
        for what, found in (
            ("wraps", len(self.wraps)),
            ("continuity", int(self.continuity is not None)),
            ("open wrap", int(self.open_wrap is not None)),
            ("baton", int(self.baton is not None)),
        ):
            tally.take(what, found, found)
        if self.open_wrap is not None and not self.open_wrap.whole:
            tally.notes.append(
                "its wrap is in a partial state: it is imported as such, and wrap_cancel with partial=true clears it"
            )


# reading


def read(
    tables: Tables,
    metadata: Mapping[str, str],
    text: str | None,
    baton: Mapping[str, Any] | None,
    trail: ForeignTrail,
    tally: Tally,
) -> History:
    """What the database, the continuity and the baton's file hold of it; damaged values are told and left out."""
    names = ("started_at", "token", "episode_ids", "section_schema", "gated_session", "bound_token", "today")
    values = [metadata.get(f"wrap_{name}", "") for name in names]
    wrap = OpenWrap(*values) if any(values[:5]) else None
    schema = metadata.get("section_schema", "")
    sections = sections_in(schema)
    if schema and sections is None:
        tally.leave_out("section schema", "no text could follow it; the default one is used")
    return History(
        _wraps(tables, trail, wrap, tally),
        sections,
        foreign_values.words(text),
        metadata.get("consolidate_requires_baton", "0") not in ("", "0"),
        _baton(baton, tally),
        wrap,
    )


def sections_in(text: str) -> tuple[Section, ...] | None:
    """The sections of a stored schema that this store can follow."""
    found = foreign_values.document(text)
    try:
        wanted = [{name: one[name] for name in ("heading", "role", "optional") if name in one} for one in found]
        return section_schemas.sections_wanted(wanted)
    except (TypeError, Refusal):
        return None


def _wraps(tables: Tables, trail: ForeignTrail, open_wrap: OpenWrap | None, tally: Tally) -> tuple[ForeignWrap, ...]:
    rows = tables.rows("wraps", ("id", "wrapped_at", "episodes_compressed", "continuity_chars"), "id")
    tokens = _tokens(rows, trail, open_wrap)
    found: dict[int, ForeignWrap] = {}
    for number, wrapped_at, episodes, characters in rows:
        if not isinstance(number, int) or number in found:
            tally.leave_out("wraps", "they have no number")
            continue
        ended = foreign_values.moment(wrapped_at)
        if ended is None:
            tally.mend("wraps", "they have no readable time and get that of the import")
        token = tokens.get(number)
        began = foreign_values.moment(trail.started.get(token or "", {}).get("ts"))
        counts = (foreign_values.whole(one, 0, COUNT_LIMIT) for one in (episodes, characters))
        found[number] = ForeignWrap(number, began, ended, token, *counts)
    return tuple(found.values())


def _tokens(rows: Sequence[Any], trail: ForeignTrail, open_wrap: OpenWrap | None) -> dict[int, str]:
    """The token of each completed wrap, as far as the foreign trail tells: its last entries belong to the last wraps.

    A caller's token may be used again over there (wraps.md h2); here it is unique for ever, so its last wrap has it.
    """
    tokens: dict[int, str] = {}
    used = {open_wrap.token} if open_wrap else set()
    for row, told in zip(reversed(rows), reversed(trail.completed), strict=False):
        token = told.get("wrap_token")
        if told.get("episodes_compressed") != row[2]:
            break
        if isinstance(token, str) and TOKEN_SHAPE.fullmatch(token) and token not in used:
            tokens[row[0]] = token
            used.add(token)
    return tokens


def _baton(held: Mapping[str, Any] | None, tally: Tally) -> Baton | None:
    if not held:
        return None
    session_id = foreign_values.words(held.get("session_id"))
    if session_id is None:
        tally.leave_out("baton", "its holder's name is no text")
        return None
    return Baton(
        session_id, foreign_values.moment_of_epoch(held.get("claimed_at")), foreign_values.words(held.get("previous_holder"))
    )


# writing, before the episodes


def completed_wraps(deed: Deed, history: History, key: str) -> dict[int, int]:
    """Write the schema and the completed wraps; gives each foreign wrap's number its row here, by which episodes are covered."""
    if history.sections is not None:
        listed = json.loads(continuity.frozen_schema(history.sections))
        section_schemas.set_section_schema(deed, project_key=key, schema=listed)
    covering: dict[int, int] = {}
    actor, now = deed.identity.actor.as_json(), stamp(deed.clock.now())
    for generation, one in enumerate(history.wraps, 1):
        ended = one.ended_at or now
        token = one.token if one.token and _is_free(deed, one.token) else None
        wrap_id = deed.execute(
            "insert into wraps (project_key, generation, wrap_token, token_origin, started_at, ended_at, ended_by, ended_reason)"
            " values (?, ?, ?, 'minted', ?, ?, ?, 'imported from anneal-memory')",
            (key, generation, token, one.started_at or ended, ended, actor),
        ).lastrowid
        deed.execute("update wraps set outcome = 'saved' where id = ?", (wrap_id,))  # the counter counts this change
        covering[one.number] = wrap_id
        deed.append(
            "wrap_completed",
            project_key=key,
            subject=f"wrap:{wrap_id}",
            data={
                "wrap_id": wrap_id,
                "generation": generation,
                "wrap_token_start": token[:8] if token else None,
                "episodes_compressed": one.episodes_compressed,
                "continuity_chars": one.continuity_chars,
                "imported": True,
                "wrapped_at": ended,
            },
        )
    deed.execute("update projects set generation = ? where project_key = ?", (len(history.wraps), key))
    return covering


def _is_free(deed: Deed, token: str) -> bool:
    return deed.one("select 1 from wraps where wrap_token = ?", (token,)) is None


# writing, after them


def after_episodes(deed: Deed, history: History, key: str, names: Mapping[str, str], frozen: Mapping[int, list[str]]) -> None:
    """Write what refers to episodes: the lists of ids that each wrap covers, continuity, gate and baton, and the open wrap last."""
    for wrap_id, ids in frozen.items():
        deed.execute("update wraps set episode_ids = ? where id = ?", (json.dumps(ids, separators=(",", ":")), wrap_id))
    revision = _continuity(deed, history.continuity, key, max(frozen, default=None))
    if history.gated:
        projects.set_gate(deed, project_key=key, gate="required")
    if history.baton is not None:
        _claim(deed, history.baton, key)
    if history.open_wrap is not None:
        _open_wrap(deed, history.open_wrap, key, names, revision)


def _continuity(deed: Deed, text: str | None, key: str, wrap_id: int | None) -> int:
    if text is None:
        return 0
    digest = hashlib.sha256(text.encode()).hexdigest()
    deed.execute(
        "insert into continuity (project_key, revision, text, sha256, wrap_id, created_at) values (?, 1, ?, ?, ?, ?)",
        (key, text, digest, wrap_id, stamp(deed.clock.now())),
    )
    deed.execute("update wraps set continuity_revision = 1 where id = ?", (wrap_id,))
    deed.append(
        "continuity_saved",
        project_key=key,
        subject=f"wrap:{wrap_id}" if wrap_id else f"project:{key}",
        data={"revision": 1, "chars": len(text), "content_hash": digest, "imported": True},
    )
    return 1


def _claim(deed: Deed, baton: Baton, key: str) -> None:
    deed.execute(
        "insert into batons (project_key, session_id, claimed_at, previous_holder) values (?, ?, ?, ?)",
        (key, baton.session_id, baton.claimed_at or stamp(deed.clock.now()), baton.previous_holder),
    )
    deed.append(
        "baton_claimed",
        project_key=key,
        subject=f"project:{key}",
        data={"session_id": baton.session_id, "was": baton.previous_holder, "imported": True},
    )


def _open_wrap(deed: Deed, wrap: OpenWrap, key: str, names: Mapping[str, str], revision: int) -> None:
    """The wrap that is open over there is open here, under the same token; a partial one stays partial (wraps.md a4, room.md 2.9).

    No connection of ours opened it, so nothing is known of its holder, and nobody may call it dead. A token that was used
    here before makes it partial too: no two wraps share one.
    """
    free = _is_free(deed, wrap.token)
    whole = wrap.whole and free
    ids = [names.get(one, one) for one in wrap.ids or []]
    project = projects.find(deed.transaction, key)
    started = parse_stamp(wrap.started_at)
    values: dict[str, Any] = {
        "project_key": key,
        "generation": project.generation + 1,
        "wrap_token": wrap.token if wrap.token and free else None,
        "token_origin": "caller" if wrap.token and wrap.bound_token == wrap.token else "minted",
        "started_at": stamp(started) if started else wrap.started_at or None,
        "episode_ids": json.dumps(ids, separators=(",", ":")) if whole else wrap.episode_ids,
        "section_schema": continuity.frozen_schema(sections_in(wrap.section_schema) or section_schemas.of_project(project)),
        "gated_session": wrap.gated_session or None,
        "wrap_date": foreign_values.day(wrap.wrap_date) or (started.astimezone().date().isoformat() if started else None),
        "connection_id": None,
    }
    told = {"imported": True} if whole else {"imported": True, "partial_state": True}
    opening.enter(deed, values, seal=seal_of(values) if whole else None, prepared_revision=revision, episode_ids=ids, told=told)
