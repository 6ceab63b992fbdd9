"""The briefing: what an agent that starts, resumes or takes over a session must know, as one bounded markdown text (sessions.md c).

Each section is built by itself: what fails to be built is named in the text and never hides the session.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from core.ages import words_for_age
from core.clock import parse_stamp
from core.sessions import base, checkpoint, rows, slots
from core.sessions.limits import FOCUS_LIMIT, SLOT_BODY_LIMIT
from core.sessions.models import Session
from core.sessions.rows import ids_of
from core.store.database import SCHEMA_VERSION
from core.store.deed import Reading

TICKETS_SHOWN = 5
SLOTS_SHOWN = 20
DISTIL_SHOWN = 10
CHECKPOINTS_SHOWN = 5
BLOCKERS_SHOWN = 5
RECAP_SHOWN = 3
RECAP_CHARACTERS = 60
SUMMARY_CHARACTERS = 1_000
TITLES_SHOWN = 20
SHORT_ID = 8
LINE_CHARACTERS = 300

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class About:
    """What a briefing is built from."""

    reading: Reading
    project_key: str
    session: Session | None
    now: datetime


def briefing(reading: Reading, project_key: str, session_id: str | None, now: datetime) -> str:
    """The briefing of a project, for one of its sessions where one is named; sections without anything to say are left out."""
    session = None if session_id is None else rows.find(reading, session_id, now)
    about = About(reading, project_key, session, now)
    parts = []
    for name, build in SECTIONS:
        try:
            text = build(about)
        except Exception as error:
            logger.warning("the briefing's section %s could not be built", name, exc_info=True)
            text = f"## {name}\nThis section could not be built ({type(error).__name__}); the session is not concerned."
        if text:
            parts.append(text)
    return "\n\n".join(parts)


def _title(about: About) -> str:
    row = about.reading.one("select name, archived_at from projects where project_key = ?", (about.project_key,))
    if row is None:
        return f"# {about.project_key}: no project context found"
    name = f" ({_line(row['name'])})" if row["name"] and row["name"] != about.project_key else ""
    archived = f"\nThis project is archived since {row['archived_at']}." if row["archived_at"] else ""
    return f"# {about.project_key}{name}{archived}"


def _tickets(about: About) -> str:
    found = about.reading.all(
        "select id, title, target_release from tickets where project_key = ? and received_at is null"
        " order by created_at desc, id desc limit ?",
        (about.project_key, TICKETS_SHOWN + 1),
    )
    if not found:
        return ""
    lines = [
        f"- {row['id']}: {_line(row['title'])}" + (f" (for {row['target_release']})" if row["target_release"] else "")
        for row in found[:TICKETS_SHOWN]
    ]
    if len(found) > TICKETS_SHOWN:
        lines.append("- and more: brain_ticket_list shows them all")
    return "## Tickets not received yet\n" + "\n".join(lines)


def _state(about: About) -> str:
    standing = base.read(about.reading, about.project_key)
    if standing is None:
        return ""
    changed = parse_stamp(standing.focus_updated_at)
    age = "never written" if changed is None else f"{words_for_age((about.now - changed).total_seconds())} old"
    used = len(standing.current_focus or "")
    left = FOCUS_LIMIT - used
    size = len((standing.current_focus or "").encode("utf-8", "surrogatepass"))
    margin = f"{used:,} of {FOCUS_LIMIT:,} characters used, {left:,} left ({size:,} bytes)"
    if left <= 0:
        margin += "\n\n**WARNING: the base focus is full. The next end or relay has to compress it, or its text is refused as too long.**"
    return f"## State\nStore layout: {SCHEMA_VERSION}. The focus is {age}, at revision {standing.focus_revision}; {margin}."


def _focus(about: About) -> str:
    standing = base.read(about.reading, about.project_key)
    if standing is None or not standing.current_focus:
        return "## Focus\nNo focus is set."
    return f"## Focus (revision {standing.focus_revision})\n{standing.current_focus}"


def _bound_slot(about: About) -> str:
    if about.session is None or about.session.slot_id is None:
        return ""
    slot = slots.of_session(about.reading, about.session.slot_id)
    closed = ""
    if slot.closed_at is not None:
        how = "by a receipt" if (slot.close_reason or "").startswith("receipt:") else "by hand"
        closed = f" CLOSED {how} at {slot.closed_at}"
    used = len(slot.body)
    lines = [
        f"## Your slot: {_line(slot.title)} (revision {slot.revision}){closed}",
        f"Slot {slot.id}; {', '.join(anchor.reference for anchor in slot.anchors)}.",
        slot.body,
        f"{used:,} of {SLOT_BODY_LIMIT:,} characters used, {SLOT_BODY_LIMIT - used:,} left.",
    ]
    return "\n".join(lines + _predecessor(about, slot.id))


def _predecessor(about: About, slot_id: str) -> list[str]:
    """The session that ended last on the slot: its summary, the titles of its decisions, its last checkpoint."""
    row = about.reading.one(
        "select id, ended_at, summary from sessions where slot_id = ? and status = 'ended' order by ended_at desc limit 1",
        (slot_id,),
    )
    if row is None:
        return []
    summary = row["summary"] or ""
    cut = summary if len(summary) <= SUMMARY_CHARACTERS else f"{summary[:SUMMARY_CHARACTERS]}…"
    lines = ["", f"### Before you: session {row['id']}, ended at {row['ended_at']}", cut]
    titles = about.reading.all(
        "select k.title from session_artifacts a join knowledge k on k.id = a.knowledge_id"
        " where a.session_id = ? and a.knowledge_type = 'decision' order by k.created_at, k.id limit ?",
        (row["id"], TITLES_SHOWN),
    )
    if titles:
        lines.append("It decided: " + "; ".join(_line(title["title"]) for title in titles) + ".")
    last = checkpoint.newest(about.reading, row["id"], 1)
    if last:
        lines.append(f"Its last checkpoint ({last[0].seq}): {last[0].progress} Next: {last[0].next_step}")
    return lines


def _open_slots(about: About) -> str:
    rows_found = about.reading.all(
        f"select {slots.COLUMNS} from slots where project_key = ? and closed_at is null order by opened_at, id limit ?",
        (about.project_key, SLOTS_SHOWN),
    )
    if not rows_found:
        return ""
    lines = []
    for slot in slots.listed(about.reading, rows_found, about.now):
        opened = parse_stamp(slot.opened_at)
        age = f"{words_for_age((about.now - opened).total_seconds())} old" if opened else "of unknown age"
        holder = f"held by session {slot.bound_session_id[:SHORT_ID]}" if slot.bound_session_id else "orphan"
        flags = "".join((", stale" if slot.is_stale else "", ", receipt pending" if slot.receipt_pending else ""))
        anchors = ", ".join(_line(anchor.reference) for anchor in slot.anchors)
        lines.append(f"- {_line(slot.title)} ({slot.id}; {anchors}): {age}, {holder}{flags}")
    total = about.reading.one("select value from counters where project_key = ? and name = 'slots:open'", (about.project_key,))
    more = int(total[0]) - len(rows_found) if total else 0
    if more > 0:
        lines.append(f"- and {more} more: brain_slot_list shows them all")
    return "## Open slots\n" + "\n".join(lines)


def _bind_hint(about: About) -> str:
    session = about.session
    if session is None or not session.is_open or session.slot_id is not None or session.is_trace:
        return ""
    if about.reading.one("select 1 from slots where project_key = ? and closed_at is null limit 1", (about.project_key,)) is None:
        return ""
    return (
        "## Binding\nThis session is bound to no slot: its end and relay write the base focus. brain_session_bind binds it to one slot "
        "for the rest of its life. Do that only when your user says so, never of your own accord."
    )


def _to_distil(about: About) -> str:
    standing = base.read(about.reading, about.project_key)
    if standing is None:
        return ""
    found = about.reading.all(
        "select title, id, closed_at from slots where project_key = ? and close_reason like 'receipt:%' and closed_at > ?"
        " order by closed_at desc limit ?",
        (about.project_key, standing.focus_updated_at or "", DISTIL_SHOWN),
    )
    if not found:
        return ""
    lines = [f"- {_line(row['title'])} ({row['id']}), received at {row['closed_at']}" for row in found]
    return (
        "## To distil\nThese slots were closed by a receipt since the base focus was last written; take into it what is to last:\n"
        + "\n".join(lines)
    )


def _blockers(about: About) -> str:
    row = about.reading.one("select blockers from projects where project_key = ?", (about.project_key,))
    found = ids_of(row["blockers"]) if row else ()
    if not found:
        return ""
    more = [f"- and {len(found) - BLOCKERS_SHOWN} more"] if len(found) > BLOCKERS_SHOWN else []
    return "## Blockers\n" + "\n".join([*(f"- {_line(one)}" for one in found[:BLOCKERS_SHOWN]), *more])


def _recap(about: About) -> str:
    lines = []
    for kind, name in (("decision", "Decided"), ("learning", "Learned")):
        found = about.reading.all(
            "select title from knowledge where project_key = ? and kind = ? order by created_at desc, id desc limit ?",
            (about.project_key, kind, RECAP_SHOWN),
        )
        lines += [f"- {name}: {_cut(row['title'], RECAP_CHARACTERS)}" for row in found]
    return "## Lately\n" + "\n".join(lines) if lines else ""


def _checkpoints(about: About) -> str:
    if about.session is None:
        return ""
    found = checkpoint.newest(about.reading, about.session.id, CHECKPOINTS_SHOWN)
    if not found:
        return ""
    lines = [
        f"- {one.seq} ({one.created_at}): {_line(one.progress)} Next: {_line(one.next_step)}"
        + (f" Blocked by: {_line(one.blocker)}" if one.blocker else "")
        for one in found
    ]
    return "## Your checkpoints, newest first\n" + "\n".join(lines)


def _hint(about: About) -> str:
    return "More: brain_project_get, brain_slot_get, brain_session_get and brain_search read the rest."


SECTIONS: tuple[tuple[str, Callable[[About], str]], ...] = (
    ("Project", _title),
    ("Tickets", _tickets),
    ("State", _state),
    ("Focus", _focus),
    ("Your slot", _bound_slot),
    ("Open slots", _open_slots),
    ("Binding", _bind_hint),
    ("To distil", _to_distil),
    ("Blockers", _blockers),
    ("Lately", _recap),
    ("Your checkpoints", _checkpoints),
    ("More", _hint),
)
"""The sections in their order, each with the heading under which a failure is told."""


def _line(text: str) -> str:
    """A text as one bounded line."""
    return _cut(" ".join(text.split()), LINE_CHARACTERS)


def _cut(text: str, most: int) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= most else f"{joined[:most]}…"
