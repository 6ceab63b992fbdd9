"""The library beside anneal-memory 1.0.2, in turns in one process, at 0, 10,000 and 100,000 episodes (issue 2, How good)."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from core.room import Place, Room
from tests.benchmarks.build import PROJECT
from tests.benchmarks.contents import RARE_EPISODES, RARE_WORD, contents
from tests.benchmarks.figures import Figures, Goal, Side, in_turns, medians, ms
from tests.benchmarks.shelf import Shelf
from tests.rooms import text

pytest.importorskip("anneal_memory", reason="the peer comes with the bench extra")

SIZES = (0, 10_000, 100_000)
WAITING = 20
PAGES_OF_A_PREPARE = 15
"""Pages that the log of a store of ours grows by with it, about."""
NO_SLOWER = Goal(at_least=1.0)
pytestmark = pytest.mark.filterwarnings("ignore:\\d+ pattern line:UserWarning")  # the peer tells of a save in warnings too


@dataclass(frozen=True, slots=True)
class Both:
    """The two systems on copies of stores with the same episodes."""

    episodes: int
    room: Room
    peer: Any

    def record(self, kind: str, content: str) -> None:
        """The same episode for both."""
        self.room.do("record", project_key=PROJECT, content=content, episode_type=kind)
        self.peer.record(content, kind)


@contextlib.contextmanager
def opened(shelf: Shelf, folder: Path, episodes: int) -> Iterator[Both]:
    """Both systems, each on a copy of its own store."""
    from anneal_memory.store import Store

    ours, theirs = shelf.copy(folder / "ours", "ours", episodes), shelf.copy(folder / "peer", "peer", episodes)
    with Room(Place(ours, "stdio", client_name="bench")) as room, contextlib.closing(Store(theirs)) as peer:
        room.enter()
        yield Both(episodes, room, peer)


@pytest.fixture(params=SIZES, ids=[f"{size}" for size in SIZES])
def both(request: pytest.FixtureRequest, shelf: Shelf, tmp_path: Path) -> Iterator[Both]:
    """Both systems at one size."""
    with opened(shelf, tmp_path, request.param) as found:
        yield found


def note(figures: Figures, name: str, both: Both, taken: list[list[float]], goal: Goal) -> None:
    """Note how many times faster ours is; what a goal says of 100,000 episodes, it says of no other size."""
    ours, theirs = medians(taken)
    sides = f"{ms(ours)} against {ms(theirs)}"
    figures.add("library", f"{name} at {both.episodes:,}", theirs / ours, goal, sides)


def at_most_filled(both: Both, goal: Goal) -> Goal:
    """The goal that holds at 100,000 episodes."""
    return goal if both.episodes == SIZES[-1] else Goal()


def test_status(benchmark: Any, both: Both, figures: Figures) -> None:
    ours = Side(lambda: both.room.do("status", project_key=PROJECT))
    taken = in_turns(benchmark, ours, Side(both.peer.status), rounds=30)
    note(figures, "status", both, taken, at_most_filled(both, Goal(at_least=50)))


def test_status_does_not_grow_with_the_store(benchmark: Any, shelf: Shelf, figures: Figures, tmp_path: Path) -> None:
    with (
        Room(Place(shelf.copy(tmp_path / "full", "ours", SIZES[-1]), "stdio")) as full,
        Room(Place(shelf.copy(tmp_path / "small", "ours", SIZES[1]), "stdio")) as small,
    ):
        sides = [Side(lambda room=room: room.do("status", project_key=PROJECT)) for room in (full, small)]
        at_full, at_small = medians(in_turns(benchmark, *sides, rounds=300))
    name = f"status at {SIZES[-1]:,} against {SIZES[1]:,}"
    figures.add("library", name, at_full / at_small, Goal(at_most=1.2), f"{ms(at_full)} against {ms(at_small)}")


def test_recall_of_a_rare_word(benchmark: Any, both: Both, figures: Figures) -> None:
    ours = Side(lambda: both.room.do("recall", project_key=PROJECT, keyword=RARE_WORD))
    theirs = Side(lambda: both.peer.recall(keyword=RARE_WORD))
    found = RARE_EPISODES if both.episodes else 0
    assert ours.work().total == theirs.work().total_matching == found
    taken = in_turns(benchmark, ours, theirs, rounds=30)
    note(figures, "recall of a rare word", both, taken, at_most_filled(both, Goal(at_least=30)))


def test_record(benchmark: Any, both: Both, figures: Figures) -> None:
    given = contents(1_000, start=1_000_000)

    def ours(episode: tuple[str, str]) -> None:
        both.room.do("record", project_key=PROJECT, content=episode[1], episode_type=episode[0])

    def theirs(episode: tuple[str, str]) -> None:
        both.peer.record(episode[1], episode[0])

    sides = (Side(ours, before=lambda: next(given)), Side(theirs, before=lambda: next(given)))
    note(figures, "record", both, in_turns(benchmark, *sides, rounds=200), NO_SLOWER)


def test_prepare_wrap_of_new_episodes(benchmark: Any, both: Both, figures: Figures, tmp_path: Path) -> None:
    from anneal_memory.continuity import prepare_wrap

    for kind, content in contents(WAITING, start=1_000_000):
        both.record(kind, content)
    ours = Side(
        lambda: both.room.do("prepare_wrap", project_key=PROJECT),
        before=lambda: both.room.do("wrap_cancel", project_key=PROJECT) and None,
    )
    theirs = Side(lambda: prepare_wrap(both.peer), before=lambda: both.peer.wrap_cancelled() and None)
    with (tmp_path / "synced").open("wb", buffering=0) as file:

        def synced_write() -> None:
            file.write(bytes(PAGES_OF_A_PREPARE * 4_096))
            os.fdatasync(file.fileno())

        our_times, their_times, disk_times = in_turns(benchmark, ours, theirs, Side(synced_write), rounds=40)
    ours.before(), theirs.before()
    assert len(ours.work().episodes) == theirs.work()["episode_count"] == WAITING
    note(figures, f"prepare_wrap of {WAITING}", both, [our_times, their_times], Goal(at_least=4))
    # a deed is one write that the disk has; nothing that keeps it can be faster
    our_time, disk_time = medians([our_times, disk_times])
    name = f"prepare_wrap of {WAITING} at {both.episodes:,} against one synced write"
    figures.add("library", name, our_time / disk_time, Goal(), f"{ms(our_time)} against {ms(disk_time)}")


def test_wrap_cancel(benchmark: Any, both: Both, figures: Figures) -> None:
    from anneal_memory.continuity import prepare_wrap

    for kind, content in contents(WAITING, start=1_000_000):
        both.record(kind, content)
    ours = Side(
        lambda token: both.room.do("wrap_cancel", project_key=PROJECT, wrap_token=token),
        before=lambda: both.room.do("prepare_wrap", project_key=PROJECT).wrap_token,
    )
    theirs = Side(
        lambda token: both.peer.wrap_cancelled(expect_token=token), before=lambda: prepare_wrap(both.peer)["wrap_token"]
    )
    note(figures, "wrap_cancel", both, in_turns(benchmark, ours, theirs, rounds=40), NO_SLOWER)


# a save

PATTERNS = 100
CHARACTERS = 20_000
SMALL = 1_000


def compressed(cited: list[tuple[str, str]]) -> str:
    """A continuity of 20,000 characters with 100 pattern lines, each citing an episode, given with its content, in that one's own words."""
    today = date.today().isoformat()
    lines = []
    for number in range(PATTERNS):
        episode_id, content = cited[number % len(cited)]
        words = " ".join(content.split()[:8])
        lines.append(
            f'- pattern_{number} | 2x ({today}) [evidence: {episode_id} "{words}"] and what follows from it [no-contradicts]'
        )
    whole = text(Patterns="\n".join(lines))
    return whole + "x" * (CHARACTERS - len(whole) - 1) + "\n"


