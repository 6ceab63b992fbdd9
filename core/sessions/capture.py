"""brain_session_capture: an agent names the knowledge that its session brought (sessions.md b.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.sessions import ledger, rows
from core.sessions.absorption import Absorption
from core.sessions.lifecycle import identity, read, refresh
from core.sessions.models import Session
from core.store.deed import Deed


@dataclass(frozen=True, slots=True)
class Captured:
    """What `brain_session_capture` answers: the whole ledger after, and which of the named ids are new in it."""

    session: Session
    captured_knowledge_ids: tuple[str, ...]
    newly_captured_knowledge_ids: tuple[str, ...]
    replayed_knowledge_ids: tuple[str, ...]
    replayed: bool
    absorption: Absorption | None = None


def inputs(*, session_id: str, expected_client_key: str, knowledge_ids: Sequence[str]) -> tuple[str, str, tuple[str, ...]]:
    """The arguments as they are looked up. Refuses `invalid_input`."""
    wanted, own = identity(session_id, expected_client_key)
    return wanted, own, ledger.distinct_ids(knowledge_ids)


def capture(deed: Deed, *, session_id: str, expected_client_key: str, knowledge_ids: Sequence[str]) -> Captured:
    """Put the named knowledge into the session's ledger, all or none; what only a trace holds is taken over (sessions.md b.6).

    Refuses `invalid_input`, `session_not_found`, `client_key_mismatch`, `capture_conflict`, `session_not_open`.
    """
    wanted, own, ids = inputs(session_id=session_id, expected_client_key=expected_client_key, knowledge_ids=knowledge_ids)
    session = rows.identified(deed, wanted, own)
    owned = ledger.owners(deed.transaction, ids)
    if not session.is_open:
        return _replay(deed, session, ids, owned)
    ledger.refuse_owned(session, owned)
    kinds = ledger.refuse_invalid(deed, session, ids)
    fresh = [one for one in ids if one not in owned or owned[one].session_id != session.id]
    ledger.refuse_full(session, len(session.attributed_knowledge_ids) + len(fresh))
    inserted = ledger.attribute(deed, session.id, kinds, owned, "explicit")
    refresh(deed, session.id)
    rows.note_connection(deed, session.id)
    taken = [one for one in fresh if one not in inserted]
    deed.append(
        "brain_session_capture",
        project_key=session.project_key,
        subject=session.subject,
        data={"captured": list(inserted), "taken_over": taken, "replayed": not inserted},
    )
    now = read(deed, session.id)
    again = tuple(one for one in ids if one not in inserted)
    return Captured(now, now.attributed_knowledge_ids, inserted, again, not inserted)


def _replay(deed: Deed, session: Session, ids: tuple[str, ...], owned: dict[str, ledger.Owner]) -> Captured:
    others = {one: owner.session_id for one, owner in owned.items() if owner.session_id != session.id}
    if others:
        raise ledger.captured_elsewhere(session, others)
    if session.status not in ("ended", "abandoned") or len(owned) != len(ids):
        raise rows.refuse_ended(deed, session, "session_not_open")
    return Captured(session, session.attributed_knowledge_ids, (), ids, True)
