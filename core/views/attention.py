"""What a person is to look at first: "needs you" (console.md, screen 1; room.md 6). Status, command line and console all show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from core.ages import words_for_age
from core.views.sessions import SessionRow
from core.views.slots import SlotRow
from core.views.wraps import WrapRow

AttentionKind = Literal[
    "dead_wrap",
    "partial_wrap",
    "wedged_wrap",
    "stale_wrap",
    "salvage",
    "broken_trail",
    "dead_session",
    "wedged_session",
    "received_slot",
    "orphan_slot",
]
ORDER: tuple[AttentionKind, ...] = (
    "broken_trail",
    "dead_wrap",
    "partial_wrap",
    "wedged_wrap",
    "salvage",
    "stale_wrap",
    "dead_session",
    "wedged_session",
    "received_slot",
    "orphan_slot",
)


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing that needs a person: what it is, in a sentence, why, and where to go for it (`target` is `kind:id`)."""

    kind: AttentionKind
    project_key: str | None
    what: str
    why: tuple[str, ...]
    target: str
    since_seconds: float | None
    blocks: int


def of_wraps(rows: Iterable[WrapRow]) -> list[Attention]:
    """What needs a person among open wraps: dead and damaged ones, wedged ones, and stale ones that block somebody."""
    found = []
    for row in rows:
        kind = _kind(row)
        if kind is None:
            continue
        blocked = f", blocks {row.blocks} agent{'s' if row.blocks != 1 else ''}" if row.blocks else ""
        since = f" for {words_for_age(row.age_seconds)}" if row.age_seconds is not None else ""
        what = f"wrap {row.wrap_id} of {row.project_key or 'no project'} is {row.judgement.verdict}, open{since}{blocked}"
        why = tuple(reason.text for reason in row.judgement.evidence)
        found.append(Attention(kind, row.project_key, what, why, f"wrap:{row.wrap_id}", row.age_seconds, row.blocks))
    return found


def of_sessions(rows: Iterable[SessionRow]) -> list[Attention]:
    """Open working sessions whose agent is dead or wedged: their slots stay held, their work is handed to nobody."""
    found = []
    for row in rows:
        verdict = row.judgement.verdict if row.judgement else None
        if row.is_trace or verdict not in ("DEAD", "WEDGED"):
            continue
        kind: AttentionKind = "dead_session" if verdict == "DEAD" else "wedged_session"
        held = f", holds the slot {row.slot_title}" if row.slot_title else ""
        since = f" for {words_for_age(row.age_seconds)}" if row.age_seconds is not None else ""
        what = f"session {row.client_key} of {row.project_key} is {verdict}, open{since}{held}"
        why = tuple(reason.text for reason in row.judgement.evidence) if row.judgement else ()
        found.append(Attention(kind, row.project_key, what, why, f"session:{row.session_id}", row.age_seconds, 0))
    return found


def of_slots(rows: Iterable[SlotRow]) -> list[Attention]:
    """Open slots that wait for a person: received ones, and orphans that somebody once worked on or nobody has touched for days."""
    found = []
    for row in rows:
        if row.receipt_pending:
            what = f"slot {row.title} of {row.project_key} is received and still open"
            found.append(
                Attention("received_slot", row.project_key, what, row.anchors, f"slot:{row.slot_id}", row.body_age_seconds, 0)
            )
        elif row.is_orphan and (row.was_bound or row.is_stale):
            age = f" for {words_for_age(row.body_age_seconds)}" if row.body_age_seconds is not None else ""
            state = "is stale and an orphan" if row.is_stale else "is an orphan"
            what = f"slot {row.title} of {row.project_key} {state}, untouched{age}"
            found.append(
                Attention("orphan_slot", row.project_key, what, row.anchors, f"slot:{row.slot_id}", row.body_age_seconds, 0)
            )
    return found


def of_salvage(project_key: str, wrap_id: int, count: int, code: str | None, drafts: int = 0) -> Attention:
    """Late texts that were refused and kept, and drafts that an ended wrap left behind, which nobody has dealt with."""
    texts = "a late text" if count == 1 else f"{count} late texts"
    left = "a draft" if drafts == 1 else f"{drafts} drafts"
    if not count:
        what = f"{left} of wrap {wrap_id} of {project_key}, which ended without a save, kept"
    else:
        beside = f", and {left} beside" if drafts else ""
        what = f"{texts} for wrap {wrap_id} of {project_key}, refused ({code}), kept as salvage{beside}"
    return Attention("salvage", project_key, what, (), f"wrap:{wrap_id}", None, 0)


def of_trail(words: str) -> Attention:
    """A trail whose verification found a break."""
    return Attention("broken_trail", None, f"the trail is broken: {words}", (), "trail:", None, 0)


def sort(found: list[Attention]) -> tuple[Attention, ...]:
    """The worst first: by kind, then by how many agents wait, then the longest open."""
    return tuple(sorted(found, key=lambda one: (ORDER.index(one.kind), -one.blocks, -(one.since_seconds or 0.0))))


def _kind(row: WrapRow) -> AttentionKind | None:
    match row.judgement.verdict:
        case "DEAD":
            return "dead_wrap"
        case "PARTIAL":
            return "partial_wrap"
        case "WEDGED":
            return "wedged_wrap"
        case "STALE" | "UNKNOWN" if row.blocks:
            return "stale_wrap"
        case _:
            return None
