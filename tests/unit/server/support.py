"""What the tests of the server share: a service on a room with a fake clock, and shorthands for answers."""

from __future__ import annotations

import json
from typing import Any

from core.room import Room
from core.server.door import Door
from core.server.service import Service


def service_on(room: Room, default_project: str = "demo") -> Service:
    """A service whose door leads into a room that a test made."""
    return Service(Door(room.place, make=lambda place, patience: room), default_project)


def code_of(answer: dict[str, Any]) -> str:
    """The code of a refusal; it must have the whole form of one (libraries.md E.4)."""
    assert answer["isError"] is True
    assert "structuredContent" not in answer
    sentence, facts = (block["text"] for block in answer["content"][:2])
    assert "\n" not in facts
    told = answer["_meta"]["watchroom/refusal"]
    assert sentence == f"{told['code']}: {told['sentence']}"
    assert json.loads(facts) == told["facts"]
    return str(told["code"])


def sentence_of(answer: dict[str, Any]) -> str:
    """The first text of an answer."""
    return str(answer["content"][0]["text"])


def data_of(answer: dict[str, Any]) -> dict[str, Any]:
    """The structured content of an answer that was no refusal."""
    assert answer["isError"] is False, sentence_of(answer)
    return dict(answer["structuredContent"])
