"""A store of anneal-memory as it lies on disk: its database and the files beside it, read and never written (wraps.md a1 to a4).

Stores of the 0.9 line lack tables that came later; a missing table reads as an empty one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.clock import parse_stamp, stamp
from core.errors import Refusal, StoreError
from core.exchange import anneal_trail
from core.exchange.anneal_trail import ForeignTrail
from core.memory.episodes import TRUST_LEVELS
from core.store import foreign
from core.store.database import View

NEWEST_FORMAT = 2
SIDE_LIMIT = 64 * 1024 * 1024
"""Bytes of a file beside the database that are read."""
NOT_TAKEN = {
    "associations": "links between episodes have no place here",
    "pattern_associations": "links between patterns have no place here",
    "drift_probes": "drift probes have no place here",
    "team_entries": "the team ledger has no place here",
}


@dataclass(frozen=True, slots=True)
class OpenWrap:
    """The eight lifecycle fields of an open or partial wrap, as stored (wraps.md a3)."""

    started_at: str
    token: str
    episode_ids: str
    section_schema: str
    gated_session: str
    bound_token: str
    wrap_date: str

    @property
    def ids(self) -> list[str] | None:
        """The frozen ids, or None when the list is no list of texts."""
        try:
            found = json.loads(self.episode_ids)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else None

    @property
    def coherent(self) -> bool:
        """Whether it is an open wrap; anything else is partial (wraps.md a4)."""
        return bool(self.started_at and self.token and self.ids is not None)


@dataclass(slots=True)
class AnnealSource:
    """What an import reads of a store. Rows of the database are read on demand in the snapshot `view`."""

    path: Path
    view: View
    tables: frozenset[str]
    metadata: dict[str, str]
    format_version: int | None
    continuity: str | None
    continuity_note: str | None
    meta: dict[str, Any]
    baton: dict[str, Any] | None
    spores: list[dict[str, Any]]
    crystals: list[dict[str, Any]]
    files: dict[str, bytes] = field(default_factory=dict)
    trail: ForeignTrail = field(default_factory=ForeignTrail)

    @property
    def identity(self) -> str:
        """What this store is known by, so that a second import of it is told: its own id, else its trail's first line, else its first episode."""
        for kind, value in (("store", self.metadata.get("store_id")), ("trail", self.trail.first)):
            if value:
                return f"{kind}:{hashlib.sha256(value.encode()).hexdigest()[:32]}"
        first = self.view.one("select id, timestamp, content from episodes order by timestamp, id limit 1")
        seed = json.dumps([str(one) for one in first]) if first else str(self.path)
        return f"episode:{hashlib.sha256(seed.encode('utf-8', 'replace')).hexdigest()[:32]}"

    def rows(self, table: str, columns: str, rest: str = "") -> list[Any]:
        """The rows of a table, which may not be there."""
        return self.view.all(f"select {columns} from {table} {rest}") if table in self.tables else []

    def count(self, table: str) -> int:
        """How many rows a table has; 0 when it is not there."""
        return int(self.view.one(f"select count(*) from {table}")[0]) if table in self.tables else 0

    def open_wrap(self) -> OpenWrap | None:
        """The open or partial wrap; None when the store is idle (wraps.md a4)."""
        names = ("started_at", "token", "episode_ids", "section_schema", "gated_session", "bound_token", "today")
        values = [self.metadata.get(f"wrap_{name}", "") for name in names]
        return OpenWrap(*values) if any(values[:5]) else None

    def trust(self) -> tuple[dict[str, str], dict[str, str], dict[str, list[str]]]:
        """Trust by id where it is not `agent`; effective trust, where that differs from `agent`; and the sources of each derived one.

        The effective trust is the lower of an episode's own and its best source's, through all levels (wraps.md a2): the
        greatest fixed point, so the order does not matter. A source that is gone counts as what it was marked with, else external.
        """
        own = {row[0]: row[1] for row in self.rows("episode_trust", "episode_id, trust") if row[1] in TRUST_LEVELS}
        edges = self.rows("episode_derived", "episode_id, source_id, gone_trust", "order by episode_id, source_id")
        sources: dict[str, list[str]] = {}
        fixed: dict[tuple[str, str], str] = {}
        live = {row[0] for row in self.view.all("select id from episodes")} if edges else set()
        dependents: dict[str, list[str]] = {}
        for episode_id, source_id, gone in edges:
            sources.setdefault(episode_id, []).append(source_id)
            dependents.setdefault(source_id, []).append(episode_id)
            if gone in TRUST_LEVELS or source_id not in live:
                fixed[episode_id, source_id] = gone if gone in TRUST_LEVELS else "external"
        effective = dict(own)
        waiting = list(sources)
        while waiting:
            one = waiting.pop()
            given = [fixed.get((one, source)) or effective.get(source, "agent") for source in sources.get(one, ())]
            best = max(given, key=TRUST_LEVELS.index, default="operator")
            now = min(own.get(one, "agent"), best, key=TRUST_LEVELS.index)
            if now != effective.get(one, "agent"):
                effective[one] = now
                waiting += dependents.get(one, ())
        return own, effective, sources


