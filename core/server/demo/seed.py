"""The demo's history: an hour of work before anybody looked, done through the real verbs on a clock that starts an hour ago."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from core.clock import SystemClock
from core.room import Place, Room
from core.server.demo import sessions
from core.server.demo.compression import compress, read_package
from core.server.demo.stories import CHECKOUT, DOCS, PAYMENTS, SEARCH, Line, Story

SECONDS_BACK = 3_500.0
SECONDS_LEFT = 100.0
"""How long before now the history ends."""


class PastClock:
    """A clock that starts in the past and moves only when it is told to."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._system = SystemClock()

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self._now += timedelta(seconds=seconds)

    def now(self) -> datetime:
        """The time in the history, a little later at each look."""
        self._now += timedelta(milliseconds=7)
        return self._now

    def today(self) -> date:
        """The local date then."""
        return self._now.astimezone().date()

    def monotonic(self) -> float:
        """The machine's own: it measures patience, not history."""
        return self._system.monotonic()


@dataclass(frozen=True, slots=True)
class _Chapter:
    """One wrap of the history: who, in which project, over how many episodes, and how it ended."""

    story: Story
    agent: str
    episodes: int
    cancelled_because: str | None = None


CHAPTERS = (
    _Chapter(PAYMENTS, "ledger-agent", 5),
    _Chapter(CHECKOUT, "planning-agent", 5),
    _Chapter(SEARCH, "planning-agent", 4),
    _Chapter(DOCS, "docs-agent", 4),
    _Chapter(CHECKOUT, "planning-agent", 4),
    _Chapter(PAYMENTS, "ledger-agent", 4, "its host was taken down for the kernel update; the next shift wraps again"),
    _Chapter(PAYMENTS, "ledger-agent", 2),
    _Chapter(SEARCH, "planning-agent", 4),
    _Chapter(CHECKOUT, "planning-agent", 4),
    _Chapter(DOCS, "docs-agent", 3),
)
LEFT_WAITING = ((CHECKOUT, 3), (SEARCH, 2), (DOCS, 2))
"""Episodes that no wrap covers yet when the history ends."""


def seed(path: Path, *, gated_session: str) -> None:
    """Fill a new store. Project docs is left gated, with the baton at `gated_session`.

    Raises StoreError when there can be no store at `path`.
    """
    clock = PastClock(datetime.now(UTC) - timedelta(seconds=SECONDS_BACK))
    pause = (SECONDS_BACK - SECONDS_LEFT) / sum(chapter.episodes + 2 for chapter in CHAPTERS)
    with ExitStack() as stack:
        operator = stack.enter_context(Room(Place(path, "cli"), clock=clock))
        agents: dict[str, Room] = {}
        for name in dict.fromkeys(chapter.agent for chapter in CHAPTERS):
            agents[name] = stack.enter_context(Room(Place(path, "stdio", client_name=name), clock=clock))
        sessions.begin(operator)
        lines = {story.project_key: story.episodes("history") for story in (PAYMENTS, CHECKOUT, SEARCH, DOCS)}
        for chapter in CHAPTERS:
            room = agents[chapter.agent]
            _record(room, chapter.story, lines[chapter.story.project_key], chapter.episodes, clock, pause)
            prepared = room.do("prepare_wrap", project_key=chapter.story.project_key)
            clock.move(pause)
            if chapter.cancelled_because:
                _cancel(operator, prepared, chapter.cancelled_because)
            else:
                _save(room, chapter.story, prepared)
            clock.move(pause)
        sessions.work(operator, agents, clock.move)
        for story, count in LEFT_WAITING:
            _record(agents["planning-agent"], story, lines[story.project_key], count, clock, 5.0)
        operator.do("gate", project_key=DOCS.project_key, gate="required")
        operator.do("baton_claim", project_key=DOCS.project_key, session_id=gated_session)


def _record(room: Room, story: Story, lines: Iterator[Line], count: int, clock: PastClock, pause: float) -> None:
    for _ in range(count):
        line = next(lines)
        room.do(
            "record",
            project_key=story.project_key,
            content=line.text,
            episode_type=line.episode_type,
            source=line.source,
            trust=line.trust,
        )
        clock.move(pause)


def _save(room: Room, story: Story, prepared: Any) -> None:
    episodes, earlier = read_package(prepared.package)
    text = compress(story, episodes, earlier, prepared.wrap_date)
    room.do("save_continuity", project_key=story.project_key, text=text, wrap_token=prepared.wrap_token)


def _cancel(operator: Room, prepared: Any, reason: str) -> None:
    # LIVE is what any holder looks at most, so the verdict can't have become livelier than shown
    operator.do(
        "force_cancel",
        wrap_id=prepared.wrap_id,
        verdict="LIVE",
        reason=reason,
        generation=prepared.generation,
        token_start=prepared.wrap_token[:8],
        typed=prepared.wrap_token[:6],
    )
