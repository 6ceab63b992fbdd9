"""Whatever is saved: no pattern rises by more than a rung a wrap, and none without a grounded citation (wraps.md e3)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.rooms import Rooms
from tests.unit.memory.wrapping import Wrapping

NAMES = ("pool", "cache", "queue")
WORDS = ("connection pool exhausted", "cache invalidated twice", "queue drained slowly", "the an of", "pool cache queue")


@st.composite
def claims(draw: Any) -> dict[str, Any]:
    """A pattern line: any level, date, evidence and explanation, among them wrong ones."""
    return {
        "name": draw(st.sampled_from(NAMES)),
        "mark": draw(st.sampled_from(["- ", "  ", "- ! ", "\u2713 ", ""])),
        "levels": draw(
            st.lists(st.sampled_from(["1", "2", "3", "4", "5", "12", "0", "007", "999999999", "\u0663"]), min_size=1, max_size=2)
        ),
        "date": draw(st.sampled_from(["{today}", "{today}", "{today}", "2020-01-01", "2099-01-01"])),
        "cited": draw(st.lists(st.sampled_from([0, 0, 0, 1, 2, 9]), max_size=3)),
        "words": draw(st.sampled_from(["", *WORDS])),
        "tail": draw(st.sampled_from(["", " (carried-forward)", " (level-capped)", " prose [no-contradicts]"])),
    }


class Saves(RuleBasedStateMachine):
    """An agent that records, deletes and saves anything; after each save the levels are compared with those before."""

    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.rooms = Rooms(Path(self.folder.name) / "room.db")
        self.wrapping = Wrapping(self.rooms)
        self.episodes: list[str] = []
        self.known: dict[str, int] = {}

    def teardown(self) -> None:
        if hasattr(self, "rooms"):
            self.rooms.close()
            self.folder.cleanup()

    def levels(self) -> dict[str, int]:
        with self.wrapping.agent.snapshot() as view:
            return {row["name"]: row["level"] for row in view.all("select name, level from patterns where kind = 'name'")}

    @rule(words=st.sampled_from(WORDS), trust=st.sampled_from(["agent", "agent", "tool", "external"]))
    def record(self, words: str, trust: str) -> None:
        self.episodes.append(self.wrapping.record(f"{words} number {len(self.episodes)}", trust=trust))

    @rule(place=st.integers(0, 30))
    def delete(self, place: int) -> None:
        if not self.episodes:
            return
        gone = self.episodes.pop(place % len(self.episodes))
        self.wrapping.agent.do("delete_episode", project_key="demo", episode_id=gone)
        after = self.levels()
        assert all(after[name] <= level for name, level in self.known.items())
        self.known = after

    @rule(days=st.sampled_from([1, 7, 8, 40]))
    def wait(self, days: int) -> None:
        self.wrapping.rooms.clock.advance(days * 86_400)

    @rule(words=st.sampled_from(WORDS), lines=st.lists(claims(), min_size=1, max_size=4))
    def record_and_save(self, words: str, lines: list[dict[str, Any]]) -> None:
        self.record(words, "agent")
        self.save(lines)

    @rule(lines=st.lists(claims(), max_size=4))
    def save(self, lines: list[dict[str, Any]]) -> None:
        waiting = self.waiting()
        saved = self.wrapping.save(*map(self.written, lines))
        after = self.levels()
        grounded = self.grounded_by_last_wrap()
        for name, level in after.items():
            before = self.known.get(name, 0)
            assert level <= before + 1, (name, before, level)
            if level > before and level >= 2:
                assert grounded.get((name, level), set()) & waiting, (name, level, saved.patterns)
        self.known = after

    def waiting(self) -> set[str]:
        with self.wrapping.agent.snapshot() as view:
            return {row[0] for row in view.all("select episode_id from episodes where wrap_id is null and superseded_by is null")}

    def grounded_by_last_wrap(self) -> dict[tuple[str, int], set[str]]:
        with self.wrapping.agent.snapshot() as view:
            rows = view.all(
                "select p.name, g.level, g.episode_id from pattern_grounding g join patterns p on p.id = g.pattern_id"
                " where g.wrap_id = (select max(id) from wraps)"
            )
        found: dict[tuple[str, int], set[str]] = {}
        for row in rows:
            found.setdefault((row["name"], row["level"]), set()).add(row["episode_id"])
        return found

    def written(self, claim: dict[str, Any]) -> str:
        ids = [self.episodes[-1 - place] for place in claim["cited"] if place < len(self.episodes)]
        quoted = f' "{claim["words"]}"' if claim["words"] else ""
        evidence = f" [evidence: {', '.join(ids)}{quoted}]" if ids else ""
        first, *more = claim["levels"]
        other = "".join(f" | {level}x" for level in more)
        return f"{claim['mark']}{claim['name']} | {first}x ({claim['date']}){evidence}{other}{claim['tail']}"


Saves.TestCase.settings = settings(
    max_examples=60, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestSaves = Saves.TestCase
