"""Loops as an operator sees them: of one project or of all, the open ones in their order, the resolved ones behind (console.md, screen 6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from core.memory import loops as memory_loops
from core.memory.loops import Loop
from core.store.deed import Reading

LOOPS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class LoopPage:
    """The first loops of the list, without their notes, and whether there are more of them."""

    rows: tuple[Loop, ...]
    more: bool


def loops(
    reading: Reading,
    project_key: str | None,
    *,
    resolved_too: bool = False,
    dormant_only: bool = False,
    today: date,
    limit: int = LOOPS_SHOWN,
) -> LoopPage:
    """Open loops by tier, salience and how alive they are on that day, then (if wanted) resolved ones, the last resolved first.

    At most `limit` together. `dormant_only` gives the open ones that nobody has looked at for long, and no resolved ones.
    """
    # how alive a loop is, is of the day and not stored: the order is known when all that are open were read
    found = [memory_loops.loop_of(row, today) for row in _rows(reading, project_key, "open", "id")]
    if dormant_only:
        found = [loop for loop in found if loop.germination == "dormant"]
    found.sort(key=memory_loops.order)
    if resolved_too and not dormant_only and len(found) <= limit:
        resolved = _rows(reading, project_key, "resolved", "resolved_at desc, id", limit + 1 - len(found))
        found += [memory_loops.loop_of(row, today) for row in resolved]
    return LoopPage(tuple(found[:limit]), len(found) > limit)


def _rows(reading: Reading, project_key: str | None, status: str, order: str, limit: int = -1) -> list[Any]:
    of_project, values = ("project_key = ? and ", (project_key,)) if project_key is not None else ("", ())
    return list(
        reading.all(f"select * from spores where {of_project}status = ? order by {order} limit ?", (*values, status, limit))
    )
