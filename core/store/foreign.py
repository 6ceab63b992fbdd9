"""Reading another program's SQLite file without a trace: nothing beside it is created or changed (issue 4, import; faults.md S1 to S3).

`mode=ro` alone would make the log and its index anew beside a file in WAL mode. So a file with both is read through
them, their index mapped read-only; one without a log is complete by itself and read as it is; one whose log has no index is copied.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from core.errors import StoreError
from core.store.database import APPLICATION_ID, SqliteError, View
from core.store.library import sqlite3

SIDES = ("", "-wal", "-journal")


def _signature(path: Path) -> tuple[tuple[int, int, int] | None, ...]:
    found: list[tuple[int, int, int] | None] = []
    for side in SIDES:
        try:
            facts = path.with_name(path.name + side).stat()
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((facts.st_ino, facts.st_size, facts.st_mtime_ns))
    return tuple(found)


def _size(path: Path, side: str) -> int:
    try:
        return path.with_name(path.name + side).stat().st_size
    except FileNotFoundError:
        return 0


@contextlib.contextmanager
def snapshot(path: Path) -> Iterator[View]:
    """One moment of the SQLite file at `path`, for reading. Raises StoreError with a sentence when it cannot be read, or changed meanwhile.

    Its schema is not trusted: no view, trigger or function of the file's own can do anything.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_explained(path))
        _refuse_unfit(path)
        log, index = _size(path, "-wal"), path.with_name(path.name + "-shm").exists()
        watched = not (log and index)
        before = _signature(path)
        if log and index:
            name = f"file:{quote(str(path))}?mode=ro&readonly_shm=1"
        elif log or _size(path, "-journal"):
            name = f"file:{quote(str(_copy(path, stack)))}"
        else:
            name = f"file:{quote(str(path))}?mode=ro&immutable=1"
        connection = stack.enter_context(contextlib.closing(sqlite3.connect(name, uri=True, isolation_level=None, timeout=5.0)))
        for pragma in ("trusted_schema = off", "cell_size_check = on", "mmap_size = 0"):
            connection.execute(f"pragma {pragma}")
        connection.execute("begin")
        if connection.execute("pragma application_id").fetchone()[0] == APPLICATION_ID:
            raise StoreError(f"{path} is a watchroom store, not one of anneal-memory. Nothing was changed.")
        yield View(connection)
        if watched and _signature(path) != before:
            raise StoreError(f"{path} changed while it was read. Nothing was imported. Try again when nobody writes to it.")


def _refuse_unfit(path: Path) -> None:
    if path.is_dir():
        raise StoreError(f"{path} is a folder. Name the store's file, such as {path / 'memory.db'}.")
    if not path.exists():
        raise StoreError(f"There is no file at {path}.")
    if not path.is_file():
        raise StoreError(f"{path} is not a regular file, so it cannot be a store.")


def _copy(path: Path, stack: contextlib.ExitStack) -> Path:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="watchroom-import-")))
    for side in SIDES:
        source = path.with_name(path.name + side)
        if source.exists():
            shutil.copyfile(source, folder / f"copy.db{side}")
    return folder / "copy.db"


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except SqliteError as error:
        text = str(error)
        if "not a database" in text:
            raise StoreError(f"{path} is no SQLite file, so it is no store of anneal-memory. Nothing was changed.") from error
        if "malformed" in text or "corrupt" in text:
            raise StoreError(
                f"{path} is damaged ({text}). Nothing was imported. Repair it with anneal-memory, or import a backup of it."
            ) from error
        raise StoreError(f"{path} cannot be read ({text}). Nothing was imported.") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}. Nothing was imported.") from error
