"""The tools for wraps: prepare_wrap, save_continuity, wrap_cancel, status (wraps.md b, c and e; room.md 2.3 and 2.5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from core.ages import words_for_age
from core.memory.cancel import Cancelled
from core.memory.drafts import Drafted
from core.memory.package import CHARACTERS_DEFAULT, CHARACTERS_LEAST, CHARACTERS_MOST
from core.memory.pattern_reports import Proven
from core.memory.prepare import Prepared
from core.memory.save import JudgedLine, Saved
from core.memory.status import Status, WrapStatus
from core.server.tools import Arguments, ProjectKey, tool
from core.texts import REASON_LIMIT

TOKEN = {"pattern": "^[0-9a-f]{32}$"}
"""For the schema alone: the verb checks the shape, in its own words and its own order."""


class PrepareArguments(Arguments):
    """What prepare_wrap takes."""

    max_chars: Annotated[
        int | None,
        Field(
            ge=1,
            le=CHARACTERS_MOST,
            description="How long the new continuity is to be, as advice; left out: as the sections say.",
        ),
    ] = None
    staleness_days: Annotated[
        int, Field(ge=0, le=36_500, description="After how many days without new grounds a pattern may be let go.")
    ] = 7
    max_package_chars: Annotated[
        int,
        Field(
            ge=CHARACTERS_LEAST,
            le=CHARACTERS_MOST,
            description="How many characters the package may have. The oldest episodes that fit are in it, the others wait.",
        ),
    ] = CHARACTERS_DEFAULT
    wrap_token: Annotated[
        str | None,
        Field(
            json_schema_extra=TOKEN,
            description="A token of your own choice, 32 lower-case hexadecimal characters, never used before. Left out: one is made for you.",
        ),
    ] = None
    project_key: ProjectKey = None


class SaveArguments(Arguments):
    """What save_continuity takes."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            description="The whole new continuity, with every section that prepare_wrap asked for. It replaces the old one.",
        ),
    ]
    wrap_token: Annotated[
        str | None, Field(json_schema_extra=TOKEN, description="The token that your own prepare_wrap gave you. Always send it.")
    ] = None
    allow_shrink: Annotated[bool, Field(description="Whether a text much shorter than the old one is meant so.")] = False
    allow_unlinked: Annotated[Any, Field(description="Accepted for old clients; has no effect.")] = None
    affective_state: Annotated[Any, Field(description="Accepted for old clients; has no effect.")] = None
    project_key: ProjectKey = None


class DraftArguments(Arguments):
    """What draft_continuity takes."""

    wrap_token: Annotated[str, Field(json_schema_extra=TOKEN, description="The token that your own prepare_wrap gave you.")]
    text: Annotated[
        str, Field(description="The continuity as far as you have written it, at most 1 MB. It is kept as it is and not judged.")
    ]
    project_key: ProjectKey = None


class CancelArguments(Arguments):
    """What wrap_cancel takes."""

    wrap_token: Annotated[
        str | None,
        Field(
            json_schema_extra=TOKEN, description="The token of the wrap to end. With it exactly that wrap is ended, or nothing."
        ),
    ] = None
    session_id: Annotated[
        str | None, Field(min_length=1, description="The session that you act as, where this server has none.")
    ] = None
    force: Annotated[
        bool, Field(description="Whether to end the open wrap whoever holds it. Never by reflex: ask its holder first.")
    ] = False
    partial: Annotated[bool, Field(description="Whether to clear damaged state, and nothing but that. Takes no wrap_token.")] = (
        False
    )
    reason: Annotated[
        str | None, Field(max_length=REASON_LIMIT, description="Why, in one sentence; the holder gets to read it.")
    ] = None
    project_key: ProjectKey = None


class StatusArguments(Arguments):
    """What status takes."""

    project_key: ProjectKey = None


