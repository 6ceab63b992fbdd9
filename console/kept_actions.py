"""What the operator does with kept texts: reading a wrap's draft, adopting a text, dealing with it (console.md, screen 6; room.md 2.8)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from core.errors import StoreError

if TYPE_CHECKING:
    from console.app import ConsoleApp
    from core.memory.kept_texts import KeptKind, KeptText
    from core.views.continuity import Standing
    from core.views.kept_texts import KeptDetail


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
