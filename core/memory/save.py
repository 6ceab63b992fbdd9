"""save_continuity: completing a wrap (wraps.md e; room.md 2.5 and 2.8)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.memory import baton, continuity, salvage, wraps
from core.memory.salvage import SalvageCandidate
from core.store.deed import Deed
from core.texts import not_blank, token_shape


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save answers: the new continuity's revision and length, and how many episodes it now covers."""

    outcome: Literal["saved"]
    project_key: str
    wrap_id: int
    generation: int | None
    continuity_revision: int
    characters: int
    sha256: str
    episodes_compressed: int
    section_characters: dict[str, int]


def save_continuity(
    deed: Deed,
    *,
    project_key: str,
    text: str,
    wrap_token: str | None = None,
    allow_shrink: bool = False,
) -> Saved:
    """Make `text` the project's continuity and complete its open wrap; every version is kept.

    Order (room.md 2.5): `invalid_input` for a malformed token, `wrap_partial`, `wrap_cancelled`, `no_wrap`,
    `save_not_authorized`, `wrap_token_required`, `wrap_token_mismatch`, then the text: `invalid_input` when blank,
    `continuity_structure`, `continuity_too_big`. The text of a late save is kept as salvage (room.md 2.8).
    """
    token = token_shape(wrap_token)
    key = projects.normal_key(project_key)
    wrap = _authorised_wrap(deed, key, token, text)
    return _commit(deed, key, wrap, text, allow_shrink)


def _authorised_wrap(deed: Deed, key: str, token: str | None, text: str) -> wraps.Wrap:
    state = wraps.open_state(deed.transaction, key)
    if state.state == "partial":
        assert state.newest is not None
        raise wraps.partial_refusal(key, state.newest)
    named = wraps.by_token(deed.transaction, key, token) if token else None
    if named and named.ended_at is not None and named.outcome == "cancelled":
        raise _cancelled(key, named, text)
    own = wraps.opened_by(deed.transaction, key, deed.identity.connection_id)
    if state.wrap is None:
        raise _no_wrap(key, token, named or (own[0] if own else None), text)
    wrap = state.wrap
    late = _late_candidate(key, wrap, named, own, text)
    _refuse_unauthorised(deed, key, wrap, token, late)
    if token is None and not (deed.identity.on_stdio and len(own) == 1 and own[0].id == wrap.id):
        raise wraps.refuse_about(
            deed,
            wrap,
            "wrap_token_required",
            "Without a token it is not certain that this text belongs to the open wrap:",
            "Save with the wrap_token that your own prepare_wrap gave you.",
            salvage=late,
        )
    if token is not None and token != wrap.wrap_token:
        was = f"that of wrap {named.id}, saved at {named.ended_at}" if named else "unknown here"
        raise wraps.refuse_about(
            deed,
            wrap,
            "wrap_token_mismatch",
            f"The token {token[:8]}… is {was}, not that of the open one ({wrap.token_start}…):",
            "Save with the token of your own open wrap, or prepare a new one.",
            salvage=late,
        )
    return wrap


