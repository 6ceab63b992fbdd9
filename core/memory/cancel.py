"""Ending a wrap without a save: wrap_cancel for agents, force-cancel and ask-for-release for the operator (wraps.md c, console.md, Acting safely)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core import projects
from core.errors import Refusal
from core.life import notices
from core.life.liveness import allows_plain_cancel, livelier
from core.memory import wraps
from core.models import Judgement, Verdict
from core.store.deed import Deed
from core.texts import not_blank, reason_text, token_shape

TYPED_CHARACTERS = 6
"""How much of the token a force-cancel of a wrap that may be alive asks to be typed (console.md, Acting safely)."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The receipt of a cancel, from the transaction that did it. `wrap_id` and what follows are None when nothing was open."""

    outcome: Literal["cancelled", "partial_cleared", "nothing_open"]
    project_key: str | None
    wrap_id: int | None
    generation: int | None
    wrap_token_start: str | None
    started_at: str | None
    episodes: int | None
    verdict: Verdict | None
    evidence: tuple[str, ...]
    authorised_by: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ReleaseAsked:
    """The receipt of an ask for release: whom the notice waits for."""

    wrap_id: int
    project_key: str | None
    holder: str


def wrap_cancel(
    deed: Deed,
    *,
    project_key: str,
    wrap_token: str | None = None,
    session_id: str | None = None,
    force: bool = False,
    partial: bool = False,
    reason: str | None = None,
) -> Cancelled:
    """End the project's open wrap by the decision table of wraps.md (c); its episodes come back to the window.

    Refuses `invalid_input` (arguments), `wrap_not_partial`, `wrap_already_finished`, `wrap_partial`,
    `wrap_token_mismatch`, `wrap_token_required`, `wrap_gated`, and in a strict project `wrap_not_dead` (room.md 2.7).
    """
    token = token_shape(wrap_token)
    session = _session(deed, session_id)
    if partial and token:
        raise Refusal("invalid_input", "partial=true clears damaged state only and takes no wrap_token: send one of the two.")
    why = reason_text(reason, required=False)
    key = projects.normal_key(project_key)
    state = wraps.open_state(deed.transaction, key)
    if state.state == "idle":
        return _idle(key, token, partial)
    if state.state == "partial":
        return _clear_partial(deed, key, state, token, why)
    wrap = state.wrap
    assert wrap is not None
    if partial:
        raise wraps.refuse_about(
            deed, wrap, "wrap_not_partial", "The open wrap is not damaged:", "partial=true clears damaged state only."
        )
    if token:
        if token != wrap.wrap_token:
            raise _mismatch(deed, wrap, token, session, force)
        return _cancel(deed, wrap, "token", why)
    if force:
        return _cancel(deed, wrap, "force", why)
    if wrap.bound:
        raise wraps.refuse_about(
            deed,
            wrap,
            "wrap_token_required",
            "The open wrap's token was chosen by its preparer, so ending it takes that token:",
            "",
        )
    if wrap.gated_session:
        if session != wrap.gated_session:
            raise wraps.refuse_about(deed, wrap, "wrap_gated", "The open wrap belongs to the session that holds the baton:", "")
        return _cancel(deed, wrap, "session", why)
    own = wrap.connection_id == deed.identity.connection_id
    project = projects.find(deed.transaction, key)
    judgement = wraps.judge(deed, wrap)
    if project.peer_cancel == "dead" and not own and judgement.verdict != "DEAD":
        raise wraps.refuse_about(
            deed,
            wrap,
            "wrap_not_dead",
            "This project lets a peer end only a dead wrap:",
            "Go on recording and try again later.",
            judgement=judgement,
        )
    return _cancel(deed, wrap, "own" if own else "peer", why, judgement)


