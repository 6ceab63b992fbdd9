"""`watchroom export`: one project as JSON lines, Markdown or a store of its own (console.md, Feel)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from console.commands.common import Call, Command, CommandRefusal, for_one_project
from console.commands.output import Progress, cell, spooled
from console.text import copyable

if TYPE_CHECKING:
    from core.exchange.exporting import Exported


@click.command(cls=Command)
@click.argument("key", metavar="[PROJECT]", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "markdown", "sqlite"]),
    default="jsonl",
    show_default=True,
    help="In what form.",
)
@click.option("-o", "--output", metavar="FILE", help="Write a file, readable by you alone. Default: stdout, which is also `-`.")
@click.option("--force", is_flag=True, help="Replace the file that is there; a file of the store's own never is.")
@for_one_project
def export(call: Call, key: str | None, form: str, output: str | None, force: bool) -> int | None:
    """Write all that belongs to PROJECT, as of one moment. The store is only read: no trail row, and nobody waits.

    The file comes to its name when it is whole; an interrupted export leaves nothing. A wrap's token is cut to its first 8
    characters, a deleted episode is its tombstone. JSON lines end with a row of counts and a SHA-256 over all lines before.
    With --json the answer is a receipt, so -o FILE is needed then; for sqlite, which makes a store that holds only the project, always.
    """
    if key is not None and call.given_project not in (None, key):
        raise click.UsageError(f"Which project: {key} or {call.given_project}? Name it once.")
    project = key or call.project
    if output in (None, "-"):
        if form == "sqlite":
            raise click.UsageError("A store is a file: add -o FILE.")
        if call.json:
            raise click.UsageError("--json answers with a receipt, so the rows need a place of their own: add -o FILE.")
        with spooled() as write:
            written(call, project, form, write)
        return None
    path = Path(str(output)).absolute()
    from core.exchange.new_file import whole_file, whole_text

    if form == "sqlite":
        with whole_file(path, call.path, force=force) as part:
            exported = copied(call, project, part, path)
    else:
        with whole_text(path, call.path, force=force) as file:
            exported = written(call, project, form, file.write)
    answer(call, form, path, exported)
    return None


def written(call: Call, project: str, form: str, write: Callable[[str], object]) -> Exported:
    """Write the project as text. The snapshot is let go of before anything waits for a disk or for a reader."""
    with call.look() as looker, looker.snapshot() as (view, _), Progress("exporting") as progress:
        return writer(form)(view, project, write, now=call.clock.now(), program=program(), progress=progress)


def copied(call: Call, project: str, part: Path, path: Path) -> Exported:
    """Make the store `part`, which is to be `path`, of the project."""
    from core.errors import StoreError
    from core.exchange.exporting import Source
    from core.room import Place, Room

    with call.look() as looker, looker.snapshot() as (view, _), Progress("exporting") as progress:
        source = Source(view, project, call.clock.now())
        try:
            with Room(Place(part, "cli"), clock=call.clock) as room:
                exported: Exported = room.do("copy_project", source=source, progress=progress)
        except StoreError as error:
            sentence = f"{path} could not be written: {str(error).replace(str(part), str(path))}"
            raise CommandRefusal("file_unwritable", sentence, {"file": str(path)}) from None
    return exported


def writer(form: str) -> Callable[..., Exported]:
    """What writes a form of text."""
    if form == "markdown":
        from core.exchange.export_markdown import export_markdown

        return partial(export_markdown, inert=copyable)
    from core.exchange.export_lines import export_lines

    return export_lines


def program() -> str:
    """The name and version of this program."""
    from core.room import program_version

    return f"watchroom {program_version()}"


def answer(call: Call, form: str, path: Path, exported: Exported) -> None:
    """Give the receipt."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    data: dict[str, Any] = {
        "file": str(path),
        "format": form,
        "bytes": path.stat().st_size,
        "sha256": sha256,
        "project": exported.project_key,
        "exported_at": exported.exported_at,
        "rows": exported.rows,
        "counts": exported.counts,
        "trail_head": exported.head,
    }
    what = f"project {exported.project_key}"
    said = what if form == "markdown" else f"{exported.rows:,} rows of {what}"
    call.answer(data, lambda: [cell(f"Wrote {said} to {path}.")])
