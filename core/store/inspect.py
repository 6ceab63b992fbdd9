"""What a doctor asks of a store's file, through a reader that it was given: pragmas and sizes, never a plain open() (faults.md S3)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.store.database import APPLICATION_ID, LOG_LIMIT, SCHEMA_VERSION, View
from core.store.library import has_reset_fix, library_name

PROBLEMS_NAMED = 20


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The file as SQLite sees it. Sizes are in bytes; `log_bytes` is None when there is no log."""

    application_id: int
    layout: int
    journal_mode: str
    page_size: int
    pages: int
    free_pages: int
    log_bytes: int | None

    @property
    def ours(self) -> bool:
        """Whether the file says that it is a store, of the layout that this program writes."""
        return self.application_id == APPLICATION_ID and self.layout == SCHEMA_VERSION

    @property
    def log_too_long(self) -> bool:
        """Whether the log has outgrown the limit that each checkpoint cuts it back to."""
        return (self.log_bytes or 0) > LOG_LIMIT


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """The SQLite library in use: its name with version, and whether it may checkpoint by itself (libraries.md E.1)."""

    name: str
    reset_fix: bool


def library() -> LibraryFacts:
    """The library that this process uses."""
    return LibraryFacts(library_name(), has_reset_fix())


def facts(view: View, path: Path) -> FileFacts:
    """The file's facts, read in a snapshot."""
    names = ("application_id", "user_version", "journal_mode", "page_size", "page_count", "freelist_count")
    values = [view.execute(f"pragma {name}").fetchone()[0] for name in names]
    return FileFacts(
        values[0], values[1], str(values[2]).lower(), values[3], values[4], values[5], size_of(path.with_name(f"{path.name}-wal"))
    )


def size_of(path: Path) -> int | None:
    """A file's size by its name alone; None when there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def quick_check(view: View) -> tuple[str, ...]:
    """What SQLite finds wrong with the file's pages, tables and references, at most 20 sentences. It reads every page."""
    found = [str(row[0]) for row in view.all(f"pragma quick_check({PROBLEMS_NAMED})")]
    problems = [text for text in found if text != "ok"]
    orphans = view.all("pragma foreign_key_check")
    if orphans:
        problems.append(f"{len(orphans):,} rows refer to what is not there, the first in table {orphans[0][0]}")
    return tuple(problems)