def force_cancel(
    deed: Deed,
    *,
    wrap_id: int,
    verdict: Verdict,
    reason: str,
    generation: int | None = None,
    token_start: str | None = None,
    last_call_at: str | None = None,
    row_sha256: str | None = None,
    typed: str | None = None,
) -> Cancelled:
    """The operator's force-cancel of exactly the wrap that was shown (console.md, Acting safely; faults.md R9, R10).

    `verdict`, `generation`, `token_start` (8 characters), `last_call_at` and `row_sha256` are as shown; `typed` is what
    the operator typed of the token. Everything is checked again in this transaction. Refuses `invalid_input` (no reason,
    or the characters typed are not the token's), `wrap_already_finished`, and `evidence_changed` when the row differs or
    its holder looks livelier or has called since.
    """
    why = reason_text(reason, required=True)
    wrap = wraps.by_id(deed.transaction, wrap_id)
    if wrap is None:
        raise Refusal("wrap_already_finished", f"There is no wrap {wrap_id} in this store.", subject=f"wrap:{wrap_id}")
    if wrap.ended_at is not None:
        how = f"was cancelled {wraps.cancelled_words(wrap)}" if wrap.outcome == "cancelled" else f"was saved at {wrap.ended_at}"
        raise Refusal(
            "wrap_already_finished",
            f"Wrap {wrap.id} is already finished: it {how}.",
            facts={"wrap_id": wrap.id, "outcome": wrap.outcome, "ended_at": wrap.ended_at, "reason": wrap.ended_reason},
            project_key=wrap.project_key,
            subject=wrap.subject,
        )
    judgement = wraps.judge(deed, wrap)
    _refuse_changed_evidence(deed, wrap, judgement, verdict, generation, token_start, last_call_at, row_sha256)
    if not allows_plain_cancel(judgement.verdict) and (typed or "") != (wrap.wrap_token or "")[:TYPED_CHARACTERS]:
        raise Refusal(
            "invalid_input",
            f"The holder of wrap {wrap.id} looks {judgement.verdict}, not DEAD: type the first {TYPED_CHARACTERS} characters of its token, as shown.",
            facts=wraps.facts_about(deed, wrap, judgement),
            project_key=wrap.project_key,
            subject=wrap.subject,
        )
    return _cancel(deed, wrap, "operator", why, judgement)


def ask_release(deed: Deed, *, wrap_id: int, message: str | None = None) -> ReleaseAsked:
    """Leave the holder of an open wrap a notice that asks for its release (faults.md R8: cooperative first; room.md 2.13).

    It is no deed of the trail. Refuses `wrap_already_finished`, and `invalid_input` when nobody is recorded to be asked.
    """
    words = reason_text(message, required=False)
    wrap = wraps.by_id(deed.transaction, wrap_id)
    if wrap is None or wrap.ended_at is not None:
        raise Refusal("wrap_already_finished", f"Wrap {wrap_id} is not open any more.", subject=f"wrap:{wrap_id}")
    if not wrap.coherent or not wrap.connection_id:
        raise Refusal(
            "invalid_input", f"Nobody is recorded as the holder of wrap {wrap_id}, so nobody can be asked.", subject=wrap.subject
        )
    actor = deed.identity.actor
    said = f" The {actor.kind}'s words: “{words}”." if words else ""
    text = (
        f"The {actor.kind} {actor.name} asks you to release wrap {wrap.id} of project {wrap.project_key}: save it now, "
        f"or end it with wrap_cancel and your token; others wait for it.{said}"
    )
    notices.leave(deed, "release_asked", wrap.connection_id, project_key=wrap.project_key or "", wrap_id=wrap.id, text=text)
    return ReleaseAsked(wrap.id, wrap.project_key, wraps.holder_words(deed.transaction, wrap))


def _session(deed: Deed, session_id: str | None) -> str | None:
    """The session a cancel acts as: the server's own where it has one (wraps.md c)."""
    own = deed.identity.session_id
    if session_id is not None:
        not_blank(session_id, "session_id")
        if own is not None and session_id != own:
            raise Refusal(
                "invalid_input", "This server acts as a session of its own, so session_id may be left out but not name another."
            )
    return own or session_id


def _idle(key: str, token: str | None, partial: bool) -> Cancelled:
    if partial:
        raise Refusal(
            "wrap_not_partial", f"No wrap is open in project {key}, damaged or not: there is nothing to clear.", project_key=key
        )
    if token:
        raise Refusal(
            "wrap_already_finished",
            f"No wrap is open in project {key}: the one with token {token[:8]}… is finished already, or never was.",
            project_key=key,
        )
    return Cancelled("nothing_open", key, None, None, None, None, None, None, (), None, None)


