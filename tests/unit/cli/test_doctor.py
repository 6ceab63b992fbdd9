"""`watchroom doctor` (libraries.md E.1; faults.md S3, T25, T35)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from core.room import Room
from core.upkeep.doctor import Examination, examine
from tests.rooms import Rooms
from tests.unit.cli.conftest import Cli, damage


def findings(cli: Cli, *arguments: str, code: int = 0) -> dict[str, Any]:
    """What doctor found, by name."""
    return {one["name"]: one for one in cli.data("doctor", *arguments, code=code)["findings"]}


def test_a_healthy_store_has_nothing_broken(cli: Cli, agent: Room) -> None:
    found = findings(cli, "--thorough")
    assert {one["state"] for one in found.values() if one["name"] not in ("disk", "folder")} == {"ok"}
    for name in (
        "store",
        "mode",
        "file system",
        "sqlite",
        "layout",
        "journal",
        "log",
        "clock",
        "connections",
        "trail",
        "anchors",
        "pages",
    ):
        assert name in found
    assert "SQLite 3." in found["sqlite"]["words"] and "checkpoint" in found["sqlite"]["words"]
    assert found["connections"]["words"] == "1 open: 1 LIVE"
    assert "rows checked" in found["trail"]["words"]


def test_pages_that_were_not_read_are_not_called_ok(cli: Cli, agent: Room) -> None:
    assert "pages" not in findings(cli)
    assert "were not read" in cli("doctor").stdout


def test_a_broken_trail_is_broken_and_says_what_to_do(cli: Cli, rooms: Rooms, agent: Room) -> None:
    damage(rooms, "drop trigger audit_never_changes")
    damage(rooms, "update audit set data = '{}' where seq = 2")
    found = findings(cli, code=1)
    assert found["trail"]["state"] == "broken" and "row 2" in found["trail"]["words"]
    result = cli("doctor")
    assert result.exit_code == 1
    assert "→" in result.stdout and "Something is broken." in result.stdout


def test_a_missing_store_is_broken_and_not_made(cli: Cli, tmp_path: Path) -> None:
    found = findings(cli, code=1)
    assert found["store"]["state"] == "broken" and "no store" in found["store"]["words"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["text", "folder", "newer"])
def test_what_is_no_store_is_broken(cli: Cli, rooms: Rooms, kind: str) -> None:
    if kind == "folder":
        rooms.path.mkdir()
    elif kind == "text":
        rooms.path.write_text("notes " * 1_000)
    else:
        rooms.agent()
        damage(rooms, "pragma user_version = 99")
    assert findings(cli, code=1)["opening"]["state"] == "broken"


@pytest.mark.skipif(sys.platform == "win32", reason="file modes")
def test_a_file_that_others_may_read_is_a_warning(cli: Cli, rooms: Rooms, agent: Room) -> None:
    rooms.path.chmod(0o644)
    found = findings(cli)
    assert found["mode"]["state"] == "warning" and "0644" in found["mode"]["words"] and "chmod 600" in found["mode"]["advice"]


def test_a_clock_that_is_behind_the_trail_is_a_warning(cli: Cli, rooms: Rooms, agent: Room) -> None:
    rooms.clock.advance(-3_600)
    found = findings(cli)
    assert found["clock"]["state"] == "warning" and "in the future" in found["clock"]["words"]


def test_a_cut_trail_is_seen_by_its_anchors(cli: Cli, rooms: Rooms, agent: Room) -> None:
    rooms.clock.advance(2)
    agent.do("record", project_key="demo", content="x", episode_type="observation")
    damage(rooms, "drop trigger audit_goes_only_when_sealed")
    damage(rooms, "delete from audit where seq > 3")
    assert findings(cli, code=1)["anchors"]["state"] == "broken"


def test_no_anchors_and_no_beats_are_warnings(cli: Cli, rooms: Rooms, agent: Room, tmp_path: Path) -> None:
    rooms.path.with_name("store.db-beats").unlink()
    found = findings(cli, "--anchors", str(tmp_path / "none"))
    assert found["anchors"]["state"] == found["beats"]["state"] == "warning"


def test_dead_connections_are_counted(cli: Cli, rooms: Rooms, agent: Room) -> None:
    rooms.agent()
    rooms.kill(agent)
    rooms.clock.advance(20)
    assert "1 DEAD" in findings(cli)["connections"]["words"]


def test_a_refused_file_system_is_broken(rooms: Rooms, agent: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.store.filesystems.file_system_type", lambda _: "nfs4")
    found = {one.name: one for one in examine(Examination(rooms.path, rooms.clock, rooms.processes))}
    assert found["file system"].state == "broken" and "nfs4" in found["file system"].words


def test_it_opens_no_file_of_the_store_by_itself(rooms: Rooms, agent: Room) -> None:
    opened: list[str] = []

    def noted(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event == "open" and str(arguments[0]).startswith(str(rooms.path)):
            opened.append(str(arguments[0]))

    watching = True
    sys.addaudithook(noted)
    try:
        examine(Examination(rooms.path, rooms.clock, rooms.processes, thorough=True))
    finally:
        watching = False
    assert opened == [f"{rooms.path}.anchors"], "only the anchor file, which SQLite has nothing to do with"
