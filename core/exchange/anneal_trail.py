"""The audit trail of an anneal-memory store: its files, and whether its chain holds (wraps.md a9).

The bytes on disk are hashed, never a line written anew. What the chain cannot see (a cut end, an edited last line) is not
claimed: once imported, the head is anchored in our own trail.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import StoreError
from core.exchange import foreign_values

GENESIS = "sha256:GENESIS"
_DECODE = json.JSONDecoder().raw_decode
FILE_LIMIT = 512 * 1024 * 1024
"""Bytes of one audit file, unpacked, that are read: beyond that it is no trail but a trap."""


@dataclass(frozen=True, slots=True)
class TrailFile:
    """One audit file: its name, its bytes as they are attached (unpacked, then gzip), and the digest of the unpacked ones."""

    name: str
    packed: bytes
    sha256: str


@dataclass(frozen=True, slots=True)
class ForeignTrail:
    """The trail as it was read. `head` is the hash of its last line; `findings` are sentences, none when the chain holds.

    `notes` are what the other program knows itself: gaps that it recorded, a beginning that nobody vouches for. `started` and
    `completed` are the `data` of wrap events by their token, each with its time under `ts`.
    """

    files: tuple[TrailFile, ...] = ()
    entries: int = 0
    head: str | None = None
    first: str | None = None
    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    started: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    completed: tuple[Mapping[str, Any], ...] = ()


@dataclass(slots=True)
class _Walk:
    """The chain so far: what the next line must link to, and what was found."""

    expected: str
    findings: list[str]
    entries: int = 0
    skipped: int = 0
    first: str | None = None
    started: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    completed: list[Mapping[str, Any]] = field(default_factory=list)


def read(path: Path) -> ForeignTrail:
    """Read and verify the trail beside the database at `path`. Raises StoreError only for files that cannot be taken in at all."""
    beside = re.escape(path.stem)
    sealed_name = re.compile(beside + r"\.audit\.[0-9]{4}-W[0-9]{2}(?:\.[0-9]+)?\.jsonl(?:\.gz)?")
    quarantined = re.compile(beside + r"\.audit\.manifest\.json\.corrupt-[0-9TZ]+")
    names = sorted(one.name for one in path.parent.iterdir() if one.is_file())
    on_disk = [name for name in names if sealed_name.fullmatch(name)]
    findings = [f"{name} is a manifest that was put aside as corrupt" for name in names if quarantined.fullmatch(name)]
    manifest = _manifest(path, findings)
    listed = [
        one["filename"] for one in manifest.get("files", []) if isinstance(one, dict) and isinstance(one.get("filename"), str)
    ]
    findings += [f"the manifest lists {name!r}, which is missing" for name in listed if name not in on_disk]
    findings += [f"{name} is not in the manifest" for name in on_disk if manifest and name not in listed]
    order = [name for name in dict.fromkeys(listed) if name in on_disk]
    order += [name for name in on_disk if name not in order]
    active = path.with_name(f"{path.stem}.audit.jsonl")
    anchor = manifest.get("chain_anchor")
    walk = _Walk(anchor if isinstance(anchor, str) and anchor else GENESIS, findings)
    files = [_file(path.with_name(name), walk) for name in [*order, *([active.name] if active.is_file() else [])]]
    if manifest.get("active_begun") and not active.is_file():
        findings.append("the active file held entries and is gone")
    if walk.skipped:
        findings.append(f"{walk.skipped:,} lines cannot be read")
    return ForeignTrail(
        tuple(files),
        walk.entries,
        walk.expected if walk.entries else None,
        walk.first,
        tuple(foreign_values.shown(one) for one in findings),
        tuple(_notes(manifest)),
        walk.started,
        tuple(walk.completed),
    )


def _notes(manifest: Mapping[str, Any]) -> Iterator[str]:
    if manifest.get("chain_anchor_recovered") is True:
        yield "its trail begins at an anchor that was recovered by a repair: nothing vouches for what came before"
    elif manifest.get("chain_anchor"):
        yield "its trail begins where old weeks were deleted: what came before cannot be checked"
    gaps = manifest.get("set_aside")
    if isinstance(gaps, list) and gaps:
        yield f"its trail has {len(gaps):,} gaps that a repair recorded"


def _manifest(path: Path, findings: list[str]) -> dict[str, Any]:
    place = path.with_name(f"{path.stem}.audit.manifest.json")
    try:
        found = json.loads(place.read_bytes().decode()) if place.is_file() else {}
    except (ValueError, OSError, RecursionError) as error:
        findings.append(f"the manifest cannot be read ({error})")
        return {}
    if not isinstance(found, dict) or not isinstance(found.get("files", []), list):
        findings.append("the manifest is no manifest")
        return {}
    if found.get("version", 1) != 1:
        findings.append("the manifest is of a newer version")
    return found


def _file(path: Path, walk: _Walk) -> TrailFile:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(FILE_LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        walk.findings.append(f"{path.name} cannot be read ({error})")
        content = b""
    if len(content) > FILE_LIMIT:
        raise StoreError(f"The audit file {path} has over {FILE_LIMIT:,} bytes unpacked. Nothing was imported.")
    _follow(path.name, content, walk)
    return TrailFile(foreign_values.shown(path.name), packed(content), hashlib.sha256(content).hexdigest())


def packed(content: bytes) -> bytes:
    """A file's bytes as an attachment keeps them; the same bytes always give the same."""
    return gzip.compress(content, 1, mtime=0)


def _follow(name: str, content: bytes, walk: _Walk) -> None:
    last_seq: int | None = None
    for line in _lines(content):
        entry = _entry(line)
        if entry is None:
            walk.skipped += 1
            continue
        digest = "sha256:" + hashlib.sha256(line).hexdigest()
        seq = entry.get("seq")
        if entry.get("prev_hash") != walk.expected:
            walk.findings.append(f"{name}: the line before seq {seq!s:.20} is altered or missing")
        if isinstance(seq, int):
            if last_seq is not None and seq <= last_seq:
                walk.findings.append(f"{name}: seq {seq} is out of order")
            last_seq = seq
        walk.expected = digest
        walk.entries += 1
        walk.first = walk.first or digest
        if str(entry.get("event"))[:5] == "wrap_":
            _note_wrap(entry, walk)


def _lines(content: bytes) -> Iterator[bytes]:
    for line in content.split(b"\n"):
        if stripped := line.strip():
            yield stripped


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        text = line.decode()
        found, end = _DECODE(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and end == len(text) else None


def _note_wrap(entry: dict[str, Any], walk: _Walk) -> None:
    data = entry.get("data")
    if not isinstance(data, dict):
        return
    told = {**data, "ts": entry.get("ts")}
    if entry["event"] == "wrap_started" and isinstance(data.get("wrap_token"), str):
        walk.started[data["wrap_token"]] = told
    elif entry["event"] == "wrap_completed":
        walk.completed.append(told)
