"""From evidence to verdict: the table of room.md 4 as a pure function, without a probe, a clock or a query.

Age alone is never DEAD, what cannot be told is UNKNOWN, and every verdict brings its reasons as sentences with numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import datetime

from core.ages import seconds_ahead, seconds_since, words_for_age
from core.clock import parse_stamp, stamp
from core.life.processes import DRIFT_SECONDS, UNREADABLE
from core.models import ConnectionFacts, Evidence, EvidenceCode, Judgement, ProcessIdentity, ProcessState, Verdict

SILENT_AFTER_SECONDS = 12.0
START_GRACE_SECONDS = 30.0
NOBODY_BEATS_AFTER_SECONDS = 60.0
HTTP_STALE_AFTER_SECONDS = 1_800.0
WEDGED_AFTER_SECONDS = 900.0

LIVELINESS: Mapping[Verdict, int] = {"PARTIAL": 0, "DEAD": 0, "STALE": 1, "UNKNOWN": 2, "WEDGED": 3, "STARTING": 4, "LIVE": 5}
"""Reason to believe the holder alive: none, against it, cannot be told, present but idle, just come, at work."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What an observer saw of a connection, and when (room.md 4).

    `observer` is the observing process; `process` and `client` are what its probes found (`client` None when none is
    recorded, or over HTTP). `newest_beat_at` is the newest beat of anybody, the observer included. `forgiven` says that
    the observer itself was away and two beats have not passed since. `wedged_after` is in seconds.
    """

    observer: ProcessIdentity
    now: datetime
    process: ProcessState
    client: ProcessState | None
    newest_beat_at: datetime | None
    forgiven: bool = False
    session_ended_at: str | None = None
    wedged_after: float = WEDGED_AFTER_SECONDS


def wedged_after_from_environment(environ: Mapping[str, str]) -> float:
    """`WATCHROOM_WEDGED_AFTER` in seconds; 900 when it is not set or not a number above 0 (room.md 4)."""
    try:
        seconds = float(environ.get("WATCHROOM_WEDGED_AFTER", ""))
    except ValueError:
        return WEDGED_AFTER_SECONDS
    return seconds if math.isfinite(seconds) and seconds > 0 else WEDGED_AFTER_SECONDS


def livelier(new: Verdict, old: Verdict) -> bool:
    """Whether a newly probed verdict gives more reason to believe the holder alive than the one shown (`evidence_changed`).

    UNKNOWN is livelier than STALE: the fact of death that was shown no longer stands, and what is not known may live.
    """
    return LIVELINESS[new] > LIVELINESS[old]


def allows_plain_cancel(verdict: Verdict) -> bool:
    """Whether a wrap may be cancelled without a further proof of intent: only DEAD and PARTIAL (room.md 2.7)."""
    return verdict in ("DEAD", "PARTIAL")


def over_http(connection: ConnectionFacts) -> bool:
    """Whether a connection is an HTTP client's, which has no process, client or silent facts (room.md 4)."""
    return connection.via.startswith("http")


def same_boot(one: str, other: str) -> bool:
    """Whether two recorded boots are one; boot times, where a system has no boot id, may lie 60 s apart."""
    if one == other:
        return True
    try:
        return abs(float(one) - float(other)) <= DRIFT_SECONDS
    except ValueError:
        return False


def can_be_probed(connection: ConnectionFacts, observer: ProcessIdentity) -> bool:
    """Whether the observer's probes can see the connection's processes: same host, boot and pid namespace (room.md 4)."""
    process = connection.process
    return (
        not over_http(connection)
        and _places_are_known(process, observer)
        and UNREADABLE not in (process.namespace, observer.namespace)
        and process.host == observer.host
        and same_boot(process.boot, observer.boot)
        and process.namespace == observer.namespace
    )


def judge(*, coherent: bool, connection: ConnectionFacts | None, started_at: str | None, observation: Observation) -> Judgement:
    """The verdict on who holds a wrap or session, by the table of room.md 4, first match wins, with its evidence.

    `coherent` is whether the wrap's row is (room.md 2.9; True where there is no row to judge). `started_at` is when the wrap
    was opened, None when a connection itself is judged. The evidence begins with what decided, then facts of death, then context.
    """
    times = _read_times(connection, started_at, observation)
    unknown = [*_why_unknown(connection, observation), *times.unreadable]
    deaths = _facts_of_death(connection, times, observation)
    verdict, first = _decide(coherent, connection, times, unknown, deaths, observation)
    skew = _skew(times, observation.now)
    said = {reason.code for reason in (*first, *deaths)}
    context = [reason for reason in _context(connection, times, observation) if _news(reason, said)]
    return Judgement(verdict, (*first, *deaths, *skew, *context), clock_skew=bool(skew))


@dataclass(frozen=True, slots=True)
class _Times:
    """The stored times, read; None where there is none or it cannot be read."""

    opened: datetime | None = None
    beat: datetime | None = None
    call: datetime | None = None
    started: datetime | None = None
    unreadable: tuple[Evidence, ...] = ()


