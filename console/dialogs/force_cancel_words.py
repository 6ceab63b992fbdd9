"""What the force-cancel dialog says about the wraps it is about: sentences and lines, no widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from console.text import one_line
from console.themes import VERDICT_LOOK
from console.widgets.document import Line, Section
from core.ages import words_for_age
from core.life.liveness import allows_plain_cancel
from core.memory.cancel import TYPED_CHARACTERS, Cancelled
from core.memory.kept_texts import KeptText
from core.models import Evidence, Judgement, Verdict
from core.views.wraps import WrapRow


@dataclass(frozen=True, slots=True)
class CancelOutcome:
    """What became of one wrap: the transaction's receipt, or the sentence that refused it."""

    wrap_id: int
    receipt: Cancelled | None
    refusal: str | None


@dataclass(frozen=True, slots=True)
class Target:
    """A wrap as it is shown, and what became of it."""

    row: WrapRow
    ended: bool = False
    outcome: CancelOutcome | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict shown."""
        return self.row.judgement.verdict

    @property
    def plain(self) -> bool:
        """Whether no more than a reason is needed."""
        return allows_plain_cancel(self.verdict)

    @property
    def waits(self) -> bool:
        """Whether it can still be cancelled."""
        return not self.ended and self.outcome is None


NAME_LIMIT = 120
"""Characters that a foreign name may take in a dialog."""

DRAFT_SHOWN = 20_000
"""Characters of a draft that the dialog shows; the rest is read on the Memory screen."""

CONSEQUENCES = Section(
    "If you go on",
    (
        Line("The wrap ends and its token is dead: its holder can't save with it. That can't be undone.", "", "✗"),
        Line("No episode is deleted: they come back to the window, for the next prepare.", "", "✓"),
        Line("A text its holder saves too late is refused, and kept as salvage.", "", "✓"),
    ),
)


def _name(text: str | None, otherwise: str = "unknown") -> str:
    """A foreign name, cut so that it can't push what matters out of the dialog."""
    return one_line(text, NAME_LIMIT) if text else otherwise


def number(count: int, thing: str) -> str:
    """`1 episode`, `2 episodes`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def heading(rows: tuple[WrapRow, ...]) -> str:
    """The dialog's title."""
    if len(rows) == 1:
        return f"Force-cancel wrap {rows[0].wrap_id} of {rows[0].project_key or 'no project'}"
    return f"Force-cancel {len(rows)} marked wraps"


def facts(row: WrapRow) -> Section:
    """Exactly which wrap it is."""
    holder = row.holder
    which = f"{row.wrap_id}, generation {row.generation if row.generation is not None else 'unreadable'}"
    client = _name(holder.client_name, "unknown client")
    process = f"pid {holder.pid} on {_name(holder.host)}" if holder.pid is not None else "process unknown"
    lines = [
        Line(
            _name(row.project_key, "none: the row names no project"), "strong" if row.project_key else "warning", label="project"
        ),
        Line(f"{which}, token {row.token_start}…" if row.token_start else f"{which}, token unreadable", label="wrap"),
        Line(f"{client}, {process}, user {_name(holder.user)}", label="held by"),
        Line(words_for_age(row.age_seconds) if row.age_seconds is not None else "an unreadable time", label="open for"),
        Line("unreadable" if row.episodes is None else f"{number(row.episodes, 'episode')} frozen with it", label="freezes"),
    ]
    if row.blocks or row.refused_prepares:
        blocked = f"{number(row.blocks, 'agent')}, {number(row.refused_prepares, 'prepare')} refused"
        lines.append(Line(blocked, "danger", label="blocks"))
    return Section("", tuple(lines))


def changes(was: WrapRow, now: WrapRow) -> str:
    """What of a wrap's identity or evidence is otherwise now, as "was …, is … now"; "" when nothing that matters is."""
    found = []
    if was.judgement.verdict != now.judgement.verdict:
        found.append(f"was {was.judgement.verdict}, is {now.judgement.verdict} now")
    if was.generation != now.generation:
        found.append(f"was generation {was.generation}, is {now.generation} now")
    if was.token_start != now.token_start:
        found.append("its token is another one now")
    elif was.row_sha256 != now.row_sha256:
        found.append("its row is another one now")
    if now.last_call_at is not None and was.last_call_at != now.last_call_at:
        found.append("its holder has called since")
    return "; ".join(found)


