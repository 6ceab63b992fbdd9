"""A small room for memory's tests: one store, one fake clock, deeds without connections."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.actors import Actor
from core.ids import SystemIds
from core.memory import episodes, recall
from core.store.database import Reader, Store
from core.store.deed import Deeds, Identity
from core.trail.append import append
from tests.fakes import FakeClock


class TickingClock(FakeClock):
    """A clock that moves a second at each look, so that every deed has a time of its own."""

    def __init__(self) -> None:
        super().__init__(datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC))

    def now(self) -> datetime:
        return self.advance(1)


class FakeIds(SystemIds):
    """Episode ids from a list first, then from chance."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self.next_ids = list(ids)

    def episode_id(self) -> str:
        return self.next_ids.pop(0) if self.next_ids else super().episode_id()


class SmallRoom:
    """Runs memory's verbs as deeds on a store of their own, as an agent unless told otherwise."""

    def __init__(self, path: Path, *, role: str = "agent", kind: Any = "agent") -> None:
        self.clock, self.ids = TickingClock(), FakeIds()
        self.store = Store(path, self.clock)
        self.reader = Reader(path)
        self.become(role=role, kind=kind)

    def become(self, *, role: str, kind: Any) -> None:
        """Act from now on in that role and as that kind of actor."""
        self.deeds = Deeds(
            self.store,
            identity=Identity(Actor(kind, "tester", "stdio"), "connection-1", None, role),
            clock=self.clock,
            ids=self.ids,
            witness=None,  # type: ignore[arg-type]
            append=append,
            attach=lambda deed: None,
            attached=lambda done: None,
            record_refusal=lambda deed, name, refusal: None,
            worth_recording=lambda name, refusal: False,
            committed=lambda head: None,
        )

    def record(self, content: str, episode_type: str = "observation", *, project_key: str = "demo", **more: Any) -> Any:
        """Record an episode and give the receipt."""
        return self.deeds.run(
            "record", episodes.record, guarded=False, content=content, episode_type=episode_type, project_key=project_key, **more
        )

    def delete(self, episode_id: str, project_key: str = "demo", **more: Any) -> Any:
        """Delete an episode and give the receipt."""
        return self.deeds.run(
            "delete_episode", episodes.delete_episode, guarded=True, episode_id=episode_id, project_key=project_key, **more
        )

    def recall(self, *, project_key: str = "demo", **arguments: Any) -> recall.Recall:
        """Recall in a snapshot."""
        with self.reader.snapshot() as view:
            return recall.recall(view, project_key=project_key, **arguments)

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Rows of a query."""
        with self.reader.snapshot() as view:
            return [tuple(row) for row in view.all(sql, parameters)]

    def trail(self, since: int = 0) -> list[tuple[str, dict[str, Any]]]:
        """Events and data of the trail's rows after the first `since`."""
        return [
            (event, json.loads(data))
            for event, data in self.rows("select event, data from audit where seq > ? order by seq", since)
        ]

    def superseded_by(self, episode_id: str) -> str | None:
        """What the stored row says hides an episode."""
        found: str | None = self.rows("select superseded_by from episodes where episode_id = ?", episode_id)[0][0]
        return found

    def close(self) -> None:
        self.reader.close()
        self.store.close()
