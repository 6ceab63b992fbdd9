"""Loops as an operator sees them: of one project or of all, the open ones in their order, the resolved ones behind (console.md, screen 6)."""

from __future__ import annotations

from datetime import date

from core.memory import loops as memory_loops
from core.memory.loops import Loop
from core.store.deed import Reading

LOOPS_SHOWN = 200


def loops(
    reading: Reading, project_key: str | None, *, resolved_too: bool = False, today: date, limit: int = LOOPS_SHOWN
) -> tuple[Loop, ...]:
    """Open loops by tier, salience and how alive they are on that day, then (if wanted) resolved ones, the last resolved first.

    At most `limit` of either; without their notes.
    """
    found = [memory_loops.loop_of(row, today) for row in _rows(reading, project_key, "open", "id", limit)]
    found.sort(key=memory_loops.order)
    if resolved_too:
        found += [
            memory_loops.loop_of(row, today) for row in _rows(reading, project_key, "resolved", "resolved_at desc, id", limit)
        ]
    return tuple(found)


def _rows(reading: Reading, project_key: str | None, status: str, order: str, limit: int) -> list[object]:
    of_project, values = ("project_key = ? and ", (project_key,)) if project_key is not None else ("", ())
    return list(
        reading.all(f"select * from spores where {of_project}status = ? order by {order} limit ?", (*values, status, limit))
    )
