"""The trail as an operator reads it: pages by number, filters in chunks, the rows about one thing (console.md, screen 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.actors import Actor
from core.store.deed import Reading

CHUNK = 20_000
"""Rows that one step of a filter looks at (libraries.md F)."""
COLUMNS = "seq, version, at, event, outcome, project_key, actor, connection_id, subject, data, prev_hash, hash"


@dataclass(frozen=True, slots=True)
class TrailRow:
    """One row of the trail as stored."""

    seq: int
    version: int
    at: str
    event: str
    outcome: str
    project_key: str | None
    actor: str
    connection_id: str | None
    subject: str | None
    data: str
    prev_hash: str
    hash: str

    @property
    def who(self) -> Actor:
        """The actor that the row names."""
        return Actor.from_json(self.actor)


@dataclass(frozen=True, slots=True)
class TrailFilter:
    """What to show of the trail; an empty field lets everything through. Times are stored texts, both ends inclusive.

    `text` is found in event, subject, project, actor and data, without regard to ASCII case; `actor` in the actor's text.
    """

    text: str = ""
    event: str = ""
    outcome: str = ""
    project_key: str = ""
    actor: str = ""
    since: str = ""
    until: str = ""

    @property
    def empty(self) -> bool:
        """Whether it lets everything through."""
        return self == TrailFilter()


@dataclass(frozen=True, slots=True)
class Found:
    """One chunk's matches, newest first, and the number below which the next chunk goes on (None at the beginning)."""

    rows: tuple[TrailRow, ...]
    next_before: int | None


def bounds(reading: Reading) -> tuple[int, int]:
    """The first and last number of the trail; (0, 0) when it is empty."""
    first = reading.one("select seq from audit order by seq limit 1")
    last = reading.one("select seq from audit order by seq desc limit 1")
    return (first[0], last[0]) if first and last else (0, 0)


def page(reading: Reading, first: int, last: int) -> tuple[TrailRow, ...]:
    """The rows numbered from `first` to `last`, in order."""
    return tuple(
        TrailRow(*tuple(row))
        for row in reading.all(f"select {COLUMNS} from audit where seq between ? and ? order by seq", (first, last))
    )


def one(reading: Reading, seq: int) -> TrailRow | None:
    """The row with that number."""
    found = page(reading, seq, seq)
    return found[0] if found else None


def rows_about(reading: Reading, subject: str, *, limit: int = 200) -> tuple[TrailRow, ...]:
    """The newest rows about one thing, oldest first."""
    rows = reading.all(f"select {COLUMNS} from audit where subject = ? order by seq desc limit ?", (subject, limit))
    return tuple(TrailRow(*tuple(row)) for row in reversed(rows))


def filter_chunk(reading: Reading, wanted: TrailFilter, before: int, *, limit: int = 500, chunk: int = CHUNK) -> Found:
    """The matches among the `chunk` rows below number `before`, newest first, at most `limit`."""
    low = max(0, before - chunk)
    where, values = _conditions(wanted)
    sql = f"select {COLUMNS} from audit where seq < ? and seq >= ?{where} order by seq desc limit ?"
    rows = tuple(TrailRow(*tuple(row)) for row in reading.all(sql, (before, low, *values, limit)))
    if len(rows) == limit:
        return Found(rows, rows[-1].seq)
    return Found(rows, low if low > 0 else None)


def matching(reading: Reading, wanted: TrailFilter, *, limit: int) -> Iterator[TrailRow]:
    """The newest matches of the whole trail, newest first, at most `limit`, looked for chunk by chunk."""
    before: int | None = bounds(reading)[1] + 1
    left = limit
    while before is not None and left > 0:
        found = filter_chunk(reading, wanted, before, limit=min(left, 500))
        yield from found.rows
        left -= len(found.rows)
        before = found.next_before


def events(reading: Reading) -> tuple[str, ...]:
    """The event names among the newest rows, for a filter's choices."""
    last = bounds(reading)[1]
    rows = reading.all("select distinct event from audit where seq > ? order by event", (last - CHUNK,))
    return tuple(row[0] for row in rows)


def _conditions(wanted: TrailFilter) -> tuple[str, list[str]]:
    where, values = "", []
    for column, value in (("event", wanted.event), ("outcome", wanted.outcome), ("project_key", wanted.project_key)):
        if value:
            where += f" and {column} = ?"
            values.append(value)
    if wanted.since:
        where += " and at >= ?"
        values.append(wanted.since)
    if wanted.until:
        where += " and at <= ?"
        values.append(wanted.until)
    if wanted.actor:
        where += " and instr(lower(actor), lower(?))"
        values.append(wanted.actor)
    if wanted.text:
        columns = ("event", "coalesce(subject, '')", "coalesce(project_key, '')", "actor", "data")
        where += " and (" + " or ".join(f"instr(lower({column}), lower(?))" for column in columns) + ")"
        values.extend([wanted.text] * len(columns))
    return where, values
