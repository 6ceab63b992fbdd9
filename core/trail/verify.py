"""Verifying the trail: every row's hash and link, against the store and its anchors (room.md 5; faults.md C1 to C9).

It reads only, streams, names every break with its row, and says how many rows it checked: no rows is never "OK".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, Literal

from core.store.database import Reader, SqliteError, View
from core.trail.anchors import AnchorCheck, anchor_path, check_anchors
from core.trail.append import FIRST_PREVIOUS_HASH

COLUMNS = "seq, version, at, event, outcome, project_key, actor, connection_id, subject, data, prev_hash, hash"
HASHED = "json_array(version, seq, at, event, outcome, project_key, actor, connection_id, subject, data, prev_hash)"
"""What a row's hash is taken over, as the specification puts it."""
PROGRESS_ROWS = 20_000
BREAKS_NAMED = 1_000
SEARCHES = 50
"""How many broken rows are looked up elsewhere in the trail, to tell a moved row from an altered one."""

BreakKind = Literal["altered", "missing", "out of order", "unreadable"]
Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Break:
    """One break: what is wrong, at which row (for missing ones from `seq` to `last_seq`), in a sentence."""

    kind: BreakKind
    seq: int
    last_seq: int
    words: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification found. `ok` is whether nothing is broken (an unanchored tail alone is no break); `words` says it all."""

    rows: int
    first_seq: int
    last_seq: int
    last_hash: str
    breaks: tuple[Break, ...]
    breaks_more: int
    store_mismatches: tuple[str, ...]
    anchors: AnchorCheck | None
    cancelled: bool

    @property
    def ok(self) -> bool:
        """Whether rows were checked and nothing is broken."""
        anchored = self.anchors is None or not self.anchors.problems
        return self.rows > 0 and not self.cancelled and not self.breaks and not self.store_mismatches and anchored

    @property
    def broken(self) -> bool:
        """Whether anything is broken: what makes `audit verify` exit 1."""
        return bool(self.breaks or self.store_mismatches or (self.anchors and self.anchors.problems))

    @property
    def words(self) -> str:
        """The outcome in one sentence."""
        if self.cancelled:
            return f"cancelled: {self.rows:,} rows checked so far"
        tail = self.anchors.words if self.anchors else "the tail is not checked against anchors"
        if not self.rows and not self.broken:
            return f"nothing to verify: the trail has no rows; {tail}"
        if self.ok:
            return f"OK: {self.rows:,} rows checked, {tail}"
        named = [one.words for one in self.breaks[:3]] + list(self.store_mismatches[:2])
        named += list(self.anchors.problems[:2]) if self.anchors else []
        count = (
            len(self.breaks) + self.breaks_more + len(self.store_mismatches) + (len(self.anchors.problems) if self.anchors else 0)
        )
        more = f" and {count - len(named)} more" if count > len(named) else ""
        return f"BROKEN: {'; '.join(named)}{more} ({self.rows:,} rows checked)"


class _Encoded(dict[Any, str]):
    """JSON of values that come again and again: a look-up is cheaper than encoding."""

    def __missing__(self, value: Any) -> str:
        text = "null" if value is None else encode_basestring(value)
        if len(self) > 50_000:
            self.clear()
        self[value] = text
        return text


@dataclass(slots=True)
class _Walk:
    """The state of a walk over rows in order."""

    breaks: list[Break] = field(default_factory=list)
    breaks_more: int = 0
    rows: int = 0
    first_seq: int = 0
    last_seq: int = 0
    last_hash: str = FIRST_PREVIOUS_HASH
    searches: int = 0
    chain_known: bool = True
    seam: tuple[int, str] | None = None

    def add(self, kind: BreakKind, seq: int, last_seq: int, words: str) -> None:
        """Name a break, once a row, up to the bound."""
        if self.breaks and self.breaks[-1].seq == seq and self.breaks[-1].kind != "missing":
            return
        if len(self.breaks) >= BREAKS_NAMED:
            self.breaks_more += 1
        else:
            self.breaks.append(Break(kind, seq, last_seq, words))


def verify_store(
    path: Path, *, progress: Progress | None = None, cancelled: Cancelled | None = None, anchors: Path | None = None
) -> Verification:
    """Verify the store at `path` through a reader of its own. Raises StoreError when it cannot be read."""
    reader = Reader(path)
    try:
        with reader.snapshot() as view:
            return verify(view, progress=progress, cancelled=cancelled, anchors=anchors or anchor_path(path))
    finally:
        reader.close()


def verify(
    view: View, *, progress: Progress | None = None, cancelled: Cancelled | None = None, anchors: Path | None = None
) -> Verification:
    """Check every row, its link, the store against the trail, and the anchors in the file `anchors` (None leaves them out).

    `progress` gets rows done and rows in all, now and then; `cancelled` is asked as often and stops the walk.
    """
    walk = _Walk(seam=_seam(view))
    last = view.one("select seq from audit order by seq desc limit 1")
    total = last[0] if last else 0
    stopped = _walk_rows(view, walk, total, progress, cancelled)
    mismatches = () if stopped else _store_mismatches(view)
    found = None
    if anchors is not None and not stopped:
        store_id = view.one("select store_id from store")[0]
        found = check_anchors(view, anchors, store_id)
    return Verification(
        walk.rows, walk.first_seq, walk.last_seq, walk.last_hash, tuple(walk.breaks), walk.breaks_more, mismatches, found, stopped
    )


def verify_file(lines: Iterable[str], *, progress: Progress | None = None, cancelled: Cancelled | None = None) -> Verification:
    """Check an export of the trail (JSON lines) without the store. A line that cannot be read is named by its number."""
    walk = _Walk()
    names = [name.strip() for name in COLUMNS.split(",")]
    stopped = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if number % PROGRESS_ROWS == 0:
            if progress:
                progress(number, 0)
            if cancelled and cancelled():
                stopped = True
                break
        try:
            data = json.loads(line)
            row = tuple(data[name] for name in names)
        except (ValueError, KeyError, TypeError):
            walk.add("unreadable", walk.last_seq + 1, walk.last_seq + 1, f"line {number} of the file is unreadable")
            walk.chain_known = False
            walk.last_seq += 1
            continue
        if walk.rows == 0 and isinstance(row[0], int) and row[0] > 1:
            walk.seam = (row[0] - 1, row[10])  # an export may begin later: what came before is not here to be checked
        _check_row(walk, row, _Encoded(), None)
    return Verification(
        walk.rows, walk.first_seq, walk.last_seq, walk.last_hash, tuple(walk.breaks), walk.breaks_more, (), None, stopped
    )


def _walk_rows(view: View, walk: _Walk, total: int, progress: Progress | None, cancelled: Cancelled | None) -> bool:
    encoded, at = _Encoded(), -1
    while True:
        cursor = None
        try:
            cursor = view.execute(f"select seq, prev_hash, hash, {HASHED} from audit where seq > ? order by seq", (at,))
            cursor.row_factory = None
            while rows := cursor.fetchmany(PROGRESS_ROWS // 20):
                _check_rows(view, walk, rows, encoded)
                at = rows[-1][0]
                if walk.rows % PROGRESS_ROWS < len(rows):
                    if progress:
                        progress(walk.rows, total)
                    if cancelled and cancelled():
                        return True
            return False
        except SqliteError:
            if cursor is not None:
                cursor.close()  # left to be collected, it would reset the statement under the next cursor
            at = _pass_unreadable(view, walk, at, encoded)


def _pass_unreadable(view: View, walk: _Walk, at: int, encoded: _Encoded) -> int:
    """Somewhere after `at` a row cannot be read as text: go on row by row to it, name it, and give its number."""
    while True:
        seq = int(view.execute("select seq from audit where seq > ? order by seq limit 1", (at,)).fetchone()[0])
        row = _whole_row(view, seq)
        if row is None or any(isinstance(value, bytes) for value in row):
            _gap(walk, seq)
            walk.add("unreadable", seq, seq, f"row {seq} is unreadable")
            walk.rows += 1
            walk.first_seq = walk.first_seq or seq
            walk.last_seq, walk.chain_known = seq, False
            return seq
        _check_row(walk, row, encoded, view)
        at = seq


def _whole_row(view: View, seq: int) -> tuple[Any, ...] | None:
    try:
        row = view.execute(f"select {COLUMNS} from audit where seq = ?", (seq,)).fetchone()
    except SqliteError:
        return None
    return tuple(row)


def _check_rows(view: View, walk: _Walk, rows: list[tuple[Any, ...]], encoded: _Encoded) -> None:
    """The hot loop: a row that is in order and whole costs one hash and three comparisons."""
    sha256, last_seq, last_hash, done = hashlib.sha256, walk.last_seq, walk.last_hash, 0
    for seq, previous, digest, text in rows:
        if previous == last_hash and seq == last_seq + 1 and sha256(text.encode()).hexdigest() == digest and walk.chain_known:
            last_seq, last_hash = seq, digest
            done += 1
            continue
        walk.rows, walk.last_seq, walk.last_hash = walk.rows + done, last_seq, last_hash
        done = 0
        _check_row(walk, _whole_row(view, seq) or (seq, *[None] * 11), encoded, view)
        last_seq, last_hash = walk.last_seq, walk.last_hash
    walk.rows, walk.last_seq, walk.last_hash = walk.rows + done, last_seq, last_hash
    walk.first_seq = walk.first_seq or (1 if walk.rows else 0)


def _check_row(walk: _Walk, row: tuple[Any, ...], encoded: _Encoded, view: View | None) -> None:
    """Check one row with all that may be wrong with it."""
    seq, previous, digest = row[0], row[10], row[11]
    if not isinstance(seq, int):
        walk.add("unreadable", walk.last_seq + 1, walk.last_seq + 1, f"the row after row {walk.last_seq} has no number")
        walk.rows, walk.chain_known = walk.rows + 1, False
        return
    gap = _gap(walk, seq)
    linked = gap or not walk.chain_known or previous == walk.last_hash
    computed = _hash_of(row, encoded)
    if computed is None:
        walk.add("unreadable", seq, seq, f"row {seq} is unreadable: a column holds what no row can hold")
    elif computed != digest:
        moved = _home_of(walk, row, encoded, view)
        if moved is not None and moved != seq:
            walk.add("out of order", seq, seq, f"row {seq} is out of order: it was row {moved}")
        else:
            walk.add("altered", seq, seq, f"row {seq} is altered")
    elif not linked and walk.rows:
        # this row is whole and names another predecessor, so the one before it was forged together with its hash
        walk.add("altered", walk.last_seq, walk.last_seq, f"row {walk.last_seq} is altered, with its hash")
    elif not linked:
        walk.add("altered", seq, seq, f"row {seq} is altered: the first row must follow nothing")
    walk.rows += 1
    walk.first_seq = walk.first_seq or seq
    walk.last_seq = max(seq, walk.last_seq)
    walk.last_hash = digest if isinstance(digest, str) else ""
    walk.chain_known = isinstance(digest, str) and computed is not None


def _gap(walk: _Walk, seq: int) -> bool:
    """Name the rows that are missing before `seq`; True when some are, so that its link cannot be checked."""
    expected = walk.last_seq + 1
    if walk.rows == 0 and walk.seam is not None and seq == walk.seam[0] + 1:
        walk.last_hash = walk.seam[1]
        return False
    if seq < expected:
        walk.add("out of order", seq, seq, f"row {seq} is out of order: it comes after row {walk.last_seq}")
        return True
    if seq == expected:
        return False
    last = seq - 1
    words = f"row {expected} is missing" if last == expected else f"rows {expected} to {last} are missing"
    walk.add("missing", expected, last, words)
    return True


def _hash_of(row: tuple[Any, ...], encoded: _Encoded, seq: int | None = None) -> str | None:
    number, version, at, event, outcome, project_key, actor, connection_id, subject, data, previous, _ = row
    texts = (at, event, outcome, actor, data, previous)
    maybe = (project_key, connection_id, subject)
    if (
        type(version) is not int
        or any(type(one) is not str for one in texts)
        or any(one is not None and type(one) is not str for one in maybe)
    ):
        return None
    parts = [encode_basestring(at), *(encoded[one] for one in (event, outcome, project_key, actor, connection_id, subject))]
    parts += [encode_basestring(data), encode_basestring(previous)]
    try:
        return hashlib.sha256(f"[{version},{number if seq is None else seq},{','.join(parts)}]".encode()).hexdigest()
    except UnicodeEncodeError:
        return None


def _home_of(walk: _Walk, row: tuple[Any, ...], encoded: _Encoded, view: View | None) -> int | None:
    """The number that a row had when it was written, when its own hash vouches for it; None when it does not."""
    if view is None or walk.searches >= SEARCHES:
        return None
    walk.searches += 1
    if row[10] == FIRST_PREVIOUS_HASH:
        home = 1
    else:
        found = view.execute("select seq from audit where hash = ?", (row[10],)).fetchone()
        near = range(max(1, row[0] - 2), row[0] + 3)
        if found is None:
            return next((one for one in near if _hash_of(row, encoded, one) == row[11]), None)
        home = int(found[0]) + 1
    candidates = (home, home - 1, row[0] - 1, row[0] + 1)
    return next((one for one in candidates if _hash_of(row, encoded, one) == row[11]), None)


def _seam(view: View) -> tuple[int, str] | None:
    """Up to where the trail was sealed: the last number and hash that left with a segment (room.md 5)."""
    row = view.one(
        "select json_extract(data, '$.last'), json_extract(data, '$.last_hash') from audit"
        " where event = 'trail_sealed' and outcome = 'done' order by seq desc limit 1"
    )
    return (row[0], row[1]) if row and isinstance(row[0], int) and isinstance(row[1], str) else None


def _store_mismatches(view: View) -> tuple[str, ...]:
    """What stands in the store without the trail knowing of it (room.md 5)."""
    found = []
    unknown = view.all(
        "select w.id, w.project_key from wraps w where w.ended_at is null and not exists (select 1 from audit a"
        " where a.subject = 'wrap:' || w.id and a.event = 'wrap_started' and a.outcome = 'done') order by w.id limit 100"
    )
    found += [f"wrap {row[0]} is open, but the trail has no wrap_started of it" for row in unknown]
    ended = view.all(
        "select w.id, w.outcome from wraps w where w.ended_at is not null and not exists (select 1 from audit a"
        " where a.subject = 'wrap:' || w.id and a.event in ('wrap_completed', 'wrap_cancelled') and a.outcome = 'done') order by w.id limit 100"
    )
    found += [f"wrap {row[0]} has ended, but the trail does not say how" for row in ended]
    saved = view.all(
        "select c.project_key, c.revision from continuity c where not exists (select 1 from audit a where a.subject = 'wrap:' || c.wrap_id"
        " and a.event = 'continuity_saved' and a.outcome = 'done' and json_extract(a.data, '$.content_hash') = c.sha256)"
        " and c.wrap_id is not null order by c.project_key, c.revision limit 100"
    )
    found += [f"continuity revision {row[1]} of {row[0]} is not what the trail says was saved" for row in saved]
    if view.one("select 1 from audit limit 1"):
        return tuple(found)
    # an emptied trail over a store that has seen deeds is missing rows, not "nothing to verify"
    used = view.one(
        "select exists (select 1 from episodes) or exists (select 1 from wraps) or exists (select 1 from connections)"
    )
    return (*found, "the trail is empty, but the store is not") if used[0] else tuple(found)