def saves_of(both: Both, waiting: list[tuple[str, str]]) -> tuple[Side, Side]:
    """A save of ours and of the peer, each of a wrap that was just prepared over those episodes."""
    from anneal_memory.continuity import prepare_wrap, validated_save_continuity

    def prepare_ours() -> tuple[str, str]:
        ids = [
            both.room.do("record", project_key=PROJECT, content=content, episode_type=kind).episode_id
            for kind, content in waiting
        ]
        token = both.room.do("prepare_wrap", project_key=PROJECT).wrap_token
        return token, compressed(list(zip(ids, (content for _, content in waiting), strict=True)))

    def prepare_theirs() -> tuple[str, str]:
        ids = [both.peer.record(content, kind).id for kind, content in waiting]
        token = prepare_wrap(both.peer)["wrap_token"]
        return token, compressed(list(zip(ids, (content for _, content in waiting), strict=True)))

    def save_ours(given: tuple[str, str]) -> Any:
        return both.room.do("save_continuity", project_key=PROJECT, wrap_token=given[0], text=given[1])

    def save_theirs(given: tuple[str, str]) -> Any:
        return validated_save_continuity(both.peer, given[1], wrap_token=given[0])

    return Side(save_ours, before=prepare_ours), Side(save_theirs, before=prepare_theirs)


def climb(*saves: Side) -> None:
    """A save in which every pattern is first seen, so that from the next one on each stands at 2x."""
    for save in saves:
        token, whole = save.before()
        save.work((token, re.sub(r"2x (\(\S+\)) \[evidence:[^]]*\]", r"1x \1", whole)))


@pytest.mark.parametrize("size", [SMALL, SIZES[-1]])
def test_save_of_a_full_continuity(benchmark: Any, shelf: Shelf, figures: Figures, tmp_path: Path, size: int) -> None:
    with opened(shelf, tmp_path, size) as both:
        ours, theirs = saves_of(both, list(contents(WAITING, start=1_000_000)))
        climb(ours, theirs)
        first, second = ours.work(ours.before()), theirs.work(theirs.before())
        assert (first.graduations_validated, second["graduations_validated"]) == (PATTERNS, PATTERNS)
        assert first.characters == second["chars"] == CHARACTERS
        taken = in_turns(benchmark, ours, theirs, rounds=40)
    note(figures, f"save of {CHARACTERS:,} characters", both, taken, NO_SLOWER)


def test_a_save_does_not_grow_with_the_store(benchmark: Any, shelf: Shelf, figures: Figures, tmp_path: Path) -> None:
    with opened(shelf, tmp_path / "full", SIZES[-1]) as full, opened(shelf, tmp_path / "small", SMALL) as small:
        waiting = list(contents(WAITING, start=1_000_000))
        sides = [saves_of(both, waiting)[0] for both in (full, small)]
        climb(*sides)
        at_full, at_small = medians(in_turns(benchmark, *sides, rounds=60))
    name = f"save of {CHARACTERS:,} characters at {SIZES[-1]:,} against {SMALL:,}"
    figures.add("library", name, at_full / at_small, Goal(at_most=1.3), f"{ms(at_full)} against {ms(at_small)}")
