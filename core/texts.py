"""Checks that every text meets before it enters the store: it must be storable, searchable and not blank (room.md 2.2)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

from core.errors import Refusal

REASON_LIMIT = 500
"""Characters that a reason or a notice may have (room.md 2.13)."""
DEPTH_LIMIT = 100
"""How deep a JSON value may be nested: every reader of a result can follow that far."""
MARKS_TOGETHER = 30
"""Combining marks that are sorted among themselves, as in Unicode's stream-safe form (UAX 15): no script needs as many."""
_NO_LETTERS = re.compile(rf"(?:[^\w\s]|[\uff9e\uff9f]){{{MARKS_TOGETHER + 1},}}")
_MARKS_TO_BE = "\uff9e\uff9f"
TOKEN_SHAPE = re.compile(r"[0-9a-f]{32}")


def storable(value: str, what: str) -> str:
    """The text itself. Refuses `invalid_input` for a NUL or a lone surrogate, which no other tool could read back."""
    position = value.find("\x00")
    if position >= 0:
        raise Refusal("invalid_input", f"{what} holds a NUL character at position {position}; leave it out.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Refusal(
            "invalid_input", f"{what} holds half a character (a lone surrogate) at position {error.start}; send valid Unicode."
        ) from None
    return value


def normalized(text: str, form: Literal["NFC", "NFKC"]) -> str:
    """The text in a Unicode normal form, in time that grows with its length alone.

    `unicodedata` sorts a run of combining marks in the square of its length, so a longer one is normalised piece by piece.
    """
    return text if text.isascii() else "".join(unicodedata.normalize(form, piece) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    last = 0
    for run in _NO_LETTERS.finditer(text):
        marks = 0
        for place in range(run.start(), run.end()):
            marks = marks + 1 if unicodedata.combining(text[place]) or text[place] in _MARKS_TO_BE else 0
            if marks > MARKS_TOGETHER:
                yield text[last:place]
                last, marks = place, 1
    yield text[last:]


def depth(value: object) -> int:
    """How deep a JSON value is nested; a plain value is 0. It stops counting just over the limit."""
    level, layer = 0, [value]
    while layer and level <= DEPTH_LIMIT:
        layer = [
            inner
            for one in layer
            for inner in (one.values() if isinstance(one, dict) else one if isinstance(one, list | tuple) else ())
        ]
        level += 1
    return level - 1 if not layer else level


def not_blank(value: str, what: str) -> str:
    """The storable text. Refuses `invalid_input` when it is empty or only white space."""
    if not value.strip():
        raise Refusal("invalid_input", f"{what} is blank.")
    return storable(value, what)


def reason_text(value: str | None, *, required: bool) -> str | None:
    """A trimmed reason of at most 500 characters, or None. Refuses `invalid_input` when it is too long, or missing though required."""
    trimmed = (value or "").strip()
    if not trimmed:
        if required:
            raise Refusal("invalid_input", "A reason is required: one sentence that says why.")
        return None
    if len(trimmed) > REASON_LIMIT:
        raise Refusal("invalid_input", f"The reason has {len(trimmed)} characters; at most {REASON_LIMIT} are kept.")
    return storable(trimmed, "The reason")


def token_shape(value: str | None) -> str | None:
    """A wrap token, or None when none was given. Refuses `invalid_input` for anything that is not 32 lower-case hex characters."""
    if value is None:
        return None
    if not TOKEN_SHAPE.fullmatch(value):
        raise Refusal(
            "invalid_input", "wrap_token must be 32 lower-case hexadecimal characters; leave it out when you have none."
        )
    return value


def digest(value: str | None) -> dict[str, object] | None:
    """What the trail keeps of a text: its length in characters and its SHA-256, never a copy (room.md 5)."""
    if value is None:
        return None
    return {"characters": len(value), "sha256": hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()}
