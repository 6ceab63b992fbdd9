"""`watchroom slots`, `open-slot` and `close-slot`: topics in flight (console.md, screen 4; sessions.md b.11 to b.13)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from console.commands.common import Call, Command, CommandRefusal, for_listing, for_one_project, on_terminal
from console.commands.handover import edited, read
from console.commands.output import Column, cell, plain, table, terminal_width, wrapped
from console.commands.sessions import age
from console.commands.wraps import TIMELINE, summary

if TYPE_CHECKING:
    from core.sessions.slots import SlotClosed, SlotOpened
    from core.views.slots import SlotDetail, SlotRow

SLOTS = (
    Column("slot"),
    Column("project", flexible=True),
    Column("title", flexible=True),
    Column("rev", right=True),
    Column("holder", flexible=True),
    Column("state"),
    Column("text is", right=True),
    Column("anchors", flexible=True),
)
HISTORY = (
    Column("rev", right=True),
    Column("at"),
    Column("source"),
    Column("by", flexible=True),
    Column("characters", right=True),
)


@click.command(cls=Command)
@click.argument("slot", required=False)
@click.option("--closed", is_flag=True, help="The closed ones, newest first.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most so many closed ones.")
@click.option("--revision", type=click.IntRange(0), metavar="N", help="Print the text of SLOT at one revision, whole.")
@for_listing
def slots(call: Call, slot: str | None, closed: bool, limit: int, revision: int | None) -> int | None:
    """The open slots; with SLOT (its id or the beginning of it) its text, revisions and timeline."""
    if slot is None and revision is not None:
        raise click.UsageError("--revision takes the SLOT whose text is meant.")
    if slot is not None and closed:
        raise click.UsageError("--closed lists slots: leave SLOT out.")
    if slot is not None:
        show_one(call, find(call, slot), revision)
        return None
    from core.views.sessions import Look, open_sessions
    from core.views.slots import closed_slots, open_slots

    key = call.given_key
    with call.look() as looker, looker.snapshot() as (view, witness):
        now = witness.clock.now()
        if closed:
            found = closed_slots(view, now, project_key=key, limit=limit)
        else:
            found = open_slots(view, open_sessions(view, Look.of(witness), project_key=key), now, project_key=key)
    data = {"slots": found, "state": "closed" if closed else "open"}
    call.answer(data, lambda: list_lines(found) if found else [f"No slot is {'closed' if closed else 'open'}."])
    return None


@click.command("open-slot", cls=Command)
@click.option("--title", required=True, metavar="TEXT", help="What it is about; unique among the project's open slots.")
@click.option("--anchor", "anchors", multiple=True, required=True, metavar="ANCHOR", help="May be repeated; see below.")
@click.option(
    "--text",
    "source",
    type=click.Path(allow_dash=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The text to begin with, `-` for stdin. Left out on a terminal, your editor opens.",
)
@for_one_project
def open_slot(call: Call, title: str, anchors: tuple[str, ...], source: Path | None) -> int | None:
    """Open a slot in the project.

    An ANCHOR is topic:TEXT, ticket:UUID, lot:1.2.3 (a release that has tickets) or pr:REPOSITORY#NUMBER.
    """
    from core.sessions.slot_anchors import checked, from_line

    if source is None and not on_terminal():
        raise click.UsageError("Missing option '--text': name a file, or - for stdin.")
    wanted = checked([one for anchor in anchors for one in from_line(anchor)])
    body = read(source) if source is not None else edited("")
    with call.room() as room:
        receipt: SlotOpened = room.do("brain_slot_open", project_key=call.project, title=title, body=body, anchors=wanted)
    already = " already" if receipt.replayed else ""
    call.answer(receipt, lambda: [cell(f"Slot {receipt.slot.id} ({receipt.slot.title}) is open{already}.")])
    return None


@click.command("close-slot", cls=Command)
@click.argument("slot")
@click.option("--note", metavar="TEXT", help="Why it is closed, and where the work stands. On a terminal you are asked for it.")
@click.option(
    "--yes", is_flag=True, help="SLOT is only the beginning of an id: do not ask whether the slot found is the one meant."
)
@for_listing
def close_slot(call: Call, slot: str, note: str | None, yes: bool) -> int | None:
    """Close SLOT for good. A slot that a session holds is not closed: end, relay or abandon the session first."""
    if note is None and not on_terminal():
        raise click.UsageError("Missing option '--note': say why it is closed.")
    row = find(call, slot).row
    click.echo("\n".join(head_lines(row)), err=True)
    if row.slot_id != slot.strip() and not yes:
        if not on_terminal():
            raise click.UsageError(
                f"Name the slot whole, {row.slot_id}, or add --yes: nobody can be asked whether it is the one."
            )
        click.confirm(f"Close slot {cell(row.title)}?", abort=True, err=True)
    if note is None:
        note = str(click.prompt("Note", err=True))
    with call.room() as room:
        receipt: SlotClosed = room.do("brain_slot_close", slot_id=row.slot_id, expected_revision=row.revision, note=note)
    call.answer(receipt, lambda: [cell(f"Slot {receipt.slot.title} is closed, at revision {receipt.slot.revision}.")])
    return None


def find(call: Call, name: str) -> SlotDetail:
    """The one slot that a person names, whole. Raises CommandRefusal for none or several."""
    from core.views.sessions import Look, open_sessions
    from core.views.slots import slot_detail, slots_named

    key = call.given_key
    with call.look() as looker, looker.snapshot() as (view, witness):
        now, holders = witness.clock.now(), open_sessions(view, Look.of(witness))
        found = [row for row in slots_named(view, name.strip(), holders, now) if key is None or row.project_key == key]
        found = [row for row in found if row.slot_id == name.strip()] or found
        detail = slot_detail(view, found[0].slot_id, holders, now) if len(found) == 1 else None
    if detail is not None:
        return detail
    ids = [row.slot_id for row in found]
    if ids:
        raise CommandRefusal("slot_ambiguous", f"{name} begins several slots: {', '.join(ids)}.", {"slot_ids": ids})
    where = f"project {call.given_project} of this store" if call.given_project else "this store"
    raise CommandRefusal("slot_not_found", f"There is no slot {name} in {where}.", {"slot": name})


def show_one(call: Call, detail: SlotDetail, revision: int | None) -> None:
    """Print everything about one slot, or its text at one revision."""
    from console.text import copyable

    if revision is None:
        data: dict[str, Any] = plain(detail)
        data["slot"] = data.pop("row")
        call.answer(data, lambda: detail_lines(detail))
        return
    kept = next((one for one in detail.history if one.revision == revision), None)
    if kept is None:
        raise CommandRefusal("no_revision", f"Slot {detail.row.slot_id} has no revision {revision}.", {"revision": revision})
    call.answer({"revision": kept}, lambda: [copyable(kept.body)])


def state_words(row: SlotRow) -> str:
    """What is to be known of a slot's state."""
    if not row.is_open:
        return f"closed, {row.close_reason}"
    words = [word for word, so in (("receipt pending", row.receipt_pending), ("stale", row.is_stale)) if so]
    return ", ".join(words) or "open"


