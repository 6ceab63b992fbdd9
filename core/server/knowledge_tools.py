"""The tools for knowledge: making, reading, changing and searching it (issue 3; room.md 2.3)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from core.knowledge.change import Changed, Deleted
from core.knowledge.fields import ITEMS_LIMIT, SHORT_LIMIT, TAGS_LIMIT, TEXT_LIMIT, TITLE_LIMIT
from core.knowledge.models import Confidence, Created, EntryLine, Kind, Relation, SourceType, Status
from core.knowledge.reading import Chain, EntryFound, EntryPage
from core.knowledge.search import LIMIT_MOST, QUERY_LIMIT, Found
from core.server.tools import Arguments, ProjectKey, UniqueId, tool
from core.sessions.limits import LIST_LIMIT

Title = Annotated[str, Field(min_length=1, max_length=TITLE_LIMIT, description="A short title.")]
Tags = Annotated[list[str] | None, Field(max_length=TAGS_LIMIT, description="Words to find it by.")]
AnyProject = Annotated[str | None, Field(description="Only this project; left out, all of them.")]
EntityType = Annotated[Kind, Field(description="Its kind.")]


def text(words: str) -> Any:
    """A required text."""
    return Field(min_length=1, max_length=TEXT_LIMIT, description=words)


class RelationArguments(Arguments):
    """How an entry is related to another."""

    id: UniqueId
    type: Relation


RelatedTo = Annotated[list[RelationArguments] | None, Field(max_length=ITEMS_LIMIT, description="Entries it is related to.")]


class WithRelations(Arguments):
    """Arguments that may have relations, which the verb takes as plain data."""

    related_to: RelatedTo = None

    def as_verb(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments with relations as plain data."""
        if self.related_to is None:
            return given
        return {**given, "related_to": [one.model_dump() for one in self.related_to]}


class DecisionArguments(WithRelations):
    """What brain_log_decision takes."""

    title: Title
    context: Annotated[str, text("The situation that called for it.")]
    decision_made: Annotated[str, text("What was decided.")]
    reasoning: Annotated[str, text("Why.")]
    alternatives: Annotated[list[str] | None, Field(max_length=ITEMS_LIMIT, description="What else was possible.")] = None
    consequences: Annotated[str | None, Field(max_length=TEXT_LIMIT, description="What follows from it.")] = None
    tags: Tags = None
    project_key: ProjectKey = None


class SupersedeDecisionArguments(Arguments):
    """What brain_supersede_decision takes."""

    old_decision_id: UniqueId
    title: Title
    context: Annotated[str, text("The situation that called for it.")]
    decision_made: Annotated[str, text("What was decided.")]
    reasoning: Annotated[str, text("Why.")]
    alternatives: Annotated[list[str] | None, Field(max_length=ITEMS_LIMIT, description="What else was possible.")] = None
    consequences: Annotated[str | None, Field(max_length=TEXT_LIMIT, description="What follows from it.")] = None
    tags: Tags = None
    project_key: Annotated[str | None, Field(description="The old decision's project; it may be left out.")] = None


class LearnArguments(WithRelations):
    """What brain_learn takes."""

    topic: Annotated[str, Field(min_length=1, max_length=TITLE_LIMIT, description="What it is about.")]
    insight: Annotated[str, text("What was learned.")]
    source: Annotated[str | None, Field(max_length=SHORT_LIMIT, description="Where it comes from.")] = None
    source_type: Annotated[SourceType, Field(description="What kind of source that is.")] = "experience"
    confidence: Annotated[Confidence, Field(description="How sure it is.")] = "medium"
    tags: Tags = None
    project_key: ProjectKey = None


class SnippetArguments(WithRelations):
    """What brain_save_snippet takes."""

    title: Title
    intention: Annotated[str, text("When to use it, as a sentence.")]
    code: Annotated[str, text("The code.")]
    language: Annotated[str, Field(min_length=1, max_length=SHORT_LIMIT, description="Its language.")]
    dependencies: Annotated[list[str] | None, Field(max_length=ITEMS_LIMIT, description="What it needs.")] = None
    usage_example: Annotated[str | None, Field(max_length=TEXT_LIMIT, description="How it is used.")] = None
    gotchas: Annotated[str | None, Field(max_length=TEXT_LIMIT, description="What to look out for.")] = None
    tags: Tags = None
    project_key: ProjectKey = None


class RunbookArguments(Arguments):
    """What brain_create_runbook takes."""

    title: Title
    description: Annotated[str, text("What it is for.")]
    trigger: Annotated[str, text("The situation that calls for it.")]
    steps: Annotated[
        list[dict[str, Any]],
        Field(min_length=1, max_length=ITEMS_LIMIT, description="Its steps: title, and maybe order, command, verification."),
    ]
    prerequisites: Annotated[list[str] | None, Field(max_length=ITEMS_LIMIT, description="What must hold before.")] = None
    rollback_steps: Annotated[
        list[dict[str, Any]] | None, Field(max_length=ITEMS_LIMIT, description="How to undo it, in the same shape.")
    ] = None
    estimated_duration: Annotated[str | None, Field(max_length=SHORT_LIMIT, description="How long it takes.")] = None
    tags: Tags = None
    project_key: ProjectKey = None


