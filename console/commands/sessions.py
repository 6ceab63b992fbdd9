"""`watchroom sessions`: the open sessions, the ended ones, and everything about one (console.md, screen 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from console.commands.common import Call, Command, CommandRefusal, for_listing
from console.commands.output import Column, cell, plain, table, terminal_width, wrapped
from console.commands.wraps import TIMELINE, summary

if TYPE_CHECKING:
    from core.views.look import Looker
    from core.views.sessions import SessionDetail, SessionRow

OPEN = (
    Column("session"),
    Column("project", flexible=True),
    Column("status"),
    Column("at work"),
    Column("key", flexible=True),
    Column("client", flexible=True),
    Column("pid", right=True),
    Column("slot", flexible=True),
    Column("heartbeat", right=True),
    Column("checkpoint"),
    Column("captured", right=True),
)
ENDED = (
    Column("session"),
    Column("project", flexible=True),
    Column("status"),
    Column("ended"),
    Column("key", flexible=True),
    Column("successor"),
    Column("focus"),
    Column("captured", right=True),
    Column("summary", flexible=True),
)
CHECKPOINTS = (Column("seq", right=True), Column("at"), Column("progress", flexible=True), Column("next", flexible=True))
LEDGER = (Column("id"), Column("kind"), Column("how"), Column("title", flexible=True))
LINEAGE = (Column("session"), Column("key", flexible=True), Column("status"), Column("started"), Column("ended"))
SHORT = 8


@click.command(cls=Command)
@click.argument("session", required=False)
@click.option("--ended", is_flag=True, help="The ended ones, newest first.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most so many ended ones.")
@for_listing
def sessions(call: Call, session: str | None, ended: bool, limit: int) -> int | None:
    """The open sessions; with SESSION (its id, the beginning of it, or its client key) everything about one."""
    if session is not None and ended:
        raise click.UsageError("--ended lists sessions: leave SESSION out.")
    if session is not None:
        detail = find(call, session)
        call.answer(data_of(detail), lambda: detail_lines(detail))
        return None
    from core.views.sessions import Look, ended_sessions, open_sessions

    key = call.given_key
    with call.look() as looker, looker.snapshot() as (view, witness):
        look = Look.of(witness)
        found = ended_sessions(view, look, project_key=key, limit=limit) if ended else open_sessions(view, look, project_key=key)
    data = {"sessions": found, "state": "ended" if ended else "open"}
    call.answer(data, lambda: ended_lines(found) if ended else open_lines(found))
    return None


def find(call: Call, name: str) -> SessionDetail:
    """The one session that a person names, whole. Raises CommandRefusal for none or several."""
    with call.look() as looker:
        return find_in(looker, name, call.given_project)


def find_in(looker: Looker, name: str, project: str | None) -> SessionDetail:
    """The one session of that id, beginning of an id, or client key; among several of a key the one that is open."""
    from core.projects import normal_key
    from core.views.sessions import Look, session_detail, sessions_named

    key = normal_key(project) if project else None
    with looker.snapshot() as (view, witness):
        named = sessions_named(view, Look.of(witness), name.strip())
        found = [row for row in named if key is None or row.project_key == key]
        exact = [row for row in found if row.session_id == name.strip()] or [row for row in found if row.is_open] or found
        if len(exact) == 1:
            detail = session_detail(view, witness, exact[0].session_id)
            if detail is not None:
                return detail
    ids = [row.session_id for row in exact]
    if not ids:
        where = f"project {project} of this store" if project else "this store"
        raise CommandRefusal("session_not_found", f"There is no session {name} in {where}.", {"session": name})
    raise CommandRefusal("session_ambiguous", f"{name} names several sessions: {', '.join(ids)}.", {"session_ids": ids})


def data_of(detail: SessionDetail) -> dict[str, Any]:
    """A session as JSON data."""
    data: dict[str, Any] = plain(detail)
    data["session"] = data.pop("row")
    return data


def age(seconds: float | None) -> str | None:
    """A length of time in words."""
    from core.ages import words_for_age

    return None if seconds is None else words_for_age(seconds)


def status_words(row: SessionRow) -> str:
    """The status, with what is wrong with it or whose it is."""
    return f"{row.status}{', stale' if row.is_stale else ''}{', trace' if row.is_trace else ''}"


def open_lines(found: tuple[SessionRow, ...]) -> list[str]:
    """Open sessions for people."""
    if not found:
        return ["No session is open."]
    rows = [
        (
            row.session_id[:SHORT],
            row.project_key,
            status_words(row),
            row.judgement.verdict if row.judgement else None,
            row.client_key,
            row.holder.client_name,
            row.holder.pid,
            row.slot_title or "base focus",
            age(row.heartbeat_age_seconds),
            row.last_checkpoint_at,
            row.captured,
        )
        for row in found
    ]
    return table(OPEN, rows, terminal_width())


def ended_lines(found: tuple[SessionRow, ...]) -> list[str]:
    """Ended sessions for people."""
    if not found:
        return ["No session has ended."]
    rows = [
        (
            row.session_id[:SHORT],
            row.project_key,
            status_words(row),
            row.ended_at,
            row.client_key,
            (row.successor_id or "")[:SHORT],
            row.focus_outcome,
            row.captured,
            row.summary or row.abandonment_reason,
        )
        for row in found
    ]
    return table(ENDED, rows, terminal_width())


def head_lines(row: SessionRow) -> list[str]:
    """What a person has to see of a session before acting on it: which, on what, and who is at work with the evidence."""
    holder = row.holder
    place = f"pid {holder.pid} on {holder.host}" if holder.pid else "no process recorded"
    who = f"{holder.client_name or 'a client without a name'} of {holder.user or 'nobody known'}, {place}"
    drawn = [
        cell(f"Session {row.session_id} of {row.project_key}, {status_words(row)}"),
        cell(f"  key        {row.client_key}"),
        cell(f"  works on   {f'slot {row.slot_title} ({row.slot_id})' if row.slot_id else 'the base focus'}"),
        cell(f"  started    {row.started_at}{f', {age(row.age_seconds)} ago' if row.age_seconds is not None else ''}"),
        cell(f"  heartbeat  {row.last_heartbeat_at}, checkpoint {row.last_checkpoint_at or 'none'}, captured {row.captured}"),
    ]
    if row.predecessor_id:
        drawn.append(cell(f"  follows    session {row.predecessor_id}"))
    if row.is_open:
        drawn.append(cell(f"  at work    {who if holder.connection_id else 'nobody has named it yet'}"))
        if row.judgement:
            drawn.append(f"  {row.judgement.verdict}")
            drawn += [cell(f"    {'✗' if one.death else '·'} {one.text}") for one in row.judgement.evidence]
        return drawn
    drawn.append(cell(f"  ended      {row.ended_at}{f', followed by session {row.successor_id}' if row.successor_id else ''}"))
    for label, text in (("reason", row.abandonment_reason), ("focus", row.focus_outcome), ("summary", row.summary)):
        if text:
            drawn.append(cell(f"  {label:<10} {text}"))
    return drawn


def detail_lines(detail: SessionDetail) -> list[str]:
    """Everything about one session for people."""
    width, row = terminal_width(), detail.row
    drawn = head_lines(row)
    name = "Slot's text" if row.slot_id else "Base focus"
    drawn += ["", f"{name}, revision {detail.standing_revision}", *(wrapped(detail.standing_text or "none", 2))]
    if row.next_focus:
        drawn += ["", "What it left", *wrapped(row.next_focus, 2)]
    notes = [(one.seq, one.created_at, one.progress, one.next_step) for one in detail.checkpoints]
    items = [(one.id, one.kind, one.mode, one.title) for one in detail.ledger]
    line = [(one.session_id, one.client_key, one.status, one.started_at, one.ended_at) for one in detail.lineage]
    told = [(one.at, one.event, one.outcome, one.who.name, summary(one)) for one in detail.timeline]
    free = [(one.id, one.kind, "free", one.title) for one in detail.uncaptured]
    for title, columns, rows in (
        ("Checkpoints", CHECKPOINTS, notes),
        ("Ledger", LEDGER, items),
        ("Knowledge of the project that no session has", LEDGER, free),
        ("Lineage", LINEAGE, line),
        ("Timeline", TIMELINE, told),
    ):
        drawn += ["", f"{title} ({len(rows)})", *(table(columns, rows, width) if rows else ["  none"])]
    return drawn


def print_row(row: SessionRow) -> None:
    """Show a session's head on stderr, before something is done to it."""
    click.echo("\n".join(head_lines(row)), err=True)