def row_from_refusal(row: WrapRow, found: Mapping[str, Any]) -> WrapRow:
    """The row as a refusal's facts say it is now, until the next snapshot tells the rest."""
    verdict = found.get("verdict")
    judgement = row.judgement
    if verdict in get_args(Verdict):
        known = {reason.text: reason for reason in judgement.evidence}
        texts = found.get("evidence") or ()
        # A refusal carries sentences only; which of them are facts of death the next snapshot says.
        reasons = tuple(known.get(str(text)) or Evidence("last_call", str(text)) for text in texts)
        judgement = Judgement(cast(Verdict, verdict), reasons)
    return replace(
        row,
        judgement=judgement,
        generation=found.get("generation", row.generation),
        last_call_at=found.get("last_call_at", row.last_call_at),
    )


def why_left_out(target: Target) -> str:
    """Why a marked wrap is not among those that are cancelled; "" when it is."""
    if target.ended:
        return "has ended meanwhile"
    if not target.plain:
        return f"left out: {target.verdict}, its holder may be at work; cancel it by itself"
    return ""


def target_line(target: Target) -> Line:
    """One of several marked wraps, with its outcome beside it."""
    row, look = target.row, VERDICT_LOOK[target.verdict]
    name = f"wrap {row.wrap_id} of {_name(row.project_key, 'no project')}"
    if target.outcome is not None:
        receipt = target.outcome.receipt
        if receipt is None:
            return Line(f"{name}: not cancelled. {one_line(target.outcome.refusal or '')}", "warning", "!")
        return Line(f"{name}: {receipt_words(receipt)}", "ok", "✓")
    left_out = why_left_out(target)
    if left_out:
        return Line(f"{name}: {left_out}", "muted", "–")
    age = f", open for {words_for_age(row.age_seconds)}" if row.age_seconds is not None else ""
    blocks = f", blocks {number(row.blocks, 'agent')}" if row.blocks else ""
    token = f", token {row.token_start}…" if row.token_start else ""
    holder = f", {_name(row.holder.client_name, 'unknown client')}"
    holder += f" pid {row.holder.pid} on {_name(row.holder.host)}" if row.holder.pid is not None else ""
    why = next((reason.text for reason in row.judgement.evidence if reason.death), "")
    because = f": {one_line(why, NAME_LIMIT)}" if why else ""
    return Line(f"{name}, generation {row.generation}{token}{holder}{age}{blocks}. {look.word}{because}", look.role, look.glyph)


def receipt_words(receipt: Cancelled) -> str:
    """What a receipt says was done."""
    if receipt.outcome == "nothing_open":
        return "nothing was open"
    what = "cleared, its state was damaged" if receipt.outcome == "partial_cleared" else "cancelled"
    return f"{what}; {number(receipt.episodes, 'episode')} back in the window" if receipt.episodes else what


def what_it_takes(target: Target) -> str:
    """Which characters must be typed, and why; "" when a reason is enough."""
    if target.plain:
        return ""
    return f"Its holder may be at work ({target.verdict}): type the first {TYPED_CHARACTERS} characters of its token, as shown."


def typed_problem(target: Target, typed: str) -> str:
    """What is wrong with the characters typed; "" when nothing is."""
    start = (target.row.token_start or "")[:TYPED_CHARACTERS]
    if target.plain or (start and typed == start):
        return ""
    return what_it_takes(target) if not typed else f"“{typed[:12]}” is not how its token starts: type {start or 'it'}, as shown."


def draft_section(draft: KeptText) -> Section:
    """What the holder had written so far, and that it is not lost."""
    left = len(draft.text) - DRAFT_SHOWN
    more = (Line(f"and {left:,} more characters; all of it is kept", "muted"),) if left > 0 else ()
    return Section(
        f"Its newest draft, {len(draft.text):,} characters, of {draft.created_at[:19].replace('T', ' ')}",
        (
            Line("It is kept when the wrap ends: it can be adopted as the continuity, or read and dealt with.", "", "✓"),
            *(Line(line) for line in draft.text[:DRAFT_SHOWN].splitlines()),
            *more,
        ),
    )
