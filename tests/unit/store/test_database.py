"""Opening, waiting, and everything that a path may turn out to be (room.md 2.19, 2.20 and 3; faults.md S1 to S7)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core.errors import Refusal, StoreError, StoreLocked, StoreMissing, StoreNewer
from core.store import filesystems
from core.store.database import APPLICATION_ID, SCHEMA_VERSION, Reader, Readers, Store
from core.store.library import has_reset_fix, sqlite3
from tests.fakes import FakeClock

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A new, closed store."""
    made = tmp_path / "store.db"
    Store(made, FakeClock()).close()
    return made


def test_a_new_store_is_for_its_owner_alone_and_durable(path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600
    store = Store(path, FakeClock())
    with store.transaction() as transaction:
        assert transaction.one("pragma synchronous")[0] == 2
        assert transaction.one("pragma journal_mode")[0] == "wal"
        assert transaction.one("pragma application_id")[0] == APPLICATION_ID
    store.close()


def test_a_folder_a_text_file_and_a_foreign_database_are_refused_unchanged(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        Store(tmp_path, FakeClock())
    text = tmp_path / "notes.txt"
    text.write_text("these are notes\n" * 100)
    with pytest.raises(StoreError, match="not a watchroom store"):
        Store(text, FakeClock())
    assert text.read_text() == "these are notes\n" * 100
    foreign = tmp_path / "other.db"
    with sqlite3.connect(foreign) as database:
        database.execute("create table songs (title text)")
    database.close()
    before = foreign.read_bytes()
    for opening in (lambda: Store(foreign, FakeClock()), lambda: Reader(foreign)):
        with pytest.raises(StoreError, match="another program"):
            opening()
    assert foreign.read_bytes() == before


def test_a_newer_store_is_refused_with_a_clear_sentence_even_while_open(path: Path) -> None:
    store = Store(path, FakeClock())
    with sqlite3.connect(path) as database:
        database.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    database.close()
    with pytest.raises(StoreNewer, match="newer watchroom"), store.transaction():
        pass
    store.close()
    with pytest.raises(StoreNewer):
        Store(path, FakeClock())
    with pytest.raises(StoreNewer):
        Reader(path)


def test_a_reader_of_a_missing_store_says_so_and_makes_none(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing, match="no store"):
        Reader(tmp_path / "missing.db")
    assert list(tmp_path.iterdir()) == []


def test_a_writer_waits_and_then_is_refused_as_busy_and_never_as_a_disk_trouble(path: Path) -> None:
    store = Store(path, FakeClock(), patience=0.2)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("begin immediate")
    with pytest.raises(Refusal) as caught, store.transaction():
        pass
    assert caught.value.code == "store_busy"
    assert not re.search("disk|permission|read-only", caught.value.sentence)
    holder.execute("rollback")
    holder.close()
    with store.transaction() as transaction:
        assert transaction.one("select 1")[0] == 1
    store.close()


def test_threads_of_one_process_wait_for_each_other_within_the_same_patience(path: Path) -> None:
    store = Store(path, FakeClock(), patience=0.2)
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with store.transaction():
            inside.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(10)
    with pytest.raises(Refusal, match="store_busy"), store.transaction():
        pass
    done.set()
    thread.join()
    store.close()


def test_a_reader_waits_for_no_writer(path: Path) -> None:
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("begin immediate")
    reader = Reader(path, patience=0.0)
    with reader.snapshot() as view:
        assert view.one("select count(*) from audit")[0] == 0
    reader.close()
    holder.execute("rollback")
    holder.close()


def test_a_reader_of_an_exclusively_locked_store_says_locked_and_mends(path: Path) -> None:
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("pragma locking_mode = exclusive")
    holder.execute("begin exclusive")
    with pytest.raises(StoreLocked):
        Reader(path, patience=0.0)
    holder.execute("rollback")
    holder.close()
    Reader(path).close()


def test_an_exception_inside_a_transaction_rolls_everything_back(path: Path) -> None:
    store = Store(path, FakeClock())
    with pytest.raises(ZeroDivisionError), store.transaction() as transaction:
        transaction.execute("insert into projects (project_key, created_at) values ('a', 'b')")
        raise ZeroDivisionError
    with store.transaction() as transaction:
        assert transaction.one("select count(*) from projects")[0] == 0
    store.close()


def test_a_store_put_in_place_of_another_is_noticed_by_writers_and_readers(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    made = Store(other, FakeClock())
    with made.transaction() as transaction:
        transaction.execute("insert into projects (project_key, created_at) values ('other', 'b')")
    made.close()
    store, readers = Store(path, FakeClock()), Readers(path)
    with readers.snapshot() as view:
        assert view.one("select count(*) from projects")[0] == 0
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    other.replace(path)
    with store.transaction() as transaction:
        assert transaction.one("select project_key from projects")[0] == "other"
    with readers.snapshot() as view:
        assert view.one("select project_key from projects")[0] == "other"
    store.close()
    readers.close()


def test_a_store_that_is_gone_is_not_made_again_under_a_writer(path: Path) -> None:
    store = Store(path, FakeClock())
    path.unlink()
    with pytest.raises(StoreMissing, match="gone"), store.transaction():
        pass
    store.close()
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=False, capture_output=True).returncode:
        pytest.skip("this machine does not let tests mount a disk")
    try:
        store = Store(disk / "store.db", FakeClock())
        with store.transaction() as transaction:
            transaction.execute("insert into projects (project_key, created_at) values ('kept', 'b')")
        with pytest.raises(StoreError, match="full"), store.transaction() as transaction:
            transaction.execute("insert into projects (project_key, created_at) values ('big', ?)", ("x" * 2_000_000,))
        with store.transaction() as transaction:
            assert [row[0] for row in transaction.all("select project_key from projects")] == ["kept"]
        store.close()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        ("ext4", False),
        ("apfs", False),
        ("tmpfs", False),
        ("nfs4", True),
        ("fuse.sshfs", True),
        ("9p", True),
        ("CIFS", True),
        (None, False),
    ],
)
def test_network_and_virtual_file_systems_are_refused(kind: str | None, refused: bool) -> None:
    assert filesystems.refused(kind) is refused


