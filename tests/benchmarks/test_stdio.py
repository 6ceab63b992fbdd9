"""Over stdio: our server beside an empty tool of the SDK and beside anneal-memory's server, one client, in turns (issue 2, How good)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.benchmarks import empty_tool
from tests.benchmarks.build import PROJECT
from tests.benchmarks.contents import RARE_WORD, contents
from tests.benchmarks.figures import Figures, Goal, Side, in_turns, medians, ms, percentile
from tests.benchmarks.shelf import Shelf, python
from tests.benchmarks.wire import Client, served

EPISODES = 100_000
WAITING = 20
NEAR_THE_FLOOR = Goal(at_most=1.6)
AHEAD = Goal(at_least=1.0)
ROUNDS = 300


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers that are compared, each with its client."""

    ours: Client
    empty: Client
    peer: Client


@pytest.fixture(scope="module")
def servers(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Ours and the peer on stores of 100,000 episodes with 20 new ones, and the empty one."""
    pytest.importorskip("anneal_memory", reason="the peer comes with the bench extra")
    folder = tmp_path_factory.mktemp("stdio")
    ours = shelf.copy(folder / "ours", "ours", EPISODES)
    peer = shelf.copy(folder / "peer", "peer", EPISODES)
    with (
        served(python("-m", "console.cli", "serve", "--store", str(ours), "--project", PROJECT)) as our_client,
        served(python(str(empty_tool.__file__))) as empty_client,
        served(python("-m", "anneal_memory.server", "--db", str(peer))) as peer_client,
    ):
        for kind, content in contents(WAITING, start=1_000_000):
            our_client.call("record", content=content, episode_type=kind)
            peer_client.call("record", content=content, episode_type=kind)
        yield Servers(our_client, empty_client, peer_client)


def against_the_floor(
    benchmark: Any, servers: Servers, figures: Figures, name: str, ours: Side, *others: Side, rounds: int = ROUNDS
) -> list[list[float]]:
    """Note our call's median as a multiple of the empty tool's."""
    taken = in_turns(benchmark, ours, Side(lambda: servers.empty.call("empty")), *others, rounds=rounds)
    mine, floor, *_ = medians(taken)
    tail = f"p95 {ms(percentile(taken[0], 95))} against {ms(percentile(taken[1], 95))}"
    figures.add("stdio", f"{name} against an empty tool", mine / floor, NEAR_THE_FLOOR, f"{ms(mine)} against {ms(floor)}, {tail}")
    return taken


def ahead_of_the_peer(figures: Figures, name: str, taken: list[list[float]]) -> None:
    """Note how many times faster ours is than the peer's."""
    ours, theirs = medians([taken[0], taken[2]])
    figures.add("stdio", f"{name} against the peer's", theirs / ours, AHEAD, f"{ms(ours)} against {ms(theirs)}")


def test_record(benchmark: Any, servers: Servers, figures: Figures) -> None:
    given = itertools.count(1)
    texts = [content for _, content in contents(ROUNDS * 2, start=2_000_000)]
    ours = Side(
        lambda number: servers.ours.call("record", content=texts[number], episode_type="observation", project_key="recorded"),
        before=lambda: next(given),
    )
    against_the_floor(benchmark, servers, figures, "record", ours)


def test_status(benchmark: Any, servers: Servers, figures: Figures) -> None:
    sides = Side(lambda: servers.ours.call("status")), Side(lambda: servers.peer.call("status"))
    taken = against_the_floor(benchmark, servers, figures, "status", *sides, rounds=40)
    ahead_of_the_peer(figures, "status", taken)


def test_recall_of_a_rare_word(benchmark: Any, servers: Servers, figures: Figures) -> None:
    sides = [Side(lambda client=client: client.call("recall", keyword=RARE_WORD)) for client in (servers.ours, servers.peer)]
    taken = against_the_floor(benchmark, servers, figures, "recall of a rare word", *sides, rounds=40)
    ahead_of_the_peer(figures, "recall of a rare word", taken)


def test_prepare_wrap(benchmark: Any, servers: Servers, figures: Figures) -> None:
    ours = Side(lambda: servers.ours.call("prepare_wrap"), before=lambda: servers.ours.call("wrap_cancel") and None)
    against_the_floor(benchmark, servers, figures, f"prepare_wrap of {WAITING}", ours)


def test_wrap_cancel(benchmark: Any, servers: Servers, figures: Figures) -> None:
    def prepared() -> str:
        token: str = servers.ours.call("prepare_wrap")["structuredContent"]["wrap_token"]
        return token

    servers.ours.call("wrap_cancel")
    ours = Side(lambda token: servers.ours.call("wrap_cancel", wrap_token=token), before=prepared)
    against_the_floor(benchmark, servers, figures, "wrap_cancel", ours)
