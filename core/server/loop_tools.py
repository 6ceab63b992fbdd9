"""The tools for open loops: spore_add, get, list, touch, update, descend, ascend and surface (wraps.md b, the one-line tools)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.memory.loop_rules import AscendKind, DescendKind, Germination, LoopType, Tier
from core.memory.loops import Loop, LoopChange, Loops
from core.server.tools import Arguments, ProjectKey, WholeNumber, tool

SporeId = Annotated[str, Field(min_length=1, description="The loop's id, such as spore-007.")]


class AddArguments(Arguments):
    """What spore_add takes."""

    type: Annotated[
        LoopType, Field(description="What is open: something to do (task), to know (question), or an idea (thought).")
    ]
    text: Annotated[str, Field(min_length=1, description="The open loop itself, in plain words.")]
    domain: Annotated[str, Field(description="A word for what it belongs to, such as health or billing.")] = ""
    tier: Annotated[Tier, Field(description="How soon it matters; parked is set aside on purpose.")] = "warm"
    salience: Annotated[WholeNumber, Field(ge=0, le=3, description="Its weight, 0 to 3.")] = 0
    next: Annotated[
        str | None, Field(description="The day on which to come back to it, YYYY-MM-DD: a reminder, no deadline.")
    ] = None
    pointer: Annotated[str | None, Field(description="Where more about it is to be found.")] = None
    project_key: ProjectKey = None


class IdArguments(Arguments):
    """What spore_get and spore_touch take."""

    spore_id: SporeId
    project_key: ProjectKey = None


class ListArguments(Arguments):
    """What spore_list takes."""

    type: Annotated[LoopType | None, Field(description="Only this type.")] = None
    tier: Annotated[Tier | None, Field(description="Only this tier.")] = None
    germination: Annotated[
        Germination | None,
        Field(
            description="Only those seen under 3 days ago (growing), up to 7 (resting), longer ago or due (dormant), or parked."
        ),
    ] = None
    domain: Annotated[str | None, Field(description="Only exactly this domain.")] = None
    project_key: ProjectKey = None


class UpdateArguments(Arguments):
    """What spore_update takes."""

    spore_id: SporeId
    tier: Annotated[Tier | None, Field(description="How soon it matters.")] = None
    next: Annotated[str | None, Field(description="The day to come back to it, YYYY-MM-DD; empty clears it.")] = None
    text: Annotated[str | None, Field(description="The loop in other words.")] = None
    salience: Annotated[WholeNumber | None, Field(ge=0, le=3, description="Its weight, 0 to 3.")] = None
    domain: Annotated[str | None, Field(description="What it belongs to; empty clears it.")] = None
    pointer: Annotated[str | None, Field(description="Where more is to be found; empty clears it.")] = None
    add_note: Annotated[str | None, Field(description="A note to add, dated today.")] = None
    project_key: ProjectKey = None


class DescendArguments(Arguments):
    """What spore_descend takes."""

    spore_id: SporeId
    kind: Annotated[
        DescendKind,
        Field(
            description="task: done, dropped or composted; question: answered, mooted or composted; thought: explored, dropped or composted."
        ),
    ]
    project_key: ProjectKey = None


class AscendArguments(Arguments):
    """What spore_ascend takes."""

    spore_id: SporeId
    kind: Annotated[
        AscendKind,
        Field(description="task: project or thread; question: episode or pattern; thought: essay, pattern or project."),
    ]
    ref: Annotated[str, Field(min_length=1, description="What it became: a path, an episode's id, a pattern's name.")]
    project_key: ProjectKey = None


class SurfaceArguments(Arguments):
    """What spore_surface takes."""

    top_of_mind: Annotated[bool, Field(description="Only those that are hot or growing.")] = False
    project_key: ProjectKey = None


def loop_text(loop: Loop) -> str:
    """A loop in words, with its notes."""
    lines = [_line(loop)]
    facts = (
        ("domain", loop.domain),
        ("next", loop.next),
        ("pointer", loop.pointer),
        ("seen", loop.seen),
        ("planted", loop.created),
    )
    lines += [f"  {name}: {value}" for name, value in facts if value]
    lines += [f"  note of {note.noted_on}: {_indented(note.text)}" for note in loop.notes]
    if loop.resolution:
        became = f" -> {loop.resolution.ref}" if loop.resolution.ref else ""
        lines.append(f"  resolved on {loop.resolution.on}: {loop.resolution.direction} as {loop.resolution.kind}{became}")
    return "\n".join(lines)


def planted_text(loop: Loop) -> str:
    """What spore_add did, in words."""
    return f"Planted {_line(loop)}"


def list_text(found: Loops) -> str:
    """Open loops, one a line."""
    if not found.total:
        return f"No open loop of project {found.project_key} matches."
    more = found.total - len(found.loops)
    return "\n".join([*map(_line, found.loops), *([f"and {more:,} more"] if more else [])])


def change_text(done: LoopChange) -> str:
    """What was changed of a loop, in words."""
    loop = done.loop
    if loop.resolution:
        became = f": {loop.resolution.ref}" if loop.resolution.ref else ""
        return f"Resolved {loop.spore_id}: {loop.resolution.direction} as {loop.resolution.kind}{became}."
    if not done.changed:
        return f"Nothing to change: {loop.spore_id} is {loop.germination}, seen {loop.seen}."
    return f"Changed {', '.join(done.changed)} of {loop.spore_id}: {loop.tier}, {loop.germination}, seen {loop.seen}."


def _line(loop: Loop) -> str:
    return f"[{loop.spore_id}] {loop.type}/{loop.tier}/{loop.germination} salience={loop.salience}: {_indented(loop.text)}"


def _indented(text: str) -> str:
    # a line break in a text must not look like the next loop
    return text.replace("\n", "\n    ")


TOOLS = (
    tool(
        "spore_add",
        title="Plant an open loop",
        description=(
            "Keep something open that must be resolved one day: a task, a question or a thought. It stays in the list until "
            "spore_descend closes it or spore_ascend says what it became."
        ),
        arguments=AddArguments,
        result=Loop,
        text=planted_text,
    ),
    tool(
        "spore_get",
        title="Get an open loop",
        description="Read one loop by its id, open or resolved, with its notes, how alive it is, and how it was resolved.",
        arguments=IdArguments,
        result=Loop,
        text=loop_text,
    ),
    tool(
        "spore_list",
        title="List open loops",
        description="List the open loops by tier, salience and how alive they are, filtered by type, tier, germination or domain.",
        arguments=ListArguments,
        result=Loops,
        text=list_text,
    ),
    tool(
        "spore_touch",
        title="Touch an open loop",
        description="Say that you looked at an open loop today: it is growing again, and a next date that has come is cleared.",
        arguments=IdArguments,
        result=LoopChange,
        text=change_text,
    ),
    tool(
        "spore_update",
        title="Change an open loop",
        description="Change fields of an open loop, or add a note to it. It does not count as looked at; spore_touch does.",
        arguments=UpdateArguments,
        result=LoopChange,
        text=change_text,
    ),
    tool(
        "spore_descend",
        title="Resolve an open loop down",
        description="Close an open loop that is done with: done, answered, explored, or let go. It cannot be opened again.",
        arguments=DescendArguments,
        result=LoopChange,
        text=change_text,
    ),
    tool(
        "spore_ascend",
        title="Resolve an open loop up",
        description="Close an open loop that became something: ref names what. It cannot be opened again.",
        arguments=AscendArguments,
        result=LoopChange,
        text=change_text,
    ),
    tool(
        "spore_surface",
        title="Surface open loops",
        description="The open loops in their order, or with top_of_mind only those that are hot or growing.",
        arguments=SurfaceArguments,
        result=Loops,
        text=list_text,
    ),
)
