"""Anchors: the trail's head, noted outside the store, against cutting its end off or putting an old copy back (room.md 5).

Every process that writes appends a line at start, at close and at most once a second after its commits.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from core.clock import Clock, parse_stamp, stamp
from core.errors import StoreError
from core.store.database import Reader, View, identity_of
from core.store.deed import Deed
from core.texts import reason_text
from core.trail.append import head

SECONDS_BETWEEN = 1.0
PROBLEMS_NAMED = 100
LINE_LIMIT = 4_096
"""Bytes that a line may have: a longer one is none of ours, and is passed over without being held."""
LINES_BETWEEN_QUESTIONS = 10_000


class CheckCancelled(Exception):
    """The check of an anchor file was stopped by its caller."""


@dataclass(frozen=True, slots=True)
class AnchorCheck:
    """What the anchor file says of the trail. `state` is `anchored`, `not anchored` (no line of this store) or `broken`."""

    state: str
    lines: int
    foreign: int
    newest_seq: int
    rows_after: int
    problems: tuple[str, ...]

    @property
    def words(self) -> str:
        """It in a clause."""
        if self.state == "not anchored":
            return "the tail is not anchored"
        if self.state == "broken":
            return "the tail is not what was anchored"
        rows = "1 row" if self.rows_after == 1 else f"{self.rows_after:,} rows"
        after = f", {rows} came after the newest anchor" if self.rows_after else ""
        return f"the tail is anchored ({self.lines:,} anchor{'' if self.lines == 1 else 's'}{after})"


@dataclass(frozen=True, slots=True)
class AnchorsAccepted:
    """The receipt of an accepted restore: from which row on anchors count again."""

    seq: int
    hash: str
    reason: str


def anchor_path(store: Path) -> Path:
    """The anchor file of a store, unless another was named with `--anchors`."""
    return store.with_name(store.name + ".anchors")


class AnchorFile:
    """Appends anchors for one process. A write that fails never fails the deed: it is kept in `failed` for doctor."""

    def __init__(self, path: Path, store_id: str, clock: Clock) -> None:
        self.path = path
        self.failed: str | None = None
        self._store_id = store_id
        self._clock = clock
        self._lock = threading.Lock()
        self._written_at: float | None = None
        self._pending: tuple[int, str, str] | None = None
        self._timer: threading.Timer | None = None
        self._closed = False
        self._torn = False

    def note(self, seq: int, digest: str, at: str) -> None:
        """Note a head that is committed. It is written at once, or with the next write when one was less than a second ago."""
        with self._lock:
            if self._pending is None or seq > self._pending[0]:
                self._pending = (seq, digest, at)
            now = self._clock.monotonic()
            if self._closed or self._written_at is None or now - self._written_at >= SECONDS_BETWEEN:
                self._write()
            elif self._timer is None:
                self._timer = threading.Timer(SECONDS_BETWEEN, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write what is held back."""
        with self._lock:
            self._timer = None
            self._write()

    def close(self) -> None:
        """Write what is held back and stop."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._write()

    def _write(self) -> None:
        if self._pending is None:
            return
        seq, digest, at = self._pending
        line = json.dumps({"store": self._store_id, "seq": seq, "hash": digest, "at": at}, separators=(",", ":")) + "\n"
        # a line that a full disk cut short must not swallow the next one
        content = ("\n" + line if self._torn else line).encode()
        try:
            # a pipe that nobody reads is an error, not something to wait for while a deed's caller waits
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0), 0o600)
            try:
                written = os.write(descriptor, content)
            finally:
                os.close(descriptor)
            self._torn = 0 < written < len(content) or (self._torn and written == 0)
            if written < len(content):
                raise OSError(errno.ENOSPC, "only a part of the line could be written")
        except OSError as error:
            self.failed = f"{self.path}: {error.strerror or error}"
        else:
            self.failed = None
            self._pending = None
            self._written_at = self._clock.monotonic()


def check_anchors(view: View, path: Path, store_id: str, *, cancelled: Callable[[], bool] | None = None) -> AnchorCheck:
    """Hold every line of an anchor file against the trail; it is streamed, and nothing is written.

    No file is "not anchored"; one that is there and cannot be read is broken. Rows that others add while the trail is
    being checked are looked up in the trail as it is now. Raises CheckCancelled when `cancelled` says so.
    """
    last_seq, first_seq = _edge(view, "desc"), _edge(view, "asc")
    tally = _Tally()
    try:
        found = path.stat()
        why = _unfit(view, path, found)
        if why is not None:
            tally.problems.append(f"the anchor file {why}")
        else:
            with path.open("rb") as file, contextlib.ExitStack() as later:
                _check_lines(view, file, store_id, tally, (first_seq, last_seq), later, cancelled)
    except FileNotFoundError:
        pass
    except OSError as error:
        tally.problems.append(f"the anchor file cannot be read: {error.strerror or error}")
    state = "broken" if tally.problems else "anchored" if tally.lines else "not anchored"
    after = max(0, last_seq - tally.newest)
    return AnchorCheck(state, tally.lines, tally.foreign, tally.newest, after, tuple(tally.problems))


class _Tally:
    """What the check of an anchor file has come to."""

    def __init__(self) -> None:
        self.lines = self.foreign = self.newest = 0
        self.problems: list[str] = []


def _check_lines(
    view: View,
    file: BinaryIO,
    store_id: str,
    tally: _Tally,
    edges: tuple[int, int],
    later: contextlib.ExitStack,
    cancelled: Callable[[], bool] | None,
) -> None:
    first_seq, last_seq = edges
    seen: tuple[int, str] | None = None
    newer: View | None = None
    for number, line in enumerate(_lines(file), 1):
        if number % LINES_BETWEEN_QUESTIONS == 0 and cancelled is not None and cancelled():
            raise CheckCancelled
        if len(tally.problems) >= PROBLEMS_NAMED:
            return
        data = _parsed(line)
        if data is None:
            tally.problems.append(f"line {number} of the anchor file is unreadable")
            continue
        if data["store"] != store_id:
            tally.foreign += 1
            continue
        seq, digest = data["seq"], data["hash"]
        tally.lines += 1
        tally.newest = max(tally.newest, seq)
        if (seq, digest) == seen or seq < first_seq:
            continue
        seen = (seq, digest)
        row = view.one("select hash from audit where seq = ?", (seq,))
        if row is None and seq > last_seq:
            # the snapshot may be older than the line: other processes go on writing while a long trail is checked
            newer = newer or _view_of_now(view, later)
            row = newer.one("select hash from audit where seq = ?", (seq,)) if newer else None
        if row is None:
            end = _edge(newer, "desc") if newer else last_seq
            what = f"the trail ends at row {end}: its end was cut off, or an old copy was put back" if seq > end else "it is gone"
            tally.problems.append(f"row {seq} is missing: it was anchored at {data['at']}, but {what}")
        elif row[0] != digest:
            tally.problems.append(f"row {seq} is altered: its hash is not the one anchored at {data['at']}")


def _edge(view: View, direction: str) -> int:
    row = view.one(f"select seq from audit where typeof(seq) = 'integer' order by seq {direction} limit 1")
    return int(row[0]) if row else 0


def _view_of_now(view: View, later: contextlib.ExitStack) -> View | None:
    """The same store as it is now, since a snapshot stands still; None when it is in no file."""
    file = next((row[2] for row in view.all("pragma database_list") if row[1] == "main"), "")
    if not file:
        return None
    reader = Reader(Path(file))
    later.callback(reader.close)
    return later.enter_context(reader.snapshot())


def _unfit(view: View, path: Path, found: os.stat_result) -> str | None:
    """Why a path cannot be read as an anchor file, or None."""
    if not stat.S_ISREG(found.st_mode):
        return "is not a regular file"
    for row in view.all("pragma database_list"):
        if row[2] and identity_of(path) in {identity_of(Path(row[2] + end)) for end in ("", "-wal", "-shm")}:
            # to open and close it here would drop this process's locks (faults.md S3)
            return "is the store itself: name another with --anchors"
    return None


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines that were there at the start, so that each one's row was committed before anything is looked up."""
    left = os.fstat(file.fileno()).st_size
    while left > 0:
        line = file.readline(min(left, LINE_LIMIT))
        if not line:
            return
        left -= len(line)
        whole = line
        while not line.endswith(b"\n") and left > 0:
            whole = b""  # too long to be ours: pass over the rest of it
            line = file.readline(min(left, LINE_LIMIT))
            if not line:
                break
            left -= len(line)
        yield whole


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    sound = (
        isinstance(data, dict)
        and type(data.get("seq")) is int
        and 1 <= data["seq"] < 2**63
        and all(isinstance(data.get(name), str) for name in ("store", "hash", "at"))
        and parse_stamp(data["at"]) is not None
    )
    return data if sound else None


def accept_anchors(deed: Deed, *, reason: str, broken: int | None = None) -> AnchorsAccepted:
    """Say that the trail as it stands counts from here on, after a restore: `audit anchor --accept REASON`, a deed (faults.md C7).

    `broken` is how many problems the check had found (None: it was not asked). The old anchor file is set aside by
    `set_aside` after the commit. Refuses `invalid_input` without a reason.
    """
    why = reason_text(reason, required=True) or ""
    newest = head(deed.transaction)
    seq, digest = (newest.seq, newest.hash) if newest else (0, "")
    data = {"reason": why, "head_seq": seq, "head_hash": digest, "broken": broken}
    deed.append("anchors_accepted", project_key=None, subject="trail:", data=data)
    return AnchorsAccepted(seq, digest, why)


def set_aside(path: Path, now: datetime) -> Path | None:
    """Rename an anchor file so that it is kept but no longer counts; gives its new name, None when there was none.

    Raises StoreError when it is there and cannot be renamed, for it would still count.
    """
    target = path.with_name(f"{path.name}.{stamp(now).replace(':', '')}")
    try:
        path.rename(target)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(
            f"The anchor file {path} could not be set aside ({error.strerror or error}), so it still counts. Rename it by hand."
        ) from error
    return target
