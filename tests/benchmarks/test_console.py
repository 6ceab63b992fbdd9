"""The console in a real terminal of 120 by 36, on 100,000 episodes and 1,000,000 trail rows (console.md, Feel)."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.benchmarks import empty_console
from tests.benchmarks.build import OPEN_WRAPS, OURS, episode_id_of
from tests.benchmarks.contents import RARE_EPISODES, RARE_WORD
from tests.benchmarks.figures import Figures, Goal, Side, in_turns, medians, ms, percentile
from tests.benchmarks.shelf import Shelf, python

if sys.platform == "win32":
    pytest.skip("there are no ptys here", allow_module_level=True)

from tests.benchmarks.terminal import Terminal, on_terminal

EPISODES, TRAIL_ROWS = 100_000, 1_000_000
IDLE_SECONDS = 20.0
QUIET = 1.0
"""Seconds without a byte after which a screen has come to rest."""
PRESSES = 60
HEADER, FIRST_ROW = b"Overview", OPEN_WRAPS[0].encode()


@pytest.fixture(scope="module")
def command(shelf: Shelf) -> Sequence[str]:
    """The console on the big store. It only looks, so that it may look at the original."""
    return python("-m", "console.cli", "--store", str(shelf.original("ours", EPISODES, TRAIL_ROWS) / OURS))


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """A home of its own: nothing remembered, nothing configured."""
    return {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}


@pytest.fixture
def console(command: Sequence[str], folders: dict[str, str]) -> Iterator[Terminal]:
    """The console, open and at rest."""
    with on_terminal(command, **folders) as terminal:
        terminal.painted(FIRST_ROW)
        terminal.settle(QUIET)
        yield terminal


def test_first_paint(benchmark: Any, command: Sequence[str], folders: dict[str, str], figures: Figures) -> None:
    work: list[float] = []

    def paint(program: Sequence[str], words: bytes) -> None:
        with on_terminal(program, **folders) as terminal:
            terminal.painted(words)
            work.append(worked(terminal.pid))

    empty = python(str(empty_console.__file__))
    words = empty_console.WORDS.encode()
    sides = [Side(lambda: paint(command, HEADER)), Side(lambda: paint(empty, words)), Side(lambda: paint(command, FIRST_ROW))]
    taken = in_turns(benchmark, *sides, rounds=12)
    first, floor, rows = medians(taken)
    goal = Goal(at_most=1.4)
    figures.add("console", "first paint against an empty app", first / floor, goal, f"{ms(first)} against {ms(floor)}")
    # in the order of the turns: the empty app, the rows, the first paint
    floor_work, rows_work, first_work = (statistics.median(work[number::3]) for number in range(3))
    sides_in_words = f"{ms(first_work)} against {ms(floor_work)}"
    figures.add("console", "the same in processor time", first_work / floor_work, Goal(), sides_in_words)
    figures.add("console", "first rows against an empty app", rows / floor, Goal(), f"{ms(rows)} against {ms(floor)}")
    figures.add(
        "console", "the same in processor time", rows_work / floor_work, Goal(), f"{ms(rows_work)} against {ms(floor_work)}"
    )


def test_key_to_paint_in_the_trail(benchmark: Any, console: Terminal, figures: Figures) -> None:
    console.press(b"5")
    console.painted(b"%d" % TRAIL_ROWS)
    console.settle(QUIET)
    numbers = iter(range(TRAIL_ROWS - 1, 0, -1))
    key_to_paint(benchmark, console, figures, "a key to its paint in the trail", lambda: (b"k", b"%d" % next(numbers)))


def test_key_to_paint_of_a_page_of_the_trail(benchmark: Any, console: Terminal, figures: Figures) -> None:
    console.press(b"5")
    console.painted(b"%d" % TRAIL_ROWS)
    console.settle(QUIET)
    ends = iter(range(PRESSES * 2))
    key_to_paint(
        benchmark,
        console,
        figures,
        "home and end to their rows in the trail",
        lambda: (b"g", b"store_created") if next(ends) % 2 == 0 else (b"G", b"%d" % TRAIL_ROWS),
    )


def test_key_to_paint_in_the_wraps(benchmark: Any, console: Terminal, figures: Figures) -> None:
    console.press(b"2")
    console.painted(OPEN_WRAPS[-1].encode())
    console.settle(QUIET)
    turns = iter(range(PRESSES * 2))
    places = [name.encode() for name in OPEN_WRAPS]
    key_to_paint(
        benchmark,
        console,
        figures,
        "a key to its paint in the wraps",
        lambda: (b"j", places[1]) if next(turns) % 2 == 0 else (b"k", places[0]),
    )


def test_key_to_paint_in_the_episodes(benchmark: Any, console: Terminal, figures: Figures) -> None:
    in_episodes(console)
    numbers = iter(range(EPISODES + 1, 0, -1))
    key_to_paint(
        benchmark,
        console,
        figures,
        "a key to its paint in the episodes",
        lambda: (b"j", f"{episode_id_of(next(numbers))}".encode()),
    )


def test_search_of_the_episodes(benchmark: Any, console: Terminal, figures: Figures) -> None:
    in_episodes(console)
    found = b"%d with the phrase" % RARE_EPISODES

    def ready() -> None:
        console.press(b"\x1b")
        console.settle(QUIET)
        console.press(b"\x1b")
        console.settle(QUIET)
        console.forget()

    def search() -> None:
        console.press(b"/" + RARE_WORD.encode() + b"\r")
        console.painted(found)

    (taken,) = in_turns(benchmark, Side(search, before=ready), rounds=10)
    middle = statistics.median(taken) * 1_000
    figures.add("console", "a rare word among the episodes to its finds", middle, Goal(unit="ms"), f"longest {ms(max(taken))}")


def in_episodes(console: Terminal) -> None:
    """To the episodes, the newest of them read whole."""
    console.press(b"6")
    console.painted(b"Continuity", b"as built")
    console.press(b"\x1b[C")
    console.painted(episode_id_of(EPISODES + 2).encode())
    console.settle(QUIET)


def key_to_paint(benchmark: Any, console: Terminal, figures: Figures, name: str, next_key: Any) -> None:
    """Press keys, each when the screen has come to rest, and note the 95th percentile until what it leads to is painted."""

    def ready() -> tuple[bytes, bytes]:
        console.settle(0.05)
        console.forget()
        key: tuple[bytes, bytes] = next_key()
        return key

    def press(given: tuple[bytes, bytes]) -> None:
        key, words = given
        console.press(key)
        console.painted(words)

    (taken,) = in_turns(benchmark, Side(press, before=ready), rounds=PRESSES)
    p95 = percentile(taken, 95) * 1_000
    figures.add("console", f"{name}, p95", p95, Goal(at_most=50, unit="ms"), f"median {ms(statistics.median(taken))}")


def test_idle(console: Terminal, figures: Figures) -> None:
    console.settle(QUIET * 3)
    process = psutil.Process(console.pid)
    before, start = worked(console.pid), time.perf_counter()
    came = console.listen(IDLE_SECONDS)
    share = (worked(console.pid) - before) / (time.perf_counter() - start) * 100
    figures.add("console", f"idle for {IDLE_SECONDS:.0f} s", share, Goal(at_most=1, unit="% of a core"), f"{came} bytes painted")
    console.press(b"5")
    console.painted(b"%d" % TRAIL_ROWS)
    console.settle(QUIET)
    memory = process.memory_info().rss / 2**20
    figures.add("console", "memory with the trail open", memory, Goal(at_most=120, unit="MB"))


def worked(pid: int) -> float:
    """Processor seconds that a process has used; Linux tells them finely, thread by thread."""
    tasks = Path(f"/proc/{pid}/task")
    if tasks.is_dir():
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)
