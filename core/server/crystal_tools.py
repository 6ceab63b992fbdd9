"""The tools for graduated patterns: crystal_index and crystal_recall (wraps.md b, the one-line tools)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from core.memory.crystal import CrystalIndex, CrystalRecall, RelevantPattern
from core.server.tools import Arguments, ProjectKey, WholeNumber, tool


class IndexArguments(Arguments):
    """What crystal_index takes."""

    project_key: ProjectKey = None


class CrystalRecallArguments(Arguments):
    """What crystal_recall takes."""

    query: Annotated[str, Field(min_length=1, description="The prompt, question or words to find patterns for.")]
    max_patterns: Annotated[WholeNumber, Field(description="How many to list at most: 0 to 50.")] = 3
    associative: Annotated[
        bool, Field(description="Whether patterns count as well that share no word but rest on an episode that does.")
    ] = True
    mode: Annotated[
        Literal["prompt", "query"],
        Field(description="prompt: any text, two words must be shared. query: a question asked on purpose, one word is enough."),
    ] = "prompt"
    project_key: ProjectKey = None


def index_text(found: CrystalIndex) -> str:
    """The menu of graduated patterns, one a line."""
    if not found.total:
        return f"Project {found.project_key} has no graduated pattern."
    lines = [f"{one.name}: {one.clause}" if one.clause else one.name for one in found.patterns]
    more = found.total - len(found.patterns)
    return "\n".join([*lines, *([f"and {more:,} more"] if more else [])])


def recall_text(found: CrystalRecall) -> str:
    """The patterns that were found, one a line, with how; or why there are none."""
    if found.patterns:
        return "\n".join(
            [f"{len(found.patterns)} graduated patterns of project {found.project_key}:", *map(_line, found.patterns)]
        )
    if len(found.words) < found.words_wanted:
        need = "a distinctive word" if found.words_wanted == 1 else f"{found.words_wanted} distinctive words"
        return f"The query is too thin: it takes {need} at least. crystal_index lists what there is."
    return f"No graduated pattern of project {found.project_key} matches."


def _line(one: RelevantPattern) -> str:
    how = f"by its evidence {', '.join(one.episode_ids)}" if one.found_by == "evidence" else f"by {', '.join(one.matched)}"
    grounded = f", last grounded {one.last_grounded_on}" if one.last_grounded_on else ""
    said = one.summary or one.explanation or "no words kept"
    return f"- {one.name} ({one.level}x{grounded}; {how}): {said}"


TOOLS = (
    tool(
        "crystal_index",
        title="Index of graduated patterns",
        description="List every graduated pattern of the project by name with one clause: what there is to recall.",
        arguments=IndexArguments,
        result=CrystalIndex,
        text=index_text,
    ),
    tool(
        "crystal_recall",
        title="Recall graduated patterns",
        description=(
            "Find the graduated patterns that bear on a text: by their own words first, then by the episodes they rest on. "
            "Nothing is listed rather than something that merely brushes the text."
        ),
        arguments=CrystalRecallArguments,
        result=CrystalRecall,
        text=recall_text,
    ),
)
