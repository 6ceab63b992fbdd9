"""Anchors see what a chain cannot: an end that was cut off, an old copy put back, a chain forged anew (room.md 5)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from core.store.library import sqlite3
from core.trail.anchors import AnchorFile, anchor_path, set_aside
from core.trail.verify import verify_store
from tests.fakes import FakeClock
from tests.rooms import Rooms
from tests.unit.memory.test_wraps import record


@pytest.fixture
def anchored(rooms: Rooms) -> Path:
    """A store with some deeds, closed, so that its head is anchored."""
    agent = rooms.agent()
    for number in range(5):
        record(agent, f"episode number {number}")
    rooms.close()
    return rooms.path


def test_a_closed_store_is_anchored_up_to_its_last_row(anchored: Path) -> None:
    found = verify_store(anchored)
    assert found.ok and found.anchors is not None
    assert found.anchors.newest_seq == found.last_seq and "anchored" in found.words


def test_without_a_file_the_tail_is_not_anchored_and_that_alone_breaks_nothing(anchored: Path) -> None:
    anchor_path(anchored).unlink()
    found = verify_store(anchored)
    assert found.ok and "the tail is not anchored" in found.words


def test_an_end_that_was_cut_off_is_missing(anchored: Path) -> None:
    with sqlite3.connect(anchored) as database:
        database.execute("drop trigger audit_goes_only_when_sealed")
        database.execute("delete from audit where seq > 4")
    database.close()
    found = verify_store(anchored)
    assert not found.breaks and found.broken
    assert "cut off" in found.words


def test_an_old_copy_put_back_is_told(rooms: Rooms, tmp_path: Path) -> None:
    agent = rooms.agent()
    record(agent)
    rooms.close()
    shutil.copy(rooms.path, tmp_path / "copy")
    later = Rooms(rooms.path)
    record(later.agent(), "after the copy was made")
    later.close()
    shutil.copy(tmp_path / "copy", rooms.path)
    assert "old copy" in verify_store(rooms.path).words


def test_a_line_that_cannot_be_read_and_another_hash_are_told_apart(anchored: Path) -> None:
    path = anchor_path(anchored)
    line = json.loads(path.read_text().splitlines()[-1])
    path.write_text(json.dumps({**line, "hash": "f" * 64}) + "\nrubbish\n" + json.dumps({**line, "store": "another"}) + "\n")
    found = verify_store(anchored).anchors
    assert found is not None and found.foreign == 1
    assert any("altered" in problem for problem in found.problems) and any("line 2" in problem for problem in found.problems)


def test_an_accepted_restore_starts_the_anchors_again_as_a_deed(rooms: Rooms, anchored: Path) -> None:
    anchor_path(anchored).write_text('{"store":"x"}\nrubbish\n')
    assert verify_store(anchored).broken
    again = Rooms(anchored)
    operator = again.operator()
    operator.do("accept_anchors", reason="restored from the backup of Monday")
    assert set_aside(anchor_path(anchored), again.clock.now()) is not None
    operator.close()
    found = verify_store(anchored)
    assert found.ok and "anchored" in found.words


def test_at_most_one_anchor_a_second_and_the_last_at_close(tmp_path: Path) -> None:
    clock = FakeClock()
    path = tmp_path / "anchors"
    file = AnchorFile(path, "store", clock)
    for seq in range(1, 50):
        file.note(seq, "h", "t")
    assert len(path.read_text().splitlines()) == 1
    file.close()
    assert [json.loads(line)["seq"] for line in path.read_text().splitlines()] == [1, 49]
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_anchor_that_cannot_be_written_fails_no_deed(tmp_path: Path) -> None:
    file = AnchorFile(tmp_path / "no folder" / "anchors", "store", FakeClock())
    file.note(1, "h", "t")
    assert file.failed is not None
    file.close()
