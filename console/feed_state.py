"""What the feed hands on: an immutable state, light to import, for the first paint has one before anything was read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from core.views.snapshot import Snapshot

Health = Literal["opening", "live", "locked", "missing", "unreadable"]


@dataclass(frozen=True, slots=True)
class FeedState:
    """What is known now. `snapshot` is the last one that could be read, None before the first; `since` is when health turned."""

    health: Health = "opening"
    words: str = ""
    snapshot: Snapshot | None = None
    since: datetime | None = None
