"""`watchroom schema`: the sections that a project's continuity has (wraps.md a5; issue 4, 1)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.commands.common import Call, CommandRefusal, DefaultedGroup, for_one_project
from console.commands.output import Column, cell, table, terminal_width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from core.memory.continuity import Section
    from core.memory.section_schemas import SchemaReceipt

SECTIONS = (Column("heading", flexible=True), Column("role"), Column("optional"))


@click.group(cls=DefaultedGroup, default="show")
def schema() -> None:
    """The sections of the project's continuity: show them, set them. Without a command they are shown."""


@schema.command()
@for_one_project
def show(call: Call) -> int | None:
    """The sections that the project's next wrap freezes, with the lengths that they allow."""
    from core.projects import normal_key
    from core.views.continuity import standing

    with call.look() as looker, looker.snapshot() as (view, _):
        found = standing(view, normal_key(call.project))
    data = {
        "project_key": found.project_key,
        "name": found.schema_name,
        "sections": found.sections,
        "target_characters": found.target_characters,
        "hard_maximum": found.hard_maximum,
    }
    head = f"Project {cell(found.project_key)}: schema {found.schema_name}"
    call.answer(data, lambda: lines_of(head, found.sections, found.target_characters, found.hard_maximum))
    return None


@schema.command("set")
@click.argument("name", required=False)
@click.option(
    "--sections",
    "source",
    type=click.Path(allow_dash=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help='The project\'s own sections, `-` for stdin: a JSON list of {"heading": TEXT, "role": ROLE, "optional": true}.',
)
@for_one_project
def set_schema(call: Call, name: str | None, source: Path | None) -> int | None:
    """Give the project the schema NAME (default, partnership or project), or sections of its own. Not while a wrap is open.

    A ROLE is live-state, durable, graduating, decisions, narrative, narrative-timeless, derived-state or frozen.
    """
    if (name is None) == (source is None):
        raise click.UsageError("Say either the NAME of a schema, or --sections FILE.")
    wanted = name if source is None else sections_in(source)
    with call.room() as room:
        receipt: SchemaReceipt = room.do("set_section_schema", project_key=call.project, schema=wanted)
    head = f"Project {cell(receipt.project_key)} has schema {receipt.name}{'' if receipt.changed else ' already'}"
    call.answer(receipt, lambda: lines_of(head, receipt.sections, receipt.target_characters, receipt.hard_maximum))
    return None


def sections_in(source: Path) -> list[object]:
    """The list in a file. Raises CommandRefusal for anything else; what is in the list, the verb checks."""
    from console.commands.handover import read

    try:
        found = json.loads(read(source))
    except (ValueError, RecursionError) as error:
        raise CommandRefusal("invalid_input", f"{source} holds no JSON: {error}.") from None
    if not isinstance(found, list):
        raise CommandRefusal("invalid_input", f"{source} holds no JSON list of sections.")
    return found


def lines_of(head: str, sections: Iterable[Section], target: int, hard_maximum: int) -> list[str]:
    """A schema for people."""
    rows = [(one.heading, one.role, one.optional) for one in sections]
    lengths = f"{target:,} characters to aim at, {hard_maximum:,} at most (durable facts not counted)"
    return [head, *table(SECTIONS, rows, terminal_width()), lengths]
