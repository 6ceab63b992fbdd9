"""Fixtures of the server's tests."""

from __future__ import annotations

import pytest

from core.room import Room
from core.server.service import Service
from tests.rooms import Rooms
from tests.unit.server.support import service_on


@pytest.fixture
def room(rooms: Rooms) -> Room:
    """An agent's room."""
    return rooms.agent()


@pytest.fixture
def service(room: Room) -> Service:
    """A service on that room, for project demo."""
    return service_on(room)
