"""The tools for projects and their base focus (sessions.md b.14 to b.17; room.md 2.3 and 2.14)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.server.tools import Arguments, StrictNumber, tool
from core.sessions.focus import NAME_LIMIT, Archived, ContextSet, FocusUpdated
from core.sessions.limits import FOCUS_LIMIT, HISTORY_LIMIT, REASON_LIMIT
from core.sessions.projects_read import FocusHistory, FocusRevision, GroupList, ProjectFound, ProjectList

Key = Annotated[
    str, Field(min_length=1, max_length=50, description="The project's key: lower-case letters and digits, joined by - or :.")
]
BaseRevision = Annotated[StrictNumber, Field(ge=0, description="The revision of the base focus that your text was made from.")]


class ContextArguments(Arguments):
    """What brain_set_project_context takes."""

    project_key: Key
    name: Annotated[str, Field(min_length=1, max_length=NAME_LIMIT, description="The project's name.")]
    description: Annotated[str, Field(min_length=1, description="What it is.")]
    languages: list[str] = Field(default=[], description="Programming languages.")
    frameworks: list[str] = Field(default=[], description="Frameworks.")
    databases: list[str] = Field(default=[], description="Databases.")
    blockers: list[str] = Field(default=[], description="What stands in the way.")
    related_projects: list[str] = Field(default=[], description="Keys of related projects.")
    plan_scan_paths: list[str] = Field(default=[], description="Absolute paths where plans lie.")
    code_style: Annotated[str | None, Field(description="House style.")] = None
    git_workflow: Annotated[str | None, Field(description="How branches and commits are made.")] = None
    test_strategy: Annotated[str | None, Field(description="How it is tested.")] = None
    current_phase: Annotated[str | None, Field(description="The phase it is in.")] = None
    current_focus: Annotated[
        str | None,
        Field(
            max_length=FOCUS_LIMIT,
            description="The base focus. Left out, it is ERASED: to change it alone use brain_update_project_focus.",
        ),
    ] = None
    project_group: Annotated[str | None, Field(max_length=50, description="The group it belongs to.")] = None
    gitlab_project_path: Annotated[str | None, Field(max_length=200, description="Its path in GitLab.")] = None


class UpdateFocusArguments(Arguments):
    """What brain_update_project_focus takes."""

    project_key: Key
    current_focus: Annotated[
        str, Field(max_length=FOCUS_LIMIT, description="The new base focus, whole: it REPLACES the one that stands.")
    ]
    expected_focus_revision: BaseRevision
    blockers: Annotated[list[str] | None, Field(description="The blockers, whole; null leaves them.")] = None
    feature_status: Annotated[dict[str, str] | None, Field(description="Statuses of roadmap features, by exact name.")] = None
    unpin: Annotated[list[str] | None, Field(description="Features to unpin, by exact name.")] = None
    allow_focus_shrink: Annotated[
        bool, Field(description="Whether a text much shorter than the one that stands is meant so.")
    ] = False


class HistoryArguments(Arguments):
    """What brain_focus_history takes."""

    project_key: Key
    limit: Annotated[int, Field(ge=1, le=HISTORY_LIMIT, description="How many revisions at most.")] = 20
    offset: Annotated[int, Field(ge=0, description="How many of the newest to skip.")] = 0


class ProjectArguments(Arguments):
    """What the tools for one project take."""

    project_key: Key


class ProjectListArguments(Arguments):
    """What brain_list_projects takes."""

    project_group: Annotated[str | None, Field(description="Only this group.")] = None
    full: Annotated[bool, Field(description="All of them, not only the 20 changed last.")] = False


class NoArguments(Arguments):
    """For a tool that takes nothing."""


class ArchiveArguments(Arguments):
    """What brain_project_archive takes."""

    project_key: Key
    reason: Annotated[str, Field(min_length=1, max_length=REASON_LIMIT, description="Why it is archived.")]


def context_text(done: ContextSet) -> str:
    """What brain_set_project_context did."""
    what = "Created" if done.created else "Wrote anew"
    focus = "the base focus was written" if done.focus_changed else "the base focus is as it was"
    return f"{what} project {done.project_key}; {focus}, revision {done.focus_revision}."


def focus_text(done: FocusUpdated) -> str:
    """What brain_update_project_focus did, with the new revision."""
    return f"The base focus of project {done.project_key} is at revision {done.focus_revision} ({done.focus_diff})."


def history_text(found: FocusHistory) -> str:
    """The history, one revision a line."""
    if not found.revisions:
        return f"No focus history of project {found.project_key}."
    return "\n".join(
        [f"Focus history of project {found.project_key}, newest first:", *(_revision(one) for one in found.revisions)]
    )


def _revision(one: FocusRevision) -> str:
    if one.unchanged:
        change = "unchanged"
    elif one.change is not None:
        change = f"{one.change:+d} characters"
    else:
        change = "first recorded" if one.first_recorded else ""
    facts = ", ".join(part for part in (one.source, one.created_at, one.actor or "", change) if part)
    return f"{one.focus_revision} ({facts}): {one.first_line}"


def project_text(found: ProjectFound) -> str:
    """One project in a few lines; its focus is in the structured part and here, whole."""
    one = found.project
    return (
        f"Project {one.project_key}: {one.name or one.project_key}. {one.open_session_count} open session(s), "
        f"{one.open_slot_count} open slot(s), {one.knowledge_count} item(s) of knowledge. Base focus, revision {one.focus_revision}:\n"
        f"{one.current_focus or '(none)'}"
    )


def projects_text(found: ProjectList) -> str:
    """The projects, one a line."""
    if not found.projects:
        return "There are no projects."
    lines = [
        f"- {one.project_key}: {one.name or one.project_key}{' (archived)' if one.archived_at else ''}, focus revision {one.focus_revision}"
        for one in found.projects
    ]
    more = f"\n{found.total - len(lines)} more: full=true lists all." if found.total > len(lines) else ""
    return "\n".join(lines) + more


def groups_text(found: GroupList) -> str:
    """The groups, one a line."""
    return "\n".join(f"- {one.project_group}: {one.projects} project(s)" for one in found.groups) or "No project names a group."


def archived_text(done: Archived) -> str:
    """What archiving or unarchiving did."""
    if not done.found:
        return f"There is no project {done.project_key}; nothing was changed."
    return (
        f"Project {done.project_key} is archived since {done.archived_at}."
        if done.archived_at
        else f"Project {done.project_key} is active."
    )


TOOLS = (
    tool(
        "brain_set_project_context",
        title="Create a project or write it anew",
        description=(
            "Create a project, or overwrite its whole description: every optional field that is left out is set back, and a current_focus "
            "that is left out ERASES the base focus. Use brain_update_project_focus to change the focus alone."
        ),
        arguments=ContextArguments,
        result=ContextSet,
        text=context_text,
    ),
    tool(
        "brain_update_project_focus",
        title="Replace the base focus",
        description=(
            "Replace a project's base focus, from the revision that you read. REPLACES the whole text: much shorter ones are refused. "
            "Only on an explicit command of your user."
        ),
        arguments=UpdateFocusArguments,
        result=FocusUpdated,
        text=focus_text,
    ),
    tool(
        "brain_focus_history",
        title="History of the base focus",
        description="The revisions of a project's base focus, newest first: who wrote them, when, and how they grew or shrank.",
        arguments=HistoryArguments,
        result=FocusHistory,
        text=history_text,
    ),
    tool(
        "brain_project_get",
        title="Read a project",
        description="One project whole: its description, its base focus with the revision, its blockers, its open sessions and slots.",
        arguments=ProjectArguments,
        result=ProjectFound,
        text=project_text,
    ),
    tool(
        "brain_list_projects",
        title="List projects",
        description="The projects of this store, the most recently changed first.",
        arguments=ProjectListArguments,
        result=ProjectList,
        text=projects_text,
    ),
    tool(
        "brain_list_project_groups",
        title="List groups of projects",
        description="The groups that projects are sorted into.",
        arguments=NoArguments,
        result=GroupList,
        text=groups_text,
    ),
    tool(
        "brain_project_archive",
        title="Archive a project",
        description="Mark a project as archived, with a reason. Nothing of it is deleted.",
        arguments=ArchiveArguments,
        result=Archived,
        text=archived_text,
    ),
    tool(
        "brain_project_unarchive",
        title="Take a project out of the archive",
        description="Mark an archived project as active again.",
        arguments=ProjectArguments,
        result=Archived,
        text=archived_text,
    ),
)
