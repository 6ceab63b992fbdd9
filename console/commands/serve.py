"""`watchroom serve`: the MCP server on stdio. The command line alone starts core.server (style.md, The house)."""

from __future__ import annotations

from pathlib import Path

import click

from console.commands.common import Call, Command, for_one_project


@click.command(cls=Command)
@click.option("--session-id", metavar="NAME", help="The session this server works for: what a baton is claimed for.")
@click.option(
    "--anchors",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The anchor file. Default: beside the store.",
)
@for_one_project
def serve(call: Call, session_id: str | None, anchors: Path | None) -> int | None:
    """Serve the store to one agent, over MCP on stdin and stdout.

    Stdout belongs to the protocol: with --json an error that keeps the server from starting is one JSON line on stderr.
    """
    if session_id is not None and not session_id.strip():
        raise click.UsageError("--session-id is blank: name the session or leave the option out.")
    from core.room import Place
    from core.server.app import serve_stdio

    return serve_stdio(Place(call.path, "stdio", session_id=session_id, anchors=anchors), call.project)
