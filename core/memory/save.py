"""save_continuity: completing a wrap (wraps.md e; room.md 2.5 and 2.8)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Literal

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.memory import baton, continuity, durable, pattern_reports, patterns, salvage, text_gates, wraps
from core.memory.continuity import Section, Version
from core.memory.durable import DurableFacts
from core.memory.graduation import Graduated, Judgement, PatternLine, Standing, graduate
from core.memory.pattern_reports import NamedLine, Proven
from core.memory.salvage import SalvageCandidate
from core.store.deed import Deed
from core.texts import not_blank, token_shape

LINES_TOLD = 50
IDS_TOLD = 20
CHARACTERS_TOLD = 300
STILL_OPEN = "The wrap is still open: save again with the same token."


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """A line of the saved text that has a level, as graduation judged it (wraps.md e3).

    `written` and `level` are its levels before and after, `prior` what it stood on (null: unknown);
    `capped` says that the level bound cut it, `detail` why.
    """

    line_number: int
    name: str
    written: int
    prior: int | None
    level: int
    judgement: Judgement
    capped: bool
    detail: str
    cited: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save answers: the new continuity's revision and length, how many episodes it now covers, and what became of its patterns.

    `patterns` has every line with a level, as it was judged; `vanished` are proven patterns that the text leaves out,
    `undeclared` those newly proven without a word on what they contradict, `cited_often` ids cited on three lines or more.
    """

    outcome: Literal["saved"]
    project_key: str
    wrap_id: int
    generation: int | None
    continuity_revision: int
    characters: int
    sha256: str
    episodes_compressed: int
    section_characters: dict[str, int]
    graduations_validated: int
    graduations_demoted: int
    skipped_by_date: int
    patterns: tuple[JudgedLine, ...]
    vanished: tuple[Proven, ...]
    undeclared: tuple[Proven, ...]
    cited_often: tuple[str, ...]
    citations_unresolved: bool
    durable: DurableFacts


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
    `save_not_authorized`, `wrap_token_required`, `wrap_token_mismatch`, then the text (wraps.md e1): `invalid_input` when
    blank, `continuity_structure` for its sections and its state lines, `continuity_shrink` unless `allow_shrink`, and
    `continuity_too_big` for what graduation makes of it. The text of a late save is kept as salvage (room.md 2.8).
    """
    token = token_shape(wrap_token)
    key = projects.normal_key(project_key)
    wrap = authorised_wrap(deed, key, token, text)
    try:
        return complete(deed, key, wrap, text, allow_shrink)
    except Refusal as refusal:
        raise about(refusal, key, wrap.subject, STILL_OPEN) from None


def about(refusal: Refusal, key: str, subject: str, ending: str) -> Refusal:
    """A refusal of the text, with what it is about, and `ending` for what the caller is to do now."""
    return Refusal(refusal.code, f"{refusal.sentence} {ending}", facts=refusal.facts, project_key=key, subject=subject)


def authorised_wrap(deed: Deed, key: str, token: str | None, text: str) -> wraps.Wrap:
    """The open wrap that a caller with this token may write `text` for, else the refusal of room.md 2.5; a late text becomes salvage."""
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


@dataclass(frozen=True, slots=True)
class _Written:
    """A text that passed every check, as it is to be saved, and what the checks found."""

    text: str
    submitted: str
    graduated: Graduated
    known: Standing
    before: dict[str, NamedLine]
    after: dict[str, NamedLine]
    durable: DurableFacts
    sizes: dict[str, int]
    allow_shrink: dict[str, Any]


def complete(deed: Deed, key: str, wrap: wraps.Wrap, text: str, allow_shrink: bool, *, adopted_from: str | None = None) -> Saved:
    """Save `text` as what completes an open wrap: every check of the text, the version, patterns, episodes, trail (wraps.md e).

    Its refusals say nothing of what they are about. `adopted_from` names the kept text that an operator adopts.
    """
    not_blank(text, "The continuity text")
    sections = continuity.thaw_schema(wrap.section_schema or "[]")
    standing = continuity.newest(deed.transaction, key)
    written = _checked(deed, key, wrap, text, standing, sections, allow_shrink)
    now = stamp(deed.clock.now())
    digest = _sha256(written.text)
    revision = (standing.revision if standing else 0) + 1
    deed.execute(
        "insert into continuity (project_key, revision, text, sha256, wrap_id, created_at, submitted_sha256, adopted_from)"
        " values (?, ?, ?, ?, ?, ?, ?, ?)",
        (key, revision, written.text, digest, wrap.id, now, _sha256(written.submitted), adopted_from),
    )
    deed.execute("delete from drafts where wrap_id = ?", (wrap.id,))  # the version that it became is kept
    patterns.record(deed, key, wrap, written.graduated, written.known, written.before)
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
    graduated = written.graduated
    saved = Saved(
        "saved",
        key,
        wrap.id,
        wrap.generation,
        revision,
        len(written.text),
        digest,
        covered,
        written.sizes,
        graduated.validated,
        graduated.demoted,
        graduated.skipped_by_date,
        tuple(_judged_line(line, written.known.prior(line.key)) for line in graduated.lines),
        pattern_reports.vanished(written.before, written.after),
        pattern_reports.undeclared(written.before, written.after, wrap.wrap_date or ""),
        graduated.reused,
        graduated.unresolved,
        _brief(written.durable),
    )
    _tell_trail(deed, wrap, saved, written)
    return saved


def _checked(
    deed: Deed, key: str, wrap: wraps.Wrap, text: str, standing: Version | None, sections: tuple[Section, ...], allow_shrink: bool
) -> _Written:
    """The text through the checks of wraps.md e1, 5 to 9, in their order."""
    before = standing.text if standing else None
    submitted = continuity.canonical(text)
    canonical, facts = durable.keep(before, submitted, sections)
    continuity.split_sections(canonical, sections)
    text_gates.refuse_unannotated_state(canonical, sections)
    shrunk = text_gates.shrunk_parts(before, canonical, sections)
    if shrunk and not allow_shrink:
        raise text_gates.shrink_refusal(shrunk)
    known = patterns.standing(deed.transaction, key, wrap, canonical, before, sections)
    graduated = graduate(canonical, known)
    bodies = continuity.split_sections(graduated.text, sections)
    continuity.refuse_too_big(durable.measured_characters(graduated.text, sections), sections)
    headings_before = continuity.heading_lines(before or "", sections, "graduating")
    return _Written(
        graduated.text,
        submitted,
        graduated,
        known,
        pattern_reports.named_lines((before or "").split("\n"), headings_before),
        pattern_reports.named_lines(graduated.text.split("\n"), known.headings),
        facts,
        {heading: len(body) for heading, body in bodies.items()},
        {"requested": allow_shrink, **({"mattered": [one.part for one in shrunk]} if allow_shrink else {})},
    )


def _judged_line(line: PatternLine, prior: int | None) -> JudgedLine:
    cited = line.cited[:IDS_TOLD]
    detail = _cut(line.detail)
    return JudgedLine(line.line_number, line.name, line.written, prior, line.level, line.judgement, line.capped, detail, cited)


def _brief(facts: DurableFacts) -> DurableFacts:
    """What the result tells of the durable facts: the first lines of each kind, cut; the trail counts them all."""
    return replace(
        facts,
        reinserted=_first_lines(facts.reinserted),
        dropped=_first_lines(facts.dropped),
        unknown_drops=_first_lines(facts.unknown_drops),
    )


def _first_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_cut(line) for line in lines[:LINES_TOLD])


def _cut(text: str) -> str:
    return text if len(text) <= CHARACTERS_TOLD else f"{text[:CHARACTERS_TOLD]}…"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _tell_trail(deed: Deed, wrap: wraps.Wrap, saved: Saved, written: _Written) -> None:
    deed.append(
        "wrap_completed",
        project_key=saved.project_key,
        subject=wrap.subject,
        data={
            "wrap_id": wrap.id,
            "generation": wrap.generation,
            "wrap_token_start": wrap.token_start,
            "episodes_compressed": saved.episodes_compressed,
            "continuity_chars": saved.characters,
            "graduations_validated": saved.graduations_validated,
            "graduations_demoted": saved.graduations_demoted,
            "citation_reuse_max": max(written.graduated.citations.values(), default=0),
            "patterns_extracted": len(saved.patterns),
        },
    )
    lines = [line for line in saved.patterns if line.judgement not in ("kept", "older") or line.capped]
    judged = [
        {"name": line.name, "written": line.written, "level": line.level, "judgement": line.judgement, "capped": line.capped}
        for line in lines
    ]
    told = {
        "patterns": judged,
        "omitted_patterns": [{"name": one.name, "level": one.level} for one in saved.vanished],
        "proven_without_contradicts_declaration": [{"name": one.name, "level": one.level} for one in saved.undeclared],
        "durable_dropped": list(written.durable.dropped),
        "durable_reinserted": list(written.durable.reinserted),
    }
    deed.append(
        "continuity_saved",
        project_key=saved.project_key,
        subject=wrap.subject,
        data={
            "revision": saved.continuity_revision,
            "chars": saved.characters,
            "content_hash": saved.sha256,
            "allow_shrink": written.allow_shrink,
            **{name: value for name, value in told.items() if value},
        },
    )


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
