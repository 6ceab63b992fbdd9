"""Verifying the trail: every row's hash and link, against the store and its anchors (room.md 5; faults.md C1 to C9).

It reads only, streams, names every break with its row, and says how many rows it checked: no rows is never "OK".
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, Literal

from core.store.database import Reader, SqliteError, View, is_busy
from core.trail.anchors import AnchorCheck, CheckCancelled, anchor_path, check_anchors
from core.trail.append import FIRST_PREVIOUS_HASH
from core.trail.verify_store import mismatches_with_store

COLUMNS = "seq, version, at, event, outcome, project_key, actor, connection_id, subject, data, prev_hash, hash"
HASHED = "json_array(version, seq, at, event, outcome, project_key, actor, connection_id, subject, data, prev_hash)"
"""What a row's hash is taken over, as the specification puts it."""
PROGRESS_ROWS = 20_000
BREAKS_NAMED = 1_000
SEARCHES = 20
"""How many broken rows are looked up in the whole trail, to tell a moved row from an altered one."""
LARGEST = 2**63 - 1
"""The largest number that SQLite can give a row; what sorts after it is no number."""

BreakKind = Literal["altered", "missing", "out of order", "unreadable"]
Tail = Literal["anchored", "not anchored", "anchor broken", "nothing to verify"]
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
    """What a verification found. `ok` is whether nothing is broken (an unanchored tail alone is no break); `words` says it all.

    `first_seq` and `last_seq` are of the rows in their places, `note` is what was not checked, in a clause.
    """

    rows: int
    first_seq: int
    last_seq: int
    last_hash: str
    breaks: tuple[Break, ...]
    breaks_more: int
    store_mismatches: tuple[str, ...]
    anchors: AnchorCheck | None
    cancelled: bool
    note: str = ""

    @property
    def tail(self) -> Tail:
        """What is known of the trail's end, in one of four terms (room.md 5)."""
        if not self.rows and not self.broken:
            return "nothing to verify"
        if self.anchors is None or self.anchors.state == "not anchored":
            return "not anchored"
        return "anchored" if self.anchors.state == "anchored" else "anchor broken"

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
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        if self.ok:
            return f"OK: {rows} checked, {f'{self.note}, ' if self.note else ''}{tail}"
        named = [one.words for one in self.breaks[:3]] + list(self.store_mismatches[:2])
        named += list(self.anchors.problems[:2]) if self.anchors else []
        count = (
            len(self.breaks) + self.breaks_more + len(self.store_mismatches) + (len(self.anchors.problems) if self.anchors else 0)
        )
        more = f" and {count - len(named)} more" if count > len(named) else ""
        return f"DAMAGED: {'; '.join(named)}{more} ({rows} checked)"


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
    begun: bool = False
    seam: tuple[int, str] | None = None
    named: int | None = None
    moved_by: int = 0
    lost: int = 0
    """Lines of a file, since the last row, that may have been rows."""

    def name(self, kind: BreakKind, seq: int, words: str) -> None:
        """Name a row that is broken, but no row twice."""
        if self.named != seq:
            self.named = seq
            self.add(kind, seq, seq, words)

    def add(self, kind: BreakKind, seq: int, last_seq: int, words: str) -> None:
        """Note a break, up to the bound."""
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

    `progress` gets rows done and about how many there are, now and then; `cancelled` is asked as often and stops it.
    A broken row is named, never raised; StoreError is only for a store that cannot be read at all (room.md 5).
    """
    first = view.one("select seq, at from audit where seq is not null order by seq limit 1")
    last = view.one("select seq from audit order by seq desc limit 1")
    numbered = first is not None and _is_number(first[0]) and _is_number(last[0])
    walk = _Walk(seam=_seam(view, first[0]) if numbered else None)
    ticker = _Ticker(progress, cancelled, last[0] - first[0] + 1 if numbered else 0)
    stopped = _walk_rows(view, walk, ticker)
    mismatches: list[str] = []
    found = None
    if not stopped:
        _name_unnumbered(view, walk)
        mismatches = mismatches_with_store(view, str(first[1]) if walk.seam and first else "")
        store = view.one("select store_id from store")
        if store is None:
            mismatches.append("the store's own row is gone, so its anchors cannot be told from those of other stores")
        elif anchors is not None:
            try:
                found = check_anchors(view, anchors, str(store[0]), cancelled=cancelled)
            except CheckCancelled:
                stopped = True
    note = f"rows 1 to {walk.seam[0]:,} were sealed and their segments are not checked here" if walk.seam else ""
    return _verification(walk, stopped, note, tuple(mismatches), found)


def verify_file(lines: Iterable[str], *, progress: Progress | None = None, cancelled: Cancelled | None = None) -> Verification:
    """Check an export of the trail (JSON lines) without the store. A line that cannot be read is named by its number.

    An export may begin after row 1: the words then say so. `progress` gets lines done and 0, for nobody knows how many come.
    """
    walk, encoded, ticker, note = _Walk(), _Encoded(), _Ticker(progress, cancelled, 0), ""
    names = [name.strip() for name in COLUMNS.split(",")]
    stopped = False
    for number, line in enumerate(lines, 1):
        if ticker.stop(number):
            stopped = True
            break
        row = _row_of_line(line, names)
        if row is None:
            walk.lost += 1
            seq = walk.last_seq + walk.lost
            walk.add(
                "unreadable",
                seq,
                seq,
                f"line {number} of the file is {'unreadable' if line.strip() else 'unreadable: it is blank'}",
            )
            continue
        if not walk.begun and row[0] > 1 + walk.lost:
            walk.seam = (row[0] - 1, row[10])
            note = f"it starts at row {row[0]:,}: what came before is not checked"
        _check_row(walk, row, encoded, None)
    return _verification(walk, stopped, note, (), None)


def _verification(
    walk: _Walk, stopped: bool, note: str, mismatches: tuple[str, ...], anchors: AnchorCheck | None
) -> Verification:
    return Verification(
        walk.rows,
        walk.first_seq,
        walk.last_seq,
        walk.last_hash,
        tuple(walk.breaks),
        walk.breaks_more,
        mismatches,
        anchors,
        stopped,
        note,
    )


def _row_of_line(line: str, names: list[str]) -> tuple[Any, ...] | None:
    try:
        data = json.loads(line)
        row = tuple(data[name] for name in names)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return row if _is_number(row[0]) else None


def _is_number(value: object) -> bool:
    return type(value) is int and -LARGEST - 1 <= value <= LARGEST


class _Ticker:
    """Tells the progress, and asks whether to go on, every so many rows."""

    def __init__(self, progress: Progress | None, cancelled: Cancelled | None, total: int) -> None:
        self._progress = progress
        self._cancelled = cancelled
        self._total = total
        self._next = PROGRESS_ROWS

    def stop(self, done: int) -> bool:
        """Whether to stop after `done` rows."""
        if done < self._next:
            return False
        self._next = done + PROGRESS_ROWS
        self.tell(done)
        return self._cancelled is not None and self._cancelled()

    def tell(self, done: int) -> None:
        """Tell the progress now."""
        if self._progress:
            self._progress(done, self._total)


def _walk_rows(view: View, walk: _Walk, ticker: _Ticker) -> bool:
    encoded = _Encoded()
    at: float = -math.inf  # before every number: a row that was moved below 1 is seen too
    while True:
        cursor = None
        try:
            cursor = view.execute(
                f"select seq, prev_hash, hash, {HASHED} from audit where seq > ? and seq <= {LARGEST} order by seq", (at,)
            )
            cursor.row_factory = None
            while rows := cursor.fetchmany(PROGRESS_ROWS // 20):
                _check_rows(view, walk, rows, encoded)
                at = rows[-1][0]
                if ticker.stop(walk.rows):
                    return True
            ticker.tell(walk.rows)
            return False
        except SqliteError as error:
            if cursor is not None:
                cursor.close()  # left to be collected, it would reset the statement under the next cursor
            if _is_no_damage(error):
                raise
            at = _pass_unreadable(view, walk, at, encoded, error)
            if ticker.stop(walk.rows):
                return True


def _is_no_damage(error: BaseException) -> bool:
    """Whether a query failed for what is not in the rows: it was interrupted, or another process holds the store."""
    return "interrupted" in str(error) or is_busy(error)


def _pass_unreadable(view: View, walk: _Walk, at: float, encoded: _Encoded, error: BaseException) -> float:
    """Somewhere after `at` a row cannot be read as text: go on row by row to it, name it, and give its number."""
    while True:
        found = view.execute(f"select seq from audit where seq > ? and seq <= {LARGEST} order by seq limit 1", (at,)).fetchone()
        if found is None:
            raise error  # no row is to blame
        at = found[0]
        row = _whole_row(view, at)
        readable = row is not None and _is_number(at) and not any(isinstance(value, bytes) for value in row)
        _check_row(walk, row if row is not None and readable else (at, *[None] * 11), encoded, view)
        if not readable:
            return at


def _whole_row(view: View, seq: object) -> tuple[Any, ...] | None:
    try:
        row = view.execute(f"select {COLUMNS} from audit where seq = ?", (seq,)).fetchone()
    except SqliteError as error:
        if _is_no_damage(error):
            raise
        return None
    return tuple(row) if row else None


def _name_unnumbered(view: View, walk: _Walk) -> None:
    """Rows that no order finds: only a table that was rebuilt without its primary key can hold them."""
    count = sum(view.one(f"select count(*) from audit where {where}")[0] for where in ("seq is null", f"seq > {LARGEST}"))
    if count:
        seq = walk.last_seq + 1
        walk.add("unreadable", seq, seq, f"{count:,} row{'s have' if count > 1 else ' has'} no number")


def _check_rows(view: View, walk: _Walk, rows: list[tuple[Any, ...]], encoded: _Encoded) -> None:
    """The hot loop: a row that is in order and whole costs one hash and three comparisons."""
    sha256, last_seq, last_hash, done = hashlib.sha256, walk.last_seq, walk.last_hash, 0
    for seq, previous, digest, text in rows:
        if previous == last_hash and seq == last_seq + 1 and sha256(text.encode()).hexdigest() == digest and walk.chain_known:
            last_seq, last_hash = seq, digest
            done += 1
            continue
        _keep(walk, done, last_seq, last_hash)
        done = 0
        _check_row(walk, _whole_row(view, seq) or (seq, *[None] * 11), encoded, view)
        last_seq, last_hash = walk.last_seq, walk.last_hash
    _keep(walk, done, last_seq, last_hash)


def _keep(walk: _Walk, done: int, last_seq: int, last_hash: str) -> None:
    if done:
        if not walk.begun:
            walk.first_seq, walk.begun = last_seq - done + 1, True
        walk.rows, walk.last_seq, walk.last_hash = walk.rows + done, last_seq, last_hash


def _check_row(walk: _Walk, row: tuple[Any, ...], encoded: _Encoded, view: View | None) -> None:
    """Check one row with all that may be wrong with it."""
    seq, previous, digest = row[0], row[10], row[11]
    walk.rows += 1
    if not _is_number(seq):
        walk.add("unreadable", walk.last_seq + 1, walk.last_seq + 1, f"the row after row {walk.last_seq} has no number")
        return
    place = _place(walk, seq)
    computed = _hash_of(row, encoded)
    whole = computed is not None and type(digest) is str
    if place == "stray":
        # it follows nothing and nothing follows it: the chain goes on without it
        moved = _home_of(walk, row, encoded, view) if whole and computed != digest else None
        walk.name(
            "out of order",
            seq,
            f"row {seq} is out of order: it {f'was row {moved}' if moved else f'comes after row {walk.last_seq}'}",
        )
        return
    if not whole:
        walk.name("unreadable", seq, f"row {seq} is unreadable: a column holds what no row can hold")
    elif computed != digest:
        moved = _home_of(walk, row, encoded, view)
        if moved is not None and moved != seq:
            walk.name("out of order", seq, f"row {seq} is out of order: it was row {moved}")
        else:
            walk.name("altered", seq, f"row {seq} is altered")
    elif place == "next" and walk.chain_known and previous != walk.last_hash:
        # a whole row names another predecessor: the row before it was forged with its hash, or else this one was
        forged = walk.last_seq if walk.begun and _is_followed(view, seq, digest) else seq
        walk.name("altered", forged, f"row {forged} is altered, with its hash")
    if not walk.begun:
        walk.first_seq, walk.begun = seq, True
    walk.last_seq, walk.last_hash = seq, digest if whole else ""
    walk.chain_known = whole


def _place(walk: _Walk, seq: int) -> Literal["next", "after a gap", "stray"]:
    """Where a row stands in the order; rows that are missing before it are named."""
    expected = walk.last_seq + 1
    if not walk.begun and walk.seam is not None and seq == walk.seam[0] + 1:
        walk.last_hash, walk.lost = walk.seam[1], 0
        return "next"
    if seq < expected:
        return "stray"
    start, walk.lost = expected + walk.lost, 0  # unreadable lines of a file stand for the rows that they may have been
    if seq == expected:
        return "next"
    if seq > start:
        words = f"row {start} is missing" if start == seq - 1 else f"rows {start} to {seq - 1} are missing"
        walk.add("missing", start, seq - 1, words)
    return "after a gap"


def _is_followed(view: View | None, seq: int, digest: str) -> bool:
    """Whether the row after `seq` vouches for its hash; without a row after it, nothing speaks against it."""
    if view is None:
        return True
    try:
        row = view.execute("select prev_hash from audit where seq = ?", (min(seq + 1, LARGEST),)).fetchone()
    except SqliteError as error:
        if _is_no_damage(error):
            raise
        return True
    return row is None or row[0] == digest


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
    if view is None:
        return None
    seq = row[0]
    home = _vouched(row, encoded, (seq + walk.moved_by, seq - 1, seq + 1, seq - 2, seq + 2))
    if home is None and walk.searches < SEARCHES:
        walk.searches += 1
        home = _searched(row, encoded, view)
    if home is not None:
        walk.moved_by = home - seq  # a block that was moved was moved by the same number
    return home


def _searched(row: tuple[Any, ...], encoded: _Encoded, view: View) -> int | None:
    if row[10] == FIRST_PREVIOUS_HASH:
        return _vouched(row, encoded, (1,))
    # by the row that follows it, which an index finds, or else by the one before it
    for where, value, step in (("prev_hash", row[11], -1), ("hash", row[10], 1)):
        found = view.execute(f"select seq from audit where {where} = ? limit 1", (value,)).fetchone()
        if found and _is_number(found[0]):
            home = _vouched(row, encoded, (found[0] + step, found[0]))
            if home is not None:
                return home
    return None


def _vouched(row: tuple[Any, ...], encoded: _Encoded, candidates: tuple[int, ...]) -> int | None:
    return next((one for one in candidates if _hash_of(row, encoded, one) == row[11]), None)


def _seam(view: View, first_seq: int) -> tuple[int, str] | None:
    """Up to where the trail was sealed: the last number and hash that left with a segment, when row `first_seq` follows it (room.md 5)."""
    if first_seq <= 1:
        return None
    for row in view.all("select data from audit where event = 'trail_sealed' and outcome = 'done' order by seq desc limit 1000"):
        try:
            data = json.loads(row[0])
            last, last_hash = data["last"], data["last_hash"]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # the walk names that row
        if last == first_seq - 1 and isinstance(last_hash, str):
            return first_seq - 1, last_hash
    return None
