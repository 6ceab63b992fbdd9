"""The tools for knowledge: making, reading, changing and searching it (issue 3; room.md 2.3)."""

from __future__ import annotations

from core.knowledge.change import Changed, Deleted
from core.knowledge.models import Created, Entry, EntryLine
from core.knowledge.reading import Chain, EntryFound, EntryPage
from core.knowledge.search import Found, Hit, Related
from core.server.knowledge_arguments import (
    AcceptArguments,
    AdrArguments,
    ChainArguments,
    DecisionArguments,
    DeprecateArguments,
    EntityArguments,
    GetArguments,
    LearnArguments,
    ListArguments,
    RunbookArguments,
    SearchArguments,
    SnippetArguments,
    SupersedeAdrArguments,
    SupersedeDecisionArguments,
    UpdateArguments,
)
from core.server.tools import tool


def created_text(done: Created) -> str:
    """What was made."""
    name = f"ADR {done.number}" if done.number is not None else done.kind.capitalize()
    instead = f" It replaces {done.superseded_id}." if done.superseded_id else ""
    return f"{name} {done.id} is kept in project {done.project_key} ({done.status}): {_one_line(done.title)}.{instead}"


def entry_text(found: EntryFound) -> str:
    """One entry whole."""
    one = found.entry
    reason = one.details.get("deprecation_reason")
    after = [f"It is superseded by {one.superseded_by}."] if one.superseded_by else []
    after += [f"Deprecated: {reason}"] if isinstance(reason, str) else []
    return "\n".join(
        [
            f"# {_one_line(one.title)}",
            f"{_name(one)} {one.id} of project {one.project_key}, {_state(one)}, {one.created_at}",
            *after,
            "",
            one.body,
        ]
    )


def list_text(found: EntryPage) -> str:
    """A page, one entry a line."""
    if not found.entries:
        return "Nothing is there."
    more = [f"There is more: send before={found.next_before}."] if found.more else []
    return "\n".join([*(f"- {_line(one)}" for one in found.entries), *more])


def chain_text(found: Chain) -> str:
    """The chain, the oldest first."""
    return "\n".join(f"{'→ ' if number else ''}{_line(one)}" for number, one in enumerate(found.entries))


def changed_text(done: Changed) -> str:
    """What a change did."""
    one = done.entry
    did = "was changed, and is" if done.changed else "was so already:"
    return f"{_name(one).capitalize()} {one.id} {did} {_state(one)}: {_one_line(one.title)}."


def deleted_text(done: Deleted) -> str:
    """What was deleted."""
    released = f" {done.released_id}, which it had replaced, has no successor now." if done.released_id else ""
    return f"Deleted {done.kind} {done.id} of project {done.project_key}.{released}"


def search_text(found: Found) -> str:
    """The hits with their scores, grouped by kind where that was asked for."""
    if not found.results:
        return "Nothing matches."
    lines = {
        hit.id: f"- [s:{hit.score:.2f}] {_name(hit)} {hit.id}: {_one_line(hit.title)} ({hit.project_key}, {_state(hit)})\n  {hit.text}"
        for hit in found.results
    }
    inside = " No entry has these words; these have their characters." if found.matched_by == "characters" else ""
    shown = [f"{found.shown} found{', and there are more' if found.more else ''}, the best first.{inside}"]
    if found.groups is None:
        shown += lines.values()
    for group in found.groups or ():
        shown += [f"## {group.kind}", *(lines[one] for one in group.ids)]
    if found.related:
        shown += ["### Related", *(f"- {_related(one)}" for one in found.related)]
    return "\n".join(shown)


def _related(one: Related) -> str:
    return f"{one.from_id} {one.relation} {one.kind} {one.id}: {_one_line(one.title)} ({one.project_key})"


def _line(one: EntryLine) -> str:
    start = f"\n  {_one_line(one.text)}" if one.text else ""
    return f"{_name(one)} {one.id}: {_one_line(one.title)} ({one.project_key}, {_state(one)}){start}"


def _name(one: Entry | EntryLine | Hit) -> str:
    return one.kind if one.number is None else f"ADR {one.number}"


def _state(one: Entry | EntryLine | Hit) -> str:
    return f"{one.status}{', archived' if one.archived_at else ''}"


def _one_line(text: str) -> str:
    # a line break in a foreign title would make a line that looks like another entry
    return " ".join(text.split())


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
        description="Entries of knowledge, newest first, with the beginnings of their texts.",
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
