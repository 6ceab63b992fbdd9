"""Which SQLite library this process uses: the one rule, so that no process ever holds two (libraries.md E.1, faults.md S4).

sqlite-utils prefers pysqlite3 where it is installed; readers follow the same rule without importing sqlite-utils, which
costs a tenth of a second that the console's first paint does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

__all__ = ["has_reset_fix", "library_name", "sqlite3"]


def has_reset_fix(version: tuple[int, ...] | None = None) -> bool:
    """Whether a library (this one by default) has the fix of the WAL-reset race: 3.51.3, 3.50.7 or 3.44.6 and their followers."""
    found = version or sqlite3.sqlite_version_info
    return found >= (3, 51, 3) or (3, 50, 7) <= found < (3, 51) or (3, 44, 6) <= found < (3, 45)


def library_name() -> str:
    """The library in words, for doctor: its package and SQLite's version."""
    package = "pysqlite3" if sqlite3.__name__.startswith("pysqlite3") else "the standard library's sqlite3"
    return f"{package}, SQLite {sqlite3.sqlite_version}"
