"""A store of anneal-memory as it was at one moment: its database and the files beside it, read whole, checked, and never written.

Whatever of it can be damaged is judged here, before anything is imported: what can be stored, what not and why.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from core.errors import Refusal, StoreError
from core.exchange import anneal_files, anneal_trail, episodes, foreign_values, history, loops, patterns
from core.exchange.anneal_files import SideFile
from core.exchange.anneal_tables import Tables
from core.exchange.anneal_trail import ForeignTrail
from core.exchange.episodes import ForeignEpisode, ForeignGrave, ForeignLink, Progress
from core.exchange.history import History
from core.exchange.loops import ForeignLoop
from core.exchange.patterns import Patterns
from core.exchange.report import Tally
from core.store import foreign
from core.store.database import View

NEWEST_FORMAT = 2


@dataclass(frozen=True, slots=True)
class AnnealSource:
    """All that an import takes of a store. `identity` is what the store is known by, so that a second import of it is told;
    `found` counts what is there, and what is not taken.
    """

    path: Path
    identity: str
    format_version: int | None
    episodes: tuple[ForeignEpisode, ...]
    links: tuple[ForeignLink, ...]
    graves: tuple[ForeignGrave, ...]
    loops: tuple[ForeignLoop, ...]
    history: History
    patterns: Patterns
    trail: ForeignTrail
    files: tuple[SideFile, ...]
    found: Tally


def read(path: Path, progress: Progress | None = None) -> AnnealSource:
    """Read the store whose database is at `path`, as of one moment. `progress` hears how many of its episodes are read.

    Raises StoreError for what is no anneal-memory store, is damaged, cannot be read or changed meanwhile; refuses
    `import_newer_format`.
    """
    with foreign.snapshot(path) as view:
        tables = Tables(view)
        _refuse_other(path, view, tables)
        metadata = {str(key): foreign_values.shown(value) for key, value in tables.rows("metadata", ("key", "value"))}
        version = _format(path, metadata.get("format_version", "").strip())
        tally = Tally()
        tables.leave_out_others(tally)
        files = anneal_files.read(path, tables, tally)
        trail = anneal_trail.read(path)
        tally.notes += trail.notes
        found = episodes.read(tables, tally, progress)
        past = history.read(tables, metadata, files.continuity, files.baton, trail, tally)
        tally.found = {
            "episodes": tables.count("episodes"),
            episodes.LINKS: tables.count("supersessions"),
            episodes.GRAVES: tables.count("tombstones"),
            loops.LOOPS: len(files.loops),
        }
        return AnnealSource(
            path,
            _identity(path, metadata, trail, view),
            version,
            found,
            episodes.read_links(tables, found, tally),
            episodes.read_graves(tables, found, tally),
            loops.read(files.loops, tally),
            past,
            patterns.read(tables, past, files.crystals, files.meta, tally),
            trail,
            tuple(files.attached),
            tally,
        )


def _refuse_other(path: Path, view: View, tables: Tables) -> None:
    if not {"episodes", "wraps", "metadata"} <= tables.names:
        raise StoreError(f"{path} is an SQLite file, but no store of anneal-memory. Nothing was changed.")
    problem = view.one("pragma quick_check(1)")[0]
    if problem != "ok":
        raise StoreError(f"{path} is damaged ({problem}). Nothing was imported. Repair it, or import a backup of it.")


def _format(path: Path, text: str) -> int | None:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
    if number is not None and number > NEWEST_FORMAT:
        raise Refusal(
            "import_newer_format",
            f"{path} has format {number}; this program knows formats up to {NEWEST_FORMAT}. Nothing was changed. Update watchroom.",
            facts={"format_version": number, "known": NEWEST_FORMAT},
        )
    return number


def _identity(path: Path, metadata: dict[str, str], trail: ForeignTrail, view: View) -> str:
    """The store's own id, else its trail's first line, else its first episode."""
    for kind, value in (("store", metadata.get("store_id")), ("trail", trail.first)):
        if value:
            return f"{kind}:{hashlib.sha256(value.encode()).hexdigest()[:32]}"
    first = view.one("select id, timestamp, content from episodes order by timestamp, id limit 1")
    seed = json.dumps([str(one) for one in first]) if first else str(path)
    return f"episode:{hashlib.sha256(seed.encode('utf-8', 'replace')).hexdigest()[:32]}"
