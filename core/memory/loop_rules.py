"""What an open loop may hold: its types, tiers and kinds of resolution, and the checks that every text and value of one meets (wraps.md b)."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Literal, get_args

from core.errors import Refusal
from core.texts import normalized, not_blank, storable

LoopType = Literal["task", "question", "thought"]
Tier = Literal["hot", "warm", "cold", "parked"]
Germination = Literal["growing", "resting", "dormant", "parked"]
DescendKind = Literal["done", "dropped", "composted", "answered", "mooted", "explored"]
AscendKind = Literal["project", "thread", "episode", "pattern", "essay"]
Direction = Literal["descend", "ascend"]

KINDS: dict[Direction, dict[str, tuple[str, ...]]] = {
    "descend": {
        "task": ("done", "dropped", "composted"),
        "question": ("answered", "mooted", "composted"),
        "thought": ("explored", "dropped", "composted"),
    },
    "ascend": {
        "task": ("project", "thread"),
        "question": ("episode", "pattern"),
        "thought": ("essay", "pattern", "project"),
    },
}
"""The kinds of resolution that fit each type."""
SALIENCE_LIMIT = 3
TEXT_LIMIT = 100_000
"""Characters of a loop's text, and of any other text of it."""
DATE_SHAPE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ACTS = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def planted(
    *,
    type: str,
    text: str,
    domain: str = "",
    tier: str = "warm",
    salience: int = 0,
    next: str | None = None,
    pointer: str | None = None,
) -> dict[str, Any]:
    """What a new loop stores of what it is given. Refuses `invalid_input` for what breaks a rule."""
    return {
        "type": one_of(type, "type", LoopType),
        "text": words(text, "text"),
        "domain": tidy(domain, "domain"),
        "tier": one_of(tier, "tier", Tier),
        "salience": whole_salience(salience),
        "next": day(next),
        "pointer": storable(bounded(pointer, "pointer"), "pointer") if pointer else None,
    }


def refuse_unfit(type: str, direction: Direction, kind: str, spore_id: str) -> None:
    """Refuses `invalid_input` for a kind of resolution that does not fit a loop's type."""
    fitting = KINDS[direction][type]
    if kind not in fitting:
        raise Refusal(
            "invalid_input",
            f"A {type} cannot {direction} as {kind[:40]!r}; use {' or '.join(fitting)}.",
            facts={"spore_id": spore_id, "type": type, "kinds": list(fitting)},
        )


# the checks of single values


def one_of(value: str | None, what: str, choices: Any) -> str | None:
    """A value that is one of a Literal's, or None."""
    if value is not None and value not in get_args(choices):
        raise Refusal("invalid_input", f"{what} is one of {', '.join(get_args(choices))}, not {str(value)[:40]!r}.")
    return value


def whole_salience(value: int) -> int:
    """A salience, 0 to 3."""
    if isinstance(value, bool) or not 0 <= value <= SALIENCE_LIMIT:
        raise Refusal("invalid_input", f"salience is a whole number from 0 to {SALIENCE_LIMIT}.")
    return value


def day(value: str | None) -> str | None:
    """The day on which to come back to a loop, YYYY-MM-DD; None for an empty one."""
    if not value:
        return None
    try:
        if not DATE_SHAPE.fullmatch(value):
            raise ValueError
        date.fromisoformat(value)
    except ValueError:
        raise Refusal("invalid_input", f"next is a day written YYYY-MM-DD, not {value[:40]!r}.") from None
    return value


def words(value: str, what: str) -> str:
    """A tidy text that says something."""
    return not_blank(tidy(value, what), what)


def tidy(value: str, what: str) -> str:
    """A text as the peer system stores it: composed, with plain line breaks, and nothing that acts on a terminal or hides."""
    plain = _ACTS.sub("", storable(bounded(value, what), what).replace("\r\n", "\n").replace("\r", "\n"))
    return normalized("\n".join(line.rstrip() for line in plain.split("\n")).rstrip(), "NFC")


def bounded(value: str | None, what: str) -> str:
    """A text of at most 100,000 characters; an empty one for None."""
    text = value or ""
    if len(text) > TEXT_LIMIT:
        raise Refusal("invalid_input", f"{what} has {len(text):,} characters; at most {TEXT_LIMIT:,} are kept.")
    return text
