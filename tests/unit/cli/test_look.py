"""Looking without being there: `core.views.look` (room.md 2.12; faults.md S1, T19)."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import StoreMissing
from core.room import Room
from core.views.look import Looker
from core.views.snapshot import take
from tests.rooms import Rooms


def looker_on(rooms: Rooms) -> Looker:
    """A looker with the rooms' clock and processes."""
    return Looker(rooms.path, rooms.clock, rooms.processes)


def test_a_snapshot_gives_a_view_and_a_witness(rooms: Rooms, agent: Room) -> None:
    with looker_on(rooms) as looker, looker.snapshot() as (view, witness):
        assert take(view, witness).wraps[0].judgement.verdict == "LIVE"


def test_a_store_that_comes_later_is_seen_then(rooms: Rooms) -> None:
    with looker_on(rooms) as looker:
        with pytest.raises(StoreMissing), looker.snapshot():
            pass
        rooms.agent()
        with looker.snapshot() as (view, witness):
            assert take(view, witness).trail_last > 0


def test_versions_move_with_commits_and_with_beats_only_then(rooms: Rooms, agent: Room) -> None:
    with looker_on(rooms) as looker:
        first = looker.versions()
        assert looker.versions().store == first.store
        agent.do("record", project_key="demo", content="x", episode_type="observation")
        second = looker.versions()
        assert second.store != first.store
        agent.called()
        third = looker.versions()
        assert third.store == second.store and third.beats != second.beats


def test_a_replaced_store_is_opened_anew(rooms: Rooms, agent: Room, tmp_path: Path) -> None:
    with looker_on(rooms) as looker:
        first = looker.versions()
        other = Rooms(tmp_path / "other.db")
        other.agent()
        other.close()
        for suffix in ("", "-wal", "-shm"):
            one = rooms.path.with_name(rooms.path.name + suffix)
            if one.exists():
                one.rename(tmp_path / f"old{suffix}")
        (tmp_path / "other.db").rename(rooms.path)
        assert looker.versions().opened == first.opened + 1
        with looker.snapshot() as (view, witness):
            assert take(view, witness).wraps == ()
