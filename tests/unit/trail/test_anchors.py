"""Anchors see what a chain cannot: an end that was cut off, an old copy put back, a chain forged anew (room.md 5)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import StoreError
from core.store.database import Reader
from core.store.library import sqlite3
from core.trail.anchors import AnchorFile, anchor_path, set_aside
from core.trail.append import row_hash
from core.trail.verify import verify, verify_store
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
    later.ids = rooms.ids  # no id is given twice on one store
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
    again.ids = rooms.ids  # no id is given twice on one store
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


def test_rows_and_anchors_that_come_while_the_trail_is_checked_are_no_break(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    reader = Reader(rooms.path)
    with reader.snapshot() as view:
        before = view.one("select max(seq) from audit")[0]
        rooms.clock.advance(5)
        record(agent, "while another process checks")
        found = verify(view, anchors=anchor_path(rooms.path))
    reader.close()
    assert found.rows == before and found.anchors is not None and found.anchors.newest_seq > before
    assert found.ok and found.tail == "anchored", found.words


def test_a_chain_that_was_forged_anew_to_its_end_is_seen_by_the_anchors_alone(anchored: Path) -> None:
    columns = "version, seq, at, event, outcome, project_key, actor, connection_id, subject, data, prev_hash"
    database = sqlite3.connect(anchored)
    database.execute("drop trigger audit_never_changes")
    database.execute("update audit set actor = '{}' where seq = 2")
    previous = "0" * 64
    for row in database.execute(f"select {columns} from audit order by seq").fetchall():
        digest = row_hash(*[*row[:10], previous])
        database.execute("update audit set prev_hash = ?, hash = ? where seq = ?", (previous, digest, row[1]))
        previous = digest
    database.commit()
    database.close()
    found = verify_store(anchored)
    assert not found.breaks and not found.ok and found.tail == "anchor broken"
    assert "is altered: its hash is not the one anchored" in found.words
    anchor_path(anchored).unlink()
    assert verify_store(anchored).ok, "without anchors nothing can tell"


@pytest.mark.parametrize(
    "change",
    [{"seq": 10**30}, {"seq": True}, {"seq": 0}, {"seq": -1}, {"seq": "1"}, {"hash": None}, {"at": "\x1b[31m"}],
)
def test_a_line_that_no_process_writes_is_unreadable(anchored: Path, change: dict[str, Any]) -> None:
    path = anchor_path(anchored)
    path.write_text(json.dumps({**json.loads(path.read_text().splitlines()[-1]), **change}) + "\n")
    found = verify_store(anchored).anchors
    assert found is not None and found.problems == ("line 1 of the anchor file is unreadable",)


@pytest.mark.parametrize("line", [b"[" * 200_000, b"x" * 1_000_000, b"\xff\xfe", b"\0", b""])
def test_a_hostile_line_is_named_and_the_next_one_is_still_read(anchored: Path, line: bytes) -> None:
    path = anchor_path(anchored)
    path.write_bytes(line + b"\n" + path.read_bytes())
    found = verify_store(anchored).anchors
    assert found is not None and found.problems == ("line 1 of the anchor file is unreadable",) and found.lines > 0


def test_an_anchor_file_that_is_there_but_cannot_be_read_is_not_called_missing(anchored: Path) -> None:
    path = anchor_path(anchored)
    path.unlink()
    path.mkdir()
    assert "not a regular file" in verify_store(anchored).words and verify_store(anchored).broken


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_the_place_of_the_anchor_file_keeps_nobody_waiting(anchored: Path) -> None:
    path = anchor_path(anchored)
    path.unlink()
    os.mkfifo(path)
    assert "not a regular file" in verify_store(anchored).words
    file = AnchorFile(path, "store", FakeClock())
    file.note(1, "h", "t")
    assert file.failed is not None
    file.close()


def test_the_store_is_never_opened_as_its_own_anchor_file(anchored: Path) -> None:
    found = verify_store(anchored, anchors=anchored)
    assert found.broken and "is the store itself" in found.words


def test_the_check_of_a_long_anchor_file_can_be_cancelled(anchored: Path) -> None:
    path = anchor_path(anchored)
    path.write_text(path.read_text().splitlines(keepends=True)[-1] * 10_001)
    assert verify_store(anchored, cancelled=lambda: True).cancelled
    assert verify_store(anchored).ok


class HeldTimer:
    """A timer that goes off when the test says so."""

    made: list[HeldTimer]

    def __init__(self, interval: float, function: Callable[[], None]) -> None:
        self.interval, self.function, self.daemon = interval, function, False
        self.cancelled = False
        HeldTimer.made.append(self)

    def start(self) -> None:
        """Wait for the test."""

    def cancel(self) -> None:
        """Never go off."""
        self.cancelled = True


def test_a_head_that_was_held_back_is_written_within_a_second_without_another_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    HeldTimer.made = []
    monkeypatch.setattr("core.trail.anchors.threading.Timer", HeldTimer)
    path = tmp_path / "anchors"
    file = AnchorFile(path, "store", FakeClock())
    for seq in (1, 2, 3):
        file.note(seq, "h", "t")
    (timer,) = HeldTimer.made
    assert timer.interval <= 1 and timer.daemon
    timer.function()
    assert [json.loads(line)["seq"] for line in path.read_text().splitlines()] == [1, 3]
    file.note(4, "h", "t")
    file.close()
    assert HeldTimer.made[-1].cancelled


def test_a_line_that_a_full_disk_cut_short_swallows_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, whole = tmp_path / "anchors", os.write
    file = AnchorFile(path, "store", FakeClock())
    monkeypatch.setattr("core.trail.anchors.os.write", lambda descriptor, content: whole(descriptor, content[:10]))
    file.note(1, "h", "t")
    assert file.failed is not None
    monkeypatch.undo()
    file.note(2, "h", "t")
    assert file.failed is None
    assert json.loads(path.read_text().splitlines()[-1])["seq"] == 2
    file.close()


def test_an_anchor_file_that_cannot_be_set_aside_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "anchors"
    assert set_aside(path, FakeClock().now()) is None, "there was none"
    path.touch()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(StoreError, match="still counts"):
        set_aside(path, FakeClock().now())
