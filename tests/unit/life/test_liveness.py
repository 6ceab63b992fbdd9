"""From evidence to verdict: a row for each line of the table of room.md 4, each fact of death, and each field report."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import stamp
from core.life.liveness import (
    LIVELINESS,
    Observation,
    allows_plain_cancel,
    judge,
    livelier,
    same_boot,
    wedged_after_from_environment,
)
from core.life.observe import SuspendWatch, collect
from core.life.processes import UNREADABLE
from core.models import ConnectionFacts, EvidenceCode, Judgement, ProcessIdentity, ProcessState, Verdict
from tests.fakes import HERE, START, FakeClock, FakeProcesses

NOW = START
HOUR = 3_600.0
SERVER = replace(HERE, pid=4711, started_ticks=7_000)
ENDED = stamp(NOW - timedelta(minutes=5))


def ago(seconds: float) -> str:
    """A stored time, that many seconds before now."""
    return stamp(NOW - timedelta(seconds=seconds))


@dataclass(frozen=True)
class Case:
    """A holder at work, as an observer beside it sees it; a test changes what it is about. Ages are in seconds."""

    coherent: bool = True
    recorded: bool = True
    place: ProcessIdentity = SERVER
    parent_pid: int | None = 4700
    via: str = "stdio"
    opened: float = 3 * HOUR
    beat: float | None = 2
    call: float | None = 20
    wrap: float | None = 3 * HOUR
    closed: float | None = None
    process: ProcessState = "alive"
    client: ProcessState | None = "alive"
    newest: float | None = 1
    forgiven: bool = False
    ended: str | None = None
    wedged_after: float = 900
    texts: tuple[tuple[str, Any], ...] = ()

    @property
    def connection(self) -> ConnectionFacts | None:
        if not self.recorded:
            return None
        facts = ConnectionFacts(
            connection_id="c1",
            process=self.place,
            parent_pid=self.parent_pid,
            parent_started_ticks=None if self.parent_pid is None else 6_000,
            client_name="claude-code",
            session_id=None,
            role="agent",
            via=self.via,
            actor="{}",
            opened_at=ago(self.opened),
            closed_at=None if self.closed is None else ago(self.closed),
            last_beat_at=None if self.beat is None else ago(self.beat),
            last_call_at=None if self.call is None else ago(self.call),
        )
        return replace(facts, **{name: text for name, text in self.texts if name != "started_at"})

    @property
    def judgement(self) -> Judgement:
        newest = None if self.newest is None else NOW - timedelta(seconds=self.newest)
        observation = Observation(HERE, NOW, self.process, self.client, newest, self.forgiven, self.ended, self.wedged_after)
        started_at = dict(self.texts).get("started_at", None if self.wrap is None else ago(self.wrap))
        return judge(coherent=self.coherent, connection=self.connection, started_at=started_at, observation=observation)

    @property
    def codes(self) -> set[EvidenceCode]:
        return {reason.code for reason in self.judgement.evidence}

    @property
    def deaths(self) -> list[EvidenceCode]:
        return [reason.code for reason in self.judgement.evidence if reason.death]

    @property
    def sentences(self) -> list[str]:
        return [reason.text for reason in self.judgement.evidence]


OTHER_HOST = replace(SERVER, host="db7")
OTHER_BOOT = replace(SERVER, boot="boot-0")
OTHER_BOOT_AND_NAMESPACE = replace(SERVER, boot="boot-0", namespace="pid:[9]")
OTHER_NAMESPACE = replace(SERVER, namespace="pid:[9]")
HTTP = Case(via="http 127.0.0.1", process="unknown", client=None, parent_pid=None)

TABLE: dict[str, tuple[Case, Verdict, str]] = {
    # PARTIAL
    "a row that is not coherent": (Case(coherent=False), "PARTIAL", "the wrap's row does not match its seal"),
    "not coherent comes before unknown": (
        Case(coherent=False, recorded=False),
        "PARTIAL",
        "the wrap's row does not match its seal",
    ),
    "not coherent comes before dead": (
        Case(coherent=False, process="gone", client="gone"),
        "PARTIAL",
        "the wrap's row does not match its seal",
    ),
    # UNKNOWN
    "no connection recorded": (Case(recorded=False), "UNKNOWN", "no connection is recorded for it"),
    "another host": (Case(place=OTHER_HOST), "UNKNOWN", "on another host, db7"),
    "another host, whatever else is known": (
        Case(place=OTHER_HOST, process="gone", client="gone", ended=ENDED),
        "UNKNOWN",
        "on another host, db7",
    ),
    "another pid namespace": (Case(place=OTHER_NAMESPACE), "UNKNOWN", "pid 4711 is in another pid namespace of this host"),
    "a probe of the process failed": (Case(process="unknown"), "UNKNOWN", "pid 4711 on this host could not be looked at"),
    "a probe of the client failed": (Case(client="unknown"), "UNKNOWN", "its client, pid 4700, could not be looked at"),
    "a failed probe comes before two facts of death": (
        Case(process="unknown", client="gone", ended=ENDED),
        "UNKNOWN",
        "pid 4711 on this host could not be looked at",
    ),
    "its boot could not be read": (
        Case(place=replace(SERVER, boot=UNREADABLE)),
        "UNKNOWN",
        "pid 4711 on this host could not be looked at",
    ),
    "its namespace could not be read": (
        Case(place=replace(SERVER, namespace=UNREADABLE), process="gone", client="gone"),
        "UNKNOWN",
        "pid 4711 on this host could not be looked at",
    ),
    "an unreadable time of opening": (
        Case(texts=(("opened_at", "yesterday"),)),
        "UNKNOWN",
        "the time the connection was opened cannot be read: 'yesterday'",
    ),
    "an empty time of opening": (
        Case(texts=(("opened_at", ""),)),
        "UNKNOWN",
        "the time the connection was opened cannot be read: ''",
    ),
    "a missing time of opening": (
        Case(texts=(("opened_at", None),)),
        "UNKNOWN",
        "the time the connection was opened cannot be read: ''",
    ),
    "an unreadable beat": (Case(texts=(("last_beat_at", 17),)), "UNKNOWN", "the time of its last beat cannot be read: 17"),
    "an unreadable call": (
        Case(texts=(("last_call_at", "\x1b"),)),
        "UNKNOWN",
        "the time of its last call cannot be read: '\\x1b'",
    ),
    "an unreadable close": (
        Case(texts=(("closed_at", "x"),)),
        "UNKNOWN",
        "the time the connection was closed cannot be read: 'x'",
    ),
    "an unreadable start of the wrap": (
        Case(texts=(("started_at", "x"),)),
        "UNKNOWN",
        "the time the wrap was opened cannot be read: 'x'",
    ),
    "an unreadable end of the session": (Case(ended="x"), "UNKNOWN", "the time the session was ended cannot be read: 'x'"),
    "a time over the edge of the calendar": (
        Case(texts=(("last_beat_at", "0001-01-01T00:00:00+23:00"),)),
        "UNKNOWN",
        "the time of its last beat cannot be read: '0001-01-01T00:00:00+23:00'",
    ),
    # DEAD
    "process and client gone": (Case(process="gone", client="gone"), "DEAD", "pid 4711 on this host is gone"),
    "process gone and silent": (Case(process="gone", parent_pid=None, client=None, beat=41), "DEAD", "no beat for 41 s"),
    "client gone and silent": (Case(client="gone", beat=41), "DEAD", "its client, pid 4700, is gone"),
    "process gone and closed": (Case(process="gone", closed=41), "DEAD", f"the connection was closed at {ago(41)}"),
    "silent and session ended": (Case(beat=41, ended=ENDED), "DEAD", f"the session was ended at {ENDED}"),
    "closed and session ended": (Case(closed=41, ended=ENDED), "DEAD", f"the session was ended at {ENDED}"),
    "another boot: process and client are gone": (
        Case(place=OTHER_BOOT, process="unknown", client=None),
        "DEAD",
        "its client, pid 4700, is gone: the host has restarted since",
    ),
    "another boot, whatever the namespace": (
        Case(place=OTHER_BOOT_AND_NAMESPACE, process="unknown", client=None),
        "DEAD",
        "pid 4711 on this host is gone: the host has restarted since",
    ),
    "two facts count while nobody beats": (
        Case(process="gone", client="gone", newest=None),
        "DEAD",
        "its client, pid 4700, is gone",
    ),
    "over HTTP: closed and session ended": (
        replace(HTTP, closed=41, ended=ENDED),
        "DEAD",
        f"the connection was closed at {ago(41)}",
    ),
    # UNKNOWN: nobody beats
    "nobody has beaten for 60 s": (
        Case(beat=60, newest=60),
        "UNKNOWN",
        "nobody at all has beaten for 1 min: the store was locked, or the machine slept",
    ),
    "nobody has ever beaten": (
        Case(beat=None, newest=None),
        "UNKNOWN",
        "no beat of anybody can be found, so its silence says nothing",
    ),
    "one fact and nobody beats": (
        Case(process="gone", beat=90, newest=90),
        "UNKNOWN",
        "nobody at all has beaten for 1 min: the store was locked, or the machine slept",
    ),
    "silence is not counted while nobody beats": (
        Case(beat=90, newest=90, ended=ENDED),
        "UNKNOWN",
        "nobody at all has beaten for 1 min: the store was locked, or the machine slept",
    ),
    # STALE
    "process gone alone": (Case(process="gone", parent_pid=None, client=None), "STALE", "pid 4711 on this host is gone"),
    "client gone alone": (Case(client="gone"), "STALE", "its client, pid 4700, is gone"),
    "silent for 12 s": (Case(beat=12), "STALE", "no beat for 12 s"),
    "never a beat, 30 s after opening": (
        Case(beat=None, call=None, opened=30, wrap=30),
        "STALE",
        "not one beat in the 30 s since it opened",
    ),
    "closed alone": (Case(closed=2), "STALE", f"the connection was closed at {ago(2)}"),
    "closed and silent are one fact": (Case(closed=41, beat=41), "STALE", f"the connection was closed at {ago(41)}"),
    "session ended alone": (Case(ended=ENDED), "STALE", f"the session was ended at {ENDED}"),
    "another boot with no client": (
        Case(place=OTHER_BOOT, process="unknown", client=None, parent_pid=None),
        "STALE",
        "pid 4711 on this host is gone: the host has restarted since",
    ),
    "a fact of death comes before wedged": (Case(client="gone", call=2 * HOUR), "STALE", "its client, pid 4700, is gone"),
    "over HTTP: no call for 30 min": (
        replace(HTTP, call=1_800, beat=1_800),
        "STALE",
        "last call 30 min ago (30 min without one is stale over HTTP)",
    ),
    "over HTTP: never a call in 30 min": (
        replace(HTTP, call=None, beat=None, opened=1_800),
        "STALE",
        "no call since it opened, 30 min ago (30 min without one is stale over HTTP)",
    ),
    # WEDGED
    "alive without a call for 15 min": (
        Case(call=900),
        "WEDGED",
        "last call 15 min ago (15 min without one is wedged)",
    ),
    "alive and never a call": (
        Case(call=None),
        "WEDGED",
        "no call since it opened, 3 h 00 min ago (15 min without one is wedged)",
    ),
    "a connection itself": (Case(wrap=None, call=901), "WEDGED", "last call 15 min ago (15 min without one is wedged)"),
    "the setting": (Case(wedged_after=60, call=61), "WEDGED", "last call 1 min ago (1 min without one is wedged)"),
    "over HTTP: no call for 15 min": (replace(HTTP, call=900), "WEDGED", "last call 15 min ago (15 min without one is wedged)"),
    # STARTING
    "opened 29 s ago, no beat yet": (Case(opened=29, beat=None, call=None, wrap=1), "STARTING", "opened 29 s ago, no beat yet"),
    "the first in a new store": (
        Case(opened=1, beat=None, call=None, wrap=None, newest=None),
        "STARTING",
        "opened 1 s ago, no beat yet",
    ),
    # LIVE
    "at work": (Case(), "LIVE", "last beat 2 s ago"),
    "a beat 11 s ago": (Case(beat=11.9), "LIVE", "last beat 11 s ago"),
    "somebody beat 59 s ago": (Case(beat=11, newest=59), "LIVE", "last beat 11 s ago"),
    "no call for 15 min, but a younger wrap": (Case(call=20 * 60, wrap=14 * 60), "LIVE", "last call 20 min ago"),
    "a call 14 min ago": (Case(call=899), "LIVE", "last call 14 min ago"),
    "however old": (Case(opened=90 * 86_400, wrap=89 * 86_400), "LIVE", "pid 4711 on this host is alive"),
    "no client recorded": (Case(parent_pid=None, client=None), "LIVE", "pid 4711 on this host is alive"),
    "over HTTP: a call 14 min ago": (replace(HTTP, call=840, beat=840), "LIVE", "last call 14 min ago"),
    "over HTTP: another boot is no fact": (replace(HTTP, place=OTHER_BOOT), "LIVE", "last call 20 s ago"),
}


@pytest.mark.parametrize(("case", "verdict", "sentence"), TABLE.values(), ids=TABLE.keys())
def test_the_table_of_verdicts(case: Case, verdict: Verdict, sentence: str) -> None:
    assert case.judgement.verdict == verdict
    assert sentence in case.sentences


@pytest.mark.parametrize("case", [row[0] for row in TABLE.values()], ids=TABLE.keys())
def test_dead_says_at_least_two_facts_of_death_and_stale_at_most_one(case: Case) -> None:
    verdict = case.judgement.verdict
    if verdict == "DEAD":
        assert len(case.deaths) >= 2
    elif verdict == "STALE":
        assert len(case.deaths) <= 1
    elif verdict in ("WEDGED", "STARTING", "LIVE"):
        assert case.deaths == []
    assert case.judgement.evidence
    assert len(set(case.sentences)) == len(case.sentences)


# each fact of death, by itself


@pytest.mark.parametrize(
    ("case", "facts"),
    [
        (Case(), []),
        (Case(process="gone"), ["process_gone"]),
        (Case(client="gone"), ["client_gone"]),
        (Case(client="gone", parent_pid=None), []),
        (Case(place=OTHER_BOOT), ["process_gone", "client_gone"]),
        (Case(place=OTHER_NAMESPACE, process="gone", client="gone"), []),
        (Case(place=OTHER_HOST, process="gone", client="gone"), []),
        (Case(beat=12), ["silent"]),
        (Case(beat=11.9), []),
        (Case(beat=None, call=None), ["silent"]),
        (Case(beat=41, newest=60), []),
        (Case(beat=41, newest=None), []),
        (Case(closed=3), ["connection_closed"]),
        (Case(closed=41, beat=41), ["connection_closed"]),
        (Case(ended=ENDED), ["session_ended"]),
        (replace(HTTP, process="gone", client="gone", parent_pid=4700, beat=HOUR, place=OTHER_BOOT), []),
        (replace(HTTP, closed=3, ended=ENDED), ["connection_closed", "session_ended"]),
        (
            Case(process="gone", client="gone", beat=41, ended=ENDED),
            ["process_gone", "client_gone", "silent", "session_ended"],
        ),
    ],
)
def test_each_fact_of_death_counts_once(case: Case, facts: list[str]) -> None:
    assert case.deaths == facts


def test_the_evidence_begins_with_what_decided_then_facts_of_death_then_context() -> None:
    case = Case(process="gone", beat=41, call=3 * HOUR + 12 * 60, ended=ENDED)
    assert case.sentences == [
        "pid 4711 on this host is gone",
        "no beat for 41 s",
        f"the session was ended at {ENDED}",
        "last call 3 h 12 min ago",
        "its client, pid 4700, is alive",
    ]
    assert Case(place=OTHER_HOST, ended=ENDED).sentences[:2] == ["on another host, db7", f"the session was ended at {ENDED}"]


def test_a_damaged_row_without_connection_says_only_that_it_is_damaged() -> None:
    assert Case(coherent=False, recorded=False, wrap=None).sentences == ["the wrap's row does not match its seal"]


# the field reports (faults.md)


def test_t1_a_killed_holder_is_dead_within_15_s_with_its_reasons() -> None:
    clock, processes = FakeClock(), FakeProcesses()
    processes.add(4711, 7_000)
    processes.add(4700, 6_000)
    holder = Case().connection
    assert holder is not None

    def verdict() -> Judgement:
        seen = collect(processes, holder, clock.now(), newest_beat_at=clock.now(), forgiven=False, session_ended_at=None)
        return judge(coherent=True, connection=holder, started_at=holder.opened_at, observation=seen)

    assert verdict().verdict == "LIVE"
    processes.kill(4711)
    assert verdict().verdict == "STALE"
    clock.advance(12)
    found = verdict()
    assert found.verdict == "DEAD"
    assert [reason.text for reason in found.evidence[:2]] == ["pid 4711 on this host is gone", "no beat for 14 s"]


def test_t3_a_holder_that_beats_but_makes_no_call_is_wedged() -> None:
    case = Case(beat=1, call=3 * HOUR)
    assert case.judgement.verdict == "WEDGED"
    assert not allows_plain_cancel(case.judgement.verdict)


def test_t6_a_3_h_wrap_with_a_fresh_call_is_live() -> None:
    assert Case(wrap=3 * HOUR, call=1).judgement.verdict == "LIVE"


def test_t8_a_fresh_beat_does_not_outlive_its_ended_session() -> None:
    assert Case(beat=1, ended=ENDED).judgement.verdict == "STALE"


@pytest.fixture
def in_shanghai(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose local time is UTC+8."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Shanghai")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.skipif(os.name == "nt", reason="needs tzset")
@pytest.mark.usefixtures("in_shanghai")
@pytest.mark.parametrize("text", ["2026-11-30T11:59:19.000000Z", "2026-11-30T11:59:19", "2026-11-30T19:59:19+08:00"])
def test_t10_a_naive_time_is_utc_whatever_the_local_zone(text: str) -> None:
    case = Case(texts=(("last_beat_at", text),), call=None)
    assert "no beat for 41 s" in case.sentences
    assert not case.judgement.clock_skew


@pytest.mark.parametrize("name", ["opened_at", "last_beat_at", "last_call_at", "started_at"])
def test_t10_a_time_in_the_future_has_age_0_and_a_skew_mark(name: str) -> None:
    case = Case(opened=10, wrap=10, texts=((name, ago(-2 * HOUR)),))
    assert case.judgement.verdict == "LIVE"
    assert case.judgement.clock_skew
    assert any("stamped 2 h 00 min in the future" in sentence for sentence in case.sentences)


def test_t10_one_second_in_the_future_is_no_skew() -> None:
    case = Case(beat=-1)
    assert not case.judgement.clock_skew
    assert "clock_skew" not in case.codes


def test_t11_a_holder_that_never_beat_turns_stale_from_its_opening() -> None:
    verdicts = [Case(beat=None, call=None, opened=age, wrap=age).judgement.verdict for age in (1, 29, 30, 3 * HOUR)]
    assert verdicts == ["STARTING", "STARTING", "STALE", "STALE"]


@pytest.mark.parametrize("case", [Case(process="unknown", beat=41, ended=ENDED), Case(client="unknown", process="gone")])
def test_t14_a_failing_probe_is_unknown_and_offers_no_plain_cancel(case: Case) -> None:
    assert case.judgement.verdict == "UNKNOWN"
    assert not allows_plain_cancel(case.judgement.verdict)


def test_t15_a_holder_that_came_back_since_it_was_shown_is_livelier() -> None:
    shown = Case(beat=41, ended=ENDED).judgement.verdict
    now = Case(beat=1, ended=ENDED).judgement.verdict
    assert (shown, now) == ("DEAD", "STALE")
    assert livelier(now, shown)
    assert not livelier(shown, now)


def test_t54_a_wrap_opened_1_s_ago_without_a_beat_is_starting() -> None:
    assert Case(opened=1, wrap=1, beat=None, call=None).judgement.verdict == "STARTING"
    assert Case(opened=1, wrap=1, beat=None, call=None, newest=None).judgement.verdict == "STARTING"


def test_t61_a_living_server_whose_client_is_gone_is_not_live() -> None:
    case = Case(process="alive", client="gone")
    assert case.judgement.verdict == "STALE"
    assert case.sentences[0] == "its client, pid 4700, is gone"


# suspends


def test_after_a_gap_of_the_observers_own_no_silence_counts_until_two_beats_could_come() -> None:
    clock = FakeClock()
    watch = SuspendWatch(clock)
    assert not watch.forgiven()
    watch.tick()
    clock.advance(5)
    watch.tick()
    assert not watch.forgiven()
    clock.suspend(HOUR)
    assert watch.forgiven()  # before the first tick after it, too
    watch.tick()
    clock.advance(9.9)
    watch.tick()
    assert watch.forgiven()
    clock.advance(0.1)
    watch.tick()
    assert not watch.forgiven()


def test_an_observer_that_was_stopped_forgives_as_well() -> None:
    clock = FakeClock()
    watch = SuspendWatch(clock)
    watch.tick()
    clock.advance(12)
    assert not watch.forgiven()
    clock.advance(0.1)
    assert watch.forgiven()


def test_a_clock_set_back_is_no_gap() -> None:
    clock = FakeClock()
    watch = SuspendWatch(clock)
    watch.tick()
    clock.set(START - timedelta(hours=1))
    watch.tick()
    assert not watch.forgiven()


def test_a_beat_from_before_a_suspend_is_no_silence_while_it_is_forgiven() -> None:
    case = Case(beat=HOUR, call=HOUR, opened=2 * HOUR, wrap=60, ended=ENDED)
    assert case.judgement.verdict == "DEAD"
    forgiven = replace(case, forgiven=True)
    assert forgiven.judgement.verdict == "STALE"
    assert "last beat 1 h 00 min ago, not counted: the observer itself was away until just now" in forgiven.sentences


# looking


@pytest.mark.parametrize("place", [OTHER_HOST, OTHER_BOOT, OTHER_NAMESPACE, replace(SERVER, boot=UNREADABLE)])
def test_nothing_is_probed_that_cannot_be_seen(place: ProcessIdentity) -> None:
    processes = FakeProcesses()
    collect(processes, Case(place=place).connection, NOW, NOW, False, None)
    collect(processes, HTTP.connection, NOW, NOW, False, None)
    collect(processes, None, NOW, NOW, False, None)
    assert processes.probed == []


def test_a_process_and_its_client_are_probed_by_pid_and_start() -> None:
    processes = FakeProcesses()
    processes.add(4711, 7_000)
    processes.add(4700, 6_001)
    seen = collect(processes, Case().connection, NOW, NOW, False, None)
    assert (seen.process, seen.client) == ("alive", "gone")
    processes.deny(4711)
    assert collect(processes, Case(parent_pid=None).connection, NOW, NOW, False, None).process == "unknown"
    assert seen.observer == HERE


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("b-1", "b-1", True),
        ("b-1", "b-2", False),
        ("1764500000.0", "1764500060.0", True),  # a clock that was set moves the boot time
        ("1764500000.0", "1764500061.0", False),
        ("b-1", "1764500000.0", False),
    ],
)
def test_a_boot_time_may_drift_a_boot_id_may_not(one: str, other: str, same: bool) -> None:
    assert same_boot(one, other) is same


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60", 60), ("0.5", 0.5), ("", 900), ("soon", 900), ("0", 900), ("-1", 900), ("nan", 900), ("inf", 900), (None, 900)],
)
def test_the_wedged_setting_falls_back_to_15_min(text: str | None, seconds: float) -> None:
    environ = {} if text is None else {"WATCHROOM_WEDGED_AFTER": text}
    assert wedged_after_from_environment(environ) == seconds


def test_only_dead_and_partial_allow_a_plain_cancel() -> None:
    assert {verdict for verdict in get_args(Verdict) if allows_plain_cancel(verdict)} == {"DEAD", "PARTIAL"}
    assert set(LIVELINESS) == set(get_args(Verdict))


# properties


def whole_numbers(largest: int) -> st.SearchStrategy[float]:
    return st.integers(min_value=-100, max_value=largest).map(float)


AGES = st.one_of(whole_numbers(100), whole_numbers(4_000), whole_numbers(10**8))
PLACES = st.sampled_from([SERVER, SERVER, SERVER, OTHER_BOOT, OTHER_HOST, OTHER_NAMESPACE, OTHER_BOOT_AND_NAMESPACE])
STATES = st.sampled_from(["alive", "alive", "gone", "unknown"])
CASES = st.builds(
    Case,
    coherent=st.sampled_from([True, True, True, False]),
    recorded=st.sampled_from([True, True, True, False]),
    place=PLACES,
    parent_pid=st.sampled_from([4700, None]),
    via=st.sampled_from(["stdio", "http"]),
    opened=AGES,
    beat=st.none() | AGES,
    call=st.none() | AGES,
    wrap=st.none() | AGES,
    closed=st.none() | AGES,
    process=STATES,
    client=st.none() | STATES,
    newest=st.none() | AGES,
    forgiven=st.booleans(),
    ended=st.sampled_from([None, ENDED]),
)


@given(CASES)
def test_age_alone_is_never_dead(case: Case) -> None:
    case = replace(case, place=SERVER, process="alive", client="alive", closed=None, ended=None)
    assert case.judgement.verdict != "DEAD"


@given(CASES)
def test_a_failed_probe_of_a_coherent_wraps_process_or_client_is_unknown(case: Case) -> None:
    case = replace(case, coherent=True, recorded=True, via="stdio", place=SERVER, parent_pid=4700)
    assert replace(case, process="unknown").judgement.verdict == "UNKNOWN"
    assert replace(case, client="unknown").judgement.verdict == "UNKNOWN"


@given(
    CASES,
    st.sampled_from(
        [
            {"process": "gone"},
            {"client": "gone"},
            {"closed": 41.0},
            {"ended": ENDED},
            {"place": OTHER_BOOT},
            {"beat": 41.0, "call": 41.0},
        ]
    ),
)
def test_one_more_fact_of_death_never_makes_the_verdict_livelier(case: Case, fact: dict[str, Any]) -> None:
    case = replace(case, texts=())
    if fact.get("process", "alive") != case.process and case.process == "unknown":
        case = replace(case, process="alive")
    if fact.get("client", "alive") != case.client and case.client == "unknown":
        case = replace(case, client="alive")
    if "place" in fact:
        case = replace(case, place=SERVER, process="alive", client="alive")
    if "beat" in fact:
        case = replace(case, beat=1.0, call=1.0)
    assert not livelier(replace(case, **fact).judgement.verdict, case.judgement.verdict)


@given(CASES)
def test_every_verdict_has_its_reasons_and_the_facts_that_it_counts(case: Case) -> None:
    found = case.judgement
    assert found.evidence
    assert found.clock_skew == ("clock_skew" in case.codes)
    assert len(set(case.deaths)) == len(case.deaths)
    assert found.verdict != "DEAD" or len(case.deaths) >= 2