def list_lines(found: tuple[SlotRow, ...]) -> list[str]:
    """Slots for people."""
    rows = [
        (
            row.slot_id[:8],
            row.project_key,
            row.title,
            row.revision,
            row.holder_client_key or ("orphan" if row.is_open else None),
            state_words(row),
            age(row.body_age_seconds),
            ", ".join(row.anchors),
        )
        for row in found
    ]
    return table(SLOTS, rows, terminal_width())


def head_lines(row: SlotRow) -> list[str]:
    """What a person has to see of a slot before acting on it."""
    holder = f"session {row.holder_session_id} ({row.holder_client_key})" if row.holder_session_id else "orphan: nobody"
    drawn = [
        cell(f"Slot {row.slot_id} of {row.project_key}: {row.title}"),
        cell(f"  state      {state_words(row)}, revision {row.revision}"),
        cell(f"  holder     {holder if row.is_open else 'closed'}"),
        cell(f"  anchors    {', '.join(row.anchors)}"),
        cell(f"  opened     {row.opened_at}, text of {row.body_updated_at}"),
    ]
    return [*drawn, cell(f"  note       {row.close_note}")] if row.close_note else drawn


def detail_lines(detail: SlotDetail) -> list[str]:
    """Everything about one slot for people."""
    drawn = [*head_lines(detail.row), "", "Text", *wrapped(detail.row.body, 2), "", f"Revisions ({len(detail.history)})"]
    rows = [(one.revision, one.created_at, one.source, one.actor, len(one.body)) for one in detail.history]
    told = [(one.at, one.event, one.outcome, one.who.name, summary(one)) for one in detail.timeline]
    drawn += table(HISTORY, rows, terminal_width())
    return [*drawn, "", "Timeline", *(table(TIMELINE, told, terminal_width()) if told else ["  nothing in the trail"])]
