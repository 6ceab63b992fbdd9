"""The console as a person uses it: by keys, on a real store that other processes change (console.md)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from console.action_table import SCREENS
from console.app import ConsoleApp
from console.panes.audit import AuditPane
from console.panes.overview import OverviewPane
from console.panes.trail_source import TrailSource
from console.panes.wraps import WrapsPane
from console.table import RowTable
from core.store.library import sqlite3
from core.views.trail import TrailRow
from tests.console.scene import Scene, ready
from tests.console.waiting import until
from tests.rooms import text


def wraps_pane(app: ConsoleApp) -> WrapsPane:
    return app.query_one(WrapsPane)


def overview(app: ConsoleApp) -> OverviewPane:
    return app.query_one(OverviewPane)


def audit(app: ConsoleApp) -> AuditPane:
    return app.query_one(AuditPane)


async def settled(pilot: Pilot[Any], app: ConsoleApp) -> None:
    await until(pilot, ready(app))


async def test_the_dead_wrap_stands_first_with_its_reasons(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        kinds = [item.kind for item in overview(app).items.values()]
        assert kinds[0] == "dead_wrap" and "wedged_wrap" in kinds and "salvage" in kinds
        current = overview(app).current
        assert current is not None and current.project_key == "checkout" and current.blocks == 1
        assert [reason.code for reason in current.judgement.evidence if reason.death] == ["process_gone", "client_gone", "silent"]


async def test_enter_goes_to_the_thing_itself_and_minus_comes_back(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("enter")
        await until(
            pilot, lambda: app.active == "wraps" and wraps_pane(app).table.cursor_key == str(room_scene.dead_wrap.wrap_id)
        )
        await pilot.press("-")
        await until(pilot, lambda: app.active == "overview")


async def test_a_change_in_the_store_is_shown_without_being_told(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("2")
        await until(pilot, lambda: wraps_pane(app).table.row_count == 3)
        room_scene.live.do("save_continuity", project_key="payments", text=text(), wrap_token=room_scene.live_wrap.wrap_token)
        await until(pilot, lambda: wraps_pane(app).table.row_count == 2)


async def test_the_cursor_stays_on_its_wrap_when_others_go(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("2", "G")
        await until(pilot, lambda: wraps_pane(app).table.cursor_key == str(room_scene.live_wrap.wrap_id))
        room_scene.blocked.do("wrap_cancel", project_key="checkout")
        await until(pilot, lambda: wraps_pane(app).table.row_count == 2)
        assert wraps_pane(app).table.cursor_key == str(room_scene.live_wrap.wrap_id)


async def test_frozen_it_says_how_many_changes_wait(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("2", "f")
        room_scene.blocked.do("wrap_cancel", project_key="checkout")
        await until(pilot, lambda: "1 change waiting" in app._header.state.freshness.text)
        assert wraps_pane(app).table.row_count == 3
        await pilot.press("f")
        await until(pilot, lambda: wraps_pane(app).table.row_count == 2)


async def test_filters_narrow_and_escape_takes_one_step_back_and_never_quits(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("2", "slash", *"checkout", "enter")
        await until(pilot, lambda: wraps_pane(app).table.row_count == 1)
        await pilot.press("escape")
        await until(pilot, lambda: wraps_pane(app).table.row_count == 3)
        for _ in range(5):
            await pilot.press("escape")
        assert app.is_running
        await pilot.press("exclamation_mark")
        await until(pilot, lambda: wraps_pane(app).table.row_count == 2)


async def test_marks_that_a_filter_hides_are_not_acted_on(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("2")
        await until(pilot, lambda: wraps_pane(app).table.row_count == 3)
        await pilot.press("asterisk", "slash", *"search", "enter")
        await until(pilot, lambda: wraps_pane(app).table.row_count == 1)
        assert [row.project_key for row in wraps_pane(app).chosen()] == ["search"]


async def test_ended_wraps_are_hidden_until_asked_for(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("2", "h")
        await until(pilot, lambda: wraps_pane(app).table.row_count == 9)
        assert {row.state for row in wraps_pane(app).rows.values()} == {"open", "saved", "cancelled"}


@pytest.mark.parametrize("screen", ["2", "3", "4", "5", "6"])
async def test_what_is_typed_right_behind_a_slash_is_text_and_no_action(room_scene: Scene, screen: str) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press(screen)
        await settled(pilot, app)
        # as a terminal sends what comes in one burst: all keys are there before the first of them is handled
        for character in "/XcREqAD1!":
            app.post_message(events.Key(_character_to_key(character), character))
        field = app.pane.filter_bar._field  # type: ignore[attr-defined]
        await until(pilot, lambda: field.value == "XcREqAD1!")
        assert len(app.screen_stack) == 1 and app.active == {"2": "wraps", "3": "sessions", "4": "slots", "5": "audit"}.get(
            screen, "memory"
        )
        assert app.is_running and field.has_focus


async def test_the_trail_is_followed_and_filtered(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("5")
        await until(pilot, lambda: audit(app).current is not None)
        last = audit(app).current
        room_scene.blocked.do("record", content="news", episode_type="context", project_key="checkout")
        await until(pilot, lambda: (audit(app).current or last).event == "record")  # type: ignore[union-attr]
        await pilot.press("slash", *"outcome:refused", "enter")
        await until(pilot, lambda: audit(app).found is not None and audit(app).found.complete)  # type: ignore[union-attr]
        held = audit(app).found
        assert held is not None and held.count() == 3
        assert {held.trail_row_at(number).outcome for number in range(3)} == {"refused"}  # type: ignore[union-attr]


def test_a_page_that_the_trail_has_grown_into_meanwhile_is_asked_for_again() -> None:
    asked: list[tuple[int, int]] = []
    source = TrailSource(lambda first, last: asked.append((first, last)))
    source.grow(1, 3)
    source.request(0, 2)
    source.grow(1, 5)
    source.request(0, 4)
    assert asked == [(1, 3)]
    row = TrailRow(1, 1, "t", "e", "done", None, "{}", None, None, "{}", "p", "h")
    assert not source.arrived(1, tuple(replace(row, seq=seq) for seq in (1, 2, 3)))
    source.request(0, 4)
    assert asked == [(1, 3), (1, 5)]
    assert source.arrived(1, tuple(replace(row, seq=seq) for seq in range(1, 6)))


async def test_a_project_narrows_every_screen(room_scene: Scene) -> None:
    app = room_scene.app(project="search")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("2")
        await until(pilot, lambda: [row.project_key for row in wraps_pane(app).rows.values()] == ["search"])


async def test_a_locked_store_is_said_and_never_shown_as_empty_and_mends_itself(room_scene: Scene) -> None:
    for room in (room_scene.dead, room_scene.wedged, room_scene.live, room_scene.blocked, room_scene.operator):
        room.close()
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        await pilot.press("2")
        await until(pilot, lambda: wraps_pane(app).table.row_count == 3)
        app.looker.close()
        holder = await asyncio.to_thread(exclusive, room_scene)
        await until(pilot, lambda: app.feed_state.health == "locked")
        assert "locked" in app._header.state.freshness.text and "showing" in app._header.state.freshness.text
        assert wraps_pane(app).table.row_count == 3
        await asyncio.to_thread(holder.close)
        await until(pilot, lambda: app.feed_state.health == "live")


def exclusive(room_scene: Scene) -> Any:
    """A connection that locks even readers out."""
    while True:
        holder = sqlite3.connect(room_scene.rooms.path, isolation_level=None, check_same_thread=False, timeout=0.01)
        try:
            holder.execute("pragma locking_mode = exclusive")
            holder.execute("begin exclusive")
            return holder
        except sqlite3.OperationalError:
            holder.close()


async def test_a_missing_store_is_not_measured_and_its_arrival_is_seen(room_scene: Scene) -> None:
    away = room_scene.rooms.path.with_name("away.db")
    for room in (room_scene.dead, room_scene.wedged, room_scene.live, room_scene.blocked, room_scene.operator):
        room.close()
    room_scene.rooms.path.rename(away)
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.feed_state.health == "missing")
        assert "missing" in app._header.state.freshness.text
        assert all(tab.count == "not measured" for tab in app._header.state.tabs)
        away.rename(room_scene.rooms.path)
        await until(pilot, lambda: app.feed_state.health == "live" and bool(overview(app).items))


async def test_read_only_has_no_dangerous_action_and_leaves_the_store_as_it_was(room_scene: Scene) -> None:
    app = room_scene.app(read_only=True)
    before = room_scene.operator.do("status", project_key="checkout").trail_rows
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        for screen in ("1", "2", "5"):
            await pilot.press(screen, "X", "m", "escape", "escape")
        assert len(app.screen_stack) == 1
    assert room_scene.operator.do("status", project_key="checkout").trail_rows == before


async def test_a_store_that_was_never_read_is_not_called_empty(room_scene: Scene, tmp_path: Path) -> None:
    app = ConsoleApp(tmp_path / "nowhere.db", clock=room_scene.rooms.clock, processes=room_scene.rooms.processes)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.opened and app.feed_state.health == "missing")
        for key in "123456":
            await pilot.press(key)
            await until(pilot, lambda wanted=key: app.active == SCREENS[int(wanted) - 1])  # type: ignore[misc]
            await pilot.pause()
            for table in app.pane.query(RowTable):
                assert "not measured" in table._empty.text, app.active


async def test_under_no_color_not_even_a_grey_goes_to_the_terminal(room_scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot, app)
        for keys in (("2",), ("X",)):
            await pilot.press(*keys)
            await pilot.pause()
            styles = [one.style for strip in app.screen._compositor.render_strips() for one in strip if one.style]
            assert styles and all(color is None or color.is_default for one in styles for color in (one.color, one.bgcolor))
            assert any(one.reverse for one in styles), "the cursor is told by reverse video"
