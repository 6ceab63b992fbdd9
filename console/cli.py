"""The `watchroom` command (console.md). It imports what a command needs only when it runs; it alone starts core.server."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from console.commands.common import (
    EXIT_CODES,
    INTERRUPTED,
    REFUSED,
    USAGE,
    Command,
    call_of,
    command_name,
    json_option,
    on_terminal,
    refusal_shape,
    run,
    store_option,
)
from console.commands.output import as_json

COMMANDS = {
    "status": "console.commands.status:status",
    "wraps": "console.commands.wraps:wraps",
    "cancel": "console.commands.cancel:cancel",
    "ask-release": "console.commands.cancel:ask_release",
    "sessions": "console.commands.sessions:sessions",
    "relay": "console.commands.handover:relay",
    "end": "console.commands.handover:end",
    "abandon": "console.commands.handover:abandon",
    "bind": "console.commands.handover:bind",
    "slots": "console.commands.slots:slots",
    "open-slot": "console.commands.slots:open_slot",
    "close-slot": "console.commands.slots:close_slot",
    "projects": "console.commands.projects:projects",
    "focus": "console.commands.projects:focus",
    "sweep": "console.commands.sweep:sweep",
    "continuity": "console.commands.continuity:continuity",
    "schema": "console.commands.schema:schema",
    "episodes": "console.commands.episodes:episodes",
    "patterns": "console.commands.patterns:patterns",
    "knowledge": "console.commands.knowledge:knowledge",
    "salvage": "console.commands.salvage:salvage",
    "loops": "console.commands.loops:loops",
    "audit": "console.commands.audit:audit",
    "baton": "console.commands.baton:baton",
    "gate": "console.commands.gate:gate",
    "import": "console.commands.importing:import_",
    "export": "console.commands.exporting:export",
    "serve": "console.commands.serve:serve",
    "demo": "console.commands.demo:demo",
    "doctor": "console.commands.doctor:doctor",
}
"""Every command and where it is: a new one is a file and a line here."""

EPILOG = f"""{EXIT_CODES} `audit verify` and `doctor` exit 1 when anything is broken.

The one JSON shape, one line on stdout (`audit follow` prints one a batch); words go to stderr:

\b
done     {{"watchroom": 1, "command": "wraps", "store": "/path", "at": "2026-12-01T09:30:00.000000Z", "data": {{...}}}}
refused  {{"watchroom": 1, "command": "wraps", "error": {{"code": "store_missing", "sentence": "...", "facts": {{...}}}}}}

--store, --project and --json go after the command: `watchroom gate require --store FILE --project demo`.
"""


class Root(click.Group):
    """The root: finds a command when it is called, and turns every way to end into an exit code."""

    command_class = Command

    def list_commands(self, context: click.Context) -> list[str]:
        """The commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command, imported now."""
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        found: click.Command = getattr(importlib.import_module(module), attribute)
        return found

    def main(self, args: Sequence[str] | None = None, *rest: Any, **more: Any) -> NoReturn:
        """Run, and exit: 2 for wrong usage, 130 for an interrupt, and no traceback when the reader of a pipe has left."""
        arguments = list(sys.argv[1:] if args is None else args)
        survive_any_encoding()
        more["standalone_mode"] = False
        try:
            code = super().main(arguments, *rest, **more)
            sys.stdout.flush()
        except click.UsageError as error:
            explain_usage(error, "--json" in arguments)
            code = USAGE
        except click.ClickException as error:
            error.show()
            code = REFUSED
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted: nothing more was done.", err=True)
            code = INTERRUPTED
        except OSError as error:
            if error.errno != errno.EPIPE:
                raise
            # what Python flushes at its end must not meet the closed pipe again
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = REFUSED
        sys.exit(code if isinstance(code, int) else 0)


def survive_any_encoding() -> None:
    """Make a stream that cannot show a character print its escape, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def explain_usage(error: click.UsageError, json: bool) -> None:
    """Say what is wrong with the call: on stderr, and with --json in the error's shape on stdout."""
    if json:
        name = command_name(error.ctx) if error.ctx else "status"
        click.echo(as_json(refusal_shape(name, "usage", error.format_message(), {})), err=name == "serve")
    error.show()


def print_version(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    """Print the version and end."""
    if asked and not context.resilient_parsing:
        import importlib.metadata

        try:
            version = importlib.metadata.version("watchroom")
        except importlib.metadata.PackageNotFoundError:
            version = "0 (not installed)"
        click.echo(f"watchroom {version}")
        context.exit()


@click.group(
    cls=Root,
    name="watchroom",
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
)
@store_option
@click.option("--project", metavar="KEY", help="Show only this project.")
@click.option("--read-only", is_flag=True, help="Only look: the console has no dangerous action and writes nothing.")
@click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal.")
@click.option("--theme", metavar="NAME", help="The console's theme.")
@json_option
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=print_version, help="Show the version and exit."
)
@click.pass_context
def main(
    context: click.Context,
    store: str | None,
    project: str | None,
    read_only: bool,
    no_mouse: bool,
    theme: str | None,
    json: bool,
) -> None:
    """One shared memory store for fleets of agents, and an operator who sees all of it.

    Alone it opens the console; without a terminal, or with --json, it prints what `watchroom status` prints.
    """
    if context.invoked_subcommand is not None:
        return
    call = call_of(context, store, project, json)
    if json or not on_terminal():
        from console.commands.status import show

        run(context, call, lambda: show(call))
    from console.app import run_console

    run(
        context,
        call,
        lambda: run_console(call.path, project=call.given_project, read_only=read_only, mouse=not no_mouse, theme=theme),
    )


if __name__ == "__main__":
    main()
