"""A store of an older layout becomes one of today's, with what it holds (room.md 3, migrations)."""

from __future__ import annotations

import json
from pathlib import Path

from core.clock import SystemClock
from core.store.database import APPLICATION_ID, SCHEMA_VERSION, Store
from core.store.library import sqlite3
from core.store.schema import TABLES, TRIGGERS


def test_a_store_of_the_first_layout_keeps_its_rows_and_gets_the_later_tables(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript(TABLES + TRIGGERS)
    connection.execute("pragma journal_mode = wal")
    connection.execute(f"pragma application_id = {APPLICATION_ID}")
    connection.execute("pragma user_version = 1")
    connection.execute("create table _sqlite_migrations (id integer primary key, migration_set text, name text, applied_at text)")
    connection.execute("insert into _sqlite_migrations (migration_set, name) values ('watchroom', 'm001_room')")
    connection.execute("insert into store (id, store_id, created_at) values (1, 'the-store', '2026-11-01T00:00:00.000000Z')")
    connection.execute("insert into projects (project_key, created_at) values ('p', '2026-11-01T00:00:00.000000Z')")
    for name, sources in (("aaaaaaaa", []), ("bbbbbbbb", ["aaaaaaaa"])):
        connection.execute(
            "insert into episodes (episode_id, project_key, created_at, episode_type, content, source, trust, effective_trust, derived_from)"
            " values (?, 'p', '2026-11-01T00:00:00.000000Z', 'context', 'a thing', 'agent', 'agent', 'agent', ?)",
            (name, json.dumps(sources)),
        )
    connection.commit()
    connection.close()

    Store(path, SystemClock()).close()

    connection = sqlite3.connect(path)
    rows = {
        query: connection.execute(query).fetchall()
        for query in (
            "pragma user_version",
            "select store_id from store",
            "select source_id, episode_id from episode_sources",
            "select citations_seen from projects",
        )
    }
    tables = {row[0] for row in connection.execute("select name from sqlite_master")}
    connection.close()
    assert list(rows.values()) == [[(SCHEMA_VERSION,)], [("the-store",)], [("aaaaaaaa", "bbbbbbbb")], [(0,)]]
    assert {
        "sessions",
        "knowledge",
        "patterns",
        "pattern_grounding",
        "pattern_history",
        "spores",
        "drafts",
        "attachments",
    } <= tables
