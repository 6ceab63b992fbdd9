"""The store's first tables and all migrations (room.md 3). Migrations only go forward, each in the one transaction that applies them."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import TYPE_CHECKING

from core.clock import stamp
from core.store import knowledge_tables, memory_tables, session_tables

if TYPE_CHECKING:
    from sqlite_utils import Database

    from core.clock import Clock

TABLES = """
create table store (
    id integer primary key check (id = 1),
    store_id text not null,
    created_at text not null
);

create table projects (
    project_key text primary key,
    current_focus text,
    focus_revision integer not null default 0,
    focus_updated_at text,
    gate text not null default 'open',
    peer_cancel text not null default 'any',
    generation integer not null default 0,
    section_schema text not null default 'default',
    created_at text not null
);

create table episodes (
    id integer primary key,
    episode_id text not null unique,
    project_key text not null references projects (project_key),
    created_at text not null,
    episode_type text not null check (episode_type in ('observation', 'decision', 'tension', 'question', 'outcome', 'context')),
    content text not null,
    source text not null,
    trust text not null check (trust in ('external', 'tool', 'agent', 'operator')),
    effective_trust text not null check (effective_trust in ('external', 'tool', 'agent', 'operator')),
    metadata text,
    derived_from text not null default '[]',
    state_key text,
    superseded_by text,
    wrap_id integer,
    connection_id text
);
create index episodes_by_project on episodes (project_key, id);
create index episodes_by_type on episodes (project_key, episode_type, id);
create index episodes_waiting on episodes (project_key, id) where wrap_id is null;
create index episodes_by_state_key on episodes (project_key, state_key, id) where state_key is not null;
create index episodes_superseded on episodes (project_key, id) where superseded_by is not null;
create index episodes_long on episodes (project_key, id) where length(content) > 65536;

create table supersessions (
    old_id text not null,
    new_id text not null,
    project_key text not null,
    created_at text not null,
    primary key (old_id, new_id)
);
create index supersessions_by_new on supersessions (new_id);

create table tombstones (
    episode_id text primary key,
    project_key text not null,
    created_at text not null,
    episode_type text not null,
    source text not null,
    trust text not null,
    content_sha256 text not null,
    characters integer not null,
    removed_at text not null,
    removed_by text not null
);
create index tombstones_by_project on tombstones (project_key, removed_at);

create table counters (
    project_key text not null,
    name text not null,
    value integer not null default 0,
    primary key (project_key, name)
) without rowid;

create table wraps (
    id integer primary key,
    project_key text,
    generation integer,
    wrap_token text,
    token_origin text,
    started_at text,
    episode_ids text,
    section_schema text,
    gated_session text,
    wrap_date text,
    connection_id text,
    seal text,
    ended_at text,
    outcome text,
    ended_by text,
    ended_reason text,
    continuity_revision integer
);
create index wraps_open on wraps (project_key) where ended_at is null;
create index wraps_by_token on wraps (wrap_token);
create index wraps_by_connection on wraps (connection_id, project_key);
create index wraps_ended on wraps (ended_at) where ended_at is not null;

create table continuity (
    project_key text not null,
    revision integer not null,
    text text not null,
    sha256 text not null,
    wrap_id integer,
    created_at text not null,
    primary key (project_key, revision)
);

create table salvage (
    id integer primary key,
    project_key text not null,
    wrap_id integer not null,
    text text not null,
    sha256 text not null,
    code text not null,
    connection_id text,
    created_at text not null,
    dealt_with_at text
);
create index salvage_by_wrap on salvage (wrap_id, id);
create index salvage_waiting on salvage (project_key, id) where dealt_with_at is null;

create table notices (
    id integer primary key,
    kind text not null check (kind in ('cancelled', 'release_asked', 'baton_taken')),
    connection_id text not null,
    project_key text not null,
    wrap_id integer,
    text text not null,
    actor text not null,
    created_at text not null
);
create index notices_by_connection on notices (connection_id, id);
create index notices_by_wrap on notices (wrap_id) where wrap_id is not null;

create table batons (
    project_key text primary key,
    session_id text not null,
    claimed_at text not null,
    previous_holder text
);

create table connections (
    id text primary key,
    host text not null,
    boot text not null,
    pid_namespace text not null,
    pid integer not null,
    process_start integer,
    parent_pid integer,
    parent_start integer,
    client_name text,
    client_version text,
    session_id text,
    role text not null,
    via text not null,
    actor text not null,
    program_version text not null,
    opened_at text not null,
    closed_at text
);
create index connections_open on connections (opened_at) where closed_at is null;
create index connections_by_session on connections (session_id) where session_id is not null;

