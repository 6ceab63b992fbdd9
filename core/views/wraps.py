"""Wraps as an operator sees them: verdict, whom they block, and the detail of one (console.md, screen 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.life import connections
from core.life.beats import Beat
from core.life.witness import Witness, session_ended_at
from core.memory import salvage, wraps
from core.memory.kept_texts import KeptText, drafts_of_wrap
from core.models import Judgement
from core.projects import find
from core.store.deed import Reading
from core.views.holders import Holder, holder_of
from core.views.trail import TrailRow, rows_about

WrapState = Literal["open", "partial", "saved", "cancelled"]
EPISODES_SHOWN = 200


@dataclass(frozen=True, slots=True)
class WrapRow:
    """One wrap in a list. Times are stored texts; `blocks` counts the agents whose prepare it refused."""

    wrap_id: int
    project_key: str | None
    generation: int | None
    state: WrapState
    judgement: Judgement
    started_at: str | None
    age_seconds: float | None
    holder: Holder
    episodes: int | None
    blocks: int
    refused_prepares: int
    gate: str
    gated_session: str | None
    bound: bool
    token_start: str | None
    row_sha256: str
    last_call_at: str | None
    salvage: int
    ended_at: str | None
    ended_by: str | None
    ended_reason: str | None


@dataclass(frozen=True, slots=True)
class FrozenEpisode:
    """An episode that a wrap froze; `content` is cut for a list, None when it was deleted since."""

    episode_id: str
    created_at: str | None
    episode_type: str | None
    trust: str | None
    content: str | None


@dataclass(frozen=True, slots=True)
class WrapDetail:
    """Everything about one wrap: its row, its timeline out of the trail, what it froze, what was salvaged, and what was drafted."""

    row: WrapRow
    timeline: tuple[TrailRow, ...]
    episodes: tuple[FrozenEpisode, ...]
    episodes_total: int
    salvage: tuple[salvage.Salvaged, ...]
    drafts: tuple[KeptText, ...]
    notices: tuple[str, ...]


def open_wraps(
    reading: Reading, witness: Witness, beats: Mapping[str, Beat], newest_beat: datetime | None
) -> tuple[WrapRow, ...]:
    """Every open wrap of the store, damaged ones too, the longest open first."""
    return tuple(_row(reading, witness, wrap, beats, newest_beat) for wrap in wraps.every_open(reading))


def ended_wraps(reading: Reading, witness: Witness, *, before_id: int | None = None, limit: int = 200) -> tuple[WrapRow, ...]:
    """Ended wraps, newest first, at most `limit`, from before `before_id` on."""
    rows = reading.all(
        f"select {wraps.COLUMNS} from wraps where ended_at is not null and id < ? order by id desc limit ?",
        (before_id or 2**62, limit),
    )
    return tuple(_row(reading, witness, wraps.wrap_of(row), {}, None) for row in rows)


def wrap_detail(reading: Reading, witness: Witness, wrap_id: int) -> WrapDetail | None:
    """One wrap with its timeline, frozen episodes and salvage; None when there is none with that id."""
    wrap = wraps.by_id(reading, wrap_id)
    if wrap is None:
        return None
    beats, newest = witness.beats.all(), witness.beats.newest()
    ids = wrap.episode_ids[:EPISODES_SHOWN]
    marks = ",".join("?" * len(ids))
    found = {
        row["episode_id"]: row
        for row in reading.all(
            f"select episode_id, created_at, episode_type, effective_trust, substr(content, 1, 2000) as content from episodes"
            f" where episode_id in ({marks})",
            ids,
        )
    }
    episodes = tuple(
        FrozenEpisode(one, row["created_at"], row["episode_type"], row["effective_trust"], row["content"])
        if (row := found.get(one))
        else FrozenEpisode(one, None, None, None, None)
        for one in ids
    )
    told = reading.all("select kind, text, created_at from notices where wrap_id = ? order by id", (wrap_id,))
    return WrapDetail(
        _row(reading, witness, wrap, beats, newest),
        rows_about(reading, wrap.subject),
        episodes,
        len(wrap.episode_ids),
        tuple(salvage.of_wrap(reading, wrap_id)),
        tuple(drafts_of_wrap(reading, wrap_id)),
        tuple(f"{row['created_at']} {row['text']}" for row in told),
    )


def _row(
    reading: Reading, witness: Witness, wrap: wraps.Wrap, beats: Mapping[str, Beat], newest_beat: datetime | None
) -> WrapRow:
    beat = beats.get(wrap.connection_id) if wrap.connection_id else None
    found = connections.facts(reading, wrap.connection_id, beat) if wrap.connection_id else None
    if wrap.ended_at is None:
        judgement = witness.judge_facts(
            found if wrap.coherent else None,
            newest_beat,
            coherent=wrap.coherent,
            started_at=wrap.started_at,
            session_ended_at=session_ended_at(reading, found.session_id) if found else None,
        )
        blocks, refused = _blocked(reading, wrap.subject)
    else:
        judgement, (blocks, refused) = Judgement("UNKNOWN", ()), (0, 0)
    return WrapRow(
        wrap_id=wrap.id,
        project_key=wrap.project_key,
        generation=wrap.generation,
        state=state_of(wrap),
        judgement=judgement,
        started_at=wrap.started_at,
        age_seconds=wraps.age_seconds(wrap.started_at, witness.clock.now()),
        holder=holder_of(found, wrap.connection_id),
        episodes=len(wrap.episode_ids) if wrap.coherent or wrap.ended_at else None,
        blocks=blocks,
        refused_prepares=refused,
        gate=find(reading, wrap.project_key or "").gate,
        gated_session=wrap.gated_session,
        bound=wrap.bound,
        token_start=wrap.token_start,
        row_sha256=wrap.row_sha256,
        last_call_at=beat.call_at if beat else None,
        salvage=int(reading.one("select count(*) from salvage where wrap_id = ? and dealt_with_at is null", (wrap.id,))[0]),
        ended_at=wrap.ended_at,
        ended_by=wrap.ended_by,
        ended_reason=wrap.ended_reason,
    )


def state_of(wrap: wraps.Wrap) -> WrapState:
    """The state of a wrap, as lists say it."""
    if wrap.ended_at is None:
        return "open" if wrap.coherent else "partial"
    return "saved" if wrap.outcome == "saved" else "cancelled"


def _blocked(reading: Reading, subject: str) -> tuple[int, int]:
    """How many agents' prepares a wrap has refused, and how often: from the trail's refused rows (room.md 2.11)."""
    row: Any = reading.one(
        "select count(distinct connection_id), count(*), coalesce(sum(json_extract(data, '$.suppressed')), 0) from audit"
        " where subject = ? and outcome = 'refused' and event = 'prepare_wrap'",
        (subject,),
    )
    return int(row[0]), int(row[1]) + int(row[2])
