"""What the dialogs about sessions say: which session, what would follow, what has changed; sentences and lines, no widget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from console.text import one_line
from console.themes import VERDICT_LOOK
from console.widgets.document import Line, Section
from core.ages import words_for_age
from core.life.liveness import allows_plain_cancel
from core.models import Evidence, Judgement, Verdict
from core.sessions.evidence import TYPED_CHARACTERS
from core.sessions.models import SeenEvidence
from core.views.sessions import SessionRow

NAME_LIMIT = 120
UNKNOWN = Judgement("UNKNOWN", (Evidence("no_connection", "nobody is recorded to be at work on it"),))


def name_of(text: str | None, otherwise: str = "unknown") -> str:
    """A foreign name, cut so that it can't push what matters out of the dialog."""
    return one_line(text, NAME_LIMIT) if text else otherwise


def facts(row: SessionRow) -> Section:
    """Exactly which session it is."""
    holder = row.holder
    process = f", pid {holder.pid} on {name_of(holder.host)}" if holder.pid is not None else ""
    who = f"{name_of(holder.client_name, 'unknown client')}{process}" if holder.connection_id else "nobody has named it yet"
    look = VERDICT_LOOK[judgement_of(row).verdict]
    age = words_for_age(row.age_seconds) if row.age_seconds is not None else "an unreadable time"
    return Section(
        "",
        (
            Line(f"{row.session_id[:TYPED_CHARACTERS]}…, key {name_of(row.client_key)}", "strong", label="session"),
            Line(f"slot {name_of(row.slot_title)}" if row.slot_id else "the base focus of its project", label="works on"),
            Line(f"{look.word}, {who}", look.role, look.glyph, label="at work"),
            Line(f"{age}; heartbeat {_age(row.heartbeat_age_seconds)} ago", label="open for"),
        ),
    )


def _age(seconds: float | None) -> str:
    return "an unreadable time" if seconds is None else words_for_age(seconds)


def judgement_of(row: SessionRow) -> Judgement:
    """The verdict on who is at work."""
    return row.judgement or UNKNOWN


def is_plain(row: SessionRow) -> bool:
    """Whether nobody can be at work, so that nothing need be typed."""
    return allows_plain_cancel(judgement_of(row).verdict)


def seen_of(row: SessionRow, typed: str) -> SeenEvidence:
    """What was shown, to be held against what is so in the transaction."""
    return SeenEvidence(judgement_of(row).verdict, row.holder.connection_id, row.last_call_at, typed or None)


def typed_problem(row: SessionRow, typed: str) -> str:
    """What is wrong with the characters typed; "" when nothing is."""
    start = row.session_id[:TYPED_CHARACTERS]
    if is_plain(row) or typed == start:
        return ""
    verdict = judgement_of(row).verdict
    if not typed:
        return f"Somebody may be at work ({verdict}): type the first {TYPED_CHARACTERS} characters of the session, {start}."
    return f"“{one_line(typed, 12)}” is not how the session's id starts: type {start}, as shown."


def changes(was: SessionRow, now: SessionRow) -> str:
    """What of a session's evidence is otherwise now; "" when nothing that matters is."""
    found = []
    before, after = judgement_of(was).verdict, judgement_of(now).verdict
    if before != after:
        found.append(f"was {before}, is {after} now")
    if was.holder.connection_id != now.holder.connection_id:
        found.append("another connection is at work on it")
    elif now.last_call_at is not None and was.last_call_at != now.last_call_at:
        found.append("its agent has called since")
    if was.slot_id != now.slot_id:
        found.append(f"it is bound to the slot {name_of(now.slot_title)} now")
    return "; ".join(found)


def row_from_refusal(row: SessionRow, found: Mapping[str, Any]) -> SessionRow:
    """The row as a refusal's facts say it is now, until the next snapshot tells the rest."""
    verdict = found.get("verdict")
    if verdict not in get_args(Verdict):
        return row
    known = {reason.text: reason for reason in judgement_of(row).evidence}
    texts = found.get("evidence") or ()
    reasons = tuple(known.get(str(text)) or Evidence("last_call", str(text)) for text in texts)
    holder = replace(row.holder, connection_id=found.get("connection_id", row.holder.connection_id))
    return replace(
        row,
        judgement=Judgement(cast(Verdict, verdict), reasons),
        holder=holder,
        last_call_at=found.get("last_call_at", row.last_call_at),
    )
