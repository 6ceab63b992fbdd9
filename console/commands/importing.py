"""`watchroom import anneal`: brings a store of anneal-memory in, after its report (issue 4, import)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.commands.common import Call, CommandGroup, for_one_project, on_terminal
from console.commands.output import Column, Progress, cell, say, table, terminal_width, wrapped

if TYPE_CHECKING:
    from core.exchange.anneal_source import AnnealSource
    from core.exchange.report import ImportReport

TAKEN = (Column("what"), Column("found", right=True), Column("import", right=True))
LEFT = (Column("left out"), Column("count", right=True), Column("why", flexible=True))
FINDINGS_SHOWN = 20


@click.group("import", cls=CommandGroup)
def import_() -> None:
    """Bring the memory of another system into a project."""


@import_.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print the report and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask on a terminal.")
@for_one_project
def anneal(call: Call, path: Path, dry_run: bool, yes: bool) -> int | None:
    """Import the anneal-memory store whose database is PATH (1.0, or of the 0.9 line), which is only read.

    The project has to be new or empty, or to hold an earlier import of the same store: then what is new is added. The
    whole import is one transaction, so an interrupted one leaves nothing.
    """
    from core.exchange.anneal_source import read

    with Progress("reading") as progress:
        source = read(path.absolute(), progress)
    report = examine(call, source)
    if dry_run:
        call.answer(report, lambda: lines(report))
        return None
    if not call.json:
        say(lines(report))
    if on_terminal() and not yes and report.imported_anything:
        click.confirm("Import this?", abort=True, err=True)
    with call.room() as room, Progress("importing") as progress:
        done = room.do("import_anneal", project_key=call.project, source=source, progress=progress)
    call.answer(done, lambda: [outcome(done)])
    return None


def examine(call: Call, source: AnnealSource) -> ImportReport:
    """The report beforehand; a store that is not there yet is as an empty one."""
    from core.errors import StoreMissing
    from core.exchange.importing import examine as report

    try:
        with call.look() as looker, looker.snapshot() as (view, _):
            return report(view, source, call.project)
    except StoreMissing:
        return report(None, source, call.project)


def lines(report: ImportReport) -> list[str]:
    """A report for people. Whatever the foreign store holds is made inert."""
    form = "an unknown format" if report.format_version is None else f"format {report.format_version}"
    said = [cell(f"{report.source}, {form}, into project {report.project_key}"), ""]
    said += table(TAKEN, [(one.what, one.found, one.imported) for one in report.taken], terminal_width())
    if report.left_out:
        said += ["", *table(LEFT, [(one.what, one.count, one.why) for one in report.left_out], terminal_width())]
    said += ["", *wrapped(trail(report))]
    for one in report.trail_findings[:FINDINGS_SHOWN]:
        said += wrapped(f"- {one}", 2)
    for one in report.notes[:FINDINGS_SHOWN]:
        said += wrapped(f"Note: {one}.")
    return said


def trail(report: ImportReport) -> str:
    """What the foreign trail is worth."""
    if not report.trail_entries and not report.trail_findings:
        return "It has no audit trail."
    if not report.trail_findings:
        return f"Its audit trail holds: {report.trail_entries:,} entries, kept as an attachment, the head anchored in this store's trail."
    return (
        f"Its audit trail is BROKEN in {len(report.trail_findings):,} places ({report.trail_entries:,} entries); it is kept as it is, and the "
        "findings go to this store's trail:"
    )


def outcome(done: ImportReport) -> str:
    """What became of it, in a sentence."""
    if done.outcome == "nothing_new":
        return cell(f"Nothing is new since the last import into {done.project_key}; nothing was changed.")
    total = ", ".join(f"{one.imported:,} {one.what}" for one in done.taken if one.imported)
    waited = f" Other writers waited {done.held_seconds:.1f} s." if done.held_seconds is not None else ""
    return cell(f"Imported into {done.project_key}: {total}.{waited}")