def test_a_store_on_a_network_file_system_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystems, "_mounts", lambda: [("/", "ext4"), (str(tmp_path), "nfs4")])
    with pytest.raises(StoreError, match="nfs4 file system"):
        Store(tmp_path / "deep" / "store.db", FakeClock())


@pytest.mark.parametrize(
    ("version", "fixed"),
    [
        ((3, 51, 3), True),
        ((3, 53, 4), True),
        ((3, 51, 2), False),
        ((3, 50, 7), True),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 40, 1), False),
    ],
)
def test_the_library_with_the_reset_fix_is_known(version: tuple[int, int, int], fixed: bool) -> None:
    assert has_reset_fix(version) is fixed


@pytest.mark.parametrize("library", ["installed", "standard"])
def test_the_log_stays_bounded_under_polling_and_writing(tmp_path: Path, library: str) -> None:
    """Faults.md T23, in a process of its own, with the standard library's SQLite as well, where checkpoints are ours to run."""
    block = "import sys; sys.modules['pysqlite3'] = None\n" if library == "standard" else ""
    script = block + (
        "import sys\nfrom pathlib import Path\nfrom core.clock import SystemClock\nfrom core.store.database import Reader, Store\n"
        "path = Path(sys.argv[1]); store = Store(path, SystemClock()); reader = Reader(path)\n"
        "for number in range(4000):\n"
        "    with store.transaction() as t:\n"
        "        t.execute('insert or replace into projects (project_key, created_at, current_focus) values (?, ?, ?)', ('p', 'x', 'y' * 9000))\n"
        "    if number % 10 == 0:\n"
        "        with reader.snapshot() as view: view.one('select count(*) from projects')\n"
        "print(path.with_name(path.name + '-wal').stat().st_size)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "store.db")], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 20_000_000


def test_nothing_opens_the_database_file_by_itself() -> None:
    """Faults.md S3 and T25: a plain open of the store, its log or index in a process with a connection drops its locks."""
    opening = re.compile(r"\b(open|read_bytes|read_text|write_bytes|write_text|copyfile|copy2?)\(")
    allowed = {"core/store/filesystems.py", "core/life/processes.py", "core/trail/anchors.py"}
    # these read the files of another system's store, on which this process holds no locks
    allowed |= {"core/store/foreign.py", "core/exchange/anneal_files.py", "core/exchange/anneal_trail.py"}
    # this one syncs a file that it has made, to which nobody is connected
    allowed |= {"core/exchange/new_file.py"}
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in sorted((ROOT / "core").rglob("*.py"))
        if str(file.relative_to(ROOT)) not in allowed and "server" not in file.parts
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if opening.search(line) and '"""' not in line and "def " not in line and "_open(" not in line and "O_EXCL" not in line
    ]
    assert found == []


def test_after_any_look_an_outside_close_leaves_the_log_in_place(path: Path) -> None:
    """Faults.md T25: while a server lives, another program that opens and closes the store must not take its log away."""
    store = Store(path, FakeClock())
    with store.transaction() as transaction:
        transaction.execute("insert into projects (project_key, created_at) values ('a', 'b')")
    Reader(path).close()
    subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sqlite3; sqlite3.connect({str(path)!r}).execute('select count(*) from projects').fetchall()",
        ],
        check=True,
    )
    assert path.with_name(path.name + "-wal").exists()
    store.close()
