"""Fixtures that every test may use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rooms import Rooms


@pytest.fixture
def rooms(tmp_path: Path) -> Iterator[Rooms]:
    """Rooms on a new store."""
    made = Rooms(tmp_path / "store.db")
    yield made
    made.close()
