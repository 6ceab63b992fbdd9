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

    `trail_findings` are the breaks of the foreign trail, none when its chain holds; `trail_head` is the hash that is anchored in
    ours. `held_seconds` is how long the import kept other writers waiting; None for a dry run.
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
    held_seconds: float | None = None

    @property
    def imported_anything(self) -> bool:
        """Whether anything is new."""
        return any(one.imported for one in self.taken)


@dataclass(slots=True)
class Tally:
    """Counts while a store is read or imported: what there is, what is taken, what is left out, and what had to be mended."""

    found: dict[str, int] = field(default_factory=dict)
    imported: Counter[str] = field(default_factory=Counter)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    mended: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def leave_out(self, what: str, why: str, count: int = 1) -> None:
        """Count something that is not imported; nothing for a count of 0."""
        if count:
            self.left_out[what, why] += count

    def mend(self, what: str, how: str) -> None:
        """Count something that is imported with another value than the damaged one that it has."""
        self.mended[what, how] += 1

    def take(self, what: str, found: int, imported: int) -> None:
        """Note how many of a kind there are, and how many of them are imported."""
        self.found[what] = self.found.get(what, 0) + found
        self.imported[what] += imported

    def also(self, other: Tally) -> None:
        """Add what another tally has left out, mended and noted."""
        self.left_out += other.left_out
        self.mended += other.mended
        self.notes += other.notes

    def taken(self) -> tuple[Taken, ...]:
        """Every kind that was found or imported."""
        return tuple(
            Taken(what, count, self.imported[what]) for what, count in self.found.items() if count or self.imported[what]
        )

    def missing(self) -> tuple[LeftOut, ...]:
        """What was left out, by kind and reason."""
        return tuple(LeftOut(what, count, why) for (what, why), count in self.left_out.items())

    def said(self) -> tuple[str, ...]:
        """The notes, each once, and what was mended."""
        mended = [f"{count:,} {what}: {how}" for (what, how), count in self.mended.items()]
        return tuple(dict.fromkeys([*self.notes, *mended]))
