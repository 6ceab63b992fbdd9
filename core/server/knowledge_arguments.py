"""What the tools for knowledge take (issue 3): names, limits and words are brain-v42's."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from core.knowledge.fields import (
    ITEMS_LIMIT,
    NAME_LIMIT,
    RELATIONS_LIMIT,
    SHORT_LIMIT,
    TAG_LIMIT,
    TAGS_LIMIT,
    TEXT_LIMIT,
    TITLE_LIMIT,
)
from core.knowledge.models import Confidence, Kind, Relation, SourceType, Status
from core.knowledge.search import LIMIT_MOST, QUERY_LIMIT
from core.server.tools import Arguments, ProjectKey, StrictNumber, UniqueId
from core.sessions.limits import LIST_LIMIT, REASON_LIMIT

Title = Annotated[str, Field(min_length=1, max_length=TITLE_LIMIT, description="A short title.")]
Tag = Annotated[str, Field(min_length=1, max_length=TAG_LIMIT)]
Tags = Annotated[list[Tag] | None, Field(max_length=TAGS_LIMIT, description="Words to find it by.")]
AnyTag = Annotated[list[Tag] | None, Field(max_length=TAGS_LIMIT, description="Only with one of these tags.")]
ShortText = Annotated[str, Field(min_length=1, max_length=SHORT_LIMIT)]
Text = Annotated[str, Field(max_length=TEXT_LIMIT)]
AnyProject = Annotated[str | None, Field(description="Only this project. Left out or null: all of them.")]
AnyStatus = Annotated[Status | None, Field(description="Only with this status.")]
EntityType = Annotated[Kind, Field(description="Its kind.")]
Archived = Annotated[bool, Field(description="Archived ones as well.")]


def text(words: str) -> Any:
    """A required text."""
    return Field(min_length=1, max_length=TEXT_LIMIT, description=words)


def texts(words: str) -> Any:
    """A list of short texts."""
    return Field(max_length=ITEMS_LIMIT, description=words)


class RelationArguments(Arguments):
    """How an entry is related to another."""

    id: UniqueId
    type: Relation


class StepArguments(Arguments):
    """One step of a runbook."""

    order: Annotated[StrictNumber | None, Field(ge=0)] = None
    title: ShortText
    command: Text | None = None
    description: Text | None = None
    expected_output: Text | None = None
    verification: Text | None = None
    timeout_seconds: Annotated[StrictNumber | None, Field(ge=0)] = None


class AlternativeArguments(Arguments):
    """An alternative that an ADR considered."""

    title: ShortText
    description: Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT)]
    reason_rejected: Text | None = None


class PlainArguments(Arguments):
    """Arguments whose lists may hold objects, which the verb takes as plain data."""

    def as_verb(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments with such objects as plain data, of which only what was sent."""
        return {name: [_plain(one) for one in value] if isinstance(value, list) else value for name, value in given.items()}


