"""What an import found in a store, what of it is taken, and what not and why (issue 4, import)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Taken:
    """One kind of thing: how many the source holds, and how many are imported."""

    what: str
    found: int
    imported: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is not imported, how many of it, and why."""

    what: str
    count: int
    why: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The report of an import or of a dry run. `first` says that this store was never imported into the project before.

    `trail_findings` are the breaks of the foreign trail, none when its chain holds; `trail_head` is the hash that is anchored in ours.
    """

    outcome: Literal["dry_run", "imported", "nothing_new"]
    project_key: str
    source: str
    identity: str
    format_version: int | None
    first: bool
    taken: tuple[Taken, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    trail_entries: int
    trail_head: str | None
    trail_findings: tuple[str, ...]

    @property
    def imported_anything(self) -> bool:
        """Whether anything is new."""
        return any(one.imported for one in self.taken)


@dataclass(slots=True)
class Tally:
    """Counts while an import goes on."""

    found: dict[str, int] = field(default_factory=dict)
    imported: Counter[str] = field(default_factory=Counter)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def leave_out(self, what: str, why: str, count: int = 1) -> None:
        """Count something that is not imported; nothing for a count of 0."""
        if count:
            self.left_out[what, why] += count

    def taken(self) -> tuple[Taken, ...]:
        """Every kind that was found or imported."""
        return tuple(
            Taken(what, count, self.imported[what]) for what, count in self.found.items() if count or self.imported[what]
        )

    def missing(self) -> tuple[LeftOut, ...]:
        """What was left out, by kind and reason."""
        return tuple(LeftOut(what, count, why) for (what, why), count in self.left_out.items())
