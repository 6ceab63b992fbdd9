"""An export verifies without the store, and tells its own damage (room.md 5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.store.database import Reader
from core.trail.export import export
from core.trail.verify import verify_file
from tests.unit.trail.test_verify import damage, named, trail

__all__ = ["trail"]  # the fixture


def exported(path: Path, write: Callable[[str], object], first: int | None = None, last: int | None = None) -> int:
    reader = Reader(path)
    with reader.snapshot() as view:
        done = export(view, write, first=first, last=last)
    reader.close()
    return done


def test_an_export_verifies_without_the_store_and_tells_its_own_damage(trail: Path) -> None:
    lines: list[str] = []
    assert exported(trail, lines.append) == 300
    assert verify_file(lines).ok
    edited = [line.replace("quote", "quota") if '"seq":204,' in line else line for line in lines]
    assert named(verify_file(edited)) == [("altered", 204, 204)]
    assert named(verify_file([*lines[:9], *lines[12:]])) == [("missing", 10, 12)]
    assert "line 5" in verify_file([*lines[:4], "rubbish\n", *lines[5:]]).words


def lines_of(path: Path) -> list[str]:
    lines: list[str] = []
    exported(path, lines.append)
    return lines


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("update audit set data = cast(x'80ff41' as text) where seq = 204", [("unreadable", 204, 204)]),
        ("update audit set data = x'41' where seq = 204", [("unreadable", 204, 204)]),
        ("update audit set version = 1.5 where seq = 204", [("unreadable", 204, 204)]),
        ("update audit set seq = -5 where seq = 300", [("out of order", -5, -5)]),
        ("delete from audit where seq = 204", [("missing", 204, 204)]),
    ],
)
def test_an_export_carries_the_trails_damage_and_loses_no_row(
    trail: Path, statement: str, expected: list[tuple[str, int, int]]
) -> None:
    damage(trail, statement)
    lines = lines_of(trail)
    assert len(lines) == (299 if "delete" in statement else 300)
    assert named(verify_file(lines)) == expected


def test_the_last_number_that_there_is_is_exported_too(trail: Path) -> None:
    damage(trail, "update audit set seq = 9223372036854775807 where seq = 300")
    assert verify_file(lines_of(trail)).broken


def test_bytes_that_are_not_utf8_come_back_as_they_were(trail: Path) -> None:
    damage(
        trail, "update audit set subject = cast(x'80ff41' as text) where seq = 1", "update audit set data = x'00ff' where seq = 2"
    )
    first, second = lines_of(trail)[:2]
    assert first.isascii() and json.loads(first)["subject"].encode("utf-8", "surrogateescape") == b"\x80\xff\x41"
    assert json.loads(second)["data"] == {"blob": "00ff"}


def test_an_export_that_begins_later_says_so(trail: Path) -> None:
    lines: list[str] = []
    assert exported(trail, lines.append, 101, 200) == 100
    found = verify_file(lines)
    assert found.ok and (found.first_seq, found.last_seq) == (101, 200)
    assert "it starts at row 101: what came before is not checked" in found.words


@pytest.mark.parametrize("extra", ["\n", "rubbish\n", "null\n", "[" * 200_000, '{"seq":1e400}', '{"seq":true}'])
def test_a_line_that_is_no_row_is_named_by_its_number_and_nothing_else_is(trail: Path, extra: str) -> None:
    lines = lines_of(trail)
    for broken, rows in (([*lines[:4], extra, *lines[4:]], 300), ([*lines[:4], extra, *lines[5:]], 299)):
        found = verify_file(broken)
        assert [one.kind for one in found.breaks] == ["unreadable"] and "line 5 of the file" in found.words
        assert found.rows == rows


def test_lines_that_changed_places_are_out_of_order(trail: Path) -> None:
    lines = lines_of(trail)
    found = verify_file([*lines[:4], lines[5], lines[4], *lines[6:]])
    assert named(found) == [("missing", 5, 5), ("out of order", 5, 5)]


def test_export_and_the_check_of_a_file_tell_their_progress_and_can_be_cancelled(
    trail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("verify", "export"):
        monkeypatch.setattr(f"core.trail.{module}.PROGRESS_ROWS", 100)
    reader, seen, lines = Reader(trail), [], lines_of(trail)
    with reader.snapshot() as view:
        assert export(view, lambda _: None, progress=lambda done, total: seen.append((done, total))) == 300
        assert export(view, lambda _: None, cancelled=lambda: len(seen) > 0) == 0
    reader.close()
    assert seen == [(0, 300), (100, 300), (200, 300), (300, 300)]
    assert verify_file(lines, progress=lambda done, _: seen.append((done, 0))).ok and seen[-1][0] >= 200
    assert verify_file(lines, cancelled=lambda: True).cancelled
