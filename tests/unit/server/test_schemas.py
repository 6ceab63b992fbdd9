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
    assert list(TOOLS) == ["record", "recall", "delete_episode", "prepare_wrap", "save_continuity", "wrap_cancel", "status"]


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
    handed_in = {"deed", "view", "identity", "witness", "clock"}
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
