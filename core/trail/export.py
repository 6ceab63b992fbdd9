"""Exporting the trail as JSON lines that verify without the store (room.md 5)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from core.store.database import SqliteError, View
from core.trail.verify import COLUMNS, LARGEST, PROGRESS_ROWS, Cancelled, Progress

NAMES = tuple(name.strip() for name in COLUMNS.split(","))


def export(
    view: View,
    write: Callable[[str], object],
    *,
    first: int | None = None,
    last: int | None = None,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> int:
    """Write the rows numbered from `first` to `last` as JSON lines (export_lines), and give how many there were.

    A cancelled export stops between two rows.
    """
    newest = view.one("select count(*) from audit") if progress else None
    total, done = newest[0] if newest else 0, 0
    if progress:
        progress(0, total)
    for line in export_lines(view, first=first, last=last):
        if cancelled and done % PROGRESS_ROWS == 0 and cancelled():
            break
        write(line + "\n")
        done += 1
        if progress and done % PROGRESS_ROWS == 0:
            progress(done, total)
    return done


def export_lines(view: View, *, first: int | None = None, last: int | None = None) -> Iterator[str]:
    """The rows numbered from `first` to `last` as JSON, every column as stored; None is from the very first or to the very last.

    What JSON cannot hold is kept so that nothing is lost and the line is told as unreadable: bytes that are not UTF-8 as
    `\\udc80` to `\\udcff`, a blob as `{"blob": HEX}`.
    """
    encode = json.JSONEncoder(separators=(",", ":"), default=_blob).encode
    at: float = -math.inf if first is None else first - 1
    end = LARGEST if last is None else last
    while True:
        cursor = None
        try:
            cursor = view.execute(f"select {COLUMNS} from audit where seq > ? and seq <= ? order by seq", (at, end))
            while (row := cursor.fetchone()) is not None:
                yield encode(dict(zip(NAMES, row, strict=True)))
                at = row[0]
            return
        except SqliteError as error:
            if "decode" not in str(error).lower():
                raise
        finally:
            if cursor is not None:
                cursor.close()
        seq, values = _raw_row(view, at, end)
        yield encode(dict(zip(NAMES, values, strict=True)))
        at = seq


def _raw_row(view: View, at: float, end: int) -> tuple[int, list[Any]]:
    """The row after `at`, whose text is not UTF-8."""
    columns = ", ".join(f"typeof({name}), cast({name} as blob)" for name in NAMES)
    row = view.execute(f"select seq, {columns} from audit where seq > ? and seq <= ? order by seq limit 1", (at, end)).fetchone()
    pairs = zip(row[1::2], row[2::2], strict=True)
    return row[0], [_as_stored(kind, content) for kind, content in pairs]


def _as_stored(kind: str, content: bytes | None) -> Any:
    if content is None or kind == "blob":
        return content
    if kind == "text":
        return content.decode("utf-8", "surrogateescape")
    return int(content) if kind == "integer" else float(content)


def _blob(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {"blob": value.hex()}
    raise TypeError(f"no column of SQLite's holds a {type(value).__name__}")
