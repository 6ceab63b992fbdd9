"""A project's wraps: the rows, their seal, and the one predicate that tells idle, open and partial apart (room.md 2.9, wraps.md a3, a4)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from core.actors import Actor
from core.ages import words_for_age
from core.clock import parse_stamp, stamp
from core.errors import Refusal
from core.life import connections, notices
from core.models import Judgement
from core.store.deed import Deed, Reading
from core.store.schema import fingerprint
from core.texts import digest

COLUMNS = (
    "id, project_key, generation, wrap_token, token_origin, started_at, episode_ids, section_schema, gated_session, wrap_date,"
    " connection_id, seal, ended_at, outcome, ended_by, ended_reason, prepared_revision"
)
SEALED = (
    *("project_key", "generation", "wrap_token", "token_origin", "started_at", "episode_ids", "section_schema"),
    *("gated_session", "wrap_date", "connection_id"),
)
"""The columns a seal covers, in its order (room.md 2.9)."""

UNREADABLE_END = "an unreadable time"
"""What stands for an end that is no text: the wrap has ended, nobody can say when."""

State = Literal["idle", "open", "partial"]


@dataclass(frozen=True, slots=True)
class Wrap:
    """A row of `wraps` as it is read. Only a coherent one may be trusted beyond its id; a partial one may hold anything."""

    id: int
    project_key: str | None
    generation: int | None
    wrap_token: str | None
    token_origin: str | None
    started_at: str | None
    episode_ids: tuple[str, ...]
    section_schema: str | None
    gated_session: str | None
    wrap_date: str | None
    connection_id: str | None
    ended_at: str | None
    outcome: str | None
    ended_by: str | None
    ended_reason: str | None
    prepared_revision: int | None
    coherent: bool
    row_sha256: str

    @property
    def subject(self) -> str:
        """How the trail names it."""
        return f"wrap:{self.id}"

    @property
    def bound(self) -> bool:
        """Whether the preparer supplied the token: a caller-token wrap, guarded against tokenless cancels (wraps.md a3)."""
        return self.token_origin == "caller"

    @property
    def token_start(self) -> str | None:
        """The first 8 characters of the token: all of it that is ever shown (room.md 2.6)."""
        return self.wrap_token[:8] if isinstance(self.wrap_token, str) and self.wrap_token else None


@dataclass(frozen=True, slots=True)
class OpenState:
    """What is open in a project: nothing, one coherent wrap, or damage that only a cancel clears."""

    state: State
    wrap: Wrap | None
    damaged: tuple[Wrap, ...] = ()

    @property
    def newest(self) -> Wrap | None:
        """The row to show for it: the damaged one when there is damage."""
        return self.damaged[-1] if self.damaged else self.wrap


def seal_of(values: Mapping[str, Any]) -> str:
    """The seal of a wrap row (room.md 2.9): a SHA-256 over what must not change while it is open."""
    return fingerprint([values[name] for name in SEALED])


def wrap_of(row: Any) -> Wrap:
    """A row of `wraps`, judged: it is coherent when its seal matches; damage of any kind only makes it incoherent."""
    values = dict(row)
    try:
        coherent = isinstance(values["seal"], str) and seal_of(values) == values["seal"]
    except (TypeError, ValueError, RecursionError):  # a blob, or half a character
        coherent = False
    raw = json.dumps([_printable(values[name]) for name in sorted(values)])
    return Wrap(
        id=values["id"],
        project_key=_text(values["project_key"]),
        generation=values["generation"] if isinstance(values["generation"], int) else None,
        wrap_token=_text(values["wrap_token"]),
        token_origin=_text(values["token_origin"]),
        started_at=_text(values["started_at"]),
        episode_ids=_ids(values["episode_ids"]),
        section_schema=_text(values["section_schema"]),
        gated_session=_text(values["gated_session"]),
        wrap_date=_text(values["wrap_date"]),
        connection_id=_text(values["connection_id"]),
        ended_at=_text(values["ended_at"]) or (None if values["ended_at"] is None else UNREADABLE_END),
        outcome=_text(values["outcome"]),
        ended_by=_text(values["ended_by"]),
        ended_reason=_text(values["ended_reason"]),
        prepared_revision=values["prepared_revision"] if isinstance(values["prepared_revision"], int) else None,
        coherent=coherent,
        row_sha256=hashlib.sha256(raw.encode()).hexdigest(),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _printable(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _ids(value: object) -> tuple[str, ...]:
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return ()
    return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()


def judged(found: Sequence[Wrap]) -> list[Wrap]:
    """Open rows, in the order of their ids, as the one predicate sees them (room.md 2.9).

    Two coherent rows of one project cannot come from this program, so every one but the newest is damage too.
    """
    newest = {wrap.project_key: wrap.id for wrap in found if wrap.coherent}
    return [replace(wrap, coherent=wrap.coherent and newest[wrap.project_key] == wrap.id) for wrap in found]


def every_open(reading: Reading) -> list[Wrap]:
    """Every open wrap of the store, damaged ones too, the longest open first."""
    rows = reading.all(f"select {COLUMNS} from wraps where ended_at is null order by id")
    return judged([wrap_of(row) for row in rows])


def open_in(reading: Reading, project_key: str) -> list[Wrap]:
    """Every open row of a project, damaged ones too, by id."""
    rows = reading.all(f"select {COLUMNS} from wraps where project_key = ? and ended_at is null order by id", (project_key,))
    return judged([wrap_of(row) for row in rows])


def open_state(reading: Reading, project_key: str) -> OpenState:
    """What is open in a project now (room.md 2.9)."""
    found = open_in(reading, project_key)
    damaged = tuple(wrap for wrap in found if not wrap.coherent)
    sound = next((wrap for wrap in found if wrap.coherent), None)
    if damaged:
        return OpenState("partial", sound, damaged)
    return OpenState("open", sound) if sound else OpenState("idle", None)


def by_id(reading: Reading, wrap_id: int) -> Wrap | None:
    """One wrap, open or ended; an open one is judged beside the other open rows of its project."""
    row = reading.one(f"select {COLUMNS} from wraps where id = ?", (wrap_id,))
    if row is None:
        return None
    wrap = wrap_of(row)
    if wrap.ended_at is not None or wrap.project_key is None:
        return wrap
    return next((one for one in open_in(reading, wrap.project_key) if one.id == wrap.id), wrap)


def by_token(reading: Reading, project_key: str, wrap_token: str) -> Wrap | None:
    """The newest wrap of a project that ever carried that token."""
    row = reading.one(
        f"select {COLUMNS} from wraps where wrap_token = ? and project_key = ? order by id desc limit 1",
        (wrap_token, project_key),
    )
    return wrap_of(row) if row else None


def opened_by(reading: Reading, project_key: str, connection_id: str) -> list[Wrap]:
    """The wraps that a connection ever opened in a project, newest first (room.md 2.5)."""
    sql = f"select {COLUMNS} from wraps where connection_id = ? and project_key = ? order by id desc"
    return [wrap_of(row) for row in reading.all(sql, (connection_id, project_key))]


# what a refusal says of a wrap


def judge(deed: Deed, wrap: Wrap) -> Judgement:
    """The verdict on a wrap's holder, now (room.md 4)."""
    return deed.witness.judge(deed.transaction, wrap.connection_id, coherent=wrap.coherent, started_at=wrap.started_at)


