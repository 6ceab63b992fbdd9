"""Every screen and dialog as it looks, held against its picture: narrow, usual and wide, dark and light (console.md)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.console.scene import PICTURES, SIZES, Scene, lead_to

# these show what differs from run to run: a temporary folder, how many anchors fitted into the seconds the scene took, and
# behind the dialog a detail that is still being read
UNSTEADY = ("verify", "write-file", "ask-for-release")
PINNED = [name for name in PICTURES if name not in UNSTEADY]
SHOWN = [(name, SIZES[1], "watchroom-dark") for name in PINNED]
SHOWN += [(name, SIZES[0], "watchroom-dark") for name in PINNED]
SHOWN += [(name, SIZES[2], "watchroom-dark") for name in ("overview", "wraps", "audit", "episodes", "patterns")]
SHOWN += [
    (name, SIZES[1], "watchroom-light")
    for name in ("overview", "wraps", "audit", "continuity", "patterns", "delete-episode", "force-cancel")
]
SHOWN += [("overview", SIZES[1], "watchroom-high-contrast"), ("overview", SIZES[1], "ansi-dark")]


@pytest.mark.parametrize(
    ("name", "size", "theme"), SHOWN, ids=[f"{name}-{size[0]}-{theme.removeprefix('watchroom-')}" for name, size, theme in SHOWN]
)
def test_picture(snap_compare: Any, room_scene: Scene, name: str, size: tuple[int, int], theme: str) -> None:
    assert snap_compare(room_scene.app(theme=theme), terminal_size=size, run_before=lead_to(name))
