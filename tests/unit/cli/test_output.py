"""Tables and JSON out of foreign text (faults.md T38, T39, T41)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from console.commands.common import seconds_of
from console.commands.output import Column, as_json, plain, table
from console.text import cells

COLUMNS = (Column("n", right=True), Column("name", flexible=True), Column("text", flexible=True), Column("end"))
ROWS = [(1, "名前" * 10, "a [red]long[/] text " * 20, "x"), (20, "e\u0301\x1b[0m", "line\nbreak", None)]


def test_columns_hold_whatever_the_cells_are() -> None:
    lines = table(COLUMNS, ROWS)
    places = {cells(line[: line.rindex(end)]) for line, end in zip(lines, ("END", "x", "–"), strict=True)}
    assert len(places) == 1
    assert all("\x1b" not in line and "\n" not in line for line in lines)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert all(cells(line) <= width for line in table(COLUMNS, ROWS, width))


def test_what_is_not_known_is_never_0() -> None:
    assert table((Column("a"), Column("b")), [(None, 0)])[1].split() == ["–", "0"]


def test_json_is_ascii_on_one_line_and_keeps_the_data() -> None:
    @dataclass(frozen=True, slots=True)
    class Thing:
        at: datetime
        text: str
        rate: float

    text = "é \u202e \x7f \x1b \ud800 \n"
    line = as_json({"thing": Thing(datetime(2026, 1, 2, tzinfo=UTC), text, float("nan"))})
    assert line.isascii() and line.isprintable()
    assert json.loads(line) == {"thing": {"at": "2026-01-02T00:00:00.000000Z", "text": text, "rate": None}}
    assert plain(b"\x01") == "01"


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("60s", 60), ("1.5m", 90), ("2h", 7_200), ("3d", 259_200), ("soon", None), ("-1", None)]
)
def test_durations_are_read(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds
