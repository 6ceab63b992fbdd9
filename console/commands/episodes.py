"""`watchroom episodes`: list, search, read whole, delete (console.md, screen 6; wraps.md a2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from console.commands.common import Call, CommandRefusal, DefaultedGroup, for_listing, on_terminal
from console.commands.output import Column, cell, plain, table, terminal_width
from console.commands.wraps import TIMELINE, summary
from console.text import copyable
from core.memory.episodes import EPISODE_TYPES

if TYPE_CHECKING:
    from core.memory.episodes import Deleted
    from core.views.episodes import EpisodeDetail, EpisodeRow, Neighbour

EPISODES = (
    Column("episode"),
    Column("project", flexible=True),
    Column("at"),
    Column("type"),
    Column("trust"),
    Column("state"),
    Column("content", flexible=True),
)
a_limit = click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most so many.")
of_type = click.option("--type", "episode_type", type=click.Choice(EPISODE_TYPES), help="Only this type.")


@click.group(cls=DefaultedGroup, default="list")
def episodes() -> None:
    """Episodes: what agents recorded. Without a command the newest are listed."""


@episodes.command("list")
@of_type
@click.option("--deleted", is_flag=True, help="Also deleted ones, of which the text is gone.")
@a_limit
@for_listing
def list_episodes(call: Call, episode_type: str | None, deleted: bool, limit: int) -> int | None:
    """The newest episodes, superseded ones too."""
    from core.views.episodes import page

    with call.look() as looker, looker.snapshot() as (view, _):
        found = page(view, call.given_key, episode_type=episode_type, also_deleted=deleted, limit=limit)
    more = found.total - len(found.rows)
    data = {"episodes": [data_of(row) for row in found.rows], "total": found.total, "more": found.next_before is not None}
    told = [f"and {more:,} more: --limit shows them, `watchroom episodes search` finds them"] if more > 0 else []
    call.answer(data, lambda: [*list_lines(found.rows), *told] if found.rows else ["No episode is stored."])
    return None


@episodes.command()
@click.argument("words")
@of_type
@a_limit
@for_listing
def search(call: Call, words: str, episode_type: str | None, limit: int) -> int | None:
    """The episodes that hold WORDS as they stand, the newest first, and behind them the best by single words."""
    from core.texts import not_blank
    from core.views import episodes as views

    wanted = not_blank(words, "WORDS")
    with call.look() as looker, looker.snapshot() as (view, _):
        if call.given_key is None:
            found = views.search_everywhere(view, wanted, episode_type=episode_type, limit=limit)
        else:
            found = views.search(view, call.given_key, wanted, episode_type=episode_type, limit=limit)
    more = max(0, found.exact - sum(not row.words for row in found.rows))
    told = [*([f"and {more:,} more that hold it: --limit shows them"] if more else []), *map(cell, found.notes)]
    data = {
        "episodes": [data_of(row) for row in found.rows],
        "exact": found.exact,
        "more": more > 0,
        "notes": found.notes,
    }
    call.answer(data, lambda: [*list_lines(found.rows), *told] if found.rows else ["No episode holds that."])
    return None


@episodes.command()
@click.argument("episode")
@for_listing
def show(call: Call, episode: str) -> int | None:
    """Print EPISODE whole, every character that would act or hide named, with all that hangs on it."""
    found = find(call, episode)
    data: dict[str, Any] = {**plain(found), "tags": found.tags}
    data["episode"] = {**data_of(found.row), "content": found.content}
    del data["row"], data["content"]
    call.answer(data, lambda: detail_lines(found))
    return None


@episodes.command()
@click.argument("episode")
@click.option("--reason", metavar="TEXT", help="Why; it is in the trail. On a terminal you are asked for it.")
@click.option("--yes", is_flag=True, help="On a terminal: do not ask whether it is the one meant.")
@for_listing
def delete(call: Call, episode: str, reason: str | None, yes: bool) -> int | None:
    """Delete EPISODE for good: nothing restores its text. What hangs on it is shown first (on stderr).

    Its id, type, length and SHA-256 are kept, with who deleted it and why. Patterns that rest on it can fall.
    """
    if reason is None and not on_terminal():
        raise click.UsageError("Missing option '--reason': say why; it is in the trail.")
    found = find(call, episode)
    if found.tombstone is None:
        click.echo("\n".join([*head_lines(found.row), *content_lines(found), *consequence_lines(found)]), err=True)
        if reason is None:
            reason = str(click.prompt("Reason", err=True))
        if on_terminal() and not yes:
            click.confirm(f"Delete episode {cell(found.row.episode_id)}?", abort=True, err=True)
    from core.texts import reason_text

    why = reason_text(reason, required=True)
    with call.room() as room:
        receipt: Deleted = room.do(
            "delete_episode", episode_id=found.row.episode_id, project_key=found.row.project_key, reason=why
        )
    call.answer(receipt, lambda: receipt_lines(receipt))
    return None


def find(call: Call, episode_id: str) -> EpisodeDetail:
    """The episode, or what is left of a deleted one. Raises CommandRefusal when it is not there."""
    from core.views.episodes import episode

    with call.look() as looker, looker.snapshot() as (view, _):
        found = episode(view, episode_id.strip())
    if found is None or call.given_key not in (None, found.row.project_key):
        where = f"project {call.given_project} of this store" if call.given_project else "this store"
        raise CommandRefusal("episode_not_found", f"There is no episode {episode_id} in {where}.", {"episode_id": episode_id})
    return found


def data_of(row: EpisodeRow) -> dict[str, Any]:
    """An episode as JSON data, with its state."""
    return {**plain(row), "state": row.state}


def state_words(row: EpisodeRow) -> str:
    """Where an episode stands on its way into the continuity, and whether a newer one hides it."""
    wrap = row.covered_by or row.frozen_in
    where = row.state if row.state in ("waiting", "deleted") else f"{row.state} by wrap {wrap}"
    return f"{where}, superseded" if row.superseded_by else where


def list_lines(rows: tuple[EpisodeRow, ...]) -> list[str]:
    """Episodes for people."""
    drawn = [
        (
            row.episode_id,
            row.project_key,
            row.created_at,
            row.episode_type,
            row.effective_trust,
            state_words(row),
            row.beginning if row.deleted_at is None else f"({row.characters:,} characters, gone)",
        )
        for row in rows
    ]
    return table(EPISODES, drawn, terminal_width())


# one episode


def head_lines(row: EpisodeRow) -> list[str]:
    """What an episode is."""
    trust = row.trust if row.trust == row.effective_trust else f"{row.effective_trust}, recorded as {row.trust}"
    facts = [
        ("recorded", f"{row.created_at} by {row.source}"),
        ("trust", trust),
        ("state", state_words(row)),
        ("state key", row.state_key),
        ("hidden by", row.superseded_by),
    ]
    head = f"Episode {row.episode_id} of {row.project_key}: {row.episode_type}, {row.characters:,} characters"
    return [cell(head), *(cell(f"  {name:<10} {value}") for name, value in facts if value)]


def content_lines(found: EpisodeDetail) -> list[str]:
    """An episode's text whole, or who deleted it."""
    if found.tombstone is None:
        return ["", copyable(found.content or "")]
    gone = found.tombstone
    return [
        "",
        cell(f"Deleted at {gone.removed_at} by {gone.removed_by.kind} {gone.removed_by.name}; SHA-256 {gone.content_sha256}"),
    ]


