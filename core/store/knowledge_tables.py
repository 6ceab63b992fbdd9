"""The tables of knowledge, as layout 2 adds them: one row an entry, with two full-text indexes (room.md 3; sessions.md a.6).

One index knows words, with their beginnings, and the pieces of scripts without spaces (core.knowledge.wording); the other knows
any three characters in a row, wherever they stand.
"""

TABLES = """
create table knowledge (
    row_id integer primary key,
    id text not null unique,
    project_key text not null references projects (project_key),
    kind text not null check (kind in ('decision', 'learning', 'snippet', 'runbook', 'adr')),
    number integer,
    title text not null check (trim(title) <> ''),
    body text not null,
    pieces text not null default '',
    details text not null default '{}',
    tags text not null default '[]',
    status text not null default 'active' check (status in ('active', 'proposed', 'accepted', 'deprecated', 'superseded')),
    superseded_by text,
    archived_at text,
    created_at text not null,
    updated_at text not null,
    connection_id text,
    unique (project_key, kind, number)
);
create index knowledge_by_project on knowledge (project_key, created_at, row_id);
create index knowledge_by_kind on knowledge (project_key, kind, created_at, row_id);
create index knowledge_by_kind_everywhere on knowledge (kind, created_at, row_id);
create index knowledge_by_status on knowledge (status, created_at, row_id);
create index knowledge_by_time on knowledge (created_at, row_id);
create index knowledge_superseded on knowledge (superseded_by) where superseded_by is not null;
"""

TRIGGERS = """
create virtual table knowledge_words_fts using fts5 (
    title, body, pieces, content = 'knowledge', content_rowid = 'row_id', tokenize = 'unicode61 remove_diacritics 2', prefix = '3'
);
create virtual table knowledge_fts using fts5 (
    title, body, content = 'knowledge', content_rowid = 'row_id', tokenize = 'trigram', detail = none, columnsize = 0
);
create trigger knowledge_indexed after insert on knowledge begin
    insert into knowledge_words_fts (rowid, title, body, pieces) values (new.row_id, new.title, new.body, new.pieces);
    insert into knowledge_fts (rowid, title, body) values (new.row_id, new.title, new.body);
end;
create trigger knowledge_unindexed after delete on knowledge begin
    insert into knowledge_words_fts (knowledge_words_fts, rowid, title, body, pieces)
    values ('delete', old.row_id, old.title, old.body, old.pieces);
    insert into knowledge_fts (knowledge_fts, rowid, title, body) values ('delete', old.row_id, old.title, old.body);
end;
create trigger knowledge_indexed_anew after update of title, body, pieces on knowledge begin
    insert into knowledge_words_fts (knowledge_words_fts, rowid, title, body, pieces)
    values ('delete', old.row_id, old.title, old.body, old.pieces);
    insert into knowledge_fts (knowledge_fts, rowid, title, body) values ('delete', old.row_id, old.title, old.body);
    insert into knowledge_words_fts (rowid, title, body, pieces) values (new.row_id, new.title, new.body, new.pieces);
    insert into knowledge_fts (rowid, title, body) values (new.row_id, new.title, new.body);
end;
create trigger knowledge_counted after insert on knowledge begin
    insert into counters (project_key, name, value) values (new.project_key, 'knowledge:' || new.kind, 1)
    on conflict (project_key, name) do update set value = value + 1;
end;
create trigger knowledge_uncounted after delete on knowledge begin
    insert into counters (project_key, name, value) values (old.project_key, 'knowledge:' || old.kind, -1)
    on conflict (project_key, name) do update set value = value - 1;
end;
"""
