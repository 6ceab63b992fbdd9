"""A file that a person named: whole and synced under its name, or not there at all (console.md, Feel: long work can be cancelled).

It is made in a private folder beside its place, so that a kill leaves that folder and never a half file under the name.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from core.errors import Refusal
from core.store.database import own_files, same_file
from core.trail.anchors import anchor_path

LOGS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database: a new database must not meet that of an older one."""


@contextlib.contextmanager
def whole_file(path: Path, store: Path, *, force: bool = False) -> Iterator[Path]:
    """Gives the path at which to make the file; at the end it is synced, readable by its owner alone, and moved to `path`.

    What is made beside it (a database's log) is thrown away, and on any exception all of it. With `force` a regular file that is there is
    replaced, but nothing of the store at `store`. Refuses `file_exists` and `file_unwritable` with what stands in the way.
    """
    refuse_unfit(path, store, force)
    with _refusing(path):
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name[:60]}.", dir=path.parent))  # for its owner alone
    try:
        part = folder / "new"
        yield part
        with _refusing(path):
            _sync(part)
            refuse_unfit(path, store, force)
            _place(part, path, force)
            _sync(path.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refuse_unfit(path: Path, store: Path, force: bool) -> None:
    """Refuses `file_exists` for a place that is taken, `file_unwritable` for one that cannot be a new file."""
    with _refusing(path):
        _refuse_taken(path, store, force)


def _refuse_taken(path: Path, store: Path, force: bool) -> None:
    if any(same_file(path, one) for one in (*own_files(store), anchor_path(store))):
        raise Refusal("file_exists", f"{path} is one of the store's own files and was left alone. Name another file.")
    if path.is_dir():
        raise Refusal("file_exists", f"{path} is a folder. Add a file name.", facts={"file": str(path)})
    if os.path.lexists(path):
        if not force:
            sentence = f"{path} is there already and was left alone. Name another file."
            raise Refusal("file_exists", sentence, facts={"file": str(path)})
        if path.exists() and not path.is_file():
            raise Refusal("file_exists", f"{path} is no regular file and was left alone.", facts={"file": str(path)})
    for one in (path.with_name(path.name + suffix) for suffix in LOGS):
        if os.path.lexists(one):
            sentence = f"{one.name} lies there, so a database {path.name} is in use, or was not closed. Name another file."
            raise Refusal("file_exists", sentence, facts={"file": str(path), "beside": str(one)})


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise Refusal("file_exists", f"{path} came meanwhile and was left alone.", facts={"file": str(path)}) from None
    except OSError as error:
        sentence = f"{path} could not be written: {error.strerror or error}. Nothing was left there."
        raise Refusal("file_unwritable", sentence, facts={"file": str(path)}) from None


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # a folder cannot be synced there
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _place(part: Path, path: Path, force: bool) -> None:
    part.chmod(0o600)
    if not force:
        # claims the name, for a move alone would replace whatever came meanwhile
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        part.replace(path)
    except BaseException:
        if not force:
            path.unlink(missing_ok=True)
        raise


@dataclass(slots=True)
class TextFile:
    """Writes text to `stream` as UTF-8; `path` is what its refusals name. `sha256` and `size` (bytes) are of what was written so far."""

    path: Path
    stream: IO[bytes]
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    size: int = 0

    def write(self, text: str) -> None:
        """Add text. Refuses `file_unwritable` when the disk takes no more."""
        content = text.encode()
        with _refusing(self.path):
            self.stream.write(content)
        self.digest.update(content)
        self.size += len(content)

    @property
    def sha256(self) -> str:
        """The SHA-256 of all that was written."""
        return self.digest.hexdigest()


@contextlib.contextmanager
def whole_text(path: Path, store: Path, *, force: bool = False) -> Iterator[TextFile]:
    """A text file by the rules of `whole_file`."""
    with whole_file(path, store, force=force) as part:
        with _refusing(path):
            descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        stream = os.fdopen(descriptor, "wb", 1 << 20)
        try:
            yield TextFile(path, stream)
        finally:
            with _refusing(path):
                stream.close()
