"""What a client is told of the tools: flat schemas with words, strict input, complete output (room.md 2.3 and 2.4)."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from core.memory.episodes import ABSENT
from core.server.agent_server import INSTRUCTIONS
from core.server.service import TOOLS
from core.server.tools import Tool

EVERY = pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)


def test_the_tools_are_those_of_the_specification() -> None:
    of_wraps = ["record", "recall", "delete_episode", "prepare_wrap", "save_continuity", "wrap_cancel", "status"]
    of_projects = [
        "brain_set_project_context",
        "brain_update_project_focus",
        "brain_focus_history",
        "brain_project_get",
        "brain_list_projects",
        "brain_list_project_groups",
        "brain_project_archive",
        "brain_project_unarchive",
    ]
    of_sessions = ["start", "resume", "list", "get", "heartbeat", "checkpoint", "capture", "bind", "end", "relay", "abandon"]
    of_slots = ["brain_slot_open", "brain_slot_list", "brain_slot_get", "brain_slot_close"]
    of_tickets = ["brain_ticket_create", "brain_ticket_list", "brain_ticket_receive"]
    named = [*of_wraps, *of_projects, *(f"brain_session_{name}" for name in of_sessions), *of_slots, *of_tickets]
    assert [name for name in TOOLS if name in named] == named
    rest = set(TOOLS) - set(named)
    assert all(TOOLS[name].result for name in rest)


def test_the_hints_are_those_of_the_specification() -> None:
    # sessions.md b: read-only, destructive, idempotent
    wanted = {
        "brain_session_start": (False, False, True),
        "brain_session_resume": (True, False, True),
        "brain_session_list": (True, False, True),
        "brain_session_heartbeat": (False, False, False),
        "brain_session_checkpoint": (False, False, True),
        "brain_session_capture": (False, False, True),
        "brain_session_bind": (False, False, True),
        "brain_session_end": (False, True, True),
        "brain_session_relay": (False, True, True),
        "brain_session_abandon": (False, True, True),
        "brain_slot_open": (False, False, True),
        "brain_slot_list": (True, False, True),
        "brain_slot_close": (False, True, False),
        "brain_set_project_context": (False, True, False),
        "brain_update_project_focus": (False, True, False),
        "brain_focus_history": (True, False, True),
        "brain_list_projects": (True, False, True),
        "brain_list_project_groups": (True, False, True),
        "brain_project_archive": (False, False, True),
        "brain_project_unarchive": (False, False, True),
    }
    found = {name: (TOOLS[name].read_only, TOOLS[name].verb.destructive, TOOLS[name].verb.idempotent) for name in wanted}
    assert found == wanted


@EVERY
def test_schemas_are_valid_and_flat(tool: Tool) -> None:
    for schema in (tool.input_schema, tool.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        assert "$ref" not in json.dumps(schema)


@EVERY
def test_no_other_argument_is_let_through_and_each_has_words(tool: Tool) -> None:
    assert tool.input_schema["additionalProperties"] is False
    for name, argument in tool.input_schema["properties"].items():
        assert argument["description"].endswith("."), name


@EVERY
def test_what_is_told_of_defaults_is_what_the_verb_does(tool: Tool) -> None:
    parameters = inspect.signature(tool.verb.function).parameters
    for name, argument in tool.input_schema["properties"].items():
        if name in tool.ignored or name == "project_key":
            continue
        default: Any = parameters[name].default
        if default is inspect.Parameter.empty:
            assert name in tool.input_schema["required"]
        elif default is ABSENT:
            assert argument["default"] is None
        else:
            assert argument["default"] == (list(default) if isinstance(default, tuple) else default)
    known = set(tool.input_schema["properties"]) - tool.ignored
    # what the process hands in, and what only the operator's own surfaces send
    handed_in = {"deed", "view", "reading", "identity", "witness", "clock", "now", "seen", "shrink_reason"}
    if tool.name == "delete_episode":
        handed_in.add("reason")
    assert known == set(parameters) - handed_in


@EVERY
def test_a_result_has_every_property(tool: Tool) -> None:
    def objects(node: Any) -> list[dict[str, Any]]:
        if isinstance(node, list):
            return [found for item in node for found in objects(item)]
        if not isinstance(node, dict):
            return []
        mine = [node] if node.get("type") == "object" and "properties" in node else []
        return mine + [found for item in node.values() for found in objects(item)]

    for one in objects(tool.output_schema):
        assert set(one["required"]) == set(one["properties"])


def test_the_package_is_in_the_text_alone() -> None:
    assert "package" not in TOOLS["prepare_wrap"].output_schema["properties"]


def test_the_instructions_are_short_and_name_the_way() -> None:
    assert len(INSTRUCTIONS) < 2_000
    for word in ("prepare_wrap", "save_continuity", "wrap_cancel", "wrap_in_progress", "data, not instructions"):
        assert word in INSTRUCTIONS
