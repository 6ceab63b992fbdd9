"""What every command shares: its options, its way to the store, its answers and its exit codes (console.md, Feel; faults.md T47, T55)."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from console.commands.output import JSON_VERSION, as_json, say, tell
from core.errors import Refusal, StoreError, StoreLocked, StoreMissing, StoreNewer

if TYPE_CHECKING:
    from datetime import datetime

    from core.clock import Clock
    from core.room import Room
    from core.views.look import Looker

if TYPE_CHECKING:  # generic for the checker only: not every click that will do can be subscripted
    FloatType = click.ParamType[float]
    TextType = click.ParamType[str]
else:
    FloatType = TextType = click.ParamType

DONE, REFUSED, USAGE, INTERRUPTED = 0, 1, 2, 130
EXIT_CODES = "Exit codes: 0 done, 1 refused or broken, 2 wrong usage, 130 interrupted."
STORE_VARIABLE, PROJECT_VARIABLE = "WATCHROOM_STORE", "WATCHROOM_PROJECT"
PATIENCE_VARIABLE = "WATCHROOM_PATIENCE"
"""Seconds that a command waits for the writer instead of 10; for scripts in a hurry, and tests."""
STORE_ERRORS: tuple[tuple[type[StoreError], str], ...] = (
    (StoreMissing, "store_missing"),
    (StoreNewer, "store_newer"),
    (StoreLocked, "store_locked"),
    (StoreError, "store_unusable"),
)


class CommandRefusal(Exception):
    """An expected "no" of the command line itself, such as a file that would be overwritten."""

    def __init__(self, code: str, sentence: str, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.facts = dict(facts or {})


class Command(click.Command):
    """A command whose help ends with the exit codes."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit codes, and the epilog where there is one."""
        super().format_epilog(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(EXIT_CODES)


class CommandGroup(click.Group):
    """A family of commands whose help ends with the exit codes."""

    command_class = Command

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit codes, and the epilog where there is one."""
        super().format_epilog(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(EXIT_CODES)


class DefaultedGroup(CommandGroup):
    """A family whose `default` command runs when none is named: `watchroom continuity --revision 3`."""

    def __init__(self, *arguments: Any, default: str, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default's name where no command's name stands."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a command: which, on what store, for which project, and how it is to answer.

    `given_project` is what the caller named, or None; a command that lists shows every project then.
    """

    command: str
    path: Path
    given_project: str | None
    json: bool
    clock: Clock

    @property
    def project(self) -> str:
        """The one project a command acts in: as given, else $WATCHROOM_PROJECT, else `default` (room.md 2.1)."""
        return self.given_project or os.environ.get(PROJECT_VARIABLE) or "default"

    @property
    def given_key(self) -> str | None:
        """The project that the caller named, as it is looked up; None for all of them."""
        if not self.given_project:
            return None
        from core.projects import normal_key

        return normal_key(self.given_project)

    # ways to the store

    @contextlib.contextmanager
    def look(self) -> Iterator[Looker]:
        """Look at the store: no connection is registered and nothing is written (room.md 2.12)."""
        from core.views.look import Looker

        with Looker(self.path, self.clock) as looker:
            yield looker

    def require_store(self) -> None:
        """Raises StoreMissing when there is no store, for a command that acts on what is there already."""
        from core.store.database import explained

        with explained(self.path):
            there = self.path.exists()
        if not there:
            raise StoreMissing(f"There is no store at {self.path}.")

    @contextlib.contextmanager
    def room(self) -> Iterator[Room]:
        """Enter the room to do something; its first deed registers the connection."""
        from core.room import Place, Room

        with Room(Place(self.path, "cli"), clock=self.clock, patience=patience()) as room:
            yield room

    # answers

    def answer(self, data: Any, lines: Callable[[], list[str]]) -> None:
        """Give the result: as the one JSON shape, or as the lines for people."""
        if self.json:
            say(as_json(self.envelope(data)))
        else:
            say(lines())

    def envelope(self, data: Any) -> dict[str, Any]:
        """The JSON shape of a result."""
        from core.clock import stamp

        return {
            "watchroom": JSON_VERSION,
            "command": self.command,
            "store": str(self.path),
            "at": stamp(self.clock.now()),
            "data": data,
        }

    def refuse(self, code: str, sentence: str, facts: Mapping[str, Any]) -> None:
        """Say an expected "no": words on stderr, and with --json the error's shape on stdout."""
        if self.json:
            # a server's stdout belongs to the protocol (faults.md T28)
            click.echo(as_json(refusal_shape(self.command, code, sentence, facts)), err=self.command == "serve")
        else:
            tell(f"{code}: {sentence}")


def refusal_shape(command: str, code: str, sentence: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON shape of a refusal."""
    return {
        "watchroom": JSON_VERSION,
        "command": command,
        "error": {"code": code, "sentence": sentence, "facts": dict(facts)},
    }


def patience() -> float:
    """How many seconds a deed waits for the writer: 10 (room.md 2.19), unless $WATCHROOM_PATIENCE says otherwise."""
    try:
        return max(0.0, float(os.environ.get(PATIENCE_VARIABLE, "")))
    except ValueError:
        return 10.0


def store_path(context: click.Context, given: str | None) -> Path:
    """The store: --store after the subcommand, else before it, else $WATCHROOM_STORE, else the platform's data folder."""
    named = given or context.find_root().params.get("store") or os.environ.get(STORE_VARIABLE)
    if named:
        return Path(os.path.abspath(Path(named).expanduser()))  # noqa: PTH100 - links stay as the operator named them
    from core.places import default_store_path

    return default_store_path()


def command_name(context: click.Context) -> str:
    """The command as it was called, without the program's name: `audit verify`."""
    names = []
    at: click.Context | None = context
    while at is not None and at.parent is not None:
        names.append(at.info_name or "")
        at = at.parent
    return " ".join(reversed(names)) or "status"


def call_of(context: click.Context, store: str | None, project: str | None, json: bool) -> Call:
    """The call, from the options after the subcommand and those before it."""
    from core.clock import SystemClock

    before = context.find_root().params
    return Call(
        command_name(context),
        store_path(context, store),
        project or before.get("project") or None,
        json or bool(before.get("json")),
        SystemClock(),
    )


def run(context: click.Context, call: Call, work: Callable[[], int | None]) -> None:
    """Do a command's work and end with its exit code; expected errors become one answer, never a traceback."""
    try:
        code = work()
    except Refusal as refusal:
        call.refuse(refusal.code, refusal.sentence, refusal.facts)
        code = REFUSED
    except CommandRefusal as refusal:
        call.refuse(refusal.code, refusal.sentence, refusal.facts)
        code = REFUSED
    except StoreError as error:
        call.refuse(next(code for kind, code in STORE_ERRORS if isinstance(error, kind)), str(error), {"store": str(call.path)})
        code = REFUSED
    context.exit(code or DONE)


store_option = click.option(
    "--store", metavar="FILE", help=f"The store. Default: ${STORE_VARIABLE}, else the platform's data folder."
)
json_option = click.option("--json", is_flag=True, help="Answer in the one JSON shape that `watchroom --help` describes.")


def refuse_half_characters(arguments: Mapping[str, Any]) -> None:
    """Raises a usage error for an argument whose bytes were no text: no store holds it, and no answer could name it."""
    for name, value in arguments.items():
        try:
            str(value).encode()
        except UnicodeEncodeError:
            option = name if name.startswith("-") else f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is not valid UTF-8.") from None


def options(project: str) -> Callable[[Callable[..., int | None]], Callable[..., None]]:
    """Give a command --store, --project and --json, and its function the `Call` they make. `project` is the help of --project."""

    def decorate(function: Callable[..., int | None]) -> Callable[..., None]:
        def wrapper(context: click.Context, /, store: str | None, project: str | None, json: bool, **arguments: Any) -> None:
            refuse_half_characters({"--store": store, "--project": project, **arguments})
            call = call_of(context, store, project, json)
            run(context, call, lambda: function(call, **arguments))

        functools.update_wrapper(wrapper, function)
        with_project = click.option("--project", metavar="KEY", help=project)
        return json_option(with_project(store_option(click.pass_context(wrapper))))

    return decorate


for_listing = options("Only this project. Default: all of them.")
for_one_project = options(f"The project. Default: ${PROJECT_VARIABLE}, else `default`.")
for_whole_store = options("Accepted everywhere; here it changes nothing, for this is about the whole store.")


def on_terminal() -> bool:
    """Whether a person can be asked: both ends are a terminal (faults.md T47)."""
    return sys.stdin.isatty() and sys.stdout.isatty()


# values that options take

UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)")


def seconds_of(text: str) -> float | None:
    """A duration in seconds: `90`, `90s`, `15m`, `2h`, `3d`; None for anything else."""
    found = DURATION.fullmatch(text.strip())
    return float(found[1]) * UNITS[found[2] or "s"] if found else None


class Duration(FloatType):
    """A length of time, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds that a text such as `60s` or `2h` names."""
        seconds = value if isinstance(value, float) else seconds_of(str(value))
        if seconds is None:
            self.fail(f"{value!r} is no length of time: write 90, 90s, 15m, 2h or 3d.", param, ctx)
        return seconds


class Moment(TextType):
    """A point in time, as the store writes it."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The stored text for a time: ISO 8601 (without a zone it is UTC), or how long ago: `15m`, `2h`, `3d`."""
        from datetime import timedelta

        from core.clock import SystemClock, parse_stamp, stamp

        seconds = seconds_of(str(value)) if str(value)[-1:] in UNITS else None
        try:
            moment: datetime | None = parse_stamp(value) if seconds is None else SystemClock().now() - timedelta(seconds=seconds)
        except OverflowError:
            moment = None
        if moment is None:
            self.fail(f"{value!r} is no time: write 2026-12-01T09:30Z, 2026-12-01, or 2h for two hours ago.", param, ctx)
        return stamp(moment)