def consequence_lines(found: EpisodeDetail) -> list[str]:
    """What deleting an episode can do."""
    lines = [
        f"  ✗ pattern {one.name}, at {one.level}x, rests on it from {one.rung}x: it falls unless another episode carries it"
        for one in found.patterns
    ]
    if found.derived:
        lines.append(f"  ✗ {len(found.derived)} derived from it can lose trust")
    if found.row.frozen_in is not None:
        lines.append(f"  ✗ wrap {found.row.frozen_in}, which froze it, stays open without it")
    if found.supersedes:
        lines.append("  · what it replaced can be seen again")
    return ["", *map(cell, lines)] if lines else []


def detail_lines(found: EpisodeDetail) -> list[str]:
    """Everything about one episode for people."""
    drawn = [*head_lines(found.row), *content_lines(found)]
    if found.metadata is not None:
        drawn += ["", cell(f"Metadata  {json.dumps(found.metadata, ensure_ascii=False)}")]
    for name, neighbours in (
        ("Supersedes", found.supersedes),
        ("Superseded by", found.superseded_by),
        ("Derived from", found.derived_from),
        ("Derived from it", found.derived),
    ):
        if neighbours:
            drawn += ["", name, *(neighbour_line(one) for one in neighbours)]
    if found.wraps:
        drawn += ["", "Frozen in"]
        for wrap in found.wraps:
            covers = ", which covers it" if wrap.covered else ""
            drawn.append(
                cell(f"  wrap {wrap.wrap_id} (generation {wrap.generation}, token {wrap.token_start}…): {wrap.state}{covers}")
            )
    if found.patterns:
        drawn += ["", "Patterns that rest on it"]
        drawn += [cell(f"  {one.name}, at {one.level}x, from {one.rung}x on") for one in found.patterns]
    told = [(one.at, one.event, one.outcome, one.who.name, summary(one)) for one in found.timeline]
    return [*drawn, "", "Timeline", *(table(TIMELINE, told, terminal_width()) if told else ["  nothing in the trail"])]


def neighbour_line(one: Neighbour) -> str:
    """Another episode in one line."""
    return cell(
        f"  {one.episode_id}  {one.created_at}  {one.beginning}" if one.created_at else f"  {one.episode_id}  deleted since"
    )


def receipt_lines(receipt: Deleted) -> list[str]:
    """The deletion's receipt for people."""
    lines = [f"Deleted {receipt.episode_type} {receipt.episode_id} of project {receipt.project_key}."]
    lines += [f"Pattern {one.name} fell from {one.before}x to {one.level}x." for one in receipt.patterns_revoked]
    if receipt.trust_lowered:
        lines.append(f"Trusted less now, for they were derived from it: {', '.join(receipt.trust_lowered)}.")
    if receipt.visible_again:
        lines.append(f"Seen again: {', '.join(receipt.visible_again)}.")
    return [cell(line) for line in lines]
