"""Anchors: what the file outside the store says of the trail's end, and starting it again after a restore (room.md 5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.widget import Widget

from console.dialogs.base import CountedField, Dialog, DialogButton, Do, Lines, sentence_of
from console.widgets.document import Line, Section
from core.errors import Refusal, StoreError
from core.texts import REASON_LIMIT
from core.trail.anchors import AnchorCheck

PROBLEMS_SHOWN = 8
WHAT = Section(
    "If you go on",
    (
        Line("The trail as it is counts from here on: do so only after a restore that you know of.", "", "✗"),
        Line(
            "The old anchor file is kept under another name, and a new one is begun. The trail says who did it and why.", "", "✓"
        ),
    ),
)


class AnchorsDialog(Dialog[Any]):
    """The anchors' state, and a reason to start them again; gives the receipt, or None."""

    def __init__(self, found: AnchorCheck, do: Do) -> None:
        super().__init__("The trail's anchors", dangerous=bool(found.problems))
        self._found = found
        self._do = do
        self.reason = CountedField(
            "reason",
            REASON_LIMIT,
            required="A reason is required: it goes into the trail.",
            placeholder="why the trail counts as it is, such as the backup restored",
            id="reason",
        )
        self.confirm_button = DialogButton("Start again", "confirm")
        self.hint = "esc back · tab moves on · ctrl+s starts the anchors again"

    def body(self) -> Iterable[Widget]:
        """What the anchors say, and what going on means."""
        problems = tuple(Line(problem, "danger", "✗") for problem in self._found.problems[:PROBLEMS_SHOWN])
        left = len(self._found.problems) - len(problems)
        more = (Line(f"and {left} more: watchroom audit anchor lists them", "danger"),) if left > 0 else ()
        words = Line(self._found.words, "danger" if problems else "ok")
        return (Lines((Section("Now", (words, *problems, *more)), WHAT)),)

    def fields(self) -> Iterable[Widget]:
        """The reason."""
        return (self.reason,)

    def buttons(self) -> Iterable[DialogButton]:
        """Back and the deed."""
        return (DialogButton("Back", "back"), self.confirm_button)

    def why_not(self) -> str:
        """What stands in the way."""
        return self.reason.problem

    async def confirm(self) -> None:
        """Start the anchors again."""
        found = await self.attempt(self._do, "accept_anchors", "starting again…", reason=self.reason.words)
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            self.say(sentence_of(found), "danger")
            return
        self.app.notify(f"The anchors count again from row {found.seq} on.", markup=False)
        self.close(found)
