"""Fixtures of the console's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.scene import Scene, scene


@pytest.fixture
def room_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """The scene on a store of its own."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    with scene(tmp_path) as made:
        yield made
