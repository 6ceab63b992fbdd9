"""`watchroom audit`: list, follow, verify, export and anchor (console.md, screen 5; room.md 5; faults.md C6, C7, T34, T35)."""

from __future__ import annotations

import json
import signal
import stat
import sys
from pathlib import Path

import pytest

from core.room import Room
from tests.rooms import Rooms
from tests.unit.cli.conftest import Cli, damage, on_a_small_disk, process


def alter_row(rooms: Rooms, seq: int) -> None:
    """Change a row of the trail behind its triggers' back."""
    damage(rooms, "drop trigger audit_never_changes")
    damage(rooms, "update audit set data = '[1]' where seq = ?", seq)


def test_list_shows_the_newest_rows_last(cli: Cli, agent: Room) -> None:
    rows = cli.data("audit", "list", "--limit", "3")["rows"]
    assert [row["event"] for row in rows][-1] == "wrap_started"
    assert [row["seq"] for row in rows] == sorted(row["seq"] for row in rows)
    assert len(rows) == 3
    assert cli("audit", "list").stdout.splitlines()[-1].split()[2] == "wrap_started"


@pytest.mark.parametrize(
    ("filters", "events"),
    [
        (("--event", "wrap_started"), {"wrap_started"}),
        (("--text", "WRAP:1"), {"wrap_started"}),
        (("--actor", "nobody-at-all"), set()),
        (("--outcome", "refused"), set()),
        (("--project", "other"), set()),
        (("--until", "2020-01-01"), set()),
        (("--since", "1h", "--event", "record"), {"record"}),
        (("--since", "2026-11-30T13:00:00+01:00", "--until", "2026-11-30T12:00:00", "--event", "record"), {"record"}),
    ],
)
def test_list_filters(cli: Cli, agent: Room, filters: tuple[str, ...], events: set[str]) -> None:
    assert {row["event"] for row in cli.data("audit", "list", *filters)["rows"]} == events


def test_verify_says_how_many_rows_and_exits_1_on_any_break(cli: Cli, rooms: Rooms, agent: Room) -> None:
    data = cli.data("audit", "verify")
    assert data["state"] == "ok" and data["rows"] == cli.data("audit", "list")["last"]
    assert cli("audit", "verify").stdout.startswith(f"OK: {data['rows']} rows checked")
    alter_row(rooms, 3)
    result = cli("audit", "verify")
    assert result.exit_code == 1
    assert "✗ row 3 is altered" in result.stdout and "OK:" not in result.stdout
    data = cli.data("audit", "verify", code=1)
    assert data["state"] == "broken" and data["breaks"][0]["seq"] == 3


def test_verify_without_anchors_never_says_ok_without_that_word(cli: Cli, rooms: Rooms, agent: Room, tmp_path: Path) -> None:
    result = cli("audit", "verify", "--anchors", str(tmp_path / "none"))
    assert result.exit_code == 0 and "the tail is not anchored" in result.stdout


