"""`watchroom doctor`: what is wrong with the store, and what to do (libraries.md E.1). It only looks."""

from __future__ import annotations

from pathlib import Path

import click

from console.commands.audit import anchors_option
from console.commands.common import DONE, REFUSED, Call, Command, for_whole_store
from console.commands.output import Progress, wrapped


@click.command(cls=Command)
@click.option("--thorough", is_flag=True, help="Read every page of the file as well.")
@anchors_option
@for_whole_store
def doctor(call: Call, thorough: bool, anchors: Path | None) -> int | None:
    """Look the store over: file, disk, SQLite, layout, log, clock, connections, trail and anchors.

    Each line is ok, warning or broken, with what to do. Exits 1 when anything is broken. It writes nothing.
    """
    from core.life.processes import SystemProcesses
    from core.upkeep.doctor import Examination, Finding, examine

    with Progress("verifying the trail") as progress:
        found = examine(Examination(call.path, call.clock, SystemProcesses(), anchors, thorough, progress))
    states = [one.state for one in found]
    worst = next((state for state in ("broken", "warning") if state in states), "ok")

    def lines() -> list[str]:
        def drawn(one: Finding) -> list[str]:
            head = f"{one.state:<8} {one.name:<12} "
            text = [line.strip() for line in wrapped(one.words, len(head))]
            return [
                head + text[0],
                *(" " * len(head) + line for line in text[1:]),
                *(wrapped(f"→ {one.advice}", len(head)) if one.advice else []),
            ]

        end = {"ok": "Nothing is wrong.", "warning": "Nothing is broken.", "broken": "Something is broken."}[worst]
        unread = "" if thorough else " The file's pages were not read: --thorough does."
        return [*(line for one in found for line in drawn(one)), "", end + unread]

    call.answer({"state": worst, "thorough": thorough, "findings": found}, lines)
    return REFUSED if worst == "broken" else DONE