def holder_words(reading: Reading, wrap: Wrap) -> str:
    """Whose wrap it is: client name, pid and host of the connection that opened it (room.md 2.2)."""
    found = connections.facts(reading, wrap.connection_id, None) if wrap.connection_id else None
    return connections.describe(found) if found else "an unknown connection"


def age_seconds(started_at: str | None, now: datetime) -> float | None:
    """How long ago a stored time was, never negative; None when it cannot be read (room.md 4)."""
    moment = parse_stamp(started_at)
    return None if moment is None else max(0.0, (now - moment).total_seconds())


def facts_about(deed: Deed, wrap: Wrap, judgement: Judgement) -> dict[str, Any]:
    """The facts that every refusal about a wrap carries: which, whose, since when, and its verdict with evidence (room.md 2.2)."""
    found = connections.facts(deed.transaction, wrap.connection_id, None) if wrap.connection_id else None
    age = age_seconds(wrap.started_at, deed.clock.now())
    return {
        "wrap_id": wrap.id,
        "generation": wrap.generation,
        "project_key": wrap.project_key,
        "holder": {
            "client_name": found.client_name if found else None,
            "pid": found.process.pid if found else None,
            "host": found.process.host if found else None,
        },
        "started_at": wrap.started_at,
        "age_seconds": None if age is None else round(age, 1),
        **judgement.as_data(),
    }


def sentence_about(deed: Deed, wrap: Wrap, judgement: Judgement) -> str:
    """Which wrap, whose, since when, and what is known of its holder, as one or two sentences."""
    age = age_seconds(wrap.started_at, deed.clock.now())
    since = f"open for {words_for_age(age)}, since {wrap.started_at}" if age is not None else "open since an unreadable time"
    reasons = "; ".join(reason.text for reason in judgement.evidence[:3])
    return (
        f"wrap {wrap.id} (generation {wrap.generation}) of project {wrap.project_key} by {holder_words(deed.transaction, wrap)}, {since}. "
        f"Its holder looks {judgement.verdict}: {reasons}."
    )


