"""Texts that were kept for the operator: salvage of late saves, and drafts that a wrap left behind (room.md 2.8; issue 4, 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from core.clock import stamp
from core.errors import Refusal
from core.store.deed import Deed, Reading
from core.texts import digest, reason_text

KeptKind = Literal["salvage", "draft"]
TABLES: dict[KeptKind, str] = {"salvage": "salvage", "draft": "drafts"}
LEFT_BEHIND = "exists (select 1 from wraps w where w.id = t.wrap_id and w.ended_at is not null)"
"""A draft waits for the operator only when its wrap has ended: until then its agent is at work on it."""


@dataclass(frozen=True, slots=True)
class KeptText:
    """One kept text whole. `code` is the refusal that made it salvage, None for a draft."""

    kind: KeptKind
    id: int
    project_key: str
    wrap_id: int
    text: str
    sha256: str
    code: str | None
    connection_id: str | None
    created_at: str
    dealt_with_at: str | None

    @property
    def subject(self) -> str:
        """How the trail names it: the wrap it was written for."""
        return f"wrap:{self.wrap_id}"


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many kept texts of a project nobody has dealt with."""

    salvage: int
    drafts: int


@dataclass(frozen=True, slots=True)
class DealtWith:
    """What `deal_with` answers. `texts` counts what it marked: a draft takes the older ones of its wrap with it."""

    kind: KeptKind
    id: int
    project_key: str
    wrap_id: int
    dealt_with_at: str
    texts: int
    changed: bool


def waiting(reading: Reading, project_key: str) -> Waiting:
    """How many salvaged texts, and drafts of ended wraps, of a project nobody has dealt with."""
    return Waiting(
        int(reading.one("select count(*) from salvage where project_key = ? and dealt_with_at is null", (project_key,))[0]),
        int(
            reading.one(
                f"select count(*) from drafts t where t.project_key = ? and t.dealt_with_at is null and {LEFT_BEHIND}",
                (project_key,),
            )[0]
        ),
    )


def find(reading: Reading, kind: KeptKind, item_id: int) -> KeptText | None:
    """One kept text, None when there is none with that id."""
    code = "code" if kind == "salvage" else "null"
    row = reading.one(
        f"select id, project_key, wrap_id, text, sha256, {code}, connection_id, created_at, dealt_with_at from {TABLES[kind]} where id = ?",
        (item_id,),
    )
    return KeptText(kind, *tuple(row)) if row else None


def newest_draft(reading: Reading, wrap_id: int) -> KeptText | None:
    """The newest draft of a wrap."""
    row = reading.one("select id from drafts where wrap_id = ? order by id desc limit 1", (wrap_id,))
    return find(reading, "draft", row["id"]) if row else None


def drafts_of_wrap(reading: Reading, wrap_id: int) -> list[KeptText]:
    """The drafts of a wrap, newest first."""
    rows = reading.all("select id from drafts where wrap_id = ? order by id desc", (wrap_id,))
    return [item for row in rows if (item := find(reading, "draft", row["id"]))]


def deal_with(deed: Deed, *, kind: KeptKind, item_id: int, note: str | None = None) -> DealtWith:
    """Mark a kept text as dealt with; it is kept, and waits for nobody. A draft takes the older drafts of its wrap with it.

    Refuses `invalid_input` for an unknown kind or a note over 500 characters, `kept_text_not_found`, and `wrap_in_progress`
    for the draft of a wrap that is open. A second time changes nothing.
    """
    words = reason_text(note, required=False)
    item = required(deed.transaction, kind, item_id)
    if kind == "draft" and deed.one("select 1 from wraps where id = ? and ended_at is null", (item.wrap_id,)):
        raise Refusal(
            "wrap_in_progress",
            f"Wrap {item.wrap_id} is open, so its drafts are still its agent's; they can be dealt with once it has ended.",
            facts={"kind": kind, "id": item_id, "wrap_id": item.wrap_id},
            project_key=item.project_key,
            subject=item.subject,
        )
    if item.dealt_with_at is not None:
        return DealtWith(kind, item_id, item.project_key, item.wrap_id, item.dealt_with_at, 0, False)
    now, texts = mark(deed, item)
    deed.append(
        "kept_text_dealt_with",
        project_key=item.project_key,
        subject=item.subject,
        data={"kind": kind, "id": item_id, "wrap_id": item.wrap_id, "texts": texts, "text": digest(item.text), "note": words},
    )
    return DealtWith(kind, item_id, item.project_key, item.wrap_id, now, texts, True)


def required(reading: Reading, kind: KeptKind, item_id: int) -> KeptText:
    """One kept text. Refuses `invalid_input` for an unknown kind, `kept_text_not_found` for an unknown id."""
    if kind not in get_args(KeptKind):
        raise Refusal("invalid_input", f"{str(kind)[:40]!r} is no kind of kept text: {' or '.join(get_args(KeptKind))}.")
    item = find(reading, kind, item_id)
    if item is None:
        raise Refusal("kept_text_not_found", f"There is no {kind} {item_id} in this store.", facts={"kind": kind, "id": item_id})
    return item


def mark(deed: Deed, item: KeptText) -> tuple[str, int]:
    """Mark it, and with a draft the older ones of its wrap; gives the time and how many that were."""
    now = stamp(deed.clock.now())
    which = "id = ?" if item.kind == "salvage" else "id <= ?"
    marked = deed.execute(
        f"update {TABLES[item.kind]} set dealt_with_at = ? where wrap_id = ? and {which} and dealt_with_at is null",
        (now, item.wrap_id, item.id),
    )
    return now, int(marked.rowcount)
