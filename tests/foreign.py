"""Stores that the real anneal-memory made (tests/data/anneal/make.py), copied so that a test may spoil or lengthen them."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

MADE = Path(__file__).parent / "data" / "anneal"


def copied(version: str, folder: Path) -> Path:
    """The database of a real store of that version, in a folder of its own."""
    shutil.copytree(MADE / version, folder / "anneal")
    return folder / "anneal" / "memory.db"


@contextlib.contextmanager
def spoilt(path: Path) -> Iterator[sqlite3.Connection]:
    """The foreign database, to be changed by hand, without its guards."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f'drop trigger "{name}"')
        yield connection
        connection.commit()
        connection.execute("pragma wal_checkpoint(truncate)")


def lengthened(path: Path, episodes: int) -> Path:
    """The same database with so many more episodes, which wait for the next wrap."""
    with spoilt(path) as connection:
        connection.executemany(
            "insert or ignore into episodes (id, timestamp, type, content) values (?, '2027-01-01T00:00:00.000000Z', 'context', ?)",
            ((f"{number + 0xF0000000:08x}", f"one of many, number {number}") for number in range(episodes)),
        )
    return path


def loosened(path: Path, *tables: str) -> Path:
    """The same database with tables that hold no constraint any more, so that anything can be written to them."""
    with spoilt(path) as connection:
        for table in tables:
            connection.execute(f"create table loose as select * from {table}")
            connection.execute(f"drop table {table}")
            connection.execute(f"alter table loose rename to {table}")
    return path
