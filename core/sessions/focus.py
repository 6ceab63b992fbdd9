"""Projects and their base focus as tools write and read them (sessions.md a.1, b.14 to b.17)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.sessions import base, shrink
from core.sessions.end import override_data
from core.sessions.limits import FOCUS_LIMIT, bounded, whole
from core.store.deed import Deed
from core.texts import digest, not_blank, reason_text, storable

NAME_LIMIT = 200
FEATURE_STATUSES = ("planned", "research", "design", "building", "deployed", "done", "archived")
LISTS = ("languages", "frameworks", "databases", "blockers", "related_projects", "plan_scan_paths")
TEXTS = ("code_style", "git_workflow", "test_strategy", "current_phase", "project_group", "gitlab_project_path")


@dataclass(frozen=True, slots=True)
class ContextSet:
    """What `brain_set_project_context` answers."""

    project_key: str
    created: bool
    focus_revision: int
    focus_changed: bool


@dataclass(frozen=True, slots=True)
class FocusUpdated:
    """What `brain_update_project_focus` answers."""

    project_key: str
    focus_revision: int
    current_focus: str
    focus_diff: str
    shrink_overridden: bool


@dataclass(frozen=True, slots=True)
class Archived:
    """What archiving and unarchiving answer; `found` is false for a project that is not there, which creates none."""

    project_key: str
    found: bool
    archived_at: str | None
    archived_reason: str | None
    changed: bool


def set_context(
    deed: Deed,
    *,
    project_key: str,
    name: str,
    description: str,
    languages: Sequence[str] = (),
    frameworks: Sequence[str] = (),
    databases: Sequence[str] = (),
    blockers: Sequence[str] = (),
    related_projects: Sequence[str] = (),
    plan_scan_paths: Sequence[str] = (),
    code_style: str | None = None,
    git_workflow: str | None = None,
    test_strategy: str | None = None,
    current_phase: str | None = None,
    current_focus: str | None = None,
    project_group: str | None = None,
    gitlab_project_path: str | None = None,
) -> ContextSet:
    """Create a project or write it anew, whole: what is left out is set back, the base focus too (sessions.md b.14).

    It takes no revision and no guard; the history keeps what it replaces. Refuses `invalid_input`.
    """
    key = projects.key_for_writing(project_key)
    lists: dict[str, Sequence[str]] = {
        "languages": languages,
        "frameworks": frameworks,
        "databases": databases,
        "blockers": blockers,
        "related_projects": related_projects,
        "plan_scan_paths": plan_scan_paths,
    }
    texts = {
        "code_style": code_style,
        "git_workflow": git_workflow,
        "test_strategy": test_strategy,
        "current_phase": current_phase,
        "project_group": project_group,
        "gitlab_project_path": gitlab_project_path,
    }
    values = _context_values(name, description, lists, texts)
    focus = None if current_focus is None else _focus_as_given(current_focus)
    now = stamp(deed.clock.now())
    standing = base.read(deed.transaction, key)
    if standing is None:
        deed.execute(
            "insert into projects (project_key, current_focus, focus_updated_at, created_at) values (?, ?, ?, ?)",
            (key, focus, None if focus is None else now, now),
        )
        base.keep_history(deed, key, 0, focus, "context_upsert", now)
        deed.append("project_created", project_key=key, subject=f"project:{key}", data={})
        after = base.of_project(deed, key)
        changed = focus is not None
    else:
        changed = focus != standing.current_focus
        after = base.replace(deed, standing, focus, "context_upsert") if changed else standing
    deed.execute(
        f"update projects set {', '.join(f'{column} = ?' for column in values)}, updated_at = ? where project_key = ?",
        (*values.values(), now, key),
    )
    deed.append(
        "brain_set_project_context",
        project_key=key,
        subject=f"project:{key}",
        data={
            "created": standing is None,
            "focus_revision": after.focus_revision,
            "focus_changed": changed,
            "current_focus": digest(focus),
        },
    )
    return ContextSet(key, standing is None, after.focus_revision, changed)


def _context_values(
    name: str, description: str, lists: Mapping[str, Sequence[str]], texts: Mapping[str, str | None]
) -> dict[str, Any]:
    values: dict[str, Any] = {"name": bounded(name, "The name", NAME_LIMIT), "description": not_blank(description, "description")}
    for column, items in lists.items():
        values[column] = json.dumps([storable(item, f"An entry of {column}") for item in items], ensure_ascii=False)
    if not all(Path(path).is_absolute() for path in lists["plan_scan_paths"]):
        raise Refusal("invalid_input", "plan_scan_paths must be absolute paths.")
    for column, text in texts.items():
        values[column] = None if text is None else storable(text, column)
    for column, most in (("project_group", 50), ("gitlab_project_path", 200)):
        if values[column] is not None and len(values[column]) > most:
            raise Refusal("invalid_input", f"{column} has at most {most} characters.")
    return values


def _focus_as_given(text: str) -> str:
    if len(storable(text, "current_focus")) > FOCUS_LIMIT:
        raise Refusal("invalid_input", f"current_focus has {len(text):,} characters; at most {FOCUS_LIMIT:,} are taken.")
    return text


def update_focus(
    deed: Deed,
    *,
    project_key: str,
    current_focus: str,
    expected_focus_revision: int,
    blockers: Sequence[str] | None = None,
    feature_status: Mapping[str, str] | None = None,
    unpin: Sequence[str] | None = None,
    allow_focus_shrink: bool = False,
    shrink_reason: str | None = None,
) -> FocusUpdated:
    """Replace the base focus from a known revision, with the blockers, as one batch (sessions.md b.15). It always moves the revision.

    This store keeps no roadmap, so a feature named in `feature_status` or `unpin` is one that is not there. Refuses
    `invalid_input`, `project_not_found`, `focus_revision_conflict`, `base_focus_shrink`, `operator_role_required`.
    """
    text = bounded(current_focus, "current_focus", FOCUS_LIMIT)
    expected = whole(expected_focus_revision, "expected_focus_revision")
    statuses, loose = dict(feature_status or {}), tuple(unpin or ())
    _refuse_features(statuses, loose)
    why = reason_text(shrink_reason, required=False)
    hindrances = None if blockers is None else [storable(item, "A blocker") for item in blockers]
    key = projects.key_for_writing(project_key)
    if allow_focus_shrink and deed.identity.role == "agent" and not deed.identity.on_stdio:
        raise Refusal("operator_role_required", "Only the operator may let a base focus shrink.", project_key=key)
    standing = base.of_project(deed, key)
    if standing.focus_revision != expected:
        raise base.conflict(standing, expected, subject=standing.subject, what="The new focus")
    overridden = shrink.shrinks(standing.current_focus, text)
    if overridden and not allow_focus_shrink:
        raise shrink.refusal(key, standing.current_focus, text, subject=standing.subject)
    missing = [*statuses, *loose]
    if missing:
        raise Refusal(
            "invalid_input",
            f"There is no feature {missing[0][:60]!r} in project {key}. Nothing of this batch was written.",
            facts={"missing_features": missing, "project_key": key},
            project_key=key,
            subject=standing.subject,
        )
    after = base.replace(deed, standing, text, "focus_tool")
    if hindrances is not None:
        deed.execute("update projects set blockers = ? where project_key = ?", (json.dumps(hindrances, ensure_ascii=False), key))
    deed.append(
        "brain_update_project_focus",
        project_key=key,
        subject=standing.subject,
        data={
            **base.row_data(standing, after),
            "current_focus": digest(text),
            "blockers": None if hindrances is None else len(hindrances),
            **override_data(overridden, why),
        },
    )
    difference = base.difference(standing.current_focus, text)
    return FocusUpdated(key, after.focus_revision, text, difference, overridden)


def _refuse_features(statuses: Mapping[str, str], loose: Sequence[str]) -> None:
    for feature, status in statuses.items():
        if status not in FEATURE_STATUSES:
            raise Refusal(
                "invalid_input", f"{status[:40]!r} is no status of a feature; use one of {', '.join(FEATURE_STATUSES)}."
            )
        if feature in loose:
            raise Refusal("invalid_input", f"The feature {feature[:60]!r} is both updated and unpinned.")


def archive(deed: Deed, *, project_key: str, reason: str) -> Archived:
    """Mark a project as archived; a repetition keeps the first time (sessions.md b.17). Refuses `invalid_input`."""
    why = bounded(reason, "The reason", 2_000)
    return _set_archived(deed, project_key, why)


def unarchive(deed: Deed, *, project_key: str) -> Archived:
    """Take a project's archive mark away (sessions.md b.17)."""
    return _set_archived(deed, project_key, None)


def _set_archived(deed: Deed, project_key: str, reason: str | None) -> Archived:
    key = projects.normal_key(project_key)
    row = deed.one("select archived_at, archived_reason from projects where project_key = ?", (key,))
    if row is None:
        return Archived(key, False, None, None, False)
    now = stamp(deed.clock.now())
    since = None if reason is None else row["archived_at"] or now
    if (since, reason) == (row["archived_at"], row["archived_reason"]):
        return Archived(key, True, since, reason, False)
    deed.execute(
        "update projects set archived_at = ?, archived_reason = ?, updated_at = ? where project_key = ?",
        (since, reason, now, key),
    )
    event = "brain_project_unarchive" if reason is None else "brain_project_archive"
    deed.append(event, project_key=key, subject=f"project:{key}", data={"reason": digest(reason)})
    return Archived(key, True, since, reason, True)