def prepare_text(done: Prepared) -> str:
    """The package with the token as its last line, or why there is none."""
    kept = f" {done.salvage_waiting} salvaged text(s) of late saves wait for the operator." if done.salvage_waiting else ""
    if done.drafts_waiting:
        kept += f" {done.drafts_waiting} draft(s) of wraps that ended without a save wait for the operator."
    if done.outcome == "opened":
        return f"{done.package}\n\n---\nWrap token: {done.wrap_token}"
    if done.outcome == "nothing_to_wrap":
        return f"Nothing to wrap: no episode of project {done.project_key} waits.{kept}"
    why = {
        "baton_required": "this project's memory is consolidated by one session only, and this server was started without one",
        "no_baton": "nobody holds this project's baton; the operator gives it to a session",
        "not_baton_holder": "another session holds this project's baton",
        "stale_baton_holder": "another session holds this project's baton, and does not seem to be there any more; the operator can give it to you",
        "bound_wrap_open": "no episode waits, and the wrap that is open is another's, guarded by its own token",
        "gated_wrap_open": "no episode waits, and the wrap that is open belongs to the session that prepared it",
    }[done.reason or "no_baton"]
    return (
        f"Capture only (downgraded: {done.reason}): {why}. No wrap was opened. "
        f"{done.waiting} episode(s) of project {done.project_key} wait; go on recording.{kept}"
    )


def save_text(done: Saved) -> str:
    """What save_continuity did, in words: the text, what became of its patterns line by line, durable facts, and warnings."""
    sizes = ", ".join(f"{name} {size:,}" for name, size in done.section_characters.items())
    lines = [
        f"Saved: continuity revision {done.continuity_revision} of project {done.project_key}, {done.characters:,} characters. "
        f"Wrap {done.wrap_id} is complete and covers {done.episodes_compressed} episode(s). Sections: {sizes}."
    ]
    if done.patterns:
        lines.append(
            f"Patterns: {done.graduations_validated} validated, {done.graduations_demoted} demoted, "
            f"{done.skipped_by_date} not dated today. The text was saved with these levels:"
        )
    worth = [one for one in done.patterns if one.capped or one.judgement not in ("kept", "older")]
    lines += [f"- line {one.line_number}, {_levels(one)}: {one.judgement}; {one.detail}" for one in worth]
    if done.citations_unresolved:
        lines.append("None of today's citations names an episode of this wrap; cite ids as prepare_wrap gave them.")
    if done.cited_often:
        lines.append(f"Cited on three lines or more: {', '.join(done.cited_often)}.")
    if done.vanished:
        lines.append(f"Proven patterns that this text leaves out: {_named(done.vanished)}.")
    if done.undeclared:
        lines.append(
            f"Newly proven without [contradicts: name] or [no-contradicts]: {_named(done.undeclared)}. Say at the next wrap which it is."
        )
    facts = done.durable
    if facts.reinserted:
        lines.append(
            f"{len(facts.reinserted)} durable fact(s) were left out and put back; to drop one, write [drop-durable: its exact text] there."
        )
    if facts.dropped:
        lines.append(f"{len(facts.dropped)} durable fact(s) dropped by their marker.")
    if facts.unknown_drops:
        lines.append(f"{len(facts.unknown_drops)} drop marker(s) named no durable fact and were removed: the text must be exact.")
    if facts.characters > facts.budget:
        lines.append(
            f"The durable facts have {facts.characters:,} characters, over the {facts.budget:,} that they should keep to."
        )
    return "\n".join(lines)


def draft_text(done: Drafted) -> str:
    """What draft_continuity kept, in words."""
    if not done.changed:
        return (
            f"Kept already: the newest draft of wrap {done.wrap_id} is this very text. The wrap is open; save it when it is done."
        )
    return (
        f"Kept as draft {done.draft_id} of wrap {done.wrap_id}, {done.characters:,} characters; {done.drafts} draft(s) of it are kept. "
        "Nothing was saved: the wrap is open, save_continuity completes it."
    )


def _levels(one: JudgedLine) -> str:
    return f"{one.name} {one.level}x" if one.level == one.written else f"{one.name} {one.written}x to {one.level}x"


def _named(patterns: Iterable[Proven]) -> str:
    return ", ".join(f"{one.name} {one.level}x" for one in patterns)


def cancel_text(done: Cancelled) -> str:
    """The receipt of a cancel, in words."""
    if done.outcome == "nothing_open":
        return f"No wrap was open in project {done.project_key}; nothing was changed."
    what = "Cleared the damaged state of" if done.outcome == "partial_cleared" else "Cancelled"
    token = f", token {done.wrap_token_start}…" if done.wrap_token_start else ""
    since = f", open since {done.started_at}" if done.started_at else ""
    held = f" Its {done.episodes} episode(s) wait for the next prepare_wrap." if done.episodes else ""
    return f"{what} wrap {done.wrap_id} of project {done.project_key}{token}{since}.{held} No episode was deleted."


