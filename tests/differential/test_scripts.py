"""200 scripts by chance of two agents that record, prepare, save, cancel and delete: here and in anneal-memory the same comes of them.

After every step the code, the counts, the continuity and the levels are compared. What differs on purpose is in GRANTED, which says
why; whatever is not there is a fault of one of the two. Each entry is met in the scripts or in a test of its own below.
"""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.store.library import sqlite3
from tests.differential.sides import OK, Ours, Theirs, both
from tests.differential.texts import VOCABULARY

pytest.importorskip("anneal_memory", reason="the peer comes with the bench extra")

SCRIPTS = 200
PARTS = 20
STEPS = 24
DAY = 86_400
TYPES = ("observation", "decision", "tension", "question", "outcome", "context")
NAMES = ("pool", "cache", "queue")
WORDS = VOCABULARY[:12]

GRANTED: dict[tuple[str, str, str], str] = {
    (
        "save_continuity",
        "wrap_cancelled",
        "no_wrap",
    ): "the token of a cancelled wrap is told apart from one that nobody knows (room.md 2.5)",
    ("save_continuity", "wrap_cancelled", "wrap_token_mismatch"): "and that whether or not another wrap is open (room.md 2.5)",
    (
        "save_continuity",
        "wrap_token_required",
        OK,
    ): "without a token a save is fenced: only the sole wrap of its connection (room.md 2.5)",
    (
        "record",
        "episode_not_found",
        "invalid_input",
    ): "both refuse; ids that nobody has are named before what else is wrong (wraps.md b)",
    ("save_continuity", "wrap_token_required", "continuity_structure"): "and that before the text is looked at (room.md 2.5)",
    ("save_continuity", "wrap_token_required", "invalid_input"): "likewise for a blank text (room.md 2.5)",
}
"""Tool, our code and the peer's, and what grants the difference."""
PARTS_WAYS = {("save_continuity", "wrap_token_required", OK)}
"""Differences after which the two stores are no longer alike: the script ends."""


