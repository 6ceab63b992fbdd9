"""Holding the store against the trail: what stands in it without the trail knowing of it (room.md 5)."""

from __future__ import annotations

import hashlib

from core.store.database import View

MISMATCHES_NAMED = 100
ENDS = "('brain_session_end', 'brain_session_relay', 'brain_session_abandon', 'session_closed_inactive')"
"""The events that end a session."""


def mismatches_with_store(view: View, sealed_before: str) -> list[str]:
    """What stands in the store without the trail knowing of it (room.md 5). What ended before `sealed_before` left with its rows."""
    found: list[str] = []
    open_wraps = view.all(
        "select w.id from wraps w where w.ended_at is null and not exists (select 1 from audit a"
        " where a.subject = 'wrap:' || w.id and a.event = 'wrap_started' and a.outcome = 'done')"
        f" order by w.id limit {MISMATCHES_NAMED + 1}"
    )
    _name_mismatches(found, [f"wrap {row[0]} is open, but the trail has no wrap_started of it" for row in open_wraps])
    reopened = view.all(
        "select w.id from wraps w where w.ended_at is null and exists (select 1 from audit a where a.subject = 'wrap:' || w.id"
        " and a.outcome = 'done' and a.event in ('wrap_completed', 'wrap_cancelled'))"
        f" order by w.id limit {MISMATCHES_NAMED + 1}"
    )
    _name_mismatches(found, [f"wrap {row[0]} is open, but the trail says that it has ended" for row in reopened])
    ended = view.all(
        "select w.id from wraps w where w.ended_at is not null and w.ended_at >= ? and not exists (select 1 from audit a"
        " where a.subject = 'wrap:' || w.id and a.outcome = 'done'"
        " and a.event = case w.outcome when 'saved' then 'wrap_completed' else 'wrap_cancelled' end)"
        f" order by w.id limit {MISMATCHES_NAMED + 1}",
        (sealed_before,),
    )
    _name_mismatches(found, [f"wrap {row[0]} has ended, but the trail does not say how" for row in ended])
    saved = view.all(
        "select c.project_key, c.revision from continuity c where c.created_at >= ? and not exists (select 1 from audit a"
        " where a.outcome = 'done'"
        " and a.subject = case when c.restored_from is null and c.wrap_id is not null then 'wrap:' || c.wrap_id"
        " else 'project:' || c.project_key end"
        " and a.event = case when c.restored_from is null then 'continuity_saved' else 'continuity_restored' end"
        # a row whose data were spoilt is named by the walk, and must not end the query
        " and case when typeof(a.data) = 'text' and json_valid(a.data) then json_extract(a.data, '$.content_hash') end = c.sha256)"
        f" order by c.project_key, c.revision limit {MISMATCHES_NAMED + 1}",
        (sealed_before,),
    )
    _name_mismatches(found, [f"continuity revision {row[1]} of {row[0]} is not what the trail says was saved" for row in saved])
    standing = view.all(
        "select c.project_key, c.revision, c.text, c.sha256 from continuity c where c.revision ="
        " (select max(newer.revision) from continuity newer where newer.project_key = c.project_key) order by c.project_key"
    )
    changed = [row for row in standing if hashlib.sha256(str(row[2]).encode("utf-8", "surrogatepass")).hexdigest() != row[3]]
    _name_mismatches(
        found, [f"the text of continuity revision {row[1]} of {row[0]} is not the one that was saved" for row in changed]
    )
    found += _of_sessions(view, sealed_before) + _of_focus(view)
    if view.one("select 1 from audit limit 1"):
        return found
    # an emptied trail over a store that has seen deeds is missing rows, not "nothing to verify"
    used = view.one(
        "select exists (select 1 from episodes) or exists (select 1 from wraps) or exists (select 1 from connections)"
    )
    return [*found, "the trail is empty, but the store is not"] if used[0] else found


def _of_sessions(view: View, sealed_before: str) -> list[str]:
    """Sessions whose start or end the trail does not know: a successor's start is its predecessor's relay."""
    found: list[str] = []
    unstarted = view.all(
        "select s.id from sessions s where s.started_at >= ? and not exists (select 1 from audit a where a.outcome = 'done'"
        " and a.subject = 'session:' || s.id and a.event = 'brain_session_start')"
        " and (s.relayed_from_session_id is null or not exists (select 1 from audit a where a.outcome = 'done'"
        " and a.subject = 'session:' || s.relayed_from_session_id and a.event = 'brain_session_relay' and case when"
        " typeof(a.data) = 'text' and json_valid(a.data) then json_extract(a.data, '$.successor_session_id') end = s.id))"
        f" order by s.started_at limit {MISMATCHES_NAMED + 1}",
        (sealed_before,),
    )
    _name_mismatches(found, [f"session {row[0]} is there, but the trail has no start of it" for row in unstarted])
    reopened = view.all(
        "select s.id from sessions s where s.status = 'open' and exists (select 1 from audit a where a.outcome = 'done'"
        f" and a.subject = 'session:' || s.id and a.event in {ENDS}) order by s.started_at limit {MISMATCHES_NAMED + 1}"
    )
    _name_mismatches(found, [f"session {row[0]} is open, but the trail says that it has ended" for row in reopened])
    ended = view.all(
        "select s.id from sessions s where s.status <> 'open' and s.ended_at >= ? and not exists (select 1 from audit a"
        f" where a.outcome = 'done' and a.subject = 'session:' || s.id and a.event in {ENDS})"
        f" order by s.started_at limit {MISMATCHES_NAMED + 1}",
        (sealed_before,),
    )
    _name_mismatches(found, [f"session {row[0]} has ended, but the trail does not say how" for row in ended])
    return found


def _of_focus(view: View) -> list[str]:
    """Focus texts that are not what their own append-only histories say."""
    found: list[str] = []
    bases = view.all(
        "select p.project_key from projects p left join focus_history h on h.project_key = p.project_key"
        " and h.focus_revision = p.focus_revision where h.project_key is null or h.focus is not p.current_focus"
        f" order by p.project_key limit {MISMATCHES_NAMED + 1}"
    )
    _name_mismatches(found, [f"the base focus of {row[0]} is not what its history says" for row in bases])
    bodies = view.all(
        "select s.id from slots s left join slot_history h on h.slot_id = s.id and h.revision = s.revision"
        f" where h.slot_id is null or h.body is not s.body order by s.id limit {MISMATCHES_NAMED + 1}"
    )
    _name_mismatches(found, [f"the body of slot {row[0]} is not what its history says" for row in bodies])
    return found


def _name_mismatches(found: list[str], sentences: list[str]) -> None:
    found += sentences[:MISMATCHES_NAMED]
    if len(sentences) > MISMATCHES_NAMED:
        found.append(f"more than {MISMATCHES_NAMED} of these: the rest is not named")
