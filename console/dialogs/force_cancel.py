"""Force-cancel: exactly the wraps shown, with a reason, by their evidence (console.md, Acting safely; faults.md R8 to R11)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual import on
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from console.dialogs.base import Dialog, Do
from console.panes.faces import clock_words, holder_words, verdict_cell
from console.text import one_line, safe_content
from console.widgets.evidence import EvidenceList
from core.ages import words_for_age
from core.errors import Refusal, StoreError
from core.life.liveness import allows_plain_cancel
from core.memory.cancel import TYPED_CHARACTERS, Cancelled
from core.models import Evidence, Verdict
from core.texts import REASON_LIMIT
from core.views.snapshot import Snapshot
from core.views.wraps import WrapRow


@dataclass(frozen=True, slots=True)
class CancelOutcome:
    """What came of one wrap: its receipt, or the sentence of its refusal."""

    wrap_id: int
    receipt: Cancelled | None
    refusal: str | None


class ForceCancelDialog(Dialog[tuple[CancelOutcome, ...]]):
    """Asks for a reason, and for the start of the token where the holder may be alive; then cancels what was shown."""

    DANGEROUS = True

    DEFAULT_CSS = """
    ForceCancelDialog {
        & .caption { color: $text-muted; height: 1; }
        & .row { height: 1; }
        & .row > Static { width: 14; color: $text-muted; }
        & .row > Input { width: 1fr; }
        & .row > .count { width: auto; padding: 0 1; }
        & #evidence-of { height: auto; margin-top: 1; }
        & #can { height: auto; margin-top: 1; color: $text-muted; }
        & #list { height: auto; }
        & #typed-row { display: none; }
        & #typed-row.-asked { display: block; }
    }
    """

    def __init__(self, rows: tuple[WrapRow, ...], do: Do, recent_reasons: tuple[str, ...] = ()) -> None:
        one = rows[0]
        title = (
            f"Force-cancel wrap {one.wrap_id} of {one.project_key or 'no project'}"
            if len(rows) == 1
            else f"Force-cancel {len(rows)} wraps"
        )
        super().__init__(title)
        self.rows = rows
        self._do = do
        self._recent = recent_reasons
        self._recent_at = -1
        self._outcomes: dict[int, CancelOutcome] = {}
        self._running = False
        self._over = False

    @property
    def several(self) -> bool:
        """Whether marked wraps are to be cancelled together."""
        return len(self.rows) > 1

    @property
    def actionable(self) -> tuple[WrapRow, ...]:
        """The wraps that confirming is about: of several only the DEAD and PARTIAL ones."""
        return tuple(row for row in self.rows if not self.several or allows_plain_cancel(row.judgement.verdict))

    @property
    def asks_for_typing(self) -> bool:
        """Whether the start of the token must be typed: the holder may be alive."""
        return not self.several and not allows_plain_cancel(self.rows[0].judgement.verdict)

    def body(self) -> Iterator[Widget]:
        """The exact thing, its evidence, what can and what can't be undone."""
        yield Static(safe_content(self._words(), limit=4_000), id="list")
        if not self.several:
            yield EvidenceList(id="evidence-of")
        yield Static(
            safe_content(
                "The wrap ends and its token is dead: that can't be undone. Its episodes go back to the window, nothing is deleted, "
                "and a text that its holder saves too late is kept as salvage."
            ),
            id="can",
        )

    def fields(self) -> Iterator[Widget]:
        """The reason, and the start of the token where it is asked for."""
        with Horizontal(classes="row field"):
            yield Static(safe_content("reason"))
            placeholder = "why, in one sentence" + ("; ↑ offers recent ones" if self._recent else "")
            yield Input(placeholder=placeholder, id="reason", max_length=REASON_LIMIT, compact=True)
            yield Static("", id="count", classes="count")
        with Horizontal(classes="row", id="typed-row"):
            yield Static(safe_content(f"type {self._shown_start()}"))
            yield Input(
                id="typed", max_length=TYPED_CHARACTERS, compact=True, placeholder="the token's first six characters, as shown"
            )

    def buttons(self) -> Iterator[Widget]:
        """Back, the gentler way, and the deed."""
        if not self.several and self.rows[0].state == "open":
            yield Button("Ask for release", id="ask")
        yield Button("Back", id="back")
        yield Button("Force-cancel", id="confirm", classes="-dangerous")

    def hint(self) -> str:
        """How it is confirmed."""
        return "ctrl+s confirms · esc goes back"

    def on_mount(self) -> None:
        """The reason has the focus; keys typed ahead confirm nothing."""
        super().on_mount()
        self._show()

    def follow(self, snapshot: Snapshot) -> None:
        """The wraps as they are now; when one has changed it is said, and confirming waits a moment."""
        if self._running or self._over:
            return
        now = {row.wrap_id: row for row in snapshot.wraps}
        changes = []
        rows = []
        for row in self.rows:
            fresh = now.get(row.wrap_id)
            if fresh is None:
                changes.append(f"wrap {row.wrap_id} has ended meanwhile")
                continue
            if fresh.judgement.verdict != row.judgement.verdict:
                changes.append(f"wrap {row.wrap_id} was {row.judgement.verdict}, is {fresh.judgement.verdict} now")
            elif fresh.last_call_at != row.last_call_at:
                changes.append(f"the holder of wrap {row.wrap_id} has called since, at {clock_words(fresh.last_call_at)}")
            elif fresh.row_sha256 != row.row_sha256:
                changes.append(f"the row of wrap {row.wrap_id} is another one now")
            rows.append(fresh)
        if not rows:
            self._end("; ".join(changes) + ". There is nothing left to cancel.", "warning")
            return
        self.rows = tuple(rows)
        self._show()
        if changes:
            self.say(f"Changed: {'; '.join(changes)}.", "warning")
            self.wait_a_moment()

    async def confirm(self) -> None:
        """Cancel what is shown, one wrap after the other; each outcome is said, and none is lost."""
        if self._over:
            self.action_back()
            return
        reason = self.query_one("#reason", Input).value.strip()
        if self._running or not self._may_confirm(reason):
            return
        self._running = True
        self.query_one("#confirm", Button).disabled = True
        self.say("cancelling…", "muted")
        for row in self.actionable:
            await self._cancel(row, reason)
        self._running = False
        self._conclude()

    def action_back(self) -> None:
        """Back; what was done is told to whoever opened the dialog."""
        if not self._running:
            self.dismiss(tuple(self._outcomes.values()) or None)

    def key_up(self) -> None:
        """In the reason: an earlier reason."""
        self._offer(1)

    def key_down(self) -> None:
        """In the reason: back to the later one."""
        self._offer(-1)

    def _offer(self, step: int) -> None:
        if self._recent and self.focused is self.query_one("#reason", Input):
            self._recent_at = max(-1, min(len(self._recent) - 1, self._recent_at + step))
            self.query_one("#reason", Input).value = self._recent[self._recent_at] if self._recent_at >= 0 else ""

    def _may_confirm(self, reason: str) -> bool:
        if not reason:
            self.say("A reason is required: it goes into the trail and to the holder.", "warning")
            self.query_one("#reason", Input).focus()
            return False
        if not self.actionable:
            self.say("None of these is DEAD or PARTIAL: cancel them one by one.", "warning")
            return False
        if self.asks_for_typing and self.query_one("#typed", Input).value != self._shown_start():
            verdict = self.rows[0].judgement.verdict
            self.say(f"Its holder looks {verdict}: type {self._shown_start()} to cancel it all the same.", "warning")
            self.query_one("#typed", Input).focus()
            return False
        return True

    async def _cancel(self, row: WrapRow, reason: str) -> None:
        try:
            receipt = await self._do(
                "force_cancel",
                wrap_id=row.wrap_id,
                generation=row.generation if row.state == "open" else None,
                token_start=row.token_start if row.state == "open" else None,
                verdict=row.judgement.verdict,
                last_call_at=row.last_call_at,
                row_sha256=row.row_sha256,
                reason=reason,
                typed=self.query_one("#typed", Input).value or None,
            )
        except Refusal as refusal:
            self._outcomes[row.wrap_id] = CancelOutcome(row.wrap_id, None, refusal.sentence)
            if refusal.code == "evidence_changed" and not self.several:
                self._show_changed(refusal)
        except StoreError as error:
            self._outcomes[row.wrap_id] = CancelOutcome(row.wrap_id, None, str(error))
        else:
            self._outcomes[row.wrap_id] = CancelOutcome(row.wrap_id, receipt, None)

    def _conclude(self) -> None:
        """After the deeds: close when all went well, else stay with what was refused."""
        refused = [one for one in self._outcomes.values() if one.refusal]
        if not refused and not self.several:
            self.dismiss(tuple(self._outcomes.values()))
            return
        self.query_one("#confirm", Button).disabled = False
        self.wait_a_moment()
        if self.several:
            self.query_one("#list", Static).update(safe_content(self._words(), limit=4_000))
            self._end(f"{len(self._outcomes) - len(refused)} cancelled, {len(refused)} refused.", "warning" if refused else "ok")
            return
        self.say(refused[0].refusal or "", "warning")
        if "already finished" in (refused[0].refusal or ""):
            self._end(refused[0].refusal or "", "warning")

    def _end(self, words: str, role: str) -> None:
        """Nothing is left to confirm: only Back remains."""
        self._over = True
        self.say(words, role)
        self.query_one("#confirm", Button).display = False
        for button in self.query("#ask"):
            button.display = False
        self.query_one("#back", Button).focus()

    def _show_changed(self, refusal: Refusal) -> None:
        """The evidence as the refusal's own transaction found it."""
        verdict: Verdict = refusal.facts["verdict"]
        evidence = tuple(Evidence("last_call", str(text)) for text in refusal.facts["evidence"])
        self.query_one("#evidence-of", EvidenceList).set_evidence(verdict, evidence)

    def _shown_start(self) -> str:
        return (self.rows[0].token_start or "")[:TYPED_CHARACTERS]

    def _show(self) -> None:
        self.query_one("#list", Static).update(safe_content(self._words(), limit=4_000))
        if not self.several:
            judgement = self.rows[0].judgement
            self.query_one("#evidence-of", EvidenceList).set_evidence(judgement.verdict, judgement.evidence)
        self.query_one("#typed-row").set_class(self.asks_for_typing, "-asked")
        self._count(self.query_one("#reason", Input).value)

    def _words(self) -> str:
        if self.several:
            return "\n".join(self._line(row) for row in self.rows)
        row = self.rows[0]
        holder = row.holder
        since = f"open for {words_for_age(row.age_seconds)}" if row.age_seconds is not None else "open since an unreadable time"
        blocks = f", blocks {row.blocks} agent{'s' if row.blocks != 1 else ''}" if row.blocks else ""
        whose = f"{holder_words(holder)} on {holder.host or '?'}, user {holder.user or '?'}"
        episodes = "its episodes can't be read" if row.episodes is None else f"{row.episodes} episodes frozen"
        gated = f", gated by session {row.gated_session}" if row.gated_session else ""
        lines = [
            f"wrap {row.wrap_id}, generation {row.generation}, token {row.token_start or '–'}…, {since}{blocks}",
            f"{whose}; {episodes}{gated}",
        ]
        return "\n".join(one_line(line) for line in lines)

    def _line(self, row: WrapRow) -> str:
        cell = verdict_cell(row.judgement.verdict)
        outcome = self._outcomes.get(row.wrap_id)
        if outcome is not None:
            after = outcome.refusal or "cancelled"
        elif row in self.actionable:
            after = row.judgement.evidence[0].text if row.judgement.evidence else ""
        else:
            after = "left out: it may be alive, cancel it by itself"
        return one_line(f"{cell.shown:<10} wrap {row.wrap_id} of {row.project_key or 'no project'}: {after}")

    def _count(self, reason: str) -> None:
        left = REASON_LIMIT - len(reason)
        self.query_one("#count", Static).update(f"{left} left" if left < 100 else "")

    @on(Input.Changed, "#reason")
    def _typing(self, event: Input.Changed) -> None:
        event.stop()
        self._count(event.value)

    @on(Button.Pressed, "#ask")
    async def _ask(self, event: Button.Pressed) -> None:
        event.stop()
        if not self.settled or self._running:
            return
        message = self.query_one("#reason", Input).value.strip() or None
        try:
            receipt = await self._do("ask_release", wrap_id=self.rows[0].wrap_id, message=message)
        except (Refusal, StoreError) as error:
            self.say(getattr(error, "sentence", str(error)), "warning")
        else:
            self._end(f"Asked: the notice waits for {receipt.holder}, with its next call. Nothing was cancelled.", "ok")
