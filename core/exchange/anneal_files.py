"""The files beside an anneal-memory database: continuity, baton, open loops, crystals (wraps.md a1). They are read and never written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import StoreError
from core.exchange.anneal_tables import Tables
from core.exchange.anneal_trail import packed
from core.exchange.report import Tally

SIDE_LIMIT = 64 * 1024 * 1024
"""Bytes of a file beside the database that are read."""


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file as it is attached: its name, its bytes as gzip, and the digest of the plain ones."""

    name: str
    packed: bytes
    sha256: str


@dataclass(slots=True)
class SideFiles:
    """What the files hold. Raises StoreError, in its reading, for one that cannot be read or is too big to be what it is named."""

    continuity: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    baton: Mapping[str, Any] = field(default_factory=dict)
    loops: list[Mapping[str, Any]] = field(default_factory=list)
    crystals: list[Mapping[str, Any]] = field(default_factory=list)
    attached: list[SideFile] = field(default_factory=list)


def read(path: Path, tables: Tables, tally: Tally) -> SideFiles:
    """Read the files beside the database at `path`; what has no place here is told."""
    found = SideFiles()
    raw = _beside(path, ".continuity.md", found)
    found.meta = _document(path, ".continuity.meta.json", found)
    found.baton = _document(path, ".continuity.md.baton", found)
    loops, crystals = _document(path, ".spores.json", found), _document(path, ".crystal.json", found)
    found.loops = [*_entries(loops, "spores", "open loops", tally), *_entries(loops, "resolved", "open loops", tally)]
    found.crystals = [*_entries(crystals, "crystal", "crystals", tally), *_entries(crystals, "retired", "crystals", tally)]
    raw = _recovered(path, tables, raw, tally)
    try:
        found.continuity = raw.decode().replace("\x00", "\ufffd") if raw is not None else None
    except UnicodeDecodeError as error:
        raise StoreError(f"The continuity of {path} is no UTF-8 ({error}). Nothing was imported.") from None
    _leave_out_others(path, tally)
    return found


def _beside(path: Path, suffix: str, found: SideFiles) -> bytes | None:
    place = path.with_name(path.stem + suffix)
    if not place.is_file():
        return None
    if place.stat().st_size > SIDE_LIMIT:
        raise StoreError(f"{place} has over {SIDE_LIMIT:,} bytes. Nothing was imported.")
    content = place.read_bytes()
    found.attached.append(SideFile(place.name, packed(content), hashlib.sha256(content).hexdigest()))
    return content


def _document(path: Path, suffix: str, found: SideFiles) -> Mapping[str, Any]:
    raw = _beside(path, suffix, found)
    if raw is None:
        return {}
    try:
        document = json.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"The file {path.stem}{suffix} beside {path} cannot be read ({error}). Nothing was imported. Repair or move it away."
        ) from None
    if not isinstance(document, dict):
        raise StoreError(
            f"The file {path.stem}{suffix} beside {path} is no JSON object. Nothing was imported. Repair or move it away."
        )
    return document


def _entries(document: Mapping[str, Any], name: str, what: str, tally: Tally) -> list[Mapping[str, Any]]:
    found = document.get(name, [])
    if not isinstance(found, list):
        tally.leave_out(what, f"{name} is no list in their file")
        return []
    kept: list[Mapping[str, Any]] = [one for one in found if isinstance(one, dict)]
    tally.leave_out(what, "they are no JSON objects", len(found) - len(kept))
    return kept


def _recovered(path: Path, tables: Tables, raw: bytes | None, tally: Tally) -> bytes | None:
    """The text of a save that was killed between its commit and its renames: the staged file whose hash its wrap has (wraps.md e4)."""
    rows = tables.rows("wraps", ("content_hash", "pair_id"), "id desc limit 1")
    digest, pair = rows[0] if rows else (None, None)
    if not isinstance(digest, str) or not digest or (raw is not None and hashlib.sha256(raw).hexdigest() == digest):
        return raw
    if isinstance(pair, str) and "/" not in pair and "\x00" not in pair:
        staged = path.with_name(f"{path.stem}.continuity.{pair}.md.tmp")
        if staged.is_file() and staged.stat().st_size <= SIDE_LIMIT:
            content = staged.read_bytes()
            if hashlib.sha256(content).hexdigest() == digest:
                tally.notes.append("its last save was interrupted before its text was put in place; that text is taken")
                return content
    if raw is None:
        tally.notes.append("the text that its last wrap saved is gone")
    else:
        tally.notes.append("the text is not the one that the last wrap saved: it was edited since")
    return raw


def _leave_out_others(path: Path, tally: Tally) -> None:
    outcomes = path.with_name(f"{path.stem}.outcomes.jsonl")
    if outcomes.is_file():
        with outcomes.open("rb") as stream:
            tally.leave_out("outcomes", "what became of advice has no place here", sum(1 for line in stream if line.strip()))
    sessions = path.with_name(f"{path.stem}.continuity.md.sessions")
    if sessions.is_dir():
        registered = sum(1 for one in sessions.iterdir() if one.suffix == ".session")
        tally.leave_out("registered sessions", "who is alive is told by the connections here", registered)
