"""Force-cancel: the exact wrap, why it is believed dead, a reason, and the transaction's own receipt (console.md, Acting safely)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from console.dialogs.base import REASON_REQUIRED, CountedField, Dialog, DialogButton, Do, Field, Lines, now, sentence_of
from console.dialogs.force_cancel_words import (
    CONSEQUENCES,
    CancelOutcome,
    Target,
    changes,
    draft_section,
    facts,
    heading,
    number,
    row_from_refusal,
    target_line,
    typed_problem,
    what_it_takes,
)
from console.text import one_line
from console.widgets.document import Section
from console.widgets.evidence import EvidenceList
from core.errors import Refusal, StoreError
from core.memory.cancel import TYPED_CHARACTERS, Cancelled
from core.memory.kept_texts import KeptText
from core.texts import REASON_LIMIT
from core.views.snapshot import Snapshot
from core.views.wraps import WrapRow

__all__ = ["CancelOutcome", "ForceCancelDialog"]

ReadDraft = Callable[[int], Awaitable[KeptText | None]]
"""Reads the newest draft of a wrap, off the UI thread; None when there is none or it cannot be read now."""


class ForceCancelDialog(Dialog[tuple[CancelOutcome, ...]]):
    """Ends one wrap, or the dead and damaged ones among several marked; gives what became of each, None when nothing was tried."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "recent(1)", "earlier reason", show=False),
        Binding("down", "recent(-1)", "later reason", show=False),
    ]

    DEFAULT_CSS = """
    ForceCancelDialog {
        & EvidenceList { margin: 1 0 0 0; }
        & #consequences, & #draft { margin: 1 0 0 0; }
        &.-small EvidenceList, &.-small #consequences, &.-small #draft { margin: 0; }
        & #typed { display: none; &.-asked { display: block; } }
    }
    """

    def __init__(
        self, rows: tuple[WrapRow, ...], do: Do, recent_reasons: tuple[str, ...] = (), read_draft: ReadDraft | None = None
    ) -> None:
        """`recent_reasons` are offered by up and down in the reason field, the first one first; `read_draft` gives a wrap's newest draft."""
        super().__init__(heading(rows), dangerous=True)
        self.targets = tuple(Target(row) for row in rows)
        self._do = do
        self._recent = tuple(reason for reason in recent_reasons if reason.strip())
        self._at_recent = -1
        self._own_reason = ""
        self._over = False
        self._single = len(rows) == 1
        self._about = Lines()
        self._evidence = EvidenceList()
        self._consequences = Lines(id="consequences")
        self._read_draft = read_draft
        self._draft_id: int | None = None
        self._draft = Lines(id="draft")
        self.reason = CountedField(
            "reason", REASON_LIMIT, required=REASON_REQUIRED, placeholder="why it has to end, in a sentence", id="reason"
        )
        self.reason.offer = f"↑↓ {number(len(self._recent), 'recent one')}" if self._recent else ""
        self.typed = Field("token", placeholder=f"its first {TYPED_CHARACTERS} characters", id="typed")
        self.back_button = DialogButton("Back", "back")
        self.ask_button = DialogButton("Ask for release", "ask_release")
        self.confirm_button = DialogButton("Force-cancel", "confirm", dangerous=True)
        self.hint = "esc back · tab moves on · ctrl+s force-cancels"

    def body(self) -> Iterable[Widget]:
        """The wrap, its evidence, and what would follow; or the list of wraps."""
        yield self._about
        if self._single:
            yield self._evidence
        yield self._consequences
        yield self._draft

    def fields(self) -> Iterable[Widget]:
        """Reason, and the token where it is asked for."""
        yield self.reason
        yield self.typed

    def buttons(self) -> Iterable[DialogButton]:
        """Back, the gentler way, the deed."""
        return (self.back_button, self.ask_button, self.confirm_button)

    def on_mount(self) -> None:
        """Show what the dialog was opened with."""
        self._show()
        self._look_for_draft()

    # What is shown.

    def _look_for_draft(self) -> None:
        """Read what the holder had written so far, off the UI thread; it changes nothing of what is confirmed."""
        if self._single and self._read_draft is not None and not self._over:
            self.run_worker(self._show_draft(self._read_draft), exclusive=True, group="draft", exit_on_error=False)

    async def _show_draft(self, read_draft: ReadDraft) -> None:
        draft = await read_draft(self._target.row.wrap_id)
        if draft is not None and draft.id != self._draft_id and self.is_mounted and not self._over:
            self._draft_id = draft.id
            self._draft.set_sections((draft_section(draft),))
            self.fit_soon()

    @property
    def _target(self) -> Target:
        return self.targets[0]

    @property
    def _pending(self) -> tuple[Target, ...]:
        """The wraps that confirming would end."""
        return tuple(target for target in self.targets if target.waits and (self._single or target.plain))

    def _show(self) -> None:
        if self._single:
            self._about.set_sections((facts(self._target.row),))
            self._evidence.set_evidence(self._target.verdict, self._target.row.judgement.evidence)
        else:
            self._about.set_sections((self._list(),))
        self._consequences.set_sections(() if self._over else (CONSEQUENCES,))
        if self._over:
            self._draft.set_sections(())
        asked = self._single and self._target.waits and not self._target.plain
        askable = asked and self._target.row.holder.connection_id is not None and self._target.row.state == "open"
        # What is hidden hands its focus on by itself, and that might be to the confirming button.
        if not askable and self.ask_button.has_focus:
            self.back_button.focus(scroll_visible=False)
        if not asked and self.typed.input.has_focus:
            self.reason.input.focus(scroll_visible=False)
        self.typed.set_class(asked, "-asked")
        self.ask_button.display = askable
        self.confirm_button.display = not self._over
        self.reason.display = not self._over
        if self._over and not self.back_button.has_focus:
            self.back_button.focus(scroll_visible=False)
        if self._over:
            self.set_hint("enter or esc closes")
        self.refresh_buttons()
        self.fit_soon()

    def _list(self) -> Section:
        pending = len(self._pending)
        title = f"{number(pending, 'wrap')} of {len(self.targets)} would end" if not self._over else "What became of them"
        return Section(title, tuple(target_line(target) for target in self.targets))

    def _set(self, index: int, **changed: Any) -> None:
        self.targets = (*self.targets[:index], replace(self.targets[index], **changed), *self.targets[index + 1 :])

    # Following the store.

    def follow(self, snapshot: Snapshot) -> None:
        """Show each wrap as it is now; what matters holds confirming back for a moment."""
        if self._over:
            return
        rows = {row.wrap_id: row for row in snapshot.wraps}
        said = []
        for index, target in enumerate(self.targets):
            if not target.waits:
                continue
            name = "changed" if self._single else f"wrap {target.row.wrap_id} changed"
            row = rows.get(target.row.wrap_id)
            if row is not None:
                changed = changes(target.row, row)
                self._set(index, row=row)
                if changed:
                    said.append(f"{name}: {changed}")
                    self._forget_typed(target.row, row)
            elif not self.busy:
                # While a deed runs its own receipt says what became of the wrap.
                self._set(index, ended=True)
                said.append(f"{name}: it has ended meanwhile, so there is nothing left to cancel.")
        if not self.busy and not self._pending and all(not target.waits for target in self.targets):
            self._over = True
        self._show()
        self._look_for_draft()
        if said:
            self.hold(". ".join(said))

    def _forget_typed(self, was: WrapRow, row: WrapRow) -> None:
        """Characters typed for another token, or for a deader holder, are typed anew."""
        if was.token_start != row.token_start or was.judgement.verdict != row.judgement.verdict:
            self.typed.text = ""
            if self.confirm_button.has_focus:
                self.back_button.focus(scroll_visible=False)

    # The reason.

    def action_recent(self, step: int) -> None:
        """Offer the reasons given lately, one by one; past the newest comes back what was typed."""
        if not self.reason.input.has_focus or not self._recent:
            return
        if self._at_recent < 0:
            self._own_reason = self.reason.text
        self._at_recent = max(-1, min(self._at_recent + step, len(self._recent) - 1))
        self.reason.text = self._own_reason if self._at_recent < 0 else self._recent[self._at_recent]

    # Confirming.

    def why_not(self) -> str:
        """What is missing."""
        if self._over:
            return "There is nothing left to confirm."
        if not self._pending:
            return "None of these can be cancelled together: only DEAD and PARTIAL wraps can."
        problem = self.reason.problem
        if not problem and self._single:
            problem = typed_problem(self._target, self.typed.text.strip())
        return problem

    async def confirm(self) -> None:
        """Cancel exactly what is shown, one transaction for each wrap."""
        reason = self.reason.words
        pending = self._pending
        for number_, target in enumerate(pending, 1):
            index = next(at for at, one in enumerate(self.targets) if one.row.wrap_id == target.row.wrap_id)
            # A wrap that grew livelier while the others were being cancelled is no longer to be ended this way.
            shown = self.targets[index]
            if not shown.waits or not (self._single or shown.plain):
                continue
            words = "cancelling…" if self._single else f"cancelling {number_} of {len(pending)}…"
            found = await self._cancel(shown, reason, words)
            if not self.is_mounted:
                return
            if not self._take(index, found):
                return
        if not self._single:
            self._finish_list()

    async def _cancel(self, target: Target, reason: str, words: str) -> Any:
        row = target.row
        return await self.attempt(
            self._do,
            "force_cancel",
            words,
            wrap_id=row.wrap_id,
            generation=row.generation,
            token_start=row.token_start,
            verdict=target.verdict,
            last_call_at=row.last_call_at,
            row_sha256=row.row_sha256,
            reason=reason,
            typed=None if target.plain else self.typed.text.strip(),
        )

    def _take(self, index: int, found: Any) -> bool:
        """Note what became of a wrap; False when that ends the attempt."""
        wrap_id = self.targets[index].row.wrap_id
        if isinstance(found, Cancelled):
            self._set(index, outcome=CancelOutcome(wrap_id, found, None))
            if self._single:
                self.close(self._outcomes())
                return False
        elif isinstance(found, StoreError):
            # Nothing is known to have changed, so it can be tried again.
            self._show()
            self.say(sentence_of(found), "danger")
            return False
        elif isinstance(found, Refusal):
            return self._refused(index, found)
        self._show()
        return True

    def _refused(self, index: int, refusal: Refusal) -> bool:
        target = self.targets[index]
        if refusal.code == "wrap_already_finished":
            self._set(index, outcome=CancelOutcome(target.row.wrap_id, None, f"Already finished. {refusal.sentence}"))
            self._over = self._single
            self._show()
            if self._single:
                self.say(f"Already done, so nothing was changed. {refusal.sentence}", "warning")
            return not self._single
        if not self._single:
            self._set(index, outcome=CancelOutcome(target.row.wrap_id, None, refusal.sentence))
            self._show()
            return True
        if refusal.code == "evidence_changed":
            self._set(index, row=row_from_refusal(target.row, refusal.facts))
            self.typed.text = ""
            self.reason.input.focus(scroll_visible=False)
            self._show()
            takes = what_it_takes(self._target)
            self.hold(f"{refusal.sentence} {takes}".strip())
            return False
        self._show()
        self.say(refusal.sentence, "danger")
        return False

    def _finish_list(self) -> None:
        self._over = True
        self.back_button.set_label("Close")
        self._show()
        done = sum(1 for target in self.targets if target.outcome and target.outcome.receipt)
        refused = sum(1 for target in self.targets if target.outcome and not target.outcome.receipt)
        left = f", {refused} not" if refused else ""
        self.say(f"{number(done, 'wrap')} cancelled{left}. Enter or esc closes.", "ok" if not refused else "warning")

    def _outcomes(self) -> tuple[CancelOutcome, ...] | None:
        return tuple(target.outcome for target in self.targets if target.outcome is not None) or None

    def result_of_back(self) -> tuple[CancelOutcome, ...] | None:
        """What was done before going back."""
        return self._outcomes()

    # The gentler way.

    def action_ask_release(self) -> None:
        """Leave the holder a notice instead; the reason goes along as the message."""
        if self.busy or self._over or not self.ask_button.display or self.too_early(now()):
            return
        self.run_worker(self._ask_release(), exclusive=True, group="confirm", exit_on_error=False)

    async def _ask_release(self) -> None:
        message = self.reason.words or None
        found = await self.attempt(self._do, "ask_release", "asking…", wrap_id=self._target.row.wrap_id, message=message)
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            self.say(sentence_of(found), "danger")
        else:
            holder = one_line(str(getattr(found, "holder", "its holder")))
            self.say(f"Asked {holder}: it is told with its next call, and again each minute until the wrap ends.", "ok")