def status_text(found: Status) -> str:
    """The project's memory at a glance; it names no session (room.md 2.2)."""
    types = ", ".join(f"{count} {name}" for name, count in sorted(found.episodes_by_type.items()))
    since = f"last at {found.last_wrap_at}" if found.last_wrap_at else "none yet"
    continuity = (
        f"Continuity: revision {found.continuity_revision}, {found.continuity_characters:,} characters."
        if found.continuity_revision is not None and found.continuity_characters is not None
        else "Continuity: none yet."
    )
    lines = [
        f"Project {found.project_key}{'' if found.project_exists else ' (nothing recorded yet)'}",
        f"Episodes: {found.episodes_total}{f' ({types})' if types else ''}; {found.episodes_waiting} wait for a wrap.",
        f"Wraps: {found.wraps_completed} completed ({since}), {found.wraps_cancelled} cancelled.",
        _wrap_line(found.wrap),
        continuity,
    ]
    if found.tombstones:
        lines.append(f"Tombstones: {found.tombstones}.")
    if found.salvage_waiting:
        lines.append(f"Salvaged texts of late saves that wait for the operator: {found.salvage_waiting}.")
    if found.drafts_waiting:
        lines.append(f"Drafts of wraps that ended without a save, waiting for the operator: {found.drafts_waiting}.")
    if found.gate == "required":
        may = "may consolidate it" if found.may_consolidate else f"would only capture ({found.gate_reason})"
        lines.append(f"Gate: one session consolidates this project; this server {may}.")
    lines.append(f"Trail: {found.trail_rows} rows in this store.")
    return "\n".join(lines)


def _wrap_line(wrap: WrapStatus | None) -> str:
    if wrap is None:
        return "Open wrap: none."
    if wrap.state == "partial":
        return f"Open wrap: {wrap.wrap_id} is damaged (partial); wrap_cancel with partial=true clears it."
    whose = "yours" if wrap.opened_by_you else f"by {wrap.client_name or 'an unnamed client'} (pid {wrap.pid} on {wrap.host})"
    age = "for an unknown time" if wrap.age_seconds is None else f"for {words_for_age(wrap.age_seconds)}"
    reasons = "; ".join(wrap.evidence)
    return (
        f"Open wrap: {wrap.wrap_id} (generation {wrap.generation}), {whose}, open {age}, since {wrap.started_at}, "
        f"{wrap.episodes} episode(s). Its holder looks {wrap.verdict}: {reasons}."
    )


TOOLS = (
    tool(
        "prepare_wrap",
        title="Prepare a wrap",
        description=(
            "Begin to compress the memory: opens the project's one wrap, and gives the oldest waiting episodes, the current continuity "
            "and a wrap token. Then write the new continuity and save_continuity with that token; or wrap_cancel with it. "
            "Refused while another wrap is open: go on recording and try again later."
        ),
        arguments=PrepareArguments,
        result=Prepared,
        text=prepare_text,
        left_out=frozenset({"package"}),
    ),
    tool(
        "save_continuity",
        title="Save the continuity",
        description=(
            "Complete the open wrap: the text becomes the project's continuity, REPLACING it whole (old versions are kept), and the "
            "wrap's episodes count as compressed. The sections are those that prepare_wrap named. Levels of patterns are judged from the "
            "episodes that they cite: the answer says line by line what was held, demoted or cut."
        ),
        arguments=SaveArguments,
        result=Saved,
        text=save_text,
        ignored=frozenset({"allow_unlinked", "affective_state"}),
    ),
    tool(
        "draft_continuity",
        title="Keep a draft of the continuity",
        description=(
            "Keep what you have written so far for your open wrap, so that it is not lost if you are stopped: the operator can go on "
            "from it. It saves nothing and judges nothing; the newest 5 drafts of a wrap are kept. save_continuity completes the wrap."
        ),
        arguments=DraftArguments,
        result=Drafted,
        text=draft_text,
    ),
    tool(
        "wrap_cancel",
        title="Cancel a wrap",
        description=(
            "End the open wrap without saving; its episodes wait for the next one, and nothing is deleted. Send your own wrap's token. "
            "Do not end a wrap that somebody may be working on: status says whose it is and whether its holder looks alive."
        ),
        arguments=CancelArguments,
        result=Cancelled,
        text=cancel_text,
    ),
    tool(
        "status",
        title="Status of the memory",
        description=(
            "How much the project's memory holds, how many episodes wait for a wrap, and the open wrap with its age and whether its "
            "holder looks alive. Changes nothing and waits for nobody."
        ),
        arguments=StatusArguments,
        result=Status,
        text=status_text,
    ),
)
