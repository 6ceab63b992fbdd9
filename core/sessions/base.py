"""The base focus: a project's one text, its revision and its history (sessions.md a.1 and a.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.sessions.limits import ACTOR_LIMIT
from core.sessions.models import FocusSource
from core.store.deed import Deed, Reading


@dataclass(frozen=True, slots=True)
class Base:
    """A project's base focus as stored; `focus_updated_at` moves only when the text changes."""

    project_key: str
    current_focus: str | None
    focus_revision: int
    focus_updated_at: str | None

    @property
    def subject(self) -> str:
        """Its project's name in the trail."""
        return f"project:{self.project_key}"


def read(reading: Reading, project_key: str) -> Base | None:
    """The base focus of a project, or None when there is no such project."""
    row = reading.one(
        "select project_key, current_focus, focus_revision, focus_updated_at from projects where project_key = ?", (project_key,)
    )
    return None if row is None else Base(*tuple(row))


def of_project(deed: Deed, key: str) -> Base:
    """The base focus of a project that must exist. Refuses `project_not_found`."""
    found = read(deed.transaction, key)
    if found is None:
        raise project_not_found(key)
    return found


def project_not_found(key: str) -> Refusal:
    """The refusal for a project that does not exist; nothing creates one by being asked for it."""
    return Refusal(
        "project_not_found",
        f"There is no project {key[:60]!r} in this store; brain_set_project_context creates one.",
        facts={"project_key": key},
        project_key=key,
    )


def key_of_existing(reading: Reading, project_key: str) -> str:
    """The key of a project that a verb is about. Refuses `invalid_input` for a malformed key, `project_not_found` for an unknown one."""
    key = projects.key_for_writing(project_key)
    if reading.one("select 1 from projects where project_key = ?", (key,)) is None:
        raise project_not_found(key)
    return key


def replace(deed: Deed, base: Base, text: str | None, source: FocusSource) -> Base:
    """Write the base focus at the next revision, with its history row in the same transaction (sessions.md a.1.1, a.2)."""
    now = stamp(deed.clock.now())
    revision = base.focus_revision + 1
    changed_at = now if text != base.current_focus else base.focus_updated_at
    deed.execute(
        "update projects set current_focus = ?, focus_revision = ?, focus_updated_at = ?, updated_at = ? where project_key = ?",
        (text, revision, changed_at, now, base.project_key),
    )
    keep_history(deed, base.project_key, revision, text, source, now)
    return Base(base.project_key, text, revision, changed_at)


def keep_history(deed: Deed, project_key: str, revision: int, text: str | None, source: FocusSource, now: str) -> None:
    """The history row of a revision; an erased focus is a row too."""
    deed.execute(
        "insert into focus_history (project_key, focus_revision, focus, source, actor, created_at) values (?, ?, ?, ?, ?, ?)",
        (project_key, revision, text, source, deed.identity.actor.name[:ACTOR_LIMIT], now),
    )


def conflict(base: Base, expected: int, *, subject: str, what: str) -> Refusal:
    """`focus_revision_conflict`: what was expected, what is so now, and the text that stands."""
    return Refusal(
        "focus_revision_conflict",
        f"{what} was for revision {expected} of the base focus of project {base.project_key}; it is at revision "
        f"{base.focus_revision} now. Nothing was changed: read the focus that stands and send a text made from it.",
        facts={
            "expected_focus_revision": expected,
            "current_focus_revision": base.focus_revision,
            "current_focus": base.current_focus,
            "project_key": base.project_key,
        },
        project_key=base.project_key,
        subject=subject,
        texts=("current_focus",),
    )


def difference(before: str | None, after: str) -> str:
    """What a write did to a text, by lengths alone: `first focus`, `unchanged`, or `+N/-M chars` (sessions.md b.8)."""
    if before is None:
        return "first focus" if after else "no focus"
    if before == after:
        return "unchanged"
    grown = len(after) - len(before)
    return f"+{max(grown, 0)}/-{max(-grown, 0)} chars"


def row_data(before: Base, after: Base) -> dict[str, Any]:
    """What the trail keeps of a write: revisions and lengths; the texts are in the history."""
    return {
        "focus_revision_before": before.focus_revision,
        "focus_revision": after.focus_revision,
        "characters_before": len(before.current_focus or ""),
        "characters": len(after.current_focus or ""),
    }
