"""The feed: follows the store from a thread of its own and hands on immutable states, the newest wins (console.md, Feel)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Literal

from console.feed_state import FeedState, Health
from core.errors import StoreError, StoreLocked, StoreMissing
from core.views.look import Looker, Versions
from core.views.snapshot import take

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.25
"""How often the store's change counter is asked for: 4 Hz."""
JUDGE_SECONDS = 2.0
"""How often the room is read although nothing was committed: verdicts change by time alone."""


class Feed:
    """Watches one store. `post` gets each new state, from the feed's thread."""

    def __init__(self, looker: Looker, post: Callable[[FeedState], None]) -> None:
        self._looker = looker
        self._post = post
        self._state = FeedState()
        self._stopped = threading.Event()
        self._again = threading.Event()
        self._broken_trail: str | None = None
        self._thread = threading.Thread(target=self._run, name="watchroom-feed", daemon=True)

    def start(self) -> None:
        """Start following; the first state comes as soon as it can be read."""
        self._thread.start()

    def stop(self) -> None:
        """Stop following."""
        self._stopped.set()
        self._again.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def read_again(self, *, broken_trail: str | Literal[False] | None = False) -> None:
        """Read the room now. `broken_trail` is what a verification found, in words; None when the trail is whole."""
        if broken_trail is not False:
            self._broken_trail = broken_trail
        self._again.set()

    def _run(self) -> None:
        seen: Versions | None = None
        judged = 0.0
        while not self._stopped.is_set():
            asked = self._again.is_set()
            self._again.clear()
            try:
                versions = self._looker.versions()
                now = self._looker.clock.monotonic()
                if (
                    asked
                    or seen is None
                    or versions.store != seen.store
                    or versions.opened != seen.opened
                    or now - judged >= JUDGE_SECONDS
                ):
                    with self._looker.snapshot() as (view, witness):
                        snapshot = take(view, witness, broken_trail=self._broken_trail)
                    seen, judged = versions, now
                    self._say(FeedState("live", "", snapshot))
            except StoreLocked as error:
                self._say_ill("locked", str(error))
                seen = None
            except StoreMissing as error:
                self._say_ill("missing", str(error))
                seen = None
            except StoreError as error:
                self._say_ill("unreadable", str(error))
                seen = None
            except Exception as error:  # whatever a store may hold, the feed goes on and says what it is
                logger.exception("reading the room failed")
                self._say_ill("unreadable", f"{type(error).__name__}: {error}")
                seen = None
            self._again.wait(POLL_SECONDS)

    def _say_ill(self, health: Health, words: str) -> None:
        since = self._state.since if self._state.health == health else self._looker.clock.now()
        self._say(FeedState(health, words, self._state.snapshot, since))

    def _say(self, state: FeedState) -> None:
        if state != self._state:
            self._state = state
            self._post(state)