class Script:
    """One script, made up as it goes. It knows what exists by handles alone."""

    def __init__(self, seed: int, ours: Ours, theirs: Theirs, clock: Any) -> None:
        self.chance = random.Random(seed)
        self.ours, self.theirs, self.clock = ours, theirs, clock
        self.episodes: list[str] = []
        self.wraps: list[str] = []
        self.opener: dict[str, str] = {}
        self.states: set[str] = set()
        self.open = False
        self.granted: Counter[tuple[str, str, str]] = Counter()
        self.came: Counter[tuple[str, str]] = Counter()

    def run(self) -> None:
        """Every step on both sides, compared."""
        for number in range(STEPS):
            self.clock.advance(1)
            agent, tool, arguments, handle = self.step(number)
            we, they = self.ours.call(agent, tool, arguments, handle), self.theirs.call(agent, tool, arguments, handle)
            difference = (tool, we.code, they.code)
            self.came[tool, we.code] += 1
            if we.code != they.code:
                assert difference in GRANTED, (agent, tool, arguments, we, they)
                self.granted[difference] += 1
                if difference in PARTS_WAYS:
                    return
            elif we.code == OK and handle:
                (self.wraps if tool == "prepare_wrap" else self.episodes).append(handle)
                self.opener[handle] = agent
                if "state_key" in arguments:
                    self.states.add(handle)
            self.compare((agent, tool, arguments, we, they))

    def compare(self, told: tuple[Any, ...]) -> None:
        """The two stores are alike."""
        counts = self.ours.counts()
        assert counts == self.theirs.counts(), told
        self.open = counts["open"]
        assert self.ours.text() == self.theirs.text(), told
        assert self.ours.levels() == self.theirs.levels(), told

    def step(self, number: int) -> tuple[str, str, dict[str, Any], str | None]:
        """The next call: agent, tool, arguments, and the handle of what it makes."""
        chance = self.chance
        agent = chance.choice("AAAB")
        if chance.random() < 0.05:
            self.clock.advance(chance.choice((1, 7, 8, 40)) * DAY)
        weights = (4, 1, 7, 0.7, 1) if self.open else (8, 6, 1, 1, 1)
        kind = chance.choices(("record", "prepare_wrap", "save_continuity", "wrap_cancel", "delete_episode"), weights)[0]
        if kind == "record":
            return agent, kind, self.episode(), f"e{number}"
        if kind == "prepare_wrap":
            return agent, kind, {}, f"w{number}"
        if kind == "save_continuity":
            return self.save(agent)
        if kind == "wrap_cancel":
            return agent, kind, self.cancel(), None
        return agent, kind, {"episode_id": self.some_episode() if chance.random() < 0.9 else chance.choice(("0", " ", ""))}, None

    def episode(self) -> dict[str, Any]:
        """An episode; now and then one that is to be refused."""
        chance = self.chance
        made: dict[str, Any] = {"content": self.words(8), "episode_type": chance.choice(TYPES)}
        if chance.random() < 0.25:
            made["trust"] = chance.choice(("agent", "tool", "external", "external", "operator"))
        if chance.random() < 0.15:
            made["derived_from"] = [self.some_episode() for _ in range(chance.choice((1, 1, 2)))]
        if chance.random() < 0.15:
            made["supersedes"] = [self.some_episode(stateless=True)]
        elif chance.random() < 0.1:
            made["state_key"] = chance.choice(("Primary  DB", "primary db", "port", "", "x" * 201, "a\x07b"))
        if chance.random() < 0.08:
            made |= chance.choice(({"content": ""}, {"content": " \n"}, {"episode_type": "opinion"}, {"episode_type": ""}))
        return made

    def save(self, agent: str) -> tuple[str, str, dict[str, Any], None]:
        """A save, mostly by the wrap's own agent and with its token."""
        chance = self.chance
        arguments: dict[str, Any] = {"text": self.text()}
        kind = chance.random()
        if kind < 0.06:
            arguments["wrap_token"] = chance.choice(("{w}", "ABC", "g" * 32, "F" * 32))
        elif kind < 0.15 and self.wraps:
            arguments["wrap_token"] = f"{{{chance.choice(self.wraps)}}}"
        elif kind < 0.95 and self.wraps:
            arguments["wrap_token"] = f"{{{self.wraps[-1]}}}"
            agent = self.opener[self.wraps[-1]]
        return agent, "save_continuity", arguments, None

    def cancel(self) -> dict[str, Any]:
        """A cancel: of the newest wrap, of any, of none that is, by force, or of damaged state alone."""
        newest = f"{{{self.wraps[-1]}}}" if self.wraps else "{w}"
        return self.chance.choice(
            (
                *({"wrap_token": newest}, {"wrap_token": newest}, {}, {"force": True}, {"partial": True}, {"wrap_token": "{w}"}),
                *({"wrap_token": ""}, {"wrap_token": newest, "partial": True}, {"force": None}, {"session_id": "elsewhere"}),
                {"wrap_token": f"{{{self.chance.choice(self.wraps)}}}" if self.wraps else "{w}", "force": True},
            )
        )

    def text(self) -> str:
        """A continuity text; now and then one that is to be refused."""
        chance = self.chance
        lines = "\n".join(self.line() for _ in range(chance.choice((0, 1, 2, 3))))
        facts = "\n".join(
            chance.choice(("- The primary is db1", "- Port 5432 | cues: port", "- [drop-durable: Port 5432]")) for _ in range(2)
        )
        whole = f"## State\n{self.words(3)}\n## Patterns\n{lines}\n## Decisions\nd\n## Context\nc\n"
        if chance.random() < 0.5:
            whole = whole.replace("## Patterns", f"## Durable Facts\n{facts}\n## Patterns")
        if chance.random() < 0.1:
            return chance.choice(
                (
                    *(
                        "",
                        " \n",
                        whole.replace("## Decisions", "## Verdicts"),
                        whole.replace("## Context", "## Context and State"),
                    ),
                    whole + "x" * chance.choice((24_000, 25_001)),
                )
            )
        return whole.replace("\n", "\r\n") if chance.random() < 0.1 else whole

    def line(self) -> str:
        """A pattern line, often one that can rise: dated today, one rung up, and in the words of what it cites."""
        chance, today = self.chance, self.clock.today().isoformat()
        name = chance.choice(NAMES)
        level = self.ours.levels().get(("name", name), 0) + chance.choice((1, 1, 1, 0, 0, 2, -1))
        date = today if chance.random() < 0.85 else "2020-01-01"
        line = f"- {name} | {max(level, 1)}x ({date})"
        if chance.random() < 0.8:
            ids = ", ".join(self.some_episode(recent=True) for _ in range(chance.choice((1, 1, 2))))
            quoted = f' "{self.words(chance.choice((3, 5)))}"' if chance.random() < 0.7 else ""
            line += f" [evidence: {ids}{quoted}]"
        return line + chance.choice(("", "", " (carried-forward)", " (level-capped)", " [no-contradicts]", " | 2x"))

    def some_episode(self, *, recent: bool = False, stateless: bool = False) -> str:
        """An episode's handle; now and then of none. A `recent` one, or one that says nothing of a state."""
        those = [one for one in self.episodes if not (stateless and one in self.states)]
        if not those or self.chance.random() < 0.05:
            return "{e}"
        return f"{{{self.chance.choice(those[-4:] if recent else those)}}}"

    def words(self, count: int) -> str:
        """So many words."""
        return " ".join(self.chance.choice(WORDS) for _ in range(count))


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_comes_of_the_same_calls(part: int, tmp_path: Path) -> None:
    each = SCRIPTS // PARTS
    for seed in range(part * each, (part + 1) * each):
        folder = tmp_path / str(seed)
        folder.mkdir()
        with both(folder) as (ours, theirs, clock):
            Script(seed, ours, theirs, clock).run()


