"""brain_session_bind: a session takes one slot of its project, once, for the rest of its life (sessions.md b.7)."""

from __future__ import annotations

from dataclasses import dataclass

from core.clock import stamp
from core.errors import Refusal
from core.sessions import rows, slots
from core.sessions.lifecycle import identity
from core.sessions.limits import unique_id
from core.store.deed import Deed


@dataclass(frozen=True, slots=True)
class Bound:
    """What `brain_session_bind` answers."""

    session_id: str
    slot_id: str
    slot_revision: int
    slot_body: str


def bind(deed: Deed, *, session_id: str, expected_client_key: str, slot_id: str) -> Bound:
    """Bind an open operator session to a slot; binding it again to the same one changes nothing (sessions.md b.7).

    Refuses, in this order, `invalid_input`, `session_not_found`, `client_key_mismatch`, `session_not_open`,
    `session_is_agent_trace`, `session_already_bound`, `slot_not_found`, `slot_closed`, `slot_project_mismatch`, `slot_busy`.
    """
    wanted, own = identity(session_id, expected_client_key)
    wanted_slot = unique_id(slot_id, "slot_id")
    session = rows.identified(deed, wanted, own)
    rows.open_only(deed, session)
    rows.refuse_trace(session)
    if session.slot_id not in (None, wanted_slot):
        raise Refusal(
            "session_already_bound",
            f"Session {session.id} is bound to slot {session.slot_id} for the rest of its life; relay it or start another one.",
            facts={"session_id": session.id, "slot_id": session.slot_id},
            project_key=session.project_key,
            subject=session.subject,
        )
    slot = slots.find(deed.transaction, wanted_slot)
    if slot is None:
        raise slots.not_found(wanted_slot)
    if slot.closed_at is not None:
        raise slots.closed(slot, "No session can be bound to it.")
    if session.slot_id == slot.id:
        if rows.note_connection(deed, session.id):
            deed.append("brain_session_bind", project_key=session.project_key, subject=session.subject, data={"replayed": True})
        return Bound(session.id, slot.id, slot.revision, slot.body)
    if slot.project_key != session.project_key:
        raise Refusal(
            "slot_project_mismatch",
            f"Slot {slot.id} is of another project than session {session.id} ({session.project_key}).",
            facts={"session_id": session.id, "slot_id": slot.id, "project_key": session.project_key},
            project_key=session.project_key,
            subject=session.subject,
        )
    holder = slots.holder_of(deed.transaction, slot.id)
    if holder is not None:
        raise Refusal(
            "slot_busy",
            f"Session {holder} is open on slot {slot.id}: one session at a time. Take another slot, or wait for its end.",
            facts={**slots.facts_about(slot), "bound_session_id": holder},
            project_key=session.project_key,
            subject=session.subject,
        )
    deed.execute("update sessions set slot_id = ?, updated_at = ? where id = ?", (slot.id, stamp(deed.clock.now()), session.id))
    rows.note_connection(deed, session.id)
    deed.append(
        "brain_session_bind",
        project_key=session.project_key,
        subject=session.subject,
        data={"slot_id": slot.id, "slot_revision": slot.revision},
    )
    return Bound(session.id, slot.id, slot.revision, slot.body)
