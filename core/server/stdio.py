"""The client's two pipes: lines of JSON-RPC in and out (faults.md T27 and T28).

The SDK's own stdio transport reads in a worker thread that nothing can stop, leaves lines that it cannot parse unanswered and
changes threads four times a call; so the lines are carried here, and only what is in them is the SDK's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import os
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from core.server.wire import Pipe, Wire

LINE_LIMIT = 64 * 1024 * 1024
"""Bytes that one message may have; a longer one is read to its end and answered with an error."""
DRAIN_SECONDS = 2.0
"""How long the calls that are under way may take when the client has closed its end."""
WAITING_ANSWERS = 64

logger = logging.getLogger(__name__)

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that was no message, and the answer to it."""

    answer: JSONRPCError


class Lines:
    """Carries messages between a wire and the SDK's streams. `on_end` is called, by any thread, when the client is gone."""

    def __init__(self, wire: Wire, on_end: Callable[[], None] = lambda: None) -> None:
        self._wire = wire
        self._on_end = on_end
        self._unanswered: set[int | str] = set()
        self._settled = anyio.Event()
        self._ended = anyio.Event()
        self._writing = anyio.CapacityLimiter(1)
        self._pipe = Pipe(wire.outgoing)

    @contextlib.asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Incoming, Outgoing]]:
        """The pair that the SDK's server runs on. Leaving it waits for neither pipe."""
        self._loop = asyncio.get_running_loop()
        self._to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        self._to_client, outgoing = anyio.create_memory_object_stream[SessionMessage](WAITING_ANSWERS)
        # a daemon: a thread that waits in a read cannot be stopped, and must not keep the process
        threading.Thread(target=self._read, name="watchroom-stdin", daemon=True).start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write, outgoing)
            tasks.start_soon(self._drain)
            yield incoming, self._to_client.clone()
            tasks.cancel_scope.cancel()

    # from the client

    def _read(self) -> None:
        try:
            with os.fdopen(self._wire.incoming, "rb", buffering=64 * 1024, closefd=False) as pipe:
                while line := pipe.readline(LINE_LIMIT):
                    if len(line) >= LINE_LIMIT and not line.endswith(b"\n"):
                        while (rest := pipe.readline(LINE_LIMIT)) and not rest.endswith(b"\n"):
                            pass
                        self._hand_over(_unreadable(PARSE_ERROR, f"A message may have at most {LINE_LIMIT:,} bytes."))
                    elif not line.isspace():
                        self._hand_over(parse(line))
        except OSError as error:
            logger.info("reading from the client ended: %s", error)
        self._on_end()
        self._hand_over(None)

    def _hand_over(self, found: JSONRPCMessage | Unreadable | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._arrived, found)

    def _arrived(self, found: JSONRPCMessage | Unreadable | None) -> None:
        if found is None:
            self._ended.set()
            return
        with contextlib.suppress(anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
            if isinstance(found, Unreadable):
                # the SDK would leave it unanswered
                self._to_client.send_nowait(SessionMessage(found.answer))
                return
            if isinstance(found, JSONRPCRequest):
                self._unanswered.add(found.id)
            elif isinstance(found, JSONRPCNotification) and found.method == "notifications/cancelled":
                self._settle((found.params or {}).get("requestId"))
            self._to_server.send_nowait(SessionMessage(found))

    async def _drain(self) -> None:
        """When the client has closed its end, let the calls under way be answered; then end the server's stream."""
        await self._ended.wait()
        with anyio.move_on_after(DRAIN_SECONDS):
            while self._unanswered:
                self._settled = anyio.Event()
                await self._settled.wait()
        self._to_server.close()

    def _settle(self, request_id: object) -> None:
        if isinstance(request_id, int | str):
            self._unanswered.discard(request_id)
            self._settled.set()

    # to the client

    async def _write(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async for carried in outgoing:
            message = carried.message
            try:
                await self._send(encode(message))
            except OSError as error:
                logger.info("writing to the client ended: %s", error)
                self._on_end()
                self._ended.set()
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                self._settle(message.id)

    async def _send(self, data: bytes) -> None:
        if self._pipe.takes_at_once(len(data)):
            self._pipe.write(data)
        else:
            # a client that does not read must not stop the loop
            await anyio.to_thread.run_sync(self._pipe.write, data, abandon_on_cancel=True, limiter=self._writing)


def encode(message: JSONRPCMessage) -> bytes:
    """A message as one line. One that cannot be written, such as half a character, becomes an error for the same request."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:
        logger.exception("an answer could not be written as JSON")
        request_id = message.id if isinstance(message, JSONRPCResponse) else None
        failed = _error(_writable(request_id), INTERNAL_ERROR, "The answer could not be written as JSON.")
        return failed.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def parse(line: bytes) -> JSONRPCMessage | Unreadable:
    """The message in a line. One with half a character in it is a message too: the tool's own checks answer it."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        pass
    else:
        # a request whose id is none, such as null, looks like a notification; it is answered all the same
        if not isinstance(message, JSONRPCNotification) or b'"id"' not in line:
            return message
    try:
        data: Any = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        return _unreadable(PARSE_ERROR, f"This line is no JSON: {str(error)[:200]}.")
    if isinstance(data, list):
        return _unreadable(INVALID_REQUEST, "Batches are not served: send one message a line.")
    if not isinstance(data, dict):
        return _unreadable(INVALID_REQUEST, "A message is a JSON object.")
    try:
        message = jsonrpc_message_adapter.validate_python(data, by_name=False)
    except ValidationError:
        return _unreadable(INVALID_REQUEST, "This is no JSON-RPC 2.0 message.", data.get("id"))
    if isinstance(message, JSONRPCRequest) and _writable(message.id) is None:
        return _unreadable(INVALID_REQUEST, "The id of a request is a whole number or a text of whole characters.")
    if isinstance(message, JSONRPCNotification) and "id" in data:
        return _unreadable(INVALID_REQUEST, "The id of a request is a whole number or a text.")
    return message


def _unreadable(code: int, sentence: str, request_id: object = None) -> Unreadable:
    return Unreadable(_error(_writable(request_id), code, sentence))


def _writable(request_id: object) -> int | str | None:
    """A request's id when an answer can carry it; None for what is none, and for half a character, which is not printable either."""
    if isinstance(request_id, str):
        return request_id if request_id.isprintable() else None
    return request_id if isinstance(request_id, int) and not isinstance(request_id, bool) else None


def _error(request_id: int | str | None, code: int, sentence: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=sentence))
