"""The baton and the consolidate gate: who may compress a gated project's memory (wraps.md a7, a8 and d; room.md 2.12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.clock import stamp
from core.errors import Refusal
from core.life import connections, notices
from core.projects import Project, ensure, key_for_writing
from core.store.deed import Deed, Reading, Witness
from core.texts import not_blank

NAME_LIMIT = 128

DowngradeReason = Literal[
    "baton_required", "no_baton", "not_baton_holder", "stale_baton_holder", "bound_wrap_open", "gated_wrap_open"
]
"""Why a prepare only captures (the names of wraps.md without `downgraded-`; room.md 2.3)."""


@dataclass(frozen=True, slots=True)
class Baton:
    """The designation of the one session that may consolidate a project."""

    project_key: str
    session_id: str
    claimed_at: str
    previous_holder: str | None


@dataclass(frozen=True, slots=True)
class BatonReceipt:
    """What a claim or release answers. `outcome`: claimed, already_held, taken, released or nothing_held."""

    outcome: Literal["claimed", "already_held", "taken", "released", "nothing_held"]
    project_key: str
    session_id: str
    previous_holder: str | None


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether a session may prepare: `reason` is None when it may; `gated_session` is whom the wrap is then gated by."""

    reason: DowngradeReason | None
    gated_session: str | None


def holder(reading: Reading, project_key: str) -> Baton | None:
    """Who holds a project's baton, or None."""
    row = reading.one(
        "select project_key, session_id, claimed_at, previous_holder from batons where project_key = ?", (project_key,)
    )
    return Baton(*tuple(row)) if row else None


def claim(deed: Deed, *, project_key: str, session_id: str, take: bool = False) -> BatonReceipt:
    """Claim the baton for a session; with `take` from whoever holds it (wraps.md a7). Creates a missing project.

    Refuses `baton_held` when another session holds it and `take` is not set, `invalid_input` for a bad name.
    """
    name = _session_name(session_id)
    project = ensure(deed, project_key)
    held = holder(deed.transaction, project.project_key)
    if held and held.session_id == name:
        return BatonReceipt("already_held", project.project_key, name, held.previous_holder)
    if held and not take:
        raise Refusal(
            "baton_held",
            f"Session {held.session_id} has held the baton of project {project.project_key} since {held.claimed_at}. "
            "Ask it to release the baton, or take it.",
            facts={"holder": held.session_id, "claimed_at": held.claimed_at},
            project_key=project.project_key,
            subject=f"baton:{project.project_key}",
        )
    previous = held.session_id if held else None
    deed.execute(
        "insert into batons (project_key, session_id, claimed_at, previous_holder) values (?, ?, ?, ?)"
        " on conflict (project_key) do update set session_id = excluded.session_id, claimed_at = excluded.claimed_at,"
        " previous_holder = excluded.previous_holder",
        (project.project_key, name, stamp(deed.clock.now()), previous),
    )
    event = "baton_taken" if held else "baton_claimed"
    data = {"session_id": name, "previous_holder": previous}
    deed.append(event, project_key=project.project_key, subject=f"baton:{project.project_key}", data=data)
    if previous:
        _tell_previous_holder(deed, project.project_key, previous)
    return BatonReceipt("taken" if held else "claimed", project.project_key, name, previous)


def release(deed: Deed, *, project_key: str, session_id: str) -> BatonReceipt:
    """Release the baton that a session holds; when nobody holds it nothing changes.

    Refuses `baton_held` when another session holds it, `invalid_input` for a bad name.
    """
    name, key = _session_name(session_id), key_for_writing(project_key)
    held = holder(deed.transaction, key)
    if held is None:
        return BatonReceipt("nothing_held", key, name, None)
    if held.session_id != name:
        raise Refusal(
            "baton_held",
            f"Session {held.session_id} holds the baton of project {key}, not {name}; only the holder's release counts.",
            facts={"holder": held.session_id, "claimed_at": held.claimed_at},
            project_key=key,
            subject=f"baton:{key}",
        )
    deed.execute("delete from batons where project_key = ?", (key,))
    deed.append("baton_released", project_key=key, subject=f"baton:{key}", data={"session_id": name})
    return BatonReceipt("released", key, name, held.previous_holder)


def decide(reading: Reading, witness: Witness, project: Project, session_id: str | None) -> GateDecision:
    """The consolidate gate (wraps.md d): may a server started as `session_id` prepare in this project?

    On an open project the session is not used and the wrap is ungated.
    """
    if project.gate == "open":
        return GateDecision(None, None)
    if session_id is None:
        return GateDecision("baton_required", None)
    held = holder(reading, project.project_key)
    if held is None:
        return GateDecision("no_baton", None)
    if held.session_id == session_id:
        return GateDecision(None, session_id)
    live = witness.session_is_live(reading, held.session_id)
    return GateDecision("not_baton_holder" if live else "stale_baton_holder", None)


def _session_name(session_id: str) -> str:
    name = not_blank(session_id, "The session's name").strip()
    if len(name) > NAME_LIMIT:
        raise Refusal("invalid_input", f"The session's name has {len(name)} characters; at most {NAME_LIMIT} are kept.")
    return name


def _tell_previous_holder(deed: Deed, project_key: str, previous: str) -> None:
    actor = deed.identity.actor
    text = (
        f"The baton of project {project_key} was taken from this session by the {actor.kind} {actor.name}. "
        "A wrap that you have open can no longer be saved; record what matters and leave consolidating to the new holder."
    )
    for connection_id in connections.with_session(deed.transaction, previous):
        notices.leave(deed, "baton_taken", connection_id, project_key=project_key, wrap_id=None, text=text)