# granted differences, one by one

RECORD = ("A", "record", {"content": "the connection pool is exhausted", "episode_type": "observation"}, "e1")
AGAIN = ("A", "record", {"content": "the connection pool is exhausted", "episode_type": "observation"}, "e2")
STATE = ("A", "record", {"content": "the connection pool is exhausted", "episode_type": "observation", "state_key": "pool"}, "e1")
PREPARE = ("A", "prepare_wrap", {}, "w1")
WHOLE = "## State\ns\n## Patterns\np\n## Decisions\nd\n## Context\nc\n"
SAVE = ("A", "save_continuity", {"text": WHOLE, "wrap_token": "{w1}"}, None)
CANCEL = ("A", "wrap_cancel", {"wrap_token": "{w1}"}, None)
PREPARE_AGAIN = ("B", "prepare_wrap", {}, "w2")
Call = tuple[str, str, dict[str, Any], str | None]
SINGLY: dict[str, tuple[list[Call], Call, str, str]] = {
    "of a cancelled wrap, none open": ([RECORD, PREPARE, CANCEL], SAVE, "wrap_cancelled", "no_wrap"),
    "of a cancelled wrap, another open": (
        [RECORD, PREPARE, CANCEL, PREPARE_AGAIN],
        SAVE,
        "wrap_cancelled",
        "wrap_token_mismatch",
    ),
    "late and without a token": (
        [RECORD, PREPARE, CANCEL, PREPARE_AGAIN],
        ("A", "save_continuity", {"text": WHOLE}, None),
        *("wrap_token_required", OK),
    ),
    "late, without a token, and no continuity": (
        [RECORD, PREPARE, CANCEL, PREPARE_AGAIN],
        ("A", "save_continuity", {"text": "p"}, None),
        *("wrap_token_required", "continuity_structure"),
    ),
    "late, without a token, and blank": (
        [RECORD, PREPARE, CANCEL, PREPARE_AGAIN],
        ("A", "save_continuity", {"text": " "}, None),
        *("wrap_token_required", "invalid_input"),
    ),
    "an unknown id beside a refused link": (
        [RECORD],
        ("A", "record", {**RECORD[2], "trust": "external", "supersedes": ["{e1}"], "derived_from": ["{e}"]}, None),
        *("episode_not_found", "invalid_input"),
    ),
    # arguments are strict (room.md 2.4)
    "an argument that the tool has not": ([RECORD, PREPARE], ("B", "wrap_cancel", {"forse": True}, None), "invalid_input", OK),
    "an empty token": ([RECORD, PREPARE], ("A", "save_continuity", {"text": WHOLE, "wrap_token": ""}, None), "invalid_input", OK),
    # a text that SQLite's own tools cannot read whole is none (room.md 3)
    "a NUL in the continuity": (
        [RECORD, PREPARE],
        ("A", "save_continuity", {**SAVE[2], "text": f"{WHOLE}\0"}, None),
        "invalid_input",
        OK,
    ),
    "a text for a boolean": (
        [RECORD, PREPARE],
        ("A", "save_continuity", {**SAVE[2], "allow_shrink": "yes"}, None),
        *("invalid_input", OK),
    ),
    # the caller may choose the token, and no token twice (room.md 2.3 and 2.5); the peer takes one in its library alone
    "a token used before": (
        [RECORD, ("A", "prepare_wrap", {"wrap_token": "ab" * 16}, None), ("A", "wrap_cancel", {"force": True}, None)],
        ("A", "prepare_wrap", {"wrap_token": "ab" * 16}, None),
        *("wrap_token_spent", OK),
    ),
    # these are no rules of wraps.md a2
    "a link to an episode that says a state": (
        [STATE],
        ("A", "record", {**RECORD[2], "supersedes": ["{e1}"]}, None),
        OK,
        "invalid_input",
    ),
    # this is one: no control characters; the peer makes a space of it first
    "a tab in a state key": ([], ("A", "record", {**RECORD[2], "state_key": "a\tb"}, None), "invalid_input", OK),
}


