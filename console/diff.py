"""What changed between two texts, line by line: values that a detail or a dialog can show (console.md, screens 3 and 4)."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from console.widgets.document import Line

Kind = Literal["same", "added", "removed", "skipped"]
SIGNS: dict[Kind, str] = {"same": " ", "added": "+", "removed": "-", "skipped": "…"}
ROLES: dict[Kind, str] = {"same": "muted", "added": "ok", "removed": "danger", "skipped": "muted"}
CONTEXT = 2
"""Lines that stay beside a change."""
MOST_LINES = 4_000
"""Lines of a text that are compared; what is over is said to be left out, for comparing grows with the square."""
SENTENCES = ". ", "。", "; "


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a comparison: whether it stays, is new or has gone."""

    kind: Kind
    text: str

    def as_line(self) -> Line:
        """The line for a detail: told by its sign as well as by colour."""
        return Line(self.text, ROLES[self.kind], SIGNS[self.kind])


def compare(before: str, after: str) -> tuple[DiffLine, ...]:
    """What changed from `before` to `after`; long stretches that stay are folded. Nothing changed gives nothing."""
    if before == after:
        return ()
    old, new = _lines(before), _lines(after)
    found: list[DiffLine] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            found += _folded(old[old_from:old_to], first=not old_from, last=old_to == len(old))
        else:
            found += [DiffLine("removed", line) for line in old[old_from:old_to]]
            found += [DiffLine("added", line) for line in new[new_from:new_to]]
    if not any(line.kind in ("added", "removed") for line in found):
        # they differ in line breaks or in what is beyond the limit
        found.append(DiffLine("skipped", "they differ in line breaks or beyond what is compared"))
    return tuple(found)


def diff_lines(before: str | None, after: str | None) -> tuple[Line, ...]:
    """A comparison as lines of a detail; an erased or first text is told in words."""
    if before == after:
        return (Line("unchanged", "muted"),)
    if before is None:
        return tuple(DiffLine("added", line).as_line() for line in _lines(after or "")) or (Line("empty", "muted"),)
    if after is None:
        return (Line("erased", "warning"),)
    return tuple(line.as_line() for line in compare(before, after))


def _lines(text: str) -> list[str]:
    lines = text.splitlines()
    if len(lines) <= 1 and len(text) > 200:
        lines = list(_sentences(text))
    if len(lines) > MOST_LINES:
        return [*lines[:MOST_LINES], f"({len(lines) - MOST_LINES} more lines)"]
    return lines


def _sentences(text: str) -> Iterator[str]:
    """A long text without line breaks in pieces that can be told apart: its sentences."""
    start = 0
    for position in range(len(text)):
        if any(text.startswith(end, position) for end in SENTENCES):
            yield text[start : position + 1]
            start = position + 1
    yield text[start:]


def _folded(lines: Sequence[str], *, first: bool, last: bool) -> list[DiffLine]:
    """Lines that stay: those beside a change, the rest counted."""
    before = 0 if first else CONTEXT
    after = 0 if last else CONTEXT
    if len(lines) <= before + after + 1:
        return [DiffLine("same", line) for line in lines]
    hidden = len(lines) - before - after
    return [
        *(DiffLine("same", line) for line in lines[:before]),
        DiffLine("skipped", f"{hidden} line{'s' if hidden != 1 else ''} as before"),
        *(DiffLine("same", line) for line in (lines[-after:] if after else ())),
    ]
