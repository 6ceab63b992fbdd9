"""How things look in a list: verdicts, holders and times as cells (themes.VERDICT_LOOK has the glyphs)."""

from __future__ import annotations

from datetime import datetime

from console.rows import Cell
from console.themes import VERDICT_LOOK
from core.ages import words_for_age
from core.clock import parse_stamp
from core.models import Verdict
from core.views.holders import Holder


def verdict_cell(verdict: Verdict) -> Cell:
    """A verdict: glyph, word and colour."""
    look = VERDICT_LOOK[verdict]
    return Cell(look.word, look.role, look.glyph)


def age_cell(seconds: float | None) -> Cell:
    """An age in words; what cannot be read is said."""
    return Cell("unreadable", "warning") if seconds is None else Cell(words_for_age(seconds))


def holder_words(holder: Holder) -> str:
    """Whose: client name and process id, or what is known."""
    if holder.pid is None:
        return "unknown"
    name = holder.client_name or (holder.via or "?").split(" ")[0]
    return f"{name} {holder.pid}"


def clock_words(text: str | None, now: datetime | None = None) -> str:
    """A stored time as local clock time, with the date when it is not today's."""
    moment = parse_stamp(text)
    if moment is None:
        return text or "–"
    local = moment.astimezone()
    today = (now or datetime.now().astimezone()).astimezone().date()
    return f"{local:%H:%M:%S}" if local.date() == today else f"{local:%Y-%m-%d %H:%M:%S}"


def clock_short(text: str | None) -> str:
    """A stored time for a list: local clock time, and for another day the day and the minute."""
    moment = parse_stamp(text)
    if moment is None:
        return text or "–"
    local = moment.astimezone()
    return f"{local:%H:%M:%S}" if local.date() == datetime.now().astimezone().date() else f"{local:%m-%d %H:%M}"


def count_cell(count: int, role: str = "warning") -> Cell:
    """A number that matters when it is not 0."""
    return Cell(str(count), role) if count else Cell("·", "muted")