def run_all(ours: Ours, theirs: Theirs, calls: list[Call]) -> list[tuple[str, str]]:
    """Both codes of each call."""
    return [(ours.call(*call).code, theirs.call(*call).code) for call in calls]


@pytest.mark.parametrize("what", SINGLY)
def test_a_granted_difference(what: str, tmp_path: Path) -> None:
    before, call, we, they = SINGLY[what]
    with both(tmp_path) as (ours, theirs, _):
        assert set(run_all(ours, theirs, before)) <= {(OK, OK)}
        assert run_all(ours, theirs, [call]) == [(we, they)]


def test_every_granted_difference_of_the_scripts_is_shown_singly() -> None:
    assert set(GRANTED) <= {(call[1], we, they) for _, call, we, they in SINGLY.values()}


def test_a_rung_falls_at_once_with_its_evidence_and_there_only_at_the_next_save(tmp_path: Path) -> None:
    """Rungs are revoked when their evidence goes (wraps.md e3): here the stored level falls in the same deed."""
    today = "2026-11-30"
    seen, proven = (
        WHOLE.replace("\np\n", f"\n- pool | {rest}\n") for rest in (f"1x ({today})", f"2x ({today}) [evidence: {{e2}}]")
    )
    with both(tmp_path) as (ours, theirs, _):
        run_all(ours, theirs, [RECORD, PREPARE, ("A", "save_continuity", {"text": seen, "wrap_token": "{w1}"}, None)])
        run_all(ours, theirs, [AGAIN, PREPARE_AGAIN, ("B", "save_continuity", {"text": proven, "wrap_token": "{w2}"}, None)])
        assert ours.levels() == theirs.stored_levels() == {("name", "pool"): 2}
        run_all(ours, theirs, [("A", "delete_episode", {"episode_id": "{e2}"}, None)])
        assert (ours.levels(), theirs.stored_levels()) == ({("name", "pool"): 1}, {("name", "pool"): 2})
        assert theirs.levels() == ours.levels()


def test_a_marker_in_the_text_supersedes_nothing(tmp_path: Path) -> None:
    """Episodes are superseded by `record` alone (wraps.md a2); the peer reads `[supersedes: old by new]` in a saved text too."""
    line = '- pool | 2x (2026-11-30) [evidence: {e1} "connection pool exhausted"] [supersedes: {e1} by {e2}]'
    with both(tmp_path) as (ours, theirs, clock):
        run_all(ours, theirs, [RECORD])
        clock.advance(1)
        run_all(
            ours,
            theirs,
            [
                AGAIN,
                PREPARE,
                ("A", "save_continuity", {"text": WHOLE.replace("\np\n", f"\n{line}\n"), "wrap_token": "{w1}"}, None),
            ],
        )
        assert theirs.store.superseded_by_map([theirs.names.fill("{e1}")]) != {}
        assert ours.call("A", "recall", {}).words.count("connection pool") == 2
        assert "(ungrounded)" in theirs.text() and "(ungrounded)" not in (ours.text() or "")


def test_a_package_is_bounded_and_what_does_not_fit_waits(tmp_path: Path) -> None:
    """prepare_wrap freezes the oldest that fit (room.md 2.10); the peer freezes and returns all there is."""
    long = [
        ("A", "record", {"content": f"{number} {'x' * 90_000}", "episode_type": "context"}, f"e{number}") for number in range(4)
    ]
    with both(tmp_path) as (ours, theirs, _):
        run_all(ours, theirs, [*long, PREPARE, SAVE])
        assert (ours.counts()["waiting"], theirs.counts()["waiting"]) == (2, 0)


def test_partial_state_is_one_thing_on_every_surface(tmp_path: Path) -> None:
    """Anything but a coherent wrap is partial, and only a cancel clears it (room.md 2.9); the peer's surfaces each read it in a way of their own."""
    with both(tmp_path) as (ours, theirs, _):
        run_all(ours, theirs, [RECORD, PREPARE])
        with contextlib.closing(sqlite3.connect(str(ours.rooms.path))) as database, database:
            database.execute("update wraps set episode_ids = 'no list'")
        theirs.store._conn.execute("update metadata set value = 'no list' where key = 'wrap_episode_ids'")
        theirs.store._conn.commit()
        assert run_all(ours, theirs, [PREPARE_AGAIN, SAVE]) == [
            ("wrap_partial", "wrap_in_progress"),
            ("wrap_partial", "wrap_partial"),
        ]
        assert (
            "damaged (partial)" in ours.call("A", "status", {}).words
            and "Wrap in progress" in theirs.call("A", "status", {}).words
        )
        assert run_all(ours, theirs, [("A", "wrap_cancel", {"partial": True}, None), PREPARE_AGAIN]) == [(OK, OK)] * 2
