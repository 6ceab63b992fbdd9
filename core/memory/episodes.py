"""Episodes: recording one and deleting one (wraps.md a2 and b; room.md 2.2 and 2.4)."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from core import projects, texts
from core.clock import stamp
from core.errors import Refusal, StoreError
from core.memory import patterns
from core.memory.patterns import Revoked
from core.memory.words import meaningful
from core.store.deed import Deed

EPISODE_TYPES = ("observation", "decision", "tension", "question", "outcome", "context")
TRUST_LEVELS = ("external", "tool", "agent", "operator")
"""From the least to the most believed (wraps.md a2)."""
STATE_KEY_LIMIT = 200
SHARED_WORDS_PERCENT = 25
"""How much of the shorter text's meaningful words an old and a new episode must share (wraps.md a2)."""
ID_ATTEMPTS = 16
IDS_NAMED = 20
"""Ids that one sentence names; its facts hold all of them."""


class Absent(Enum):
    """Tells metadata that was left out from a JSON null (room.md 2.4: metadata is any JSON value)."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Recorded:
    """What `record` answers. `superseded` are the ids that the accepted supersedes links name."""

    episode_id: str
    created_at: str
    episode_type: str
    project_key: str
    trust: str
    effective_trust: str
    superseded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Deleted:
    """What `delete_episode` answers. `visible_again` are the episodes that only the deleted one had hidden.

    `trust_lowered` are ids that were derived from it and trusted for its sake; `patterns_revoked` fell with their evidence.
    """

    episode_id: str
    project_key: str
    episode_type: str
    deleted_at: str
    supersession_links_removed: int
    visible_again: tuple[str, ...]
    trust_lowered: tuple[str, ...]
    patterns_revoked: tuple[Revoked, ...]


def record(
    deed: Deed,
    *,
    content: str,
    episode_type: str,
    source: str = "agent",
    trust: str = "agent",
    metadata: object = ABSENT,
    supersedes: Sequence[str] = (),
    state_key: str | None = None,
    derived_from: Sequence[str] = (),
    project_key: str,
) -> Recorded:
    """Store one episode; allowed while a wrap is open, which it does not join (wraps.md b, record). Creates a missing project.

    Refuses `invalid_input` for a blank or unstorable text, an unknown type, a trust the caller may not give, a bad state
    key or project key, metadata that is not JSON, and supersedes links against the rules of wraps.md a2;
    `episode_not_found` for ids in `supersedes` or `derived_from` that the project does not hold. Nothing is stored then.
    """
    key = projects.key_for_writing(project_key)
    texts.not_blank(content, "The content")
    if episode_type not in EPISODE_TYPES:
        raise Refusal("invalid_input", f"{_cut(episode_type)!r} is no episode type; use one of {', '.join(EPISODE_TYPES)}.")
    _refuse_trust(deed, trust)
    texts.storable(source, "The source")
    metadata_text = _metadata_text(metadata)
    normal_state_key = None if state_key is None else normal_key_of_state(state_key)
    old_ids, source_ids = _distinct(supersedes), _distinct(derived_from)
    found = _find(deed, key, old_ids, source_ids)
    effective = _effective_trust(trust, [found[source_id]["effective_trust"] for source_id in source_ids])
    now = stamp(deed.clock.now())
    _refuse_links([found[old_id] for old_id in old_ids], content=content, effective=effective, now=now, project_key=key)

    projects.ensure(deed, key)
    episode_id = _new_id(deed)
    deed.execute(
        "insert into episodes (episode_id, project_key, created_at, episode_type, content, source, trust, effective_trust,"
        " metadata, derived_from, state_key, connection_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            episode_id,
            key,
            now,
            episode_type,
            content,
            source,
            trust,
            effective,
            metadata_text,
            _json(source_ids),
            normal_state_key,
            deed.identity.connection_id,
        ),
    )
    for old_id in old_ids:
        deed.execute(
            "insert into supersessions (old_id, new_id, project_key, created_at) values (?, ?, ?, ?)",
            (old_id, episode_id, key, now),
        )
    refresh_superseded(deed, [*old_ids, *_previous_holder(deed, key, normal_state_key, episode_id)])

    data: dict[str, Any] = {"episode_id": episode_id, "type": episode_type, **_digest(content), "source": source, "trust": trust}
    if effective != trust:
        data |= {"effective_trust": effective, "trust_via": "derived_from"}
    if source_ids:
        data["derived_from"] = source_ids
    deed.append("record", project_key=key, subject=f"episode:{episode_id}", data=data)
    for old_id in old_ids:
        link = {"old_id": old_id, "new_id": episode_id, "source": source}
        deed.append("supersede", project_key=key, subject=f"episode:{old_id}", data=link)
    return Recorded(episode_id, now, episode_type, key, trust, effective, tuple(old_ids))


def delete_episode(deed: Deed, *, episode_id: str, project_key: str, reason: str | None = None) -> Deleted:
    """Delete one episode and keep its tombstone (wraps.md a2 and b, delete_episode); an open wrap stays as it is.

    The id is trimmed, not case-folded; `reason` (at most 500 characters) is an operator's, and stands in the trail. Refuses
    `episode_not_found` when the project holds no such episode (any more) and `invalid_input` for a blank id or a long reason.
    """
    key = projects.normal_key(project_key)
    why = texts.reason_text(reason, required=False)
    wanted = texts.not_blank(episode_id, "episode_id").strip()
    row = deed.one("select * from episodes where episode_id = ? and project_key = ?", (wanted, key))
    if row is None:
        raise _not_there(deed, wanted, key)
    now = stamp(deed.clock.now())
    digest = _digest(row["content"])
    freed = [link["old_id"] for link in deed.all("select old_id from supersessions where new_id = ? order by old_id", (wanted,))]
    freed += _previous_holder(deed, key, row["state_key"], wanted)
    hidden = _hidden(deed, freed)

    deed.execute(
        "insert into tombstones (episode_id, project_key, created_at, episode_type, source, trust, content_sha256, characters,"
        " removed_at, removed_by) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            wanted,
            key,
            row["created_at"],
            row["episode_type"],
            row["source"],
            row["trust"],
            digest["content_sha256"],
            digest["characters"],
            now,
            deed.identity.actor.as_json(),
        ),
    )
    links = deed.execute("delete from supersessions where old_id = ? or new_id = ?", (wanted, wanted)).rowcount
    deed.execute("delete from episodes where id = ?", (row["id"],))
    refresh_superseded(deed, freed)
    lowered, revoked = patterns.evidence_gone(deed, wanted)
    data: dict[str, Any] = {"episode_id": wanted, "type": row["episode_type"], **digest}
    if why:
        data["reason"] = why
    if links:
        data["supersession_links_removed"] = links
    if lowered:
        data["trust_lowered"] = lowered
    if revoked:
        data["patterns_revoked"] = [{"name": one.name, "before": one.before, "level": one.level} for one in revoked]
    deed.append("delete", project_key=key, subject=f"episode:{wanted}", data=data)
    still_hidden = set(_hidden(deed, freed))
    visible_again = tuple(old_id for old_id in hidden if old_id not in still_hidden)
    return Deleted(wanted, key, row["episode_type"], now, links, visible_again, tuple(lowered), tuple(revoked))


def normal_key_of_state(state_key: str) -> str:
    """A state key as it is compared: NFKC, case-folded, single spaces (wraps.md a2).

    Refuses `invalid_input` when that has not 1 to 200 characters, or for control characters.
    """
    texts.storable(state_key, "state_key")
    if any(unicodedata.category(character) == "Cc" for character in state_key):
        raise Refusal("invalid_input", "state_key holds a control character (a line break or tab is one); use plain words.")
    folded = texts.normalized(texts.normalized(state_key, "NFKC").casefold(), "NFKC")
    normal = " ".join(folded.split())
    if not 1 <= len(normal) <= STATE_KEY_LIMIT:
        raise Refusal("invalid_input", f"state_key has {len(normal)} characters once normalised; give it 1 to {STATE_KEY_LIMIT}.")
    return normal


def refresh_superseded(deed: Deed, episode_ids: Iterable[str]) -> None:
    """Set `superseded_by` of episodes from what is stored: their links, and the holders of their state key (wraps.md a2).

    It names the newest episode that a link gives or, if newer, the next holder of the key: so a change of holder rewrites
    one row, however many ever held the key. Recall names a key's newest holder when it shows a row.
    """
    for episode_id in episode_ids:
        deed.execute(
            "update episodes set superseded_by = (select newer.episode_id from episodes newer where newer.id = max("
            " coalesce((select max(linked.id) from supersessions link join episodes linked on linked.episode_id = link.new_id"
            "  where link.old_id = episodes.episode_id), 0),"
            " coalesce((select min(holder.id) from episodes holder where holder.project_key = episodes.project_key"
            "  and holder.state_key = episodes.state_key and holder.id > episodes.id), 0))) where episode_id = ?",
            (episode_id,),
        )


# what record checks


def _refuse_trust(deed: Deed, trust: str) -> None:
    identity = deed.identity
    if trust == "operator" and not (identity.role == "operator" and identity.actor.kind == "operator"):
        raise Refusal("invalid_input", "Only the operator records with trust operator; use agent, tool or external.")
    if trust not in TRUST_LEVELS:
        raise Refusal("invalid_input", f"{_cut(trust)!r} is no trust level; use agent, tool or external.")


def _metadata_text(metadata: object) -> str | None:
    if metadata is ABSENT:
        return None
    if texts.depth(metadata) > texts.DEPTH_LIMIT:
        raise Refusal("invalid_input", f"metadata is nested more than {texts.DEPTH_LIMIT} deep; send something flatter.")
    try:
        text = json.dumps(metadata, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise Refusal("invalid_input", f"metadata is not a JSON value that can be stored ({error}); send plain JSON.") from None
    return texts.storable(text, "metadata")


def _find(deed: Deed, key: str, old_ids: list[str], source_ids: list[str]) -> dict[str, Any]:
    wanted = _distinct([*old_ids, *source_ids])
    if not wanted:
        return {}
    for episode_id in wanted:
        texts.storable(episode_id, "An episode id")
    # cross join: asked the other way round, SQLite walks the whole project
    rows = deed.all(
        "select e.episode_id, e.created_at, e.content, e.effective_trust from json_each(?) wanted"
        " cross join episodes e on e.episode_id = wanted.value where e.project_key = ?",
        (_json(wanted), key),
    )
    found = {row["episode_id"]: row for row in rows}
    missing = [episode_id for episode_id in wanted if episode_id not in found]
    if missing:
        named = ", ".join(_cut(episode_id) for episode_id in missing[:IDS_NAMED])
        more = f" and {len(missing) - IDS_NAMED} more" if len(missing) > IDS_NAMED else ""
        raise Refusal(
            "episode_not_found",
            f"invalid ids: {named}{more}. Project {key!r} holds no such episode, so nothing was recorded;"
            " recall shows the ids it holds.",
            facts={
                "invalid_ids": missing,
                "supersedes": [episode_id for episode_id in old_ids if episode_id not in found],
                "derived_from": [episode_id for episode_id in source_ids if episode_id not in found],
            },
            project_key=key,
        )
    return found


def _effective_trust(own: str, of_sources: Sequence[str]) -> str:
    if not of_sources:
        return own
    best = max(of_sources, key=TRUST_LEVELS.index)
    return min(own, best, key=TRUST_LEVELS.index)


def _refuse_links(old_rows: Sequence[Any], *, content: str, effective: str, now: str, project_key: str) -> None:
    # a cycle cannot close here: the new episode's id is fresh, so no link starts from it yet
    if not old_rows:
        return
    new_words = meaningful(content)
    refused: list[tuple[str, str]] = []
    for old in old_rows:
        reason = _against_link(old, content=content, new_words=new_words, effective=effective, now=now)
        if reason:
            refused.append((old["episode_id"], reason))
    if refused:
        named = "; ".join(f"{episode_id} {reason}" for episode_id, reason in refused[:IDS_NAMED])
        raise Refusal(
            "invalid_input",
            f"This episode cannot supersede what it names, so nothing was recorded: {named}."
            " Leave those ids out of supersedes and record again.",
            facts={"refused_links": [{"episode_id": episode_id, "reason": reason} for episode_id, reason in refused]},
            project_key=project_key,
        )


def _against_link(old: Any, *, content: str, new_words: frozenset[str], effective: str, now: str) -> str | None:
    if old["created_at"] > now:
        return f"is newer (it was recorded at {old['created_at']})"
    if TRUST_LEVELS.index(old["effective_trust"]) > TRUST_LEVELS.index(effective):
        return f"is trusted more ({old['effective_trust']}, this one {effective})"
    old_words = meaningful(old["content"])
    shorter = min(len(old_words), len(new_words))
    shared = len(old_words & new_words)
    if shorter == 0:
        # with no meaningful word on one side only the same text is surely about the same thing
        same = old["content"].strip().casefold() == content.strip().casefold()
        return None if same else "shares no meaningful word with this text"
    if shared * 100 < shorter * SHARED_WORDS_PERCENT:
        return f"shares {shared} of the shorter text's {shorter} meaningful words ({SHARED_WORDS_PERCENT} % are needed)"
    return None


# small parts


def _new_id(deed: Deed) -> str:
    for _ in range(ID_ATTEMPTS):
        episode_id = deed.ids.episode_id()
        taken = deed.one(
            "select 1 from episodes where episode_id = ? union all select 1 from tombstones where episode_id = ?",
            (episode_id, episode_id),
        )
        if taken is None:
            return episode_id
    raise StoreError(f"No free episode id was found in {ID_ATTEMPTS} attempts; nothing was changed. Try again.")


def _previous_holder(deed: Deed, key: str, state_key: str | None, episode_id: str) -> list[str]:
    if state_key is None:
        return []
    row = deed.one(
        "select episode_id from episodes where project_key = ? and state_key = ?"
        " and id < (select id from episodes where episode_id = ?) order by id desc limit 1",
        (key, state_key, episode_id),
    )
    return [row["episode_id"]] if row else []


def _hidden(deed: Deed, episode_ids: list[str]) -> list[str]:
    rows = deed.all(
        "select e.episode_id from json_each(?) wanted cross join episodes e on e.episode_id = wanted.value"
        " where e.superseded_by is not null order by e.id",
        (_json(episode_ids),),
    )
    return [row["episode_id"] for row in rows]


def _not_there(deed: Deed, wanted: str, key: str) -> Refusal:
    gone = deed.one("select removed_at from tombstones where episode_id = ? and project_key = ?", (wanted, key))
    shown = _cut(wanted)
    sentence = (
        f"Episode {shown} was deleted already, at {gone['removed_at']}."
        if gone
        else f"Project {key!r} holds no episode {shown}. Ids are 8 lower-case hexadecimal characters; recall shows them."
    )
    facts = {"episode_id": shown, "deleted_at": gone["removed_at"] if gone else None}
    return Refusal("episode_not_found", sentence, facts=facts, project_key=key, subject=f"episode:{shown}")


def _digest(content: str) -> dict[str, Any]:
    return {"content_sha256": hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest(), "characters": len(content)}


def _distinct(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(episode_id.strip() for episode_id in ids))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
