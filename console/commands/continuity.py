"""`watchroom continuity`: what stands in a project, its versions, what changed between two, and restoring one (issue 4, 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from console.commands.common import Call, CommandRefusal, DefaultedGroup, for_one_project, on_terminal
from console.commands.output import Column, cell, table, terminal_width
from console.text import copyable

if TYPE_CHECKING:
    from core.memory.continuity import Version
    from core.memory.restore import Restored
    from core.views.continuity import VersionRow

VERSIONS = (
    Column("revision", right=True),
    Column("at"),
    Column("characters", right=True),
    Column("how"),
    Column("from", flexible=True),
)
a_revision = click.IntRange(1, 2**63 - 1)


@click.group(cls=DefaultedGroup, default="show")
def continuity() -> None:
    """The project's continuity: print it, list and compare its versions, restore one. Without a command it is printed."""


@continuity.command()
@click.option("--revision", type=a_revision, metavar="N", help="Print this version. Default: the one that stands.")
@click.option("--history", is_flag=True, help="List the versions, newest first.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most so many versions.")
@for_one_project
def show(call: Call, revision: int | None, history: bool, limit: int) -> int | None:
    """Print the text that stands, or one version, whole, every character that would act or hide named."""
    if history and revision is not None:
        raise click.UsageError("--history lists versions: leave --revision out.")
    if not history:
        found = version_of(call, revision)
        call.answer({"version": found}, lambda: [copyable(found.text)])
        return None
    from core.views import continuity as views

    with call.look() as looker, looker.snapshot() as (view, _):
        rows = views.versions(view, key_of(call), limit=limit)
    call.answer(
        {"versions": rows}, lambda: history_lines(rows) if rows else [f"Project {cell(key_of(call))} has no continuity yet."]
    )
    return None


@continuity.command("diff")
@click.argument("before", type=a_revision)
@click.argument("after", type=a_revision)
@for_one_project
def compare(call: Call, before: int, after: int) -> int | None:
    """What changed from revision BEFORE to revision AFTER: lines added (+), gone (-), and how many stay (…)."""
    from console.diff import compare as compared

    lines = compared(version_of(call, before).text, version_of(call, after).text)
    data = {"before": before, "after": after, "lines": lines}
    call.answer(data, lambda: diff_texts(lines) or ["unchanged"])
    return None


@continuity.command()
@click.argument("revision", type=a_revision)
@click.option("--reason", metavar="TEXT", help="Why; it is in the trail. On a terminal you are asked for it.")
@click.option(
    "--expected-revision", type=click.IntRange(1), metavar="N", help="The revision that is replaced. Default: what stands now."
)
@for_one_project
def restore(call: Call, revision: int, reason: str | None, expected_revision: int | None) -> int | None:
    """Make the text of REVISION the newest version. Every version is kept, so this can be undone in the same way."""
    from console.diff import compare as compared

    if reason is None and not on_terminal():
        raise click.UsageError("Missing option '--reason': say why; it is in the trail.")
    standing, wanted = version_of(call, None), version_of(call, revision)
    if reason is None:
        changed = diff_texts(compared(standing.text, wanted.text)) or ["unchanged"]
        click.echo("\n".join([f"Revision {standing.revision} stands; restoring {revision} would change:", *changed]), err=True)
        reason = str(click.prompt("Reason", err=True))
    with call.room() as room:
        receipt: Restored = room.do(
            "restore_continuity",
            project_key=call.project,
            revision=revision,
            reason=reason,
            expected_revision=expected_revision or standing.revision,
        )
    words = (
        f"Restored: revision {receipt.revision} of project {receipt.project_key} has the text of revision {receipt.restored_from}, "
        f"{receipt.characters:,} characters; it replaced revision {receipt.replaced}, which is kept."
    )
    call.answer(receipt, lambda: [cell(words)])
    return None


def key_of(call: Call) -> str:
    """The project as it is looked up."""
    from core.projects import normal_key

    return normal_key(call.project)


def version_of(call: Call, revision: int | None) -> Version:
    """One version, or the one that stands. Raises CommandRefusal when there is none."""
    from core.views import continuity as views

    key = key_of(call)
    with call.look() as looker, looker.snapshot() as (view, _):
        found = views.version(view, key, revision)
    if found is None:
        what = "no continuity yet" if revision is None else f"no revision {revision} of its continuity"
        raise CommandRefusal("continuity_not_found", f"Project {key} has {what}.", {"project_key": key, "revision": revision})
    return found


def history_lines(rows: tuple[VersionRow, ...]) -> list[str]:
    """Versions for people."""
    drawn = [(one.revision, one.created_at, one.characters, one.origin, origin_words(one)) for one in rows]
    return table(VERSIONS, drawn, terminal_width())


def origin_words(row: VersionRow) -> str:
    """What a version came from: a wrap, a kept text, or the revision whose text it has."""
    if row.restored_from is not None:
        return f"revision {row.restored_from}"
    wrap = f"wrap {row.wrap_id}" if row.wrap_id is not None else "another memory"
    return f"{row.adopted_from}, {wrap}" if row.adopted_from else wrap


def diff_texts(lines: tuple[object, ...]) -> list[str]:
    """A comparison as inert lines, each with its sign."""
    from console.diff import SIGNS, DiffLine

    return [f"{SIGNS[one.kind]} {cell(one.text)}".rstrip() for one in lines if isinstance(one, DiffLine)]