def _read_times(connection: ConnectionFacts | None, started_at: str | None, observation: Observation) -> _Times:
    unreadable: list[Evidence] = []

    def read(name: str, text: object) -> datetime | None:
        if text is None:
            return None
        moment = _parse(text)
        if moment is None:
            unreadable.append(Evidence("time_unreadable", f"{name} cannot be read: {ascii(text)[:40]}"))
        return moment

    started = read("the time the wrap was opened", started_at)
    read("the time the session was ended", observation.session_ended_at)
    if connection is None:
        return _Times(started=started, unreadable=tuple(unreadable))
    opened = read("the time the connection was opened", connection.opened_at or "")
    beat = read("the time of its last beat", connection.last_beat_at)
    call = read("the time of its last call", connection.last_call_at)
    read("the time the connection was closed", connection.closed_at)
    return _Times(opened, beat, call, started, tuple(unreadable))


def _parse(text: object) -> datetime | None:
    try:
        return parse_stamp(text)
    except OverflowError:  # a time at the edge of the calendar, in a zone that moves it over
        return None


def _places_are_known(process: ProcessIdentity, observer: ProcessIdentity) -> bool:
    """Whether both could read their host and boot: only then does a difference mean something."""
    places = (process.host, process.boot, observer.host, observer.boot)
    return UNREADABLE not in places and all(places)


def _why_unknown(connection: ConnectionFacts | None, observation: Observation) -> list[Evidence]:
    """The second line of the table, but for the times."""
    if connection is None:
        return [Evidence("no_connection", "no connection is recorded for it")]
    process, observer = connection.process, observation.observer
    if process.host != observer.host:
        return [Evidence("other_host", f"on another host, {process.host}")]
    namespaces = {process.namespace, observer.namespace}
    if same_boot(process.boot, observer.boot) and len(namespaces) == 2 and UNREADABLE not in namespaces:
        return [Evidence("other_namespace", f"pid {process.pid} is in another pid namespace of this host")]
    if over_http(connection) or _restarted(connection, observer):
        return []
    found: list[Evidence] = []
    if not can_be_probed(connection, observer) or observation.process == "unknown":
        found.append(Evidence("probe_failed", f"pid {process.pid} on this host could not be looked at"))
    if connection.parent_pid is not None and observation.client == "unknown":
        found.append(Evidence("probe_failed", f"its client, pid {connection.parent_pid}, could not be looked at"))
    return found


def _restarted(connection: ConnectionFacts, observer: ProcessIdentity) -> bool:
    """Whether the connection's host has restarted since: then all its processes are gone, whatever the namespace."""
    process = connection.process
    same_host = _places_are_known(process, observer) and process.host == observer.host
    return same_host and not same_boot(process.boot, observer.boot)


def _facts_of_death(connection: ConnectionFacts | None, times: _Times, observation: Observation) -> list[Evidence]:
    """The facts of death, each once: a closed connection and its silence are one (room.md 4)."""
    facts: list[Evidence] = []
    if connection is not None and not over_http(connection):
        facts += _processes_gone(connection, observation)
    closed_at = _parse(connection.closed_at) if connection is not None else None
    silence = _silence(connection, times, observation)
    if closed_at is not None:
        facts.append(Evidence("connection_closed", f"the connection was closed at {stamp(closed_at)}", death=True))
    elif silence is not None:
        facts.append(silence)
    ended_at = _parse(observation.session_ended_at)
    if ended_at is not None:
        facts.append(Evidence("session_ended", f"the session was ended at {stamp(ended_at)}", death=True))
    return facts


def _processes_gone(connection: ConnectionFacts, observation: Observation) -> list[Evidence]:
    restarted = _restarted(connection, observation.observer)
    if not restarted and not can_be_probed(connection, observation.observer):
        return []
    why = ": the host has restarted since" if restarted else ""
    facts: list[Evidence] = []
    if restarted or observation.process == "gone":
        facts.append(Evidence("process_gone", f"pid {connection.process.pid} on this host is gone{why}", death=True))
    if connection.parent_pid is not None and (restarted or observation.client == "gone"):
        facts.append(Evidence("client_gone", f"its client, pid {connection.parent_pid}, is gone{why}", death=True))
    return facts


def _silence(connection: ConnectionFacts | None, times: _Times, observation: Observation) -> Evidence | None:
    if connection is None or over_http(connection) or times.opened is None or times.unreadable:
        return None
    # after a suspend every beat is old, however long it took: each is given two beats' time to come again
    if observation.forgiven or _nobody_beats(observation):
        return None
    if times.beat is not None:
        seconds = seconds_since(times.beat, observation.now)
        if seconds < SILENT_AFTER_SECONDS:
            return None
        return Evidence("silent", f"no beat for {words_for_age(seconds)}", death=True)
    seconds = seconds_since(times.opened, observation.now)
    if seconds < START_GRACE_SECONDS:
        return None
    return Evidence("silent", f"not one beat in the {words_for_age(seconds)} since it opened", death=True)


