"""status: what an agent may know of a project's memory at a glance (wraps.md b; room.md 2.3). It reads one snapshot and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core import projects
from core.clock import Clock, stamp
from core.life import connections
from core.memory import baton, kept_texts, wraps
from core.models import Gate, Verdict
from core.store.database import View
from core.store.deed import Identity, Witness
from core.trail.append import head


@dataclass(frozen=True, slots=True)
class WrapStatus:
    """The open wrap as an agent sees it: no token, no session name. Ages are seconds."""

    state: Literal["open", "partial"]
    wrap_id: int
    generation: int | None
    started_at: str | None
    age_seconds: float | None
    episodes: int | None
    client_name: str | None
    pid: int | None
    host: str | None
    opened_by_you: bool
    verdict: Verdict
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """A project's memory in figures. `may_consolidate` says whether this server's prepare would be let through the gate."""

    project_key: str
    project_exists: bool
    at: str
    episodes_total: int
    episodes_waiting: int
    episodes_by_type: dict[str, int]
    tombstones: int
    wraps_completed: int
    wraps_cancelled: int
    last_wrap_at: str | None
    wrap: WrapStatus | None
    continuity_revision: int | None
    continuity_characters: int | None
    salvage_waiting: int
    drafts_waiting: int
    gate: Gate
    may_consolidate: bool
    gate_reason: baton.DowngradeReason | None
    trail_rows: int


def status(view: View, *, project_key: str, identity: Identity, witness: Witness, clock: Clock) -> Status:
    """The project's figures and its open wrap with the verdict on its holder; a missing project reads as empty (room.md 2.1).

    The counts come from counters, so the cost does not grow with the store. It refuses nothing.
    """
    key = projects.normal_key(project_key)
    project = projects.find(view, key)
    counters = projects.counters(view, key)
    decision = baton.decide(view, witness, project, identity.session_id)
    standing = view.one(
        "select revision, length(text) as characters, created_at from continuity where project_key = ? order by revision desc limit 1",
        (key,),
    )
    newest = head(view)
    kept = kept_texts.waiting(view, key)
    types = {name.partition(":")[2]: value for name, value in counters.items() if name.startswith("episodes:") and value}
    return Status(
        project_key=key,
        project_exists=project.exists,
        at=stamp(clock.now()),
        episodes_total=counters.get("episodes", 0),
        episodes_waiting=counters.get("waiting", 0),
        episodes_by_type=types,
        tombstones=counters.get("tombstones", 0),
        wraps_completed=counters.get("wraps:saved", 0),
        wraps_cancelled=counters.get("wraps:cancelled", 0),
        last_wrap_at=standing["created_at"] if standing else None,
        wrap=_wrap_status(view, key, identity, witness, clock),
        continuity_revision=standing["revision"] if standing else None,
        continuity_characters=standing["characters"] if standing else None,
        salvage_waiting=kept.salvage,
        drafts_waiting=kept.drafts,
        gate=project.gate,
        may_consolidate=decision.reason is None,
        gate_reason=decision.reason,
        trail_rows=newest.seq if newest else 0,
    )


def _wrap_status(view: View, key: str, identity: Identity, witness: Witness, clock: Clock) -> WrapStatus | None:
    state = wraps.open_state(view, key)
    wrap = state.newest
    if wrap is None:
        return None
    judgement = witness.judge(view, wrap.connection_id, coherent=wrap.coherent, started_at=wrap.started_at)
    found = connections.facts(view, wrap.connection_id, None) if wrap.connection_id else None
    age = wraps.age_seconds(wrap.started_at, clock.now())
    return WrapStatus(
        state="partial" if state.state == "partial" else "open",
        wrap_id=wrap.id,
        generation=wrap.generation,
        started_at=wrap.started_at,
        age_seconds=None if age is None else round(age, 1),
        episodes=len(wrap.episode_ids) if wrap.coherent else None,
        client_name=found.client_name if found else None,
        pid=found.process.pid if found else None,
        host=found.process.host if found else None,
        opened_by_you=wrap.connection_id == identity.connection_id,
        verdict=judgement.verdict,
        evidence=tuple(reason.text for reason in judgement.evidence),
    )
