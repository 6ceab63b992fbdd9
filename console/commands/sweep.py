"""`watchroom sweep`: ends sessions that nobody has touched for days; dry unless it is told and allowed to write (sessions.md b.18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from console.commands.common import Call, Command, CommandRefusal, for_whole_store
from console.commands.output import Column, table, terminal_width

if TYPE_CHECKING:
    from core.sessions.sweep import Swept

CANDIDATES = (
    Column("session"),
    Column("project", flexible=True),
    Column("key", flexible=True),
    Column("heartbeat"),
    Column("rule"),
)
ENABLING = "WATCHROOM_SWEEP_ENABLED=true and WATCHROOM_SWEEP_DRY_RUN=false"


@click.command(cls=Command)
@click.option(
    "--days",
    type=click.IntRange(1, 36_500),
    default=7,
    show_default=True,
    help="Without a heartbeat for longer than so many days.",
)
@click.option("--write", "wet", is_flag=True, help=f"End them. The environment has to allow it: {ENABLING}.")
@for_whole_store
def sweep(call: Call, days: int, wet: bool) -> int | None:
    """List the sessions without a heartbeat for days, or with --write end them: abandoned, focus and ledger untouched.

    Traces that the server keeps are closed after four hours where WATCHROOM_INACTIVE_SWEEP_ENABLED is on.
    """
    from core.sessions.sweep import Swept, candidates, is_wet

    if not wet:
        with call.look() as looker, looker.snapshot() as (view, witness):
            found = Swept(True, candidates(view, witness.clock.now(), days=days), 0, 0)
    elif not is_wet():
        raise CommandRefusal("sweep_not_enabled", f"Nothing was swept: the environment allows it only with {ENABLING}.")
    else:
        call.require_store()
        with call.room() as room:
            found = room.do("sweep", days=days, dry=False)
    call.answer(found, lambda: lines(found, days))
    return None


def lines(found: Swept, days: int) -> list[str]:
    """What a sweep found and did, for people."""
    rows = [
        (one.session_id, one.project_key, one.client_key, one.last_heartbeat_at, one.rule.replace("_", " "))
        for one in found.candidates
    ]
    if not rows:
        return [f"No session is without a heartbeat for {days} days."]
    said = (
        f"Dry: nothing was changed; --write would end {len(rows)}."
        if found.dry
        else f"Abandoned {found.abandoned_count}, closed {found.closed_inactive_count} that were inactive."
    )
    return [*table(CANDIDATES, rows, terminal_width()), said]
