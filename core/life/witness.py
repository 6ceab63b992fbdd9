"""The witness: who is alive, as verbs and views ask it (room.md 4). It probes; the verdict itself is a pure function."""

from __future__ import annotations

from datetime import datetime

from core.clock import Clock
from core.life import connections
from core.life.beats import Beat, BeatsReader
from core.life.liveness import judge
from core.life.observe import SuspendWatch, collect
from core.life.processes import Processes
from core.models import ConnectionFacts, Judgement
from core.store.deed import Reading

AT_WORK = ("LIVE", "STARTING", "WEDGED")
"""The verdicts under which a baton holder counts as live (room.md 2.12)."""


class Witness:
    """Judges connections and wraps for one observing process."""

    def __init__(self, processes: Processes, beats: BeatsReader, clock: Clock, wedged_after: float) -> None:
        self.processes = processes
        self.beats = beats
        self.clock = clock
        self.wedged_after = wedged_after
        self.suspend_watch = SuspendWatch(clock)

    def judge(self, reading: Reading, connection_id: str | None, *, coherent: bool, started_at: str | None) -> Judgement:
        """The verdict on whoever opened something at `started_at` over a connection, with its evidence."""
        beat = self.beats.one(connection_id) if connection_id and coherent else None
        found = connections.facts(reading, connection_id, beat) if connection_id and coherent else None
        newest = self.beats.newest() if found else None
        ended = session_ended_at(reading, found.session_id) if found else None
        return self.judge_facts(found, newest, coherent=coherent, started_at=started_at, session_ended_at=ended)

    def judge_session(self, reading: Reading, connection_id: str | None, *, started_at: str | None) -> Judgement:
        """The verdict on the connection that is at work on a work session; that an earlier session ended is no evidence of it."""
        found = connections.facts(reading, connection_id, self.beats.one(connection_id)) if connection_id else None
        return self.judge_facts(found, self.beats.newest() if found else None, coherent=True, started_at=started_at)

    def judge_facts(
        self,
        found: ConnectionFacts | None,
        newest_beat_at: datetime | None,
        *,
        coherent: bool,
        started_at: str | None,
        session_ended_at: str | None = None,
    ) -> Judgement:
        """The verdict on facts that were read already; `newest_beat_at` is the newest beat of anybody.

        `session_ended_at` is when the connection's work session ended, for the verdict on a wrap (room.md 4).
        """
        observation = collect(
            self.processes,
            found,
            now=self.clock.now(),
            newest_beat_at=newest_beat_at,
            forgiven=self.suspend_watch.forgiven(),
            session_ended_at=session_ended_at,
            wedged_after=self.wedged_after,
        )
        return judge(coherent=coherent, connection=found, started_at=started_at, observation=observation)

    def session_is_live(self, reading: Reading, session_id: str) -> bool:
        """Whether a connection opened with that `--session-id` is LIVE, STARTING or WEDGED (room.md 2.12)."""
        return any(
            self.judge_session(reading, connection_id, started_at=None).verdict in AT_WORK
            for connection_id in connections.with_session(reading, session_id)
        )

    def last_call_at(self, connection_id: str | None) -> str | None:
        """The time of a connection's last call, as stored."""
        beat: Beat | None = self.beats.one(connection_id) if connection_id else None
        return beat.call_at if beat else None


def session_ended_at(reading: Reading, name: str | None) -> str | None:
    """When the work session that a connection was started for ended, by its id or client key; None while one of that name is open.

    A wrap's session is the one whose id or client_key is its connection's `--session-id` (room.md 4).
    """
    if name is None:
        return None
    rows = reading.all(
        "select status, ended_at from sessions where id = ? union all select status, ended_at from sessions where client_key = ?",
        (name, name),
    )
    if not rows or any(row["status"] == "open" for row in rows):
        return None
    return max(str(row["ended_at"]) for row in rows)
