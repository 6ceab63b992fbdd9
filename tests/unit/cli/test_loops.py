"""`watchroom loops` (wraps.md b, the one-line tools)."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import Cli

HOSTILE = "[/x] [red] \x1b[2J \u202etxt.exe\u202c 名前 👩‍🚀"


def test_a_loop_from_planting_to_its_end(cli: Cli) -> None:
    result = cli("loops", "add", "Find out why", "--type", "question", "--next", "2099-01-01", "--project", "demo")
    assert result.exit_code == 0 and result.stdout.startswith("Planted spore-001.")
    assert "question" in cli("loops", "--project", "demo").stdout
    cli("loops", "update", "spore-001", "--note", "asked Ada", "--next", "", "--project", "demo")
    shown = cli("loops", "show", "spore-001", "--project", "demo").stdout
    assert "asked Ada" in shown and "2099" not in shown
    assert cli("loops", "touch", "spore-001", "--project", "demo").stdout.startswith("Nothing was to be changed")
    done = cli("loops", "ascend", "spore-001", "episode", "0badcafe", "--project", "demo")
    assert done.exit_code == 0 and "ascend as episode -> 0badcafe" in done.stdout
    assert "No open loop" in cli("loops", "--project", "demo").stdout
    refused = cli("loops", "descend", "spore-001", "answered", "--project", "demo")
    assert refused.exit_code == 1 and "was resolved on" in refused.output


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("show", "spore-9"), 1),
        (("add", "x", "--next", "2026-02-30"), 1),
        (("add", "x", "--tier", "tepid"), 2),
        (("add", "x", "--salience", "4"), 2),
        (("descend", "spore-001", "nothing"), 2),
        (("update", "spore-001"), 1),
    ],
)
def test_what_is_refused(cli: Cli, arguments: tuple[str, ...], code: int) -> None:
    cli("loops", "add", "first", "--project", "demo")
    assert cli("loops", *arguments, "--project", "demo").exit_code == code


def test_foreign_text_drives_no_terminal(cli: Cli) -> None:
    cli("loops", "add", HOSTILE, "--pointer", "\x1b]0;title\x07", "--project", "demo")
    shown = cli("loops", "show", "spore-001", "--project", "demo").stdout + cli("loops", "--project", "demo").stdout
    assert "\x1b" not in shown and "\u202e" not in shown and "[red]" in shown


def test_json_has_the_loops(cli: Cli) -> None:
    cli("loops", "add", "first", "--project", "demo")
    (loop,) = cli.data("loops", "list", "--project", "demo")["loops"]
    assert (loop["spore_id"], loop["germination"], loop["text"]) == ("spore-001", "growing", "first")
    assert cli.error("loops", "show", "spore-9", "--project", "demo")["code"] == "spore_not_found"
