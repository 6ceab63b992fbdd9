"""The store's file: the one module that knows SQLite's ways (libraries.md E, room.md 2.19, 2.20 and 3).

One writing connection a process behind a lock, `BEGIN IMMEDIATE` always; readers are `mode=ro` and wait for nobody.
Nothing here opens the database file by itself: closing such a descriptor would drop the process's locks (faults.md S3).
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from core.errors import Refusal, StoreError, StoreLocked, StoreMissing, StoreNewer
from core.store import filesystems
from core.store.library import has_reset_fix, sqlite3

if TYPE_CHECKING:
    from sqlite_utils import Database

    from core.clock import Clock

APPLICATION_ID = 0x57_52_4D_31  # "WRM1": tells a store from any other SQLite file
SCHEMA_VERSION = 5
WRITER_PATIENCE = 10.0
"""Seconds that a verb waits in all for the writer (room.md 2.19)."""
CHECKPOINT_PAGES = 1_000
LOG_LIMIT = 64 * 1024 * 1024
VALUES_AT_ONCE = 32_000
"""Values in one statement; SQLite allows 32,766."""

SqliteError = sqlite3.Error
Row = Any  # a sqlite3.Row or None; typing it would bind callers to one of the two libraries


class View:
    """A consistent snapshot for reading, on a `mode=ro` connection (faults.md S1)."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> Any:
        """Run one parametrised statement and give its cursor, which must not outlive the snapshot."""
        return self._connection.execute(sql, parameters)

    def one(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> Row:
        """The first row of a query, or None."""
        return fetch(self._connection, sql, parameters, first=True)

    def all(self, sql: str, parameters: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        """Every row of a query."""
        rows: list[Row] = fetch(self._connection, sql, parameters)
        return rows

    def stream(
        self, sql: str, parameters: Sequence[Any] | dict[str, Any] = (), *, errors: str = "surrogateescape"
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of an ordered query, one at a time, as tuples. Text that is not UTF-8 is decoded with that error handler."""
        done = 0
        try:
            for row in self._tuples(sql, parameters):
                yield row
                done += 1
            return
        except sqlite3.OperationalError as error:
            if "decode" not in str(error).lower():
                raise
        usual = self._connection.text_factory
        self._connection.text_factory = lambda raw: raw.decode("utf-8", errors)
        try:
            yield from islice(self._tuples(sql, parameters), done, None)
        finally:
            self._connection.text_factory = usual

    def _tuples(self, sql: str, parameters: Sequence[Any] | dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        cursor = self._connection.cursor()
        try:
            cursor.row_factory = None
            yield from cursor.execute(sql, parameters)
        finally:
            cursor.close()

    def columns(self, table: str) -> tuple[str, ...]:
        """The names of a table's columns, in their order."""
        return tuple(row[1] for row in self.all(f"pragma table_info({table})"))


class Transaction(View):
    """A write transaction, which holds the store's one write lock and reads what it writes. Verbs get it inside a deed."""

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows, as many in one statement as it may have values: a full-text index is written out once a statement."""
        head, mark = f"insert into {table} ({', '.join(columns)}) values ", f"({', '.join('?' * len(columns))})"
        most = VALUES_AT_ONCE // len(columns)
        for start in range(0, len(rows), most):
            some = rows[start : start + most]
            self._connection.execute(head + ", ".join([mark] * len(some)), [value for row in some for value in row])


def fetch(connection: Any, sql: str, parameters: Sequence[Any] | dict[str, Any], *, first: bool = False) -> Any:
    """Rows of a query. Text that is not UTF-8 (damage from outside) is read with replacement characters, never a crash."""
    try:
        cursor = connection.execute(sql, parameters)
        return cursor.fetchone() if first else cursor.fetchall()
    except sqlite3.OperationalError as error:
        if "decode" not in str(error).lower():
            raise
    usual = connection.text_factory
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        cursor = connection.execute(sql, parameters)
        return cursor.fetchone() if first else cursor.fetchall()
    finally:
        connection.text_factory = usual


def identity_of(path: Path) -> tuple[int, int] | None:
    """The file behind a path, as device and inode, so that a replaced store is noticed; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def own_files(path: Path) -> tuple[Path, ...]:
    """The files that belong to the store at `path`: the database, its log and index, and the same of the beats."""
    return tuple(path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm", "-beats", "-beats-wal", "-beats-shm"))


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths are one, or name the same file."""
    try:
        return one.absolute() == other.absolute() or one.samefile(other)
    except OSError:  # either is not there, or SQLite has just taken it away
        return False


class Store:
    """One process's writing handle on a store (libraries.md E.3). Threads share it; each transaction holds its lock."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        *,
        patience: float = WRITER_PATIENCE,
        announce: Callable[[Transaction, int], None] | None = None,
    ) -> None:
        """Opens the store at `path`, creating and migrating it as needed.

        `patience` is how many seconds a transaction waits in all for the writer. `announce` is told, inside the migrating
        transaction, the layout that was there before (0 for a new store), so that the deed gets its trail row. Raises StoreError (with a sentence for
        a person) when the path cannot be a store, StoreNewer for a newer one, StoreLocked when the lock never came free.
        """
        self.path = path
        self.clock = clock
        self.patience = patience
        self._announce = announce
        self._lock = threading.Lock()
        self._connection: Any = None
        self._checkpointer: Any = None
        self._inode: tuple[int, int] | None = None
        self._open()

    def close(self) -> None:
        """Close the connections of this handle; a transaction under way is waited for."""
        with self._lock:
            self._close_connections()

    @contextlib.contextmanager
    def transaction(self, patience: float | None = None) -> Iterator[Transaction]:
        """One write transaction: BEGIN IMMEDIATE, commit at the end, roll back on any exception.

        Waits `patience` seconds (the handle's own by default) for this process's other threads and for other processes
        together; then it refuses `store_busy`, which is never called a disk or permission trouble (room.md 2.19).
        """
        allowed = self.patience if patience is None else patience
        start = time.monotonic()
        if not self._lock.acquire(timeout=allowed):
            raise store_busy(allowed)
        try:
            with explained(self.path):
                self._reopen_if_replaced()
                connection = self._connection
                remaining = max(0.0, allowed - (time.monotonic() - start))
                try:
                    # in half seconds, so that the statement is compiled only now and then
                    connection.execute(f"pragma busy_timeout = {math.ceil(remaining * 2) * 500}")
                    connection.execute("begin immediate")
                except sqlite3.OperationalError as error:
                    if is_busy(error):
                        raise store_busy(allowed) from None
                    raise
                try:
                    self._refuse_other_version(connection)
                    yield Transaction(connection)
                    connection.execute("commit")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("rollback")
                    raise
                if self._checkpointer is not None and self._log_pages() >= CHECKPOINT_PAGES:
                    self._checkpoint_beside()
        finally:
            self._lock.release()

    # opening

    def _open(self) -> None:
        folder = self.path.parent
        refuse_unfit_path(self.path)
        with explained(self.path):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                # only a file that was not there is ever opened here, so no lock of this process can hang on it
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            deadline = time.monotonic() + max(self.patience, 1.0)
            while True:
                try:
                    self._connect(deadline)
                    return
                except sqlite3.OperationalError as error:
                    self._close_connections()
                    if not is_busy(error) or time.monotonic() > deadline:
                        raise

    def _connect(self, deadline: float) -> None:
        self._inode = identity_of(self.path)
        connection = sqlite3.connect(
            str(self.path), isolation_level=None, timeout=1.0, check_same_thread=False, cached_statements=256
        )
        connection.row_factory = sqlite3.Row
        self._connection = connection
        refuse_foreign_file(connection, self.path)
        switch_to_log(connection, deadline)
        connection.execute("pragma synchronous = full")
        connection.execute("pragma foreign_keys = on")
        connection.execute(f"pragma journal_size_limit = {LOG_LIMIT}")
        if has_reset_fix():
            connection.execute(f"pragma wal_autocheckpoint = {CHECKPOINT_PAGES}")
        else:
            connection.execute("pragma wal_autocheckpoint = 0")
            self._checkpointer = sqlite3.connect(str(self.path), isolation_level=None, timeout=0.0, check_same_thread=False)
            self._checkpointer.execute("pragma wal_autocheckpoint = 0")
        if connection.execute("pragma user_version").fetchone()[0] < SCHEMA_VERSION:
            self._migrate(connection, deadline)

    def _migrate(self, connection: Any, deadline: float) -> None:
        from core.store.schema import migrate

        connection.execute(f"pragma busy_timeout = {int(max(1.0, deadline - time.monotonic()) * 1000)}")
        connection.execute("begin immediate")
        try:
            before = connection.execute("pragma user_version").fetchone()[0]
            if before < SCHEMA_VERSION:
                migrate(self._database(), self.clock)
                connection.execute(f"pragma application_id = {APPLICATION_ID}")
                connection.execute(f"pragma user_version = {SCHEMA_VERSION}")
                if self._announce:
                    self._announce(Transaction(connection), before)
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise

    def _database(self) -> Database:
        from sqlite_utils import Database

        return Database(self._connection, execute_plugins=False)

    def _refuse_other_version(self, connection: Any) -> None:
        found = connection.execute("pragma user_version").fetchone()[0]
        if found != SCHEMA_VERSION:
            raise newer_store(self.path, found)

    def _reopen_if_replaced(self) -> None:
        found = identity_of(self.path)
        if self._connection is None or found != self._inode:
            if found is None and self._connection is not None:
                raise StoreMissing(
                    f"The store {self.path} is gone: it was moved or deleted. Put it back, or start again with another --store."
                )
            self._close_connections()
            self._open()

    def _close_connections(self) -> None:
        for connection in (self._checkpointer, self._connection):
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.close()
        self._connection = self._checkpointer = None

    # checkpoints, where the library lacks the reset fix (libraries.md E.1)

    def _log_pages(self) -> int:
        try:
            size = self.path.with_name(self.path.name + "-wal").stat().st_size
        except OSError:
            return 0
        return size // 4096

    def _checkpoint_beside(self) -> None:
        # this process holds the write lock and writes nothing, so no commit can reset the log beside the checkpoint,
        # and the whole log is copied back: the next writer starts it anew
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("pragma busy_timeout = 0")
            self._connection.execute("begin immediate")
            try:
                self._checkpointer.execute("pragma wal_checkpoint(passive)").fetchall()
            finally:
                self._connection.execute("rollback")


class Reader:
    """A `mode=ro` connection for looking: it takes no lock that a writer waits for and writes nothing (faults.md S1)."""

    def __init__(self, path: Path, *, patience: float = 0.5) -> None:
        """Opens the store for reading. Raises StoreMissing, StoreNewer, StoreLocked or StoreError with a sentence."""
        self.path = path
        self._lock = threading.RLock()
        refuse_unfit_path(path)
        self.inode = identity_of(path)
        if self.inode is None:
            raise StoreMissing(f"There is no store at {path}.")
        with explained(path):
            self._connection = sqlite3.connect(
                f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None, timeout=patience, check_same_thread=False
            )
            try:
                self._connection.row_factory = sqlite3.Row
                refuse_foreign_file(self._connection, path)
                found = self._connection.execute("pragma user_version").fetchone()[0]
                if found < SCHEMA_VERSION:
                    words = "is empty" if found == 0 else f"is of the older layout {found}"
                    raise StoreMissing(f"The store {path} {words}: any command that writes, or a server's start, prepares it.")
            except BaseException:
                self._connection.close()
                raise

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[View]:
        """A short read transaction: everything read inside is of one moment (faults.md S6)."""
        with self._lock, explained(self.path):
            self._connection.execute("begin")
            try:
                yield View(self._connection)
            finally:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("rollback")

    def data_version(self) -> int:
        """A number that moves when another connection has committed (libraries.md B7)."""
        with self._lock, explained(self.path):
            version: int = self._connection.execute("pragma data_version").fetchone()[0]
            return version

    def replaced(self) -> bool:
        """Whether the path now names another file, or none."""
        return identity_of(self.path) != self.inode

    def interrupt(self) -> None:
        """Stop a query that another thread runs on this connection."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()


# what is wrong, in words


def store_busy(waited: float) -> Refusal:
    """The refusal of a verb that waited in vain for the writer (room.md 2.19)."""
    return Refusal(
        "store_busy",
        f"Another process has been writing for {waited:.0f} s; nothing was changed. Try again in a few seconds.",
        facts={"waited_seconds": round(waited, 1), "retry_after_seconds": 5},
    )


def newer_store(path: Path, found: int) -> StoreNewer:
    """The error for a store that a newer program has written (room.md 3)."""
    return StoreNewer(
        f"The store {path} has layout {found}; this program knows layouts up to {SCHEMA_VERSION}. "
        "Nothing was changed. Use the newer watchroom that wrote it."
    )


def is_busy(error: BaseException) -> bool:
    """Whether an SQLite error only says that another process is at work."""
    name = getattr(error, "sqlite_errorname", "") or ""
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")) or "locked" in str(error)


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns errors of SQLite and of the operating system into a StoreError whose sentence says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(error, path) from error
    except OSError as error:
        raise StoreError(f"The store {path} cannot be used: {error.strerror or error}.") from error


def explain(error: BaseException, path: Path) -> StoreError:
    """The StoreError for an SQLite error: what is wrong and what to do next."""
    text = str(error)
    if is_busy(error):
        return StoreLocked(f"The store {path} is locked by another process; nothing was changed. Try again in a few seconds.")
    if "full" in text:
        return StoreError(f"The disk that holds the store {path} is full; nothing was changed. Free some space and try again.")
    if "readonly" in text or "read-only" in text:
        return StoreError(
            f"The store {path} cannot be written: the file or its folder is read-only for you. Nothing was changed."
        )
    if "not a database" in text:
        return StoreError(
            f"{path} is not a watchroom store (it is no SQLite file). Nothing was changed. Name another file with --store."
        )
    if "malformed" in text or "corrupt" in text:
        return StoreError(
            f"The store {path} is damaged ({text}). Nothing was changed. Run `watchroom doctor`, or restore a backup."
        )
    if "unable to open" in text:
        return StoreError(f"The store {path} cannot be opened: is its folder there, and may you write to it?")
    return StoreError(f"The store {path} could not be used ({text}). Nothing was changed.")


def refuse_unfit_path(path: Path) -> None:
    """Raises StoreError for a path that can never be a store: a folder, a device, a network file system (room.md 2.20), or one out of reach."""
    with explained(path):
        if path.is_dir():
            raise StoreError(f"{path} is a folder, not a store. Name a file, such as {path / 'store.db'}, with --store.")
        if path.exists() and not path.is_file():
            raise StoreError(f"{path} is not a regular file, so it cannot be a store.")
    kind = filesystems.file_system_type(path)
    if filesystems.refused(kind):
        raise StoreError(
            f"{path} lies on a {kind} file system, where SQLite's log corrupts the store when several processes write. "
            "Keep the store on a local disk, and let other machines reach it over HTTP."
        )


def refuse_foreign_file(connection: Any, path: Path) -> None:
    """Raises StoreError for an SQLite file of another program, StoreNewer for a store of a newer one."""
    connection.execute("pragma busy_timeout = 1000")
    application = connection.execute("pragma application_id").fetchone()[0]
    version = connection.execute("pragma user_version").fetchone()[0]
    if application != APPLICATION_ID:
        tables = connection.execute("select count(*) from sqlite_master").fetchone()[0]
        if application != 0 or version != 0 or tables:
            raise StoreError(f"{path} is an SQLite file of another program, not a watchroom store. Nothing was changed.")
    elif version > SCHEMA_VERSION:
        raise newer_store(path, version)


def switch_to_log(connection: Any, deadline: float) -> None:
    """Switch to WAL. The switch ignores the busy timeout, so it is tried again until `deadline` (faults.md S5)."""
    while True:
        try:
            mode = connection.execute("pragma journal_mode = wal").fetchone()[0]
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
        else:
            if mode == "wal":
                return
            if time.monotonic() > deadline:
                raise StoreError(f"The store's journal is in mode {mode} and would not switch to WAL.")
        time.sleep(0.02)


class Readers:
    """Readers of one store for a process's threads: a snapshot borrows one, and each is reopened when the store was replaced."""

    def __init__(self, path: Path, *, patience: float = 2.0) -> None:
        self.path = path
        self._patience = patience
        self._lock = threading.Lock()
        self._free: list[Reader] = []
        self._closed = False

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[View]:
        """A short read transaction on a reader that nobody else uses meanwhile. Raises StoreError when the store cannot be read."""
        reader = self._borrow()
        try:
            with reader.snapshot() as view:
                yield view
        finally:
            self._give_back(reader)

    def close(self) -> None:
        """Close every reader; one that is borrowed is closed when it comes back."""
        with self._lock:
            readers, self._free, self._closed = self._free, [], True
        for reader in readers:
            reader.close()

    def _borrow(self) -> Reader:
        while True:
            with self._lock:
                reader = self._free.pop() if self._free else None
            if reader is None:
                return Reader(self.path, patience=self._patience)
            if not reader.replaced():
                return reader
            reader.close()

    def _give_back(self, reader: Reader) -> None:
        with self._lock:
            if not self._closed:
                self._free.append(reader)
                return
        reader.close()
