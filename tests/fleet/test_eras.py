"""Both eras of the protocol on stdio: by hand, and with the SDK's own client in either mode."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate
from mcp import Client, StdioServerParameters

from tests.fleet.servers import MODERN, Era, Fleet, command, environment, rows
from tests.rooms import text

ERAS = pytest.mark.parametrize("era", ["handshake", "modern"])
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


def test_the_handshake_is_answered_with_name_version_and_instructions(fleet: Fleet) -> None:
    greeting = fleet.agent().greeting
    assert greeting["protocolVersion"] == "2025-06-18"
    assert greeting["serverInfo"]["name"] == "watchroom"
    assert greeting["serverInfo"]["version"]
    assert "prepare_wrap" in greeting["instructions"]
    assert greeting["capabilities"]["tools"] == {"listChanged": False}


def test_discovery_is_answered_in_the_modern_era(fleet: Fleet) -> None:
    greeting = fleet.agent(era="modern").greeting
    assert MODERN in greeting["supportedVersions"]
    assert "tools" in greeting["capabilities"]
    assert greeting["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "watchroom"


@ERAS
def test_the_tools_are_listed_with_schemas_and_annotations(fleet: Fleet, era: Era) -> None:
    listed = fleet.agent(era=era).request("tools/list", {})["result"]["tools"]
    by_name = {tool["name"]: tool for tool in listed}
    assert set(by_name) >= {"record", "recall", "delete_episode", "prepare_wrap", "save_continuity", "wrap_cancel", "status"}
    for tool in listed:
        assert tool["title"] == tool["annotations"]["title"]
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["outputSchema"]["type"] == "object"
        assert tool["annotations"]["openWorldHint"] is False
    assert by_name["status"]["annotations"]["readOnlyHint"] is True
    assert by_name["recall"]["annotations"]["readOnlyHint"] is True
    assert by_name["wrap_cancel"]["annotations"]["destructiveHint"] is True
    assert by_name["record"]["annotations"]["destructiveHint"] is False


@ERAS
def test_a_whole_wrap_in_either_era(fleet: Fleet, era: Era) -> None:
    agent = fleet.agent(era=era, name=f"client-{era}")
    schemas = {tool["name"]: tool["outputSchema"] for tool in agent.request("tools/list", {})["result"]["tools"]}

    def did(tool: str, **arguments: Any) -> dict[str, Any]:
        found = agent.done(tool, **arguments)
        # null has come over the wire, for every property is required
        validate(found, schemas[tool])
        return found

    did("record", content="Connection pool is exhausted", episode_type="observation", metadata={"a": None})
    assert did("recall")["episodes"][0]["metadata"] == {"a": None}
    token = did("prepare_wrap")["wrap_token"]
    assert agent.refused("prepare_wrap") == "wrap_in_progress"
    assert did("status")["wrap"]["client_name"] == f"client-{era}"
    did("save_continuity", text=text(), wrap_token=token)
    assert did("status")["wrap"] is None
    assert did("wrap_cancel")["outcome"] == "nothing_open"
    assert rows(fleet.store, "select client_name, client_version from connections") == [(f"client-{era}", "1.5")]


@ERAS
def test_a_refusal_has_code_facts_and_no_structured_content(fleet: Fleet, era: Era) -> None:
    result = fleet.agent(era=era).call("wrap_cancel", forse=True)
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert result["content"][0]["text"].startswith("invalid_input: ")
    assert result["_meta"]["watchroom/refusal"]["code"] == "invalid_input"


@ERAS
def test_an_unknown_tool_is_a_refusal_too(fleet: Fleet, era: Era) -> None:
    assert fleet.agent(era=era).refused("recrod") == "invalid_input"


@MODES
async def test_the_sdks_client_is_served_and_checks_the_results(tmp_path: Path, mode: Any) -> None:
    argv = command(tmp_path / "store.db")
    server = StdioServerParameters(command=sys.executable, args=argv[1:], env=environment())
    async with Client(server, mode=mode) as client:
        assert len((await client.list_tools()).tools) >= 7
        done = await client.call_tool("record", {"content": "A fact", "episode_type": "observation"})
        assert not done.is_error
        opened = await client.call_tool("prepare_wrap", {})
        assert opened.structured_content["outcome"] == "opened"
        status = await client.call_tool("status", {})
        assert status.structured_content["wrap"]["state"] == "open"
        refused = await client.call_tool("status", {"x": 1})
        assert refused.is_error
        assert refused.structured_content is None
