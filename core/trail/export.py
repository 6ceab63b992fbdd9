"""Exporting the trail as JSON lines that verify without the store (room.md 5)."""

from __future__ import annotations

import json
from collections.abc import Callable

from core.store.database import View
from core.trail.verify import COLUMNS, PROGRESS_ROWS, Cancelled, Progress


def export(
    view: View,
    write: Callable[[str], object],
    *,
    first: int = 1,
    last: int | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> int:
    """Write the rows numbered from `first` to `last` as JSON lines, every column as stored, and give how many there were.

    A cancelled export stops between two rows.
    """
    names = [name.strip() for name in COLUMNS.split(",")]
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_printable).encode
    newest = view.one("select seq from audit order by seq desc limit 1")
    total = newest[0] if newest else 0
    cursor = view.execute(
        f"select {COLUMNS} from audit where seq >= ? and seq <= ? order by seq", (first, 2**62 if last is None else last)
    )
    done = 0
    try:
        for row in cursor:
            if done % PROGRESS_ROWS == 0:
                if progress:
                    progress(done, total)
                if cancelled and cancelled():
                    break
            write(encode(dict(zip(names, row, strict=True))) + "\n")
            done += 1
    finally:
        cursor.close()
    return done


def _printable(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)
