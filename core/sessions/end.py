"""brain_session_end: a session closes with its summary and the next focus (sessions.md b.8)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.clock import stamp
from core.errors import Refusal
from core.sessions import base, evidence, ledger, rows, shrink, slots
from core.sessions.lifecycle import identity, read
from core.sessions.limits import FOCUS_LIMIT, REASON_LIMIT, SLOT_BODY_LIMIT, SUMMARY_LIMIT, bounded, optional, whole
from core.sessions.models import FocusOutcome, SeenEvidence, Session, Slot
from core.store.deed import Deed, Reading
from core.texts import digest, reason_text


@dataclass(frozen=True, slots=True)
class Ended:
    """What `brain_session_end` answers. `current_focus*` are live (the slot's when bound), `focus_*_at_end` as persisted."""

    session: Session
    replayed: bool
    remaining_open_session_count: int
    current_focus: str | None
    current_focus_revision: int
    focus_outcome: FocusOutcome
    focus_at_end: str | None
    focus_revision_at_end: int
    unattributed_in_window: int
    focus_diff: str


@dataclass(frozen=True, slots=True)
class Input:
    """The arguments of an end as they are stored: trimmed."""

    session_id: str
    client_key: str
    summary: str
    next_focus: str
    expected_focus_revision: int
    nothing_to_capture_reason: str | None
    shrink_reason: str | None


def inputs(
    *,
    session_id: str,
    expected_client_key: str,
    summary: str,
    next_focus: str,
    expected_focus_revision: int,
    nothing_to_capture_reason: str | None = None,
    allow_focus_shrink: bool = False,
    shrink_reason: str | None = None,
    seen: SeenEvidence | None = None,
) -> Input:
    """The arguments as they are stored. Refuses `invalid_input`."""
    told = bounded(summary, "The summary", SUMMARY_LIMIT)
    text = bounded(next_focus, "next_focus", FOCUS_LIMIT)
    wanted, own = identity(session_id, expected_client_key)
    expected = whole(expected_focus_revision, "expected_focus_revision")
    nothing = optional(nothing_to_capture_reason, "nothing_to_capture_reason", REASON_LIMIT)
    return Input(wanted, own, told, text, expected, nothing, reason_text(shrink_reason, required=False))


def end(
    deed: Deed,
    *,
    session_id: str,
    expected_client_key: str,
    summary: str,
    next_focus: str,
    expected_focus_revision: int,
    nothing_to_capture_reason: str | None = None,
    allow_focus_shrink: bool = False,
    shrink_reason: str | None = None,
    seen: SeenEvidence | None = None,
) -> Ended:
    """End a session: its next focus becomes its slot's body or the base, or stays on the session as a conflict (sessions.md b.8).

    Equal arguments again are a replay. `seen` is what an operator was shown, `shrink_reason` why a shorter base is meant.
    Refuses `invalid_input`, `session_not_found`, `client_key_mismatch`, `terminal_conflict`, `slot_body_too_long`,
    `slot_closed`, `project_not_found`, `base_focus_shrink`, and with `seen` `evidence_changed`.
    """
    given = inputs(
        session_id=session_id,
        expected_client_key=expected_client_key,
        summary=summary,
        next_focus=next_focus,
        expected_focus_revision=expected_focus_revision,
        nothing_to_capture_reason=nothing_to_capture_reason,
        shrink_reason=shrink_reason,
    )
    session = rows.identified(deed, given.session_id, given.client_key)
    refuse_agents_override(deed, session, allow_focus_shrink)
    if not session.is_open:
        return _replay(deed, session, given)
    judgement = evidence.refuse_changed(deed, session, seen)
    more = judgement.as_data() if judgement else {}
    if session.slot_id is not None:
        return _end_bound(deed, session, slots.of_session(deed.transaction, session.slot_id), given, more)
    return _end_unbound(deed, session, given, allow_focus_shrink, more)


def _end_bound(deed: Deed, session: Session, slot: Slot, given: Input, more: Mapping[str, Any]) -> Ended:
    if len(given.next_focus) > SLOT_BODY_LIMIT:
        raise slots.body_too_long(given.next_focus, session.project_key, session.subject)
    if slot.closed_at is not None and slot.revision == given.expected_focus_revision:
        refusal = slots.closed(slot, f"Session {session.id} stays open. {slots.way_out(slot)}")
        refusal.subject = session.subject
        raise refusal
    ledger.refuse_invalid(deed, session, session.attributed_knowledge_ids)
    if slot.closed_at is not None or slot.revision != given.expected_focus_revision:
        return _finish(deed, session, given, "conflict", slot.body, slot.revision, "", more)
    after = slots.write_body(deed, slot, given.next_focus, "session_end", session.id)
    difference = base.difference(slot.body, after.body)
    return _finish(deed, session, given, "applied", after.body, after.revision, difference, more)


def _end_unbound(deed: Deed, session: Session, given: Input, allow_focus_shrink: bool, more: Mapping[str, Any]) -> Ended:
    standing = base.of_project(deed, session.project_key)
    ledger.refuse_invalid(deed, session, session.attributed_knowledge_ids)
    if standing.focus_revision != given.expected_focus_revision:
        return _finish(deed, session, given, "conflict", standing.current_focus, standing.focus_revision, "", more)
    overridden = shrink.shrinks(standing.current_focus, given.next_focus)
    if overridden and not allow_focus_shrink:
        raise shrink.refusal(session.project_key, standing.current_focus, given.next_focus, subject=session.subject)
    after = base.replace(deed, standing, given.next_focus, "session_end")
    difference = base.difference(standing.current_focus, given.next_focus)
    told = {**more, **base.row_data(standing, after), **override_data(overridden, given.shrink_reason)}
    return _finish(deed, session, given, "applied", after.current_focus, after.focus_revision, difference, told)


def _finish(
    deed: Deed,
    session: Session,
    given: Input,
    outcome: FocusOutcome,
    current_focus: str | None,
    current_revision: int,
    difference: str,
    more: Mapping[str, Any],
) -> Ended:
    store_ended(
        deed,
        session,
        ended_at=stamp(deed.clock.now()),
        summary=given.summary,
        next_focus=given.next_focus,
        expected=given.expected_focus_revision,
        outcome=outcome,
        focus_at_end=current_focus,
        revision_at_end=current_revision,
        nothing_to_capture_reason=given.nothing_to_capture_reason,
    )
    deed.append(
        "brain_session_end",
        project_key=session.project_key,
        subject=session.subject,
        data={
            "focus_outcome": outcome,
            "expected_focus_revision": given.expected_focus_revision,
            "focus_revision_at_end": current_revision,
            "slot_id": session.slot_id,
            "summary": digest(given.summary),
            "next_focus": digest(given.next_focus),
            "captured": len(session.attributed_knowledge_ids),
            **more,
        },
    )
    return _answer(deed, read(deed, session.id), False, current_focus, current_revision, difference)


def store_ended(
    deed: Deed,
    session: Session,
    *,
    ended_at: str,
    summary: str,
    next_focus: str,
    expected: int,
    outcome: FocusOutcome,
    focus_at_end: str | None,
    revision_at_end: int,
    nothing_to_capture_reason: str | None,
) -> None:
    """Store a session as ended, with the ledger of this instant as its captured ids (sessions.md a.5.2)."""
    owned = rows.ledgers_of(deed.transaction, [session.id]).get(session.id, [])
    deed.execute(
        "update sessions set status = 'ended', summary = ?, next_focus = ?, captured_knowledge_ids = ?,"
        " nothing_to_capture_reason = ?, end_expected_focus_revision = ?, focus_outcome = ?, focus_at_end = ?,"
        " focus_revision_at_end = ?, ended_at = ?, updated_at = ? where id = ? and status = 'open'",
        (
            summary,
            next_focus,
            json.dumps(owned, separators=(",", ":")),
            nothing_to_capture_reason,
            expected,
            outcome,
            focus_at_end,
            revision_at_end,
            ended_at,
            ended_at,
            session.id,
        ),
    )


def override_data(overridden: bool, reason: str | None) -> dict[str, Any]:
    """What the trail says of an override of the shrink guard: that there was one, and the reason where one was given."""
    return {"allow_focus_shrink": True, "shrink_reason": reason} if overridden else {}


def refuse_agents_override(deed: Deed, session: Session, allow_focus_shrink: bool) -> None:
    """Refuses `operator_role_required` when an agent overrides the shrink guard from afar; on stdio it is believed (room.md 2.15)."""
    identity = deed.identity
    if allow_focus_shrink and identity.role == "agent" and not identity.on_stdio:
        raise Refusal(
            "operator_role_required",
            "Only the operator may let a base focus shrink. Nothing was changed.",
            project_key=session.project_key,
            subject=session.subject,
        )


def _replay(deed: Deed, session: Session, given: Input) -> Ended:
    same = (
        session.status == "ended"
        and session.summary == given.summary
        and session.next_focus == given.next_focus
        and session.nothing_to_capture_reason == given.nothing_to_capture_reason
        and session.end_expected_focus_revision == given.expected_focus_revision
    )
    if not same:
        raise rows.refuse_ended(deed, session, "terminal_conflict", " What you sent is not what it ended with.")
    if session.slot_id is not None:
        slot = slots.of_session(deed.transaction, session.slot_id)
        return _answer(deed, session, True, slot.body, slot.revision, "")
    standing = base.of_project(deed, session.project_key)
    return _answer(deed, session, True, standing.current_focus, standing.focus_revision, "")


def _answer(
    deed: Deed, session: Session, replayed: bool, current_focus: str | None, current_revision: int, difference: str
) -> Ended:
    assert session.focus_outcome is not None and session.focus_revision_at_end is not None
    return Ended(
        session=session,
        replayed=replayed,
        remaining_open_session_count=rows.open_sessions_of(deed.transaction, session.project_key),
        current_focus=current_focus,
        current_focus_revision=current_revision,
        focus_outcome=session.focus_outcome,
        focus_at_end=session.focus_at_end,
        focus_revision_at_end=session.focus_revision_at_end,
        unattributed_in_window=unattributed(deed.transaction, session),
        focus_diff=difference,
    )


def unattributed(reading: Reading, session: Session) -> int:
    """How many of the project's items of knowledge came up while the session lasted and belong to no session (sessions.md b.8)."""
    row = reading.one(
        "select count(*) from knowledge k where k.project_key = ? and k.created_at between ? and ? and not exists ("
        "select 1 from session_artifacts a join sessions s on s.id = a.session_id"
        " where a.knowledge_id = k.id and s.nature is not 'agent')",
        (session.project_key, session.started_at, session.ended_at),
    )
    return int(row[0])
