"""A raw JSON-RPC client over a server's pipes: it costs as little as a client can, and the same for every server."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from typing import IO, Any

from tests.benchmarks.shelf import environment

VERSION = "2025-06-18"


class Client:
    """One client of one server process."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._requests = 0

    def introduce(self) -> None:
        """The handshake."""
        client = {"name": "bench", "version": "1"}
        self.request("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, parameters: dict[str, Any]) -> Any:
        """One request and its result. The answer is read to its line's end and parsed, as any client must."""
        self._requests += 1
        self._send({"jsonrpc": "2.0", "id": self._requests, "method": method, "params": parameters})
        while True:
            line = self._incoming.readline()
            if not line:
                raise EOFError(f"the server has left without answering {method}")
            answer = json.loads(line)
            if answer.get("id") == self._requests:
                return answer["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool; its result, which must be no error."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result
        return result

    def _send(self, message: dict[str, Any]) -> None:
        self._outgoing.write(json.dumps(message).encode() + b"\n")
        self._outgoing.flush()


@contextlib.contextmanager
def served(command: Sequence[str]) -> Iterator[Client]:
    """A client of the server that a command starts; at the end the server leaves with it."""
    process = subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        client = Client(process.stdout, process.stdin)
        client.introduce()
        yield client
    finally:
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()
        process.stdout.close()
