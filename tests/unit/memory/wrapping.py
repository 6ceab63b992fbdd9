"""Wraps in few words, for tests of what a save makes of patterns."""

from __future__ import annotations

from typing import Any

from core.memory.save import Saved
from tests.rooms import Rooms, text


class Wrapping:
    """An agent that records, and saves one wrap after another in a project."""

    def __init__(self, rooms: Rooms, key: str = "demo") -> None:
        self.rooms, self.key = rooms, key
        self.agent = rooms.agent()

    @property
    def today(self) -> str:
        """The date that a wrap prepared now has."""
        return self.rooms.clock.today().isoformat()

    def record(self, content: str = "Connection pool is exhausted under checkout load", **more: Any) -> str:
        """Record an observation and give its id."""
        episode_id: str = self.agent.do(
            "record", content=content, episode_type="observation", project_key=self.key, **more
        ).episode_id
        return episode_id

    def save(self, *patterns: str, delete: str | None = None) -> Saved:
        """A whole wrap whose text has those lines in Patterns; `{today}` in them is the wrap's date.

        `delete` is an episode that goes between prepare and save.
        """
        if not self.agent.do("status", project_key=self.key).episodes_waiting:
            self.record("Something to wrap")
        opened = self.agent.do("prepare_wrap", project_key=self.key)
        if delete:
            self.agent.do("delete_episode", project_key=self.key, episode_id=delete)
        lines = "\n".join(patterns).replace("{today}", self.today)
        done: Saved = self.agent.do(
            "save_continuity", project_key=self.key, text=text(Patterns=lines or "none yet"), wrap_token=opened.wrap_token
        )
        return done

    def row(self, name: str) -> dict[str, Any] | None:
        """What the store knows of a pattern."""
        with self.agent.snapshot() as view:
            rows = view.all("select * from patterns where project_key = ? and kind = 'name' and name = ?", (self.key, name))
        return dict(rows[0]) if rows else None

    def level(self, name: str) -> int | None:
        """The level that the store has a pattern at."""
        row = self.row(name)
        return row["level"] if row else None

    def history(self, name: str) -> list[tuple[str, int | None, int]]:
        """Judgement, level before and level after of every row of a pattern's history, the oldest first."""
        with self.agent.snapshot() as view:
            rows = view.all(
                "select h.judgement, h.before, h.level from pattern_history h join patterns p on p.id = h.pattern_id"
                " where p.project_key = ? and p.name = ? order by h.id",
                (self.key, name),
            )
        return [tuple(row) for row in rows]

    def saved_text(self) -> str:
        """The project's continuity."""
        with self.agent.snapshot() as view:
            row = view.one("select text from continuity where project_key = ? order by revision desc limit 1", (self.key,))
        return str(row["text"])
