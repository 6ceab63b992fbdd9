"""Values of another system's rows and files, which may be of any type: what of one can be kept here, or None (room.md 2.2)."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from core.clock import parse_stamp, stamp

UNREADABLE = "\ufffd"
"""Stands for what no tool could read back: a NUL, or half a character."""
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")


def text(value: object) -> str | None:
    """A text that can be stored, what is no text in it shown as unreadable; None for any other type."""
    if not isinstance(value, str):
        return None
    if value.isascii() and "\x00" not in value:
        return value
    return _NO_TEXT.sub(UNREADABLE, value)


def words(value: object) -> str | None:
    """A text that is not blank."""
    found = text(value)
    return found if found and found.strip() else None


def shown(value: object) -> str:
    """Any value as a text, for one whose mere presence says something."""
    if value is None:
        return ""
    return _NO_TEXT.sub(UNREADABLE, value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value))


def whole(value: object, least: int, most: int) -> int | None:
    """A whole number within bounds; a true or false is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most else None


def moment(value: object) -> str | None:
    """A time as this store writes it."""
    found = parse_stamp(value)
    if found is None:
        return None
    return value if isinstance(value, str) and _STAMP.fullmatch(value) else stamp(found)


def moment_of_epoch(value: object) -> str | None:
    """A time that is given as seconds since 1970."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return stamp(datetime.fromtimestamp(value, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def day(value: object) -> str | None:
    """The day at a text's beginning, as YYYY-MM-DD."""
    found = parse_stamp(value[:10]) if isinstance(value, str) else None
    return found.date().isoformat() if found else None


def document(value: object) -> Any:
    """What a JSON text holds; None when it cannot be read, is none, or is null."""
    try:
        return json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return None


def texts(value: object) -> list[str] | None:
    """A list of texts; None for anything else."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return None
    return [_NO_TEXT.sub(UNREADABLE, one) for one in value]
