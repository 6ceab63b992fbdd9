"""The agent server on stdio: one process, one client (room.md 1; faults.md T13, T17, T27, T28).

This module is light on purpose: it takes the pipes and opens the store before the second that importing the SDK takes.
"""

from __future__ import annotations

import gc
import logging
import sys

from core.room import Place
from core.server.door import Door, Opening
from core.server.wire import Wire, complain

OPENING_SECONDS = 0.5
"""How much longer than the imports the first answer may wait for the store; a busy store is no reason to keep a client waiting."""


def serve_stdio(place: Place, default_project: str) -> int:
    """Serve the client on stdin and stdout until it leaves; gives the exit code.

    `default_project` is meant where a call names none (room.md 2.1). A store that can never be used is said on stderr and
    ends the server with 1; one that is only busy keeps it running, and its calls are refused `store_busy` until it is free.
    The caller is to end its process then: a few seconds after the client's end it is ended anyway.
    """
    log_to_stderr()
    try:
        wire = Wire.claim()
    except OSError:
        complain("The server speaks over stdin and stdout, and one of them is closed. Let an MCP client start it.")
        return 1
    door = Door(place)
    opening = Opening(door)
    opening.start()
    # the collector would walk every class that the SDK makes, several times over (libraries.md A14)
    gc.disable()
    try:
        import anyio

        from core.server.agent_server import serve
        from core.server.service import Service
    finally:
        gc.enable()
    gc.freeze()
    failure = opening.wait(OPENING_SECONDS)
    if failure is not None:
        complain(str(failure))
        return 1
    try:
        return anyio.run(serve, Service(door, default_project), wire, opening)
    finally:
        door.close()


def log_to_stderr() -> None:
    """Send every log line to stderr, before the SDK is imported: stdout belongs to the protocol (faults.md T28)."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="%(asctime)s watchroom[%(process)d] %(levelname)s %(name)s: %(message)s",
        force=True,
    )
    logging.captureWarnings(True)
