"""The beats file `<store>-beats`: beats, times of last call and deliveries of notices (room.md 3 and 4).

It is apart from the store, with synchronous off, so that a beat waits for no writer and moves no change counter. It is
disposable: when it is damaged or gone it is made anew, and a write that fails is dropped, for the next beat comes in 5 s.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core.clock import Clock, parse_stamp, stamp
from core.store.database import identity_of
from core.store.library import sqlite3

BEAT_SECONDS = 5.0

TABLES = """
create table if not exists beats (
    connection_id text primary key,
    beat_at text,
    call_at text,
    calls integer not null default 0,
    refusals integer not null default 0,
    client_name text,
    client_version text
) without rowid;
create table if not exists deliveries (
    notice_id integer not null,
    connection_id text not null,
    delivered_at text not null,
    times integer not null default 1,
    primary key (notice_id, connection_id)
) without rowid;
"""


@dataclass(frozen=True, slots=True)
class Beat:
    """What the beats file knows of one connection; times are texts as stored."""

    connection_id: str
    beat_at: str | None
    call_at: str | None
    calls: int
    refusals: int
    client_name: str | None
    client_version: str | None


def beats_path(store: Path) -> Path:
    """The beats file of a store."""
    return store.with_name(store.name + "-beats")


class Beats:
    """A process's handle on the beats file. Every method swallows SQLite's errors: a lost beat is no failure."""

    def __init__(self, store: Path, clock: Clock) -> None:
        self.path = beats_path(store)
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: Any = None
        self._inode: tuple[int, int] | None = None

    def beat(self, connection_id: str) -> None:
        """Say that a connection is alive now."""
        self._write(
            "insert into beats (connection_id, beat_at) values (?, ?)"
            " on conflict (connection_id) do update set beat_at = excluded.beat_at",
            (connection_id, stamp(self._clock.now())),
            whole=True,
        )

    def called(self, connection_id: str, client_name: str | None = None, client_version: str | None = None) -> None:
        """Say that a connection's client made a call now; a call is a beat as well (faults.md R6)."""
        now = stamp(self._clock.now())
        self._write(
            "insert into beats (connection_id, beat_at, call_at, calls, client_name, client_version) values (?, ?, ?, 1, ?, ?)"
            " on conflict (connection_id) do update set beat_at = excluded.beat_at, call_at = excluded.call_at, calls = calls + 1,"
            " client_name = coalesce(excluded.client_name, client_name),"
            " client_version = coalesce(excluded.client_version, client_version)",
            (connection_id, now, now, client_name, client_version),
        )

    def refused(self, connection_id: str) -> None:
        """Count a refusal that a connection got."""
        self._write("update beats set refusals = refusals + 1 where connection_id = ?", (connection_id,))

    def delivered(self, notice_id: int, connection_id: str) -> None:
        """Say that a notice has reached a connection now."""
        self._write(
            "insert into deliveries (notice_id, connection_id, delivered_at) values (?, ?, ?)"
            " on conflict (notice_id, connection_id) do update set delivered_at = excluded.delivered_at, times = times + 1",
            (notice_id, connection_id, stamp(self._clock.now())),
        )

    def close(self) -> None:
        """Close the handle."""
        with self._lock:
            self._drop()

    def _write(self, sql: str, parameters: tuple[Any, ...], *, whole: bool = False) -> None:
        with self._lock:
            for _ in range(2):
                try:
                    self._open(check=whole)
                    self._connection.execute(sql, parameters)
                    return
                except sqlite3.DatabaseError as error:
                    self._drop()
                    if "malformed" in str(error) or "not a database" in str(error):
                        # disposable by the specification: a damaged beats file is made anew
                        for suffix in ("", "-wal", "-shm"):
                            with contextlib.suppress(OSError):
                                self.path.with_name(self.path.name + suffix).unlink()
                except (sqlite3.Error, OSError):
                    self._drop()

    def _open(self, *, check: bool) -> None:
        if self._connection is not None and (not check or identity_of(self.path) == self._inode):
            return
        self._drop()
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection = sqlite3.connect(str(self.path), isolation_level=None, timeout=1.0, check_same_thread=False)
        self._connection = connection
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = off")
        connection.execute("pragma wal_autocheckpoint = 200")
        for statement in TABLES.split(";"):
            if statement.strip():
                connection.execute(statement)
        self._inode = identity_of(self.path)

    def _drop(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None


class BeatsReader:
    """Reads the beats file for an observer, `mode=ro`, kept open; a file that is missing or damaged reads as empty."""

    def __init__(self, store: Path) -> None:
        self.path = beats_path(store)
        self._lock = threading.Lock()
        self._connection: Any = None
        self._inode: tuple[int, int] | None = None

    def all(self) -> dict[str, Beat]:
        """Every connection's beat, by connection id."""
        rows = self._rows("select connection_id, beat_at, call_at, calls, refusals, client_name, client_version from beats", ())
        return {row[0]: Beat(*row) for row in rows}

    def one(self, connection_id: str) -> Beat | None:
        """One connection's beat."""
        rows = self._rows(
            "select connection_id, beat_at, call_at, calls, refusals, client_name, client_version from beats where connection_id = ?",
            (connection_id,),
        )
        return Beat(*rows[0]) if rows else None

    def newest(self) -> datetime | None:
        """The newest beat of anybody: when there is none for 60 s, nobody can be called silent (room.md 4)."""
        rows = self._rows("select max(beat_at) from beats", ())
        return parse_stamp(rows[0][0]) if rows else None

    def delivered_at(self, notice_id: int, connection_id: str) -> datetime | None:
        """When a notice last reached a connection."""
        rows = self._rows(
            "select delivered_at from deliveries where notice_id = ? and connection_id = ?", (notice_id, connection_id)
        )
        return parse_stamp(rows[0][0]) if rows else None

    def data_version(self) -> int | None:
        """A number that moves when somebody has beaten; None when there is no file to read."""
        rows = self._rows("pragma data_version", ())
        return int(rows[0][0]) if rows else None

    def close(self) -> None:
        """Close the handle."""
        with self._lock:
            self._drop()

    def _rows(self, sql: str, parameters: tuple[Any, ...]) -> list[Any]:
        with self._lock:
            try:
                found = identity_of(self.path)
                if self._connection is None or found != self._inode:
                    self._drop()
                    if found is None:
                        return []
                    self._connection = sqlite3.connect(
                        f"file:{quote(str(self.path))}?mode=ro",
                        uri=True,
                        isolation_level=None,
                        timeout=0.5,
                        check_same_thread=False,
                    )
                    self._inode = found
                return list(self._connection.execute(sql, parameters).fetchall())
            except sqlite3.Error:
                self._drop()
                return []

    def _drop(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None


class Heart:
    """Beats for a connection every 5 s from a thread of its own (room.md 4). `on_beat` is called with each beat."""

    def __init__(
        self, beats: Beats, connection_id: str, *, seconds: float = BEAT_SECONDS, on_beat: Callable[[], None] = lambda: None
    ) -> None:
        self._beats = beats
        self._connection_id = connection_id
        self._seconds = seconds
        self._on_beat = on_beat
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchroom-beats", daemon=True)

    def start(self) -> None:
        """Start beating; the first beat is at once."""
        self._beats.beat(self._connection_id)
        self._thread.start()

    def stop(self) -> None:
        """Stop beating and wait for the thread."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        while not self._stopped.wait(self._seconds):
            self._on_beat()
            self._beats.beat(self._connection_id)
