"""Values that every layer may hand on: frozen, and without a word of SQL, screen or protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["PARTIAL", "UNKNOWN", "DEAD", "STALE", "WEDGED", "STARTING", "LIVE"]
"""What is believed of the one who holds a wrap or session (room.md 4); derived when read, never stored."""

EvidenceCode = Literal[
    "not_coherent",
    "no_connection",
    "other_host",
    "other_namespace",
    "probe_failed",
    "time_unreadable",
    "process_gone",
    "client_gone",
    "silent",
    "connection_closed",
    "session_ended",
    "nobody_beats",
    "no_call",
    "starting",
    "process_alive",
    "client_alive",
    "beat",
    "last_call",
    "clock_skew",
]

Trust = Literal["external", "tool", "agent", "operator"]
"""How far an episode's source is believed, from least to most (wraps.md a2)."""

EpisodeType = Literal["observation", "decision", "tension", "question", "outcome", "context"]
"""The six kinds of episode (wraps.md a2)."""

Gate = Literal["open", "required"]
"""Whether a project's wraps need the baton (wraps.md a8, room.md 2.12)."""

PeerCancel = Literal["any", "dead"]
"""Whose wraps a tokenless cancel may end (room.md 2.7)."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason behind a verdict. `text` is a sentence for people; `death` marks a fact of death (room.md 4)."""

    code: EvidenceCode
    text: str
    death: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its evidence as a list, strongest first; `clock_skew` when a stored time lies in the future."""

    verdict: Verdict
    evidence: tuple[Evidence, ...]
    clock_skew: bool = False

    def as_data(self) -> dict[str, object]:
        """The verdict and its evidence as JSON data, as refusals and receipts carry it."""
        return {"verdict": self.verdict, "evidence": [reason.text for reason in self.evidence]}


ProcessState = Literal["alive", "gone", "unknown"]
"""What a probe found of a process: alive with that start, gone (absent, a zombie, or another start), or not to be told."""


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process that can be told from every other: where it runs and when it started (faults.md R4).

    `started_ticks` is the process start in clock ticks since boot; None when the platform does not say.
    """

    host: str
    boot: str
    namespace: str
    pid: int
    started_ticks: int | None


@dataclass(frozen=True, slots=True)
class ConnectionFacts:
    """A stored connection, as far as the verdict needs it (room.md 3, table connections, and the beats file).

    Times are the store's texts: they are parsed where they are judged, because an unreadable one is evidence.
    """

    connection_id: str
    process: ProcessIdentity
    parent_pid: int | None
    parent_started_ticks: int | None
    client_name: str | None
    session_id: str | None
    role: str
    via: str
    actor: str
    opened_at: str
    closed_at: str | None
    last_beat_at: str | None
    last_call_at: str | None
