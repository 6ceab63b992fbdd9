"""prepare_wrap: opening a project's one wrap (wraps.md b and d; room.md 2.3, 2.5 and 2.10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from core import projects
from core.errors import Refusal
from core.memory import baton, continuity, kept_texts, opening, package, pattern_reports, section_schemas, wraps
from core.memory.package import PackedEpisode  # by name: the field `package` below hides the module
from core.memory.pattern_reports import Stale
from core.models import Judgement
from core.store.deed import Deed
from core.texts import token_shape

PrepareOutcome = Literal["opened", "nothing_to_wrap", "downgraded"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What prepare_wrap answers. `package` is the text for the agent, None unless a wrap was opened.

    `stale_patterns` are lines of the standing text that were not grounded for `staleness_days`, the oldest first.
    `waiting` counts the episodes of the window that this wrap does not hold, `salvage_waiting` the late texts kept,
    `drafts_waiting` the drafts left behind by wraps that ended without a save.
    """

    outcome: PrepareOutcome
    reason: baton.DowngradeReason | None
    project_key: str
    wrap_token: str | None
    wrap_id: int | None
    generation: int | None
    wrap_date: str | None
    episodes: tuple[PackedEpisode, ...]
    stale_patterns: tuple[Stale, ...]
    waiting: int
    salvage_waiting: int
    drafts_waiting: int
    target_chars: int | None
    hard_max_chars: int | None
    package: str | None


def prepare_wrap(
    deed: Deed,
    *,
    project_key: str,
    max_chars: int | None = None,
    staleness_days: int = 7,
    max_package_chars: int = package.CHARACTERS_DEFAULT,
    wrap_token: str | None = None,
) -> Prepared:
    """Open the project's wrap over the oldest episodes that fit, or say why not.

    `max_chars` moves the advised length of the continuity only; `max_package_chars` bounds the package, in characters.
    Order (room.md 2.5): gate (a downgrade, no refusal), `wrap_partial`, empty window, `wrap_in_progress`,
    `wrap_token_spent`; before it `invalid_input` for a malformed token.
    """
    token = token_shape(wrap_token)
    key = projects.normal_key(project_key)
    project = projects.find(deed.transaction, key)
    waiting = projects.counters(deed.transaction, key).get("waiting", 0)
    decision = baton.decide(deed.transaction, deed.witness, project, deed.identity.session_id)
    if decision.reason:
        return _without_wrap(deed, "downgraded", decision.reason, key, waiting)
    state = wraps.open_state(deed.transaction, key)
    if state.state == "partial":
        assert state.newest is not None
        raise wraps.partial_refusal(key, state.newest)
    if waiting == 0:
        return _empty_window(deed, project, state.wrap, token)
    if state.wrap:
        raise _in_progress(deed, state.wrap, wraps.judge(deed, state.wrap), more={"retry_after_seconds": 30})
    if token and deed.one("select 1 from wraps where wrap_token = ?", (token,)):
        raise Refusal(
            "wrap_token_spent",
            f"The wrap token {token[:8]}… has been used before; a token is good for one wrap. Prepare with a new one, or with none.",
            project_key=key,
            subject=f"project:{key}",
        )
    return _open(deed, project, decision.gated_session, token, waiting, max_chars, staleness_days, max_package_chars)


