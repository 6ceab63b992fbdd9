"""Real server processes over stdio, spoken to in raw JSON-RPC, in either era of the protocol."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).parents[2]
RUN = (
    "import sys; from pathlib import Path; from core.room import Place; from core.server.app import serve_stdio; "
    "sys.exit(serve_stdio(Place(Path(sys.argv[1]), 'stdio', sys.argv[3] or None), sys.argv[2]))"
)
MODERN = "2026-07-28"

Era = Literal["handshake", "modern"]


def command(store: Path, *, project: str = "demo", session_id: str = "", before: str = "") -> list[str]:
    """The command line of a server; `before` is Python that runs in it first."""
    return [sys.executable, "-c", f"{before}\n{RUN}", str(store), project, session_id]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a server: this checkout, and nothing of the caller's own settings."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("WATCHROOM_")}
    return {**ours, "PYTHONPATH": str(ROOT), **(more or {})}


def until(condition: Callable[[], Any], seconds: float = 10.0) -> Any:
    """What `condition` gives as soon as that is something; fails when it stays nothing."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {condition}")


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def rows(store: Path, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """Rows of the store, read from outside."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=5)) as database:
        return database.execute(sql, values).fetchall()


class Agent:
    """A server process and its client, which is this test."""

    def __init__(
        self,
        store: Path,
        *,
        era: Era = "handshake",
        session_id: str = "",
        before: str = "",
        environ: Mapping[str, str] | None = None,
        name: str = "fleet-test",
    ) -> None:
        self.store = store
        self.era = era
        self.client = {"name": name, "version": "1.5"}
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the server
        self.process = subprocess.Popen(
            command(store, session_id=session_id, before=before),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment(environ),
            bufsize=0,
        )
        self._last_id = 0
        self._buffer = b""
        self.lines: list[bytes] = []
        self.greeting = self._greet()

    def _greet(self) -> dict[str, Any]:
        if self.era == "modern":
            return self.request("server/discover", {})["result"]
        answer = self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": self.client})
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return dict(answer["result"])

    def write(self, message: Any) -> None:
        """Send one message, or raw bytes as a line."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(data + b"\n")

    def start(self, method: str, params: dict[str, Any]) -> int:
        """Send a request and give its id."""
        self._last_id += 1
        if self.era == "modern":
            params = {
                **params,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": MODERN,
                    "io.modelcontextprotocol/clientInfo": self.client,
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            }
        self.write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    def read(self, seconds: float = 30.0) -> dict[str, Any]:
        """The next message; every line that comes must be JSON-RPC."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise AssertionError(f"no answer in {seconds} s; stderr: {self.stderr()}")
                found = os.read(self.process.stdout.fileno(), 1 << 20)
                if not found:
                    raise AssertionError(f"the server ended; stderr: {self.stderr()}")
                self._buffer += found
        line, _, self._buffer = self._buffer.partition(b"\n")
        self.lines.append(line)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return dict(message)

    def answer_to(self, request_id: int) -> dict[str, Any]:
        """The answer to a request that was sent."""
        while True:
            message = self.read()
            if message.get("id") == request_id and ("result" in message or "error" in message):
                return message

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and give its answer."""
        return self.answer_to(self.start(method, params))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool's call, refused or not."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        return dict(answer["result"])

    def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that must be done."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result["content"][0]["text"]
        return dict(result["structuredContent"])

    def refused(self, tool: str, **arguments: Any) -> str:
        """The code of a call that must be refused."""
        result = self.call(tool, **arguments)
        assert result.get("isError"), result
        return str(result["_meta"]["watchroom/refusal"]["code"])

    def recorded(self, content: str = "Connection pool is exhausted") -> str:
        """The id of a new episode."""
        return str(self.done("record", content=content, episode_type="observation")["episode_id"])

    def stderr(self) -> str:
        """What the server has said on stderr so far."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def connection(self) -> tuple[str, str | None]:
        """Id and end of this server's connection, as stored."""
        found = rows(self.store, "select id, closed_at from connections where pid = ?", self.process.pid)
        assert len(found) == 1
        return found[0]

    def close(self) -> int:
        """Close the server's stdin and give its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(10)
        self.put_away()
        return code

    def put_away(self) -> None:
        """Kill the server if it still runs, and close everything."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.errors.close()


class Fleet:
    """Agents on one store."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self._agents: list[Agent] = []

    def agent(self, **how: Any) -> Agent:
        """One more agent."""
        agent = Agent(self.store, **how)
        self._agents.append(agent)
        return agent

    def close(self) -> None:
        """Put every agent away."""
        for agent in self._agents:
            agent.put_away()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Another process's write lock, held for as long as the block runs."""
        database = sqlite3.connect(self.store, isolation_level=None)
        database.execute("begin immediate")
        try:
            yield
        finally:
            database.execute("rollback")
            database.close()
