"""The thin part that looks: it probes, and hands what it saw to the verdict (core.life.liveness)."""

from __future__ import annotations

from datetime import datetime

from core.clock import Clock
from core.life.beats import BEAT_SECONDS
from core.life.liveness import SILENT_AFTER_SECONDS, WEDGED_AFTER_SECONDS, Observation, can_be_probed
from core.life.processes import Processes
from core.models import ConnectionFacts, ProcessState

FORGIVEN_SECONDS = 2 * BEAT_SECONDS


def collect(
    processes: Processes,
    connection: ConnectionFacts | None,
    now: datetime,
    newest_beat_at: datetime | None,
    forgiven: bool,
    session_ended_at: str | None,
    wedged_after: float = WEDGED_AFTER_SECONDS,
) -> Observation:
    """Look at a connection's process and client, in the same host, boot and pid namespace only (room.md 4).

    What was not looked at is `unknown`; the verdict knows from the places what that means. `wedged_after` is in seconds.
    """
    observer = processes.here()
    process: ProcessState = "unknown"
    client: ProcessState | None = None
    if connection is not None and can_be_probed(connection, observer):
        process = processes.state(connection.process.pid, connection.process.started_ticks)
        if connection.parent_pid is not None:
            client = processes.state(connection.parent_pid, connection.parent_started_ticks)
    return Observation(observer, now, process, client, newest_beat_at, forgiven, session_ended_at, wedged_after)


class SuspendWatch:
    """Notices that the observer itself was away (a suspend, a stop): then two beats are forgiven to everybody (room.md 4).

    `tick` is to be called at every beat or refresh of the observer; whoever judges asks `forgiven`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: tuple[float, datetime] | None = None
        self._back_at: float | None = None

    def tick(self) -> None:
        """Say that the observer is here now."""
        if self._away():
            self._back_at = self._clock.monotonic()
        self._last = (self._clock.monotonic(), self._clock.now())

    def forgiven(self) -> bool:
        """Whether the observer was away for more than 12 s, and that is less than 10 s ago."""
        return self._away() or (self._back_at is not None and self._clock.monotonic() - self._back_at < FORGIVEN_SECONDS)

    def _away(self) -> bool:
        if self._last is None:
            return False
        monotonic, wall = self._last
        # a suspend stops the monotonic clock on Linux, and a clock that is set moves the wall's alone: either is a gap
        gap = max(self._clock.monotonic() - monotonic, (self._clock.now() - wall).total_seconds())
        return gap > SILENT_AFTER_SECONDS
