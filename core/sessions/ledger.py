"""The capture ledger: which knowledge belongs to which session, one owner in the whole store (sessions.md a.6, b.6)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.clock import stamp
from core.errors import Refusal
from core.sessions.limits import CAPTURE_LIMIT, unique_id
from core.sessions.models import Session
from core.store.deed import Deed, Reading

Mode = Literal["explicit", "derived_deposit", "derived_connection", "derived_window"]
IDS_NAMED = 20


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns an item of knowledge: the session, and whether it is only a trace that the server keeps."""

    session_id: str
    is_trace: bool


def distinct_ids(knowledge_ids: Sequence[str], *, least: int = 1) -> tuple[str, ...]:
    """Ids of knowledge as they are looked up. Refuses `invalid_input` for none, more than 100, repeated or malformed ones."""
    if len(knowledge_ids) < least:
        raise Refusal("invalid_input", "knowledge_ids is empty: name what is to be captured.")
    if len(knowledge_ids) > CAPTURE_LIMIT:
        raise Refusal("invalid_input", f"knowledge_ids has {len(knowledge_ids)} ids; at most {CAPTURE_LIMIT} are taken.")
    ids = tuple(unique_id(one, "An id in knowledge_ids") for one in knowledge_ids)
    repeated = sorted({one for one in ids if ids.count(one) > 1})
    if repeated:
        raise Refusal("invalid_input", f"invalid ids: {_named(repeated)} stand in knowledge_ids more than once.")
    return ids


def owners(reading: Reading, knowledge_ids: Sequence[str]) -> dict[str, Owner]:
    """Who owns these items; what nobody owns is left out."""
    found = reading.all(
        "select a.knowledge_id, a.session_id, s.nature from json_each(?) wanted"
        " cross join session_artifacts a on a.knowledge_id = wanted.value join sessions s on s.id = a.session_id",
        (json.dumps(list(knowledge_ids)),),
    )
    return {row["knowledge_id"]: Owner(row["session_id"], row["nature"] == "agent") for row in found}


def refuse_invalid(deed: Deed, session: Session, knowledge_ids: Sequence[str]) -> dict[str, str]:
    """Each id's kind of knowledge. Refuses `invalid_input` listing the ids that are unknown, of another project, or older than the session."""
    found = deed.all(
        "select k.id, k.kind, k.project_key, k.created_at from json_each(?) wanted cross join knowledge k on k.id = wanted.value",
        (json.dumps(list(knowledge_ids)),),
    )
    known = {row["id"]: row for row in found}
    reasons: dict[str, str] = {}
    for one in knowledge_ids:
        row = known.get(one)
        if row is None:
            reasons[one] = "is no knowledge of this store"
        elif row["project_key"] != session.project_key:
            reasons[one] = "belongs to another project"
        elif row["created_at"] < session.started_at:
            reasons[one] = "is older than the session"
    if reasons:
        named = "; ".join(f"{one} {why}" for one, why in list(reasons.items())[:IDS_NAMED])
        raise Refusal(
            "invalid_input",
            f"invalid ids: {named}. Nothing was captured.",
            facts={"invalid_ids": reasons, "session_id": session.id},
            project_key=session.project_key,
            subject=session.subject,
        )
    return {one: known[one]["kind"] for one in knowledge_ids}


def refuse_owned(session: Session, owned: dict[str, Owner]) -> None:
    """Refuses `capture_conflict` when another session, not a trace, owns one of the items."""
    others = {one: owner.session_id for one, owner in owned.items() if owner.session_id != session.id and not owner.is_trace}
    if others:
        raise captured_elsewhere(session, others)


def captured_elsewhere(session: Session, others: dict[str, str]) -> Refusal:
    """`capture_conflict`: which items belong to which other sessions."""
    named = "; ".join(f"{one} belongs to session {owner}" for one, owner in list(others.items())[:IDS_NAMED])
    return Refusal(
        "capture_conflict",
        f"{named}. Nothing was captured: leave those out.",
        facts={"owners": others, "session_id": session.id},
        project_key=session.project_key,
        subject=session.subject,
    )


def refuse_full(session: Session, size: int) -> None:
    """Refuses `invalid_input` when the ledger would have more than 100 items."""
    if size > CAPTURE_LIMIT:
        raise Refusal(
            "invalid_input",
            f"The ledger of session {session.id} would have {size} items; at most {CAPTURE_LIMIT} are kept. Nothing was captured.",
            facts={"session_id": session.id, "size": size},
            project_key=session.project_key,
            subject=session.subject,
        )


def attribute(deed: Deed, session_id: str, kinds: dict[str, str], owned: dict[str, Owner], mode: Mode) -> tuple[str, ...]:
    """Write items into a session's ledger: new ones are inserted, a trace's are taken over. Gives the inserted ids."""
    now = stamp(deed.clock.now())
    inserted = []
    for one, kind in kinds.items():
        owner = owned.get(one)
        if owner is None:
            deed.execute(
                "insert into session_artifacts (knowledge_id, session_id, knowledge_type, captured_at, attribution_mode)"
                " values (?, ?, ?, ?, ?)",
                (one, session_id, kind, now, mode),
            )
            inserted.append(one)
        elif owner.session_id != session_id:
            deed.execute(
                "update session_artifacts set session_id = ?, captured_at = ?, attribution_mode = ? where knowledge_id = ?",
                (session_id, now, mode, one),
            )
    return tuple(inserted)


def _named(ids: Sequence[str]) -> str:
    return ", ".join(ids[:IDS_NAMED])
