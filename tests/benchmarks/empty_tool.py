"""The floor: an empty tool on the SDK's own MCPServer over stdio. It is a `def`, as any tool that waits for a disk must be."""

from __future__ import annotations

from mcp.server import MCPServer

server = MCPServer("empty", version="1")


@server.tool()
def empty() -> str:
    """Does nothing."""
    return "done"


if __name__ == "__main__":
    server.run("stdio")
