"""Builds the filled stores: `python -m tests.benchmarks.build ours|peer FOLDER EPISODES TRAIL_ROWS`.

A process of its own, so that whoever "held" a wrap of a built store is gone when the store is measured.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import sys
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from core.clock import stamp
from core.room import Place, Room
from core.store.deed import Identity
from core.store.library import sqlite3
from core.trail.append import FIRST_PREVIOUS_HASH, VERSION, row_hash
from tests.benchmarks.contents import contents
from tests.rooms import text

OURS, PEER = "store.db", "peer.db"
PROJECT = "demo"
WRAPPED_AT_ONCE = 2_500
"""Episodes that one wrap covers while a store is filled: as many as one package holds."""
PACKAGE = 1_000_000
OPEN_WRAPS = ("billing", "search", "release")
"""Projects of a store with a long trail in which a wrap stays open."""
ROWS_AT_ONCE = 20_000


def build_ours(folder: Path, episodes: int, trail_rows: int) -> None:
    """A store of ours with so many episodes, all of them compressed, and a trail of at least so many rows."""
    path = folder / OURS
    with Room(Place(path, "stdio", client_name="bench")) as room:
        room.enter()
        if trail_rows:
            for project in OPEN_WRAPS:
                room.do("record", project_key=project, content="The one episode of this project.", episode_type="context")
        if episodes:
            kind, content = next(contents(episodes))
            room.do("record", project_key=PROJECT, content=content, episode_type=kind)
        rest = itertools.islice(contents(episodes), 1, None)
        while chunk := list(itertools.islice(rest, WRAPPED_AT_ONCE)):
            with bulk(path) as database:
                insert_episodes(database, room.identity, chunk)
            opened = room.do("prepare_wrap", project_key=PROJECT, max_package_chars=PACKAGE)
            room.do("save_continuity", project_key=PROJECT, text=text(State="as built"), wrap_token=opened.wrap_token)
        with bulk(path) as database:
            # what still comes: a row for each wrap and one for the leaving
            lengthen_trail(database, room.identity, trail_rows - len(OPEN_WRAPS) - 1)
        if trail_rows:
            for project in OPEN_WRAPS:
                room.do("prepare_wrap", project_key=project)


def build_peer(folder: Path, episodes: int, trail_rows: int) -> None:
    """A store of anneal-memory through its own library, with its own audit file; only the waiting for the disk is left out."""
    from anneal_memory.store import Store

    del trail_rows
    with mock.patch.object(os, "fsync"), contextlib.closing(Store(folder / PEER)) as store:
        store._conn.execute("pragma synchronous = off")
        rest = contents(episodes)
        while chunk := list(itertools.islice(rest, WRAPPED_AT_ONCE)):
            ids = [store.record(content, kind).id for kind, content in chunk]
            token = uuid.uuid4().hex
            store.wrap_started(token=token, episode_ids=ids)
            store.wrap_completed(len(ids), 1_000, episode_ids=ids, wrap_token=token)


@contextlib.contextmanager
def bulk(path: Path) -> Iterator[Any]:
    """One big transaction on a store of ours, by the library that the room itself uses."""
    database = sqlite3.connect(str(path), isolation_level=None)
    try:
        database.execute("pragma cache_size = -400000")
        database.execute("begin immediate")
        yield database
        database.execute("commit")
    finally:
        database.close()


def insert_episodes(database: Any, identity: Identity, chunk: Iterable[tuple[str, str]]) -> None:
    """Episodes with their trail rows, as `record` would store them, by the hundred."""
    start = database.execute("select max(id) from episodes").fetchone()[0]
    at, rows, trail = stamp(datetime.now(UTC)), [], []
    for number, (kind, content) in enumerate(chunk, start):
        episode_id = episode_id_of(number)
        rows.append((episode_id, PROJECT, at, kind, content, "agent", "agent", "agent", "[]", identity.connection_id))
        trail.append(("record", "done", PROJECT, f"episode:{episode_id}", recorded(episode_id, kind, content)))
    database.executemany(
        "insert into episodes (episode_id, project_key, created_at, episode_type, content, source, trust, effective_trust,"
        " derived_from, connection_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    insert_trail(database, identity, datetime.now(UTC), trail)


def episode_id_of(number: int) -> str:
    """The id of the episode with that number: scattered like ids by chance, but no two alike."""
    return f"{number * 2_654_435_761 % 2**32:08x}"


def recorded(episode_id: str, kind: str, content: str) -> dict[str, Any]:
    """What the trail keeps of a recorded episode."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    data = {"episode_id": episode_id, "type": kind, "content_sha256": digest, "characters": len(content)}
    return {**data, "source": "agent", "trust": "agent"}


def lengthen_trail(database: Any, identity: Identity, rows: int) -> None:
    """Rows of a busy past up to number `rows`: records, deletions of those, and now and then a refused prepare."""
    last = database.execute("select max(seq) from audit").fetchone()[0] or 0
    past = datetime.now(UTC) - timedelta(days=30)
    for start in range(last, rows, ROWS_AT_ONCE):
        count = min(ROWS_AT_ONCE, rows - start)
        trail = [past_row(start + number, kind, content) for number, (kind, content) in enumerate(contents(count, start=start))]
        insert_trail(database, identity, past + timedelta(seconds=start), trail)


def past_row(number: int, kind: str, content: str) -> tuple[str, str, str, str, dict[str, Any]]:
    """One row of that past."""
    episode_id = f"{number:08x}"
    if number % 20 == 7:
        return "delete", "done", PROJECT, f"episode:{episode_id}", {"episode_id": episode_id, "type": kind}
    if number % 20 == 13:
        facts = {"wrap_id": number, "generation": number, "verdict": "LIVE", "evidence": ["pid 4711 on this host is there"]}
        data = {"code": "wrap_in_progress", "sentence": f"A wrap is open already: {content}", **facts}
        return "prepare_wrap", "refused", PROJECT, f"wrap:{number + 1_000_000}", data
    return "record", "done", PROJECT, f"episode:{episode_id}", recorded(episode_id, kind, content)


def insert_trail(
    database: Any, identity: Identity, start: datetime, rows: Iterable[tuple[str, str, str, str, dict[str, Any]]]
) -> None:
    """Trail rows a second apart, each with its right hash and link."""
    found = database.execute("select seq, hash from audit order by seq desc limit 1").fetchone()
    seq, previous = found or (0, FIRST_PREVIOUS_HASH)
    actor, encode = identity.actor.as_json(), json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    stored = []
    for number, (event, outcome, project_key, subject, data) in enumerate(rows):
        seq, at, words = seq + 1, stamp(start + timedelta(seconds=number)), encode(data)
        hashed = (at, event, outcome, project_key, actor, identity.connection_id, subject, words, previous)
        digest = row_hash(VERSION, seq, *hashed)
        stored.append((seq, VERSION, *hashed, digest))
        previous = digest
    database.executemany(
        "insert into audit (seq, version, at, event, outcome, project_key, actor, connection_id, subject, data, prev_hash, hash)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        stored,
    )


BUILDERS = {"ours": build_ours, "peer": build_peer}


def main() -> None:
    """Build what the command line says."""
    what, folder, episodes, trail_rows = sys.argv[1:]
    BUILDERS[what](Path(folder), int(episodes), int(trail_rows))


if __name__ == "__main__":
    main()
