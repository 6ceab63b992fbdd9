"""The shrink guard: a base focus is replaced whole, so a much shorter text is refused (sessions.md b.19, room.md 2.18)."""

from __future__ import annotations

from core.errors import Refusal
from core.sessions.limits import FOCUS_LIMIT

KEPT_PERCENT = 70


def floor(current: str | None) -> int:
    """The fewest characters that may replace the base focus as stored: 70 % of it, never more than a handover may have."""
    return min(-(-len(current or "") * KEPT_PERCENT // 100), FOCUS_LIMIT)


def shrinks(current: str | None, proposed: str) -> bool:
    """Whether the guard refuses: the trimmed proposal is under the floor. An empty base has none."""
    return len(proposed.strip()) < floor(current)


def refusal(project_key: str, current: str | None, proposed: str, *, subject: str) -> Refusal:
    """The guard's `base_focus_shrink`: both lengths, the floor, and that the write REPLACES the whole base (room.md 2.2)."""
    length, standing, least = len(proposed.strip()), len(current or ""), floor(current)
    return Refusal(
        "base_focus_shrink",
        f"The text has {length:,} characters, the base focus of project {project_key} has {standing:,}; at least {least:,} are "
        f"needed ({KEPT_PERCENT} %). This write REPLACES the whole base: send all that is to stand, not only what is new. "
        "Nothing was changed.",
        facts={"proposed_characters": length, "current_characters": standing, "floor": least, "project_key": project_key},
        project_key=project_key,
        subject=subject,
    )
