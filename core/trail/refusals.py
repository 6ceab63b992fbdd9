"""Refused guarded verbs in the trail, bounded so that a looping agent cannot flood it (room.md 2.11)."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

from core.clock import Clock, stamp
from core.errors import Refusal
from core.store.deed import Deed
from core.texts import digest

SAME_SECONDS = 60.0
"""Of one connection, verb, code and subject at most one row in this time."""
STORE_ROWS = 60
"""Of all connections together at most so many rows in a minute."""


class RefusalLog:
    """Decides for one process which refusals get a row, and counts those that do not, for the next row to carry."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[tuple[str, str, str | None], float] = {}
        self._suppressed: dict[tuple[str, str, str | None], int] = {}
        self._suppressed_by_store = 0

    def worth_recording(self, verb: str, refusal: Refusal) -> bool:
        """Whether this refusal may get a row now; a refusal that carries salvage always may."""
        key = (verb, refusal.code, refusal.subject)
        now = self._clock.monotonic()
        with self._lock:
            last = self._last.get(key)
            if last is not None and now - last < SAME_SECONDS and refusal.salvage is None:
                self._suppressed[key] = self._suppressed.get(key, 0) + 1
                return False
        return True

    def record(self, deed: Deed, verb: str, refusal: Refusal, salvage_id: int | None) -> None:
        """Add the row: event the verb's name, outcome `refused`, with code, sentence, facts and what was suppressed before it.

        A refusal whose salvage was kept already (`salvage_id` is None) is bounded like any other.
        """
        key = (verb, refusal.code, refusal.subject)
        now = self._clock.monotonic()
        with self._lock:
            last = self._last.get(key)
            if salvage_id is None and last is not None and now - last < SAME_SECONDS:
                self._suppressed[key] = self._suppressed.get(key, 0) + 1
                return
            since = stamp(deed.clock.now() - timedelta(seconds=60))
            recent = deed.one("select count(*) from audit where outcome = 'refused' and at > ?", (since,))[0]
            if salvage_id is None and recent >= STORE_ROWS:
                self._suppressed_by_store += 1
                return
            suppressed = self._suppressed.pop(key, 0) + self._suppressed_by_store
            self._suppressed_by_store = 0
            self._last[key] = now
            if len(self._last) > 10_000:
                self._last = {one: at for one, at in self._last.items() if now - at < SAME_SECONDS}
        data = without_texts(refusal)
        if salvage_id is not None:
            data["salvage_id"] = salvage_id
        if suppressed:
            data["suppressed"] = suppressed
        deed.append(verb, project_key=refusal.project_key, subject=refusal.subject, data=data, outcome="refused")


def without_texts(refusal: Refusal) -> dict[str, Any]:
    """What the trail keeps of a refusal: code, sentence and facts, with the digest of a text in the place of the text."""
    facts, sentence = dict(refusal.facts), refusal.sentence
    for name in refusal.texts:
        text = facts[name]
        if isinstance(text, str) and text:
            sentence = sentence.replace(f"“{text}”", f"[{name}]")
            facts[name] = digest(text)
    return {"code": refusal.code, "sentence": sentence, **facts}
