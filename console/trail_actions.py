"""What the operator does with the trail: verify, export, accept anchors (console.md, screen 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from core.errors import StoreError

if TYPE_CHECKING:
    from console.app import ConsoleApp


class TrailActions:
    """Mixed into the console."""

    @property
    def _trail_app(self) -> ConsoleApp:
        return cast("ConsoleApp", self)

    def verify_trail(self) -> None:
        """Check the trail link by link, with progress."""
        from console.dialogs.progress import ProgressDialog
        from core.trail.verify import verify_store

        app = self._trail_app

        def work(progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> Any:
            return verify_store(app.path, progress=progress, cancelled=cancelled)

        app.push_screen(ProgressDialog("Verify the trail", work), self._verified)

    def _verified(self, found: Any) -> None:
        if found is not None and not found.cancelled:
            self._trail_app.feed.read_again(broken_trail=found.words if found.broken else None)

    def export_trail(self) -> None:
        """Write the whole trail to a file that verifies without the store."""
        from console.dialogs.write_file import WriteFileDialog

        app = self._trail_app
        name = f"watchroom-trail-{app.clock.now():%Y%m%dT%H%M%SZ}.jsonl"
        app.push_screen(WriteFileDialog(name, self._trail_lines))

    def _trail_lines(self) -> Iterator[str]:
        """The trail as it is exported, line by line, from a reader of its own; runs off the UI thread."""
        from core.trail.export import export_lines
        from core.views.look import Looker

        app = self._trail_app
        with (
            Looker(app.path, app.clock, app.processes) as looker,
            looker.snapshot() as (view, _),
        ):
            yield from export_lines(view)

    def accept_anchors(self) -> None:
        """Say what the anchor file says of the trail, and let it start again, with a reason."""
        self._trail_app.run_worker(self._check_anchors, thread=True, exclusive=True, group="anchors", exit_on_error=False)

    def _check_anchors(self) -> None:
        from console.dialogs.anchors import AnchorsDialog
        from core.trail.anchors import anchor_path, check_anchors

        app = self._trail_app
        snapshot = app.feed_state.snapshot
        if snapshot is None:
            return
        try:
            with app.looker.snapshot() as (view, _):
                found = check_anchors(view, anchor_path(app.path), snapshot.store_id)
        except StoreError as error:
            app.call_from_thread(app.say, str(error), severity="error")
            return
        app.call_from_thread(app.push_screen, AnchorsDialog(found, app.do))