def _nobody_beats(observation: Observation) -> bool:
    newest = observation.newest_beat_at
    return newest is None or seconds_since(newest, observation.now) >= NOBODY_BEATS_AFTER_SECONDS


def _decide(
    coherent: bool,
    connection: ConnectionFacts | None,
    times: _Times,
    unknown: list[Evidence],
    deaths: list[Evidence],
    observation: Observation,
) -> tuple[Verdict, list[Evidence]]:
    """The table of room.md 4, line by line: the verdict and what decided it, when that is no fact of death."""
    if not coherent:
        return "PARTIAL", [Evidence("not_coherent", "the wrap's row does not match its seal"), *(unknown if connection else [])]
    if unknown or connection is None or times.opened is None:
        return "UNKNOWN", unknown
    if len(deaths) >= 2:
        return "DEAD", []
    now = observation.now
    opened = seconds_since(times.opened, now)
    starting = times.beat is None and opened < START_GRACE_SECONDS
    # in a new store nobody can have beaten yet: whoever has just opened is starting (faults.md T54)
    if _nobody_beats(observation) and not (starting and observation.newest_beat_at is None):
        return "UNKNOWN", [_nobody(observation)]
    if deaths:
        return "STALE", []
    idle = seconds_since(times.call or times.opened, now)
    if over_http(connection) and idle >= HTTP_STALE_AFTER_SECONDS:
        return "STALE", [_no_call(times, now, f"{words_for_age(HTTP_STALE_AFTER_SECONDS)} without one is stale over HTTP")]
    age = seconds_since(times.started or times.opened, now)
    if idle >= observation.wedged_after and age >= observation.wedged_after:
        return "WEDGED", [_no_call(times, now, f"{words_for_age(observation.wedged_after)} without one is wedged")]
    if starting:
        return "STARTING", [Evidence("starting", f"opened {words_for_age(opened)} ago, no beat yet")]
    return "LIVE", []


def _nobody(observation: Observation) -> Evidence:
    newest = observation.newest_beat_at
    if newest is None:
        return Evidence("nobody_beats", "no beat of anybody can be found, so its silence says nothing")
    quiet = words_for_age(seconds_since(newest, observation.now))
    return Evidence("nobody_beats", f"nobody at all has beaten for {quiet}: the store was locked, or the machine slept")


def _no_call(times: _Times, now: datetime, rule: str) -> Evidence:
    return Evidence("no_call", f"{_last_call(times, now)} ({rule})")


def _last_call(times: _Times, now: datetime) -> str:
    if times.call is not None:
        return f"last call {words_for_age(seconds_since(times.call, now))} ago"
    if times.opened is not None:
        return f"no call since it opened, {words_for_age(seconds_since(times.opened, now))} ago"
    return "no call is recorded"


def _skew(times: _Times, now: datetime) -> list[Evidence]:
    """One mark for each stored time that lies in the future; its age is taken as 0 (room.md 4, faults.md T10)."""
    named = {
        "the wrap's opening": times.started,
        "the connection's opening": times.opened,
        "the last beat": times.beat,
        "the last call": times.call if times.call != times.beat else None,  # a call is a beat: one mark says it
    }
    return [
        Evidence("clock_skew", f"{name} is stamped {words_for_age(ahead)} in the future, taken as now (clock skew)")
        for name, moment in named.items()
        if moment is not None and (ahead := seconds_ahead(moment, now))
    ]


def _context(connection: ConnectionFacts | None, times: _Times, observation: Observation) -> list[Evidence]:
    """What else is known, for the person who decides: last beat, last call, processes."""
    if connection is None:
        return []
    found: list[Evidence] = []
    if not over_http(connection):
        found.append(_last_beat(times, observation))
    found.append(Evidence("last_call", _last_call(times, observation.now)))
    if can_be_probed(connection, observation.observer):
        if observation.process == "alive":
            found.append(Evidence("process_alive", f"pid {connection.process.pid} on this host is alive"))
        if connection.parent_pid is not None and observation.client == "alive":
            found.append(Evidence("client_alive", f"its client, pid {connection.parent_pid}, is alive"))
    return found


def _last_beat(times: _Times, observation: Observation) -> Evidence:
    if times.beat is None:
        return Evidence("beat", "no beat yet")
    seconds = seconds_since(times.beat, observation.now)
    pardoned = observation.forgiven and seconds >= SILENT_AFTER_SECONDS
    excuse = ", not counted: the observer itself was away until just now" if pardoned else ""
    return Evidence("beat", f"last beat {words_for_age(seconds)} ago{excuse}")


def _news(reason: Evidence, said: Set[EvidenceCode]) -> bool:
    """Whether a reason adds to what decided: a beat says nothing beside a silence, nor a last call beside its lack."""
    if reason.code == "beat":
        return not said & {"silent", "starting"}
    return not (reason.code == "last_call" and "no_call" in said)
