"""`copy_project`: a project of another store becomes the one project of a new store, in one deed (room.md 3 and 5).

The new store has a trail of its own, for a project's rows are no chain: it begins with what was copied from where, by whom, with the
head of the other trail. The project's own rows of that trail are attached as they stand there. The rows without which a
trail would not know of a wrap, a continuity or a session are told again, each naming the row that it repeats.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from core.errors import Refusal
from core.exchange import export_attachments
from core.exchange.export_lines import encoded
from core.exchange.exporting import KINDS, OF_NAME, Cancelled, Exported, Kind, Progress, Source, Ticker, short_token
from core.memory import wraps
from core.store.deed import Deed

TRAIL = "watchroom-audit"
"""The kind of the attachments that hold the other store's trail rows, as JSON lines, packed."""
ROWS_IN_ONE = 20_000
"""Trail rows in one attachment, so that none is large."""
BATCH, BATCH_SIZE = 2_000, 8 * 1024 * 1024
"""Rows, and characters or bytes in them, that are held at once."""
TOLD_AGAIN = (
    *("wrap_started", "wrap_completed", "wrap_cancelled", "continuity_saved", "continuity_restored"),
    *("brain_session_start", "brain_session_relay", "brain_session_end", "brain_session_abandon", "session_closed_inactive"),
)
"""The deeds that a store is held against (core.trail.verify_store)."""
STILL_OPEN = "copied while it was open: it goes on in the store that it was copied from"
Change = Callable[[dict[str, Any]], dict[str, Any] | None]


def copy_project(deed: Deed, *, source: Source, progress: Progress | None = None, cancelled: Cancelled | None = None) -> Exported:
    """Copy a project into a store that has none. Every row keeps its number, so that what refers to it still does.

    A wrap's token is cut to its first 8 characters (room.md 2.6). A wrap that is open over there is cancelled here, and its episodes wait;
    a connection that is open over there is closed here, for nobody is connected to a copy. Refuses
    `import_project_in_use` for a store that has projects; raises ExportCancelled.
    """
    if deed.one("select 1 from projects limit 1"):
        raise Refusal("import_project_in_use", "This store has a project already; a copy goes into a new store.")
    exported, ticker = source.exported, Ticker(source.exported.rows, progress, cancelled)
    outcomes: list[tuple[Any, int]] = []
    opened: list[dict[str, Any]] = []
    changes: dict[str, Change] = {
        "wrap": lambda row: _ended(row, exported.exported_at, deed, outcomes, opened),
        "connection": lambda row: {**row, "closed_at": row["closed_at"] or exported.exported_at},
    }
    for kind in KINDS:
        if kind.name not in ("attachment", "audit"):
            _copy(deed, source, kind, ticker, changes.get(kind.name))
    for outcome, wrap_id in outcomes:
        deed.execute("update wraps set outcome = ? where id = ?", (outcome, wrap_id))  # the counter counts this change
    held_back = _copy_attachments(deed, source, ticker)
    files = _attach_trail(deed, source, ticker)
    deed.append(
        "copy_project",
        project_key=source.key,
        subject=f"project:{source.key}",
        data={
            "store": exported.store_id,
            "layout": exported.layout,
            "exported_at": exported.exported_at,
            "trail_head": asdict(exported.head) if exported.head else None,
            "trail_rows": exported.counts["audit"],
            "trail_files": files,
            "counts": {name: count for name, count in exported.counts.items() if count},
            "held_back": held_back,
        },
    )
    _tell_again(deed, source)
    for row in opened:
        _tell_cancelled(deed, row)
    return exported


def _copy(deed: Deed, source: Source, kind: Kind, ticker: Ticker, change: Change | None) -> None:
    columns = source.view.columns(kind.table)

    some: list[tuple[Any, ...]] = []
    size = 0
    for row in source.rows(kind, columns, errors="replace"):
        ticker.tick()
        if change is None:
            some.append(row)
        elif changed := change(dict(zip(columns, row, strict=True))):
            some.append(tuple(changed.values()))
        size += sum(len(one) for one in row if isinstance(one, str | bytes))
        if len(some) == BATCH or size > BATCH_SIZE:
            deed.transaction.insert(kind.table, columns, some)
            some, size = [], 0
    deed.transaction.insert(kind.table, columns, some)