class AdrArguments(Arguments):
    """What brain_propose_adr takes."""

    title: Title
    context: Annotated[str, text("The situation that calls for it.")]
    decision: Annotated[str, text("What is decided.")]
    consequences: Annotated[str, text("What follows from it.")]
    alternatives_considered: Annotated[
        list[dict[str, Any]] | None, Field(max_length=ITEMS_LIMIT, description="What else was considered, as objects.")
    ] = None
    tags: Tags = None
    project_key: ProjectKey = None


class SupersedeAdrArguments(Arguments):
    """What brain_supersede_adr takes."""

    old_adr_id: UniqueId
    title: Title
    context: Annotated[str, text("The situation that calls for it.")]
    decision: Annotated[str, text("What is decided.")]
    consequences: Annotated[str, text("What follows from it.")]
    alternatives_considered: Annotated[
        list[dict[str, Any]] | None, Field(max_length=ITEMS_LIMIT, description="What else was considered, as objects.")
    ] = None
    tags: Tags = None
    project_key: Annotated[str | None, Field(description="The old ADR's project; it may be left out.")] = None


class AcceptArguments(Arguments):
    """What brain_accept_adr takes."""

    adr_id: UniqueId


class DeprecateArguments(Arguments):
    """What brain_deprecate_adr takes."""

    adr_id: UniqueId
    reason: Annotated[str | None, Field(min_length=1, max_length=2_000, description="Why.")] = None


class ChainArguments(Arguments):
    """What brain_get_supersession_chain takes."""

    decision_id: UniqueId


class EntityArguments(Arguments):
    """The arguments that name one entry."""

    entity_type: EntityType
    entity_id: UniqueId


class GetArguments(Arguments):
    """What brain_get takes."""

    entity_type: EntityType
    entity_id: Annotated[str, Field(min_length=8, max_length=36, description="Its id, or the first 8 characters of it or more.")]


class UpdateArguments(EntityArguments):
    """What brain_update takes."""

    fields: Annotated[
        dict[str, Any], Field(description="The fields to change, as its creation has them: title, tags and its kind's own.")
    ]


class ListArguments(Arguments):
    """What brain_list takes."""

    entity_type: Annotated[Kind | None, Field(description="Only this kind.")] = None
    project_key: AnyProject = None
    status: Annotated[Status | None, Field(description="Only with this status.")] = None
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT, description="How many at most.")] = 20
    offset: Annotated[int, Field(ge=0, description="How many of the newest to skip.")] = 0
    include_archived: Annotated[bool, Field(description="Archived ones as well.")] = False


class SearchArguments(Arguments):
    """What brain_search takes."""

    query: Annotated[str, Field(min_length=1, max_length=QUERY_LIMIT, description="Words to look for. It is text: no operators.")]
    types: Annotated[list[Kind] | None, Field(description="Only these kinds.")] = None
    project_key: AnyProject = None
    project_group: Annotated[str | None, Field(description="Only projects of this group; not together with project_key.")] = None
    limit: Annotated[int, Field(ge=1, le=LIMIT_MOST, description="How many at most.")] = 20
    min_score: Annotated[float, Field(ge=0, lt=1, description="Only hits with at least this score, between 0 and 1.")] = 0.0
    include_archived: Annotated[bool, Field(description="Archived ones as well.")] = False
    group_by_type: Annotated[bool, Field(description="Say as well which hits are of which kind.")] = False
    tags: Annotated[list[str] | None, Field(description="Only with one of these tags.")] = None
    full: Annotated[bool, Field(description="Whole texts instead of their beginnings.")] = False


def created_text(done: Created) -> str:
    """What was made."""
    name = f"ADR {done.number}" if done.number is not None else done.kind.capitalize()
    instead = f" It replaces {done.superseded_id}." if done.superseded_id else ""
    return f"{name} {done.id} is kept in project {done.project_key} ({done.status}): {done.title}.{instead}"


def entry_text(found: EntryFound) -> str:
    """One entry whole."""
    one = found.entry
    number = f" {one.number}" if one.number is not None else ""
    state = f"{one.status}{', archived' if one.archived_at else ''}"
    after = f"\nIt is superseded by {one.superseded_by}." if one.superseded_by else ""
    return (
        f"# {one.title}\n{one.kind}{number} {one.id} of project {one.project_key}, {state}, {one.created_at}{after}\n\n{one.body}"
    )


def _line(one: EntryLine) -> str:
    number = f" {one.number}" if one.number is not None else ""
    return (
        f"- {one.kind}{number} {one.id}: {one.title} ({one.project_key}, {one.status}{', archived' if one.archived_at else ''})"
    )


def list_text(found: EntryPage) -> str:
    """A page, one entry a line."""
    if not found.entries:
        return "Nothing is there."
    return "\n".join([*(_line(one) for one in found.entries), *(["There is more: use offset."] if found.more else [])])


def chain_text(found: Chain) -> str:
    """The chain, the oldest first."""
    return "\n".join(f"{'→ ' if number else ''}{_line(one)[2:]}" for number, one in enumerate(found.entries))


