"""Measured figures against their goals, and measuring two things in turns, so that a noisy machine is equally noisy to both."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

CHECK = os.environ.get("WATCHROOM_BENCH_CHECK") == "1"
"""Whether a missed ratio fails the run. Absolute times never do: they are the machine's as well."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a figure is to be: `at_least` or `at_most`; neither for one that is only told. `ratio` may fail a checked run."""

    at_least: float | None = None
    at_most: float | None = None
    unit: str = "x"

    @property
    def ratio(self) -> bool:
        """Whether it compares two measurements of the same run."""
        return self.unit == "x"

    def met(self, value: float) -> bool:
        """Whether a value is what it is to be."""
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    @property
    def words(self) -> str:
        """It in the table."""
        if self.at_least is not None:
            return f">= {self.at_least:g} {self.unit}"
        return f"<= {self.at_most:g} {self.unit}" if self.at_most is not None else "-"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure. `sides` are what it was made of, in words: ours first."""

    group: str
    name: str
    value: float
    goal: Goal
    sides: str = ""

    @property
    def verdict(self) -> str:
        """Whether the goal is met, in a word."""
        if self.goal.words == "-":
            return "told"
        return "met" if self.goal.met(self.value) else "MISSED"


@dataclass(slots=True)
class Figures:
    """Every figure of a run."""

    found: list[Figure] = field(default_factory=list)
    load_before: float = field(default_factory=lambda: load())

    def add(self, group: str, name: str, value: float, goal: Goal | None = None, sides: str = "") -> None:
        """Note one."""
        self.found.append(Figure(group, name, value, goal or Goal(), sides))

    @property
    def failed(self) -> list[Figure]:
        """The ratios that a checked run fails for."""
        return [figure for figure in self.found if figure.goal.ratio and not figure.goal.met(figure.value)]

    def table(self) -> list[str]:
        """The lines that the run ends with."""
        rows = [("", "figure", "measured", "goal", "", "ours against the other")]
        rows += [
            (one.group, one.name, f"{one.value:.3g} {one.goal.unit}", one.goal.words, one.verdict, one.sides)
            for one in self.found
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return [*lines, f"load {self.load_before:.1f} before, {load():.1f} after, on {os.cpu_count()} cores"]


def load() -> float:
    """The machine's load over the last minute; 0 where it is not told."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def nothing() -> None:
    """No work."""


@dataclass(frozen=True, slots=True)
class Side:
    """One thing to measure. `before` is done ahead of each round and not measured; what it gives, `work` gets."""

    work: Callable[..., Any]
    before: Callable[[], Any] = nothing


WARM_UP = 2


def in_turns(benchmark: Any, ours: Side, *others: Side, rounds: int) -> list[list[float]]:
    """The seconds of every round, of ours and of each other, taken in turns; pytest-benchmark gets ours for its own table."""
    taken: list[list[float]] = [[] for _ in range(1 + len(others))]

    def timed(side: Side, seconds: list[float], given: Any) -> Any:
        start = time.perf_counter()
        result = side.work() if given is None else side.work(given)
        seconds.append(time.perf_counter() - start)
        return result

    def others_first() -> tuple[tuple[Any, ...], dict[str, Any]]:
        for side, seconds in zip(others, taken[1:], strict=True):
            timed(side, seconds, side.before())
        return (ours, taken[0], ours.before()), {}

    gc.collect()
    gc.disable()
    try:
        benchmark.pedantic(timed, setup=others_first, rounds=rounds, warmup_rounds=WARM_UP)
    finally:
        gc.enable()
    if benchmark.enabled:
        taken = [seconds[WARM_UP:] for seconds in taken]
    benchmark.extra_info |= {"medians": [statistics.median(seconds) for seconds in taken]}
    return taken


def medians(taken: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The median of each side."""
    return tuple(statistics.median(seconds) for seconds in taken)


def percentile(seconds: Sequence[float], percent: int) -> float:
    """A percentile, such as the 95th."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def ms(seconds: float) -> str:
    """Seconds as milliseconds, in words."""
    return f"{seconds * 1_000:.3g} ms"
