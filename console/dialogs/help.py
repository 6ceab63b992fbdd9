"""Help for where one is, out of the one table of actions (console.md, Keys)."""

from __future__ import annotations

from collections.abc import Mapping

from console.actions import Action, for_screen
from console.dialogs.reading import ReadingDialog
from console.themes import VERDICT_LOOK
from console.widgets.detail import DetailTab, Document, Line, Section
from core.models import Verdict

WHERE = {
    "overview": "What needs a person stands first, the worst on top. enter goes to the thing itself. Below: the room in figures, its last hour, "
    "and who is connected.",
    "wraps": "Every open wrap, by verdict. The detail has the evidence, the timeline out of the trail, the frozen episodes and salvage. "
    "h shows the ended ones.",
    "audit": "The trail, the newest at the end, followed. Moving up stops following, G follows again. The filter takes words and fields: "
    "event:wrap_cancelled outcome:refused project:checkout actor:ada since:30m until:10:30.",
}
MEANINGS: dict[Verdict, str] = {
    "DEAD": "two facts of death: process gone, client gone, silent or closed, session ended",
    "PARTIAL": "the row is damaged; only a cancel clears it",
    "WEDGED": "alive, but no call for 15 minutes: ask its holder first",
    "STALE": "one fact of death: look again in a minute",
    "UNKNOWN": "cannot be told from here",
    "STARTING": "just opened, not heard yet",
    "LIVE": "at work, however long it takes",
}


class HelpDialog(ReadingDialog):
    """Keys of this screen by group, and what the verdicts mean."""

    def __init__(self, screen: str, read_only: bool, keymap: Mapping[str, str]) -> None:
        actions = for_screen(screen, read_only, keymap)
        groups: dict[str, list[Action]] = {}
        for action in actions:
            if action.keys:
                groups.setdefault(action.group, []).append(action)
        keys = tuple(
            Section(group, tuple(Line(action.help, label=action.shown_keys) for action in found))
            for group, found in groups.items()
        )
        legend = tuple(Line(f"{look.word}: {MEANINGS[verdict]}", look.role, look.glyph) for verdict, look in VERDICT_LOOK.items())
        where = (Section("Here", (Line(WHERE.get(screen, "")),)),)
        note = (Section("Read-only", (Line("Nothing that changes the store is here.", "warning"),)),) if read_only else ()
        tabs = (
            DetailTab("Keys", (*where, *note, *keys)),
            DetailTab("Verdicts", (Section("What is believed of a holder", legend),)),
        )
        super().__init__(f"Help: {screen}", Document(f"help:{screen}", tabs))