def changed_text(done: Changed) -> str:
    """What a change did."""
    one = done.entry
    state = f"{one.status}{', archived' if one.archived_at else ''}"
    return f"{one.kind.capitalize()} {one.id} {'is' if done.changed else 'was already'} {state}: {one.title}."


def deleted_text(done: Deleted) -> str:
    """What was deleted."""
    return f"Deleted {done.kind} {done.id} of project {done.project_key}."


def search_text(found: Found) -> str:
    """The hits with their scores, grouped by kind where that was asked for."""
    if not found.results:
        return "Nothing matches."
    lines = {
        hit.id: f"- [{hit.score:.2f}] {hit.kind} {hit.id} {hit.title} ({hit.project_key})\n  {hit.text}" for hit in found.results
    }
    shown = [f"{found.shown} found{', and more' if found.more else ''}, the best first."]
    if found.groups is None:
        return "\n".join([*shown, *lines.values()])
    for group in found.groups:
        shown += [f"## {group.kind}", *(lines[one] for one in group.ids)]
    return "\n".join(shown)


TOOLS = (
    tool(
        "brain_log_decision",
        title="Keep a decision",
        description="Keep a decision: a choice between possibilities, with its situation and its reasons.",
        arguments=DecisionArguments,
        result=Created,
        text=created_text,
    ),
    tool(
        "brain_supersede_decision",
        title="Replace a decision",
        description="Replace a decision by a new one of the same project. The old one stays, and names what replaced it.",
        arguments=SupersedeDecisionArguments,
        result=Created,
        text=created_text,
        every_project=True,
    ),
    tool(
        "brain_learn",
        title="Keep an insight",
        description=(
            "Keep an insight, and only that: for a choice use brain_log_decision, for code brain_save_snippet, for a procedure "
            "brain_create_runbook, for lasting architecture brain_propose_adr."
        ),
        arguments=LearnArguments,
        result=Created,
        text=created_text,
    ),
    tool(
        "brain_save_snippet",
        title="Keep a snippet",
        description="Keep code that can be used again, by the intention with which one would look for it.",
        arguments=SnippetArguments,
        result=Created,
        text=created_text,
    ),
    tool(
        "brain_create_runbook",
        title="Keep a runbook",
        description="Keep a procedure step by step, with what calls for it and how to undo it.",
        arguments=RunbookArguments,
        result=Created,
        text=created_text,
    ),
    tool(
        "brain_propose_adr",
        title="Propose an ADR",
        description="Propose an architecture decision record; brain_accept_adr accepts it.",
        arguments=AdrArguments,
        result=Created,
        text=created_text,
    ),
    tool(
        "brain_accept_adr",
        title="Accept an ADR",
        description="Accept a proposed ADR.",
        arguments=AcceptArguments,
        result=Changed,
        text=changed_text,
    ),
    tool(
        "brain_deprecate_adr",
        title="Deprecate an ADR",
        description="Say that an ADR no longer holds, with a reason.",
        arguments=DeprecateArguments,
        result=Changed,
        text=changed_text,
    ),
    tool(
        "brain_supersede_adr",
        title="Replace an ADR",
        description="Replace an ADR by a new, accepted one of the same project. The old one stays, and names what replaced it.",
        arguments=SupersedeAdrArguments,
        result=Created,
        text=created_text,
        every_project=True,
    ),
    tool(
        "brain_get_supersession_chain",
        title="What replaced what",
        description="Everything that a decision or ADR replaced and that replaced it, the oldest first.",
        arguments=ChainArguments,
        result=Chain,
        text=chain_text,
    ),
    tool(
        "brain_get",
        title="Read an entry",
        description="One entry of knowledge whole.",
        arguments=GetArguments,
        result=EntryFound,
        text=entry_text,
    ),
    tool(
        "brain_list",
        title="List knowledge",
        description="Entries of knowledge, newest first, without their texts.",
        arguments=ListArguments,
        result=EntryPage,
        text=list_text,
        every_project=True,
    ),
    tool(
        "brain_update",
        title="Change an entry",
        description="Change some fields of an entry; the others stay.",
        arguments=UpdateArguments,
        result=Changed,
        text=changed_text,
    ),
    tool(
        "brain_archive",
        title="Archive an entry",
        description="Take an entry out of lists and search, without deleting it.",
        arguments=EntityArguments,
        result=Changed,
        text=changed_text,
    ),
    tool(
        "brain_unarchive",
        title="Bring an entry back",
        description="Bring an archived entry back into lists and search.",
        arguments=EntityArguments,
        result=Changed,
        text=changed_text,
    ),
    tool(
        "brain_delete",
        title="Delete an entry",
        description="Delete an entry for good. Refused for one that a session has captured: archive that.",
        arguments=EntityArguments,
        result=Deleted,
        text=deleted_text,
    ),
    tool(
        "brain_search",
        title="Search knowledge",
        description="Find knowledge by its words, the best first, each with a score. Look before you decide or learn anew.",
        arguments=SearchArguments,
        result=Found,
        text=search_text,
        every_project=True,
    ),
)
