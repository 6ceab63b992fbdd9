"""Anchors: the trail's head, noted outside the store, against cutting its end off or putting an old copy back (room.md 5).

Every process that writes appends a line at start, at close and at most once a second after its commits.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from core.clock import Clock, stamp
from core.store.database import View
from core.store.deed import Deed
from core.texts import reason_text

SECONDS_BETWEEN = 1.0
PROBLEMS_NAMED = 100


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
        after = f", {self.rows_after:,} rows came after the newest anchor" if self.rows_after else ""
        return f"the tail is anchored ({self.lines:,} anchors{after})"


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

    def note(self, seq: int, digest: str, at: str) -> None:
        """Note a head that is committed. It is written at once, or with the next write when one was less than a second ago."""
        with self._lock:
            if self._pending is None or seq > self._pending[0]:
                self._pending = (seq, digest, at)
            now = self._clock.monotonic()
            if self._written_at is None or now - self._written_at >= SECONDS_BETWEEN:
                self._write()
            elif self._timer is None and not self._closed:
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
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, line.encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            self.failed = f"{self.path}: {error.strerror or error}"
        else:
            self.failed = None
            self._pending = None
            self._written_at = self._clock.monotonic()


def check_anchors(view: View, path: Path, store_id: str) -> AnchorCheck:
    """Hold every line of an anchor file against the trail. A missing file is "not anchored"; nothing is written."""
    lines = foreign = newest = 0
    problems: list[str] = []
    seen: tuple[int, str] | None = None
    last = view.one("select seq from audit order by seq desc limit 1")
    last_seq = int(last[0]) if last else 0
    first = view.one("select seq from audit order by seq limit 1")
    first_seq = int(first[0]) if first else 0
    for number, (data, broken) in enumerate(_read_lines(path), 1):
        if broken:
            problems.append(f"line {number} of the anchor file is unreadable")
        elif data["store"] != store_id:
            foreign += 1
        else:
            lines += 1
            seq, digest = data["seq"], data["hash"]
            newest = max(newest, seq)
            if (seq, digest) == seen or seq < first_seq:
                continue
            seen = (seq, digest)
            row = view.one("select hash from audit where seq = ?", (seq,))
            if row is None:
                what = (
                    f"the trail ends at row {last_seq}: its end was cut off, or an old copy was put back"
                    if seq > last_seq
                    else "it is gone"
                )
                problems.append(f"row {seq} is missing: it was anchored at {data['at']}, but {what}")
            elif row[0] != digest:
                problems.append(f"row {seq} is altered: its hash is not the one anchored at {data['at']}")
        if len(problems) >= PROBLEMS_NAMED:
            break
    state = "broken" if problems else "anchored" if lines else "not anchored"
    return AnchorCheck(state, lines, foreign, newest, max(0, last_seq - newest), tuple(problems))


def _read_lines(path: Path) -> Iterator[tuple[dict[str, Any], bool]]:
    try:
        file = path.open("rb")
    except OSError:
        return
    with file:
        for line in file:
            data: Any = None
            with contextlib.suppress(ValueError):
                data = json.loads(line)
            sound = (
                isinstance(data, dict)
                and isinstance(data.get("seq"), int)
                and all(isinstance(data.get(name), str) for name in ("store", "hash", "at"))
            )
            yield (data if sound else {}), not sound


def accept_anchors(deed: Deed, *, reason: str) -> AnchorsAccepted:
    """Say that the trail as it stands counts from here on, after a restore: `audit anchor --accept REASON`, a deed (faults.md C7).

    The old anchor file is set aside by `set_aside` after the commit. Refuses `invalid_input` without a reason.
    """
    why = reason_text(reason, required=True) or ""
    head = deed.one("select seq, hash from audit order by seq desc limit 1")
    seq, digest = (int(head["seq"]), str(head["hash"])) if head else (0, "")
    deed.append(
        "anchors_accepted", project_key=None, subject="trail:", data={"reason": why, "head_seq": seq, "head_hash": digest}
    )
    return AnchorsAccepted(seq, digest, why)


def set_aside(path: Path, now: datetime) -> Path | None:
    """Rename an anchor file so that it is kept but no longer counts; gives its new name, None when there was none."""
    target = path.with_name(f"{path.name}.{stamp(now).replace(':', '')}")
    try:
        path.rename(target)
    except OSError:
        return None
    return target
