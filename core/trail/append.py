"""Adding a row to the trail, in the deed's own transaction (room.md 5 and 2.11)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.clock import stamp
from core.store.database import Transaction, View

VERSION = 1
"""The version of the hash's input, which every row carries (faults.md C9)."""
FIRST_PREVIOUS_HASH = "0" * 64
DATA_LIMIT = 64 * 1024
"""Bytes that a row's data may have; id lists that would not fit are given as count and SHA-256 (room.md 3)."""

Outcome = Literal["done", "refused"]


@dataclass(frozen=True, slots=True)
class TrailHead:
    """The newest row of the trail: its number, hash and time."""

    seq: int
    hash: str
    at: str


def row_hash(
    version: int,
    seq: int,
    at: str,
    event: str,
    outcome: str,
    project_key: str | None,
    actor: str,
    connection_id: str | None,
    subject: str | None,
    data: str,
    previous_hash: str,
) -> str:
    """The hash of a trail row: SHA-256 over the JSON array that SQLite's `json_array` would write of it (room.md 5)."""
    array = [version, seq, at, event, outcome, project_key, actor, connection_id, subject, data, previous_hash]
    return hashlib.sha256(_ENCODE(array).encode("utf-8", "surrogatepass")).hexdigest()


_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def bounded_data(data: Mapping[str, Any]) -> str:
    """Data as the trail stores it: compact JSON of at most 64 KB. Lists, longest first, then texts give way to count and SHA-256."""
    text = _ENCODE(data)
    if len(text) * 4 <= DATA_LIMIT or len(text.encode("utf-8", "surrogatepass")) <= DATA_LIMIT:
        return text
    shrunk: dict[str, Any] = dict(data)
    by_size = sorted(shrunk, key=lambda name: len(_ENCODE(shrunk[name])), reverse=True)
    for name in by_size:
        value = shrunk[name]
        digest = hashlib.sha256(_ENCODE(value).encode("utf-8", "surrogatepass")).hexdigest()
        shrunk[name] = {"count": len(value) if isinstance(value, list | str | dict) else 1, "sha256": digest}
        text = _ENCODE(shrunk)
        if len(text.encode("utf-8", "surrogatepass")) <= DATA_LIMIT:
            break
    return text


def head(reading: View) -> TrailHead | None:
    """The newest row of the trail, or None when it is empty."""
    row = reading.one("select seq, hash, at from audit order by seq desc limit 1")
    return TrailHead(row["seq"], row["hash"], row["at"]) if row else None


def append(
    transaction: Transaction,
    *,
    now: datetime,
    event: str,
    outcome: Outcome,
    project_key: str | None,
    actor: str,
    connection_id: str | None,
    subject: str | None,
    data: Mapping[str, Any],
) -> TrailHead:
    """Add one row. The head is read and the row written under the same lock, so the chain cannot fork (faults.md C2).

    `actor` is an actor's JSON text, `subject` names a thing as `kind:id`. Gives the new head.
    """
    last = head(transaction)
    seq, previous_hash = (last.seq + 1, last.hash) if last else (1, FIRST_PREVIOUS_HASH)
    at, text = stamp(now), bounded_data(data)
    digest = row_hash(VERSION, seq, at, event, outcome, project_key, actor, connection_id, subject, text, previous_hash)
    transaction.execute(
        "insert into audit (seq, version, at, event, outcome, project_key, actor, connection_id, subject, data, prev_hash, hash)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (seq, VERSION, at, event, outcome, project_key, actor, connection_id, subject, text, previous_hash, digest),
    )
    return TrailHead(seq, digest, at)
