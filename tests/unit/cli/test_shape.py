"""Help, exit codes and the one JSON shape of every command (console.md, Feel; faults.md T47)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import types
from typing import Any

import click
import pytest

from console.cli import COMMANDS, main
from core.clock import parse_stamp
from core.room import Room
from tests.unit.cli.conftest import ROOT, Cli, process


def every_command(group: click.Group = main, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command as it is called, those of groups too."""
    found: list[tuple[str, ...]] = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        found += every_command(command, (*before, name)) if isinstance(command, click.Group) else [(*before, name)]
    return found


ALL = every_command()
ANSWERING = [
    *(("status",), ("wraps",), ("wraps", "1"), ("wraps", "--ended"), ("audit", "list"), ("audit", "verify"), ("audit", "anchor")),
    *(("baton", "claim", "bob"), ("baton", "release", "bob"), ("baton", "status"), ("gate", "require"), ("gate", "open")),
    *(("gate", "peer-cancel", "dead"), ("gate", "status"), ("doctor",), ("ask-release", "1"), ("audit", "follow", "--for", "0")),
    *(("schema", "show"), ("continuity", "show", "--history"), ("salvage", "list"), ("salvage", "list", "--all")),
    *(
        ("episodes", "list"),
        ("episodes", "search", "build"),
        ("patterns", "list"),
        ("knowledge", "list"),
        ("knowledge", "search", "x"),
    ),
    *(("sessions",), ("sessions", "--ended"), ("slots",), ("slots", "--closed"), ("projects",), ("focus",), ("sweep",)),
    *(("cancel", "1", "--reason", "why", "--typed", "TOKEN"), ("audit", "anchor", "--accept", "restored")),
]


@pytest.mark.parametrize("command", [(), *ALL], ids=" ".join)
def test_every_command_has_help_with_the_exit_codes(cli: Cli, command: tuple[str, ...]) -> None:
    result = cli.bare(*command, "--help")
    assert result.exit_code == 0
    assert "Exit codes: 0 done, 1 refused or broken, 2 wrong usage" in result.output


def test_the_help_of_the_root_names_every_command_and_the_json_shape(cli: Cli) -> None:
    output = cli.bare("--help").output
    for name in COMMANDS:
        assert re.search(rf"^  {name}\s+\S", output, re.MULTILINE), name
    assert '"data": {...}}' in output and '"error": {' in output


@pytest.mark.parametrize("command", [one for one in ALL if one != ("demo",)], ids=" ".join)
def test_every_command_takes_store_project_and_json_after_it(command: tuple[str, ...]) -> None:
    found: Any = main
    for name in command:
        found = found.get_command(click.Context(found), name)
    options = {option for parameter in found.params for option in parameter.opts}
    assert {"--store", "--project", "--json"} <= options


@pytest.mark.parametrize("command", ANSWERING, ids=" ".join)
def test_json_is_the_one_shape(cli: Cli, agent: Room, command: tuple[str, ...]) -> None:
    start = cli.data("wraps")["wraps"][0]["token_start"][:6]
    answer = cli.json(*[start if one == "TOKEN" else one for one in command], "--project", "demo")
    assert list(answer) == ["watchroom", "command", "store", "at", "data"]
    assert answer["watchroom"] == 1
    assert answer["command"] == " ".join(command[:2] if command[:2] in ALL else command[:1])
    assert answer["store"] == str(cli.rooms.path)
    assert parse_stamp(answer["at"]) == cli.rooms.clock.now()
    assert isinstance(answer["data"], dict)


