"""What the operator does with wraps: force-cancel, ask for release, read salvage (console.md, screen 2)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from core.errors import StoreError

if TYPE_CHECKING:
    from console.app import ConsoleApp
    from console.dialogs.force_cancel import CancelOutcome
    from core.memory.kept_texts import KeptText
    from core.memory.salvage import Salvaged
    from core.views.wraps import WrapRow


class WrapActions:
    """Mixed into the console."""

    @property
    def _wrap_app(self) -> ConsoleApp:
        return cast("ConsoleApp", self)

    def force_cancel(self, rows: tuple[WrapRow, ...]) -> None:
        """Ask for a reason and force-cancel these wraps."""
        from console.dialogs.force_cancel import ForceCancelDialog

        app = self._wrap_app
        still_open = tuple(row for row in rows if row.ended_at is None)
        if not still_open:
            app.say("That wrap has ended already." if rows else "There is no wrap here to cancel.", severity="warning")
            return
        dialog = ForceCancelDialog(still_open, app.do, tuple(app.remembered.reasons), app.read_draft)
        app.push_screen(dialog, self._cancelled)

    def _cancelled(self, outcomes: tuple[CancelOutcome, ...] | None) -> None:
        app = self._wrap_app
        done = {outcome.wrap_id: outcome.receipt for outcome in outcomes or () if outcome.receipt is not None}
        if not done:
            return
        for receipt in done.values():
            if receipt.reason:
                app.remembered.add_reason(receipt.reason)
        names = ", ".join(f"wrap {wrap_id}" for wrap_id in done)
        app.say(f"Cancelled: {names}. Its episodes wait for the next prepare." if len(done) == 1 else f"Cancelled: {names}.")
        self._forget_wraps(set(done))

    def _forget_wraps(self, ended: set[int]) -> None:
        """Take ended wraps off the screen by the receipt, before the store is read again."""
        app = self._wrap_app
        state = app.feed_state
        if state.snapshot is not None:
            targets = {f"wrap:{wrap_id}" for wrap_id in ended}
            app.feed_state = replace(
                state,
                snapshot=replace(
                    state.snapshot,
                    wraps=tuple(row for row in state.snapshot.wraps if row.wrap_id not in ended),
                    attention=tuple(
                        item for item in state.snapshot.attention if item.target not in targets or item.kind == "salvage"
                    ),
                ),
            )
            app.show_state()
        app.feed.read_again()

    def ask_for_release(self, row: WrapRow | None) -> None:
        """Leave the holder of this wrap a notice."""
        from console.dialogs.ask_release import AskReleaseDialog

        app = self._wrap_app
        if row is None or row.ended_at is not None:
            app.say("There is no open wrap here.", severity="warning")
        else:
            app.push_screen(AskReleaseDialog(row, app.do))

    def show_salvage(self, row: WrapRow | None) -> None:
        """Read what was kept of late saves for this wrap."""
        if row is not None:
            self._wrap_app.run_worker(
                partial(self._show_salvage, row), thread=True, exclusive=True, group="salvage", exit_on_error=False
            )

    def _show_salvage(self, row: WrapRow) -> None:
        from console.dialogs.salvage import SalvageDialog
        from core.views.wraps import wrap_detail

        app = self._wrap_app
        try:
            with app.looker.snapshot() as (view, witness):
                detail = wrap_detail(view, witness, row.wrap_id)
        except StoreError as error:
            app.call_from_thread(app.say, str(error), severity="error")
            return
        if detail is None or not (detail.salvage or detail.drafts):
            app.call_from_thread(app.say, f"No late text was kept for wrap {row.wrap_id}.")
            return
        texts: tuple[Salvaged | KeptText, ...] = (*detail.salvage, *detail.drafts)
        app.call_from_thread(app.push_screen, SalvageDialog(row.project_key or "no project", row.wrap_id, texts))
