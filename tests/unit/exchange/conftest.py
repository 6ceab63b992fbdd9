"""Foreign stores for the tests of an import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.foreign import copied
from tests.rooms import Rooms


@pytest.fixture
def rooms(tmp_path: Path) -> Iterator[Rooms]:
    """Rooms on a new store."""
    found = Rooms(tmp_path / "room" / "store.db")
    yield found
    found.close()


@pytest.fixture(params=["1.0.2", "0.9.6"])
def foreign(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The database of a real store, of either line."""
    return copied(request.param, tmp_path)


@pytest.fixture
def newest(tmp_path: Path) -> Path:
    """The database of a real store of 1.0.2."""
    return copied("1.0.2", tmp_path)