def _clear_partial(deed: Deed, key: str, state: wraps.OpenState, token: str | None, reason: str | None) -> Cancelled:
    carried = {wrap.wrap_token for wrap in (*state.damaged, state.wrap) if wrap}
    last = state.damaged[-1]
    if token and token not in carried:
        raise Refusal(
            "wrap_partial",
            f"The state of wrap {last.id} of project {key} is damaged and does not carry the token {token[:8]}…. "
            "wrap_cancel with partial=true and no token clears exactly that.",
            facts={"wrap_id": last.id, "project_key": key, "verdict": "PARTIAL"},
            project_key=key,
            subject=last.subject,
        )
    for wrap in state.damaged:
        wraps.clear(deed, wrap, authorised_by="partial", reason=reason, judgement=wraps.judge(deed, wrap), partial=True)
    return Cancelled(
        "partial_cleared",
        key,
        last.id,
        last.generation,
        last.token_start,
        last.started_at,
        len(last.episode_ids) or None,
        "PARTIAL",
        ("the wrap's row does not match its seal",),
        "partial",
        reason,
    )


def _cancel(
    deed: Deed, wrap: wraps.Wrap, authorised_by: str, reason: str | None, judgement: Judgement | None = None
) -> Cancelled:
    found = judgement or wraps.judge(deed, wrap)
    partial = found.verdict == "PARTIAL"
    wraps.clear(deed, wrap, authorised_by=authorised_by, reason=reason, judgement=found, partial=partial)
    return Cancelled(
        "partial_cleared" if partial else "cancelled",
        wrap.project_key,
        wrap.id,
        wrap.generation,
        wrap.token_start,
        wrap.started_at,
        len(wrap.episode_ids),
        found.verdict,
        tuple(one.text for one in found.evidence),
        authorised_by,
        reason,
    )


def _mismatch(deed: Deed, wrap: wraps.Wrap, token: str, session: str | None, force: bool) -> Refusal:
    """The refusal of a foreign token: which variant depends on how the open wrap is guarded (wraps.md c)."""
    ignored = " force does not change that." if force and (wrap.bound or wrap.gated_session) else ""
    if wrap.gated_session and session == wrap.gated_session:
        after = "It is another wrap of your own session: leaving the token out ends it."
    elif wrap.bound or wrap.gated_session:
        after = "It is guarded and not yours to end."
    else:
        after = "If you mean this very wrap, leave the token out; do not do so while somebody may be working on it."
    before = f"The token {token[:8]}… is not that of the open wrap,"
    return wraps.refuse_about(deed, wrap, "wrap_token_mismatch", before, after + ignored)


def _refuse_changed_evidence(
    deed: Deed,
    wrap: wraps.Wrap,
    judgement: Judgement,
    verdict: Verdict,
    generation: int | None,
    token_start: str | None,
    last_call_at: str | None,
    row_sha256: str | None,
) -> None:
    last_call = deed.witness.last_call_at(wrap.connection_id)
    changes = []
    if verdict == "PARTIAL" or judgement.verdict == "PARTIAL":
        if verdict != judgement.verdict or (row_sha256 is not None and row_sha256 != wrap.row_sha256):
            changes.append("its row is not the one that was shown")
    else:
        if generation is not None and generation != wrap.generation:
            changes.append(f"its generation is {wrap.generation} now")
        if token_start is not None and token_start != wrap.token_start:
            changes.append("its token is another one now")
        if livelier(judgement.verdict, verdict):
            changes.append(f"its holder looks {judgement.verdict} now, where {verdict} was shown")
        if last_call is not None and last_call != last_call_at and last_call > (last_call_at or ""):
            changes.append(f"its holder has called since, at {last_call}")
    if changes:
        raise Refusal(
            "evidence_changed",
            f"Nothing was cancelled, because wrap {wrap.id} has changed since it was shown: {'; '.join(changes)}. Look again and decide anew.",
            facts={**wraps.facts_about(deed, wrap, judgement), "last_call_at": last_call, "changes": changes},
            project_key=wrap.project_key,
            subject=wrap.subject,
        )
