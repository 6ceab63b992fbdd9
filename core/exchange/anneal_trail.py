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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import StoreError

GENESIS = "sha256:GENESIS"
FILE_LIMIT = 512 * 1024 * 1024
"""Bytes of one audit file, unpacked, that are read: beyond that it is no trail but a trap."""


@dataclass(frozen=True, slots=True)
class TrailFile:
    """One audit file: its name and its bytes, unpacked."""

    name: str
    content: bytes
    sha256: str


@dataclass(frozen=True, slots=True)
class ForeignTrail:
    """The trail as it was read. `head` is the hash of its last line; `findings` are sentences, none when the chain holds.

    `started` and `completed` are the `data` of wrap events by their token, each with its time under `ts`.
    """

    files: tuple[TrailFile, ...] = ()
    entries: int = 0
    skipped_lines: int = 0
    head: str | None = None
    first: str | None = None
    findings: tuple[str, ...] = ()
    started: dict[str, dict[str, Any]] | None = None
    completed: tuple[dict[str, Any], ...] = ()


def read(path: Path) -> ForeignTrail:
    """Read and verify the trail beside the database at `path`. Raises StoreError only for files that cannot be taken in at all."""
    sealed_name = re.compile(re.escape(path.stem) + r"\.audit\.\d{4}-W\d{2}(?:\.\d+)?\.jsonl\.gz")
    on_disk = sorted(one.name for one in path.parent.iterdir() if sealed_name.fullmatch(one.name) and one.is_file())
    findings: list[str] = []
    manifest = _manifest(path, findings)
    listed = [
        one["filename"] for one in manifest.get("files", []) if isinstance(one, dict) and isinstance(one.get("filename"), str)
    ]
    findings += [f"the manifest lists {name!r}, which is missing" for name in listed if name not in on_disk]
    findings += [f"{name} is not in the manifest" for name in on_disk if manifest and name not in listed]
    order = [name for name in dict.fromkeys(listed) if name in on_disk]
    order += [name for name in on_disk if name not in order]
    active = path.with_name(f"{path.stem}.audit.jsonl")
    files = [_file(path.with_name(name), findings) for name in order]
    if active.is_file():
        files.append(_file(active, findings))
    elif manifest.get("active_begun"):
        findings.append("the active file held entries and is gone")
    anchor = manifest.get("chain_anchor")
    return _walk(tuple(files), anchor if isinstance(anchor, str) and anchor else GENESIS, findings)


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
    return found


def _file(path: Path, findings: list[str]) -> TrailFile:
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as stream:
                content = stream.read(FILE_LIMIT + 1)
        else:
            with path.open("rb") as stream:
                content = stream.read(FILE_LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        findings.append(f"{path.name} cannot be read ({error})")
        content = b""
    if len(content) > FILE_LIMIT:
        raise StoreError(f"The audit file {path} has over {FILE_LIMIT:,} bytes unpacked. Nothing was imported.")
    return TrailFile(path.name, content, hashlib.sha256(content).hexdigest())


def _walk(files: tuple[TrailFile, ...], expected: str, findings: list[str]) -> ForeignTrail:
    entries = skipped = 0
    first: str | None = None
    started: dict[str, dict[str, Any]] = {}
    completed: list[dict[str, Any]] = []
    for file in files:
        last_seq: int | None = None
        for line in _lines(file.content):
            entry = _entry(line)
            if entry is None:
                skipped += 1
                continue
            digest = "sha256:" + hashlib.sha256(line).hexdigest()
            seq = entry.get("seq")
            if entry.get("prev_hash") != expected:
                findings.append(f"{file.name}: the line before seq {seq!s:.20} is altered or missing")
            if isinstance(seq, int) and last_seq is not None and seq <= last_seq:
                findings.append(f"{file.name}: seq {seq} is out of order")
            last_seq = seq if isinstance(seq, int) else last_seq
            expected, entries, first = digest, entries + 1, first or digest
            _note_wrap(entry, started, completed)
    if skipped:
        findings.append(f"{skipped:,} lines cannot be read")
    head = expected if entries else None
    return ForeignTrail(files, entries, skipped, head, first, tuple(findings), started, tuple(completed))


def _lines(content: bytes) -> Iterator[bytes]:
    for line in content.split(b"\n"):
        if stripped := line.strip():
            yield stripped


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _note_wrap(entry: dict[str, Any], started: dict[str, dict[str, Any]], completed: list[dict[str, Any]]) -> None:
    data = entry.get("data")
    if not isinstance(data, dict):
        return
    told = {**data, "ts": entry.get("ts")}
    if entry.get("event") == "wrap_started" and isinstance(data.get("wrap_token"), str):
        started[data["wrap_token"]] = told
    elif entry.get("event") == "wrap_completed":
        completed.append(told)
