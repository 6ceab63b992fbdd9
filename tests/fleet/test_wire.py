"""What may come over the wire, and what never goes out on stdout (faults.md T28)."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from tests.fleet.servers import Fleet

NOISE = """
import builtins, logging, os, sys, warnings
import core.room
once = core.room.Room.do
def noisy(self, *a, **k):
    print("a stray print")
    warnings.warn("a forced warning")
    logging.getLogger("mcp.noise").error("a log line")
    os.system("echo from a child process")
    sys.stdout.write("and a write"); sys.stdout.flush()
    return once(self, *a, **k)
core.room.Room.do = noisy
"""


def test_every_line_on_stdout_is_json_rpc_also_with_warnings_prints_and_children(fleet: Fleet) -> None:
    agent = fleet.agent(before=NOISE, environ={"PYTHONWARNINGS": "always"})
    for _ in range(3):
        agent.recorded()
        agent.done("status")
    # read() has parsed each; nothing else came
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in agent.lines)
    said = agent.stderr()
    for piece in ("a stray print", "a forced warning", "a log line", "from a child process", "and a write"):
        assert piece in said


@pytest.mark.parametrize(
    "line", [b"garbage", b"[]", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b"7", b"null", b'"x"', b"\xff\x00", b"{" * 5_000]
)
def test_a_line_that_is_no_message_does_not_end_the_server(fleet: Fleet, line: bytes) -> None:
    agent = fleet.agent()
    agent.write(line)
    assert "error" in agent.read()
    assert agent.done("status")["episodes_total"] == 0


@pytest.mark.parametrize("line", [b"", b"   ", b"\r"])
def test_an_empty_line_is_no_message_at_all(fleet: Fleet, line: bytes) -> None:
    agent = fleet.agent()
    agent.write(line)
    assert agent.done("status")["episodes_total"] == 0


@pytest.mark.parametrize(
    "arguments", ['{"content":"\\ud800","episode_type":"context"}', '{"content":"\\u0000","episode_type":"context"}']
)
def test_half_a_character_or_a_nul_is_answered_with_a_sentence(fleet: Fleet, arguments: str) -> None:
    agent = fleet.agent()
    agent.write(b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"record","arguments":%s}}' % arguments.encode())
    result = agent.answer_to(77)["result"]
    assert result["content"][0]["text"].startswith("invalid_input: ")
    assert agent.recorded()


@pytest.mark.parametrize("piece", ['"name":"\\ud800","arguments":{}', '"name":"record","arguments":{"\\ud800":1}'])
def test_half_a_character_in_a_name_does_not_end_the_server(fleet: Fleet, piece: str) -> None:
    agent = fleet.agent()
    agent.write(b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{%s}}' % piece.encode())
    agent.answer_to(77)
    assert agent.recorded()


def test_ten_megabytes_of_content_are_kept_and_found(fleet: Fleet) -> None:
    agent = fleet.agent()
    content = "needle " + "x" * 10_000_000
    found = agent.recorded(content)
    hit = agent.done("recall", keyword="needle", limit=1)["episodes"][0]
    assert hit["episode_id"] == found
    assert hit["content"] == content


@pytest.mark.parametrize("arguments", [None, [], "text", 7])
def test_arguments_that_are_no_object_do_not_end_the_server(fleet: Fleet, arguments: Any) -> None:
    agent = fleet.agent()
    answer = agent.request("tools/call", {"name": "status", "arguments": arguments})
    assert ("result" in answer) == (arguments is None)
    assert agent.recorded()


def test_many_calls_at_once_are_each_answered(fleet: Fleet) -> None:
    agent = fleet.agent()
    ids = [
        agent.start("tools/call", {"name": "record", "arguments": {"content": f"Fact {number}", "episode_type": "context"}})
        for number in range(60)
    ]
    answers = {message["id"]: message for message in (agent.read() for _ in ids)}
    assert set(answers) == set(ids)
    assert not any(answer["result"]["isError"] for answer in answers.values())
    assert agent.done("status")["episodes_total"] == 60


def test_no_deprecated_part_of_the_sdk_is_used() -> None:
    from core.server.agent_server import create_server

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        create_server(None)  # type: ignore[arg-type]
