"""What the operator does with kept texts: reading a wrap's draft, adopting a text, dealing with it (console.md, screen 6; room.md 2.8)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from console.text import one_line
from core.errors import StoreError

if TYPE_CHECKING:
    from console.app import ConsoleApp
    from core.memory.kept_texts import KeptKind, KeptText
    from core.views.continuity import Standing
    from core.views.kept_texts import KeptDetail, KeptRow


def read_kept(app: Any, kind: KeptKind, item_id: int) -> tuple[KeptDetail, Standing] | None:
    """A kept text and what stands in its project, of one moment, read off the UI thread; None when it cannot be read now."""
    from core.views.continuity import standing
    from core.views.kept_texts import kept_text

    try:
        with cast("ConsoleApp", app).looker.snapshot() as (view, _):
            found = kept_text(view, kind, item_id)
            return None if found is None else (found, standing(view, found.row.project_key))
    except StoreError:
        return None


class KeptActions:
    """Mixed into the console."""

    @property
    def _kept_app(self) -> ConsoleApp:
        return cast("ConsoleApp", self)

    async def read_draft(self, wrap_id: int) -> KeptText | None:
        """The newest draft of a wrap."""
        return await asyncio.to_thread(self._newest_draft, wrap_id)

    def _newest_draft(self, wrap_id: int) -> KeptText | None:
        from core.views.kept_texts import newest_draft

        try:
            with self._kept_app.looker.snapshot() as (view, _):
                return newest_draft(view, wrap_id)
        except StoreError:
            return None

    def adopt_text(self, kind: KeptKind, item_id: int) -> None:
        """Edit this kept text beside the standing continuity, and adopt it."""
        self._kept_app.run_worker(self._open_adopt(kind, item_id), exclusive=True, group="adopt")

    async def _open_adopt(self, kind: KeptKind, item_id: int) -> None:
        from console.dialogs.adopt import KIND, AdoptDialog

        app = self._kept_app
        state = app.feed_state.snapshot
        drafts = app.drafts.for_store(state.store_id if state else "")
        found = await self._read_kept(kind, item_id)
        draft = await asyncio.to_thread(drafts.load, KIND, f"{kind}:{item_id}")
        if found is None:
            app.say("The kept text can't be read now.", severity="warning")
            return
        detail, standing = found
        dialog = AdoptDialog(detail, standing, app.do, drafts, lambda: self._read_kept(kind, item_id), draft)
        if state is not None:
            app.call_after_refresh(dialog.follow, state)
        app.push_screen(dialog, self._adopted)

    async def _read_kept(self, kind: KeptKind, item_id: int) -> tuple[KeptDetail, Standing] | None:
        return await asyncio.to_thread(read_kept, self._kept_app, kind, item_id)

    def _adopted(self, found: Any) -> None:
        if found is not None:
            saved = found.saved
            self._kept_app.say(
                f"Adopted: the continuity of {one_line(saved.project_key)} is at revision {saved.continuity_revision}."
            )
            self._kept_app.feed.read_again()

    def deal_with_text(self, row: KeptRow) -> None:
        """Mark this kept text as dealt with."""
        from console.dialogs.deal_with import DealWithDialog

        self._kept_app.push_screen(DealWithDialog(row, self._kept_app.do), self._dealt_with)

    def _dealt_with(self, found: Any) -> None:
        if found is not None:
            already = "" if found.changed else " already"
            self._kept_app.say(f"{found.kind} {found.id} is dealt with{already}.")
            self._kept_app.feed.read_again()
