"""`watchroom gate`: whether a project's wraps need the baton, and whose wraps peers may end (room.md 2.7 and 2.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from console.commands.common import Call, CommandGroup, for_listing, for_one_project
from console.commands.output import Column, cell, table, terminal_width

if TYPE_CHECKING:
    from core.projects import GateReceipt

COLUMNS = (Column("project", flexible=True), Column("gate"), Column("peer cancel"), Column("baton", flexible=True))


@click.group(cls=CommandGroup)
def gate() -> None:
    """Require the baton for a project's wraps or not, and say whose wraps peers may end."""


@gate.command()
@for_one_project
def require(call: Call) -> int | None:
    """From now on a wrap of the project needs the baton."""
    with call.room() as room:
        receipt = room.do("gate", project_key=call.project, gate="required")
    call.answer(receipt, lambda: receipt_lines(receipt))
    return None


@gate.command("open")
@for_one_project
def open_gate(call: Call) -> int | None:
    """From now on everybody may wrap the project."""
    with call.room() as room:
        receipt = room.do("gate", project_key=call.project, gate="open")
    call.answer(receipt, lambda: receipt_lines(receipt))
    return None


@gate.command("peer-cancel")
@click.argument("whose", type=click.Choice(["dead", "any"]))
@for_one_project
def peer_cancel(call: Call, whose: str) -> int | None:
    """Let a peer's tokenless cancel end only DEAD and damaged wraps, or any."""
    with call.room() as room:
        receipt = room.do("peer_cancel", project_key=call.project, peer_cancel=whose)
    call.answer(receipt, lambda: receipt_lines(receipt))
    return None


@gate.command("status")
@for_listing
def show(call: Call) -> int | None:
    """Each project's gate."""
    from core.projects import normal_key
    from core.views.snapshot import take

    with call.look() as looker, looker.snapshot() as (view, witness):
        projects = take(view, witness).projects
    found = [
        {"project_key": one.project_key, "gate": one.gate, "peer_cancel": one.peer_cancel, "baton_holder": one.baton_holder}
        for one in projects
        if not call.given_project or one.project_key == normal_key(call.given_project)
    ]
    none = f"There is no project {cell(call.given_project)}." if call.given_project else "No project yet."
    call.answer(
        {"gates": found}, lambda: table(COLUMNS, [tuple(one.values()) for one in found], terminal_width()) if found else [none]
    )
    return None


def receipt_lines(receipt: GateReceipt) -> list[str]:
    """A receipt for people."""
    gate = "needs the baton" if receipt.gate == "required" else "is open to everybody"
    peers = "only dead and damaged wraps" if receipt.peer_cancel == "dead" else "any ungated wrap"
    already = "" if receipt.changed else " (nothing changed)"
    return [cell(f"Project {receipt.project_key} {gate}; a peer may end {peers}{already}.")]
