"""Over stdio: our server beside an empty tool of the SDK and beside anneal-memory's server, one client, in turns (issue 2, How good)."""

from __future__ import annotations

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


def against_the_floor(benchmark: Any, servers: Servers, figures: Figures, name: str, ours: Side) -> None:
    """Note our call's median as a multiple of the empty tool's."""
    taken = in_turns(benchmark, ours, Side(lambda: servers.empty.call("empty")), rounds=ROUNDS)
    mine, floor = medians(taken)
    tail = f"p95 {ms(percentile(taken[0], 95))} against {ms(percentile(taken[1], 95))}"
    figures.add("stdio", f"{name} against an empty tool", mine / floor, NEAR_THE_FLOOR, f"{ms(mine)} against {ms(floor)}, {tail}")


def ahead_of_the_peer(benchmark: Any, figures: Figures, name: str, ours: Side, theirs: Side) -> None:
    """Note how many times faster ours is than the peer's. Apart from the floor: a peer that reads for long leaves cold caches."""
    mine, its = medians(in_turns(benchmark, ours, theirs, rounds=20))
    figures.add("stdio", f"{name} against the peer's", its / mine, AHEAD, f"{ms(mine)} against {ms(its)}")


def test_record(benchmark: Any, servers: Servers, figures: Figures) -> None:
    texts = contents(ROUNDS * 2, start=2_000_000)

    def record(episode: tuple[str, str]) -> None:
        servers.ours.call("record", content=episode[1], episode_type=episode[0], project_key="recorded")

    against_the_floor(benchmark, servers, figures, "record", Side(record, before=lambda: next(texts)))


def status(client: Client) -> Side:
    """A call of status."""
    return Side(lambda: client.call("status"))


def recall(client: Client) -> Side:
    """A call of recall with the rare word."""
    return Side(lambda: client.call("recall", keyword=RARE_WORD))


def test_status(benchmark: Any, servers: Servers, figures: Figures) -> None:
    against_the_floor(benchmark, servers, figures, "status", status(servers.ours))


def test_status_against_the_peer(benchmark: Any, servers: Servers, figures: Figures) -> None:
    ahead_of_the_peer(benchmark, figures, "status", status(servers.ours), status(servers.peer))


def test_recall_of_a_rare_word(benchmark: Any, servers: Servers, figures: Figures) -> None:
    against_the_floor(benchmark, servers, figures, "recall of a rare word", recall(servers.ours))


def test_recall_of_a_rare_word_against_the_peer(benchmark: Any, servers: Servers, figures: Figures) -> None:
    ahead_of_the_peer(benchmark, figures, "recall of a rare word", recall(servers.ours), recall(servers.peer))


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
