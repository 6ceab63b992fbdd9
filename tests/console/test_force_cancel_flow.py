"""The whole way of an operator: X, reason, confirm, and what is seen of it (issue "Seen when"; faults.md T43, T59)."""

from __future__ import annotations

from console.dialogs.force_cancel import ForceCancelDialog
from core.views.wraps import wrap_detail
from tests.console.scene import Scene, ready
from tests.console.waiting import settled, until


async def test_x_reason_confirm_ends_the_dead_wrap_and_frees_the_blocked_agent(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, ready(app))
        await pilot.press("X")
        await until(pilot, lambda: settled(app))
        await pilot.press(*"its laptop is gone", "ctrl+s")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert not any(item.target == f"wrap:{room_scene.dead_wrap.wrap_id}" for item in app.pane.items.values())  # type: ignore[attr-defined]
    assert room_scene.blocked.do("prepare_wrap", project_key="checkout").outcome == "opened"
    with room_scene.operator.snapshot() as view:
        detail = wrap_detail(view, room_scene.operator.witness, room_scene.dead_wrap.wrap_id)
    assert detail is not None and detail.row.ended_reason == "its laptop is gone"
    ended = detail.timeline[-1]
    assert ended.event == "wrap_cancelled" and ended.who.kind == "operator" and ended.who.name == "ada"


async def test_without_a_reason_nothing_happens(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, ready(app))
        await pilot.press("X")
        await until(pilot, lambda: settled(app))
        await pilot.press("ctrl+s", "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
    status = room_scene.operator.do("status", project_key="checkout")
    assert status.wrap is not None and status.wrap.wrap_id == room_scene.dead_wrap.wrap_id


async def test_a_held_key_confirms_nothing(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, ready(app))
        await pilot.press(*["X"] * 20)
        await until(pilot, lambda: isinstance(app.screen, ForceCancelDialog))
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
    assert room_scene.operator.do("status", project_key="checkout").wrap is not None


async def test_a_live_wrap_is_cancelled_only_with_the_start_of_its_token_typed(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, ready(app))
        await pilot.press("2", "G", "X")
        await until(pilot, lambda: settled(app))
        await pilot.press(*"why", "ctrl+s")
        await pilot.pause()
        assert room_scene.operator.do("status", project_key="payments").wrap is not None
        await pilot.press("enter")
        await pilot.press(*room_scene.live_wrap.wrap_token[:6], "ctrl+s")
        await until(pilot, lambda: len(app.screen_stack) == 1)
    assert room_scene.operator.do("status", project_key="payments").wrap is None
