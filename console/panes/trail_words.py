"""The filter of the trail as one types it: words, and fields such as `event:wrap_cancelled outcome:refused since:10:30`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from core.clock import parse_stamp, stamp
from core.views.trail import TrailFilter

FIELDS = {"event": "event", "outcome": "outcome", "project": "project_key", "actor": "actor", "since": "since", "until": "until"}
UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def parse_filter(words: str, now: datetime) -> tuple[TrailFilter, tuple[str, ...]]:
    """The filter that the words ask for, and a sentence for each field that cannot be read.

    A time is `10:30`, `2026-12-01`, a stored time, or an age such as `15m`. Words without a field are looked for as one text.
    """
    wanted, problems, text = TrailFilter(), [], []
    for part in _parts(words):
        name, colon, value = part.partition(":")
        if not colon or name not in FIELDS:
            text.append(part)
            continue
        if not value:
            continue
        if name in ("since", "until"):
            moment = parse_time(value, now, end=name == "until")
            if moment is None:
                problems.append(f"{name}: {value} is no time")
                continue
            value = moment
        if name == "outcome" and value not in ("done", "refused"):
            problems.append("outcome is done or refused")
            continue
        wanted = replace(wanted, **{FIELDS[name]: value})
    return replace(wanted, text=" ".join(text)), tuple(problems)


def parse_time(text: str, now: datetime, *, end: bool = False) -> str | None:
    """A typed time as a stored text; `end` takes a date or minute to its end. None when it cannot be read."""
    if text[-1:] in UNITS and text[:-1].isdigit():
        return stamp(now - timedelta(seconds=int(text[:-1]) * UNITS[text[-1]]))
    local = now.astimezone()
    for form, size in (("%H:%M:%S", 1), ("%H:%M", 60)):
        try:
            clock = datetime.strptime(text, form).time()
        except ValueError:
            continue
        moment = datetime.combine(local.date(), clock, local.tzinfo)
        return stamp(moment + timedelta(seconds=size, microseconds=-1) if end else moment)
    if len(text) == 10 and (day := parse_stamp(text)):
        moment = datetime.combine(day.date(), datetime.min.time(), local.tzinfo)
        return stamp(moment + timedelta(days=1, microseconds=-1) if end else moment)
    found = parse_stamp(text)
    return None if found is None else stamp(found.astimezone(UTC))


def _parts(words: str) -> list[str]:
    try:
        return shlex.split(words, posix=True)
    except ValueError:  # a quotation that is still being typed
        return words.split()
