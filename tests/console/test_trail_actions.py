"""Export and anchor from Audit, by the palette's names (console.md, screen 5)."""

from __future__ import annotations

from pathlib import Path

from console.dialogs.anchors import AnchorsDialog
from console.dialogs.write_file import WriteFileDialog
from core.trail.verify import verify_file, verify_store
from tests.console.scene import Scene, ready
from tests.console.waiting import settled, until


async def test_the_whole_trail_is_exported_and_verifies_without_the_store(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, ready(app))
        await pilot.press("5")
        app.run_table_action("export_trail")
        await until(pilot, lambda: isinstance(app.screen, WriteFileDialog) and settled(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(list(Path().glob("watchroom-trail-*.jsonl"))) and len(app.screen_stack) == 1)
    (written,) = Path().glob("watchroom-trail-*.jsonl")
    found = verify_file(written.read_text().splitlines())
    assert found.ok and found.rows == verify_store(room_scene.rooms.path).rows


async def test_after_a_restore_the_anchors_start_again_with_a_reason(room_scene: Scene) -> None:
    anchors = room_scene.rooms.path.with_name("room.db.anchors")
    room_scene.operator.anchors.flush()
    anchors.write_text('{"store": "?"}\n' + anchors.read_text())
    assert verify_store(room_scene.rooms.path).broken
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, ready(app))
        await pilot.press("5")
        app.run_table_action("accept_anchors")
        await until(pilot, lambda: isinstance(app.screen, AnchorsDialog) and settled(app))
        await pilot.press(*"restored", "ctrl+s")
        await until(pilot, lambda: len(app.screen_stack) == 1)
    assert not verify_store(room_scene.rooms.path).broken
    assert list(Path().glob("room.db.anchors.*"))
