"""brain_session_relay: one transaction ends a session, hands its text over and opens a successor (sessions.md b.9, room.md 2.14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.clock import stamp
from core.errors import Refusal
from core.sessions import base, evidence, ledger, rows, shrink, slots
from core.sessions.end import override_data, refuse_agents_override, store_ended
from core.sessions.lifecycle import NO_BRIEFING, insert, spent
from core.sessions.limits import (
    FOCUS_LIMIT,
    REASON_LIMIT,
    SLOT_BODY_LIMIT,
    SUMMARY_LIMIT,
    bounded,
    client_key,
    optional,
    unique_id,
    whole,
)
from core.sessions.models import Initiator, SeenEvidence, Session, Slot
from core.sessions.switches import is_on
from core.store.deed import Deed
from core.texts import digest, reason_text


@dataclass(frozen=True, slots=True)
class Relayed:
    """What `brain_session_relay` answers: `session` is the successor; `slot` in the slot form, `focus_revision` in the base form."""

    ended_session_id: str
    session: Session
    slot: Slot | None
    focus_revision: int | None
    replayed: bool
    briefing: str = NO_BRIEFING


@dataclass(frozen=True, slots=True)
class Input:
    """The arguments of a relay as they are stored: trimmed. Exactly one of the two revisions is set."""

    session_id: str
    client_key: str
    new_client_key: str
    summary: str
    handover: str
    slot_revision: int | None
    focus_revision: int | None
    knowledge_ids: tuple[str, ...]
    nothing_to_capture_reason: str | None
    shrink_reason: str | None


def inputs(
    *,
    session_id: str,
    expected_client_key: str,
    summary: str,
    handover: str,
    new_client_key: str,
    initiator: Initiator,
    expected_slot_revision: int | None = None,
    expected_focus_revision: int | None = None,
    allow_focus_shrink: bool = False,
    knowledge_ids: Sequence[str] | None = None,
    nothing_to_capture_reason: str | None = None,
    shrink_reason: str | None = None,
    seen: SeenEvidence | None = None,
) -> Input:
    """The arguments as they are stored: steps 1 to 11 of the order of checks (sessions.md b.9).

    Refuses `invalid_input`, `relay_guard_mod_disabled`, `relay_shrink_override_operator_only`, `relay_expects_one_revision`,
    `relay_same_client_key`, `slot_body_too_long`.
    """
    subject = f"session:{unique_id(session_id, 'session_id')}"
    for text, what, most in ((summary, "The summary", SUMMARY_LIMIT), (handover, "The handover", FOCUS_LIMIT)):
        bounded(text, what, most, least=0)
    if initiator not in ("operator", "guard_mod"):
        raise Refusal("invalid_input", "initiator is operator or guard_mod.")
    if initiator == "guard_mod":
        _refuse_guard_mod(allow_focus_shrink, subject)
    if (expected_slot_revision is None) == (expected_focus_revision is None):
        sent = "neither" if expected_slot_revision is None else "both"
        raise Refusal(
            "relay_expects_one_revision",
            f"Exactly one of expected_slot_revision (for a session that is bound to a slot) and expected_focus_revision (for one "
            f"that is not) is sent; {sent} came.",
            subject=subject,
        )
    own = client_key(expected_client_key)
    new = client_key(new_client_key, "new_client_key")
    if own == new:
        raise Refusal(
            "relay_same_client_key",
            "The successor needs a client key of its own: new_client_key is the old one.",
            subject=subject,
        )
    told = bounded(summary, "The summary", SUMMARY_LIMIT)
    text = bounded(handover, "The handover", FOCUS_LIMIT)
    if expected_slot_revision is not None and len(text) > SLOT_BODY_LIMIT:
        raise slots.body_too_long(text, None, subject)
    return Input(
        unique_id(session_id, "session_id"),
        own,
        new,
        told,
        text,
        None if expected_slot_revision is None else whole(expected_slot_revision, "expected_slot_revision"),
        None if expected_focus_revision is None else whole(expected_focus_revision, "expected_focus_revision"),
        ledger.distinct_ids(knowledge_ids or (), least=0),
        optional(nothing_to_capture_reason, "nothing_to_capture_reason", REASON_LIMIT),
        reason_text(shrink_reason, required=False),
    )


def relay(
    deed: Deed,
    *,
    session_id: str,
    expected_client_key: str,
    summary: str,
    handover: str,
    new_client_key: str,
    initiator: Initiator,
    expected_slot_revision: int | None = None,
    expected_focus_revision: int | None = None,
    allow_focus_shrink: bool = False,
    knowledge_ids: Sequence[str] | None = None,
    nothing_to_capture_reason: str | None = None,
    shrink_reason: str | None = None,
    seen: SeenEvidence | None = None,
) -> Relayed:
    """End a session, write its handover as the slot's body or the base focus, and open its successor (sessions.md b.9).

    Unlike an end it never records a conflict: a stale revision is refused and the session stays open. Equal arguments again
    give the same successor. Refuses what `inputs` does, then `session_not_found`, `client_key_mismatch`,
    `terminal_conflict`, `session_is_agent_trace`, `relay_expects_focus_revision`, `relay_expects_slot_revision`,
    `slot_closed`, `slot_revision_conflict`, `focus_revision_conflict`, `base_focus_shrink`, `invalid_input`,
    `capture_conflict`, `client_key_conflict`, and with `seen` `evidence_changed`.
    """
    given = inputs(
        session_id=session_id,
        expected_client_key=expected_client_key,
        summary=summary,
        handover=handover,
        new_client_key=new_client_key,
        initiator=initiator,
        expected_slot_revision=expected_slot_revision,
        expected_focus_revision=expected_focus_revision,
        allow_focus_shrink=allow_focus_shrink,
        knowledge_ids=knowledge_ids,
        nothing_to_capture_reason=nothing_to_capture_reason,
        shrink_reason=shrink_reason,
    )
    session = rows.identified(deed, given.session_id, given.client_key)
    refuse_agents_override(deed, session, allow_focus_shrink)
    if not session.is_open:
        return _replay(deed, session, given)
    rows.refuse_trace(session)
    _refuse_wrong_revision(session, given)
    judgement = evidence.refuse_changed(deed, session, seen)
    slot, standing, overridden = _standing(deed, session, given, allow_focus_shrink)
    _capture(deed, session, given)
    _refuse_taken_key(deed, session, given)

    now = stamp(deed.clock.now())
    more: dict[str, Any] = {**(judgement.as_data() if judgement else {}), "initiator_claimed": initiator}
    expected = slot.revision if slot else standing.focus_revision
    store_ended(
        deed,
        session,
        ended_at=now,
        summary=given.summary,
        next_focus=given.handover,
        expected=expected,
        outcome="applied",
        focus_at_end=given.handover,
        revision_at_end=expected + 1,
        nothing_to_capture_reason=given.nothing_to_capture_reason,
    )
    if slot is not None:
        slot = slots.write_body(deed, slot, given.handover, "session_relay", session.id)
    else:
        after = base.replace(deed, standing, given.handover, "session_end")
        more |= {**base.row_data(standing, after), **override_data(overridden, given.shrink_reason)}
        standing = after
    heir = insert(
        deed,
        standing,
        given.new_client_key,
        now=now,
        slot_id=session.slot_id,
        relayed_from=session.id,
        started_by=f"relay:{initiator}",
    )
    _record(deed, session, heir, given, expected, more)
    return Relayed(session.id, heir, slot, None if slot else standing.focus_revision, False)


def _refuse_guard_mod(allow_focus_shrink: bool, subject: str) -> None:
    if not is_on("RELAY_GUARD_MOD_ENABLED"):
        raise Refusal(
            "relay_guard_mod_disabled",
            "Relays by a guard mod are not enabled in this server. Nothing was changed.",
            subject=subject,
        )
    if allow_focus_shrink:
        raise Refusal(
            "relay_shrink_override_operator_only",
            "A guard mod may never let a base focus shrink; that is for the operator alone. Nothing was changed.",
            subject=subject,
        )


def _refuse_wrong_revision(session: Session, given: Input) -> None:
    facts = {"session_id": session.id, "slot_id": session.slot_id}
    if session.slot_id is None and given.focus_revision is None:
        raise Refusal(
            "relay_expects_focus_revision",
            f"Session {session.id} is bound to no slot, so its relay writes the base: send expected_focus_revision.",
            facts=facts,
            project_key=session.project_key,
            subject=session.subject,
        )
    if session.slot_id is not None and given.slot_revision is None:
        raise Refusal(
            "relay_expects_slot_revision",
            f"Session {session.id} is bound to slot {session.slot_id}, so its relay writes that: send expected_slot_revision.",
            facts=facts,
            project_key=session.project_key,
            subject=session.subject,
        )


def _standing(deed: Deed, session: Session, given: Input, allow_focus_shrink: bool) -> tuple[Slot | None, base.Base, bool]:
    """What the relay will replace: the slot (when bound), the base, and whether the shrink guard is overridden."""
    standing = base.of_project(deed, session.project_key)
    if session.slot_id is not None:
        slot = slots.of_session(deed.transaction, session.slot_id)
        if slot.closed_at is not None:
            refusal = slots.closed(slot, f"Session {session.id} stays open. {slots.way_out(slot)}")
            refusal.subject = session.subject
            raise refusal
        if slot.revision != given.slot_revision:
            raise slots.revision_conflict(slot, given.slot_revision or 0, subject=session.subject)
        return slot, standing, False
    if standing.focus_revision != given.focus_revision:
        raise base.conflict(standing, given.focus_revision or 0, subject=session.subject, what="The handover")
    overridden = shrink.shrinks(standing.current_focus, given.handover)
    if overridden and not allow_focus_shrink:
        raise shrink.refusal(session.project_key, standing.current_focus, given.handover, subject=session.subject)
    return None, standing, overridden


def _capture(deed: Deed, session: Session, given: Input) -> None:
    every = tuple(dict.fromkeys((*session.attributed_knowledge_ids, *given.knowledge_ids)))
    kinds = ledger.refuse_invalid(deed, session, every)
    owned = ledger.owners(deed.transaction, every)
    ledger.refuse_owned(session, owned)
    ledger.refuse_full(session, len(every))
    ledger.attribute(deed, session.id, {one: kinds[one] for one in given.knowledge_ids}, owned, "explicit")


def _refuse_taken_key(deed: Deed, session: Session, given: Input) -> None:
    taken = rows.by_client_key(deed.transaction, session.project_key, given.new_client_key, deed.clock.now())
    if taken is not None:
        refusal = spent(taken)
        refusal.subject = session.subject
        raise refusal


def _record(deed: Deed, session: Session, heir: Session, given: Input, expected: int, more: Mapping[str, Any]) -> None:
    deed.append(
        "brain_session_relay",
        project_key=session.project_key,
        subject=session.subject,
        data={
            "successor_session_id": heir.id,
            "successor_client_key": heir.client_key,
            "slot_id": session.slot_id,
            "expected_revision": expected,
            "summary": digest(given.summary),
            "handover": digest(given.handover),
            "captured": list(given.knowledge_ids),
            **more,
        },
    )


def _replay(deed: Deed, session: Session, given: Input) -> Relayed:
    heir = rows.successor(deed.transaction, session.id, deed.clock.now())
    sent, other = (
        (given.slot_revision, given.focus_revision)
        if session.slot_id is not None
        else (given.focus_revision, given.slot_revision)
    )
    same = (
        heir is not None
        and heir.client_key == given.new_client_key
        and session.status == "ended"
        and session.summary == given.summary
        and session.next_focus == given.handover
        and session.end_expected_focus_revision == sent
        and other is None
        and set(given.knowledge_ids) <= set(session.attributed_knowledge_ids)
    )
    if heir is None or not same:
        raise rows.refuse_ended(deed, session, "terminal_conflict")
    if session.slot_id is not None:
        return Relayed(session.id, heir, slots.of_session(deed.transaction, session.slot_id), None, True)
    return Relayed(session.id, heir, None, session.focus_revision_at_end, True)
