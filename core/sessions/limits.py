"""The limits of sessions, slots and the base focus, in one place (sessions.md a.10). Characters are Unicode code points."""

from __future__ import annotations

import uuid

from core.errors import Refusal
from core.texts import storable

FOCUS_LIMIT = 10_000
SLOT_BODY_LIMIT = 4_000
SUMMARY_LIMIT = 10_000
CLIENT_KEY_LIMIT = 128
REASON_LIMIT = 2_000
TITLE_LIMIT = 120
CHECKPOINT_LIMIT = 2_000
CHECKPOINTS_A_SESSION = 200
CAPTURE_LIMIT = 100
ANCHOR_LIMIT = 10
TOPIC_LIMIT = 120
LIST_LIMIT = 100
HISTORY_LIMIT = 50
CONNECTION_ID_LIMIT = 64
ACTOR_LIMIT = 64
SESSION_STALE_HOURS = 24
SLOT_STALE_DAYS = 7
INACTIVE_HOURS = 4
ABANDON_DAYS = 7


def bounded(value: str, what: str, most: int, *, least: int = 1) -> str:
    """A trimmed text of `least` to `most` characters, the upper bound on what was sent, as the schema has it.

    Refuses `invalid_input` for one that is too long, blank (when `least` is 1) or cannot be stored.
    """
    storable(value, what)
    if len(value) > most:
        raise Refusal("invalid_input", f"{what} has {len(value):,} characters; at most {most:,} are taken. Nothing was changed.")
    trimmed = value.strip()
    if len(trimmed) < least:
        raise Refusal("invalid_input", f"{what} is blank.")
    return trimmed


def optional(value: str | None, what: str, most: int) -> str | None:
    """A trimmed text, or None when none was given. Refuses `invalid_input` for a given one that is blank or too long."""
    return None if value is None else bounded(value, what, most)


def whole(value: object, what: str, *, least: int = 0) -> int:
    """A whole number of at least `least`. Refuses `invalid_input` for anything else, true and false included."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise Refusal("invalid_input", f"{what} must be a whole number of at least {least}.")
    if value >= 2**63:
        raise Refusal("invalid_input", f"{what} is too large a number.")
    return value


def unique_id(value: str, what: str) -> str:
    """A UUID in its canonical spelling. Refuses `invalid_input` for a text that is none."""
    try:
        return str(uuid.UUID(storable(value, what)))
    except ValueError:
        raise Refusal("invalid_input", f"{what} is not a UUID.") from None


def client_key(value: str, what: str = "expected_client_key") -> str:
    """A trimmed client key of 1 to 128 characters (sessions.md a.5). Refuses `invalid_input`."""
    return bounded(value, what, CLIENT_KEY_LIMIT)


def page(limit: int, offset: int, *, most: int = LIST_LIMIT) -> tuple[int, int]:
    """A page's limit and offset. Refuses `invalid_limit` for a limit outside 1 to `most` or a negative offset."""
    if not 1 <= limit <= most or not 0 <= offset < 2**62:
        raise Refusal("invalid_limit", f"limit is 1 to {most} and offset at least 0; {limit} and {offset} were sent.")
    return limit, offset
