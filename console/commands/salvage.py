"""`watchroom salvage`: texts kept of late saves and of killed agents: read, adopt, deal with (room.md 2.8; issue 4, 5)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.commands.common import Call, CommandRefusal, DefaultedGroup, TextType, for_listing, on_terminal
from console.commands.output import Column, cell, table, terminal_width
from console.text import copyable
from core.errors import Refusal, StoreError

if TYPE_CHECKING:
    from typing import Any

    from core.memory.adopt import Adopted
    from core.memory.kept_texts import DealtWith, KeptKind
    from core.views.kept_texts import KeptDetail, KeptRow

KEPT = (
    Column("item"),
    Column("project", flexible=True),
    Column("wrap", right=True),
    Column("kept"),
    Column("because"),
    Column("characters", right=True),
    Column("state"),
    Column("text", flexible=True),
)


@dataclass(frozen=True, slots=True)
class Item:
    """A kept text as it is named."""

    kind: KeptKind
    id: int


class ItemType(TextType):
    """`draft:7` or `salvage:3`."""

    name = "item"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The kind and the number."""
        kind, _, number = str(value).partition(":")
        if kind not in ("salvage", "draft") or not (number.isascii() and number.isdigit() and len(number) < 19):
            self.fail(f"{value!r} names no kept text: write salvage:3 or draft:7, as `watchroom salvage` lists them.", param, ctx)
        return Item("salvage" if kind == "salvage" else "draft", int(number))


@click.group(cls=DefaultedGroup, default="list")
def salvage() -> None:
    """Texts that were kept of late saves and of agents that were stopped. Without a command they are listed."""


@salvage.command("list")
@click.option("--all", "everything", is_flag=True, help="Also what was dealt with, and the drafts of open wraps.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most so many.")
@for_listing
def list_texts(call: Call, everything: bool, limit: int) -> int | None:
    """The salvaged and drafted texts that wait for the operator, newest first."""
    from core.views.kept_texts import kept_texts

    key = call.given_key
    with call.look() as looker, looker.snapshot() as (view, _):
        page = kept_texts(view, project_key=key, waiting_only=not everything, limit=limit)
    more = ["more are kept: --limit shows them"] if page.next_before else []
    data = {"texts": page.rows, "more": page.next_before is not None}
    call.answer(data, lambda: [*list_lines(page.rows), *more] if page.rows else ["No kept text waits."])
    return None


@salvage.command()
@click.argument("item", type=ItemType())
@for_listing
def show(call: Call, item: Item) -> int | None:
    """Print ITEM whole (draft:7, salvage:3), every character that would act or hide named; what it is goes to stderr."""
    found = find(call, item)
    if not call.json:
        click.echo("\n".join(head_lines(found)), err=True)
    call.answer({"text": found}, lambda: [copyable(found.text)])
    return None