def _ended(
    row: dict[str, Any], now: str, deed: Deed, outcomes: list[tuple[Any, int]], opened: list[dict[str, Any]]
) -> dict[str, Any]:
    sound, row = wraps.wrap_of(row).coherent, {**row, "wrap_token": short_token(row["wrap_token"])[0]}
    if sound:  # a damaged one stays so
        row["seal"] = wraps.seal_of(row)
    if row["ended_at"] is None:
        row |= {"ended_at": now, "outcome": "cancelled", "ended_by": deed.identity.actor.as_json(), "ended_reason": STILL_OPEN}
        opened.append(row)
    outcomes.append((row["outcome"], row["id"]))
    return {**row, "outcome": None}


def _copy_attachments(deed: Deed, source: Source, ticker: Ticker) -> list[dict[str, Any]]:
    """Copy what is attached, and tell what was held back."""
    tokens = export_attachments.open_tokens(source.view, source.key)
    held_back: list[dict[str, Any]] = []

    def unless_held(row: dict[str, Any]) -> dict[str, Any] | None:
        if (why := export_attachments.why_held_back(source.view, row["id"], tokens)) is None:
            return row
        held_back.append({"name": row["name"], "sha256": row["sha256"], "why": why})
        return None

    _copy(deed, source, OF_NAME["attachment"], ticker, unless_held)
    return held_back


def _attach_trail(deed: Deed, source: Source, ticker: Ticker) -> dict[str, str]:
    """Attach the project's trail rows as they stand over there; gives each file's name and digest."""
    kind, exported = OF_NAME["audit"], source.exported
    columns = source.columns(kind)
    rows = (dict(zip(columns, row, strict=True)) for row in source.rows(kind, columns))
    files: dict[str, str] = {}
    row = next(rows, None)
    while row is not None:
        first = last = row["seq"]
        digest, packed, count = hashlib.sha256(), io.BytesIO(), 0
        with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1, mtime=0) as stream:
            while row is not None and count < ROWS_IN_ONE:
                ticker.tick()
                line = f"{encoded(row)}\n".encode()
                digest.update(line)
                stream.write(line)
                last, count, row = row["seq"], count + 1, next(rows, None)
        name = f"audit-{first}-{last}.jsonl"
        files[name] = digest.hexdigest()
        deed.execute(
            "insert into attachments (project_key, kind, name, content, sha256, head, created_at) values (?, ?, ?, ?, ?, ?, ?)",
            (
                *(source.key, TRAIL, name, packed.getvalue(), files[name]),
                *(exported.head.hash if exported.head else None, exported.exported_at),
            ),
        )
    return files


def _tell_again(deed: Deed, source: Source) -> None:
    sql = (
        "select seq, at, event, actor, subject, data, hash from audit where project_key = :key and outcome = 'done'"
        " and event in (select value from json_each(:events)) order by seq"
    )
    for seq, at, event, actor, subject, stored, digest in source.view.stream(
        sql, {"key": source.key, "events": json.dumps(TOLD_AGAIN)}, errors="replace"
    ):
        try:
            data = json.loads(stored)
        except (ValueError, TypeError, RecursionError):
            data = None
        repeats = {"seq": seq, "at": at, "actor": actor, "hash": digest}
        told = {**(data if isinstance(data, dict) else {}), "copied": repeats}
        deed.append(event, project_key=source.key, subject=subject, data=told)


def _tell_cancelled(deed: Deed, row: dict[str, Any]) -> None:
    deed.append(
        "wrap_cancelled",
        project_key=row["project_key"],
        subject=f"wrap:{row['id']}",
        data={"wrap_id": row["id"], "generation": row["generation"], "authorised_by": "copy_project", "reason": STILL_OPEN},
    )