def _open(
    deed: Deed,
    project: projects.Project,
    gated_session: str | None,
    token: str | None,
    waiting: int,
    max_chars: int | None,
    staleness_days: int,
    max_package_chars: int,
) -> Prepared:
    key = project.project_key
    sections = section_schemas.of_project(project)
    standing = continuity.newest(deed.transaction, key)
    wrap_date = deed.clock.today().isoformat()
    text = standing.text if standing else None
    headings = continuity.heading_lines(text or "", sections, "graduating")
    stale = pattern_reports.stale((text or "").split("\n"), headings, wrap_date, staleness_days)
    stale_told = package.stale_lines(stale, staleness_days)
    fixed = len(package.instructions(sections, max_chars, wrap_date)) + len(text or "") + len("\n".join(stale_told)) + 400
    rows = deed.execute(
        "select episode_id, created_at, episode_type, source, effective_trust, content from episodes"
        " where project_key = ? and wrap_id is null order by id",
        (key,),
    )
    packed = package.pack(rows, max_package_chars - fixed)
    rows.close()
    ids = [episode.episode_id for episode in packed]
    started = opening.start(
        deed,
        project,
        episode_ids=ids,
        sections=sections,
        wrap_date=wrap_date,
        prepared_revision=standing.revision if standing else 0,
        wrap_token=token,
        gated_session=gated_session,
    )
    left = waiting - len(ids)
    kept = kept_texts.waiting(deed.transaction, key)
    body = package.render(
        packed,
        sections=sections,
        continuity=text,
        max_chars=max_chars,
        stale_told=stale_told,
        wrap_date=wrap_date,
        waiting=left,
        salvage_waiting=kept.salvage,
        drafts_waiting=kept.drafts,
    )
    return Prepared(
        "opened",
        None,
        key,
        started.wrap_token,
        started.wrap_id,
        started.generation,
        wrap_date,
        tuple(packed),
        stale,
        left,
        kept.salvage,
        kept.drafts,
        max_chars or continuity.target_characters(sections),
        continuity.hard_maximum(sections),
        body,
    )


def _empty_window(deed: Deed, project: projects.Project, wrap: wraps.Wrap | None, token: str | None) -> Prepared:
    """Nothing waits: a wrap that is open has lost its episodes, so it is ended, unless it is another's to end (wraps.md b)."""
    key = project.project_key
    if wrap is None:
        return _without_wrap(deed, "nothing_to_wrap", None, key, 0)
    if wrap.bound and wrap.wrap_token != token:
        return _without_wrap(deed, "downgraded", "bound_wrap_open", key, 0)
    if wrap.gated_session and (project.gate == "open" or deed.identity.session_id is None):
        return _without_wrap(deed, "downgraded", "gated_wrap_open", key, 0)
    judgement = wraps.judge(deed, wrap)
    own = wrap.connection_id == deed.identity.connection_id
    if project.peer_cancel == "dead" and not own and judgement.verdict != "DEAD":
        # a strict project lets nobody end a peer's wrap on the way to something else (room.md 2.7)
        raise _in_progress(deed, wrap, judgement)
    wraps.clear(deed, wrap, authorised_by="empty_window", reason=None, judgement=judgement, partial=False)
    return _without_wrap(deed, "nothing_to_wrap", None, key, 0)


def _without_wrap(deed: Deed, outcome: PrepareOutcome, reason: baton.DowngradeReason | None, key: str, waiting: int) -> Prepared:
    kept = kept_texts.waiting(deed.transaction, key)
    return Prepared(outcome, reason, key, None, None, None, None, (), (), waiting, kept.salvage, kept.drafts, None, None, None)


def _in_progress(deed: Deed, wrap: wraps.Wrap, judgement: Judgement, *, more: dict[str, Any] | None = None) -> Refusal:
    advice = _advice(deed, wrap, judgement)
    return wraps.refuse_about(deed, wrap, "wrap_in_progress", "A wrap is open already:", advice, judgement=judgement, more=more)


def _advice(deed: Deed, wrap: wraps.Wrap, judgement: Judgement) -> str:
    """What the blocked agent is to do: finish its own, wait for a live peer; for a dead one there is a way, unless it is guarded."""
    if wrap.connection_id == deed.identity.connection_id:
        return "It is your own: save it with its token, or end it with wrap_cancel and that token."
    if judgement.verdict == "DEAD":
        if wrap.bound or wrap.gated_session:
            return "Go on recording and tell the operator, who can end it in the console."
        return "Nobody can finish it any more: wrap_cancel ends it, and its episodes come back to the window."
    return "Go on recording and try again later; do not cancel a wrap that somebody may be working on."
