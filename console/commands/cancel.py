"""`watchroom cancel` and `watchroom ask-release`: the operator's acts on a wrap that blocks others (console.md, Acting safely)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from console.commands.common import Call, Command, CommandRefusal, for_one_project, on_terminal
from console.commands.output import cell
from console.commands.wraps import print_row

if TYPE_CHECKING:
    from core.memory.cancel import Cancelled, ReleaseAsked
    from core.views.wraps import WrapRow


@click.command(cls=Command)
@click.argument("wrap_id", type=click.IntRange(1, 2**63 - 1), required=False)
@click.option("--reason", metavar="TEXT", help="Why; its holder and the trail get it. On a terminal you are asked for it.")
@click.option(
    "--typed", metavar="FIRST6", help="The first six characters of the wrap's token, for one that is neither DEAD nor PARTIAL."
)
@click.option("--partial", is_flag=True, help="Only if the wrap is PARTIAL, that is damaged.")
@click.option("--yes", is_flag=True, help="Without WRAP_ID: do not ask whether the wrap found is the one meant.")
@for_one_project
def cancel(call: Call, wrap_id: int | None, reason: str | None, typed: str | None, partial: bool, yes: bool) -> int | None:
    """Force-cancel exactly the wrap that is shown: WRAP_ID, or the project's only open one.

    It is shown with its evidence first (on stderr). A DEAD or PARTIAL wrap that you named is cancelled; every other verdict
    asks for the first six characters of its token, by --typed or on a terminal. If its holder has become livelier or has
    called since it was shown, nothing happens. Its episodes go back to those that wait.
    """
    if reason is None and not on_terminal():
        raise click.UsageError("Missing option '--reason': say why, for its holder and the trail.")
    named = wrap_id is not None
    row = find(call, wrap_id)
    if row is not None:
        print_row(row)
    if partial and row is not None and row.judgement.verdict != "PARTIAL" and row.ended_at is None:
        raise CommandRefusal(
            "wrap_not_partial",
            f"Wrap {row.wrap_id} is {row.judgement.verdict}, not damaged, and --partial cancels damaged ones only. "
            "Nothing was cancelled. Leave --partial out if you mean this wrap.",
            {"wrap_id": row.wrap_id, "verdict": row.judgement.verdict},
        )
    if row is not None and row.ended_at is None:
        reason, typed = confirmed(row, reason, typed, named=named, yes=yes)
    elif reason is None:
        raise click.UsageError("Missing option '--reason'.")
    arguments = shown(row, wrap_id)
    with call.room() as room:
        receipt = room.do("force_cancel", **arguments, reason=reason, typed=typed)
    call.answer(receipt, lambda: receipt_lines(receipt))
    return None


@click.command("ask-release", cls=Command)
@click.argument("wrap_id", type=click.IntRange(1, 2**63 - 1))
@click.option("--message", metavar="TEXT", help="Your words to the holder, at most 500 characters.")
@for_one_project
def ask_release(call: Call, wrap_id: int, message: str | None) -> int | None:
    """Leave the holder of WRAP_ID a notice that others wait for it."""
    find(call, wrap_id)  # a store or a project that is not the wrap's is said before anything is begun
    with call.room() as room:
        asked: ReleaseAsked = room.do("ask_release", wrap_id=wrap_id, message=message)
    call.answer(
        asked,
        lambda: [cell(f"Asked {asked.holder} to release wrap {asked.wrap_id} of {asked.project_key}: its next call says so.")],
    )
    return None


def find(call: Call, wrap_id: int | None) -> WrapRow | None:
    """The wrap as it is now: the one named, or the project's only open one. None when none has that id."""
    from core.projects import normal_key
    from core.views import wraps as views

    with call.look() as looker, looker.snapshot() as (view, witness):
        if wrap_id is not None:
            detail = views.wrap_detail(view, witness, wrap_id)
            found = detail.row if detail else None
            if found is not None and call.given_project and found.project_key not in (normal_key(call.given_project), None):
                raise CommandRefusal(
                    "no_wrap",
                    f"Wrap {wrap_id} is of project {found.project_key}, not of {call.given_project}. Nothing was done.",
                    {"wrap_id": wrap_id, "project_key": found.project_key},
                )
            return found
        key = normal_key(call.project)
        opened = views.open_wraps(view, witness, witness.beats.all(), witness.beats.newest())
    mine = [row for row in opened if row.project_key == key]
    if len(mine) == 1:
        return mine[0]
    facts = {"project_key": key, "wrap_ids": [row.wrap_id for row in mine]}
    if mine:
        ids = ", ".join(str(row.wrap_id) for row in mine)
        raise CommandRefusal("wrap_id_required", f"Project {key} has several open wraps: {ids}. Say which one.", facts)
    raise CommandRefusal("no_wrap", f"No wrap is open in project {key}.", facts)


def confirmed(row: WrapRow, reason: str | None, typed: str | None, *, named: bool, yes: bool) -> tuple[str, str | None]:
    """The reason and the characters typed, asked for where a person can be asked.

    A DEAD or PARTIAL wrap that was named on the command line is confirmed by that; one that was found is asked about.
    """
    from core.life.liveness import allows_plain_cancel
    from core.memory.cancel import TYPED_CHARACTERS

    asking = on_terminal()
    plainly = allows_plain_cancel(row.judgement.verdict)
    if reason is None:
        reason = str(click.prompt("Reason", err=True))
    if plainly and not named and not yes:
        if not asking:
            raise click.UsageError(
                f"Name the wrap, {row.wrap_id}, or add --yes: nobody can be asked whether it is the one meant."
            )
        click.confirm(f"Cancel wrap {row.wrap_id}?", abort=True, err=True)
    if not plainly and typed is None and asking:
        question = f"It looks {row.judgement.verdict}. To cancel it all the same, type the first {TYPED_CHARACTERS} characters of its token"
        typed = str(click.prompt(question, err=True)).strip()
    return reason, typed


def shown(row: WrapRow | None, wrap_id: int | None) -> dict[str, Any]:
    """What was shown of the wrap, for the transaction to hold against what is so then (faults.md R9, R10)."""
    if row is None:
        return {"wrap_id": wrap_id, "verdict": "UNKNOWN"}
    return {
        "wrap_id": row.wrap_id,
        "verdict": row.judgement.verdict,
        "generation": row.generation,
        "token_start": row.token_start,
        "last_call_at": row.last_call_at,
        "row_sha256": row.row_sha256,
    }


def receipt_lines(receipt: Cancelled) -> list[str]:
    """The transaction's own receipt for people."""
    what = "Cleared the damaged" if receipt.outcome == "partial_cleared" else "Cancelled"
    episodes = "" if receipt.episodes is None else f" Its {receipt.episodes} episodes wait for the next prepare_wrap."
    return [
        cell(f"{what} wrap {receipt.wrap_id} of {receipt.project_key or 'no project'}, which was {receipt.verdict}.{episodes}")
    ]
