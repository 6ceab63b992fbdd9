"""`watchroom audit`: read, follow, verify, export and anchor the trail (console.md, screen 5; room.md 5)."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from console.commands.common import (
    DONE,
    REFUSED,
    Call,
    CommandGroup,
    CommandRefusal,
    Duration,
    Moment,
    for_listing,
    for_whole_store,
    patience,
)
from console.commands.output import Column, Progress, as_json, cell, say, spooled, table, tell, terminal_width, wrapped
from console.commands.wraps import summary
from console.text import crop, fit

if TYPE_CHECKING:
    from core.store.database import View
    from core.trail.verify import Verification
    from core.views.trail import TrailFilter, TrailRow

COLUMNS = (
    Column("seq", right=True),
    Column("at"),
    Column("event"),
    Column("outcome"),
    Column("project", flexible=True),
    Column("who"),
    Column("subject", flexible=True),
    Column("what", flexible=True),
)
FOLLOWED = (7, 27, 18, 7, 16, 12, 20)
"""The widths of a followed row's columns but the last: what comes later is not known yet."""
POLL_SECONDS = 0.25
BATCH = 500

anchors_option = click.option(
    "--anchors",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The anchor file. Default: the store's name with `.anchors`.",
)


@click.group(cls=CommandGroup)
def audit() -> None:
    """Read, follow, verify, export and anchor the trail."""


