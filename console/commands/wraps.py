"""`watchroom wraps`: the open wraps, the ended ones, and everything about one (console.md, screen 2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from console.commands.common import Call, Command, CommandRefusal, for_listing
from console.commands.output import Column, cell, table, terminal_width, wrapped
from console.text import copyable

if TYPE_CHECKING:
    from core.life.witness import Witness
    from core.store.database import View
    from core.views.trail import TrailRow
    from core.views.wraps import WrapDetail, WrapRow

OPEN = (
    Column("wrap", right=True),
    Column("project", flexible=True),
    Column("verdict"),
    Column("age", right=True),
    Column("who"),
    Column("client", flexible=True),
    Column("pid", right=True),
    Column("episodes", right=True),
    Column("blocks", right=True),
    Column("gate"),
    Column("token"),
    Column("salvage", right=True),
)
ENDED = (
    Column("wrap", right=True),
    Column("project", flexible=True),
    Column("state"),
    Column("ended"),
    Column("by"),
    Column("episodes", right=True),
    Column("salvage", right=True),
    Column("reason", flexible=True),
)
TIMELINE = (Column("at"), Column("event"), Column("outcome"), Column("who"), Column("what", flexible=True))
FROZEN = (Column("episode"), Column("at"), Column("type"), Column("trust"), Column("content", flexible=True))
SALVAGE = (
    Column("id", right=True),
    Column("at"),
    Column("refused as"),
    Column("characters", right=True),
    Column("dealt with"),
    Column("text", flexible=True),
)


@click.command(cls=Command)
@click.argument("wrap_id", type=click.IntRange(1, 2**63 - 1), required=False)
@click.option("--ended", is_flag=True, help="The ended ones, newest first.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most so many ended ones.")
@click.option("--salvage", "salvage_id", type=int, metavar="ID", help="Print one salvaged text of WRAP_ID, whole.")
@for_listing
def wraps(call: Call, wrap_id: int | None, ended: bool, limit: int, salvage_id: int | None) -> int | None:
    """The open wraps; with WRAP_ID the evidence, timeline, frozen episodes and salvage of one."""
    if salvage_id is not None and wrap_id is None:
        raise click.UsageError("--salvage takes the WRAP_ID that the text was written for.")
    if wrap_id is not None and ended:
        raise click.UsageError("--ended lists wraps: leave WRAP_ID out.")
    if wrap_id is not None:
        return show_one(call, wrap_id, salvage_id)
    from core.views import wraps as views

    with call.look() as looker, looker.snapshot() as (view, witness):
        if ended:
            found = ended_of(view, witness, call.given_project, limit)
        else:
            found = [*views.open_wraps(view, witness, witness.beats.all(), witness.beats.newest())]
            found = [row for row in found if in_project(row, call.given_project)]
    data = {"wraps": [data_of(row) for row in found], "state": "ended" if ended else "open"}
    call.answer(data, lambda: ended_lines(found) if ended else open_lines(found))
    return None


def in_project(row: WrapRow, project: str | None) -> bool:
    """Whether a wrap is of the project; without one every wrap is."""
    if project is None:
        return True
    from core.projects import normal_key

    return row.project_key == normal_key(project)


def ended_of(view: View, witness: Witness, project: str | None, limit: int) -> list[WrapRow]:
    """The newest ended wraps of a project, or of all."""
    from core.views import wraps as views

    found: list[WrapRow] = []
    before: int | None = None
    while len(found) < limit:
        page = views.ended_wraps(view, witness, before_id=before, limit=200 if project else limit)
        found += [row for row in page if in_project(row, project)]
        if not page or not project:
            break
        before = page[-1].wrap_id
    return found[:limit]


def data_of(row: WrapRow) -> dict[str, Any]:
    """A wrap as JSON data; nobody judges the holder of an ended one, so that has no judgement."""
    from console.commands.output import plain

    data: dict[str, Any] = plain(row)
    if row.ended_at is not None:
        data["judgement"] = None
    return data


def age_words(row: WrapRow) -> str | None:
    """How long the wrap has been open, in words."""
    from core.ages import words_for_age

    return None if row.age_seconds is None else words_for_age(row.age_seconds)


def open_lines(found: list[WrapRow]) -> list[str]:
    """Open wraps for people."""
    if not found:
        return ["No wrap is open."]
    rows = [
        (
            row.wrap_id,
            row.project_key,
            row.judgement.verdict,
            age_words(row),
            row.holder.user,
            row.holder.client_name,
            row.holder.pid,
            row.episodes,
            row.blocks,
            row.gate,
            row.token_start,
            row.salvage,
        )
        for row in found
    ]
    return table(OPEN, rows, terminal_width())


def ended_lines(found: list[WrapRow]) -> list[str]:
    """Ended wraps for people."""
    if not found:
        return ["No wrap has ended."]
    rows = [
        (row.wrap_id, row.project_key, row.state, row.ended_at, ender(row), row.episodes, row.salvage, row.ended_reason)
        for row in found
    ]
    return table(ENDED, rows, terminal_width())


def ender(row: WrapRow) -> str | None:
    """Who ended the wrap."""
    from core.actors import Actor

    if row.ended_by is None:
        return None
    actor = Actor.from_json(row.ended_by)
    return f"{actor.kind} {actor.name}"


# one wrap


def show_one(call: Call, wrap_id: int, salvage_id: int | None) -> int | None:
    """Print everything about one wrap, or one of its salvaged texts."""
    from core.views import wraps as views

    with call.look() as looker, looker.snapshot() as (view, witness):
        detail = views.wrap_detail(view, witness, wrap_id)
    if detail is None or not in_project(detail.row, call.given_project):
        where = f"project {call.given_project} of this store" if call.given_project else "this store"
        raise CommandRefusal("no_wrap", f"There is no wrap {wrap_id} in {where}.", {"wrap_id": wrap_id})
    if salvage_id is not None:
        show_salvage(call, detail, salvage_id)
        return None
    data = {
        "wrap": data_of(detail.row),
        "timeline": detail.timeline,
        "episodes": detail.episodes,
        "episodes_total": detail.episodes_total,
        "salvage": detail.salvage,
        "notices": detail.notices,
    }
    call.answer(data, lambda: detail_lines(detail))
    return None


def show_salvage(call: Call, detail: WrapDetail, salvage_id: int) -> None:
    """Print one salvaged text as it was sent, every character that would act or hide named."""
    wrap_id = detail.row.wrap_id
    kept = next((one for one in detail.salvage if one.id == salvage_id), None)
    if kept is None:
        raise CommandRefusal("no_salvage", f"Wrap {wrap_id} has no salvaged text {salvage_id}.", {"wrap_id": wrap_id})
    text = copyable(kept.text)
    call.answer({"salvage": kept}, lambda: [text])


def head_lines(row: WrapRow) -> list[str]:
    """What a person has to see of a wrap before acting on it: which, whose, and the verdict with its evidence."""
    holder = row.holder
    who = f"{holder.client_name or 'a client without a name'} of {holder.user or 'nobody known'}"
    place = f"pid {holder.pid} on {holder.host}" if holder.pid else "no process recorded"
    ended = row.ended_at is not None
    age = age_words(row)
    drawn = [
        cell(f"Wrap {row.wrap_id} (generation {row.generation}) of {row.project_key or 'no project'}, {row.state}"),
        cell(f"  opened     {row.started_at or 'at a time that cannot be read'}{f', {age} ago' if age else ''}"),
        cell(f"  holder     {who}, {place}, {holder.via or 'no connection recorded'}"),
        cell(
            f"  token      {row.token_start or 'none'}{'…' if row.token_start else ''}{', chosen by its preparer' if row.bound else ''}"
        ),
        cell(f"  episodes   {'not to be told' if row.episodes is None else row.episodes}, gate {row.gate}"),
    ]
    if row.gated_session:
        drawn.append(cell(f"  session    {row.gated_session} holds it by the baton"))
    if ended:
        drawn.append(cell(f"  ended      {row.ended_at} by {ender(row) or 'nobody recorded'}"))
        if row.ended_reason:
            drawn.append(cell(f"  reason     {row.ended_reason}"))
        return drawn
    drawn.append(cell(f"  blocks     {row.blocks} agents, {row.refused_prepares} prepares refused"))
    drawn.append(cell(f"  last call  {row.last_call_at or 'none known'}"))
    drawn.append(f"  {row.judgement.verdict}")
    drawn += [cell(f"    {'✗' if one.death else '·'} {one.text}") for one in row.judgement.evidence]
    return drawn


def detail_lines(detail: WrapDetail) -> list[str]:
    """Everything about one wrap for people."""
    width = terminal_width()
    drawn = [*head_lines(detail.row), "", "Timeline"]
    rows = [(row.at, row.event, row.outcome, row.who.name, summary(row)) for row in detail.timeline]
    drawn += table(TIMELINE, rows, width) if rows else ["  nothing in the trail"]
    drawn += ["", f"Frozen episodes ({detail.episodes_total})"]
    frozen = [
        (one.episode_id, one.created_at, one.episode_type, one.trust, one.content or "deleted since") for one in detail.episodes
    ]
    drawn += table(FROZEN, frozen, width) if frozen else ["  none"]
    if len(frozen) < detail.episodes_total:
        drawn.append(f"  and {detail.episodes_total - len(frozen)} more")
    drawn += ["", f"Salvage ({len(detail.salvage)})"]
    kept = [(one.id, one.created_at, one.code, len(one.text), one.dealt_with_at or "waits", one.text) for one in detail.salvage]
    drawn += table(SALVAGE, kept, width) if kept else ["  none"]
    if detail.notices:
        drawn += ["", "Notices", *(line for one in detail.notices for line in wrapped(one, 2))]
    return drawn


def summary(row: TrailRow) -> str:
    """A trail row's data in one line, the telling things first; a token only by its start (room.md 2.6)."""
    try:
        data = json.loads(row.data)
    except (ValueError, TypeError, RecursionError):
        return "data that cannot be read"
    if not isinstance(data, dict):
        return str(data)
    said = []
    for name in sorted(data, key=lambda name: (name not in ("reason", "code", "sentence"), 0)):
        value = data[name]
        if value is None or value in ({}, [], ""):
            continue
        if name == "wrap_token":
            value = f"{str(value)[:8]}…"
        elif isinstance(value, list | dict):
            value = f"{len(value)} entries" if isinstance(value, list) else json.dumps(value, ensure_ascii=False)
        said.append(f"{name}: {value}")
    return "; ".join(said)


def print_row(row: WrapRow) -> None:
    """Show a wrap's head on stderr, before something is done to it."""
    click.echo("\n".join(head_lines(row)), err=True)
