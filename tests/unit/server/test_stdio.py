"""The pipes: every line is answered or carried, and nothing stops the loop (faults.md T27 and T28)."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from core.server import stdio
from core.server.stdio import Incoming, Lines, Outgoing, Unreadable, encode, parse
from core.server.wire import Pipe, Wire


class Client:
    """The client's ends of two pipes."""

    def __init__(self) -> None:
        self.theirs_in, self.requests = os.pipe()
        self.answers, self.theirs_out = os.pipe()
        self.wire = Wire(self.theirs_in, self.theirs_out)
        self.ended = 0

    def end(self) -> None:
        self.ended += 1

    def send(self, line: bytes) -> None:
        os.write(self.requests, line + b"\n")

    async def answer(self) -> dict[str, Any]:
        def line() -> bytes:
            found = b""
            while not found.endswith(b"\n"):
                found += os.read(self.answers, 1 << 16)
            return found

        with anyio.fail_after(10):
            return dict(json.loads(await anyio.to_thread.run_sync(line, abandon_on_cancel=True)))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.requests)
        # a reader that outlives its pipe would read from whichever pipe gets its number next
        for thread in threading.enumerate():
            if thread.name == "watchroom-stdin":
                thread.join(5)
                assert not thread.is_alive()
        for descriptor in (self.theirs_in, self.answers, self.theirs_out):
            with contextlib.suppress(OSError):
                os.close(descriptor)


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    made = Client()
    yield made
    made.close()


async def received(incoming: Incoming) -> JSONRPCRequest:
    with anyio.fail_after(10):
        item = await incoming.receive()
    assert isinstance(item, SessionMessage)
    assert isinstance(item.message, JSONRPCRequest)
    return item.message


async def answered(outgoing: Outgoing, request_id: int | str, **result: Any) -> None:
    await outgoing.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result)))


PING = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'


async def test_a_request_is_carried_in_and_its_answer_out(client: Client) -> None:
    async with Lines(client.wire).streams() as (incoming, outgoing):
        client.send(PING % 1)
        request = await received(incoming)
        await answered(outgoing, request.id, pong=True)
        assert await client.answer() == {"jsonrpc": "2.0", "id": 1, "result": {"pong": True}}


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"not json", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[1, 2]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b"7", -32600, None),
        (b"null", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"2.0","id":9,"method":7}', -32600, 9),
        (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, "a"),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":7}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b"\xff\xfe\xfa", -32700, None),
    ],
)
async def test_a_line_that_is_no_message_is_answered_and_the_next_one_is_served(
    client: Client, line: bytes, code: int, request_id: Any
) -> None:
    async with Lines(client.wire).streams() as (incoming, _):
        client.send(line)
        answer = await client.answer()
        assert (answer["error"]["code"], answer["id"]) == (code, request_id)
        client.send(PING % 2)
        assert (await received(incoming)).id == 2


def test_half_a_character_inside_arguments_is_a_message_all_the_same() -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"content":"\\ud800"}}}'
    message = parse(line)
    assert isinstance(message, JSONRPCRequest)
    assert message.params == {"arguments": {"content": "\ud800"}}


def test_an_answer_that_cannot_be_written_becomes_an_error_for_the_same_request() -> None:
    line = encode(JSONRPCResponse(jsonrpc="2.0", id=3, result={"text": "\ud800"}))
    assert json.loads(line)["id"] == 3
    assert "error" in json.loads(line)


async def test_a_line_over_the_limit_is_read_to_its_end_and_answered(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "LINE_LIMIT", 100)
    async with Lines(client.wire).streams() as (incoming, _):
        client.send(b"x" * 1_000)
        assert "at most 100 bytes" in (await client.answer())["error"]["message"]
        client.send(PING % 2)
        assert (await received(incoming)).id == 2


async def test_an_answer_larger_than_the_pipe_does_not_stop_the_loop(client: Client) -> None:
    async with Lines(client.wire).streams() as (incoming, outgoing):
        client.send(PING % 1)
        await received(incoming)
        await answered(outgoing, 1, text="x" * 1_000_000)
        # nobody reads yet, and the loop goes on
        client.send(PING % 2)
        assert (await received(incoming)).id == 2
        assert len((await client.answer())["result"]["text"]) == 1_000_000


async def test_at_the_clients_end_calls_under_way_are_still_answered(client: Client) -> None:
    async with Lines(client.wire, on_end=client.end).streams() as (incoming, outgoing):
        client.send(PING % 1)
        await received(incoming)
        os.close(client.requests)
        with anyio.move_on_after(0.2):
            await incoming.receive()
            raise AssertionError("the stream ended before the call was answered")
        await answered(outgoing, 1)
        assert (await client.answer())["id"] == 1
        with anyio.fail_after(5), pytest.raises(anyio.EndOfStream):
            await incoming.receive()
    assert client.ended == 1


async def test_a_client_that_reads_no_more_is_gone(client: Client) -> None:
    async with Lines(client.wire, on_end=client.end).streams() as (incoming, outgoing):
        os.close(client.answers)
        await answered(outgoing, 1)
        with anyio.fail_after(5), pytest.raises(anyio.EndOfStream):
            await incoming.receive()
    assert client.ended == 1


async def test_leaving_waits_for_no_pipe(client: Client) -> None:
    with anyio.fail_after(5):
        async with Lines(client.wire).streams() as (_, outgoing):
            await answered(outgoing, 1, text="x" * 1_000_000)
    # let the worker that was left behind end
    os.close(client.answers)


def test_a_pipe_takes_at_once_what_surely_fits() -> None:
    reading, writing = os.pipe()
    pipe = Pipe(writing)
    assert pipe.takes_at_once(4_096)
    assert not pipe.takes_at_once(10_000_000)
    pipe.write(b"x")
    assert pipe.takes_at_once(4_096)
    os.close(reading)
    os.close(writing)


def test_an_unreadable_line_has_an_answer() -> None:
    found = parse(b"{")
    assert isinstance(found, Unreadable)
    assert isinstance(found.answer, JSONRPCError)


@pytest.mark.parametrize("method", ["ping", "tools/call"])
def test_a_request_whose_id_is_half_a_character_is_answered_without_it(method: str) -> None:
    found = parse(b'{"jsonrpc":"2.0","id":"\\ud800","method":"' + method.encode() + b'","params":{}}')
    assert isinstance(found, Unreadable)
    assert found.answer.id is None
    assert encode(found.answer).endswith(b"\n")
