"""Continuity as an operator sees it: what stands, and every kept version (console.md, screen 6; issue 4, 1).

`standing` is the head of a project, `versions` the list of its revisions, `version` one whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from core import projects
from core.memory import continuity, section_schemas
from core.memory.continuity import Section, Version
from core.store.deed import Reading

VERSIONS_SHOWN = 200
COLUMNS = "project_key, revision, length(text) as characters, sha256, wrap_id, created_at, restored_from, adopted_from"
Origin = Literal["saved", "adopted", "restored", "imported"]


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One revision in a list. `restored_from` is the revision whose text it has, `adopted_from` a kept text as `kind:id`."""

    project_key: str
    revision: int
    characters: int
    sha256: str
    wrap_id: int | None
    created_at: str
    origin: Origin
    restored_from: int | None
    adopted_from: str | None


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands in a project: the newest version (None before the first), and the sections that the next wrap freezes.

    `revision` is 0 before the first; lengths are characters, durable facts not counted in the hard maximum.
    """

    project_key: str
    version: Version | None
    schema_name: str
    sections: tuple[Section, ...]
    target_characters: int
    hard_maximum: int

    @property
    def revision(self) -> int:
        """The standing revision, 0 when there is none."""
        return self.version.revision if self.version else 0


def standing(reading: Reading, project_key: str) -> Standing:
    """What stands in a project; one that does not exist reads as empty."""
    sections = section_schemas.of_project(projects.find(reading, project_key))
    return Standing(
        project_key,
        continuity.newest(reading, project_key),
        section_schemas.name_of(sections),
        sections,
        continuity.target_characters(sections),
        continuity.hard_maximum(sections),
    )


def versions(
    reading: Reading, project_key: str, *, before_revision: int | None = None, limit: int = VERSIONS_SHOWN
) -> tuple[VersionRow, ...]:
    """A project's revisions, the newest first, at most `limit`, from before `before_revision` on."""
    return _version_rows(
        reading.all(
            f"select {COLUMNS} from continuity where project_key = ? and revision < ? order by revision desc limit ?",
            (project_key, before_revision if before_revision is not None else 2**62, limit),
        )
    )


def newest_versions(reading: Reading, *, limit: int = VERSIONS_SHOWN) -> tuple[VersionRow, ...]:
    """The standing version of every project that has one, by project, at most `limit`."""
    return _version_rows(
        reading.all(
            f"select {COLUMNS} from continuity where (project_key, revision) in"
            " (select project_key, max(revision) from continuity group by project_key) order by project_key limit ?",
            (limit,),
        )
    )


def _version_rows(rows: Iterable[Any]) -> tuple[VersionRow, ...]:
    return tuple(
        VersionRow(
            row["project_key"],
            row["revision"],
            row["characters"],
            row["sha256"],
            row["wrap_id"],
            row["created_at"],
            _origin(row["wrap_id"], row["restored_from"], row["adopted_from"]),
            row["restored_from"],
            row["adopted_from"],
        )
        for row in rows
    )


def version(reading: Reading, project_key: str, revision: int | None = None) -> Version | None:
    """One version whole, the standing one when no revision is given; None when there is none."""
    if revision is None:
        return continuity.newest(reading, project_key)
    return continuity.version(reading, project_key, revision)


def _origin(wrap_id: int | None, restored_from: int | None, adopted_from: str | None) -> Origin:
    if restored_from is not None:
        return "restored"
    if adopted_from is not None:
        return "adopted"
    return "saved" if wrap_id is not None else "imported"
