"""Salvage: the text of a late save is not lost (room.md 2.8)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from core.clock import stamp
from core.memory.continuity import canonical
from core.store.deed import Deed, Reading

SIZE_LIMIT = 1_000_000
"""Bytes that a salvaged text may have."""
KEPT_A_WRAP = 5
"""How many distinct texts are kept for one wrap, the newest ones."""


@dataclass(frozen=True, slots=True)
class SalvageCandidate:
    """A refused save's text and the wrap that it was written for."""

    project_key: str
    wrap_id: int
    text: str


@dataclass(frozen=True, slots=True)
class Salvaged:
    """A kept text, as it is read back."""

    id: int
    project_key: str
    wrap_id: int
    text: str
    code: str
    created_at: str
    dealt_with_at: str | None


def fits(text: str) -> bool:
    """Whether a text can be kept: it says something, and has at most 1 MB."""
    return bool(text.strip()) and len(text.encode("utf-8", "replace")) <= SIZE_LIMIT


def fate_words(text: str) -> str:
    """What becomes of a late text, for its writer, who may hold the only copy."""
    if fits(text):
        return "your text is kept as salvage for the operator"
    return (
        "your text is blank"
        if not text.strip()
        else f"your text is over {SIZE_LIMIT:,} bytes, too long to be kept as salvage: keep it yourself"
    )


def keep(deed: Deed, candidate: SalvageCandidate, code: str) -> int | None:
    """Keep a refused text and give its id, or None when it is kept already, equals a kept version, or is over 1 MB.

    Keeping salvage is no deed: the refusal's row in the trail names it.
    """
    if not fits(candidate.text):
        return None
    encoded = candidate.text.encode("utf-8", "replace")
    digest = hashlib.sha256(encoded).hexdigest()
    saved = hashlib.sha256(canonical(candidate.text).encode("utf-8", "replace")).hexdigest()
    kept_version = "select 1 from continuity where project_key = ? and (sha256 in (?, ?) or submitted_sha256 = ?)"
    if deed.one(kept_version, (candidate.project_key, digest, saved, saved)):
        return None
    if deed.one("select 1 from salvage where wrap_id = ? and sha256 = ?", (candidate.wrap_id, digest)):
        return None
    kept = deed.execute(
        "insert into salvage (project_key, wrap_id, text, sha256, code, connection_id, created_at) values (?, ?, ?, ?, ?, ?, ?)",
        (
            candidate.project_key,
            candidate.wrap_id,
            encoded.decode(),
            digest,
            code,
            deed.identity.connection_id,
            stamp(deed.clock.now()),
        ),
    ).lastrowid
    deed.execute(
        "delete from salvage where wrap_id = ? and id not in (select id from salvage where wrap_id = ? order by id desc limit ?)",
        (candidate.wrap_id, candidate.wrap_id, KEPT_A_WRAP),
    )
    return int(kept)


def of_wrap(reading: Reading, wrap_id: int) -> list[Salvaged]:
    """The salvaged texts of a wrap, newest first."""
    rows = reading.all(
        "select id, project_key, wrap_id, text, code, created_at, dealt_with_at from salvage where wrap_id = ? order by id desc",
        (wrap_id,),
    )
    return [Salvaged(*tuple(row)) for row in rows]
