"""Binding a session to a slot, opening a slot and closing one (sessions.md b.7, b.11, b.13)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual import on
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input, TextArea

from console.dialogs.base import CountedField, Dialog, DialogButton, Do, Field, Lines, sentence_of
from console.dialogs.session_words import facts, name_of
from console.widgets.document import Line, Section
from console.widgets.editor import Editor
from console.widgets.meter import Measure, Meter
from core.errors import Refusal, StoreError
from core.sessions.limits import REASON_LIMIT, SLOT_BODY_LIMIT, TITLE_LIMIT
from core.sessions.slot_anchors import ANCHORS_HINT, from_line
from core.views.sessions import SessionRow
from core.views.slots import SlotRow
from core.views.snapshot import Snapshot


class BindSessionDialog(Dialog[Any]):
    """Binds a session to the slot that was chosen; gives the receipt, or None."""

    def __init__(self, row: SessionRow, slot: SlotRow, do: Do) -> None:
        super().__init__(f"Bind session {row.client_key} to slot {slot.title}")
        self.row = row
        self.slot = slot
        self._do = do
        self._gone = ""
        self.confirm_button = DialogButton("Bind", "confirm")
        self.hint = "esc back · tab to Bind and enter, or ctrl+s"

    def body(self) -> Iterable[Widget]:
        """The session, the slot, and what would follow."""
        slot = Section(
            "The slot",
            (
                Line(name_of(self.slot.title), "strong", label="title"),
                Line(f"{self.slot.slot_id}, revision {self.slot.revision}", label="slot"),
                Line(", ".join(self.slot.anchors), label="anchors"),
            ),
        )
        after = Section(
            "If you go on",
            (
                Line("The session works on this slot for the rest of its life; that can't be undone.", "", "✗"),
                Line("Its end and relay write the slot, never the base focus.", "", "✓"),
            ),
        )
        return (Lines((facts(self.row), slot, after)),)

    def buttons(self) -> Iterable[DialogButton]:
        """Back and the deed."""
        return (DialogButton("Back", "back"), self.confirm_button)

    def why_not(self) -> str:
        """Whether session and slot are still free."""
        return self._gone

    def follow(self, snapshot: Snapshot) -> None:
        """Say when the session has ended or the slot is taken."""
        row = next((one for one in snapshot.sessions if one.session_id == self.row.session_id), None)
        slot = next((one for one in snapshot.slots if one.slot_id == self.slot.slot_id), None)
        gone = ""
        if row is None:
            gone = "The session has ended meanwhile."
        elif slot is None:
            gone = "The slot was closed meanwhile."
        elif slot.holder_session_id not in (None, self.row.session_id):
            gone = "Another session holds the slot now."
        if gone != self._gone and not self.busy:
            self._gone = gone
            self.hold(gone or "It is free again.")

    async def confirm(self) -> None:
        """Bind."""
        found = await self.attempt(
            self._do,
            "brain_session_bind",
            "binding…",
            session_id=self.row.session_id,
            expected_client_key=self.row.client_key,
            slot_id=self.slot.slot_id,
        )
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            self.say(sentence_of(found), "danger")
        else:
            self.close(found)


class OpenSlotDialog(Dialog[Any]):
    """Title, anchors and text of a new slot; gives the receipt, or None."""

    DEFAULT_CSS = """
    OpenSlotDialog { & #text { height: 10; & > Editor { height: 1fr; } } &.-small #text { height: 5; } }
    """

    def __init__(self, project_key: str, do: Do) -> None:
        super().__init__(f"Open a slot in {project_key}")
        self.project = project_key
        self._do = do
        self.title_field = CountedField(
            "title", TITLE_LIMIT, placeholder="what it is about, unique among the open ones", id="title"
        )
        self.anchors = Field("anchors", placeholder=ANCHORS_HINT, id="anchors")
        self.editor = Editor(id="editor")
        self.meter = Meter()
        self.hint = "esc back · tab moves on · ctrl+s opens it"

    def body(self) -> Iterable[Widget]:
        """The text's editor."""
        yield Lines((Section("The text to begin with", ()),))
        with Vertical(id="text"):
            yield self.editor
            yield self.meter

    def fields(self) -> Iterable[Widget]:
        """Title and anchors."""
        return (self.title_field, self.anchors)

    def buttons(self) -> Iterable[DialogButton]:
        """Back and the deed."""
        return (DialogButton("Back", "back"), DialogButton("Open", "confirm"))

    def on_mount(self) -> None:
        """Measure the empty text."""
        self._note()

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _changed(self, event: Any) -> None:
        event.stop()
        self._note()

    def _note(self) -> None:
        self.meter.set_measure(Measure(len(self.editor.text.strip()), SLOT_BODY_LIMIT))
        problem = self._anchor_problem() if self.anchors.text.strip() else ""
        self.anchors.set_note("✗" if problem else "✓" if self.anchors.text.strip() else "", bad=bool(problem))
        self.refresh_buttons()

    def _anchor_problem(self) -> str:
        try:
            from_line(self.anchors.text)
        except Refusal as refusal:
            return refusal.sentence
        return ""

    def why_not(self) -> str:
        """What is missing."""
        if not 1 <= len(self.title_field.words) <= TITLE_LIMIT:
            return f"A title of 1 to {TITLE_LIMIT} characters is required."
        problem = self._anchor_problem()
        if problem:
            return problem
        if not self.editor.text.strip():
            return "A text to begin with is required."
        over = len(self.editor.text.strip()) - SLOT_BODY_LIMIT
        return f"The text has {over:,} characters too many." if over > 0 else ""

    async def confirm(self) -> None:
        """Open it."""
        found = await self.attempt(
            self._do,
            "brain_slot_open",
            "opening…",
            project_key=self.project,
            title=self.title_field.words,
            body=self.editor.text,
            anchors=from_line(self.anchors.text),
        )
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            self.say(sentence_of(found), "danger")
        else:
            self.close(found)


class CloseSlotDialog(Dialog[Any]):
    """A note, and the slot is closed for good; gives the receipt, or None."""

    def __init__(self, row: SlotRow, do: Do) -> None:
        super().__init__(f"Close slot {row.title} of {row.project_key}", dangerous=True)
        self.row = row
        self._do = do
        self._gone = False
        self.about = Lines()
        self.note = CountedField(
            "note",
            REASON_LIMIT,
            required="A note is required: why it is closed, and where the work stands.",
            placeholder="why it is closed, and where the work stands",
            id="note",
        )
        self.hint = "esc back · tab moves on · ctrl+s closes it"

    def body(self) -> Iterable[Widget]:
        """The slot, and what would follow."""
        after = Section(
            "If you go on",
            (
                Line("The slot is closed for good: it can't be opened again, nor its text changed.", "", "✗"),
                Line("Its text and history stay; its title is free again.", "", "✓"),
            ),
        )
        return (self.about, Lines((after,)))

    def fields(self) -> Iterable[Widget]:
        """The note."""
        return (self.note,)

    def buttons(self) -> Iterable[DialogButton]:
        """Back and the deed."""
        return (DialogButton("Back", "back"), DialogButton("Close it", "confirm", dangerous=True))

    def on_mount(self) -> None:
        """Show the slot."""
        self._show()

    def _show(self) -> None:
        row = self.row
        holder = Line(f"held by session {row.holder_client_key or row.holder_session_id}", "danger", label="holder")
        self.about.set_sections(
            (
                Section(
                    "",
                    (
                        Line(name_of(row.title), "strong", label="title"),
                        Line(f"{row.slot_id}, revision {row.revision}", label="slot"),
                        Line(", ".join(row.anchors), label="anchors"),
                        holder if row.holder_session_id else Line("nobody", label="holder"),
                        Line(row.body, label="text"),
                    ),
                ),
            )
        )
        self.refresh_buttons()
        self.fit_soon()

    def follow(self, snapshot: Snapshot) -> None:
        """Show the slot as it is now."""
        if self.busy or self._gone:
            return
        row = next((one for one in snapshot.slots if one.slot_id == self.row.slot_id), None)
        if row is None:
            self._gone = True
            self.hold("It was closed meanwhile.")
            return
        changed = (row.revision, row.holder_session_id) != (self.row.revision, self.row.holder_session_id)
        self.row = row
        self._show()
        if changed:
            self.hold(f"changed: revision {row.revision}, {'held' if row.holder_session_id else 'an orphan'} now")

    def why_not(self) -> str:
        """What stands in the way."""
        if self._gone:
            return "It is closed already."
        if self.row.holder_session_id:
            return "A session is open on it: end, relay or abandon that first."
        return self.note.problem

    async def confirm(self) -> None:
        """Close it."""
        found = await self.attempt(
            self._do,
            "brain_slot_close",
            "closing…",
            slot_id=self.row.slot_id,
            expected_revision=self.row.revision,
            note=self.note.words,
        )
        if not self.is_mounted:
            return
        if isinstance(found, Refusal) and found.code == "slot_closed":
            self._gone = True
            self.refresh_buttons()
            self.say(f"Already: {found.sentence}", "warning")
        elif isinstance(found, Refusal | StoreError):
            self.say(sentence_of(found), "danger")
        else:
            self.close(found)
