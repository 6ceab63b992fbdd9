"""Reading projects: one, all, their groups, and the history of a base focus (sessions.md b.16, b.17; room.md 2.14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core import projects
from core.sessions import base
from core.sessions.focus import LISTS
from core.sessions.limits import HISTORY_LIMIT, page
from core.sessions.models import FocusSource
from core.sessions.rows import ids_of
from core.store.deed import Reading

RECENT = 20
FIRST_LINE = 120


@dataclass(frozen=True, slots=True)
class ProjectContext:
    """A project whole, as `brain_project_get` reads it, with its figures."""

    project_key: str
    name: str | None
    description: str | None
    languages: tuple[str, ...]
    frameworks: tuple[str, ...]
    databases: tuple[str, ...]
    blockers: tuple[str, ...]
    related_projects: tuple[str, ...]
    plan_scan_paths: tuple[str, ...]
    code_style: str | None
    git_workflow: str | None
    test_strategy: str | None
    current_phase: str | None
    current_focus: str | None
    focus_revision: int
    focus_updated_at: str | None
    project_group: str | None
    gitlab_project_path: str | None
    archived_at: str | None
    archived_reason: str | None
    created_at: str
    updated_at: str | None
    open_session_count: int
    open_slot_count: int
    knowledge_count: int


@dataclass(frozen=True, slots=True)
class ProjectFound:
    """What `brain_project_get` answers."""

    project: ProjectContext


@dataclass(frozen=True, slots=True)
class ProjectLine:
    """A project in a list."""

    project_key: str
    name: str | None
    project_group: str | None
    focus_revision: int
    focus_characters: int
    focus_updated_at: str | None
    archived_at: str | None
    updated_at: str


@dataclass(frozen=True, slots=True)
class ProjectList:
    """What `brain_list_projects` answers: the most recent 20, or with `full` all."""

    projects: tuple[ProjectLine, ...]
    total: int
    full: bool


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group of projects."""

    project_group: str
    projects: int


@dataclass(frozen=True, slots=True)
class GroupList:
    """What `brain_list_project_groups` answers."""

    groups: tuple[GroupLine, ...]


@dataclass(frozen=True, slots=True)
class FocusRevision:
    """One revision of a base focus; `change` is its growth in characters against the revision below on the same page."""

    focus_revision: int
    source: FocusSource
    created_at: str
    actor: str | None
    characters: int
    change: int | None
    unchanged: bool
    erased: bool
    first_recorded: bool
    first_line: str


@dataclass(frozen=True, slots=True)
class FocusHistory:
    """What `brain_focus_history` answers: newest revision first."""

    project_key: str
    revisions: tuple[FocusRevision, ...]
    total: int
    limit: int
    offset: int


def get_project(reading: Reading, *, project_key: str) -> ProjectFound:
    """One project, whole. Refuses `project_not_found`."""
    key = projects.normal_key(project_key)
    row = reading.one("select * from projects where project_key = ?", (key,))
    if row is None:
        raise base.project_not_found(key)
    figures = projects.counters(reading, key)
    plain = (
        "name",
        "description",
        "code_style",
        "git_workflow",
        "test_strategy",
        "current_phase",
        "current_focus",
        "focus_revision",
        "focus_updated_at",
        "project_group",
        "gitlab_project_path",
        "archived_at",
        "archived_reason",
        "created_at",
        "updated_at",
    )
    lists: dict[str, Any] = {column: ids_of(row[column]) for column in LISTS}
    return ProjectFound(
        ProjectContext(
            project_key=key,
            **lists,
            **{column: row[column] for column in plain},
            open_session_count=figures.get("sessions:open:operator", 0),
            open_slot_count=figures.get("slots:open", 0),
            knowledge_count=sum(value for name, value in figures.items() if name.startswith("knowledge:")),
        )
    )


def list_projects(reading: Reading, *, project_group: str | None = None, full: bool = False) -> ProjectList:
    """Projects, the most recently changed first (sessions.md b.17)."""
    where, values = ("", ()) if project_group is None else (" where project_group = ?", (project_group,))
    found = reading.all(
        "select project_key, name, project_group, focus_revision, length(coalesce(current_focus, '')) as characters, focus_updated_at,"
        f" archived_at, coalesce(updated_at, created_at) as changed_at from projects{where}"
        f" order by changed_at desc, project_key{'' if full else f' limit {RECENT}'}",
        values,
    )
    total = reading.one(f"select count(*) from projects{where}", values)[0]
    return ProjectList(tuple(ProjectLine(*tuple(row)) for row in found), total, full)


def list_groups(reading: Reading) -> GroupList:
    """The groups that projects name, with how many each has (sessions.md b.17)."""
    found = reading.all(
        "select project_group, count(*) as projects from projects where project_group is not null group by project_group order by 1"
    )
    return GroupList(tuple(GroupLine(row["project_group"], row["projects"]) for row in found))


def focus_history(reading: Reading, *, project_key: str, limit: int = 20, offset: int = 0) -> FocusHistory:
    """A page of the base focus's revisions, newest first; an unknown project has none (sessions.md b.16). Refuses `invalid_limit`."""
    limit, offset = page(limit, offset, most=HISTORY_LIMIT)
    key = projects.normal_key(project_key)
    found = reading.all(
        "select focus_revision, focus, source, actor, created_at from focus_history where project_key = ?"
        " order by focus_revision desc limit ? offset ?",
        (key, limit, offset),
    )
    total = reading.one("select count(*) from focus_history where project_key = ?", (key,))[0]
    revisions = []
    for position, row in enumerate(found):
        below = found[position + 1] if position + 1 < len(found) else None
        text = row["focus"] or ""
        revisions.append(
            FocusRevision(
                focus_revision=row["focus_revision"],
                source=row["source"],
                created_at=row["created_at"],
                actor=row["actor"],
                characters=len(text),
                change=None if below is None else len(text) - len(below["focus"] or ""),
                unchanged=below is not None and below["focus"] == row["focus"],
                erased=row["focus"] is None,
                first_recorded=below is None and offset == 0 and len(found) == total,
                first_line="(erased)" if row["focus"] is None else (text.splitlines() or [""])[0][:FIRST_LINE],
            )
        )
    return FocusHistory(key, tuple(revisions), total, limit, offset)
