"""A project as JSON lines: a header, a line for each thing, and an end by which a cut-off or altered file is told.

    {"kind": "header", "format": "watchroom-project", "version": 1, "store", "layout", "project", "exported_at", "program",
     "trail_head": {"seq", "hash", "at"}, "counts": {KIND: how many}}
    {"kind": KIND, "row": {COLUMN: value}}
    {"kind": "end", "lines": how many before this one, "counts": {KIND: how many}, "sha256": over the bytes of all lines before}

A row has the columns of its table as they are stored: a column that holds JSON is that text, so that nothing is rounded and the
hash of a trail row can be computed again. Only a wrap's `wrap_token` is its first 8 characters, beside its `wrap_token_sha256`.
After an attachment come its `attachment_piece` rows, whose `content` is base64; `held_back` says why it has none.
Lines are ASCII. Bytes that are no UTF-8 are `\\udc80` to `\\udcff`, a blob is `{"blob": HEX}`, a number that JSON has not `{"real": TEXT}`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from core.exchange import export_attachments
from core.exchange.exporting import KINDS, Cancelled, Exported, Kind, Progress, Source, Ticker, short_token
from core.store.database import View

FORMAT, VERSION = "watchroom-project", 1
PIECES = "attachment_piece"
AT_ONCE = 64 * 1024
"""Characters that are hashed and written at once."""


def export_lines(
    view: View,
    project_key: str,
    write: Callable[[str], object],
    *,
    now: datetime,
    program: str,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Exported:
    """Write the project as JSON lines. Refuses `project_not_found`; raises ExportCancelled when it was stopped."""
    source = Source(view, project_key, now)
    exported, ticker = source.exported, Ticker(source.exported.rows, progress, cancelled)
    counts, lines = Counter[str](), _Lines(write)
    lines.add(
        {
            "kind": "header",
            "format": FORMAT,
            "version": VERSION,
            "store": exported.store_id,
            "layout": exported.layout,
            "project": exported.project_key,
            "exported_at": exported.exported_at,
            "program": program,
            "trail_head": asdict(exported.head) if exported.head else None,
            "counts": exported.counts,
        }
    )
    for kind in KINDS:
        for line in _lines(source, kind):
            if line["kind"] == kind.name:
                ticker.tick()
            lines.add(line)
            counts[line["kind"]] += 1
    lines.end(dict(counts))
    return exported


class _Lines:
    """Writes lines, some at once, and keeps their number and digest for the last one."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._digest = hashlib.sha256()
        self._waiting: list[str] = []
        self._size = self._count = 0

    def add(self, line: dict[str, Any]) -> None:
        """Add a line."""
        text = encoded(line)
        self._waiting.append(text)
        self._count += 1
        self._size += len(text)
        if self._size > AT_ONCE:
            self._flush()

    def end(self, counts: dict[str, int]) -> None:
        """Write the line that tells of all before it."""
        self._flush()
        self._write(encoded({"kind": "end", "lines": self._count, "counts": counts, "sha256": self._digest.hexdigest()}) + "\n")

    def _flush(self) -> None:
        text = "\n".join([*self._waiting, ""])
        self._digest.update(text.encode())
        self._write(text)
        self._waiting, self._size = [], 0


def _lines(source: Source, kind: Kind) -> Iterator[dict[str, Any]]:
    columns = source.columns(kind)
    rows = (dict(zip(columns, row, strict=True)) for row in source.rows(kind, columns))
    if kind.name == "wrap":
        return ({"kind": "wrap", "row": _without_token(row)} for row in rows)
    if kind.name == "attachment":
        return _with_pieces(source, rows)
    return ({"kind": kind.name, "row": row} for row in rows)


def _without_token(row: dict[str, Any]) -> dict[str, Any]:
    start, digest = short_token(row["wrap_token"])
    return {**row, "wrap_token": start, "wrap_token_sha256": digest}


def _with_pieces(source: Source, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    tokens = export_attachments.open_tokens(source.view, source.key)
    for row in rows:
        held_back = export_attachments.why_held_back(source.view, row["id"], tokens)
        yield {"kind": "attachment", "row": {**row, "held_back": held_back}}
        if held_back is None:
            for number, piece in enumerate(export_attachments.pieces(source.view, row["id"]), 1):
                content = base64.b64encode(piece).decode()
                yield {"kind": PIECES, "row": {"attachment_id": row["id"], "piece": number, "content": content}}


def _blob(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {"blob": value.hex()}
    raise TypeError(f"no column of SQLite's holds a {type(value).__name__}")


_ENCODE = json.JSONEncoder(separators=(",", ":"), default=_blob, allow_nan=False).encode


def encoded(line: dict[str, Any]) -> str:
    """A line as ASCII: the same data, but nothing in it drives a terminal, hides, or turns the line."""
    try:
        return _ENCODE(line)
    except ValueError:  # an infinite number, as only damage stores
        row = {name: {"real": str(one)} if _endless(one) else one for name, one in line["row"].items()}
        return _ENCODE({**line, "row": row})


def _endless(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
