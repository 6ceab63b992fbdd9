"""The door: a busy store keeps nobody out for good, an unusable one is said (faults.md S7 and T21)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from core.errors import StoreError, StoreLocked
from core.room import Place, Room
from core.server.door import Door, Opening
from core.server.service import Service
from tests.unit.server.support import code_of, data_of


class Locked:
    """A way to make rooms that finds the store locked so many times."""

    def __init__(self, times: int) -> None:
        self.times = times

    def __call__(self, place: Place, **more: Any) -> Room:
        if self.times:
            self.times -= 1
            raise StoreLocked(f"The store {place.path} is locked by another process; nothing was changed.")
        return Room(place, **more)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "store.db", "stdio")


def test_a_store_that_is_busy_at_the_start_is_tried_again_at_each_call(place: Place) -> None:
    door = Door(place, make=Locked(2))
    opening = Opening(door)
    opening.start()
    assert opening.wait(10) is None
    service = Service(door, "demo")
    assert code_of(service.answer("status", {})) == "store_busy"
    assert data_of(service.answer("status", {}))["episodes_total"] == 0
    door.close()


def test_a_store_that_can_never_be_used_is_the_openings_failure(tmp_path: Path) -> None:
    opening = Opening(Door(Place(tmp_path, "stdio")))
    opening.start()
    assert "is a folder, not a store" in str(opening.wait(10))


def test_many_callers_at_once_share_one_room(place: Place) -> None:
    door = Door(place)
    found: list[Room] = []
    threads = [threading.Thread(target=lambda: found.append(door.room())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(room) for room in found}) == 1
    door.close()


def test_nobody_gets_in_once_the_door_is_closed(place: Place) -> None:
    door = Door(place)
    door.room()
    door.close()
    with pytest.raises(StoreError):
        door.room()


def test_a_caller_that_waits_for_the_opening_in_vain_is_told_that_it_is_busy(place: Place) -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(place: Place, **more: Any) -> Room:
        entered.set()
        leave.wait(10)
        return Room(place, **more)

    door = Door(place, patience=0.05, make=slow)
    first = threading.Thread(target=door.room)
    first.start()
    entered.wait(10)
    with pytest.raises(StoreLocked):
        door.room()
    leave.set()
    first.join()
    door.close()


def test_first_deeds_of_many_threads_register_the_connection_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    said, attached = threading.Event(), Room._attached

    def late(room: Room, done: bool) -> None:
        # the first thread has committed, and comes to say so only when the others have committed as well
        said.wait(0.1)
        attached(room, done)

    monkeypatch.setattr(Room, "_attached", late)
    room = Room(place)
    faults: list[BaseException] = []

    def record() -> None:
        try:
            room.do("record", project_key="demo", content="A fact", episode_type="context")
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=record) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with room.snapshot() as view:
        assert view.one("select count(*) from audit where event = 'connection_opened'")[0] == 1
    room.close()