@contextlib.contextmanager
def opened(path: Path) -> Iterator[AnnealSource]:
    """The store whose database is at `path`, as of one moment.

    Raises StoreError for what is no anneal-memory store, is damaged, or cannot be read; refuses `import_newer_format`.
    """
    with foreign.snapshot(path) as view:
        tables = frozenset(
            row[0] for row in view.all("select name from sqlite_master where type = 'table' and sql not like 'create virtual%'")
        )
        if not {"episodes", "wraps", "metadata"} <= tables:
            raise StoreError(f"{path} is an SQLite file, but no store of anneal-memory. Nothing was changed.")
        problem = view.one("pragma quick_check(1)")[0]
        if problem != "ok":
            raise StoreError(f"{path} is damaged ({problem}). Nothing was imported. Repair it, or import a backup of it.")
        metadata = {str(row[0]): str(row[1]) for row in view.all("select key, value from metadata")}
        version = metadata.get("format_version", "").strip()
        number = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else None
        if number is not None and number > NEWEST_FORMAT:
            raise Refusal(
                "import_newer_format",
                f"{path} has format {number}; this program knows formats up to {NEWEST_FORMAT}. Nothing was changed. Update watchroom.",
                facts={"format_version": number, "known": NEWEST_FORMAT},
            )
        yield _with_files(path, view, tables, metadata, number)


def _with_files(path: Path, view: View, tables: frozenset[str], metadata: dict[str, str], version: int | None) -> AnnealSource:
    files: dict[str, bytes] = {}

    def beside(suffix: str) -> bytes | None:
        place = path.with_name(path.stem + suffix)
        if not place.is_file():
            return None
        if place.stat().st_size > SIDE_LIMIT:
            raise StoreError(f"{place} has over {SIDE_LIMIT:,} bytes. Nothing was imported.")
        files[place.name] = place.read_bytes()
        return files[place.name]

    raw = beside(".continuity.md")
    meta = _document(beside(".continuity.meta.json"), path, "continuity.meta.json")
    baton = _document(beside(".continuity.md.baton"), path, "baton")
    spores = _document(beside(".spores.json"), path, "spores.json")
    crystals = _document(beside(".crystal.json"), path, "crystal.json")
    raw, note = _recovered(path, view, raw)
    try:
        text = raw.decode() if raw is not None else None
    except UnicodeDecodeError as error:
        raise StoreError(f"The continuity of {path} is no UTF-8 ({error}). Nothing was imported.") from None
    return AnnealSource(
        path,
        view,
        tables,
        metadata,
        version,
        text,
        note,
        meta or {},
        baton or None,
        [*_dicts(spores, "spores"), *_dicts(spores, "resolved")],
        [*_dicts(crystals, "crystal"), *_dicts(crystals, "retired")],
        files,
        anneal_trail.read(path),
    )


def _recovered(path: Path, view: View, raw: bytes | None) -> tuple[bytes | None, str | None]:
    """The text of a save that was killed between its commit and its renames: the staged file whose hash its wrap has (wraps.md e4)."""
    columns = {row[1] for row in view.all("pragma table_info(wraps)")}
    last = (
        view.one("select content_hash, pair_id from wraps order by id desc limit 1")
        if {"content_hash", "pair_id"} <= columns
        else None
    )
    if last is None or not last[0] or (raw is not None and hashlib.sha256(raw).hexdigest() == last[0]):
        return raw, None
    staged = path.with_name(f"{path.stem}.continuity.{last[1]}.md.tmp")
    if "/" not in str(last[1]) and staged.is_file() and staged.stat().st_size <= SIDE_LIMIT:
        content = staged.read_bytes()
        if hashlib.sha256(content).hexdigest() == last[0]:
            return content, "its last save was interrupted before its text was put in place; that text is taken"
    return raw, "the text is not the one that the last wrap saved: it was edited since"


def _document(raw: bytes | None, path: Path, what: str) -> dict[str, Any] | None:
    if raw is None:
        return None
    try:
        found = json.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"The {what} of {path} cannot be read ({error}). Nothing was imported. Repair or move it away."
        ) from None
    if not isinstance(found, dict):
        raise StoreError(f"The {what} of {path} is no JSON object. Nothing was imported. Repair or move it away.")
    return found


def _dicts(document: dict[str, Any] | None, name: str) -> Sequence[dict[str, Any]]:
    found = (document or {}).get(name, [])
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def moment(value: object) -> str | None:
    """A foreign time as this store writes it, or None when it cannot be read."""
    found = parse_stamp(value)
    return stamp(found) if found else None
