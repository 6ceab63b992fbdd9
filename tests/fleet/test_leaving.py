"""A server leaves with its client, and a new one leaves the others alone (faults.md T17 and T27)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fleet.servers import Fleet, alive, command, environment, rows, until

# a client that starts the server given as its arguments on pipes of its own, says its pid, and stays
CLIENT = """
import subprocess, sys, time
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
                   b'"clientInfo":{"name":"c","version":"1"}}}\\n')
server.stdin.flush()
server.stdout.readline()
print(server.pid, flush=True)
time.sleep(600)
"""
# the same, but the server's stdin is the client's own, which somebody else keeps open
CLIENT_WITHOUT_AN_END = """
import subprocess, sys, time
server = subprocess.Popen(sys.argv[1:], stdin=0, stdout=subprocess.PIPE)
server.stdout.readline()
print(server.pid, flush=True)
time.sleep(600)
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}


def closed(store: Path) -> list[str | None]:
    """When the connections on a store were closed."""
    return [row[0] for row in rows(store, "select closed_at from connections order by opened_at")]


def test_at_the_end_of_its_input_a_server_ends_with_zero_and_closes_its_connection(fleet: Fleet) -> None:
    agent = fleet.agent()
    started = time.monotonic()
    assert agent.close() == 0
    assert time.monotonic() - started < 5
    assert closed(fleet.store) != [None]
    assert rows(fleet.store, "select event from audit order by seq desc limit 1") == [("connection_closed",)]


def test_calls_under_way_at_the_end_of_the_input_are_answered(fleet: Fleet) -> None:
    agent = fleet.agent()
    first = agent.start("tools/call", {"name": "record", "arguments": {"content": "last words", "episode_type": "outcome"}})
    assert agent.process.stdin is not None
    agent.process.stdin.close()
    assert agent.answer_to(first)["result"]["isError"] is False
    assert agent.process.wait(5) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_server_cleanly(fleet: Fleet, number: signal.Signals) -> None:
    agent = fleet.agent()
    agent.process.send_signal(number)
    assert agent.process.wait(5) == (130 if number == signal.SIGINT else 0)
    assert closed(fleet.store) != [None]
    assert "Traceback" not in agent.stderr()


def test_when_its_client_is_killed_a_server_is_gone_within_five_seconds(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    client = subprocess.Popen([sys.executable, "-c", CLIENT, *command(store)], stdout=subprocess.PIPE, env=environment())
    with client:
        assert client.stdout is not None
        pid = int(client.stdout.readline())
        client.kill()
        until(lambda: not alive(pid), 5.0)
        until(lambda: closed(store) != [None])


def test_a_client_that_is_killed_while_its_pipe_stays_open_takes_the_server_with_it(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    reading, writing = os.pipe()
    os.write(writing, json.dumps(INITIALIZE).encode() + b"\n")
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT_WITHOUT_AN_END, *command(store)],
        stdin=reading,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    with client:
        assert client.stdout is not None
        pid = int(client.stdout.readline())
        client.kill()
        until(lambda: not alive(pid), 5.0)
        until(lambda: closed(store) != [None])
    os.close(reading)
    os.close(writing)


def test_a_server_that_hangs_in_a_call_is_gone_within_five_seconds_of_its_client(fleet: Fleet) -> None:
    agent = fleet.agent()
    agent.recorded()
    with fleet.locked():
        agent.start("tools/call", {"name": "record", "arguments": {"content": "waits", "episode_type": "outcome"}})
        until(lambda: agent.done("status"))
        assert agent.process.stdin is not None
        agent.process.stdin.close()
        agent.process.wait(5)


def test_a_loop_that_hangs_does_not_keep_the_process(fleet: Fleet) -> None:
    hang = "import core.server.service as s, time; s.Service.answer = lambda *a: time.sleep(600)"
    agent = fleet.agent(before=hang)
    agent.start("tools/call", {"name": "status", "arguments": {}})
    assert agent.process.stdin is not None
    agent.process.stdin.close()
    agent.process.wait(5)


def test_a_second_server_leaves_the_first_alive_with_no_lost_row(fleet: Fleet) -> None:
    first = fleet.agent()
    ids = [first.recorded(f"Fact {number} of the first") for number in range(5)]
    second = fleet.agent()
    ids.append(second.recorded("A fact of the second"))
    ids.append(first.recorded("Another fact of the first"))
    assert second.close() == 0
    ids.append(first.recorded("The last fact of the first"))
    assert [row[0] for row in rows(fleet.store, "select episode_id from episodes order by id")] == ids
    assert first.connection()[1] is None


def test_a_server_whose_stdin_is_closed_from_the_start_says_so(tmp_path: Path) -> None:
    argv = ["sh", "-c", 'exec "$@" <&-', "sh", *command(tmp_path / "store.db")]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment(), timeout=20)
    assert (done.returncode, done.stdout) == (1, "")
    assert "one of them is closed" in done.stderr
