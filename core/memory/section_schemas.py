"""The section schema of a project: one of the three named ones or its own list, and the verb that sets it (wraps.md a5)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, get_args

from core import projects
from core.errors import Refusal
from core.memory import continuity, wraps
from core.memory.continuity import DEFAULT_SECTIONS, SCHEMAS, Role, Section
from core.projects import Project
from core.store.deed import Deed
from core.texts import storable

SECTIONS_MOST = 30
HEADING_CHARACTERS = 80
OWN = "own"
"""What a project's own list is called where a name is wanted."""


@dataclass(frozen=True, slots=True)
class SchemaReceipt:
    """What `set_section_schema` answers. `name` is default, partnership, project or own; lengths are characters."""

    project_key: str
    name: str
    sections: tuple[Section, ...]
    target_characters: int
    hard_maximum: int
    changed: bool


def of_project(project: Project) -> tuple[Section, ...]:
    """The sections that the project's next wrap freezes; a stored schema that nobody can read counts as the default one."""
    named = SCHEMAS.get(project.section_schema)
    if named:
        return named
    try:
        return continuity.thaw_schema(project.section_schema)
    except (ValueError, TypeError, KeyError, AttributeError):
        return DEFAULT_SECTIONS


def name_of(sections: tuple[Section, ...]) -> str:
    """The name of a schema, `own` for any other list."""
    return next((name for name, known in SCHEMAS.items() if known == sections), OWN)


def set_section_schema(deed: Deed, *, project_key: str, schema: str | Sequence[Mapping[str, Any]]) -> SchemaReceipt:
    """Set the section schema that the project's next wraps freeze (wraps.md a5). Creates a missing project.

    `schema` is a name, or a list of sections, each a mapping of `heading`, `role` and perhaps `optional`. Refuses `invalid_input`
    for a list that no text could follow, `wrap_in_progress` and `wrap_partial` while a wrap is open. The same one again
    changes nothing.
    """
    sections = sections_wanted(schema)
    project = projects.ensure(deed, project_key)
    key, before = project.project_key, of_project(project)
    refuse_while_open(deed, key, "The sections of an open wrap are fixed")
    changed = sections != before
    if changed:
        name = name_of(sections)
        stored = continuity.frozen_schema(sections) if name == OWN else name
        deed.execute("update projects set section_schema = ? where project_key = ?", (stored, key))
        deed.append(
            "section_schema_set",
            project_key=key,
            subject=f"project:{key}",
            data={
                "name": name,
                "was": name_of(before),
                "schema": json.loads(continuity.frozen_schema(sections)),
                "schema_was": json.loads(continuity.frozen_schema(before)),
            },
        )
    return SchemaReceipt(
        key, name_of(sections), sections, continuity.target_characters(sections), continuity.hard_maximum(sections), changed
    )


def refuse_while_open(deed: Deed, key: str, why: str) -> None:
    """Refuses `wrap_partial` or `wrap_in_progress` while a wrap is open in the project; `why` begins the sentence of the latter."""
    state = wraps.open_state(deed.transaction, key)
    if state.state == "partial":
        assert state.newest is not None
        raise wraps.partial_refusal(key, state.newest)
    if state.wrap:
        raise wraps.refuse_about(
            deed, state.wrap, "wrap_in_progress", f"{why}, and one is open:", "Wait for its save, or end it first."
        )


def sections_wanted(schema: str | Sequence[Mapping[str, Any]]) -> tuple[Section, ...]:
    """The sections that a name or a list of sections means. Refuses `invalid_input` for a list that no text could follow."""
    if isinstance(schema, str):
        named = SCHEMAS.get(schema.strip())
        if named is None:
            raise Refusal("invalid_input", f"There is no schema {schema[:40]!r}: {', '.join(SCHEMAS)}, or a list of sections.")
        return named
    if not schema or len(schema) > SECTIONS_MOST:
        raise Refusal("invalid_input", f"A schema has 1 to {SECTIONS_MOST} sections; this one has {len(schema)}.")
    sections = tuple(_section(item, place) for place, item in enumerate(schema, 1))
    _refuse_unfit(sections)
    return sections


def _section(item: Mapping[str, Any], place: int) -> Section:
    if not isinstance(item, Mapping) or not {"heading", "role"} <= set(item) <= {"heading", "role", "optional"}:
        raise Refusal("invalid_input", f"Section {place} must have a heading, a role and perhaps optional, and nothing else.")
    heading, role, optional = item["heading"], item["role"], item.get("optional", False)
    if not isinstance(heading, str) or not isinstance(optional, bool):
        raise Refusal("invalid_input", f"Section {place}: the heading is a text, optional is true or false.")
    if role not in get_args(Role):
        raise Refusal("invalid_input", f"Section {place}: {str(role)[:40]!r} is no role: {', '.join(get_args(Role))}.")
    title = " ".join(storable(heading, f"The heading of section {place}").split())
    if not title or len(title) > HEADING_CHARACTERS or not title.isprintable() or title.startswith("#"):
        raise Refusal(
            "invalid_input",
            f"Section {place}: a heading is one line of 1 to {HEADING_CHARACTERS} printable characters that does not start with #.",
        )
    return Section(title, role, optional)


def _refuse_unfit(sections: tuple[Section, ...]) -> None:
    if all(one.optional for one in sections):
        raise Refusal("invalid_input", "At least one section must be required: with none, any text would do.")
    if sum(one.role == "durable" for one in sections) > 1:
        raise Refusal("invalid_input", "A schema has one section of durable facts at most.")
    for one, other in permutations(sections, 2):
        if one.heading.lower() == other.heading.lower():
            raise Refusal("invalid_input", f"Two sections have the heading {one.heading!r}.")
        if _phrase_in(other.heading, one.heading):
            raise Refusal(
                "invalid_input",
                f"The heading {one.heading!r} contains the heading {other.heading!r}: a line could be meant for both. Rename one.",
            )


def _phrase_in(inner: str, outer: str) -> bool:
    return bool(continuity.sections_of(f"## {outer}", (Section(inner, "frozen"),)))
