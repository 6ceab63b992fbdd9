"""Adopt: a kept text, edited beside the standing continuity, is saved as a new wrap (console.md, screen 6; issue 4, 5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from console.dialogs.base import REASON_REQUIRED, CountedField, Dialog, DialogButton, Do, Lines, sentence_of
from console.dialogs.handover import KEEP_AFTER_SECONDS
from console.drafts import Draft, Drafts
from console.widgets.beside import BesideTexts, lines_of, moment
from console.widgets.document import Line, Section
from console.widgets.editor import editable
from console.widgets.meter import Measure
from core.errors import Refusal, StoreError
from core.memory import text_gates
from core.memory.adopt import Adopted
from core.memory.continuity import canonical, split_sections
from core.memory.durable import measured_characters
from core.texts import REASON_LIMIT
from core.views.continuity import Standing
from core.views.kept_texts import KeptDetail
from core.views.snapshot import Snapshot

KIND = "adopt"
SHOWN = 200_000
"""Characters of the kept text that the left side shows; the editor has it whole."""
ReadAgain = Callable[[], Awaitable[tuple[KeptDetail, Standing] | None]]
"""Reads the kept text and what stands, of one moment, off the UI thread."""


class AdoptDialog(Dialog[Any]):
    """Gives the adoption's receipt, or None. What was typed and not sent is kept as a draft of the console."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "side('standing')", "stands now", show=False),
        Binding("f3", "side('changes')", "changes", show=False),
        Binding("f4", "side('kept')", "the kept text", show=False),
        Binding("f5", "side('about')", "what it is", show=False),
        Binding("f6", "to_editor", "your text", show=False),
        Binding("f8", "toggle_shrink", "let it shrink", show=False),
    ]

    DEFAULT_CSS = """
    AdoptDialog {
        & #receipt { display: none; }
        &.-done BesideTexts { display: none; } &.-done #receipt { display: block; }
        & Field > .label { width: 11; }
    }
    """

    def __init__(
        self, detail: KeptDetail, standing: Standing, do: Do, drafts: Drafts, read_again: ReadAgain, draft: Draft | None = None
    ) -> None:
        """`draft` is what was left the last time; it is taken up again, and said."""
        row = detail.row
        super().__init__(f"Adopt {row.kind} {row.id} into the continuity of {row.project_key}", dangerous=True, whole=True)
        self.detail, self.standing = detail, standing
        self._do, self._drafts, self._read_again_of = do, drafts, read_again
        self._draft = draft if draft is not None and draft.kind == KIND else None
        self._open_wrap: int | None = None
        self._allow_shrink = False
        self._keeping: Timer | None = None
        self._touched = False
        self._over = False
        self._receipt: Adopted | None = None
        version = standing.version
        pages = {"kept": ("kept text", self._kept_page()), "about": ("about it", self._about_page())}
        self.texts = BesideTexts(
            self._draft.text if self._draft else detail.text, version.text if version else "", standing.revision, pages
        )
        self.receipt = Lines(id="receipt")
        self.reason = CountedField(
            "reason",
            REASON_LIMIT,
            self._draft.summary if self._draft else "",
            required=REASON_REQUIRED,
            placeholder="why it is adopted; it is in the trail",
            id="reason",
        )
        self.back_button = DialogButton("Back", "back")
        self.shrink_button = DialogButton("F8 let it shrink: off", "toggle_shrink", dangerous=True)
        self.confirm_button = DialogButton("Adopt", "confirm", dangerous=True)
        self.hint = "esc back, your text is kept · tab moves on · ctrl+s adopts"

    # layout

    def body(self) -> Iterable[Widget]:
        """The two texts, and afterwards the receipt."""
        return (self.texts, self.receipt)

    def fields(self) -> Iterable[Widget]:
        """Why."""
        return (self.reason,)

    def buttons(self) -> Iterable[DialogButton]:
        """Back, what the situation asks for, the deed."""
        return (self.back_button, self.shrink_button, self.confirm_button)

    def on_mount(self) -> None:
        """Show what the dialog was opened with."""
        self._measure()
        if self.detail.obstacles:
            self._show_obstacles()
        elif self._draft is not None:
            self.say("Your draft was kept and is taken up again.", "accent")

    def _kept_page(self) -> tuple[Section, ...]:
        row, text = self.detail.row, self.detail.text
        left = len(text) - SHOWN
        more = (Line(f"and {left:,} more characters", "muted"),) if left > 0 else ()
        return (Section(f"{row.kind} {row.id} as it was kept, {len(text):,} characters", (*lines_of(text[:SHOWN]), *more)),)

    def _about_page(self) -> tuple[Section, ...]:
        row, detail = self.detail.row, self.detail
        because = f"a save that was refused ({row.code})" if row.code else "a draft that its agent left behind"
        facts = (
            Line(because, label="kept of"),
            Line(f"{row.client_name or 'a client without a name'}, at {moment(row.created_at)}", label="by"),
            Line(f"wrap {row.wrap_id}, generation {row.generation}, {row.wrap_state}", label="written for"),
            Line(f"{detail.episodes} frozen; the new wrap covers them", label="episodes"),
            Line(f"revision {detail.prepared_revision} of the continuity", label="written from"),
            Line("dealt with already" if row.dealt_with_at else "waits for you", label="state"),
        )
        checked = tuple(Line(one.sentence, "danger", "✗") for one in detail.obstacles) or (
            Line("the continuity, the sections and every episode are still those of its prepare", "ok", "✓"),
        )
        undone = (
            Line("Your text REPLACES the continuity; every version is kept, and can be restored.", "", "✓"),
            Line("Levels of patterns are judged from the frozen episodes, as in an agent's save.", "", "·"),
        )
        return (Section("The kept text", facts), Section("Can it be adopted", checked), Section("If you go on", undone))

    # the left side

    def action_side(self, side: str) -> None:
        """Show this on the left."""
        if self._receipt is None:
            self.texts.show_side(side)

    def action_scroll_body(self, step: int) -> None:
        """Page up and down move the left side, unless the editor has the keys."""
        self.texts.scroll_page(step)

    def action_to_editor(self) -> None:
        """Go to the text that is to stand."""
        if self._receipt is None:
            self.texts.editor.focus(scroll_visible=False)

    # what is typed

    @on(BesideTexts.Edited)
    def _edited(self, event: BesideTexts.Edited) -> None:
        event.stop()
        self._measure()
        self._keep_soon()

    @on(Input.Changed)
    def _field_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._measure()
        self._keep_soon()

    def _measure(self) -> None:
        self.texts.meter.set_measure(Measure(self._characters(), self.standing.hard_maximum))
        shrunk = bool(self._shrunk()) and self._receipt is None and not self._over
        self._allow_shrink = self._allow_shrink and shrunk
        self.shrink_button.display = shrunk
        self.shrink_button.set_label(f"F8 let it shrink: {'on' if self._allow_shrink else 'off'}")
        self.refresh_buttons()
        self.fit_soon()

    def _characters(self) -> int:
        """What the hard maximum counts."""
        return measured_characters(canonical(self.texts.text), self.standing.sections)

    def _shrunk(self) -> list[text_gates.Shrunk]:
        return text_gates.shrunk_parts(self.texts.standing, canonical(self.texts.text), self.standing.sections)

    def action_toggle_shrink(self) -> None:
        """Let the text be much shorter than what stands, or not."""
        if self.shrink_button.display:
            self._allow_shrink = not self._allow_shrink
            self._measure()

    def why_not(self) -> str:
        """What stands in the way, the kept text's own obstacles first."""
        if self._receipt is not None:
            return "It is done already; enter or esc closes."
        if self.detail.obstacles or self._over:
            return f"It can't be adopted any more: {self._obstacles()}. Your text is kept; esc closes."
        if self._open_wrap is not None:
            return f"Wrap {self._open_wrap} is open in this project: a text can be adopted only while none is."
        if not self.texts.text:
            return "The text that is to stand is empty."
        try:
            split_sections(canonical(self.texts.text), self.standing.sections)
        except Refusal as refusal:
            return refusal.sentence
        found = self.texts.meter.measure
        if found.too_long:
            return f"The text has {found.used:,} characters; at most {found.cap:,} are taken."
        if self._shrunk() and not self._allow_shrink:
            return "The text would lose much of what stands, and REPLACES it whole; F8 lets it shrink."
        return self.reason.problem

    # drafts of the console

    def _keep_soon(self) -> None:
        unchanged = self.texts.text == editable(self.detail.text).strip() and not self.reason.text
        if self._receipt is not None or not self.is_mounted or (self._keeping is None and unchanged):
            return
        self._touched = True
        if self._keeping is not None:
            self._keeping.stop()
        self._keeping = self.set_timer(KEEP_AFTER_SECONDS, self._keep)

    def draft(self) -> Draft:
        """What is typed now."""
        return Draft(
            KIND, self.detail.row.key, self.texts.revision, self.texts.standing, self.texts.editor.text, self.reason.text
        )

    async def _keep(self) -> None:
        if self._receipt is None:
            await asyncio.to_thread(self._drafts.keep, self.draft())

    async def on_unmount(self) -> None:
        """What was typed and not sent is kept, however the dialog ends."""
        if self._touched:
            await self._keep()

    # following the store

    def follow(self, snapshot: Snapshot) -> None:
        """Look again at the kept text and what stands; what was typed stays."""
        if self._receipt is not None or self.busy:
            return
        project = self.detail.row.project_key
        self._open_wrap = next((row.wrap_id for row in snapshot.wraps if row.project_key == project), None)
        self.refresh_buttons()
        self.run_worker(self._look_again(), exclusive=True, group="look-again", exit_on_error=False)

    async def _look_again(self) -> None:
        found = await self._read_again_of()
        if found is None or self._receipt is not None or not self.is_mounted:
            return
        before, (self.detail, standing) = self.detail, found
        self.texts.set_page("about", self._about_page())
        if standing.revision != self.standing.revision and standing.version is not None:
            self.texts.show_moved(standing.version.text, standing.revision)
        self.standing = standing
        if self.detail.obstacles != before.obstacles:
            self._show_obstacles()
        self._measure()

    def _obstacles(self) -> str:
        return "; ".join(one.sentence for one in self.detail.obstacles) or "it has changed"

    def _show_obstacles(self) -> None:
        if self.detail.obstacles:
            self.hold(f"It can't be adopted any more: {self._obstacles()}. Your text is as it was, and is kept.")

    # the deed

    async def confirm(self) -> None:
        """Adopt it, from the revision that was edited beside."""
        row = self.detail.row
        found = await self.attempt(
            self._do,
            "adopt_continuity",
            "adopting…",
            project_key=row.project_key,
            kind=row.kind,
            item_id=row.id,
            text=self.texts.editor.text,
            expected_revision=self.texts.revision,
            reason=self.reason.words,
            allow_shrink=self._allow_shrink,
        )
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            self._refused(found)
            return
        self._receipt = found
        await asyncio.to_thread(self._drafts.forget, KIND, row.key)
        self._done(found)

    def _refused(self, found: Refusal | StoreError) -> None:
        if isinstance(found, Refusal) and found.code in ("continuity_revision_conflict", "adopt_conflict"):
            self.hold(f"{found.sentence} Your text is as it was, and is kept.")
            self.run_worker(self._look_again(), exclusive=True, group="look-again", exit_on_error=False)
        else:
            self.say(sentence_of(found), "danger")

    def _done(self, found: Adopted) -> None:
        saved = found.saved
        lines = (
            Line(f"revision {saved.continuity_revision}, {saved.characters:,} characters", "ok", label="stands"),
            Line(f"wrap {saved.wrap_id}, generation {saved.generation}", label="new wrap"),
            Line(f"{saved.episodes_compressed} of wrap {found.from_wrap_id}", label="covers"),
            Line(f"{saved.graduations_validated} validated, {saved.graduations_demoted} demoted", label="patterns"),
            Line(f"{found.texts} kept text(s)", label="dealt with"),
        )
        self.add_class("-done")
        self.receipt.set_sections((Section("Done", lines),))
        self.confirm_button.display = self.reason.display = False
        self._measure()
        self.back_button.set_label("Close")
        self.back_button.focus(scroll_visible=False)
        self.set_hint("enter or esc closes")

    def result_of_back(self) -> Any:
        """The receipt, once there is one."""
        return self._receipt
