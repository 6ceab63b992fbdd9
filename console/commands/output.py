"""What commands print: plain aligned tables out of inert text, and the one JSON shape (console.md, Feel)."""

from __future__ import annotations

import contextlib
import io
import json
import math
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from console.text import block, cells, crop, fit, one_line

JSON_VERSION = 1
"""The value of `watchroom` in every JSON answer; it moves when the shape does."""
NOT_MEASURED = "–"
"""Stands for what is not known; it is never 0."""
SMALLEST_CELL = 8
GAP = "  "
SPOOLED = 8 * 1024 * 1024
"""Bytes on their way to stdout that are kept in memory; what is longer waits in an unnamed temporary file."""
TEXT_WIDTH = 120
"""The width of wrapped text where there is no terminal to ask."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. A `flexible` one gives way first when the terminal is narrow; numbers stand `right`."""

    name: str
    right: bool = False
    flexible: bool = False


def terminal_width() -> int | None:
    """The terminal's width in cells; None when stdout is none, so that nothing is cut for a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def cell(value: object) -> str:
    """A value as one inert line: whatever it holds drives no terminal and breaks no line (faults.md T38, T39, T41)."""
    if value is None:
        return NOT_MEASURED
    if isinstance(value, bool):
        return "yes" if value else "no"
    return one_line(value if isinstance(value, str) else str(value))


def table(columns: Sequence[Column], rows: Iterable[Sequence[object]], width: int | None = None) -> list[str]:
    """The lines of a table, its heads first. With a `width` no line is longer; without one nothing is cut."""
    lines = [[column.name.upper() for column in columns], *([cell(value) for value in row] for row in rows)]
    widths = [max(cells(line[at]) for line in lines) for at in range(len(columns))]
    if width is not None:
        widths = _narrowed(columns, widths, width)
    drawn = []
    for line in lines:
        parts = [
            fit(text, size, "right" if column.right else "left")
            for text, size, column in zip(line, widths, columns, strict=True)
            if size
        ]
        text = GAP.join(parts).rstrip()
        drawn.append(crop(text, width) if width is not None else text)
    return drawn


def _narrowed(columns: Sequence[Column], widths: list[int], width: int) -> list[int]:
    widths = list(widths)
    room = width - len(GAP) * (len(columns) - 1)
    for at in [at for at, column in enumerate(columns) if column.flexible]:
        widths[at] = min(widths[at], max(room, SMALLEST_CELL))  # so that the loop below is short
    while sum(widths) > room:
        wide = [at for at, column in enumerate(columns) if column.flexible and widths[at] > SMALLEST_CELL]
        if not wide:
            break
        widths[max(wide, key=lambda at: widths[at])] -= 1
    return widths


def wrapped(text: str, indent: int = 0) -> list[str]:
    """A longer text as inert lines, wrapped at words."""
    width = max(20, (terminal_width() or TEXT_WIDTH) - indent)
    return [" " * indent + line for line in block(text, max_lines=500, max_columns=width)]


def say(lines: Iterable[str] | str) -> None:
    """Print an answer for people: it goes to stdout."""
    click.echo(lines if isinstance(lines, str) else "\n".join(lines))


def tell(text: str) -> None:
    """Print words about the work: they go to stderr, so that stdout stays data."""
    click.echo("\n".join(wrapped(text)), err=True)


@contextlib.contextmanager
def spooled() -> Iterator[Callable[[str], object]]:
    """Gives what to write to, and puts all of it to stdout at the end.

    So a reader that takes its time does not hold the snapshot that the lines come from, which would keep the store's log from being cut.
    """
    import tempfile

    from core.exchange.new_file import TextFile

    with tempfile.SpooledTemporaryFile(SPOOLED) as spool:
        yield TextFile(Path(tempfile.gettempdir()), spool).write
        spool.seek(0)
        shutil.copyfileobj(io.TextIOWrapper(spool, "utf-8", newline=""), sys.stdout)


class Progress:
    """Says on stderr how far a long work is, when that is a terminal; its line goes when the work ends."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        """So many rows of so many are done; a total of 0 is not known."""
        if sys.stderr.isatty():
            of = f" of {total:,}" if total else ""
            click.echo(f"\r{self._what}: {done:,}{of} rows", nl=False, err=True)
            self._shown = True

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def plain(value: Any) -> Any:
    """A value of core as JSON data: records become objects with the same names, times the store's own texts."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if isinstance(value, datetime):
        from core.clock import stamp

        return stamp(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def as_json(value: Mapping[str, Any]) -> str:
    """One line of ASCII: every acting or hidden character in it is escaped, so that it is inert on a terminal as well."""
    return json.dumps(plain(value), ensure_ascii=True, allow_nan=False)
