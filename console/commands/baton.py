"""`watchroom baton`: who may consolidate a gated project (room.md 2.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from console.commands.common import Call, CommandGroup, for_listing, for_one_project
from console.commands.output import Column, cell, table, terminal_width

if TYPE_CHECKING:
    from core.memory.baton import BatonReceipt

COLUMNS = (
    Column("project", flexible=True),
    Column("gate"),
    Column("holder", flexible=True),
    Column("live"),
    Column("since"),
    Column("before", flexible=True),
)


@click.group(cls=CommandGroup)
def baton() -> None:
    """Claim, release and see the baton: who may consolidate a gated project."""


@baton.command()
@click.argument("name")
@click.option("--take", is_flag=True, help="Take it from whoever holds it; that session is told.")
@for_one_project
def claim(call: Call, name: str, take: bool) -> int | None:
    """Give the baton to the session NAME: the one whose server runs with --session-id NAME."""
    with call.room() as room:
        receipt = room.do("baton_claim", project_key=call.project, session_id=name, take=take)
    call.answer(receipt, lambda: receipt_lines(receipt))
    return None


@baton.command()
@click.argument("name")
@for_one_project
def release(call: Call, name: str) -> int | None:
    """Release the baton that the session NAME holds."""
    call.require_store()
    with call.room() as room:
        receipt = room.do("baton_release", project_key=call.project, session_id=name)
    call.answer(receipt, lambda: receipt_lines(receipt))
    return None


@baton.command("status")
@for_listing
def show(call: Call) -> int | None:
    """Who holds the baton of each project, and whether that session is live."""
    from core.memory.baton import holder
    from core.projects import normal_key
    from core.views.snapshot import take

    found = []
    with call.look() as looker, looker.snapshot() as (view, witness):
        for project in take(view, witness).projects:
            if call.given_project and project.project_key != normal_key(call.given_project):
                continue
            held = holder(view, project.project_key)
            found.append(
                {
                    "project_key": project.project_key,
                    "gate": project.gate,
                    "session_id": held.session_id if held else None,
                    "live": witness.session_is_live(view, held.session_id) if held else None,
                    "claimed_at": held.claimed_at if held else None,
                    "previous_holder": held.previous_holder if held else None,
                }
            )
    none = f"There is no project {cell(call.given_project)}." if call.given_project else "No project yet."
    call.answer(
        {"batons": found}, lambda: table(COLUMNS, [tuple(one.values()) for one in found], terminal_width()) if found else [none]
    )
    return None


def receipt_lines(receipt: BatonReceipt) -> list[str]:
    """A receipt for people."""
    name, key = receipt.session_id, receipt.project_key
    words = {
        "claimed": f"{name} holds the baton of {key} now.",
        "already_held": f"{name} holds the baton of {key} already; nothing changed.",
        "taken": f"{name} holds the baton of {key} now; {receipt.previous_holder} held it and is told.",
        "released": f"{name} has released the baton of {key}; nobody holds it.",
        "nothing_held": f"Nobody holds the baton of {key}; nothing changed.",
    }
    return [cell(words[receipt.outcome])]
