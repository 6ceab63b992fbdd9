"""What the server does with a call, whatever carries it: the room, the tool, the answer (room.md 2 and 6).

Everything here runs in worker threads, so that a call that waits for the writer stops no other.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Mapping
from typing import Any

from core.errors import Refusal, StoreError, StoreLocked
from core.room import Room
from core.server import (
    crystal_tools,
    episode_tools,
    knowledge_tools,
    loop_tools,
    project_tools,
    session_tools,
    slot_tools,
    wrap_tools,
)
from core.server.answers import Answer, done, printable, refused, with_notices
from core.server.door import Door
from core.server.tools import NAME_SHOWN, Tool

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        *episode_tools.TOOLS,
        *crystal_tools.TOOLS,
        *loop_tools.TOOLS,
        *wrap_tools.TOOLS,
        *project_tools.TOOLS,
        *session_tools.TOOLS,
        *slot_tools.TOOLS,
        *knowledge_tools.TOOLS,
    )
}

logger = logging.getLogger(__name__)


class Service:
    """Answers calls of tools for one server process."""

    def __init__(self, door: Door, default_project: str) -> None:
        self._door = door
        self._default_project = default_project

    def answer(
        self, name: str, arguments: Mapping[str, Any], client_name: str | None = None, client_version: str | None = None
    ) -> Answer:
        """The answer to one call: always an answer, never an exception. What was refused is counted, and notices ride along."""
        room: Room | None = None
        try:
            room = self._door.room()
            room.called(client_name, client_version)
            room.observe(self._default_project)
            answer = self._run(room, name, arguments)
        except Refusal as refusal:
            answer = refused(refusal.code, refusal.sentence, refusal.facts)
        except StoreLocked as locked:
            answer = refused("store_busy", str(locked), {"retry_after_seconds": 5})
        except StoreError as error:
            answer = refused("store_unusable", str(error), {})
        except Exception:
            logger.exception("%s failed", printable(name[:NAME_SHOWN]))
            answer = refused(
                "internal_error",
                f"{name[:NAME_SHOWN]} failed in the server; its log says why. Nothing is known to have changed.",
                {},
            )
        return answer if room is None else self._finished(room, answer)

    def _run(self, room: Room, name: str, arguments: Mapping[str, Any]) -> Answer:
        tool = TOOLS.get(name)
        if tool is None:
            raise Refusal(
                "invalid_input",
                f"there is no tool {name[:NAME_SHOWN]!r}; {_nearest(name)}",
                facts={"tools": list(TOOLS)},
            )
        given = tool.parse(arguments)
        if tool.default_project and given.get("project_key") is None:
            given["project_key"] = self._default_project
        result = room.do(name, **given)
        return done(tool.text(result), tool.structured(result))

    def _finished(self, room: Room, answer: Answer) -> Answer:
        try:
            if answer["isError"]:
                room.refused()
            return with_notices(answer, room.take_notices())
        except StoreError:
            # a notice waits for the next call; this call's own answer does not
            return answer
        except Exception:
            logger.exception("notices could not be read")
            return answer


def _nearest(name: str) -> str:
    """The tools whose names are near a mistyped one; all of them are in the refusal's facts."""
    found = difflib.get_close_matches(name[:NAME_SHOWN], TOOLS, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(found)}?" if found else f"there are {len(TOOLS)}, which tools/list names."
