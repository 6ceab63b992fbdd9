"""Ages in seconds and in words: one way to say how long ago something was, for refusals, evidence and every screen."""

from __future__ import annotations

from datetime import datetime

SKEW_TOLERANCE_SECONDS = 1.0
"""How far in the future a stored time may lie before it is called clock skew (room.md 4)."""


def seconds_since(moment: datetime, now: datetime) -> float:
    """How long ago a moment was, in seconds; a negative age is 0 (room.md 4). Both are aware of their zone."""
    return max(0.0, (now - moment).total_seconds())


def seconds_ahead(moment: datetime, now: datetime) -> float:
    """How far a moment lies in the future, in seconds, when that is clock skew; otherwise 0 (room.md 4)."""
    ahead = (moment - now).total_seconds()
    return ahead if ahead > SKEW_TOLERANCE_SECONDS else 0.0


def words_for_age(seconds: float) -> str:
    """An age in words, rounded down, with at most two units: `41 s`, `3 min`, `2 h 05 min`, `3 d 4 h`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min"
    if whole < 86_400:
        return f"{whole // 3_600} h {whole % 3_600 // 60:02d} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3_600} h"
