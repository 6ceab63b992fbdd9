"""`watchroom relay`, `end`, `abandon` and `bind`: the operator's acts on a session (console.md, Acting safely; sessions.md b.7 to b.10)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from console.commands.common import Call, Command, CommandRefusal, for_listing, on_terminal
from console.commands.output import cell, tell
from console.commands.sessions import find, print_row
from core.errors import Refusal, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.drafts import Draft
    from core.sessions.bind import Bound
    from core.sessions.end import Ended
    from core.sessions.lifecycle import Abandoned
    from core.sessions.models import SeenEvidence
    from core.sessions.relay import Relayed
    from core.views.sessions import SessionDetail, SessionRow

typed_option = click.option(
    "--typed", metavar="FIRST6", help="The first six characters of the session's id, when somebody may be at work on it."
)
nothing_option = click.option("--nothing", metavar="TEXT", help="Why there is nothing to capture.")
capture_option = click.option(
    "--capture", "captures", metavar="ID", multiple=True, help="Knowledge for its ledger; may be repeated."
)


def text_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What an end and a relay take: the text that is to stand, from which revision, and whether the base may shrink."""
    for option in (
        click.option("--shrink-reason", metavar="TEXT", help="Why the base is to shrink; it is in the trail."),
        click.option("--allow-focus-shrink", is_flag=True, help="Let the base focus fall under 70 % of its length."),
        click.option(
            "--expected-revision",
            type=click.IntRange(0),
            metavar="N",
            help="The revision your text replaces (`watchroom sessions`).",
        ),
        click.option(
            "--text",
            "source",
            type=click.Path(allow_dash=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="The text that is to stand, `-` for stdin. Left out on a terminal, your editor opens on what stands.",
        ),
        click.option("--summary", metavar="TEXT", help="What the session did. On a terminal you are asked for it."),
    ):
        function = option(function)
    return function


@click.command(cls=Command)
@click.argument("session")
@text_options
@click.option("--new-key", metavar="KEY", help="The successor's client key. Default: the old one, counted on.")
@capture_option
@nothing_option
@typed_option
@for_listing
def relay(call: Call, session: str, new_key: str | None, captures: tuple[str, ...], **given: Any) -> int | None:
    """End SESSION, hand its text over and open its successor, in one step.

    The session is shown with the evidence of who is at work (on stderr). The text replaces its slot's text, or the whole base
    focus of its project. If the evidence or the text under it has changed meanwhile, nothing happens.
    """
    from core.sessions.keys import next_key

    detail = shown(call, session, given)
    row = detail.row
    key = new_key or next_key(row.client_key)
    draft = composed(detail, given, "relay", key)
    revision = {"expected_slot_revision" if row.slot_id else "expected_focus_revision": draft.revision}
    receipt: Relayed = do(
        call,
        draft,
        given,
        "brain_session_relay",
        **pair(row),
        summary=draft.summary,
        handover=draft.text,
        new_client_key=key,
        initiator="operator",
        knowledge_ids=list(captures) or None,
        seen=seen(row, given["typed"]),
        **shrinking(given),
        **revision,
    )
    call.answer(receipt, lambda: relay_lines(receipt))
    return None


@click.command(cls=Command)
@click.argument("session")
@text_options
@nothing_option
@typed_option
@for_listing
def end(call: Call, session: str, **given: Any) -> int | None:
    """End SESSION with a summary and the text that is to stand; if that has moved, the text is kept with the session."""
    detail = shown(call, session, given)
    draft = composed(detail, given, "end", "")
    receipt: Ended = do(
        call,
        draft,
        given,
        "brain_session_end",
        **pair(detail.row),
        summary=draft.summary,
        next_focus=draft.text,
        expected_focus_revision=draft.revision,
        seen=seen(detail.row, given["typed"]),
        **shrinking(given),
    )
    call.answer(receipt, lambda: end_lines(receipt))
    return None


@click.command(cls=Command)
@click.argument("session")
@click.option("--reason", metavar="TEXT", help="Why it is given up. On a terminal you are asked for it.")
@typed_option
@for_listing
def abandon(call: Call, session: str, reason: str | None, typed: str | None) -> int | None:
    """Give SESSION up: no focus is changed, its slot becomes free, its ledger stays its own."""
    if reason is None and not on_terminal():
        raise click.UsageError("Missing option '--reason': say why; the trail has its digest, the session the text.")
    given: dict[str, Any] = {"typed": typed}
    row = shown(call, session, given).row
    if reason is None:
        reason = str(click.prompt("Reason", err=True))
    with call.room() as room:
        receipt: Abandoned = room.do("brain_session_abandon", **pair(row), reason=reason, seen=seen(row, given["typed"]))
    call.answer(receipt, lambda: abandon_lines(receipt))
    return None


@click.command(cls=Command)
@click.argument("session")
@click.argument("slot")
@for_listing
def bind(call: Call, session: str, slot: str) -> int | None:
    """Bind SESSION to SLOT for the rest of its life: its end and relay write the slot from here on."""
    from console.commands.slots import find as find_slot

    row = find(call, session).row
    found = find_slot(call, slot).row
    with call.room() as room:
        receipt: Bound = room.do("brain_session_bind", **pair(row), slot_id=found.slot_id)
    words = f"Session {row.client_key} is bound to slot {found.title}, at revision {receipt.slot_revision}."
    call.answer(receipt, lambda: [cell(words)])
    return None


# what they share


def shown(call: Call, session: str, given: dict[str, Any]) -> SessionDetail:
    """The session, after it has been shown; asks for the characters to type where a person can be asked."""
    from core.life.liveness import allows_plain_cancel
    from core.sessions.evidence import TYPED_CHARACTERS

    require(given)
    detail = find(call, session)
    row = detail.row
    print_row(row)
    verdict = row.judgement.verdict if row.judgement else "UNKNOWN"
    if row.is_open and not allows_plain_cancel(verdict) and given.get("typed") is None and on_terminal():
        question = f"It looks {verdict}. To do it all the same, type the first {TYPED_CHARACTERS} characters of its id"
        given["typed"] = str(click.prompt(question, err=True)).strip()
    return detail


def require(given: dict[str, Any]) -> None:
    """Raises a usage error for what only a person at a terminal can be asked for."""
    if on_terminal():
        return
    if "source" in given and given["source"] is None:
        raise click.UsageError("Missing option '--text': name a file, or - for stdin.")
    if "summary" in given and given["summary"] is None:
        raise click.UsageError("Missing option '--summary': say what the session did.")


def pair(row: SessionRow) -> dict[str, Any]:
    """The session's identity, as its own agent names it."""
    return {"session_id": row.session_id, "expected_client_key": row.client_key}


def seen(row: SessionRow, typed: str | None) -> SeenEvidence:
    """What was shown of who is at work, for the transaction to hold against what is so then (faults.md R9, R10)."""
    from core.sessions.models import SeenEvidence

    return SeenEvidence(row.judgement.verdict if row.judgement else "UNKNOWN", row.holder.connection_id, row.last_call_at, typed)


def shrinking(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the shrink guard and of a ledger that stays empty."""
    if given["allow_focus_shrink"] and not given["shrink_reason"]:
        raise click.UsageError("--allow-focus-shrink takes a reason of its own: --shrink-reason TEXT.")
    return {
        "allow_focus_shrink": given["allow_focus_shrink"],
        "shrink_reason": given["shrink_reason"],
        "nothing_to_capture_reason": given["nothing"],
    }


def composed(detail: SessionDetail, given: dict[str, Any], kind: str, new_key: str) -> Draft:
    """Summary and text as the caller gives them: out of options, a file, stdin, or the person's editor."""
    from console.drafts import Draft

    row, source, revision = detail.row, given["source"], given["expected_revision"]
    if source is not None and revision is None:
        raise click.UsageError(
            "Missing option '--expected-revision': it says which text yours replaces; "
            f"what stands now is revision {detail.standing_revision}."
        )
    summary = given["summary"]
    if summary is None:
        summary = str(click.prompt("Summary", err=True))
    standing = detail.standing_text or ""
    text = read(source) if source is not None else edited(standing)
    draft = Draft(kind, row.session_id, detail.standing_revision, standing, text, summary, new_key, given["nothing"] or "")
    return draft if revision is None else replace(draft, revision=revision)


def read(source: Path) -> str:
    """The text of a file, or of stdin."""
    try:
        with click.open_file(str(source), encoding="utf-8") as file:
            return str(file.read())
    except (OSError, UnicodeDecodeError) as error:
        raise CommandRefusal("file_unreadable", f"{source} cannot be read as UTF-8 text: {error}.") from None


def edited(standing: str) -> str:
    """What the person makes of the text that stands, in $EDITOR."""
    text = click.edit(standing, extension=".md")
    if text is None:
        raise CommandRefusal("not_edited", "The text was not saved in the editor, so nothing was done.")
    return text


def do(call: Call, draft: Draft, given: dict[str, Any], verb: str, **arguments: Any) -> Any:
    """Do the deed; a text that was typed into an editor and then refused is kept as the console's draft."""
    try:
        with call.room() as room:
            return room.do(verb, **arguments)
    except (Refusal, StoreError):
        if given["source"] is None:
            kept(call, draft)
        raise


def kept(call: Call, draft: Draft, of: str = "this session") -> None:
    """Keep what was typed where the console's dialog finds it; `of` is what the dialog is about."""
    from console.drafts import Drafts, drafts_folder
    from core.views.snapshot import take

    with call.look() as looker, looker.snapshot() as (view, witness):
        store_id = take(view, witness).store_id
    Drafts(drafts_folder()).for_store(store_id).keep(draft)
    tell(f"Your text is kept: the console takes it up when you open the dialog of {of}.")


def relay_lines(receipt: Relayed) -> list[str]:
    """The relay's receipt for people."""
    from core.sessions.keys import for_the_agent

    slot = receipt.slot
    where = f"slot {slot.title} at revision {slot.revision}" if slot else f"the base focus at revision {receipt.focus_revision}"
    again = " This very relay was done before; nothing was changed." if receipt.replayed else ""
    return [
        cell(f"Relayed: session {receipt.ended_session_id} has ended, its text is {where}.{again}"),
        cell(f"Its successor is session {receipt.session.id}, key {receipt.session.client_key}. The agent goes on with:"),
        cell(for_the_agent(receipt.session.id, receipt.session.client_key)),
    ]


def end_lines(receipt: Ended) -> list[str]:
    """The end's receipt for people."""
    again = " It had ended with this very text before; nothing was changed." if receipt.replayed else ""
    if receipt.focus_outcome == "conflict":
        return [
            cell(
                f"Session {receipt.session.id} has ended in a CONFLICT: what stands had moved to revision "
                f"{receipt.focus_revision_at_end}, so your text is kept with the session alone.{again}"
            )
        ]
    return [cell(f"Session {receipt.session.id} has ended; its text stands at revision {receipt.focus_revision_at_end}.{again}")]


def abandon_lines(receipt: Abandoned) -> list[str]:
    """The abandonment's receipt for people."""
    already = " already" if receipt.replayed else ""
    return [cell(f"Session {receipt.session.id} is given up{already}; no focus was changed, its slot is free.")]
