"""What the benchmarks share: the shelf of built stores, and the figures, which are told at the end of the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks.figures import CHECK, Figures
from tests.benchmarks.shelf import Shelf

FIGURES = pytest.StashKey[Figures]()


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Benchmarks run one after another, in this process, whatever the other tests do."""
    if hasattr(config.option, "numprocesses"):
        config.option.numprocesses, config.option.dist, config.option.tx = None, "no", []


def pytest_configure(config: pytest.Config) -> None:
    """Begin the run's figures."""
    config.stash[FIGURES] = Figures()


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest) -> Figures:
    """Where a benchmark notes what it has measured."""
    return request.config.stash[FIGURES]


@pytest.fixture(scope="session")
def shelf(request: pytest.FixtureRequest) -> Iterator[Shelf]:
    """The built stores; whoever writes takes a copy."""
    assert request.config.cache is not None
    yield Shelf(Path(request.config.cache.mkdir("watchroom-benchmarks")))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With WATCHROOM_BENCH_CHECK=1, fail the run when a ratio misses its goal."""
    if CHECK and session.config.stash[FIGURES].failed and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The table of figures."""
    found = config.stash[FIGURES]
    if found.found:
        terminalreporter.section("watchroom's figures")
        for line in found.table():
            terminalreporter.write_line(line)
        if CHECK and found.failed:
            names = ", ".join(f"{one.group} {one.name}" for one in found.failed)
            terminalreporter.write_line(f"WATCHROOM_BENCH_CHECK: missed {names}", red=True)
