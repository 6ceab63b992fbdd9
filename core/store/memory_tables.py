"""The tables of what a wrap is for, as layout 3 adds them: patterns, open loops, drafts, attachments (wraps.md e3 and b; issue 4).

A pattern's level stands here and not in the text: the text can only lower it. Every judgement on a pattern is a row of
`pattern_history`; `pattern_grounding` names the episodes that each earned rung rests on.
"""

PROJECT_COLUMNS = """
alter table projects add column citations_seen integer not null default 0;
"""

TABLES = """
create table episode_sources (
    source_id text not null,
    episode_id text not null,
    primary key (source_id, episode_id)
) without rowid;
insert or ignore into episode_sources (source_id, episode_id)
select source.value, episodes.episode_id from episodes, json_each(episodes.derived_from) source where episodes.derived_from <> '[]';

create table patterns (
    id integer primary key,
    project_key text not null references projects (project_key),
    kind text not null check (kind in ('name', 'text')),
    name text not null,
    level integer not null check (level between 0 and 999999999),
    highest integer not null default 0,
    summary text not null default '',
    explanations text not null default '[]',
    last_grounded_on text,
    wrap_id integer,
    in_text integer not null default 1 check (in_text in (0, 1)),
    created_at text not null,
    updated_at text not null,
    unique (project_key, kind, name)
);
create index patterns_by_level on patterns (project_key, level, name);

create table pattern_grounding (
    id integer primary key,
    pattern_id integer not null references patterns (id),
    level integer not null check (level >= 2),
    wrap_id integer,
    line_number integer not null,
    rule text not null check (rule in ('checked', 'unchecked')),
    episode_id text not null,
    earned_on text not null,
    gone_at text,
    unique (pattern_id, level, wrap_id, line_number, episode_id)
);
create index pattern_grounding_by_episode on pattern_grounding (episode_id);

create table pattern_history (
    id integer primary key,
    pattern_id integer not null references patterns (id),
    wrap_id integer,
    at text not null,
    judgement text not null,
    written integer,
    before integer,
    level integer not null,
    explanation text,
    episode_ids text not null default '[]',
    detail text,
    actor text not null
);
create index pattern_history_by_pattern on pattern_history (pattern_id, id);

create table spores (
    id integer primary key,
    spore_id text not null,
    project_key text not null references projects (project_key),
    type text not null check (type in ('task', 'question', 'thought')),
    text text not null check (trim(text) <> ''),
    domain text not null default '',
    tier text not null default 'warm' check (tier in ('hot', 'warm', 'cold', 'parked')),
    salience integer not null default 0 check (salience between 0 and 3),
    seen text not null,
    next text,
    pointer text,
    created text not null,
    status text not null default 'open' check (status in ('open', 'resolved')),
    direction text check (direction in ('descend', 'ascend')),
    kind text,
    ref text,
    resolved_on text,
    resolved_at text,
    origin_key text not null,
    unique (project_key, spore_id),
    unique (project_key, origin_key),
    check ((status = 'resolved') = (coalesce(direction, '') <> '' and coalesce(kind, '') <> ''
        and resolved_on is not null and resolved_at is not null)),
    check (coalesce(direction, '') <> 'ascend' or coalesce(ref, '') <> '')
);
create index spores_open on spores (project_key, id) where status = 'open';

create table spore_notes (
    id integer primary key,
    project_key text not null,
    spore_id text not null,
    text text not null,
    noted_on text not null,
    actor text not null,
    created_at text not null
);
create index spore_notes_by_spore on spore_notes (project_key, spore_id, id);

create table drafts (
    id integer primary key,
    project_key text not null,
    wrap_id integer not null,
    text text not null,
    sha256 text not null,
    connection_id text,
    created_at text not null,
    dealt_with_at text
);
create index drafts_by_wrap on drafts (wrap_id, id);
create index drafts_waiting on drafts (project_key, id) where dealt_with_at is null;

create table attachments (
    id integer primary key,
    project_key text not null,
    kind text not null,
    name text not null,
    content blob not null,
    sha256 text not null,
    head text,
    created_at text not null
);
create index attachments_by_project on attachments (project_key, id);
"""

TRIGGERS = """
create trigger episodes_sources_known after insert on episodes when new.derived_from <> '[]' begin
    insert or ignore into episode_sources (source_id, episode_id)
    select source.value, new.episode_id from json_each(new.derived_from) source;
end;
create trigger episodes_sources_unknown after delete on episodes when old.derived_from <> '[]' begin
    delete from episode_sources
    where episode_id = old.episode_id and source_id in (select value from json_each(old.derived_from));
end;
create trigger patterns_counted after insert on patterns begin
    insert into counters (project_key, name, value) values (new.project_key, 'patterns', 1)
    on conflict (project_key, name) do update set value = value + 1;
end;
create trigger patterns_uncounted after delete on patterns begin
    insert into counters (project_key, name, value) values (old.project_key, 'patterns', -1)
    on conflict (project_key, name) do update set value = value - 1;
end;
create trigger spores_counted after insert on spores begin
    insert into counters (project_key, name, value) values (new.project_key, 'spores:open', new.status = 'open')
    on conflict (project_key, name) do update set value = value + excluded.value;
end;
create trigger spores_resolved after update of status on spores when old.status <> new.status begin
    insert into counters (project_key, name, value)
    values (new.project_key, 'spores:open', (new.status = 'open') - (old.status = 'open'))
    on conflict (project_key, name) do update set value = value + excluded.value;
end;
create trigger spores_uncounted after delete on spores when old.status = 'open' begin
    insert into counters (project_key, name, value) values (old.project_key, 'spores:open', -1)
    on conflict (project_key, name) do update set value = value - 1;
end;
"""

# layout 4

CONTINUITY_COLUMNS = """
alter table continuity add column submitted_sha256 text;
"""
PATTERN_SEARCH = """
create virtual table patterns_fts using fts5 (
    name, summary, explanations, content = 'patterns', content_rowid = 'id', tokenize = 'trigram', detail = none, columnsize = 0
);
create trigger patterns_indexed after insert on patterns begin
    insert into patterns_fts (rowid, name, summary, explanations) values (new.id, new.name, new.summary, new.explanations);
end;
create trigger patterns_unindexed after delete on patterns begin
    insert into patterns_fts (patterns_fts, rowid, name, summary, explanations)
    values ('delete', old.id, old.name, old.summary, old.explanations);
end;
create trigger patterns_indexed_anew after update of name, summary, explanations on patterns begin
    insert into patterns_fts (patterns_fts, rowid, name, summary, explanations)
    values ('delete', old.id, old.name, old.summary, old.explanations);
    insert into patterns_fts (rowid, name, summary, explanations) values (new.id, new.name, new.summary, new.explanations);
end;
insert into patterns_fts (rowid, name, summary, explanations) select id, name, summary, explanations from patterns;
"""

# layout 5

ORIGINS = """
alter table wraps add column prepared_revision integer;
update wraps set prepared_revision = coalesce(
    (select max(c.revision) from continuity c where c.project_key = wraps.project_key and c.wrap_id < wraps.id), 0
) where started_at is not null;
alter table continuity add column restored_from integer;
alter table continuity add column adopted_from text;
"""
