"""A server leaves with its client: within 5 s, whatever hangs (faults.md T27)."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

LOOK_SECONDS = 1.0
GRACE_SECONDS = 3.5
"""From the client's death, noticed within a second, to the process's end at the latest: 4.5 s in all."""
HUNG = 1

logger = logging.getLogger(__name__)


class Lifetime:
    """Watches from a thread of its own, because the loop is one of the things that may hang.

    `leave` is called, in that thread, when the parent process is gone. From then on, or from `leaving`, the process has
    `grace` seconds to end by itself.
    """

    def __init__(
        self,
        leave: Callable[[], None],
        *,
        parent: Callable[[], int] = os.getppid,
        end: Callable[[int], object] = os._exit,
        look: float = LOOK_SECONDS,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._leave = leave
        self._parent = parent
        self._end = end
        self._look = look
        self._grace = grace
        self._first = parent()
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchroom-lifetime", daemon=True)

    def start(self) -> None:
        """Start watching."""
        self._thread.start()

    def leaving(self) -> None:
        """Say that the process is about to end: it has `grace` seconds for it."""
        self._leaving.set()

    def _run(self) -> None:
        while not self._leaving.wait(self._look):
            # a parent that dies hands its children on, so that their parent is another one then
            if self._parent() != self._first:
                logger.info("the client's process is gone")
                self._leave()
                break
        # a daemon thread: when the process has ended by itself, this line is never passed
        threading.Event().wait(self._grace)
        logger.warning("the server did not end in %s s and is ended now", self._grace)
        self._end(HUNG)
