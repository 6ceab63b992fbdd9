"""Delete: an episode goes for good, with a reason; its tombstone stays (wraps.md a2 and b)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from textual.widget import Widget

from console.dialogs.base import REASON_REQUIRED, CountedField, Dialog, DialogButton, Do, Lines, sentence_of
from console.panes.faces import clock_words
from console.text import block
from console.widgets.document import Line, Section
from core.errors import Refusal, StoreError
from core.texts import REASON_LIMIT

if TYPE_CHECKING:
    from core.views.episodes import EpisodeDetail

BEGINNING_LINES = 6
PATTERNS_NAMED = 5


class DeleteEpisodeDialog(Dialog[Any]):
    """Gives the receipt, or None."""

    def __init__(self, detail: EpisodeDetail, do: Do) -> None:
        row = detail.row
        super().__init__(f"Delete episode {row.episode_id} of {row.project_key}", dangerous=True)
        self.detail = detail
        self._do = do
        self.about = Lines()
        self.reason = CountedField("reason", REASON_LIMIT, required=REASON_REQUIRED, placeholder="why it goes", id="reason")
        self.hint = "esc back · ctrl+s deletes"

    def body(self) -> Iterable[Widget]:
        """Which episode, what it says, what follows."""
        return (self.about,)

    def fields(self) -> Iterable[Widget]:
        """The reason."""
        return (self.reason,)

    def buttons(self) -> Iterable[DialogButton]:
        """Back, the deed."""
        return (DialogButton("Back", "back"), DialogButton("Delete", "confirm", dangerous=True))

    def on_mount(self) -> None:
        """Show the episode and what hangs on it."""
        row = self.detail.row
        facts = (
            Line(f"{row.episode_type}, by {row.source}, {clock_words(row.created_at)}", label="recorded"),
            Line(f"{row.state}, trusted as {row.effective_trust}", label="state"),
        )
        says = tuple(Line(line) for line in block(self.detail.content or "", BEGINNING_LINES, 70))
        self.about.set_sections(
            (Section("", facts), Section("It says", says), Section("If you go on", consequences(self.detail)))
        )

    def why_not(self) -> str:
        """A reason of up to 500 characters."""
        return self.reason.problem

    async def confirm(self) -> None:
        """Delete it."""
        row = self.detail.row
        found = await self.attempt(
            self._do,
            "delete_episode",
            "deleting…",
            episode_id=row.episode_id,
            project_key=row.project_key,
            reason=self.reason.words,
        )
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            self.say(sentence_of(found), "danger")
        else:
            self.close(found)


def consequences(detail: EpisodeDetail) -> tuple[Line, ...]:
    """What deleting it would do, the worst first."""
    found = [Line("Its text is gone for good: nothing restores it.", "", "✗")]
    for one in detail.patterns[:PATTERNS_NAMED]:
        found.append(
            Line(
                f"{one.name}, at {one.level}x, rests on it from {one.rung}x: it falls unless another carries it.", "warning", "✗"
            )
        )
    if len(detail.patterns) > PATTERNS_NAMED:
        found.append(Line(f"{len(detail.patterns) - PATTERNS_NAMED} more patterns rest on it.", "warning", "✗"))
    if detail.derived:
        count = len(detail.derived)
        found.append(Line(f"{count} episode{'s' if count != 1 else ''} derived from it can lose trust.", "warning", "✗"))
    if detail.row.frozen_in is not None:
        found.append(Line(f"Wrap {detail.row.frozen_in} stays open without it.", "warning", "✗"))
    if detail.supersedes:
        found.append(Line("What it replaced is to be seen again.", "", "·"))
    return (*found, Line("Its id, type, length and SHA-256 stay, with who deleted it and why.", "", "✓"))
