"""Who is at work on a session, held against what the operator was shown before acting on it (console.md, Acting safely)."""

from __future__ import annotations

from core.errors import Refusal
from core.life.liveness import allows_plain_cancel, livelier
from core.models import Judgement
from core.sessions.models import SeenEvidence, Session
from core.sessions.rows import connection_of
from core.store.deed import Deed

TYPED_CHARACTERS = 6
"""How much of the session's id must be typed where somebody may be at work."""


def judge(deed: Deed, session: Session) -> tuple[Judgement, str | None, str | None]:
    """The verdict on the session's connection, that connection, and the time of its last call."""
    connection_id = connection_of(deed.transaction, session.id)
    judgement = deed.witness.judge_session(deed.transaction, connection_id, started_at=session.started_at)
    return judgement, connection_id, deed.witness.last_call_at(connection_id)


def refuse_changed(deed: Deed, session: Session, seen: SeenEvidence | None) -> Judgement | None:
    """Hold what was seen against what is so now; without `seen` (an agent's own call) there is nothing to hold.

    Refuses `evidence_changed` when the session has another connection, a livelier one, or one that has called since;
    `invalid_input` when it may be at work and the first characters of its id were not typed.
    """
    if seen is None:
        return None
    judgement, connection_id, last_call = judge(deed, session)
    changes = []
    if connection_id != seen.connection_id:
        changes.append("another connection has named it")
    if livelier(judgement.verdict, seen.verdict):
        changes.append(f"its connection looks {judgement.verdict} now, where {seen.verdict} was shown")
    if last_call is not None and last_call > (seen.last_call_at or ""):
        changes.append(f"its connection has called since, at {last_call}")
    facts = {"session_id": session.id, "project_key": session.project_key, **judgement.as_data(), "last_call_at": last_call}
    if changes:
        raise Refusal(
            "evidence_changed",
            f"Nothing was changed, because session {session.id} is not as it was shown: {'; '.join(changes)}. "
            "Look again and decide anew.",
            facts={**facts, "connection_id": connection_id, "changes": changes},
            project_key=session.project_key,
            subject=session.subject,
        )
    if not allows_plain_cancel(judgement.verdict) and (seen.typed or "") != session.id[:TYPED_CHARACTERS]:
        raise Refusal(
            "invalid_input",
            f"Session {session.id} looks {judgement.verdict}, not DEAD: type the first {TYPED_CHARACTERS} characters of its id, as shown.",
            facts=facts,
            project_key=session.project_key,
            subject=session.subject,
        )
    return judgement
