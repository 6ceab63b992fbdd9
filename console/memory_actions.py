"""What the operator does on the Memory screen itself: deleting an episode (console.md, screen 6)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from core.errors import StoreError

if TYPE_CHECKING:
    from console.app import ConsoleApp
    from core.memory.episodes import Deleted
    from core.views.episodes import EpisodeDetail, EpisodeRow


class MemoryActions:
    """Mixed into the console."""

    @property
    def _memory_app(self) -> ConsoleApp:
        return cast("ConsoleApp", self)

    def delete_episode(self, row: EpisodeRow | None) -> None:
        """Ask for a reason and delete this episode."""
        if row is None or row.deleted_at is not None:
            self._memory_app.say("There is no episode here to delete.", severity="warning")
        else:
            self._memory_app.run_worker(self._open_delete(row.episode_id), exclusive=True, group="delete-episode")

    async def _open_delete(self, episode_id: str) -> None:
        from console.dialogs.delete_episode import DeleteEpisodeDialog

        app = self._memory_app
        detail = await asyncio.to_thread(self._read_episode, episode_id)
        if detail is None or detail.tombstone is not None:
            app.say("That episode is deleted already." if detail else "The episode can't be read now.", severity="warning")
            return
        app.push_screen(DeleteEpisodeDialog(detail, app.do), self._deleted)

    def _read_episode(self, episode_id: str) -> EpisodeDetail | None:
        from core.views.episodes import episode

        try:
            with self._memory_app.looker.snapshot() as (view, _):
                return episode(view, episode_id)
        except StoreError:
            return None

    def _deleted(self, found: Deleted | Any) -> None:
        if found is not None:
            fell = ", ".join(f"{one.name} fell from {one.before}x to {one.level}x" for one in found.patterns_revoked)
            self._memory_app.say(f"Deleted {found.episode_id}.{f' {fell}.' if fell else ''}")
            self._memory_app.feed.read_again()
