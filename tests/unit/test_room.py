"""The room: where it lets its anchors go (room.md 5)."""

from __future__ import annotations

import pytest

from core.errors import StoreError
from core.room import Place, Room
from tests.rooms import Rooms


@pytest.mark.parametrize("suffix", ["", "-wal", "-beats"])
def test_anchors_never_go_into_the_stores_own_files(rooms: Rooms, suffix: str) -> None:
    agent = rooms.agent()
    path = rooms.path.with_name(rooms.path.name + suffix)
    with pytest.raises(StoreError, match="own files"):
        Room(Place(rooms.path, "stdio", anchors=path))
    assert agent.do("status", project_key="demo").episodes_total == 0