def refuse_about(
    deed: Deed,
    wrap: Wrap,
    code: Any,
    before: str,
    after: str,
    *,
    judgement: Judgement | None = None,
    salvage: Any = None,
    more: Mapping[str, Any] | None = None,
) -> Refusal:
    """A refusal about an open wrap: `before`, then the facts as sentences, then `after`, what to do next.

    `judgement` is the verdict where the caller has it already.
    """
    judgement = judgement or judge(deed, wrap)
    facts = {**facts_about(deed, wrap, judgement), **(more or {})}
    sentence = f"{before} {sentence_about(deed, wrap, judgement)} {after}".strip()
    return Refusal(code, sentence, facts=facts, project_key=wrap.project_key, subject=wrap.subject, salvage=salvage)


def partial_refusal(project_key: str, wrap: Wrap) -> Refusal:
    """The refusal of prepare and save while the wrap's state is damaged (room.md 2.9)."""
    return Refusal(
        "wrap_partial",
        f"The state of wrap {wrap.id} of project {project_key} is damaged (its seal does not match, or another is open beside it), "
        "so it can be neither continued nor saved. wrap_cancel with partial=true clears exactly that; no episode is lost.",
        facts={"wrap_id": wrap.id, "project_key": project_key, "started_at": wrap.started_at, "verdict": "PARTIAL"},
        project_key=project_key,
        subject=wrap.subject,
    )


# ending one without a save


def cancelled_words(wrap: Wrap) -> str:
    """By whom, when and why an ended wrap was cancelled (room.md 2.5)."""
    by = Actor.from_json(wrap.ended_by) if wrap.ended_by else None
    who = f"the {by.kind} {by.name} ({by.via})" if by else "somebody"
    why = f", who gave this reason: “{wrap.ended_reason}”" if wrap.ended_reason else ", without a reason"
    return f"by {who} at {wrap.ended_at}{why}"


def clear(
    deed: Deed,
    wrap: Wrap,
    *,
    authorised_by: str,
    reason: str | None,
    judgement: Judgement | None,
    partial: bool,
) -> None:
    """End an open wrap as cancelled: the row, the `wrap_cancelled` trail row and the notice to its holder (wraps.md c, room.md 2.13).

    Episodes, continuity, baton and sessions stay as they are. `authorised_by` says by what right.
    """
    now = stamp(deed.clock.now())
    actor = deed.identity.actor
    ended = deed.execute(
        "update wraps set ended_at = ?, outcome = 'cancelled', ended_by = ?, ended_reason = ? where id = ? and ended_at is null",
        (now, actor.as_json(), reason, wrap.id),
    )
    if ended.rowcount != 1:
        raise Refusal(
            "wrap_already_finished", f"Wrap {wrap.id} is already finished.", project_key=wrap.project_key, subject=wrap.subject
        )
    data: dict[str, Any] = {"wrap_id": wrap.id, "generation": wrap.generation, "authorised_by": authorised_by, "reason": reason}
    still_used = deed.one("select 1 from wraps where wrap_token = ? and ended_at is null", (wrap.wrap_token,))
    if wrap.wrap_token and not still_used:
        data["wrap_token"] = wrap.wrap_token  # dead from here on, so it is a key to nothing (room.md 2.6)
    if wrap.started_at:
        data["wrap_started_at"] = wrap.started_at
    if not partial or wrap.episode_ids:
        data["wrap_episode_ids"] = list(wrap.episode_ids)
        data["wrap_episode_count"] = len(wrap.episode_ids)
    if partial:
        data["partial_state"] = True
    if wrap.bound:
        data["wrap_token_bound"] = True
    if wrap.gated_session:
        data["wrap_gated_session"] = wrap.gated_session
    if judgement:
        data.update(judgement.as_data())
    draft = deed.one("select id, text from drafts where wrap_id = ? order by id desc limit 1", (wrap.id,))
    if draft:
        data["draft_kept"] = {"id": draft["id"], **(digest(draft["text"]) or {})}
    deed.append("wrap_cancelled", project_key=wrap.project_key, subject=wrap.subject, data=data)
    if wrap.connection_id and wrap.connection_id != deed.identity.connection_id:
        why = f" Reason given by the {actor.kind} {actor.name}: “{reason}”." if reason else ""
        text = (
            f"Your wrap {wrap.id} (generation {wrap.generation}) of project {wrap.project_key} was cancelled "
            f"by the {actor.kind} {actor.name} at {now}."
            f"{why} Its token is dead: do not save with it. The episodes wait for the next prepare_wrap."
        )
        notices.leave(deed, "cancelled", wrap.connection_id, project_key=wrap.project_key or "", wrap_id=wrap.id, text=text)
