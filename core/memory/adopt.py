"""adopt_continuity: the operator saves a kept text as a new wrap, in one deed with all of the save's checks (issue 4, 5; room.md 2.8)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from core import projects
from core.errors import Refusal
from core.memory import continuity, kept_texts, opening, save, section_schemas, wraps
from core.memory.kept_texts import KeptKind, KeptText
from core.memory.save import Saved
from core.memory.wraps import Wrap
from core.store.deed import Deed, Reading
from core.texts import digest, reason_text

IDS_TOLD = 20
NOTHING_SAVED = "Nothing was saved, and the kept text is as it was."


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a kept text cannot be adopted: which of its prepare's conditions no longer holds, and in words how."""

    what: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Adopted:
    """What `adopt_continuity` answers: the save's own result, and what it was made of. `texts` counts the kept texts dealt with."""

    kind: KeptKind
    id: int
    from_wrap_id: int
    texts: int
    edited: bool
    saved: Saved


def adopt_continuity(
    deed: Deed,
    *,
    project_key: str,
    kind: KeptKind,
    item_id: int,
    text: str,
    expected_revision: int,
    reason: str,
    allow_shrink: bool = False,
) -> Adopted:
    """Save `text`, a kept text as the operator edited it, as a new wrap over the episodes that its own wrap had frozen.

    The new wrap has a token and generation of its own and the old one's date, sections and episodes. `expected_revision` is
    the standing continuity's as it was shown, 0 when there is none. Order: `invalid_input` (reason, kind, project),
    `kept_text_not_found`, `wrap_partial`, `wrap_in_progress`, `continuity_revision_conflict`, `adopt_conflict` naming each of
    revision, sections and episodes that are no longer those of the prepare, then the text as in save_continuity (wraps.md e1).
    """
    why = reason_text(reason, required=True)
    key = projects.normal_key(project_key)
    item = kept_texts.required(deed.transaction, kind, item_id)
    if item.project_key != key:
        raise Refusal(
            "invalid_input",
            f"The {kind} {item_id} is not of project {key[:60]}.",
            project_key=item.project_key,
            subject=item.subject,
        )
    section_schemas.refuse_while_open(deed, key, "A text can be adopted only while no wrap is open")
    refuse_other_revision(deed, key, expected_revision, item.subject)
    old = wraps.by_id(deed.transaction, item.wrap_id)
    found = obstacles(deed.transaction, item)
    if found or old is None:
        raise Refusal(
            "adopt_conflict",
            f"The {kind} {item_id} cannot be adopted any more: {'; '.join(one.sentence for one in found)}. {NOTHING_SAVED}",
            facts={"kind": kind, "id": item_id, "obstacles": {one.what: one.sentence for one in found}},
            project_key=key,
            subject=item.subject,
        )
    origin = {"kind": kind, "id": item_id, "wrap_id": item.wrap_id}
    started = opening.start(
        deed,
        projects.find(deed.transaction, key),
        episode_ids=old.episode_ids,
        sections=continuity.thaw_schema(old.section_schema or "[]"),
        wrap_date=old.wrap_date or deed.clock.today().isoformat(),
        prepared_revision=expected_revision,
        told={"adopted_from": origin},
    )
    wrap = wraps.by_id(deed.transaction, started.wrap_id)
    assert wrap is not None
    try:
        saved = save.complete(deed, key, wrap, text, allow_shrink, adopted_from=f"{kind}:{item_id}")
    except Refusal as refusal:
        # the new wrap is rolled back with it, so the refusal is about the one that the text was written for
        raise save.about(refusal, key, item.subject, NOTHING_SAVED) from None
    _, texts = kept_texts.mark(deed, item)
    edited = text != item.text
    deed.append(
        "continuity_adopted",
        project_key=key,
        subject=wrap.subject,
        data={
            **origin,
            "revision": saved.continuity_revision,
            "kept_text": digest(item.text),
            "edited": edited,
            "texts_dealt_with": texts,
            "reason": why,
        },
    )
    return Adopted(kind, item_id, item.wrap_id, texts, edited, saved)


def refuse_other_revision(deed: Deed, key: str, expected_revision: int, subject: str) -> None:
    """Refuses `continuity_revision_conflict` when the standing continuity is not the one that the operator was shown."""
    standing = continuity.newest(deed.transaction, key)
    revision = standing.revision if standing else 0
    if revision != expected_revision:
        raise Refusal(
            "continuity_revision_conflict",
            f"The continuity of project {key} is at revision {revision}, not {expected_revision}: look at what changed, then go on from it.",
            facts={"project_key": key, "expected_revision": expected_revision, "revision": revision},
            project_key=key,
            subject=subject,
        )


def obstacles(reading: Reading, item: KeptText) -> tuple[Obstacle, ...]:
    """What keeps a kept text from being adopted: revision, sections or episodes that are not those of its prepare any more."""
    wrap = wraps.by_id(reading, item.wrap_id)
    if wrap is None or not wrap.coherent:
        return (Obstacle("wrap", f"the state of wrap {item.wrap_id} is damaged, so what it froze is not known"),)
    found = []
    standing = continuity.newest(reading, item.project_key)
    revision = standing.revision if standing else 0
    if wrap.prepared_revision != revision:
        was = "an unknown revision" if wrap.prepared_revision is None else f"revision {wrap.prepared_revision}"
        found.append(Obstacle("revision", f"it was written from {was} of the continuity, which is at {revision} now"))
    sections = section_schemas.of_project(projects.find(reading, item.project_key))
    if wrap.section_schema != continuity.frozen_schema(sections):
        found.append(Obstacle("sections", "it was written for other sections than the project has now"))
    return (*found, *_of_episodes(reading, wrap))


def _of_episodes(reading: Reading, wrap: Wrap) -> list[Obstacle]:
    rows = reading.all(
        "select frozen.value as id, e.episode_id is null as gone from json_each(?) frozen"
        " left join episodes e on e.episode_id = frozen.value and e.project_key = ? where e.episode_id is null or e.wrap_id is not null",
        (json.dumps(wrap.episode_ids), wrap.project_key),
    )
    gone = [row["id"] for row in rows if row["gone"]]
    covered = [row["id"] for row in rows if not row["gone"]]
    words = (("gone", "deleted", gone), ("covered", "covered by another wrap", covered))
    return [
        Obstacle(
            what, f"{len(ids)} of its {len(wrap.episode_ids)} episodes {'is' if len(ids) == 1 else 'are'} {how} ({_named(ids)})"
        )
        for what, how, ids in words
        if ids
    ]


def _named(ids: list[str]) -> str:
    more = f" and {len(ids) - IDS_TOLD} more" if len(ids) > IDS_TOLD else ""
    return f"{', '.join(ids[:IDS_TOLD])}{more}"
