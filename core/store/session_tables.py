"""The tables of projects' focus, slots, sessions and tickets, as layout 2 adds them (sessions.md a; room.md 2.14, 2.17 and 3).

A status and what it must hold are one constraint each, so that no program can store an incoherent row. A CHECK passes on
NULL, so every predicate is coalesced to false.
"""

PROJECT_COLUMNS = """
alter table projects add column name text;
alter table projects add column description text;
alter table projects add column languages text not null default '[]';
alter table projects add column frameworks text not null default '[]';
alter table projects add column databases text not null default '[]';
alter table projects add column blockers text not null default '[]';
alter table projects add column related_projects text not null default '[]';
alter table projects add column plan_scan_paths text not null default '[]';
alter table projects add column code_style text;
alter table projects add column git_workflow text;
alter table projects add column test_strategy text;
alter table projects add column current_phase text;
alter table projects add column project_group text;
alter table projects add column gitlab_project_path text;
alter table projects add column archived_at text;
alter table projects add column archived_reason text;
alter table projects add column updated_at text;
create index projects_by_creation on projects (created_at, project_key);
create index projects_by_group on projects (project_group) where project_group is not null;
"""

TABLES = """
create table focus_history (
    project_key text not null,
    focus_revision integer not null check (focus_revision >= 0),
    focus text,
    source text not null check (source in
        ('session_end', 'focus_tool', 'context_upsert', 'generic_update', 'maintenance_scrub', 'migration_seed')),
    actor text,
    created_at text not null,
    primary key (project_key, focus_revision)
);

create table tickets (
    id text primary key,
    project_key text not null references projects (project_key),
    title text not null check (trim(title) <> ''),
    target_release text,
    created_at text not null,
    receipt_id text unique,
    received_at text,
    check ((receipt_id is null) = (received_at is null))
);
create index tickets_by_project on tickets (project_key, created_at, id);
create index tickets_by_release on tickets (project_key, target_release) where target_release is not null;

create table slots (
    id text primary key,
    project_key text not null references projects (project_key),
    title text not null check (length(title) between 1 and 120),
    body text not null check (length(body) between 1 and 4000),
    revision integer not null default 0 check (revision >= 0),
    opened_at text not null,
    body_updated_at text not null,
    closed_at text,
    close_reason text,
    close_note text,
    check (coalesce(
        (closed_at is null and close_reason is null and close_note is null)
        or (closed_at is not null and close_reason = 'explicit' and trim(close_note) <> '')
        or (closed_at is not null and close_reason like 'receipt:%' and length(close_reason) = 44 and close_note is null)
    , 0))
);
create unique index slots_open_title on slots (project_key, title) where closed_at is null;
create index slots_by_opening on slots (project_key, opened_at, id);
create index slots_by_opening_everywhere on slots (opened_at, id);
create index slots_open on slots (project_key, opened_at, id) where closed_at is null;
create index slots_open_everywhere on slots (opened_at, id) where closed_at is null;
create index slots_received on slots (project_key, closed_at) where close_reason like 'receipt:%';

create table slot_anchors (
    id integer primary key,
    slot_id text not null references slots (id),
    kind text not null check (kind in ('ticket', 'lot', 'pr', 'topic')),
    ticket_id text,
    target_release text,
    repository_id integer,
    pr_number integer,
    topic text,
    check (coalesce(
        (kind = 'ticket' and ticket_id is not null and target_release is null and repository_id is null and pr_number is null
            and topic is null)
        or (kind = 'lot' and target_release is not null and ticket_id is null and repository_id is null and pr_number is null
            and topic is null)
        or (kind = 'pr' and repository_id is not null and pr_number >= 1 and ticket_id is null and target_release is null
            and topic is null)
        or (kind = 'topic' and length(topic) between 1 and 120 and ticket_id is null and target_release is null
            and repository_id is null and pr_number is null)
    , 0))
);
create unique index slot_anchors_once on slot_anchors (
    slot_id, kind, coalesce(ticket_id, ''), coalesce(target_release, ''), coalesce(repository_id, 0), coalesce(pr_number, 0),
    coalesce(topic, '')
);
create index slot_anchors_by_ticket on slot_anchors (ticket_id) where ticket_id is not null;
create index slot_anchors_by_release on slot_anchors (target_release) where target_release is not null;

create table slot_history (
    slot_id text not null references slots (id),
    revision integer not null check (revision >= 0),
    body text not null,
    source text not null check (source in ('slot_open', 'session_end', 'session_relay', 'slot_close')),
    session_id text,
    actor text,
    created_at text not null,
    primary key (slot_id, revision),
    check ((source in ('session_end', 'session_relay')) = (session_id is not null))
);

create table sessions (
    id text primary key,
    project_key text not null references projects (project_key),
    client_key text not null check (length(client_key) between 1 and 128),
    status text not null default 'open',
    nature text check (nature in ('agent', 'operator')),
    started_focus text,
    started_focus_revision integer not null check (started_focus_revision >= 0),
    summary text,
    next_focus text,
    captured_knowledge_ids text not null default '[]',
    nothing_to_capture_reason text,
    abandonment_reason text,
    end_expected_focus_revision integer check (end_expected_focus_revision >= 0),
    focus_outcome text check (focus_outcome in ('applied', 'conflict')),
    focus_at_end text,
    focus_revision_at_end integer,
    started_at text not null,
    last_heartbeat_at text not null,
    ended_at text,
    updated_at text not null,
    slot_id text references slots (id),
    relayed_from_session_id text references sessions (id),
    started_by_actor text,
    connection_id text,
    last_observed_at text,
    intent text,
    unique (project_key, client_key),
    check (nature is not 'agent' or (slot_id is null and relayed_from_session_id is null)),
    check (nature is 'agent' or (connection_id is null and last_observed_at is null)),
    check (coalesce(case status
        when 'open' then
            ended_at is null and summary is null and next_focus is null and nothing_to_capture_reason is null
            and abandonment_reason is null and end_expected_focus_revision is null and focus_outcome is null
            and focus_at_end is null and focus_revision_at_end is null and captured_knowledge_ids = '[]'
        when 'ended' then
            ended_at is not null and trim(summary) <> '' and trim(next_focus) <> '' and abandonment_reason is null
            and (nothing_to_capture_reason is null or trim(nothing_to_capture_reason) <> '')
            and end_expected_focus_revision is not null
            and ((focus_outcome = 'applied' and focus_at_end = next_focus
                    and focus_revision_at_end = end_expected_focus_revision + 1)
                or (focus_outcome = 'conflict' and focus_revision_at_end <> end_expected_focus_revision))
        when 'abandoned' then
            ended_at is not null and trim(abandonment_reason) <> '' and summary is null and next_focus is null
            and nothing_to_capture_reason is null and end_expected_focus_revision is null and focus_outcome is null
            and focus_at_end is null and focus_revision_at_end is null and captured_knowledge_ids = '[]'
        when 'closed_inactive' then
            nature is 'agent' and ended_at is not null and summary is null and next_focus is null
            and nothing_to_capture_reason is null and abandonment_reason is null and end_expected_focus_revision is null
            and focus_outcome is null and focus_at_end is null and focus_revision_at_end is null
        end, 0))
);
create unique index sessions_one_holder on sessions (slot_id) where status = 'open' and slot_id is not null;
create unique index sessions_one_successor on sessions (relayed_from_session_id) where relayed_from_session_id is not null;
create unique index sessions_one_trace on sessions (project_key, connection_id) where status = 'open' and connection_id is not null;
create index sessions_by_start on sessions (project_key, started_at, id);
create index sessions_by_start_everywhere on sessions (started_at, id);
create index sessions_by_status on sessions (project_key, status, started_at, id);
create index sessions_by_status_everywhere on sessions (status, started_at, id);
create index sessions_quiet on sessions (last_heartbeat_at) where status = 'open';
create index sessions_by_slot on sessions (slot_id, ended_at) where slot_id is not null;
create index sessions_by_connection on sessions (connection_id) where connection_id is not null;
create index sessions_by_client_key on sessions (client_key);

create table session_artifacts (
    knowledge_id text primary key,
    session_id text not null references sessions (id) on delete cascade,
    knowledge_type text not null
        check (knowledge_type in ('decision', 'learning', 'snippet', 'runbook', 'adr', 'indexed_plan', 'legacy')),
    captured_at text not null,
    attribution_mode text
        check (attribution_mode in ('explicit', 'derived_deposit', 'derived_connection', 'derived_window'))
);
create index session_artifacts_by_session on session_artifacts (session_id, knowledge_id);

create table session_checkpoints (
    session_id text not null references sessions (id),
    seq integer not null check (seq >= 1),
    progress text not null check (length(progress) between 1 and 2000),
    next_step text not null check (length(next_step) between 1 and 2000),
    blocker text check (blocker is null or length(blocker) between 1 and 2000),
    created_at text not null,
    primary key (session_id, seq)
);
create index session_checkpoints_by_time on session_checkpoints (session_id, created_at);

create table session_connections (
    session_id text not null references sessions (id) on delete cascade,
    connection_id text not null check (length(connection_id) between 1 and 64),
    first_seen_at text not null,
    last_seen_at text not null,
    primary key (session_id, connection_id)
);
create index session_connections_by_time on session_connections (session_id, last_seen_at);
create index session_connections_by_connection on session_connections (connection_id);

insert into focus_history (project_key, focus_revision, focus, source, created_at)
    select project_key, focus_revision, current_focus, 'migration_seed', created_at from projects;
"""

