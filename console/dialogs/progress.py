"""Long work with its progress: verify, export. It runs in a thread, can be cancelled, and says what it found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from textual.widget import Widget

from console.dialogs.base import Dialog, DialogButton, Lines
from console.widgets.document import Line
from console.widgets.piece import Piece, PieceLines
from core.errors import Refusal, StoreError

Found = TypeVar("Found")
Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]
REPAINT_SECONDS = 0.1
MOST_LINES = 500


class ProgressBar(PieceLines):
    """A bar, how much of how much, and how fast."""

    DEFAULT_CSS = """
    ProgressBar { height: 2; width: 1fr; }
    """

    def __init__(self, noun: str) -> None:
        super().__init__()
        self._noun = noun
        self._shown: tuple[int, int, int] = (0, 0, 0)

    @property
    def words(self) -> str:
        """What it says under the bar."""
        done, total, rate = self._shown
        of = f" of {total:,}" if total > 0 else ""
        return f"{done:,}{of} {self._noun}" + (f", {rate:,} a second" if rate else "")

    def show(self, done: int, total: int, rate: int) -> None:
        """Show this much."""
        if self._shown != (done, total, rate):
            self._shown = (done, total, rate)
            self.refresh()

    def lines_for(self, width: int) -> list[list[Piece]]:
        """The bar, and its words."""
        done, total, _ = self._shown
        share = min(1.0, done / total) if total > 0 else 0.0
        room = max(4, width - 6)
        full = int(room * share)
        percent = f" {int(share * 100):>3} %" if total > 0 else ""
        return [[Piece("█" * full, "accent"), Piece("─" * (room - full), "muted"), Piece(percent)], [Piece(self.words, "muted")]]


class ProgressDialog(Dialog[Found], Generic[Found]):
    """Runs `work(progress, cancelled)` in a thread; gives its result, None when it failed."""

    HINT = "esc cancels"

    def __init__(
        self,
        heading: str,
        work: Callable[[Progress, Cancelled], Found],
        describe: Callable[[Found], Iterable[Line | str]] | None = None,
        noun: str = "rows",
    ) -> None:
        """`describe` says a result in lines; without it a Verification's words, or the result as text, are shown."""
        super().__init__(heading)
        self._work = work
        self._describe = describe or result_lines
        self._noun = noun
        self._bar = ProgressBar(noun)
        self._found = Lines()
        # What the thread writes and the screen reads ten times a second: no message for each row, and no waiting for a screen
        # that is being closed.
        self._counted: tuple[int, int] = (0, 0)
        self._over: tuple[Found | None, tuple[Line | str, ...]] | None = None
        self._stop = False
        self._result_found: Found | None = None
        self.finished = False
        self._button = DialogButton("Cancel", "back")
        self._started = time.monotonic()

    def body(self) -> Iterable[Widget]:
        """The bar, and what was found."""
        return (self._bar, self._found)

    def buttons(self) -> Iterable[DialogButton]:
        """Cancel, then Close."""
        return (self._button,)

    @property
    def words(self) -> str:
        """What was found, as plain text."""
        return self._found.words

    def on_mount(self) -> None:
        """Start."""
        self._started = time.monotonic()
        self._tick = self.set_interval(REPAINT_SECONDS, self._repaint)
        self.run_worker(self._run, thread=True, exit_on_error=False, group="work")

    def on_unmount(self) -> None:
        """Let the thread end, also when the console is quit."""
        self._stop = True

    def action_back(self) -> None:
        """Cancel while it runs, close when it is done."""
        if self.finished:
            self.close(self._result_found)
        elif not self._stop:
            self._stop = True
            self.say("cancelling…", "accent")

    def _run(self) -> None:
        lines: tuple[Line | str, ...]
        try:
            found: Found | None = self._work(self._count, lambda: self._stop)
            lines = tuple(self._describe(found)) if found is not None else (Line("done", "ok"),)
        except (Refusal, StoreError) as error:
            found, lines = None, (Line(error.sentence if isinstance(error, Refusal) else str(error), "danger"),)
        except OSError as error:
            found, lines = None, (Line(f"It could not go on: {error.strerror or error}.", "danger"),)
        except Exception as error:
            self.log.error(f"{self._heading} failed", error)
            found, lines = None, (Line(f"Something failed that should not have: {type(error).__name__}.", "danger"),)
        self._over = (found, lines)

    def _count(self, done: int, total: int) -> None:
        self._counted = (done, total)

    def _repaint(self) -> None:
        done, total = self._counted
        seconds = time.monotonic() - self._started
        self._bar.show(done, total, int(done / seconds) if seconds >= 0.5 else 0)
        if self._over is not None and not self.finished:
            self._finish(*self._over)

    def _finish(self, found: Found | None, lines: tuple[Line | str, ...]) -> None:
        self._tick.stop()
        self.finished = True
        self._result_found = found
        if self._stop:
            lines = (Line(f"cancelled, {self._counted[0]:,} {self._noun} checked", "warning"),)
        self._found.set_lines(*lines[:MOST_LINES])
        self._button.set_label("Close")
        self.set_hint("enter or esc closes")
        self.say("")
        self.fit_soon()


def result_lines(found: Any) -> list[Line | str]:
    """A result in lines: its words first, then each break and problem it names."""
    words = getattr(found, "words", None)
    if not isinstance(words, str):
        return [Line(str(found))]
    good = bool(getattr(found, "ok", True))
    lines: list[Line | str] = [Line(words, "ok" if good else "danger", "✓" if good else "✗")]
    lines += [Line(str(one.words), "danger", "·", indent=2) for one in getattr(found, "breaks", ())]
    lines += [Line(str(one), "danger", "·", indent=2) for one in getattr(found, "store_mismatches", ())]
    lines += [Line(str(one), "danger", "·", indent=2) for one in getattr(getattr(found, "anchors", None), "problems", ())]
    return lines
