"""The sweep: sessions that nobody has worked on for days are given up, dry by default (sessions.md b.18)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from core.clock import stamp
from core.sessions import lifecycle, rows, traces
from core.sessions.limits import ABANDON_DAYS, whole
from core.sessions.switches import is_off, is_on
from core.store.deed import Deed, Reading
from core.texts import digest


@dataclass(frozen=True, slots=True)
class Candidate:
    """A session that the sweep would end, and by which of its two rules."""

    session_id: str
    project_key: str
    client_key: str
    nature: str | None
    last_heartbeat_at: str
    last_observed_at: str | None
    rule: Literal["abandon", "close_inactive"]


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found and did; a dry one did nothing and both counters are 0."""

    dry: bool
    candidates: tuple[Candidate, ...]
    abandoned_count: int
    closed_inactive_count: int


def is_wet() -> bool:
    """Whether the environment lets a sweep write: enabled, and its dry run switched off (room.md 2.16)."""
    return is_on("SWEEP_ENABLED") and is_off("SWEEP_DRY_RUN")


def candidates(reading: Reading, now: datetime, *, days: int = ABANDON_DAYS) -> tuple[Candidate, ...]:
    """What a sweep would end now: any session without a heartbeat for more than `days`, and by its switch traces unseen for more than 4 hours.

    Both limits are strict; a session that both rules meet is abandoned. A trace that was never observed is left alone by the second.
    """
    long_ago = stamp(now - timedelta(days=days))
    unseen = traces.inactive_before(now) if is_on("INACTIVE_SWEEP_ENABLED") else ""
    found = reading.all(
        "select id, project_key, client_key, nature, last_heartbeat_at, last_observed_at, last_heartbeat_at < ? as quiet"
        " from sessions where status = 'open' and (last_heartbeat_at < ?"
        " or (nature = 'agent' and last_observed_at is not null and last_observed_at < ?)) order by last_heartbeat_at, id",
        (long_ago, long_ago, unseen),
    )
    return tuple(Candidate(*(*tuple(row)[:6], "abandon" if row["quiet"] else "close_inactive")) for row in found)


def sweep(deed: Deed, *, days: int = ABANDON_DAYS, dry: bool = True) -> Swept:
    """End what `candidates` finds; `dry` lists it only, and so does any sweep that the environment does not let write.

    Focus, slots and ledgers stay as they are. Who is eligible is read in this transaction, so a heartbeat that came in time saves
    its session. Refuses `invalid_input` for a number of days below 1.
    """
    whole(days, "days", least=1)
    found = candidates(deed.transaction, deed.clock.now(), days=days)
    if dry or not is_wet():
        return Swept(True, found, 0, 0)
    reason = f"auto_stale_{days}d"
    for one in found:
        if one.rule == "close_inactive":
            traces.close(deed, one.session_id, one.project_key)
            continue
        session = rows.find(deed.transaction, one.session_id, deed.clock.now())
        assert session is not None
        lifecycle.give_up(deed, session, reason)
        deed.append(
            "brain_session_abandon",
            project_key=session.project_key,
            subject=session.subject,
            data={"reason": digest(reason), "swept": reason, "last_heartbeat_at": session.last_heartbeat_at},
        )
    abandoned = sum(one.rule == "abandon" for one in found)
    return Swept(False, found, abandoned, len(found) - abandoned)
