"""Fixtures of the fleet's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fleet.servers import Fleet


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """Real server processes on a new store."""
    made = Fleet(tmp_path / "store.db")
    yield made
    made.close()
