"""Time, passed in: the store's receive times in UTC, as text with microseconds and `Z` (room.md 3 and 4)."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from typing import Protocol


class Clock(Protocol):
    """What the room asks of time."""

    def now(self) -> datetime:
        """The time in UTC."""
        ...

    def today(self) -> date:
        """The local calendar date, which a wrap keeps as its wrap date (wraps.md a3)."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that nobody sets, for durations that one process measures at both ends."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The time in UTC."""
        return datetime.now(UTC)

    def today(self) -> date:
        """The local calendar date."""
        return date.today()

    def monotonic(self) -> float:
        """Seconds on a clock that nobody sets."""
        return time.monotonic()


def stamp(moment: datetime) -> str:
    """A moment as the store writes it: UTC, microseconds, `Z`."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_stamp(text: object) -> datetime | None:
    """The moment a stored text names, or None when it cannot be read; a text without a zone is UTC (faults.md T10)."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # no time, or one at the edge of the calendar
        return None