create table audit (
    seq integer primary key,
    version integer not null,
    at text not null,
    event text not null,
    outcome text not null check (outcome in ('done', 'refused')),
    project_key text,
    actor text not null,
    connection_id text,
    subject text,
    data text not null,
    prev_hash text not null unique,
    hash text not null
);
create index audit_refused on audit (at) where outcome = 'refused';
create index audit_by_subject on audit (subject, seq) where subject is not null;
create index audit_sealed on audit (seq) where event = 'trail_sealed' and outcome = 'done';
"""

TRIGGERS = """
create trigger audit_never_changes before update on audit begin
    select raise(abort, 'the trail is append-only: its rows cannot be changed');
end;
create trigger audit_goes_only_when_sealed before delete on audit
when old.seq > coalesce(
    (select max(json_extract(data, '$.last')) from audit where event = 'trail_sealed' and outcome = 'done'), 0)
begin
    select raise(abort, 'the trail is append-only: only sealed rows may go');
end;

create virtual table episodes_fts using fts5 (
    content, content = 'episodes', content_rowid = 'id', tokenize = 'trigram', detail = none, columnsize = 0
);
create trigger episodes_indexed after insert on episodes begin
    insert into episodes_fts (rowid, content) values (new.id, substr(new.content, 1, 65536));
end;
create trigger episodes_unindexed after delete on episodes begin
    insert into episodes_fts (episodes_fts, rowid, content) values ('delete', old.id, substr(old.content, 1, 65536));
end;
create trigger episodes_content_never_changes before update of content, episode_id, project_key on episodes begin
    select raise(abort, 'an episode''s content cannot be changed: record another that supersedes it');
end;

create trigger episodes_counted after insert on episodes begin
    insert into counters (project_key, name, value) values
        (new.project_key, 'episodes', 1),
        (new.project_key, 'episodes:' || new.episode_type, 1),
        (new.project_key, 'waiting', new.wrap_id is null)
    on conflict (project_key, name) do update set value = value + excluded.value;
end;
create trigger episodes_uncounted after delete on episodes begin
    insert into counters (project_key, name, value) values
        (old.project_key, 'episodes', -1),
        (old.project_key, 'episodes:' || old.episode_type, -1),
        (old.project_key, 'waiting', -(old.wrap_id is null))
    on conflict (project_key, name) do update set value = value + excluded.value;
end;
create trigger episodes_covered after update of wrap_id on episodes when (old.wrap_id is null) <> (new.wrap_id is null) begin
    insert into counters (project_key, name, value) values
        (new.project_key, 'waiting', (new.wrap_id is null) - (old.wrap_id is null))
    on conflict (project_key, name) do update set value = value + excluded.value;
end;
create trigger tombstones_counted after insert on tombstones begin
    insert into counters (project_key, name, value) values (new.project_key, 'tombstones', 1)
    on conflict (project_key, name) do update set value = value + 1;
end;
create trigger wraps_counted after update of outcome on wraps when new.outcome is not null and old.outcome is null begin
    insert into counters (project_key, name, value) values (coalesce(new.project_key, ''), 'wraps:' || new.outcome, 1)
    on conflict (project_key, name) do update set value = value + 1;
end;
"""


def migrate(database: Database, clock: Clock) -> None:
    """Bring a store from layout `before` to this program's, inside the caller's transaction."""
    from sqlite_utils import Migrations

    migrations = Migrations("watchroom")

    @migrations()
    def m001_room(db: Database) -> None:
        run_script(db, TABLES)
        run_script(db, TRIGGERS)
        db.execute("insert into store (id, store_id, created_at) values (1, ?, ?)", [str(uuid.uuid4()), stamp(clock.now())])

    @migrations()
    def m002_sessions(db: Database) -> None:
        for script in (session_tables.PROJECT_COLUMNS, session_tables.TABLES, session_tables.TRIGGERS):
            run_script(db, script)
        for script in (knowledge_tables.TABLES, knowledge_tables.TRIGGERS):
            run_script(db, script)

    @migrations()
    def m003_memory(db: Database) -> None:
        for script in (memory_tables.PROJECT_COLUMNS, memory_tables.TABLES, memory_tables.TRIGGERS):
            run_script(db, script)

    @migrations()
    def m004_pattern_search(db: Database) -> None:
        for script in (memory_tables.CONTINUITY_COLUMNS, memory_tables.PATTERN_SEARCH):
            run_script(db, script)

    @migrations()
    def m005_origins(db: Database) -> None:
        run_script(db, memory_tables.ORIGINS)

    migrations.apply(database)


def run_script(database: Database, script: str) -> None:
    """Run a script statement by statement, so that it stays inside the caller's transaction."""
    statement = ""
    from core.store.library import sqlite3

    for line in script.splitlines():
        statement += line + "\n"
        if statement.strip() and sqlite3.complete_statement(statement):
            database.execute(statement)
            statement = ""
    if statement.strip():
        raise ValueError(f"the script ends inside a statement: {statement[:80]}")


def fingerprint(value: object) -> str:
    """SHA-256, lower-case hex, over a value as compact JSON: what seals and hashes are made of (room.md 2.9 and 5)."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