TRIGGERS = """
create trigger focus_history_never_changes before update on focus_history begin
    select raise(abort, 'the focus history is append-only: its rows cannot be changed');
end;
create trigger focus_history_never_goes before delete on focus_history begin
    select raise(abort, 'the focus history is append-only: its rows cannot go');
end;
create trigger slot_history_never_changes before update on slot_history begin
    select raise(abort, 'the slot history is append-only: its rows cannot be changed');
end;
create trigger slot_history_never_goes before delete on slot_history begin
    select raise(abort, 'the slot history is append-only: its rows cannot go');
end;
create trigger slot_anchors_never_change before update on slot_anchors begin
    select raise(abort, 'a slot''s anchors are written once: they cannot be changed');
end;
create trigger slot_anchors_never_go before delete on slot_anchors begin
    select raise(abort, 'a slot''s anchors are written once: they cannot go');
end;
create trigger session_checkpoints_never_change before update on session_checkpoints begin
    select raise(abort, 'checkpoints are append-only: they cannot be changed');
end;
create trigger session_checkpoints_never_go before delete on session_checkpoints begin
    select raise(abort, 'checkpoints are append-only: they cannot go');
end;
create trigger sessions_keep_their_slot before update of slot_id on sessions
when old.slot_id is not null and new.slot_id is not old.slot_id begin
    select raise(abort, 'a session is bound once: its slot cannot be changed');
end;
create trigger sessions_stay_ended before update of status on sessions when old.status <> 'open' and new.status <> old.status begin
    select raise(abort, 'an ended session stays as it is: there is no way out of a terminal status');
end;

create trigger sessions_counted after insert on sessions begin
    insert into counters (project_key, name, value) values
        (new.project_key, 'sessions:' || new.status, 1),
        (new.project_key, 'sessions:open:operator', new.status = 'open' and new.nature is not 'agent')
    on conflict (project_key, name) do update set value = value + excluded.value;
end;
create trigger sessions_counted_anew after update of status on sessions when new.status <> old.status begin
    insert into counters (project_key, name, value) values
        (new.project_key, 'sessions:' || old.status, -1),
        (new.project_key, 'sessions:' || new.status, 1),
        (new.project_key, 'sessions:open:operator', -(old.status = 'open' and old.nature is not 'agent'))
    on conflict (project_key, name) do update set value = value + excluded.value;
end;
create trigger slots_counted after insert on slots begin
    insert into counters (project_key, name, value) values
        (new.project_key, 'slots:open', new.closed_at is null),
        (new.project_key, 'slots:closed', new.closed_at is not null)
    on conflict (project_key, name) do update set value = value + excluded.value;
end;
create trigger slots_counted_anew after update of closed_at on slots when (old.closed_at is null) and (new.closed_at is not null) begin
    insert into counters (project_key, name, value) values
        (new.project_key, 'slots:open', -1),
        (new.project_key, 'slots:closed', 1)
    on conflict (project_key, name) do update set value = value + excluded.value;
end;
"""
