"""The server's way into the room: opened beside the heavy imports, and tried again as long as the store is busy (faults.md S7)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from core.errors import StoreError, StoreLocked
from core.room import Place, Room

ENTER_PATIENCE = 2.0

logger = logging.getLogger(__name__)


class Door:
    """The way into the room. A store that is busy keeps nobody out for good: each call tries again (faults.md S7)."""

    def __init__(self, place: Place, *, patience: float = 10.0, make: Callable[..., Room] = Room) -> None:
        self._place = place
        self._patience = patience
        self._make = make
        self._lock = threading.Lock()
        self._room: Room | None = None
        self._closed = False

    def room(self) -> Room:
        """The room, entered. Raises StoreLocked while another process keeps it from being opened, StoreError when it cannot be."""
        if self._room is not None:
            return self._room
        if not self._lock.acquire(timeout=self._patience):
            raise StoreLocked(
                f"The store {self._place.path} is still being opened; nothing was changed. Try again in a few seconds."
            )
        try:
            if self._closed:
                raise StoreError("This server is about to end.")
            if self._room is None:
                room = self._make(self._place, patience=self._patience)
                room.enter(patience=min(ENTER_PATIENCE, self._patience))
                self._room = room
            return self._room
        finally:
            self._lock.release()

    def close(self) -> None:
        """Leave the room; nobody gets in any more."""
        with self._lock:
            self._closed = True
            room, self._room = self._room, None
        if room is not None:
            room.close()


class Opening:
    """The first try to get in, in a thread of its own. `failure` says why it will never do; a busy store is no failure."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._finished = threading.Event()
        self.failure: StoreError | None = None

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._run, name="watchroom-opening", daemon=True).start()

    def wait(self, seconds: float | None = None) -> StoreError | None:
        """Wait for its end, at most so long; gives why the store can never be used, or None."""
        self._finished.wait(seconds)
        return self.failure

    def _run(self) -> None:
        try:
            self._door.room()
        except StoreLocked as locked:
            logger.warning("%s", locked)
        except StoreError as error:
            self.failure = error
        except Exception:
            # each call tries again and says what it met
            logger.exception("the store could not be opened")
        finally:
            self._finished.set()
