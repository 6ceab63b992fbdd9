"""One demo agent: a process that is a real MCP stdio client, starts its own server, and plays a role (issue 2, item 9).

The server's command comes as arguments, so that `core` need not know who offers it. Run as
`python -m core.server.demo --name N --role R --project P --protocol auto -- COMMAND…`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.server.answers import NOTICES_KEY
from core.server.demo.reports import Event, Order, Report
from core.server.demo.stories import STORIES, Line

if TYPE_CHECKING:
    from mcp import Client

END_WITHIN_SECONDS = 5.0
"""How long an agent takes to end at most; its server is told by then, or killed by the client's own shutdown."""
CALL_WITHIN_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A tool's answer as an agent reads it: its text, its structured data, the refusal if it is one, and the operator's notices."""

    text: str
    data: dict[str, Any]
    code: str | None = None
    sentence: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """A refusal in short: its code, and whose wrap with which verdict and evidence where it is about one."""
        verdict, evidence = self.facts.get("verdict"), self.facts.get("evidence") or []
        if not verdict:
            return f"{self.code}: {self.sentence}"
        holder = self.facts.get("holder") or {}
        who = f"wrap {self.facts.get('wrap_id')} of {holder.get('client_name') or 'somebody'} (pid {holder.get('pid')})"
        return f"{self.code}: {who} looks {verdict}: {'; '.join(evidence)}"


class Orders:
    """What the fleet says, read from stdin by a thread that also ends the process when the fleet is gone."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._given: set[str] = set()
        self.over = False
        threading.Thread(target=self._read, name="orders", daemon=True).start()

    def wait(self, order: Order) -> bool:
        """Wait for an order; False when the end came first."""
        with self._lock:
            self._lock.wait_for(lambda: self.over or order in self._given)
            return not self.over

    def wait_for_end(self) -> None:
        """Wait until the fleet has closed stdin."""
        with self._lock:
            self._lock.wait_for(lambda: self.over)

    def release(self) -> None:
        """Let go of every thread that waits here: nothing is to be waited for any more."""
        with self._lock:
            self.over = True
            self._lock.notify_all()

    def _read(self) -> None:
        pending = b""
        # os.read: a buffered stdin would be locked by this thread when the interpreter shuts down
        while chunk := os.read(0, 4096):
            *lines, pending = (pending + chunk).split(b"\n")
            with self._lock:
                self._given |= {line.decode() for line in lines}
                self._lock.notify_all()
        self.release()
        # whatever hangs, an agent without a fleet is gone soon (faults.md T27)
        last = threading.Timer(END_WITHIN_SECONDS, os._exit, (1,))
        last.daemon = True
        last.start()


class Agent:
    """What a role does things with: its client, its project, and its line to the fleet."""

    def __init__(self, name: str, project: str, client: Client, orders: Orders) -> None:
        self.name = name
        self.story = STORIES[project]
        self._client = client
        self._orders = orders
        self.lines: Iterator[Line] = self.story.episodes(name)

    def say(self, event: Event, sentence: str, facts: Mapping[str, Any] | None = None) -> None:
        """Tell the fleet."""
        tell(Report(event, sentence, dict(facts or {})))

    async def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool and read its answer; a notice that came with it is told at once."""
        answer = read_answer(await self._client.call_tool(tool, arguments))
        for notice in answer.notices:
            self.say("notice", f"gets a notice with the answer to {tool}: {notice}")
        return answer

    async def record(self, count: int, pause: float) -> None:
        """Record some episodes with a pause after each."""
        for _ in range(count):
            line = next(self.lines)
            await self.call("record", content=line.text, episode_type=line.episode_type, source=line.source, trust=line.trust)
            await self.rest(pause)
        self.say("recorded", f"recorded {count} episode{'s' if count != 1 else ''}", {"count": count})

    async def rest(self, seconds: float) -> None:
        """Do something else for a while."""
        import anyio

        await anyio.sleep(seconds)

    async def order(self, order: Order) -> None:
        """Wait for an order of the fleet, without a call."""
        from anyio.to_thread import run_sync

        await run_sync(self._orders.wait, order, abandon_on_cancel=True)


def read_answer(result: Any) -> Answer:
    """An answer out of a CallToolResult: a refusal's text is `code: sentence`, its second block the facts (room.md 2.2)."""
    texts = [block.text for block in result.content if block.type == "text"]
    notices = tuple(str(notice["text"]) for notice in (result.meta or {}).get(NOTICES_KEY, []))
    first = texts[0] if texts else ""
    if not result.is_error:
        return Answer(first, result.structured_content or {}, notices=notices)
    code, _, sentence = first.partition(": ")
    try:
        facts = json.loads(texts[1])
    except (IndexError, ValueError):
        facts = {}
    return Answer(first, {}, code, sentence, facts if isinstance(facts, dict) else {}, notices)


def _words_for(error: BaseException) -> str:
    """The innermost error, for task groups wrap what happened in them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def tell(report: Report) -> None:
    """Write a report to the fleet; when nobody reads any more, the end is near anyway."""
    try:
        sys.stdout.write(report.line())
        sys.stdout.flush()
    except OSError:
        os._exit(1)


def main(arguments: list[str]) -> int:
    """Play a role until the fleet is gone."""
    parser = argparse.ArgumentParser(description="One agent of the demo's fleet.")
    for name in ("--name", "--role", "--project", "--protocol"):
        parser.add_argument(name, required=True)
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args(arguments)
    orders = Orders()
    gc.disable()  # importing mcp makes half a million objects that all stay (libraries.md A14)
    import anyio
    import mcp  # noqa: F401

    from core.server.demo.roles import ROLES

    gc.enable()
    gc.freeze()
    if not orders.wait("enter"):
        return 0
    return anyio.run(_play, chosen, ROLES[chosen.role], orders)


async def _play(chosen: argparse.Namespace, role: Any, orders: Orders) -> int:
    import anyio
    from anyio.to_thread import run_sync
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.types import Implementation

    command, *rest = chosen.command
    server = StdioServerParameters(command=command, args=rest, env=dict(os.environ))
    client = Client(
        server,
        mode=chosen.protocol,
        client_info=Implementation(name=chosen.name, version="demo"),
        read_timeout_seconds=CALL_WITHIN_SECONDS,
    )
    code = 0
    async with anyio.create_task_group() as group:

        async def end() -> None:
            await run_sync(orders.wait_for_end, abandon_on_cancel=True)
            group.cancel_scope.cancel()

        group.start_soon(end)
        try:
            async with client:
                agent = Agent(chosen.name, chosen.project, client, orders)
                agent.say("entered", f"enters project {chosen.project}, protocol {client.protocol_version}")
                await role(agent)
        except Exception as error:
            code = 1
            tell(Report("lost", f"has lost its server: {_words_for(error)}"))
        orders.release()  # the interpreter would wait for a worker thread that waits
        group.cancel_scope.cancel()
    return code