def _commit(deed: Deed, key: str, wrap: wraps.Wrap, text: str, allow_shrink: bool) -> Saved:
    not_blank(text, "The continuity text")
    sections = continuity.thaw_schema(wrap.section_schema or "[]")
    canonical = continuity.canonical(text)
    try:
        bodies = continuity.split_sections(canonical, sections)
        characters = continuity.measured_characters(canonical, bodies, sections)
        continuity.refuse_too_big(characters, sections)
    except Refusal as refusal:
        refusal.project_key, refusal.subject = key, wrap.subject
        raise
    now = stamp(deed.clock.now())
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    standing = continuity.newest(deed.transaction, key)
    revision = (standing.revision if standing else 0) + 1
    deed.execute(
        "insert into continuity (project_key, revision, text, sha256, wrap_id, created_at) values (?, ?, ?, ?, ?, ?)",
        (key, revision, canonical, digest, wrap.id, now),
    )
    covered = sum(
        # one by one, by the unique id: together they would be looked for among all that wait
        deed.execute(
            "update episodes set wrap_id = ? where episode_id = ? and project_key = ? and wrap_id is null",
            (wrap.id, episode_id, key),
        ).rowcount
        for episode_id in wrap.episode_ids
    )
    deed.execute(
        "update wraps set ended_at = ?, outcome = 'saved', ended_by = ?, continuity_revision = ? where id = ? and ended_at is null",
        (now, deed.identity.actor.as_json(), revision, wrap.id),
    )
    deed.append(
        "wrap_completed",
        project_key=key,
        subject=wrap.subject,
        data={
            "wrap_id": wrap.id,
            "generation": wrap.generation,
            "wrap_token_start": wrap.token_start,
            "episodes_compressed": covered,
            "continuity_chars": len(canonical),
        },
    )
    deed.append(
        "continuity_saved",
        project_key=key,
        subject=wrap.subject,
        data={"revision": revision, "chars": len(canonical), "content_hash": digest, "allow_shrink": {"requested": allow_shrink}},
    )
    sizes = {heading: len(body) for heading, body in bodies.items()}
    return Saved("saved", key, wrap.id, wrap.generation, revision, len(canonical), digest, covered, sizes)


def _refuse_unauthorised(deed: Deed, key: str, wrap: wraps.Wrap, token: str | None, late: SalvageCandidate | None) -> None:
    """The save authority of wraps.md (d): a gated wrap is saved only by exactly its session, with its token, holding the baton now."""
    gate = projects.find(deed.transaction, key).gate
    if gate == "open" and wrap.gated_session is None:
        return
    session = deed.identity.session_id
    held = baton.holder(deed.transaction, key)
    if session is None:
        why = "this server was started without a session"
    elif token is None:
        why = "it takes the wrap's token as well as its session"
    elif gate == "required" and (held is None or held.session_id != session):
        why = "your session does not hold the baton now"
    elif wrap.gated_session is not None and wrap.gated_session != session:
        why = "it was prepared by another session"
    else:
        return
    raise wraps.refuse_about(
        deed, wrap, "save_not_authorized", f"Only the session that prepared it may save it, and {why}:", "", salvage=late
    )


def _late_candidate(
    key: str, wrap: wraps.Wrap, named: wraps.Wrap | None, own: list[wraps.Wrap], text: str
) -> SalvageCandidate | None:
    """The text as salvage when its wrap is gone or not the caller's, and it can be told which wrap it was for (room.md 2.8)."""
    if named:
        return SalvageCandidate(key, named.id, text)
    gone = [one for one in own if one.id != wrap.id]
    if gone and gone[0] is own[0]:
        return SalvageCandidate(key, gone[0].id, text)
    return None


def _cancelled(key: str, named: wraps.Wrap, text: str) -> Refusal:
    return Refusal(
        "wrap_cancelled",
        f"Wrap {named.id} (generation {named.generation}) of project {key} was cancelled {wraps.cancelled_words(named)}. "
        f"Its token is dead. Nothing was saved; {salvage.fate_words(text)}. The episodes wait for the next prepare_wrap.",
        facts={
            "wrap_id": named.id,
            "generation": named.generation,
            "project_key": key,
            "cancelled_at": named.ended_at,
            "cancelled_by": named.ended_by,
            "reason": named.ended_reason,
        },
        project_key=key,
        subject=named.subject,
        salvage=SalvageCandidate(key, named.id, text),
    )


def _no_wrap(key: str, token: str | None, last: wraps.Wrap | None, text: str) -> Refusal:
    if last and last.outcome == "saved":
        more = f" Wrap {last.id} was saved at {last.ended_at} already; one prepare is good for one save."
    elif last and last.outcome == "cancelled":
        more = f" Your wrap {last.id} was cancelled {wraps.cancelled_words(last)}."
    else:
        more = ""
    return Refusal(
        "no_wrap",
        f"No wrap is open in project {key}, so there is nothing to save.{more} Call prepare_wrap first.",
        facts={"project_key": key, "wrap_id": last.id if last else None, "outcome": last.outcome if last else None},
        project_key=key,
        subject=last.subject if last else f"project:{key}",
        salvage=SalvageCandidate(key, last.id, text) if last else None,
    )
