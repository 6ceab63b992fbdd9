"""Long work with its progress, off the UI thread, that can be cancelled (console.md, Feel)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

from textual.widget import Widget
from textual.widgets import Button, ProgressBar, Static

from console.dialogs.base import Dialog
from console.text import safe_content
from core.errors import StoreError

Work = Callable[[Callable[[int, int], None], Callable[[], bool]], Any]


class ProgressDialog(Dialog[Any]):
    """Runs a work that tells rows done and in all, and gives its result; the result's `words` are shown until it is closed."""

    DEFAULT_CSS = """
    ProgressDialog ProgressBar { width: 1fr; & Bar { width: 1fr; } }
    """

    def __init__(self, title: str, work: Work) -> None:
        super().__init__(title)
        self._work = work
        self._cancelled = threading.Event()
        self._result: Any = None
        self._done = False
        self._bar = ProgressBar(show_eta=False)
        self._rows = Static(safe_content("reading…"))

    def body(self) -> Iterator[Widget]:
        """The bar and the count."""
        yield self._bar
        yield self._rows

    def hint(self) -> str:
        """How it is stopped."""
        return "esc stops it"

    def on_mount(self) -> None:
        """Start the work."""
        super().on_mount()
        self.run_worker(self._run(), exclusive=True, group="long-work")

    async def _run(self) -> None:
        try:
            self._result = await asyncio.to_thread(self._work, self._progress, self._cancelled.is_set)
        except StoreError as error:
            self._end(str(error), "danger")
            return
        words = str(getattr(self._result, "words", self._result))
        broken = bool(getattr(self._result, "broken", False))
        self._end(words, "danger" if broken else "ok" if getattr(self._result, "ok", True) else "warning")

    def _progress(self, done: int, total: int) -> None:
        self.app.call_from_thread(self._show, done, total)

    def _show(self, done: int, total: int) -> None:
        if not self._done:
            self._bar.update(total=total or None, progress=done)
            self._rows.update(safe_content(f"{done:,} of {total:,} rows" if total else f"{done:,} rows"))

    def _end(self, words: str, role: str) -> None:
        self._done = True
        self._bar.display = False
        self._rows.display = False
        self.say(words, role)
        self.query_one("#back", Button).label = "Close"

    def action_back(self) -> None:
        """Stop the work; when it is done, close."""
        if self._done:
            self.dismiss(self._result)
        else:
            self._cancelled.set()
