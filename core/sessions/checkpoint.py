"""Checkpoints: what a session notes of its progress, append-only (sessions.md a.7, b.5)."""

from __future__ import annotations

from dataclasses import dataclass

from core.clock import stamp
from core.errors import Refusal
from core.sessions import rows
from core.sessions.lifecycle import identity
from core.sessions.limits import CHECKPOINT_LIMIT, CHECKPOINTS_A_SESSION, bounded, whole
from core.sessions.models import Checkpoint
from core.store.deed import Deed, Reading
from core.texts import digest


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """What `brain_session_checkpoint` answers; `created_at` is the first one's on a replay."""

    session_id: str
    seq: int
    created_at: str
    replayed: bool
    checkpoint_count: int


def checkpoint(
    deed: Deed, *, session_id: str, expected_client_key: str, seq: int, progress: str, next_step: str, blocker: str | None = None
) -> Checkpointed:
    """Note where the session stands; equal texts under the same `seq` are a replay (sessions.md b.5).

    It moves neither heartbeat nor focus. Refuses `invalid_input` (also at 200 checkpoints), `session_not_found`,
    `client_key_mismatch`, `session_not_open`, and `checkpoint_conflict` for other texts under a `seq` that is taken.
    """
    wanted, own = identity(session_id, expected_client_key)
    number = whole(seq, "seq", least=1)
    done = bounded(progress, "progress", CHECKPOINT_LIMIT)
    following = bounded(next_step, "next_step", CHECKPOINT_LIMIT)
    hindrance = bounded(blocker, "blocker", CHECKPOINT_LIMIT, least=0) or None if blocker is not None else None
    session = rows.identified(deed, wanted, own)
    rows.open_only(deed, session)
    count = deed.one("select count(*) from session_checkpoints where session_id = ?", (session.id,))[0]
    standing = deed.one(
        "select progress, next_step, blocker, created_at from session_checkpoints where session_id = ? and seq = ?",
        (session.id, number),
    )
    if standing is not None:
        if (standing["progress"], standing["next_step"], standing["blocker"]) == (done, following, hindrance):
            return Checkpointed(session.id, number, standing["created_at"], True, count)
        raise Refusal(
            "checkpoint_conflict",
            f"Checkpoint {number} of session {session.id} was written at {standing['created_at']} with other texts, and stays as "
            "it is: use another seq.",
            facts={"session_id": session.id, "seq": number, "created_at": standing["created_at"]},
            project_key=session.project_key,
            subject=session.subject,
        )
    if count >= CHECKPOINTS_A_SESSION:
        raise Refusal(
            "invalid_input",
            f"Session {session.id} has {CHECKPOINTS_A_SESSION} checkpoints, as many as there may be: end or relay it.",
            facts={"session_id": session.id, "checkpoint_count": count},
            project_key=session.project_key,
            subject=session.subject,
        )
    now = stamp(deed.clock.now())
    deed.execute(
        "insert into session_checkpoints (session_id, seq, progress, next_step, blocker, created_at) values (?, ?, ?, ?, ?, ?)",
        (session.id, number, done, following, hindrance, now),
    )
    rows.note_connection(deed, session.id)
    deed.append(
        "brain_session_checkpoint",
        project_key=session.project_key,
        subject=session.subject,
        data={"seq": number, "progress": digest(done), "next_step": digest(following), "blocker": digest(hindrance)},
    )
    return Checkpointed(session.id, number, now, False, count + 1)


def newest(reading: Reading, session_id: str, limit: int) -> tuple[Checkpoint, ...]:
    """The session's newest checkpoints, at most `limit`, the newest first."""
    found = reading.all(
        "select seq, progress, next_step, blocker, created_at from session_checkpoints where session_id = ?"
        " order by created_at desc, seq desc limit ?",
        (session_id, limit),
    )
    return tuple(Checkpoint(*tuple(row)) for row in found)
