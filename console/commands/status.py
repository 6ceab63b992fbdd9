"""`watchroom status`: what needs a person, then counts and who is connected (console.md, screen 1)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from console.commands.common import Call, Command, for_listing
from console.commands.output import Column, cell, table, terminal_width

if TYPE_CHECKING:
    from core.views.snapshot import Snapshot

PROJECTS = (
    Column("project", flexible=True),
    Column("gate"),
    Column("baton", flexible=True),
    Column("episodes", right=True),
    Column("waiting", right=True),
    Column("wraps", right=True),
    Column("cancelled", right=True),
    Column("open"),
)
CONNECTIONS = (
    Column("client", flexible=True),
    Column("verdict"),
    Column("pid", right=True),
    Column("who"),
    Column("via", flexible=True),
    Column("open for", right=True),
    Column("last call", right=True),
    Column("calls", right=True),
    Column("refusals", right=True),
    Column("wraps"),
)


@click.command(cls=Command)
@for_listing
def status(call: Call) -> int | None:
    """What needs you, then the projects and who is connected."""
    return show(call)


def show(call: Call) -> int | None:
    """Look once and print it; `watchroom` alone does the same where there is no terminal."""
    from core.views import snapshot

    with call.look() as looker, looker.snapshot() as (view, witness):
        found = snapshot.take(view, witness)
    if call.given_project:
        found = only(found, call.given_project)
    call.answer({"needs_you": found.attention, **data_of(found)}, lambda: lines(call, found))
    return None


def only(found: Snapshot, project: str) -> Snapshot:
    """The snapshot as far as it is about one project; what belongs to none, such as the trail, stays."""
    from core.projects import normal_key

    key = normal_key(project)
    return dataclasses.replace(
        found,
        projects=tuple(one for one in found.projects if one.project_key == key),
        wraps=tuple(one for one in found.wraps if one.project_key == key),
        sessions=tuple(one for one in found.sessions if one.project_key == key),
        slots=tuple(one for one in found.slots if one.project_key == key),
        attention=tuple(one for one in found.attention if one.project_key in (key, None)),
    )


def data_of(found: Snapshot) -> dict[str, object]:
    """The snapshot as JSON data. The trail is not verified here, which is said and never called OK."""
    return {
        "store_id": found.store_id,
        "created_at": found.created_at,
        "projects": found.projects,
        "wraps": found.wraps,
        "sessions": found.sessions,
        "slots": found.slots,
        "connections": found.connections,
        "activity": found.activity,
        "trail": {"first": found.trail_first, "last": found.trail_last, "verified": None},
    }


def lines(call: Call, found: Snapshot) -> list[str]:
    """The snapshot for people."""
    width = terminal_width()
    drawn = [f"Store {cell(str(call.path))}, trail rows {found.trail_first} to {found.trail_last} (not verified here)", ""]
    if found.attention:
        drawn.append("Needs you")
        for one in found.attention:
            drawn.append(f"  {cell(one.what)}")
            drawn += [f"    {cell(why)}" for why in one.why]
    else:
        drawn.append("Nothing needs you.")
    drawn.append("")
    if found.projects:
        opened: dict[str | None, list[str]] = {}
        for wrap in found.wraps:
            opened.setdefault(wrap.project_key, []).append(f"{wrap.wrap_id} {wrap.judgement.verdict}")
        rows = [
            (
                one.project_key,
                one.gate,
                one.baton_holder,
                one.episodes,
                one.waiting,
                one.wraps_completed,
                one.wraps_cancelled,
                ", ".join(opened.get(one.project_key, ())) or "no",
            )
            for one in found.projects
        ]
        drawn += table(PROJECTS, rows, width)
        orphans = sum(one.is_orphan for one in found.slots)
        drawn += ["", f"Open: {len(found.sessions)} sessions, {len(found.slots)} slots ({orphans} orphans)"]
    else:
        drawn.append("No project yet." if not call.given_project else f"There is no project {cell(call.given_project)}.")
    drawn.append("")
    drawn += connection_lines(found, width)
    return drawn


def connection_lines(found: Snapshot, width: int | None) -> list[str]:
    """Who is connected."""
    from core.actors import Actor
    from core.clock import parse_stamp

    if not found.connections:
        return ["Nobody is connected."]

    def age(text: str | None) -> str | None:
        from core.ages import seconds_since, words_for_age

        moment = parse_stamp(text)
        return words_for_age(seconds_since(moment, found.taken_at)) if moment else None

    rows = [
        (
            one.facts.client_name,
            one.judgement.verdict,
            one.facts.process.pid,
            Actor.from_json(one.facts.actor).name,
            one.facts.via,
            age(one.facts.opened_at),
            age(one.facts.last_call_at),
            one.calls,
            one.refusals,
            ", ".join(str(wrap_id) for wrap_id in one.open_wraps) or None,
        )
        for one in found.connections
    ]
    return table(CONNECTIONS, rows, width)