def test_no_rows_is_nothing_to_verify_and_never_ok(cli: Cli, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    result = cli("audit", "verify", "--file", str(empty))
    assert result.exit_code == 0
    assert "nothing to verify" in result.stdout and "OK:" not in result.stdout


def test_an_emptied_trail_is_broken_not_nothing(cli: Cli, rooms: Rooms, agent: Room) -> None:
    damage(rooms, "drop trigger audit_goes_only_when_sealed")
    damage(rooms, "delete from audit")
    assert cli("audit", "verify").exit_code == 1


def test_an_export_verifies_without_the_store_and_a_changed_one_does_not(cli: Cli, agent: Room, tmp_path: Path) -> None:
    agent.do(
        "record", project_key="demo", content="é \x1b \u202e \x7f 名", episode_type="observation", source="ä \x9b \u202e\x7f"
    )
    file = tmp_path / "trail.jsonl"
    receipt = cli.data("audit", "export", "-o", str(file))
    lines = file.read_text("ascii").splitlines()
    assert receipt == {"file": str(file), "rows": len(lines)}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert cli("audit", "export").stdout.splitlines() == lines
    assert all(character.isprintable() for line in lines for character in line)
    assert cli.bare("audit", "verify", "--file", str(file)).exit_code == 0
    assert cli.bare("audit", "verify", "--file", "-", answers=file.read_text()).exit_code == 0
    file.write_text(file.read_text().replace('"event":"record"', '"event":"recorb"', 1))
    result = cli.bare("audit", "verify", "--file", str(file))
    assert result.exit_code == 1 and "is altered" in result.stdout


def test_export_overwrites_nothing(cli: Cli, agent: Room, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text("mine")
    assert cli.error("audit", "export", "-o", str(file))["code"] == "file_exists"
    assert cli.error("audit", "export", "-o", str(cli.rooms.path))["code"] == "file_exists"
    assert cli.error("audit", "export", "-o", str(tmp_path / "no" / "where"))["code"] == "file_unwritable"
    assert file.read_text() == "mine"
    assert cli("audit", "export", "--json").exit_code == 2, "a receipt and the rows cannot share stdout"


def test_an_export_that_fails_leaves_no_file_and_says_why(agent: Room, tmp_path: Path) -> None:
    file = tmp_path / "out" / "trail.jsonl"
    file.parent.mkdir()
    arguments = ("audit", "export", "--json", "--store", str(agent.place.path), "-o", str(file))
    done = on_a_small_disk(*arguments, size=512)
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "file_unwritable" and error["sentence"].startswith(f"{file} could not be written: ")
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("name", ["none", "."])
def test_a_file_that_cannot_be_read_is_refused(cli: Cli, tmp_path: Path, name: str) -> None:
    result = cli.bare("audit", "verify", "--json", "--file", str(tmp_path / name))
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "file_unreadable"


def test_anchor_says_what_the_file_says_and_accepts_a_restore(cli: Cli, rooms: Rooms, agent: Room) -> None:
    assert cli.data("audit", "anchor")["state"] == "anchored"
    anchors = rooms.path.with_name("store.db.anchors")
    forged = json.loads(anchors.read_text().splitlines()[0]) | {"seq": 999}
    with anchors.open("a") as file:
        file.write(json.dumps(forged) + "\n")
    broken = cli("audit", "anchor")
    assert broken.exit_code == 1 and "row 999 is missing" in broken.stdout
    assert cli("audit", "verify").exit_code == 1
    assert cli.error("audit", "anchor", "--accept", " ")["code"] == "invalid_input"
    receipt = cli.data("audit", "anchor", "--accept", "restored the backup of Monday")
    assert Path(receipt["set_aside"]).exists()
    assert cli("audit", "verify").exit_code == 0
    assert cli.data("audit", "anchor")["state"] == "anchored"


def test_a_missing_anchor_file_is_said(cli: Cli, agent: Room, tmp_path: Path) -> None:
    result = cli("audit", "anchor", "--anchors", str(tmp_path / "none"))
    assert result.exit_code == 0 and "not anchored" in result.stdout
    data = cli.data("audit", "anchor", "--anchors", str(tmp_path / "none"))
    assert (data["state"], data["exists"]) == ("not anchored", False)


def test_follow_begins_with_the_newest_rows_and_ends_in_time(cli: Cli, agent: Room) -> None:
    result = cli("audit", "follow", "--for", "0s", "--limit", "2")
    assert result.exit_code == 0
    assert [line.split()[2] for line in result.stdout.splitlines()] == ["record", "wrap_started"]
    assert len(cli.data("audit", "follow", "--for", "0", "--event", "record")["rows"]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="ctrl-c of a process")
def test_follow_prints_rows_as_they_come_and_ctrl_c_ends_it_with_0(agent: Room, rooms: Rooms) -> None:
    # a run of the tests in a shell's background has it ignored, which a process would inherit
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        following = process("audit", "follow", "--json", "--limit", "1", "--for", "60s", "--store", str(rooms.path))
    finally:
        signal.signal(signal.SIGINT, before)
    with following as one:
        assert one.stdout is not None and one.stderr is not None
        assert json.loads(one.stdout.readline())["data"]["rows"][0]["event"] == "wrap_started"
        for content in ("one", "two"):
            agent.do("record", project_key="demo", content=content, episode_type="observation")
        seen: list[int] = []
        while len(seen) < 2:
            seen += [row["seq"] for row in json.loads(one.stdout.readline())["data"]["rows"]]
        one.send_signal(signal.SIGINT)
        assert one.wait(20) == 0
        assert one.stderr.read() == ""
    assert seen[1] == seen[0] + 1
