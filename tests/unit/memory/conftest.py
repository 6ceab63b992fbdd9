from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .support import SmallRoom


@pytest.fixture
def room(tmp_path: Path) -> Iterator[SmallRoom]:
    room = SmallRoom(tmp_path / "store.db")
    yield room
    room.close()
