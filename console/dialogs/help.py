"""Help for where one is: the keys out of the one table of actions, and what the verdicts mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, get_args

from textual.binding import Binding, BindingType

from console.actions import Action, Group, for_screen
from console.dialogs.reading import ReadingDialog
from console.themes import VERDICT_LOOK
from console.widgets.document import DetailTab, Document, Line, Section
from core.models import Verdict

PLACES: Final[dict[str, tuple[str, str]]] = {
    "overview": (
        "Overview",
        "What needs a person comes first, with the reason; enter goes to the thing itself. "
        "Below it are the counts, the activity of the last hour, and who is connected.",
    ),
    "wraps": (
        "Wraps",
        "Every open wrap: whose it is, how long it is open, whether its holder lives, and how many agents wait for it. "
        "The detail says why each verdict is believed.",
    ),
    "audit": (
        "Audit",
        "The trail of everything that was done and refused, followed as it is written. Moving up freezes it, G follows again.",
    ),
    "memory.continuity": (
        "Memory: continuity",
        "What each project remembers: the text that stands, and with one project chosen (p) every version of it. "
        "The tab Changes says what a version changed. ← and → go through the views.",
    ),
    "memory.episodes": (
        "Memory: episodes",
        "What the agents recorded, newest first; / searches all of them, a phrase before its words. "
        "Deleting one leaves a tombstone, and lowers the patterns that rest on it.",
    ),
    "memory.patterns": (
        "Memory: patterns",
        "What came to be believed, by level. A level rises only by a cited episode of the wrap, one a wrap, and falls when "
        "its evidence is deleted or loses its trust: see Evidence and History.",
    ),
    "memory.loops": ("Memory: loops", "What is open: tasks, questions and thoughts, by tier and by how alive they are."),
    "memory.knowledge": ("Memory: knowledge", "Decisions, learnings, snippets, runbooks and ADRs that sessions captured."),
    "memory.kept": (
        "Memory: kept texts",
        "Texts that could not be saved: salvage of late saves, and drafts of wraps that ended. Adopting makes one the continuity.",
    ),
}
MEANINGS: Final[dict[Verdict, str]] = {
    "DEAD": "Two facts of death: its process, client, connection, session or heartbeat is gone. It can be ended with a reason.",
    "PARTIAL": "The wrap's row is damaged, so nobody can save with it. It can be cleared with a reason.",
    "WEDGED": "Its holder lives but has called nothing for a long time. Ask for release first.",
    "STALE": "One fact of death, which proves nothing yet. Look again in a minute.",
    "UNKNOWN": "It can't be told from here, such as a holder on another host. It may be alive.",
    "STARTING": "Its holder has just connected and has not beaten yet.",
    "LIVE": "Its holder is alive and at work.",
}


def help_document(screen: str, read_only: bool = False, keymap: Mapping[str, str] | None = None) -> Document:
    """The help of a screen."""
    title, about = PLACES.get(screen, (screen.capitalize(), ""))
    place = [Line(about)] if about else []
    if read_only:
        place.append(Line("Read-only: what would change the store is not there.", "warning"))
    sections = [Section(title, tuple(place))]
    actions = for_screen(screen, read_only, keymap)
    # What this screen is for first, the hand's keys last.
    order: tuple[Group, ...] = ("Act", "Find", "Mark", "Take away", "Look", "Screens", "Console", "Move")
    for group in (*order, *(one for one in get_args(Group) if one not in order)):
        lines = tuple(_line(action) for action in actions if action.group == group and action.owners != ("detail",))
        if lines:
            sections.append(Section(group, lines))
    sections.append(Section("Verdicts", tuple(_verdict(verdict) for verdict in VERDICT_LOOK)))
    return Document(f"help:{screen}", (DetailTab("", tuple(sections)),))


def _line(action: Action) -> Line:
    keys = action.shown_keys or ". menu"
    return Line(f"{action.help}", "danger" if action.dangerous else "", label=keys)


def _verdict(verdict: Verdict) -> Line:
    look = VERDICT_LOOK[verdict]
    return Line(MEANINGS[verdict], look.role, label=f"{look.glyph} {look.word}")


class HelpDialog(ReadingDialog):
    """The help of a screen; `?`, escape and q close it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark", "back", "close", show=False, id="help")]
    HINT = "j k move · / find · ? close"

    def __init__(self, screen: str, read_only: bool = False, keymap: Mapping[str, str] | None = None) -> None:
        super().__init__(f"Help: {PLACES.get(screen, (screen, ''))[0]}")
        self._document = help_document(screen, read_only, keymap)

    def on_mount(self) -> None:
        """Show it."""
        self.detail.show(self._document)
