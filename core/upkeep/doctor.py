"""The doctor: looks a store over and says what is wrong and what to do. It only looks, and opens no file of the store by itself (faults.md S3)."""

from __future__ import annotations

import os
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.ages import seconds_ahead, words_for_age
from core.clock import Clock, parse_stamp
from core.errors import StoreError
from core.life import connections
from core.life.beats import BeatsReader, beats_path
from core.life.liveness import wedged_after_from_environment
from core.life.processes import Processes
from core.life.witness import Witness
from core.store import filesystems, inspect
from core.store.database import CHECKPOINT_PAGES, SCHEMA_VERSION, Reader, View, own_files
from core.trail.anchors import anchor_path
from core.trail.append import head
from core.trail.verify import verify

State = Literal["ok", "warning", "broken"]
DISK_LOW, DISK_OUT = 512 * 1024 * 1024, 16 * 1024 * 1024
CONNECTIONS_JUDGED = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: its name, its state, what was found, and what to do when it is not ok."""

    name: str
    state: State
    words: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """What to examine, and with whose eyes. `anchors` is the anchor file; `progress` gets trail rows done and in all."""

    path: Path
    clock: Clock
    processes: Processes
    anchors: Path | None = None
    thorough: bool = False
    progress: Callable[[int, int], None] | None = None


def examine(wanted: Examination) -> tuple[Finding, ...]:
    """Look everything over. An error of one check is its finding, and the others still run."""
    found = [*_file(wanted.path), _library()]
    try:
        reader = Reader(wanted.path)
    except StoreError as error:
        return (*found, Finding("opening", "broken", str(error), "Until it opens, nothing inside it is known."))
    beats = BeatsReader(wanted.path)
    witness = Witness(wanted.processes, beats, wanted.clock, wedged_after_from_environment(os.environ))
    checks: list[tuple[str, Callable[[View], Iterator[Finding]]]] = [
        ("layout", lambda view: _inside(view, wanted.path)),
        ("clock", lambda view: _clock(view, witness)),
        ("connections", lambda view: _connections(view, witness, wanted.path)),
        ("trail", lambda view: _trail(view, wanted)),
    ]
    if wanted.thorough:
        checks.append(("pages", _pages))
    try:
        for name, check in checks:
            try:
                with reader.snapshot() as view:
                    found += check(view)
            except StoreError as error:
                found.append(Finding(name, "broken", str(error), "Restore a backup, or look again when nobody holds the store."))
    finally:
        beats.close()
        reader.close()
    return tuple(found)


# the file and where it lies: names and stat alone


def _file(path: Path) -> Iterator[Finding]:
    try:
        status = path.stat()
    except FileNotFoundError:
        yield Finding(
            "store", "broken", f"there is no store at {path}", "Name it with --store; a server's start makes a new one."
        )
        yield from _place(path.parent)
        return
    except OSError as error:
        yield Finding("store", "broken", f"{path} cannot be looked at: {error.strerror}", "Ask whoever owns its folder.")
        return
    yield Finding("store", "ok", f"{path}, {status.st_size:,} bytes, inode {status.st_ino}")
    if stat.S_ISREG(status.st_mode):
        yield from _modes(path, status)
    yield from _place(path.parent)


def _modes(path: Path, status: os.stat_result) -> Iterator[Finding]:
    if os.name == "nt":
        return
    loose = []
    for one in own_files(path):
        try:
            mode = stat.S_IMODE(one.stat().st_mode)
        except OSError:
            continue
        if mode & 0o077:
            loose.append(f"{one.name} is {mode:04o}")
    if loose:
        yield Finding("mode", "warning", f"others may get at it: {', '.join(loose)}", f"chmod 600 {path}*")
    else:
        yield Finding("mode", "ok", f"{stat.S_IMODE(status.st_mode):04o}, yours alone")
    if status.st_uid != os.geteuid():
        yield Finding("owner", "warning", f"it belongs to uid {status.st_uid}, and you are {os.geteuid()}", "Work as its owner.")
    if not os.access(path, os.W_OK):
        yield Finding("writable", "warning", "you may only read the store", "Looking works; for anything else work as its owner.")


def _place(folder: Path) -> Iterator[Finding]:
    if not folder.is_dir():
        yield Finding("folder", "broken", f"there is no folder {folder}", "Check --store for a mistyped name.")
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    if not os.access(folder, os.W_OK | os.X_OK):
        yield Finding("folder", "warning", f"you may not write to {folder}", "SQLite needs its log beside the store.")
    elif mode & 0o022 and not mode & stat.S_ISVTX:
        words = f"others may put files into {folder} ({mode:04o}), and replace the store"
        yield Finding("folder", "warning", words, f"chmod go-w {folder}")
    else:
        yield Finding("folder", "ok", f"{folder}, {mode:04o}")
    kind = filesystems.file_system_type(folder)
    if kind is None:
        yield Finding("file system", "warning", "its type cannot be told", "Make sure that it is a local disk.")
    elif filesystems.refused(kind):
        yield Finding("file system", "broken", f"{kind}: SQLite's log corrupts the store there", "Move it to a local disk.")
    else:
        yield Finding("file system", "ok", kind)
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        yield Finding("disk", "warning", f"free space not measured: {error.strerror}")
        return
    state: State = "broken" if free < DISK_OUT else "warning" if free < DISK_LOW else "ok"
    yield Finding("disk", state, f"{free / 1024**2:,.0f} MB free", "" if state == "ok" else "Free some space.")


def _library() -> Finding:
    found = inspect.library()
    if found.reset_fix:
        way = f"it has the WAL-reset fix and checkpoints by itself every {CHECKPOINT_PAGES:,} pages"
    else:
        way = (
            "it lacks the WAL-reset fix, so nothing checkpoints by itself: a passive checkpoint runs at "
            f"{CHECKPOINT_PAGES:,} pages while the write lock is held"
        )
    return Finding("sqlite", "ok", f"{found.name}; {way}")


# what is inside


def _inside(view: View, path: Path) -> Iterator[Finding]:
    found = inspect.facts(view, path)
    words = f"application id {found.application_id:#x}, layout {found.layout}"
    if found.ours:
        yield Finding("layout", "ok", words)
    else:
        yield Finding("layout", "broken", f"{words}; this program writes {SCHEMA_VERSION}", "Use the watchroom that wrote it.")
    size = f"{found.pages:,} pages of {found.page_size:,} bytes, {found.free_pages:,} free"
    if found.journal_mode == "wal":
        yield Finding("journal", "ok", f"WAL; {size}")
    else:
        words = f"mode {found.journal_mode}, not WAL; {size}"
        yield Finding("journal", "broken", words, "Somebody switched it; any command that writes switches it back.")
    log = "no log" if found.log_bytes is None else f"{found.log_bytes:,} bytes"
    if found.log_too_long:
        yield Finding(
            "log", "warning", log, "A reader that never ends keeps it from being cut: close what has been open for long."
        )
    else:
        yield Finding("log", "ok", log)


def _clock(view: View, witness: Witness) -> Iterator[Finding]:
    now = witness.clock.now()
    row = head(view)
    if row is None:
        yield Finding("clock", "warning", "the trail has no row to hold it against")
        return
    newest = parse_stamp(row.at)
    beat = witness.beats.newest()
    if newest is None:
        yield Finding("clock", "broken", f"the time of trail row {row.seq} cannot be read", "Run `watchroom audit verify`.")
        return
    ahead = {"the newest trail row": seconds_ahead(newest, now), "the newest beat": seconds_ahead(beat, now) if beat else 0.0}
    skewed = [f"{what} lies {words_for_age(seconds)} in the future" for what, seconds in ahead.items() if seconds]
    if skewed:
        yield Finding("clock", "warning", "; ".join(skewed), "Check this machine's clock: ages and verdicts lean on it.")
    else:
        yield Finding("clock", "ok", "no row and no beat from the future")


def _connections(view: View, witness: Witness, path: Path) -> Iterator[Finding]:
    beats, newest = witness.beats.all(), witness.beats.newest()
    rows = connections.every(view, beats, closed=False, limit=CONNECTIONS_JUDGED)
    verdicts = Counter(witness.judge_facts(one, newest, coherent=True, started_at=None).verdict for one in rows)
    most = " (the newest ones)" if len(rows) == CONNECTIONS_JUDGED else ""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    yield Finding("connections", "ok", f"{len(rows)} open{most}{f': {counts}' if counts else ''}")
    side = beats_path(path)
    if not side.exists():
        state: State = "warning" if rows else "ok"
        advice = "It is disposable: whoever is connected makes it anew within seconds." if rows else ""
        yield Finding("beats", state, f"there is no {side.name}", advice)
    elif witness.beats.data_version() is None:
        yield Finding("beats", "warning", f"{side.name} cannot be read", "It is disposable: the next beat makes it anew.")
    else:
        yield Finding("beats", "ok", f"{side.name}, beats of {len(beats):,} connection{'s' if len(beats) != 1 else ''}")


def _trail(view: View, wanted: Examination) -> Iterator[Finding]:
    anchors = wanted.anchors or anchor_path(wanted.path)
    found = verify(view, progress=wanted.progress, anchors=anchors)
    if found.breaks or found.store_mismatches:
        advice = "`watchroom audit verify` names every break. Keep a copy of the store, and compare it with a backup."
        yield Finding("trail", "broken", found.words, advice)
    elif found.rows:
        yield Finding("trail", "ok", f"{found.rows:,} rows checked, none broken")
    else:
        yield Finding("trail", "warning", "nothing to verify: the trail has no rows", "A store's own creation is its first row.")
    check = found.anchors
    if check is None or check.state == "not anchored":
        words = f"the tail is not anchored: no line of this store in {anchors}"
        yield Finding(
            "anchors", "warning", words, "Every process that writes begins it; name it with --anchors if it lies elsewhere."
        )
    elif check.problems:
        advice = "Find out who cut or replaced the store; after a restore of your own, `watchroom audit anchor --accept REASON`."
        yield Finding("anchors", "broken", f"{check.words}: {check.problems[0]}", advice)
    else:
        yield Finding("anchors", "ok", f"{check.words}, in {anchors}")


def _pages(view: View) -> Iterator[Finding]:
    problems = inspect.quick_check(view)
    if problems:
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        yield Finding("pages", "broken", f"{problems[0]}{more}", "Keep a copy of the store with its -wal, and restore a backup.")
    else:
        yield Finding("pages", "ok", "quick_check and foreign_key_check found nothing")
