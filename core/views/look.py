"""Looking at a room without being in it: a reader and a witness, which register no connection and write nothing (room.md 2.12).

It imports neither sqlite_utils nor pydantic, for a command that only looks and the console's first paint wait for it (libraries.md E.3).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.clock import Clock, SystemClock
from core.life.beats import BeatsReader
from core.life.liveness import wedged_after_from_environment
from core.life.processes import Processes, SystemProcesses
from core.life.witness import Witness
from core.store.database import Reader, View


@dataclass(frozen=True, slots=True)
class Versions:
    """Numbers that move when the store or the beats file moved. They compare only within one `Looker`."""

    opened: int
    store: int
    beats: int | None


class Looker:
    """Reads one store for an observer. Opened at the first look, and again whenever the path names another file."""

    def __init__(
        self, path: Path, clock: Clock | None = None, processes: Processes | None = None, *, patience: float = 0.5
    ) -> None:
        """Nothing is opened yet. `patience` is how many seconds a look waits for a lock that even readers meet."""
        self.path = path
        self.clock: Clock = clock or SystemClock()
        self.processes: Processes = processes or SystemProcesses()
        self._patience = patience
        self._lock = threading.RLock()
        self._reader: Reader | None = None
        self._opened = 0
        self.beats = BeatsReader(path)
        # the one witness lives as long as the observer: it has to notice the observer's own absences
        self.witness = Witness(self.processes, self.beats, self.clock, wedged_after_from_environment(os.environ))

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[tuple[View, Witness]]:
        """A consistent view with the witness to judge what it shows. Raises StoreError when the store cannot be read."""
        with self._lock, self.reader().snapshot() as view:
            yield view, self.witness

    def versions(self) -> Versions:
        """What to compare before looking again: equal means that nothing was committed in between. Raises StoreError."""
        with self._lock:
            reader = self.reader()
            return Versions(self._opened, reader.data_version(), self.beats.data_version())

    def reader(self) -> Reader:
        """The open reader of the file that the path names now. Raises StoreError when there is none or it cannot be read."""
        with self._lock:
            if self._reader is not None and self._reader.replaced():
                self._close_reader()
            if self._reader is None:
                self._reader = Reader(self.path, patience=self._patience)
                self._opened += 1
            return self._reader

    def interrupt(self) -> None:
        """Stop a query that another thread runs through this looker."""
        # without the lock: the thread to be stopped holds it
        reader = self._reader
        if reader is not None:
            reader.interrupt()

    def close(self) -> None:
        """Close the files; a later look opens them again."""
        with self._lock:
            self._close_reader()
            self.beats.close()

    def __enter__(self) -> Looker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