@salvage.command()
@click.argument("item", type=ItemType())
@click.option(
    "--text-file",
    "source",
    type=click.Path(allow_dash=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The text to save, `-` for stdin. Left out on a terminal, your editor opens on the kept text.",
)
@click.option("--reason", metavar="TEXT", help="Why it is adopted; it is in the trail. On a terminal you are asked for it.")
@click.option(
    "--expected-revision",
    type=click.IntRange(0),
    metavar="N",
    help="The continuity's revision that your text replaces (`watchroom continuity --history`), 0 when there is none.",
)
@click.option("--allow-shrink", is_flag=True, help="Save it although it is much shorter than what stands.")
@for_listing
def adopt(
    call: Call, item: Item, source: Path | None, reason: str | None, expected_revision: int | None, allow_shrink: bool
) -> int | None:
    """Save ITEM, as you edit it, as the project's continuity: a new wrap over the episodes that its own had frozen.

    Every check of an agent's save is made. It is refused when the continuity, the sections or an episode are no longer those of
    its prepare.
    """
    from console.commands.handover import edited, kept, read
    from console.drafts import Draft
    from core.views.continuity import standing

    if not on_terminal() and (source is None or reason is None):
        raise click.UsageError(f"Missing option '{'--text-file' if source is None else '--reason'}'.")
    if source is not None and expected_revision is None:
        raise click.UsageError("Missing option '--expected-revision': it says which text yours replaces.")
    found = find(call, item)
    with call.look() as looker, looker.snapshot() as (view, _):
        stands = standing(view, found.row.project_key)
    click.echo("\n".join(head_lines(found)), err=True)
    text = read(source) if source is not None else edited(found.text)
    if reason is None:
        reason = str(click.prompt("Reason", err=True))
    revision = stands.revision if expected_revision is None else expected_revision
    try:
        with call.room() as room:
            receipt: Adopted = room.do(
                "adopt_continuity",
                project_key=call.given_project or found.row.project_key,
                kind=item.kind,
                item_id=item.id,
                text=text,
                expected_revision=revision,
                reason=reason,
                allow_shrink=allow_shrink,
            )
    except (Refusal, StoreError):
        if source is None:
            before = stands.version.text if stands.version else ""
            kept(call, Draft("adopt", found.row.key, revision, before, text, reason), "this kept text")
        raise
    call.answer(receipt, lambda: adopted_lines(receipt))
    return None


@salvage.command("deal-with")
@click.argument("item", type=ItemType())
@click.option("--note", metavar="TEXT", help="What became of it; it is in the trail.")
@for_listing
def deal_with(call: Call, item: Item, note: str | None) -> int | None:
    """Mark ITEM as dealt with: it is kept, and waits for nobody. A draft takes the older drafts of its wrap with it."""
    with call.room() as room:
        receipt: DealtWith = room.do("deal_with", kind=item.kind, item_id=item.id, note=note)
    already = "" if receipt.changed else " already, nothing was changed"
    texts = f" ({receipt.texts} texts of wrap {receipt.wrap_id})" if receipt.texts > 1 else ""
    call.answer(receipt, lambda: [f"{item.kind}:{item.id} is dealt with{already}{texts}."])
    return None


def find(call: Call, item: Item) -> KeptDetail:
    """The kept text. Raises CommandRefusal when it is not there."""
    from core.views.kept_texts import kept_text

    with call.look() as looker, looker.snapshot() as (view, _):
        found = kept_text(view, item.kind, item.id)
    if found is None:
        raise CommandRefusal(
            "kept_text_not_found", f"There is no {item.kind} {item.id} in this store.", {"kind": item.kind, "id": item.id}
        )
    return found


def because(row: KeptRow) -> str:
    """Why a text was kept."""
    return f"refused ({row.code})" if row.code else "a draft"


def state(row: KeptRow) -> str:
    """What is to be done about it."""
    if row.dealt_with_at:
        return "dealt with"
    return "its agent's" if row.kind == "draft" and row.wrap_state == "open" else "waits"


def list_lines(rows: tuple[KeptRow, ...]) -> list[str]:
    """Kept texts for people."""
    drawn = [
        (row.key, row.project_key, row.wrap_id, row.created_at, because(row), row.characters, state(row), row.beginning)
        for row in rows
    ]
    return table(KEPT, drawn, terminal_width())


def head_lines(found: KeptDetail) -> list[str]:
    """What a person has to know of a kept text before acting on it."""
    row = found.row
    drawn = [
        cell(f"{row.key} of project {row.project_key}: {because(row)}, {row.characters:,} characters, {state(row)}"),
        cell(f"  written for  wrap {row.wrap_id} (generation {row.generation}), {row.wrap_state}"),
        cell(f"  by           {row.client_name or 'a client without a name'}, kept at {row.created_at}"),
        cell(f"  episodes     {found.episodes} frozen, from revision {found.prepared_revision} of the continuity"),
    ]
    drawn += [cell(f"  ✗ {one.sentence}") for one in found.obstacles]
    return drawn if found.obstacles else [*drawn, "  ✓ it can be adopted"]


def adopted_lines(receipt: Adopted) -> list[str]:
    """The adoption's receipt for people."""
    saved = receipt.saved
    edited = "edited" if receipt.edited else "as it was"
    return [
        cell(
            f"Adopted {receipt.kind}:{receipt.id}, {edited}: continuity revision {saved.continuity_revision} of project "
            f"{saved.project_key}, {saved.characters:,} characters."
        ),
        cell(
            f"Wrap {saved.wrap_id} (generation {saved.generation}) is complete and covers {saved.episodes_compressed} episode(s) "
            f"of wrap {receipt.from_wrap_id}."
        ),
    ]
