"""The whole room as one immutable value, read in one transaction: what the console shows and `watchroom status` prints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from core.clock import parse_stamp, stamp
from core.life import connections
from core.life.beats import Beat
from core.life.witness import Witness
from core.memory.kept_texts import LEFT_BEHIND
from core.models import ConnectionFacts, Judgement
from core.store.deed import Reading
from core.views import attention, sessions, slots, trail, wraps

ACTIVITY_MINUTES = 60
COUNTED = (
    "select name, sum(value) as value from counters where name in ('sessions:open', 'sessions:ended', 'sessions:abandoned',"
    " 'sessions:closed_inactive', 'slots:open', 'slots:closed') group by name"
)
ACTIVITY_ROWS = 5_000
"""Trail rows that the sparkline looks at, at most: a flood is a full bar either way."""


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """One project in figures."""

    project_key: str
    gate: str
    peer_cancel: str
    generation: int
    episodes: int
    waiting: int
    wraps_completed: int
    wraps_cancelled: int
    baton_holder: str | None
    focus_revision: int


@dataclass(frozen=True, slots=True)
class ConnectionRow:
    """One open connection with the verdict on it and what it has done."""

    facts: ConnectionFacts
    judgement: Judgement
    calls: int
    refusals: int
    open_wraps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The room at one moment. `activity` counts the trail's rows in each of the last 60 minutes, the newest last.

    Lists of sessions and slots have the newest 500; the counts are of all there are.
    """

    taken_at: datetime
    store_id: str
    created_at: str
    projects: tuple[ProjectRow, ...]
    wraps: tuple[wraps.WrapRow, ...]
    ended_wraps: int
    connections: tuple[ConnectionRow, ...]
    attention: tuple[attention.Attention, ...]
    salvage_waiting: int
    sessions: tuple[sessions.SessionRow, ...]
    slots: tuple[slots.SlotRow, ...]
    open_sessions: int
    ended_sessions: int
    open_slots: int
    closed_slots: int
    activity: tuple[int, ...]
    trail_first: int
    trail_last: int


def take(reading: Reading, witness: Witness, *, broken_trail: str | None = None) -> Snapshot:
    """Read the room. `broken_trail` is what the last verification found broken, if anything, in words."""
    now = witness.clock.now()
    witness.suspend_watch.tick()
    beats, newest = witness.beats.all(), witness.beats.newest()
    store = reading.one("select store_id, created_at from store")
    open_rows = wraps.open_wraps(reading, witness, beats, newest)
    first, last = trail.bounds(reading)
    waiting = reading.all(
        "select project_key, wrap_id, sum(code is not null) as texts, sum(code is null) as drafts, max(code) as code from ("
        "select project_key, wrap_id, code from salvage where dealt_with_at is null"
        f" union all select t.project_key, t.wrap_id, null from drafts t where t.dealt_with_at is null and {LEFT_BEHIND}"
        ") group by project_key, wrap_id"
    )
    look = sessions.Look(witness, beats, newest)
    open_sessions = sessions.open_sessions(reading, look)
    open_slots = slots.open_slots(reading, open_sessions, now)
    figures = {row["name"]: int(row["value"]) for row in reading.all(COUNTED)}
    found = attention.of_wraps(open_rows) + attention.of_sessions(open_sessions) + attention.of_slots(open_slots)
    found += [
        attention.of_salvage(row["project_key"], row["wrap_id"], row["texts"], row["code"], row["drafts"]) for row in waiting
    ]
    if broken_trail:
        found.append(attention.of_trail(broken_trail))
    return Snapshot(
        taken_at=now,
        store_id=store["store_id"],
        created_at=store["created_at"],
        projects=_projects(reading),
        wraps=open_rows,
        ended_wraps=_ended(reading),
        connections=_connections(reading, witness, beats, newest, open_rows),
        attention=attention.sort(found),
        salvage_waiting=sum(row["texts"] for row in waiting),
        sessions=open_sessions,
        slots=open_slots,
        open_sessions=figures.get("sessions:open", 0),
        ended_sessions=sum(figures.get(f"sessions:{one}", 0) for one in ("ended", "abandoned", "closed_inactive")),
        open_slots=figures.get("slots:open", 0),
        closed_slots=figures.get("slots:closed", 0),
        activity=_activity(reading, last, now),
        trail_first=first,
        trail_last=last,
    )


def _projects(reading: Reading) -> tuple[ProjectRow, ...]:
    counted: dict[str, dict[str, int]] = {}
    for row in reading.all("select project_key, name, value from counters"):
        counted.setdefault(row["project_key"], {})[row["name"]] = row["value"]
    rows: list[Any] = reading.all(
        "select p.project_key, p.gate, p.peer_cancel, p.generation, b.session_id, p.focus_revision from projects p"
        " left join batons b on b.project_key = p.project_key order by p.project_key"
    )
    return tuple(
        ProjectRow(
            row["project_key"],
            "open" if row["gate"] == "open" else "required",
            row["peer_cancel"],
            row["generation"],
            figures.get("episodes", 0),
            figures.get("waiting", 0),
            figures.get("wraps:saved", 0),
            figures.get("wraps:cancelled", 0),
            row["session_id"],
            row["focus_revision"],
        )
        for row in rows
        for figures in (counted.get(row["project_key"], {}),)
    )


def _ended(reading: Reading) -> int:
    row = reading.one("select coalesce(sum(value), 0) from counters where name in ('wraps:saved', 'wraps:cancelled')")
    return int(row[0])


def _connections(
    reading: Reading, witness: Witness, beats: dict[str, Beat], newest: datetime | None, open_rows: tuple[wraps.WrapRow, ...]
) -> tuple[ConnectionRow, ...]:
    held: dict[str, list[int]] = {}
    for row in open_rows:
        if row.holder.connection_id:
            held.setdefault(row.holder.connection_id, []).append(row.wrap_id)
    found = []
    for facts in connections.every(reading, beats, closed=False):
        beat = beats.get(facts.connection_id)
        # an operator's console makes no calls while it is looked at, so its beats stand for them
        judged = replace(facts, last_call_at=facts.last_beat_at) if facts.role == "operator" else facts
        judgement = witness.judge_facts(judged, newest, coherent=True, started_at=None)
        found.append(
            ConnectionRow(
                facts,
                judgement,
                beat.calls if beat else 0,
                beat.refusals if beat else 0,
                tuple(held.get(facts.connection_id, ())),
            )
        )
    return tuple(found)


def _activity(reading: Reading, last: int, now: datetime) -> tuple[int, ...]:
    counts = [0] * ACTIVITY_MINUTES
    since = stamp(now - timedelta(minutes=ACTIVITY_MINUTES))
    rows = reading.all("select at from audit where seq > ? and at > ?", (last - ACTIVITY_ROWS, since))
    for row in rows:
        moment = parse_stamp(row["at"])
        if moment is not None:
            minutes = int((now - moment).total_seconds() // 60)
            if 0 <= minutes < ACTIVITY_MINUTES:
                counts[ACTIVITY_MINUTES - 1 - minutes] += 1
    return tuple(counts)
