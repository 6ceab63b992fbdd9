"""`watchroom knowledge`: decisions, learnings, snippets, runbooks and ADRs: list, search, read whole (console.md, screen 6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from console.commands.common import Call, CommandRefusal, DefaultedGroup, for_listing
from console.commands.output import Column, cell, table, terminal_width
from console.text import copyable
from core.knowledge.models import KINDS

if TYPE_CHECKING:
    from core.knowledge.models import EntryLine, Kind
    from core.store.database import View
    from core.views.knowledge import KnowledgeDetail, KnowledgePage

ENTRIES = (
    Column("entry"),
    Column("kind"),
    Column("project", flexible=True),
    Column("status"),
    Column("at"),
    Column("tags", flexible=True),
    Column("title", flexible=True),
)
of_kind = click.option("--kind", type=click.Choice(KINDS), help="Only this kind.")


@click.group(cls=DefaultedGroup, default="list")
def knowledge() -> None:
    """Knowledge: what agents decided, learnt and keep for use. Without a command the newest entries are listed."""


@knowledge.command("list")
@of_kind
@click.option("--archived", is_flag=True, help="Also archived ones.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most so many.")
@for_listing
def list_entries(call: Call, kind: Kind | None, archived: bool, limit: int) -> int | None:
    """The newest entries."""
    with call.look() as looker, looker.snapshot() as (view, _):
        found = entries_of(view, call.given_key, kind, archived, limit)
    more = found.next_before is not None
    data = {"entries": found.rows, "total": found.total, "more": more}
    told = ["more are kept: --limit shows them"] if more else []
    call.answer(data, lambda: [*list_lines(found.rows), *told] if found.rows else ["No entry is kept."])
    return None


@knowledge.command()
@click.argument("words")
@of_kind
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="At most so many.")
@for_listing
def search(call: Call, words: str, kind: Kind | None, limit: int) -> int | None:
    """The entries with WORDS in them, the best first, archived ones too."""
    from core.views import knowledge as views

    with call.look() as looker, looker.snapshot() as (view, _):
        found = views.search(view, call.given_key, words, kind=kind, limit=limit)
    told = ["No entry has these words: found inside of words."] if found.matched_by == "characters" else []
    told += ["there are more: --limit shows them"] if found.more else []
    data = {"entries": found.rows, "more": found.more, "matched_by": found.matched_by}
    call.answer(data, lambda: [*list_lines(found.rows), *told] if found.rows else ["No entry holds that."])
    return None


@knowledge.command()
@click.argument("entry")
@for_listing
def show(call: Call, entry: str) -> int | None:
    """Print ENTRY (its id or the beginning of it) whole, every character that would act or hide named."""
    found = find(call, entry)
    call.answer(found, lambda: detail_lines(found))
    return None


def entries_of(view: View, key: str | None, kind: Kind | None, archived: bool, limit: int) -> KnowledgePage:
    """The newest entries, as many pages of them as `limit` takes."""
    from core.views import knowledge as views

    rows: list[EntryLine] = []
    before: str | None = None
    while True:
        most = min(views.ENTRIES_SHOWN, limit - len(rows))
        found = views.page(view, key, kind=kind, also_archived=archived, before=before, limit=most)
        rows += found.rows
        before = found.next_before
        if before is None or len(rows) == limit:
            return views.KnowledgePage(tuple(rows), found.total, before)


def find(call: Call, name: str) -> KnowledgeDetail:
    """The one entry that a person names, whole. Raises CommandRefusal for none or several."""
    from core.views import knowledge as views

    given = name.strip().lower()
    with call.look() as looker, looker.snapshot() as (view, _):
        ids = views.entries_named(view, given, call.given_key) if given else ()
        detail = views.entry(view, ids[0]) if len(ids) == 1 else None
    if detail is not None:
        return detail
    if ids:
        raise CommandRefusal("knowledge_ambiguous", f"{name} begins several entries: {', '.join(ids)}.", {"ids": ids})
    where = f"project {call.given_project} of this store" if call.given_project else "this store"
    raise CommandRefusal("knowledge_not_found", f"There is no entry {name} in {where}.", {"entry": name})


def title_of(line: EntryLine) -> str:
    """An entry's title, an ADR's with its number."""
    return line.title if line.number is None else f"ADR {line.number}: {line.title}"


def status_of(line: EntryLine) -> str:
    """Where an entry stands."""
    return "archived" if line.archived_at else line.status


def list_lines(rows: tuple[EntryLine, ...]) -> list[str]:
    """Entries for people."""
    drawn = [
        (row.id[:8], row.kind, row.project_key, status_of(row), row.created_at, ", ".join(row.tags), title_of(row))
        for row in rows
    ]
    return table(ENTRIES, drawn, terminal_width())


def detail_lines(found: KnowledgeDetail) -> list[str]:
    """Everything about one entry for people."""
    entry = found.entry
    facts = [
        ("id", entry.id),
        ("status", "archived" if entry.archived_at else entry.status),
        ("tags", ", ".join(entry.tags) or None),
        ("kept", entry.created_at),
        ("changed", entry.updated_at if entry.updated_at != entry.created_at else None),
        ("session", entry.owner_session_id),
    ]
    number = "" if entry.number is None else f" {entry.number}"
    drawn = [cell(f"{entry.kind}{number} of {entry.project_key}: {entry.title}")]
    drawn += [cell(f"  {name:<9} {value}") for name, value in facts if value]
    drawn += ["", copyable(entry.body), "", "Fields"]
    drawn += [
        cell(f"  {name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
        for name, value in entry.details.items()
        if value not in (None, "", [], {})
    ]
    if found.relations:
        drawn += ["", "Related"]
        drawn += [cell(f"  {one.relation}  {one.id}  {one.title or 'no such entry'}") for one in found.relations]
    if len(found.chain) > 1:
        drawn += ["", "Replaced one another, the oldest first"]
        drawn += [cell(f"  {'→' if one.id == entry.id else ' '} {one.id}  {one.title}") for one in found.chain]
    return drawn