@pytest.mark.parametrize(
    "wrong",
    [
        ("nope",),
        ("wraps", "x"),
        ("wraps", "--nope"),
        ("wraps", "1", "--ended"),
        ("wraps", "--salvage", "1"),
        ("cancel", "1"),
        ("sessions", "x", "--ended"),
        ("slots", "x", "--closed"),
        ("slots", "--revision", "1"),
        ("relay", "x"),
        ("abandon", "x"),
        ("open-slot", "--title", "t"),
        ("close-slot", "x"),
        ("focus", "--write", "x"),
        ("sweep", "--days", "0"),
        ("ask-release",),
        ("audit",),
        ("audit", "nope"),
        ("audit", "list", "--outcome", "maybe"),
        ("audit", "list", "--since", "yesterday-ish"),
        ("audit", "follow", "--for", "soon"),
        ("audit", "list", "--limit", "0"),
        ("baton", "claim"),
        ("gate", "peer-cancel", "everybody"),
        ("serve", "--session-id", " "),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_2(cli: Cli, agent: Room, wrong: tuple[str, ...]) -> None:
    result = cli.bare(*wrong)
    assert result.exit_code == 2
    assert result.stdout == "" and "Usage:" in result.stderr


def test_wrong_usage_with_json_has_the_error_shape(cli: Cli) -> None:
    result = cli.bare("audit", "list", "--nope", "--json")
    assert result.exit_code == 2
    answer = json.loads(result.stdout)
    assert answer == {"watchroom": 1, "command": "audit list", "error": answer["error"]}
    assert answer["error"]["code"] == "usage" and "--nope" in answer["error"]["sentence"]


def test_a_refusal_has_the_error_shape_and_says_it_in_words_without_json(cli: Cli, agent: Room) -> None:
    answer = cli.json("gate", "require", "--project", "Not A Key", code=1)
    assert list(answer) == ["watchroom", "command", "error"]
    assert list(answer["error"]) == ["code", "sentence", "facts"]
    assert answer["error"]["code"] == "invalid_input"
    result = cli("gate", "require", "--project", "Not A Key")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "invalid_input: " in result.stderr and "not-a-key" in result.stderr


def test_options_before_the_command_are_its_defaults(cli: Cli, agent: Room) -> None:
    result = cli.bare("--store", str(cli.rooms.path), "--json", "--project", "demo", "wraps")
    assert len(json.loads(result.stdout)["data"]["wraps"]) == 1
    assert cli.bare("--store", "/nowhere/at/all", "wraps", "--store", str(cli.rooms.path)).exit_code == 0


def test_the_environment_names_store_and_project(cli: Cli, agent: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHROOM_STORE", str(cli.rooms.path))
    monkeypatch.setenv("WATCHROOM_PROJECT", "other")
    assert json.loads(cli.bare("gate", "require", "--json").stdout)["data"]["project_key"] == "other"
    assert len(json.loads(cli.bare("wraps", "--json").stdout)["data"]["wraps"]) == 1, "a list shows every project all the same"


def test_an_interrupt_exits_130_without_a_traceback(cli: Cli, agent: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_call: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("console.commands.status.show", interrupted)
    result = cli("status")
    assert result.exit_code == 130
    assert "Traceback" not in result.output


def test_version_is_printed(cli: Cli) -> None:
    result = cli.bare("--version")
    assert result.exit_code == 0 and result.stdout.startswith("watchroom ")


def test_alone_in_a_terminal_it_opens_the_console(cli: Cli, agent: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    def run_console(path: Any, **options: Any) -> int:
        opened.append((path, options))
        return 0

    fake = types.ModuleType("console.app")
    fake.run_console = run_console  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "console.app", fake)
    monkeypatch.setattr("console.cli.on_terminal", lambda: True)
    assert cli("--read-only", "--no-mouse", "--theme", "nord", "--project", "demo").exit_code == 0
    assert opened == [(cli.rooms.path, {"project": "demo", "read_only": True, "mouse": False, "theme": "nord"})]


def test_alone_without_a_terminal_it_prints_the_status(cli: Cli, agent: Room) -> None:
    alone, status = cli(), cli("status")
    assert alone.exit_code == 0
    assert alone.stdout == status.stdout
    assert cli.json()["command"] == "status"


def children_seconds() -> float:
    """Seconds of processor time that the processes started from here have taken so far."""
    found = os.times()
    return found.children_user + found.children_system


@pytest.mark.parametrize("arguments", [(), ("status",), ("--help",), ("wraps", "--json"), ("audit", "list")], ids=" ".join)
def test_without_a_terminal_there_is_text_within_a_second(agent: Room, rooms: Any, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "console.cli", *arguments, "--store", str(rooms.path)]
    seconds = []
    for _ in range(3):  # its own work, for other work on the machine is not ours; the best of three
        before = children_seconds()
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
        seconds.append(children_seconds() - before)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout and "\x1b" not in done.stdout
    assert min(seconds) < 1.0


def test_a_reader_that_leaves_the_pipe_causes_no_traceback(agent: Room, rooms: Any) -> None:
    for number in range(60):  # more than a pipe holds
        agent.do(
            "record", project_key="demo", content=f"{number} " + "x" * 3_000, episode_type="observation", metadata={"n": number}
        )
    with process("audit", "export", "--store", str(rooms.path)) as one:
        assert one.stdout is not None and one.stderr is not None
        one.stdout.close()
        words = one.stderr.read()
        one.wait(20)
    assert "Traceback" not in words and "Exception ignored" not in words


def test_looking_imports_neither_protocol_nor_screen_nor_schema_tools(agent: Room, rooms: Any) -> None:
    code = (
        "import sys\nfrom console.cli import main\n"
        f"try: main(['wraps', '--store', {str(rooms.path)!r}])\nexcept SystemExit: pass\n"
        "print([name for name in ('sqlite_utils', 'pydantic', 'mcp', 'textual', 'core.room') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("wraps", "99999999999999999999"),
        ("cancel", "99999999999999999999", "--reason", "r"),
        ("ask-release", "99999999999999999999"),
        ("audit", "list", "--actor", "\udcff"),
        ("audit", "list", "--project", "\udcff"),
    ],
)
def test_what_cannot_be_a_number_or_a_text_is_wrong_usage(cli: Cli, agent: Room, arguments: tuple[str, ...]) -> None:
    assert cli(*arguments).exit_code == 2


def test_a_store_path_that_is_no_text_is_wrong_usage(cli: Cli) -> None:
    assert cli.bare("doctor", "--store", "/nowhere/\udcff.db").exit_code == 2
