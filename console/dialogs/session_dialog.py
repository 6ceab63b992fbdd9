"""What the dialogs about one session share: which it is, who is at work, and that it is still as shown (console.md, Acting safely)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual import on
from textual.widget import Widget
from textual.widgets import Input

from console.dialogs.base import Dialog, DialogButton, Do, Field, Lines, sentence_of
from console.dialogs.session_words import changes, facts, is_plain, judgement_of, row_from_refusal, seen_of, typed_problem
from console.widgets.evidence import EvidenceList
from core.errors import Refusal, StoreError
from core.sessions.evidence import TYPED_CHARACTERS
from core.sessions.models import SeenEvidence
from core.views.sessions import SessionRow
from core.views.snapshot import Snapshot


class SessionDialog(Dialog[Any]):
    """A dangerous question about one session; gives the deed's receipt, or None."""

    DEFAULT_CSS = """
    SessionDialog {
        & EvidenceList { margin: 1 0; }
        &.-small EvidenceList { margin: 0; }
        & #typed { display: none; &.-asked { display: block; } }
    }
    """

    def __init__(self, heading: str, row: SessionRow, do: Do, *, whole: bool = False) -> None:
        super().__init__(heading, dangerous=True, whole=whole)
        self.row = row
        self._do = do
        self._over = False
        self.about = Lines()
        self.evidence = EvidenceList()
        self.typed = Field("session", placeholder=f"the first {TYPED_CHARACTERS} characters of its id", id="typed")
        self.back_button = DialogButton("Back", "back")

    def consequences(self) -> Iterable[Widget]:
        """What can't be undone, and what can."""
        return ()

    def body(self) -> Iterable[Widget]:
        """The session, who is at work, what would follow."""
        return (self.about, self.evidence, *self.consequences())

    def on_mount(self) -> None:
        """Show what the dialog was opened with."""
        self.show_session()

    def show_session(self) -> None:
        """Bring everything in line with the row."""
        judgement = judgement_of(self.row)
        self.about.set_sections((facts(self.row),))
        self.evidence.set_evidence(judgement.verdict, judgement.evidence)
        asked = not self._over and not is_plain(self.row)
        if not asked and self.typed.input.has_focus:
            first = self.first_focus()
            if first is not None:
                first.focus(scroll_visible=False)
        self.typed.set_class(asked, "-asked")
        self.refresh_buttons()
        self.fit_soon()

    @property
    def over(self) -> bool:
        """Whether there is nothing left to confirm."""
        return self._over

    def seen(self) -> SeenEvidence:
        """The evidence as shown."""
        return seen_of(self.row, "" if is_plain(self.row) else self.typed.text.strip())

    def follow(self, snapshot: Snapshot) -> None:
        """Show the session as it is now; what matters holds confirming back for a moment."""
        if self._over or self.busy:
            return
        row = next((one for one in snapshot.sessions if one.session_id == self.row.session_id), None)
        if row is None:
            self.end_here("It has ended meanwhile, so there is nothing left to do here.")
            return
        changed = changes(self.row, row)
        self._forget_typed(row)
        self.row = row
        self.show_session()
        if changed:
            self.hold(f"changed: {changed}")

    def _forget_typed(self, row: SessionRow) -> None:
        """Characters typed for another verdict or another agent are typed anew; one that only goes on calling takes none away."""
        was = self.row
        if judgement_of(was).verdict != judgement_of(row).verdict or was.holder.connection_id != row.holder.connection_id:
            self.typed.text = ""

    def end_here(self, words: str) -> None:
        """Nothing can be confirmed any more; what was typed stays."""
        self._over = True
        self.show_session()
        self.hold(words)

    @on(Input.Changed)
    def _field_changed(self) -> None:
        self.field_changed()

    def field_changed(self) -> None:
        """Something was typed into a field."""

    def why_not(self) -> str:
        """What is missing: what the subclass asks for first, then the characters typed."""
        if self._over:
            return "There is nothing left to confirm."
        return self.missing() or typed_problem(self.row, self.typed.text.strip())

    def missing(self) -> str:
        """What else is missing."""
        return ""

    def refused(self, found: Refusal | StoreError) -> None:
        """Say a failure; evidence that changed is shown as it is now, and a session that is over as over."""
        if isinstance(found, Refusal) and found.code == "evidence_changed":
            row = row_from_refusal(self.row, found.facts)
            self._forget_typed(row)
            self.row = row
            self.show_session()
            self.hold(found.sentence)
        elif isinstance(found, Refusal) and found.code in ("terminal_conflict", "session_not_open", "session_not_found"):
            self.end_here(f"Already: {found.sentence}")
        else:
            self.say(sentence_of(found), "danger")