def _plain(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else value


RelatedTo = Annotated[
    list[RelationArguments] | None, Field(max_length=RELATIONS_LIMIT, description="Entries it is related to, and how.")
]
Steps = Annotated[
    list[StepArguments],
    Field(
        min_length=1, max_length=ITEMS_LIMIT, description="Its steps in order; one without an order gets its place in the list."
    ),
]
RollbackSteps = Annotated[
    list[StepArguments] | None, Field(max_length=ITEMS_LIMIT, description="How to undo it, in the same shape.")
]
Considered = Annotated[
    list[AlternativeArguments] | None,
    Field(max_length=ITEMS_LIMIT, description="What else was considered, and why it was rejected."),
]


class DecisionFields(PlainArguments):
    """The text of a decision."""

    title: Title
    context: Annotated[str, text("The situation that called for it.")]
    decision_made: Annotated[str, text("What was decided.")]
    reasoning: Annotated[str, text("Why.")]
    alternatives: Annotated[list[ShortText] | None, texts("What else was possible.")] = None
    consequences: Annotated[str | None, Field(max_length=TEXT_LIMIT, description="What follows from it.")] = None
    tags: Tags = None


class DecisionArguments(DecisionFields):
    """What brain_log_decision takes."""

    related_to: RelatedTo = None
    project_key: ProjectKey = None


class SupersedeDecisionArguments(DecisionFields):
    """What brain_supersede_decision takes."""

    old_decision_id: UniqueId
    project_key: Annotated[str | None, Field(description="The old decision's project; it may be left out.")] = None


class LearnArguments(PlainArguments):
    """What brain_learn takes."""

    topic: Annotated[str, Field(min_length=1, max_length=TITLE_LIMIT, description="What it is about.")]
    insight: Annotated[str, text("What was learned.")]
    source: Annotated[str | None, Field(max_length=SHORT_LIMIT, description="Where it comes from.")] = None
    source_type: Annotated[SourceType, Field(description="What kind of source that is.")] = "experience"
    confidence: Annotated[Confidence, Field(description="How sure it is.")] = "medium"
    tags: Tags = None
    related_to: RelatedTo = None
    project_key: ProjectKey = None


class SnippetArguments(PlainArguments):
    """What brain_save_snippet takes."""

    title: Title
    intention: Annotated[str, text("When to use it, as a sentence.")]
    code: Annotated[str, text("The code, kept as it is.")]
    language: Annotated[str, Field(min_length=1, max_length=NAME_LIMIT, description="Its language.")]
    dependencies: Annotated[list[ShortText] | None, texts("What it needs.")] = None
    usage_example: Annotated[str | None, Field(max_length=TEXT_LIMIT, description="How it is used.")] = None
    gotchas: Annotated[str | None, Field(max_length=TEXT_LIMIT, description="What to look out for.")] = None
    tags: Tags = None
    related_to: RelatedTo = None
    project_key: ProjectKey = None


class RunbookArguments(PlainArguments):
    """What brain_create_runbook takes."""

    title: Title
    description: Annotated[str, text("What it is for.")]
    trigger: Annotated[str, Field(min_length=1, max_length=SHORT_LIMIT, description="The situation that calls for it.")]
    steps: Steps
    prerequisites: Annotated[list[ShortText] | None, texts("What must hold before.")] = None
    rollback_steps: RollbackSteps = None
    estimated_duration: Annotated[str | None, Field(max_length=NAME_LIMIT, description="How long it takes.")] = None
    tags: Tags = None
    project_key: ProjectKey = None


class AdrFields(PlainArguments):
    """The text of an ADR."""

    title: Title
    context: Annotated[str, text("The situation that calls for it.")]
    decision: Annotated[str, text("What is decided.")]
    consequences: Annotated[str, text("What follows from it.")]
    alternatives_considered: Considered = None
    tags: Tags = None


class AdrArguments(AdrFields):
    """What brain_propose_adr takes."""

    project_key: ProjectKey = None


class SupersedeAdrArguments(AdrFields):
    """What brain_supersede_adr takes."""

    old_adr_id: UniqueId
    project_key: Annotated[str | None, Field(description="The old ADR's project; it may be left out.")] = None


class AcceptArguments(Arguments):
    """What brain_accept_adr takes."""

    adr_id: UniqueId


class DeprecateArguments(Arguments):
    """What brain_deprecate_adr takes."""

    adr_id: UniqueId
    reason: Annotated[str | None, Field(min_length=1, max_length=REASON_LIMIT, description="Why.")] = None


class ChainArguments(Arguments):
    """What brain_get_supersession_chain takes."""

    decision_id: Annotated[UniqueId, Field(description="The id of any decision or ADR in the chain.")]


class EntityArguments(Arguments):
    """The arguments that name one entry."""

    entity_type: EntityType
    entity_id: UniqueId


class GetArguments(Arguments):
    """What brain_get takes."""

    entity_type: EntityType
    entity_id: Annotated[str, Field(min_length=8, max_length=36, description="Its id, or the first 8 characters of it or more.")]


class UpdateArguments(PlainArguments):
    """What brain_update takes."""

    entity_type: EntityType
    entity_id: UniqueId
    fields: Annotated[
        dict[str, Any],
        Field(
            description=(
                "The fields to change, by the names that the kind's creation has. freshness_status archived or fresh archives it or "
                "brings it back; a decision's status may become active or deprecated."
            )
        ),
    ]
    related_to: Annotated[
        list[RelationArguments] | None, Field(max_length=RELATIONS_LIMIT, description="Relations to add to those it has.")
    ] = None


class ListArguments(Arguments):
    """What brain_list takes."""

    entity_type: Annotated[Kind | None, Field(description="Only this kind.")] = None
    project_key: AnyProject = None
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT, description="How many at most.")] = 20
    offset: Annotated[int, Field(ge=0, description="How many of the newest to skip.")] = 0
    status: AnyStatus = None
    confidence: Annotated[Confidence | None, Field(description="Only learnings that are this sure.")] = None
    language: Annotated[str | None, Field(max_length=NAME_LIMIT, description="Only snippets in this language.")] = None
    tags: AnyTag = None
    include_archived: Archived = False
    summary_only: Annotated[bool, Field(description="Without the beginnings of their texts.")] = False
    before: Annotated[
        UniqueId | None, Field(description="Only those after this one in the list: next_before of the page before.")
    ] = None


class SearchArguments(Arguments):
    """What brain_search takes."""

    query: Annotated[str, Field(min_length=1, max_length=QUERY_LIMIT, description="Words to look for. It is text: no operators.")]
    types: Annotated[list[Kind] | None, Field(description="Only these kinds.")] = None
    project_key: AnyProject = None
    project_group: Annotated[str | None, Field(description="Only projects of this group; not together with project_key.")] = None
    limit: Annotated[int, Field(ge=1, le=LIMIT_MOST, description="How many at most.")] = 20
    min_score: Annotated[
        float,
        Field(
            ge=0, le=1, description="Only hits with at least this score, 0 to 1. Scores depend on the store: compare, then cut."
        ),
    ] = 0.0
    include_archived: Archived = False
    group_by_type: Annotated[bool, Field(description="Say as well which hits are of which kind.")] = False
    tags: AnyTag = None
    include_related: Annotated[bool, Field(description="Name the entries that the hits say they are related to.")] = False
    full: Annotated[bool, Field(description="Whole texts instead of their beginnings.")] = False
    status: AnyStatus = None
    since: Annotated[str | None, Field(description="Only made from this ISO date or time on.")] = None
    until: Annotated[str | None, Field(description="Only made up to and including this ISO date or time.")] = None
