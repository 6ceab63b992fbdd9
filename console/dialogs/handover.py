"""What ending and relaying share: the text that stands beside the one that is to stand, measured, compared and kept as a draft.

See console.md, Acting safely, Relay.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import SelectionList

from console.dialogs.base import CountedField, DialogButton, Do, Field, Lines
from console.dialogs.session_dialog import SessionDialog
from console.drafts import Draft, Drafts
from console.text import copyable, one_line
from console.widgets.beside import BesideTexts
from console.widgets.document import Line, Section
from console.widgets.editor import editable
from console.widgets.meter import Measure
from core.errors import Refusal, StoreError
from core.sessions import shrink
from core.sessions.limits import CAPTURE_LIMIT, FOCUS_LIMIT, REASON_LIMIT, SLOT_BODY_LIMIT, SUMMARY_LIMIT
from core.texts import REASON_LIMIT as OVERRIDE_LIMIT
from core.views.sessions import SessionDetail
from core.views.snapshot import Snapshot

KEEP_AFTER_SECONDS = 0.5
NOTHING_HINT = "nothing is ticked (F4): why there is nothing; may stay empty"
TITLE_SHOWN = 90


class HandoverDialog(SessionDialog):
    """Left what stands, or what would change, or what to capture, or who is at work; right the editor; below what is to be said."""

    KIND: ClassVar[str] = ""
    VERB: ClassVar[str] = ""
    CONFIRM: ClassVar[str] = ""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "side('standing')", "stands now", show=False),
        Binding("f3", "side('changes')", "changes", show=False),
        Binding("f4", "side('capture')", "captures", show=False),
        Binding("f5", "side('evidence')", "evidence", show=False),
        Binding("f6", "to_editor", "your text", show=False),
        Binding("f8", "toggle_shrink", "let it shrink", show=False),
        Binding("f9", "take_revision", "go on from the new revision", show=False),
        Binding("y", "copy_for_agent", "copy for the agent", show=False),
    ]

    DEFAULT_CSS = """
    HandoverDialog {
        & #capture { height: 1fr; border: none; padding: 0; background: $panel; scrollbar-size-vertical: 1; display: none; }
        & #capture.-page { display: block; }
        & #left > EvidenceList { margin: 0; }
        &.-small #left > EvidenceList { display: none; } &.-small #left > EvidenceList.-page { display: block; }
        & Field > .label { width: 11; }
        & #shrink-reason, & #nothing { display: none; &.-asked { display: block; } }
        & #receipt { display: none; }
        &.-done BesideTexts { display: none; } &.-done #receipt { display: block; }
    }
    """

    def __init__(self, heading: str, detail: SessionDetail, do: Do, drafts: Drafts, draft: Draft | None) -> None:
        """`draft` is what was left the last time; it is taken up again, and said."""
        super().__init__(heading, detail.row, do, whole=True)
        self.detail = detail
        self._drafts = drafts
        self._draft = draft if draft is not None and draft.kind == self.KIND else None
        self._allow_shrink = False
        self._keeping: Timer | None = None
        self._sent = False
        self._touched = False
        self.bound = detail.slot is not None
        self.cap = SLOT_BODY_LIMIT if self.bound else FOCUS_LIMIT
        self.capture: SelectionList[str] = SelectionList(id="capture")
        standing = detail.standing_text or ""
        pages = {"capture": ("captures", self.capture), "evidence": ("who is at work", self.evidence)}
        self.texts = BesideTexts(self._draft.text if self._draft else standing, standing, detail.standing_revision, pages)
        self.editor, self.meter = self.texts.editor, self.texts.meter
        self.receipt = Lines(id="receipt")
        self.summary = CountedField(
            "summary",
            SUMMARY_LIMIT,
            self._draft.summary if self._draft else "",
            required="A summary is required: what the session did.",
            placeholder="what the session did",
            id="summary",
        )
        self.nothing = Field(
            "no capture",
            self._draft.nothing if self._draft else "",
            placeholder=NOTHING_HINT,
            id="nothing",
        )
        self.shrink_reason = Field("why short", placeholder="why the base is to shrink; it is in the trail", id="shrink-reason")
        self.confirm_button = DialogButton(self.CONFIRM, "confirm", dangerous=True)
        self.shrink_button = DialogButton("F8 let the base shrink: off", "toggle_shrink", dangerous=True)
        self.revision_button = DialogButton("F9 go on from the new revision", "take_revision")
        self.copy_button = DialogButton("y copy for the agent", "copy_for_agent")
        self.hint = f"esc back, your text is kept · tab moves on · ctrl+s {self.CONFIRM.lower()}s"

    # layout

    def body(self) -> Iterable[Widget]:
        """What is at stake, the two texts, the meter."""
        yield self.about
        yield self.texts
        yield self.receipt

    def fields(self) -> Iterable[Widget]:
        """Summary, what the subclass asks for, and what the situation does."""
        return (self.summary, *self.more_fields(), self.nothing, self.shrink_reason, self.typed)

    def more_fields(self) -> Iterable[Widget]:
        """The subclass's own fields."""
        return ()

    def buttons(self) -> Iterable[DialogButton]:
        """Back, what the situation asks for, the deed."""
        return (self.back_button, self.shrink_button, self.revision_button, self.copy_button, self.confirm_button)

    def on_mount(self) -> None:
        """Show what the dialog was opened with."""
        for one in self.detail.ledger:
            self.capture.add_option((Content(one_line(f"{one.kind}: {one.title} (in its ledger)", TITLE_SHOWN)), one.id, True))
        for one in self.detail.uncaptured:
            self.capture.add_option((Content(one_line(f"{one.kind}: {one.title}", TITLE_SHOWN)), one.id, False))
        self._measure()
        if self._draft is not None:
            moved = f", made from revision {self._draft.revision}" if self._draft.revision != self.revision else ""
            self.say(f"Your draft was kept and is taken up again{moved}.", "accent")
            if moved:
                standing, revision = self.standing, self.revision
                self.texts.standing, self.texts.revision = self._draft.standing, self._draft.revision
                self._show_conflict(standing, revision)

    @property
    def standing(self) -> str:
        """The text that stood when the editing began."""
        return self.texts.standing

    @property
    def revision(self) -> int:
        """The revision that the text is made from."""
        return self.texts.revision

    # the left side

    def action_side(self, side: str) -> None:
        """Show this on the left."""
        if not self._sent:
            self.show_side(side)
            if side == "capture":
                self.capture.focus()
                if self.capture.highlighted is None:
                    self.capture.action_first()

    def action_to_editor(self) -> None:
        """Go to the text that is to stand."""
        if not self._sent:
            self.editor.focus(scroll_visible=False)

    def show_side(self, side: str) -> None:
        """Show what stands, the changes, the captures or the evidence."""
        if side != "capture" and self.capture.has_focus:
            self.editor.focus(scroll_visible=False)
        self.texts.show_side(side)

    def action_scroll_body(self, step: int) -> None:
        """Page up and down move the left side, unless the editor has the keys."""
        self.texts.scroll_page(step)

    # what is typed

    @property
    def text(self) -> str:
        """The text that is to stand, as it will be stored."""
        return self.texts.text

    @property
    def measure(self) -> Measure:
        """The text's length against its bounds."""
        floor = 0 if self.bound else shrink.floor(self.standing)
        return Measure(len(self.text), self.cap, floor, len(self.standing))

    @on(BesideTexts.Edited)
    def _edited(self, event: BesideTexts.Edited) -> None:
        event.stop()
        self._measure()
        self._keep_soon()

    @on(SelectionList.SelectedChanged)
    def _ticked(self, event: SelectionList.SelectedChanged[str]) -> None:
        event.stop()
        self._measure()

    def field_changed(self) -> None:
        """A field was typed into: keep it."""
        self._measure()
        self._keep_soon()

    def _measure(self) -> None:
        found = self.measure
        self.meter.set_measure(found)
        short = found.too_short and not self._sent and not self._over
        if not short:
            self._allow_shrink = False
        self.shrink_button.display = short
        self.shrink_button.set_label(f"F8 let the base shrink: {'on' if self._allow_shrink else 'off'}")
        self.shrink_reason.set_class(self._allow_shrink, "-asked")
        self.nothing.set_class(not self.named and not self.detail.ledger and not self._sent, "-asked")
        self.revision_button.display = self.texts.moved is not None and not self._sent and not self._over
        self.copy_button.display = self._sent and self.for_agent() != ""
        self.refresh_buttons()
        self.fit_soon()

    def action_toggle_shrink(self) -> None:
        """Let the base shrink, or not; it asks for a reason of its own."""
        if self.measure.too_short and not self._sent:
            self._allow_shrink = not self._allow_shrink
            self._measure()
            if self._allow_shrink:
                self.call_after_refresh(self.shrink_reason.input.focus)

    @property
    def named(self) -> tuple[str, ...]:
        """The knowledge that is ticked and not in the ledger yet."""
        owned = {one.id for one in self.detail.ledger}
        return tuple(one for one in self.capture.selected if one not in owned)

    def missing(self) -> str:
        """What stands in the way, the text first."""
        found = self.measure
        if self._sent:
            return "It is done already; enter or esc closes."
        if self.texts.moved is not None:
            return f"It is at revision {self.texts.moved[1]} now: F9 goes on from there, with your text as it is."
        if self.summary.problem:
            return self.summary.problem
        if not self.text:
            return "The text that is to stand is empty."
        if found.too_long:
            return f"The text has {found.used:,} characters; at most {found.cap:,} are taken."
        if found.too_short and not self._allow_shrink:
            return f"The text is under the floor of {found.floor:,} characters. It REPLACES the whole base; F8 lets the base shrink, with a reason."
        if found.too_short and not self.shrink_reason.text.strip():
            return "Why the base is to shrink is required: one sentence, kept in the trail."
        if len(self.shrink_reason.text.strip()) > OVERRIDE_LIMIT:
            return f"The reason is too long; at most {OVERRIDE_LIMIT} characters are kept."
        if len(self.nothing.text.strip()) > REASON_LIMIT:
            return f"The reason for nothing is too long; at most {REASON_LIMIT:,} characters are kept."
        if len(self.named) + len(self.detail.ledger) > CAPTURE_LIMIT:
            return f"A ledger has at most {CAPTURE_LIMIT} items."
        return ""

    # drafts

    def draft(self) -> Draft:
        """What is typed now."""
        return Draft(
            self.KIND,
            self.row.session_id,
            self.revision,
            self.standing,
            self.editor.text,
            self.summary.text,
            self.new_key(),
            self.nothing.text,
        )

    def new_key(self) -> str:
        """The successor's key, where there is one."""
        return ""

    def _keep_soon(self) -> None:
        if (
            self._sent
            or not self.is_mounted
            or (self._keeping is None and self.text == editable(self.standing).strip() and not self.summary.text)
        ):
            return
        self._touched = True
        if self._keeping is not None:
            self._keeping.stop()
        self._keeping = self.set_timer(KEEP_AFTER_SECONDS, self._keep)

    async def _keep(self) -> None:
        if not self._sent:
            await asyncio.to_thread(self._drafts.keep, self.draft())

    async def on_unmount(self) -> None:
        """What was typed and not sent is kept, however the dialog ends."""
        if self._touched and not self._sent:
            await asyncio.to_thread(self._drafts.keep, self.draft())

    # the deed

    def arguments(self) -> dict[str, Any]:
        """The subclass's own arguments of the verb."""
        return {}

    async def confirm(self) -> None:
        """Do it, from the revision shown."""
        reason = self.nothing.text.strip() or None
        found = await self.attempt(
            self._do,
            self.VERB,
            f"{self.CONFIRM.lower()}ing…",
            session_id=self.row.session_id,
            expected_client_key=self.row.client_key,
            summary=self.summary.words,
            nothing_to_capture_reason=None if self.named or self.detail.ledger else reason,
            allow_focus_shrink=self._allow_shrink,
            shrink_reason=self.shrink_reason.text.strip() or None if self._allow_shrink else None,
            seen=self.seen(),
            **self.arguments(),
        )
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            self.refused(found)
            return
        self._sent = True
        await asyncio.to_thread(self._drafts.forget, self.KIND, self.row.session_id)
        self._done(found)

    def refused(self, found: Refusal | StoreError) -> None:
        """A revision that moved is shown side by side; everything typed stays."""
        moved = isinstance(found, Refusal) and found.code in ("slot_revision_conflict", "focus_revision_conflict")
        if moved and isinstance(found, Refusal):
            text = found.facts.get("current_body", found.facts.get("current_focus")) or ""
            revision = found.facts.get("current_revision", found.facts.get("current_focus_revision"))
            self._show_conflict(str(text), int(revision or 0))
            self.hold(f"{found.sentence} Your text is as it was.")
        else:
            super().refused(found)
            self._measure()

    def _show_conflict(self, text: str, revision: int) -> None:
        if self.capture.has_focus:
            self.editor.focus(scroll_visible=False)
        self.texts.show_moved(text, revision)
        self._measure()

    def action_take_revision(self) -> None:
        """Go on from what stands now, with the text as typed."""
        if self.texts.moved is not None and not self._sent:
            self.texts.take_moved()
            self._measure()
            self.hold(f"Going on from revision {self.revision}: look at what your text would change.")

    def follow(self, snapshot: Snapshot) -> None:
        """The session, and the text under it, as they are now."""
        if self._sent:
            return
        super().follow(snapshot)
        if self._over or self.busy:
            return
        revision = self._revision_in(snapshot)
        known = self.texts.moved[1] if self.texts.moved else self.revision
        if revision is not None and revision != known:
            self.run_worker(self._read_again(), exclusive=True, group="read-again", exit_on_error=False)

    def _revision_in(self, snapshot: Snapshot) -> int | None:
        if self.bound:
            return next((slot.revision for slot in snapshot.slots if slot.slot_id == self.row.slot_id), None)
        return next((one.focus_revision for one in snapshot.projects if one.project_key == self.row.project_key), None)

    async def _read_again(self) -> None:
        from console.session_actions import read_detail

        detail = await asyncio.to_thread(read_detail, self.app, self.row.session_id)
        if detail is None or self._sent or not self.is_mounted:
            return
        if detail.standing_revision != (self.texts.moved[1] if self.texts.moved else self.revision):
            self._show_conflict(detail.standing_text or "", detail.standing_revision)
            self.hold(
                f"changed: what stands is at revision {detail.standing_revision} now. Your text is as it was; F9 goes on from there."
            )

    # afterwards

    def receipt_lines(self, found: Any) -> tuple[Line, ...]:
        """What the receipt says."""
        return ()

    def for_agent(self) -> str:
        """The text for the agent; "" when there is none."""
        return ""

    def _done(self, found: Any) -> None:
        self._receipt = found
        self.add_class("-done")
        self.receipt.set_sections((Section("Done", self.receipt_lines(found)),))
        self.confirm_button.display = False
        for field in (self.summary, self.nothing, self.shrink_reason, self.typed, *self.more_fields()):
            field.display = False
        self._measure()
        self.back_button.set_label("Close")
        self.back_button.focus(scroll_visible=False)
        self.set_hint("enter or esc closes · y copies the text for the agent" if self.for_agent() else "enter or esc closes")

    def end_here(self, words: str) -> None:
        """The session is over: the text stays, as a draft too."""
        super().end_here(words)
        self._measure()

    def result_of_back(self) -> Any:
        """The receipt, once there is one."""
        return getattr(self, "_receipt", None)

    def action_copy_for_agent(self) -> None:
        """Copy the text that the agent needs."""
        text = self.for_agent()
        if self._sent and text:
            self.app.copy_to_clipboard(copyable(text))
            self.say("copied for the agent", "ok")
