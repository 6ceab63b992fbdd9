"""The attachments of an export: whole, piece by piece, but never with the token of a wrap that is open (room.md 2.6)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from core.store.database import View

PIECE = 768 * 1024
"""Bytes of an attachment that are held at once."""
HELD_BACK = "it names the token of a wrap that is open, so its content stays in the store until that wrap has ended"


def open_tokens(view: View, project_key: str) -> tuple[bytes, ...]:
    """The tokens of the project's wraps that have not ended."""
    rows = view.all("select cast(wrap_token as blob) from wraps where project_key = ? and ended_at is null", (project_key,))
    return tuple(bytes(row[0]) for row in rows if row[0])


def pieces(view: View, attachment_id: int) -> Iterator[bytes]:
    """The content of an attachment, in pieces."""
    size = view.one("select length(content) from attachments where id = ?", (attachment_id,))[0]
    for start in range(1, size + 1, PIECE):
        yield view.one("select substr(content, ?, ?) from attachments where id = ?", (start, PIECE, attachment_id))[0]


def why_held_back(view: View, attachment_id: int, tokens: tuple[bytes, ...]) -> str | None:
    """Why an attachment's content is left out of an export; None when it is not."""
    if not tokens:
        return None
    longest, before = max(map(len, tokens)), b""
    for plain in _unpacked(pieces(view, attachment_id)):
        looked_at = before + plain
        if any(token in looked_at for token in tokens):
            return HELD_BACK
        before = looked_at[-longest:]
    return None


def _unpacked(content: Iterator[bytes]) -> Iterator[bytes]:
    """What the pieces hold: unpacked where they are gzip, as they are where not."""
    unpacker = zlib.decompressobj(wbits=31)
    for number, piece in enumerate(content):
        packed = piece
        if number == 0 and piece[:2] != b"\x1f\x8b":
            yield piece
            yield from content
            return
        try:
            while packed:
                yield unpacker.decompress(packed, PIECE)
                packed = unpacker.unconsumed_tail
        except zlib.error:  # spoilt: what is in it cannot be read out of the export either
            return
