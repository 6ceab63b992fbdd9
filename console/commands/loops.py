"""`watchroom loops`: open loops: list, read, plant, touch, change, resolve (wraps.md b, the one-line tools)."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click

from console.commands.common import Call, DefaultedGroup, for_one_project
from console.commands.output import Column, cell, table, terminal_width
from core.memory.loop_rules import AscendKind, DescendKind, Germination, LoopType, Tier

if TYPE_CHECKING:
    from typing import Any

    from core.memory.loops import Loop, LoopChange, Loops

LOOPS = (
    Column("loop"),
    Column("type"),
    Column("tier"),
    Column("state"),
    Column("salience", right=True),
    Column("seen"),
    Column("next"),
    Column("text", flexible=True),
)
TYPES, TIERS, GERMINATIONS = (click.Choice(get_args(one)) for one in (LoopType, Tier, Germination))


@click.group(cls=DefaultedGroup, default="list")
def loops() -> None:
    """Open loops: what is to be done, known or thought through. Without a command they are listed."""


@loops.command("list")
@click.option("--type", "loop_type", type=TYPES, help="Only this type.")
@click.option("--tier", type=TIERS, help="Only this tier.")
@click.option("--germination", type=GERMINATIONS, help="Only those as alive as that today.")
@click.option("--domain", metavar="TEXT", help="Only exactly this domain.")
@for_one_project
def list_loops(call: Call, loop_type: str | None, tier: str | None, germination: str | None, domain: str | None) -> int | None:
    """The open loops by tier, salience and how alive they are."""
    from core.memory.loops import spore_list

    with call.look() as looker, looker.snapshot() as (view, _):
        found = spore_list(
            view,
            project_key=call.project,
            type=loop_type,
            tier=tier,
            germination=germination,
            domain=domain,
            clock=call.clock,
        )
    call.answer(found, lambda: list_lines(found))
    return None


@loops.command()
@click.argument("loop")
@for_one_project
def show(call: Call, loop: str) -> int | None:
    """Print LOOP (spore-007) whole, open or resolved, with its notes."""
    from core.memory.loops import spore_get

    with call.look() as looker, looker.snapshot() as (view, _):
        found = spore_get(view, project_key=call.project, spore_id=loop, clock=call.clock)
    call.answer(found, lambda: loop_lines(found))
    return None


@loops.command()
@click.argument("text")
@click.option("--type", "loop_type", type=TYPES, default="task", show_default=True, help="What is open.")
@click.option("--tier", type=TIERS, default="warm", show_default=True, help="How soon it matters.")
@click.option("--salience", type=click.IntRange(0, 3), default=0, show_default=True, help="Its weight.")
@click.option("--domain", default="", metavar="TEXT", help="What it belongs to.")
@click.option("--next", "next_date", metavar="DAY", help="The day to come back to it, YYYY-MM-DD.")
@click.option("--pointer", metavar="TEXT", help="Where more is to be found.")
@for_one_project
def add(
    call: Call, text: str, loop_type: str, tier: str, salience: int, domain: str, next_date: str | None, pointer: str | None
) -> int | None:
    """Plant a loop of TEXT."""
    given: dict[str, Any] = {"type": loop_type, "text": text, "tier": tier, "salience": salience, "domain": domain}
    with call.room() as room:
        planted: Loop = room.do("spore_add", project_key=call.project, next=next_date, pointer=pointer, **given)
    call.answer(planted, lambda: [f"Planted {planted.spore_id}.", *loop_lines(planted)])
    return None


@loops.command()
@click.argument("loop")
@for_one_project
def touch(call: Call, loop: str) -> int | None:
    """Say that LOOP was looked at today; a next date that has come is cleared."""
    return change(call, "spore_touch", loop)


@loops.command()
@click.argument("loop")
@click.option("--text", metavar="TEXT", help="The loop in other words.")
@click.option("--tier", type=TIERS, help="How soon it matters.")
@click.option("--salience", type=click.IntRange(0, 3), help="Its weight.")
@click.option("--domain", metavar="TEXT", help="What it belongs to; empty clears it.")
@click.option("--next", "next", metavar="DAY", help="The day to come back to it, YYYY-MM-DD; empty clears it.")
@click.option("--pointer", metavar="TEXT", help="Where more is to be found; empty clears it.")
@click.option("--note", "add_note", metavar="TEXT", help="A note to add, dated today.")
@for_one_project
def update(call: Call, loop: str, **given: Any) -> int | None:
    """Change what is given of LOOP. It does not count as looked at."""
    return change(call, "spore_update", loop, **{name: value for name, value in given.items() if value is not None})


@loops.command()
@click.argument("loop")
@click.argument("kind", type=click.Choice(get_args(DescendKind)))
@for_one_project
def descend(call: Call, loop: str, kind: str) -> int | None:
    """Close LOOP, which is done with. KIND: task done or dropped, question answered or mooted, thought explored or dropped; any composted."""
    return change(call, "spore_descend", loop, kind=kind)


@loops.command()
@click.argument("loop")
@click.argument("kind", type=click.Choice(get_args(AscendKind)))
@click.argument("ref")
@for_one_project
def ascend(call: Call, loop: str, kind: str, ref: str) -> int | None:
    """Close LOOP, which became REF. KIND: task project or thread, question episode or pattern, thought essay, pattern or project."""
    return change(call, "spore_ascend", loop, kind=kind, ref=ref)


def change(call: Call, verb: str, loop: str, **arguments: Any) -> int | None:
    """Run a verb that changes a loop, and say what it changed."""
    with call.room() as room:
        done: LoopChange = room.do(verb, project_key=call.project, spore_id=loop, **arguments)
    told = f"Changed {', '.join(done.changed)} of" if done.changed else "Nothing was to be changed of"
    call.answer(done, lambda: [cell(f"{told} {done.loop.spore_id}."), *loop_lines(done.loop)])
    return None


def list_lines(found: Loops) -> list[str]:
    """Open loops for people."""
    if not found.total:
        return [cell(f"No open loop of project {found.project_key} matches.")]
    rows = [
        (one.spore_id, one.type, one.tier, one.germination, one.salience, one.seen, one.next, one.text) for one in found.loops
    ]
    more = found.total - len(found.loops)
    return [*table(LOOPS, rows, terminal_width()), *([f"and {more:,} more: filter them"] if more else [])]


def loop_lines(loop: Loop) -> list[str]:
    """A loop for people."""
    facts = [
        ("type", f"{loop.type}, {loop.tier}, salience {loop.salience}"),
        ("state", loop.germination if loop.status == "open" else "resolved"),
        ("seen", loop.seen),
        ("next", loop.next),
        ("domain", loop.domain or None),
        ("pointer", loop.pointer),
        ("planted", loop.created),
    ]
    if loop.resolution:
        became = f" -> {loop.resolution.ref}" if loop.resolution.ref else ""
        facts.append(("resolved", f"{loop.resolution.on}: {loop.resolution.direction} as {loop.resolution.kind}{became}"))
    lines = [cell(f"{loop.spore_id}: {loop.text}")]
    lines += [cell(f"  {name:<9}{value}") for name, value in facts if value]
    return [*lines, *(cell(f"  note {note.noted_on}: {note.text}") for note in loop.notes)]