def filters(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the trail's filters."""
    for option in (
        click.option("--until", type=Moment(), help="Up to this time: ISO 8601 (UTC without a zone), or how long ago."),
        click.option("--since", type=Moment(), help="From this time on: 2026-12-01T09:30, or 2h for two hours ago."),
        click.option("--actor", default="", help="Found in the actor: kind, name or via."),
        click.option("--outcome", type=click.Choice(["done", "refused"]), help="Only done, or only refused."),
        click.option("--event", default="", help="Only this event, such as wrap_cancelled."),
        click.option("--text", default="", help="Found in event, subject, project, actor or data."),
    ):
        function = option(function)
    return function


def wanted_by(call: Call, values: dict[str, Any]) -> TrailFilter:
    """The filter that the options make."""
    from core.projects import normal_key
    from core.views.trail import TrailFilter

    project = normal_key(call.given_project) if call.given_project else ""
    return TrailFilter(project_key=project, **{name: value or "" for name, value in values.items()})


@audit.command("list")
@click.option("--limit", type=click.IntRange(1, 100_000), default=100, show_default=True, help="At most so many, the newest.")
@filters
@for_listing
def show(call: Call, limit: int, **values: Any) -> int | None:
    """The newest rows of the trail, the newest last."""
    from core.views import trail

    wanted = wanted_by(call, values)
    with call.look() as looker, looker.snapshot() as (view, _):
        rows = list(trail.matching(view, wanted, limit=limit))
        first, last = trail.bounds(view)
    rows.reverse()
    data = {"rows": rows, "first": first, "last": last}

    def lines() -> list[str]:
        if rows:
            return table(COLUMNS, [columns_of(row) for row in rows], terminal_width())
        return ["No row of the trail is like that." if last else "The trail has no rows."]

    call.answer(data, lines)
    return None


def columns_of(row: TrailRow) -> tuple[object, ...]:
    """A row's columns in a list."""
    return (row.seq, row.at, row.event, row.outcome, row.project_key, row.who.name, row.subject, summary(row))


@audit.command()
@click.option("--for", "seconds", type=Duration(), metavar="TIME", help="Stop after so long. Default: until ctrl-c.")
@click.option("--limit", type=click.IntRange(0, 10_000), default=10, show_default=True, help="So many of the newest rows first.")
@filters
@for_listing
def follow(call: Call, seconds: float | None, limit: int, **values: Any) -> int | None:
    """Print the trail's rows as they come. Ctrl-c ends it with 0."""
    wanted = wanted_by(call, values)
    with contextlib.suppress(KeyboardInterrupt):
        follow_rows(call, wanted, limit, None if seconds is None else time.monotonic() + seconds)
    return DONE


def follow_rows(call: Call, wanted: TrailFilter, limit: int, until: float | None) -> None:
    """Print new rows whenever the store's change counter has moved, and say when the store cannot be read meanwhile."""
    from core.errors import StoreError
    from core.views import trail

    pause = threading.Event()
    with call.look() as looker:
        seen = looker.versions()
        with looker.snapshot() as (view, _):
            rows = list(trail.matching(view, wanted, limit=limit)) if limit else []
            last = trail.bounds(view)[1]
        print_followed(call, rows[::-1])
        lost = False
        while until is None or time.monotonic() < until:
            pause.wait(POLL_SECONDS if until is None else max(0.0, min(POLL_SECONDS, until - time.monotonic())))
            try:
                found = looker.versions()
                if found == seen and not lost:
                    continue
                with looker.snapshot() as (view, _):
                    newest = trail.bounds(view)[1]
                    rows = newer_rows(view, wanted, last)
            except StoreError as error:
                if not lost:
                    tell(f"{error} Still looking.")
                lost = True
                continue
            if lost:
                tell("The store can be read again.")
            if newest < last:
                tell(f"The trail ends at row {newest} now, where it had {last}: another store lies here, or an old copy.")
            seen, last, lost = found, newest, False
            print_followed(call, rows)


def newer_rows(view: View, wanted: TrailFilter, after: int) -> list[TrailRow]:
    """The matches that came after row `after`, oldest first."""
    from core.views import trail

    before: int | None = trail.bounds(view)[1] + 1
    rows: list[TrailRow] = []
    while before is not None and before > after + 1:
        found = trail.filter_chunk(view, wanted, before, limit=BATCH, chunk=min(trail.CHUNK, before - after - 1))
        rows += found.rows
        before = found.next_before
    return rows[::-1]


def print_followed(call: Call, rows: list[TrailRow]) -> None:
    """Print rows that came, if any: with --json one object of the one shape for all of them."""
    if not rows:
        return
    if call.json:
        say(as_json(call.envelope({"rows": rows})))
        return
    width = terminal_width()
    for row in rows:
        *head, what = [cell(value) for value in columns_of(row)]
        line = "  ".join([*(fit(text, size) for text, size in zip(head, FOLLOWED, strict=True)), what])
        say(crop(line, width) if width else line)


@audit.command()
@click.option("--file", "file", metavar="FILE", help="Check an export instead of the store; `-` is stdin.")
@anchors_option
@for_whole_store
def verify(call: Call, file: str | None, anchors: Path | None) -> int | None:
    """Check every row of the trail and every link, against the store and its anchors.

    Exits 1 on any break, with --json too. A trail without rows is "nothing to verify", which is not "OK".
    """
    from core.trail.anchors import anchor_path
    from core.trail.verify import verify as verify_view
    from core.trail.verify import verify_file

    with Progress("verifying") as progress:
        if file is not None:
            with lines_of(file) as lines:
                found = verify_file(lines, progress=progress)
        else:
            with call.look() as looker, looker.snapshot() as (view, _):
                found = verify_view(view, progress=progress, anchors=anchors or anchor_path(call.path))
    data = {
        "state": "broken" if found.broken else "ok" if found.ok else "nothing to verify",
        "words": found.words,
        "file": file,
        "rows": found.rows,
        "first": found.first_seq,
        "last": found.last_seq,
        "last_hash": found.last_hash if found.rows else None,
        "breaks": found.breaks,
        "breaks_more": found.breaks_more,
        "store_mismatches": found.store_mismatches,
        "anchors": found.anchors,
    }
    call.answer(data, lambda: verified_lines(found))
    return REFUSED if found.broken else DONE


def verified_lines(found: Verification) -> list[str]:
    """A verification for people: the outcome, then every break."""
    drawn = wrapped(found.words)
    if not found.broken:
        return drawn
    problems = [one.words for one in found.breaks]
    if found.breaks_more:
        problems.append(f"{found.breaks_more:,} more breaks that are not named")
    problems += found.store_mismatches
    if found.anchors:
        problems += found.anchors.problems
    return [*drawn, *(line for one in problems for line in wrapped(f"✗ {one}", 2))]


@contextlib.contextmanager
def lines_of(file: str) -> Iterator[Iterable[str]]:
    """The lines of an export; bytes that are no UTF-8 become what no hash fits."""
    if file == "-":
        reconfigure = getattr(sys.stdin, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
        yield sys.stdin
        return
    try:
        stream = Path(file).open(encoding="utf-8", errors="replace", newline="\n")  # noqa: SIM115 - closed below
    except OSError as error:
        raise CommandRefusal("file_unreadable", f"{file} cannot be read: {error.strerror or error}.", {"file": file}) from None
    with stream:
        try:
            yield stream
        except OSError as error:  # a folder opens, but cannot be read
            raise CommandRefusal("file_unreadable", f"{file} cannot be read: {error.strerror or error}.") from None


@audit.command()
@click.option("-o", "--output", metavar="FILE", help="Write a new file, readable by you alone. Default: stdout.")
@for_whole_store
def export(call: Call, output: str | None) -> int | None:
    """Write the whole trail as JSON lines, which `audit verify --file` checks without the store.

    Nothing is ever overwritten. With --json the answer is a receipt, so --output is needed then.
    """
    from core.exchange.new_file import whole_text

    if call.json and output is None:
        raise click.UsageError("--json answers with a receipt, so the rows need a place of their own: add -o FILE.")
    if output is None:
        with spooled() as write:
            export_to(call, write)
        return DONE
    path = Path(output).absolute()
    with whole_text(path, call.path) as file:
        rows = export_to(call, file.write)
    call.answer({"file": str(path), "rows": rows}, lambda: [cell(f"Wrote {rows:,} rows to {path}.")])
    return DONE


def export_to(call: Call, write: Callable[[str], object]) -> int:
    """Write the trail's rows, and give how many. The snapshot is let go of before anything waits for a disk or for a reader."""
    from core.trail.export import export as export_rows

    with call.look() as looker, looker.snapshot() as (view, _), Progress("exporting") as progress:
        return export_rows(view, write, progress=progress)


@audit.command()
@click.option("--accept", "reason", metavar="REASON", help="Let the trail as it is count from here on, after a restore; a deed.")
@anchors_option
@for_whole_store
def anchor(call: Call, reason: str | None, anchors: Path | None) -> int | None:
    """Say what the anchor file, which notes the trail's end outside the store, says of the trail. Exits 1 when it disagrees.

    With --accept the old anchor file is set aside under a new name and a new one is begun.
    """
    from core.trail.anchors import anchor_path, check_anchors
    from core.views.snapshot import take

    path = anchors or anchor_path(call.path)
    if reason is not None:
        return accept(call, reason, path)
    with call.look() as looker, looker.snapshot() as (view, witness):
        found = check_anchors(view, path, take(view, witness).store_id)
    there = os.path.lexists(path)  # unlike Path.exists, it raises for no folder out of reach
    data = {"file": str(path), "exists": there, **{name: getattr(found, name) for name in found.__slots__}}
    words = found.words if there or found.problems else f"{found.words}: there is no file {path}"
    problems = [line for one in found.problems for line in wrapped(f"✗ {one}", 2)]
    foreign = [f"  {found.foreign:,} of its lines are of other stores"] if found.foreign else []
    call.answer(data, lambda: [*wrapped(words[:1].upper() + words[1:]), *foreign, *problems])
    return REFUSED if found.problems else DONE


def accept(call: Call, reason: str, path: Path) -> int | None:
    """Start the anchors again, as a deed of the operator's."""
    from core.room import Place, Room

    call.require_store()
    with Room(Place(call.path, "cli", anchors=path), clock=call.clock, patience=patience()) as room:
        receipt = room.do("accept_anchors", reason=reason)
        aside = room.restart_anchors()
    kept = f" The old anchors are kept in {aside}." if aside else ""
    data = {"seq": receipt.seq, "hash": receipt.hash, "reason": receipt.reason, "set_aside": str(aside) if aside else None}
    call.answer(data, lambda: wrapped(f"Anchors count again from row {receipt.seq} on.{kept}"))
    return DONE
