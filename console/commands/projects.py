"""`watchroom projects` and `watchroom focus`: the projects and the base focus that stands in each (sessions.md b.14 to b.17)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.commands.common import Call, Command, CommandRefusal, for_listing, for_one_project
from console.commands.output import Column, cell, plain, table, terminal_width, wrapped

if TYPE_CHECKING:
    from core.sessions.focus import FocusUpdated
    from core.sessions.projects_read import ProjectList
    from core.views.slots import BaseFocus

PROJECTS = (
    Column("project", flexible=True),
    Column("group", flexible=True),
    Column("name", flexible=True),
    Column("revision", right=True),
    Column("characters", right=True),
    Column("focus of"),
    Column("archived"),
)
HISTORY = (
    Column("revision", right=True),
    Column("at"),
    Column("source"),
    Column("by", flexible=True),
    Column("characters", right=True),
)


@click.command(cls=Command)
@click.option("--group", metavar="NAME", help="Only those of this group.")
@click.option("--all", "everything", is_flag=True, help="Every project, not only those changed last.")
@for_listing
def projects(call: Call, group: str | None, everything: bool) -> int | None:
    """The projects with their base focus in figures; --project shows one alone."""
    from core.projects import normal_key
    from core.sessions.projects_read import list_projects

    with call.look() as looker, looker.snapshot() as (view, _):
        found = list_projects(view, project_group=group, full=everything or call.given_project is not None)
    data = plain(found)
    if call.given_project:
        key = normal_key(call.given_project)
        data["projects"] = [one for one in data["projects"] if one["project_key"] == key]
    call.answer(data, lambda: project_lines(found, call.given_project))
    return None


@click.command(cls=Command)
@click.option("--history", is_flag=True, help="Every revision, newest first.")
@click.option("--revision", type=click.IntRange(0), metavar="N", help="Print the text of one revision, whole.")
@click.option(
    "--write",
    "source",
    type=click.Path(allow_dash=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Replace the base focus by this text, `-` for stdin.",
)
@click.option("--expected-revision", type=click.IntRange(0), metavar="N", help="With --write: the revision your text replaces.")
@click.option("--allow-focus-shrink", is_flag=True, help="Let the base focus fall under 70 % of its length.")
@click.option("--shrink-reason", metavar="TEXT", help="Why it is to shrink; it is in the trail.")
@for_one_project
def focus(
    call: Call,
    history: bool,
    revision: int | None,
    source: Path | None,
    expected_revision: int | None,
    allow_focus_shrink: bool,
    shrink_reason: str | None,
) -> int | None:
    """The base focus of the project: what stands, its history, or a new text from a known revision."""
    if source is not None:
        if expected_revision is None:
            raise click.UsageError("Missing option '--expected-revision': it says which text yours replaces.")
        if allow_focus_shrink and not shrink_reason:
            raise click.UsageError("--allow-focus-shrink takes a reason of its own: --shrink-reason TEXT.")
        write(call, source, expected_revision, allow_focus_shrink, shrink_reason)
        return None
    found = read_base(call)
    if revision is not None:
        from console.text import copyable

        kept = next((one for one in found.history if one.focus_revision == revision), None)
        if kept is None:
            raise CommandRefusal(
                "no_revision", f"Project {found.project_key} has no revision {revision}.", {"revision": revision}
            )
        call.answer({"revision": kept}, lambda: [copyable(kept.focus or "")])
        return None
    data = plain(found)
    if not history:
        data.pop("history")
    call.answer(data, lambda: history_lines(found) if history else focus_lines(found))
    return None


def read_base(call: Call) -> BaseFocus:
    """The project's base focus. Raises CommandRefusal for a project that is not there."""
    from core.projects import normal_key
    from core.views.slots import base_focus

    key = normal_key(call.project)
    with call.look() as looker, looker.snapshot() as (view, _):
        found = base_focus(view, key)
    if found is None:
        raise CommandRefusal("project_not_found", f"There is no project {key} in this store.", {"project_key": key})
    return found


def write(call: Call, source: Path, expected: int, allow: bool, reason: str | None) -> None:
    """Replace the base focus."""
    from console.commands.handover import read

    text = read(source)
    with call.room() as room:
        receipt: FocusUpdated = room.do(
            "brain_update_project_focus",
            project_key=call.project,
            current_focus=text,
            expected_focus_revision=expected,
            allow_focus_shrink=allow,
            shrink_reason=reason,
        )
    call.answer(
        receipt, lambda: [cell(f"The base focus of project {receipt.project_key} stands at revision {receipt.focus_revision}.")]
    )


def project_lines(found: ProjectList, project: str | None) -> list[str]:
    """Projects for people."""
    from core.projects import normal_key

    wanted = [one for one in found.projects if project is None or one.project_key == normal_key(project)]
    if not wanted:
        return [f"There is no project {cell(project)}." if project else "No project yet."]
    rows = [
        (
            one.project_key,
            one.project_group,
            one.name,
            one.focus_revision,
            one.focus_characters,
            one.focus_updated_at,
            one.archived_at,
        )
        for one in wanted
    ]
    more = [f"and {found.total - len(found.projects)} more: --all shows them"] if found.total > len(found.projects) else []
    return [*table(PROJECTS, rows, terminal_width()), *more]


def focus_lines(found: BaseFocus) -> list[str]:
    """What stands, for people."""
    from core.sessions.limits import FOCUS_LIMIT

    used = len(found.current_focus or "")
    head = f"Base focus of {found.project_key}, revision {found.focus_revision}, {used:,} of {FOCUS_LIMIT:,} characters"
    return [cell(head), *wrapped(found.current_focus or "none", 2)]


def history_lines(found: BaseFocus) -> list[str]:
    """Every revision, for people."""
    rows = [(one.focus_revision, one.created_at, one.source, one.actor, len(one.focus or "")) for one in found.history]
    return table(HISTORY, rows, terminal_width()) if rows else ["The base focus has no history."]
