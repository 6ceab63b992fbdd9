"""The Memory screen on a real store: six views, searched, followed, and acted on to the end (console.md, screen 6)."""

from __future__ import annotations

from typing import Any, cast

import pytest
from textual import events
from textual.pilot import Pilot

from console.action_table import ACTIONS, MEMORY_VIEWS
from console.app import ConsoleApp
from console.dialogs.adopt import AdoptDialog
from console.dialogs.deal_with import DealWithDialog
from console.dialogs.delete_episode import DeleteEpisodeDialog
from console.panes.memory.pane import VIEWS
from console.panes.memory.view import PAGE, MemoryView
from core.errors import Refusal, StoreError
from core.views import episodes
from tests.console.hostile import ACTING
from tests.console.scene import Scene, quiet, ready
from tests.console.waiting import settled, until
from tests.rooms import text

HOSTILE = "[red]x[/] \x1b[2J \u202egnp.exe nul日本 👩‍👩‍👧‍👦 {name} %s\nline"


async def come(pilot: Pilot[Any], *keys: str) -> MemoryView:
    """The view that these keys lead to, its rows and its detail read."""
    app = cast("ConsoleApp", pilot.app)
    await until(pilot, ready(app))
    for key in keys:
        await pilot.press(key)
        await quiet(pilot)
    return cast("MemoryView", app.pane)


def shown(view: MemoryView) -> str:
    """Every text of the list and of all tabs of the detail."""
    cells = [cell if isinstance(cell, str) else cell.shown for row in view.table.rows for cell in row.cells]
    lines = [
        f"{getattr(line, 'label', '')} {getattr(line, 'text', line)}"
        for tab in view.detail.document.tabs
        for section in tab.sections
        for line in section.lines
    ]
    return "\n".join([*cells, *lines])


def to(view: str) -> tuple[str, ...]:
    """The keys that lead to a view from the start."""
    return ("6", *["right"] * MEMORY_VIEWS.index(view))


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("continuity", ("docs", "all is well", "examples-are-tests | 2x", "aim at")),
        ("episodes", ("payments", "observation", "frozen", "billing-agent")),
        ("patterns", ("examples-are-tests", "2x", "validated", "entered", "An example that is run with the tests")),
        ("loops", ("spore-001", "growing", "Run the examples", "hot")),
        ("knowledge", ("Analysers", "learning", "search", "full reindex")),
        ("kept", ("salvage 1", "wrap_cancelled", "what the late agent had found", "Can it be adopted?")),
    ],
)
async def test_every_view_shows_what_the_store_has(room_scene: Scene, view: str, words: tuple[str, ...]) -> None:
    app = room_scene.app()
    async with app.run_test(size=(160, 45)) as pilot:
        found = await come(pilot, *to(view))
        assert found.SCREEN == app.at == f"memory.{view}"
        if view == "continuity":
            found.table.go_to("docs:2")
            await quiet(pilot)
        told = shown(found)
        for word in words if view != "kept" else words[:3]:
            assert word in told
        if view == "kept":
            assert any(section.title == words[3] for tab in found.detail.document.tabs for section in tab.sections)


async def test_the_arrows_go_round_and_the_place_before_is_remembered(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await come(pilot, "6", "left")
        assert app.at == "memory.kept"
        await come(pilot, "right", "right")
        assert app.at == "memory.episodes"
        await pilot.press("j", "j")
        await quiet(pilot)
        place = app.pane.place
        await come(pilot, "2", "minus")
        await until(pilot, lambda: app.at == "memory.episodes" and app.pane.place == place)
        app.go_to_target(f"episode:{room_scene.cited[0]}")
        await until(pilot, lambda: app.pane.place == room_scene.cited[0])
        app.go_to_target("memory:loops")
        await until(pilot, lambda: app.at == "memory.loops")
        app.go_to_target("salvage:1")
        await until(pilot, lambda: app.at == "memory.kept" and app.pane.place == "salvage:1")


async def test_arrows_in_one_burst_count_each(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await come(pilot, "6")
        for key in ("right", "right", "right", "left"):
            app.post_message(events.Key(key, None))
        await until(pilot, lambda: app.at == "memory.patterns" and app.pane.has_row)
        await quiet(pilot)
        assert app.at == "memory.patterns"


async def test_with_one_project_its_versions_are_listed_and_what_each_changed(room_scene: Scene) -> None:
    app = room_scene.app(project="docs")
    async with app.run_test(size=(120, 40)) as pilot:
        view = await come(pilot, "6")
        assert list(view.rows) == ["docs:2", "docs:1"]
        changes = view.detail.document.tabs[1].sections[0]
        assert changes.title == "Since revision 1"
        assert any(getattr(line, "glyph", "") == "+" and "2x" in getattr(line, "text", "") for line in changes.lines)
        await come(pilot, "G")
        assert view.detail.document.tabs[1].sections[0].title == "The first version"
        assert "revision 2" in shown(view), "an old version says which one stands"


async def test_episodes_are_searched_in_the_whole_store_as_one_types(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        view = await come(pilot, *to("episodes"))
        everything = len(view.rows)
        await come(pilot, "slash", *"example of the capture")
        await until(pilot, lambda: next(iter(view.rows), "") == room_scene.cited[0] and len(view.rows) < everything)
        assert "1 with the phrase" in str(view.filter_bar._note)
        await come(pilot, "escape", "escape")
        await until(pilot, lambda: len(view.rows) == everything)
        await come(pilot, "slash", *"no such thing anywhere%_", "enter")
        await until(pilot, lambda: not view.rows)
        assert view.table._empty.text == view.NOTHING_MATCHES


async def test_a_deleted_episode_goes_and_its_pattern_falls_on_screen_and_in_the_trail(room_scene: Scene) -> None:
    app = room_scene.app()
    one, other = room_scene.cited
    async with app.run_test(size=(120, 40)) as pilot:
        await come(pilot)
        for number, episode_id in enumerate((one, other)):
            app.go_to_target(f"episode:{episode_id}")
            await until(pilot, lambda wanted=episode_id: app.pane.place == wanted)  # type: ignore[misc]
            await quiet(pilot)
            await pilot.press("D")
            await until(pilot, lambda: settled(app))
            dialog = app.screen
            assert isinstance(dialog, DeleteEpisodeDialog)
            assert "examples-are-tests, at 2x" in str(dialog.about._sections)
            await pilot.press("ctrl+s")
            await pilot.pause()
            assert dialog.is_current, "a reason is required"
            await pilot.press(*"it names a customer")
            await until(pilot, lambda asked=dialog: asked.may_confirm)  # type: ignore[misc]
            await pilot.press("ctrl+s")
            await until(pilot, lambda: len(app.screen_stack) == 1)
            await until(pilot, lambda gone=episode_id: gone not in app.pane.rows)  # type: ignore[attr-defined, misc]
            if number == 0:
                patterns = await come(pilot, "right")
                assert next(row for row in patterns.rows.values() if row.name == "examples-are-tests").level == 2
                await come(pilot, "left")
        patterns = await come(pilot, "right")
        await until(pilot, lambda: all(row.level == 1 for row in patterns.rows.values()))
        row = next(row for row in patterns.rows.values() if row.name == "examples-are-tests")
        patterns.table.go_to(patterns.key_of(row))
        await quiet(pilot)
        assert "2x → 1x revoked" in shown(patterns) and "deleted" in shown(patterns)
    with room_scene.operator.snapshot() as view:
        rows = view.all("select data from audit where event = 'delete' order by seq")
    assert all('"reason":"it names a customer"' in row["data"] for row in rows) and len(rows) == 2
    assert "examples-are-tests" in rows[1]["data"] and "examples-are-tests" not in rows[0]["data"]


async def test_an_episode_deleted_meanwhile_is_refused_in_the_dialog(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        app_view = await come(pilot, *to("episodes"))
        row = app_view.current
        await pilot.press("D")
        await until(pilot, lambda: settled(app))
        room_scene.operator.do("delete_episode", episode_id=row.episode_id, project_key=row.project_key)
        await pilot.press(*"gone anyway")
        await pilot.press("ctrl+s")
        dialog = cast("DeleteEpisodeDialog", app.screen)
        await until(pilot, lambda: "delet" in dialog.said.words and not dialog.busy)
        assert app.screen is dialog


async def test_kept_texts_are_adopted_and_dealt_with_from_the_list(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        view = await come(pilot, *to("kept"))
        await pilot.press("I")
        await until(pilot, lambda: isinstance(app.screen, AdoptDialog))
        await until(pilot, lambda: settled(app))
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("u")
        await until(pilot, lambda: settled(app))
        assert isinstance(app.screen, DealWithDialog)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(app.screen_stack) == 1 and not view.rows)
        await come(pilot, "h")
        await until(pilot, lambda: "salvage:1" in view.rows)
        assert "dealt with" in shown(view)


async def test_from_overview_one_comes_to_the_kept_text_itself(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        overview = await come(pilot)
        overview.table.go_to(next(key for key in overview.items if key.startswith("salvage ")))  # type: ignore[attr-defined]
        await come(pilot, "enter")
        await until(pilot, lambda: app.at == "memory.kept" and app.pane.place == "salvage:1")
        # once dealt with, it is still found
        room_scene.operator.do("deal_with", kind="salvage", item_id=1)
        await until(pilot, lambda: app.at == "memory.kept" and not app.pane.has_row)
        await come(pilot, "1")
        app.go_to_target(f"kept:wrap:{room_scene.late_wrap}")
        await until(pilot, lambda: app.at == "memory.kept" and app.pane.place == "salvage:1")


async def test_read_only_has_none_of_the_deeds(room_scene: Scene) -> None:
    app = room_scene.app(read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        for view, keys in (("episodes", "D"), ("kept", "Iu")):
            await come(pilot, *to(view))
            await come(pilot, *keys)
            assert len(app.screen_stack) == 1
            await come(pilot, "1")


async def test_a_long_list_grows_as_one_goes_down(room_scene: Scene) -> None:
    for number in range(PAGE + 60):
        room_scene.live.do("record", project_key="long", content=f"fact {number}", episode_type="observation")
    app = room_scene.app(project="long")
    async with app.run_test(size=(120, 40)) as pilot:
        view = await come(pilot, *to("episodes"))
        assert len(view.rows) == PAGE
        await pilot.press("G")
        await until(pilot, lambda: len(view.rows) == PAGE + 60)
        await pilot.press("G")
        await quiet(pilot)
        assert view.current.beginning == "fact 0"
        room_scene.live.do("record", project_key="long", content="one more", episode_type="observation")
        await until(pilot, lambda: len(view.rows) == PAGE + 61)
        assert view.current.beginning == "fact 0", "the cursor stays on its row"


async def test_loops_and_projects_past_the_first_page_are_reached(room_scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.panes.memory.view.PAGE", 2)
    room_scene.operator.do("spore_add", project_key="search", type="task", text="the most urgent", tier="hot", salience=3)
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        view = await come(pilot, *to("continuity"))
        await until(pilot, lambda: len(view.rows) == 4)
        view = await come(pilot, "right", "right", "right")
        assert [row.tier for row in view.rows.values()][:2] == ["hot", "hot"]
        await until(pilot, lambda: len(view.rows) == 4)


async def test_what_cannot_be_read_is_never_called_empty(room_scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    app = room_scene.app()

    def fail(*_: object, **__: object) -> Any:
        raise StoreError("unreadable", "the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(episodes, "page", fail)
        async with app.run_test(size=(120, 40)) as pilot:
            view = await come(pilot, *to("episodes"))
            assert not view.rows and "not measured" in view.table._empty.text
            patched.undo()
            room_scene.live.do("record", project_key="payments", content="it moves on", episode_type="observation")
            await until(pilot, lambda: len(view.rows) > 10)


async def test_a_search_that_is_refused_says_why(room_scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise Refusal("invalid_input", "That cannot be looked for.")

    app = room_scene.app()
    monkeypatch.setattr(episodes, "search_everywhere", refuse)
    async with app.run_test(size=(120, 40)) as pilot:
        view = await come(pilot, *to("episodes"), "slash", *"x", "enter")
        await until(pilot, lambda: "That cannot be looked for." in str(view.filter_bar._note))


async def test_the_text_is_copied_whole_and_the_row_by_id_and_json(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await come(pilot, *to("episodes"))
        app.go_to_target(f"episode:{room_scene.cited[0]}")
        await until(pilot, lambda: app.pane.place == room_scene.cited[0])
        await come(pilot, "c")
        assert app.clipboard == "The example of the capture call in the docs was wrong since the release, and nobody had run it."
        await come(pilot, "y")
        assert app.clipboard == room_scene.cited[0]
        await come(pilot, "Y")
        assert '"project_key": "docs"' in app.clipboard


async def test_only_what_needs_a_person_is_a_question_for_loops_and_kept_texts(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        view = await come(pilot, *to("loops"), "exclamation_mark")
        await until(pilot, lambda: not view.rows)
        assert "needs you only" in app._header.state.project
        await come(pilot, "left")
        assert app.pane.has_row and "needs you only" not in app._header.state.project, "patterns need nobody"
        room_scene.rooms.clock.advance(9 * 86_400)
        view = await come(pilot, "right")
        room_scene.live.do("record", project_key="payments", content="a week later", episode_type="observation")
        await until(pilot, lambda: len(view.rows) == 3)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_foreign_text_is_inert_in_every_view(room_scene: Scene, size: tuple[int, int]) -> None:
    agent = room_scene.live
    clean = HOSTILE.replace("\u202e", "")
    agent.do("record", project_key="odd-b", content=HOSTILE, episode_type="observation", source="[/] \x1b[31m")
    opened = agent.do("prepare_wrap", project_key="odd-b")
    agent.do(
        "save_continuity",
        project_key="odd-b",
        text=text(State=clean, Patterns="- odd | 1x (2026-11-30) " + clean),
        wrap_token=opened.wrap_token,
    )
    agent.do("spore_add", project_key="odd-b", type="task", text=clean)
    agent.do("brain_learn", project_key="odd-b", topic="[@click=app.quit]x[/]", insight=HOSTILE)
    app = room_scene.app()
    async with app.run_test(size=size) as pilot:
        await come(pilot, "6")
        for _ in MEMORY_VIEWS:
            await come(pilot, "plus", "right_square_bracket", "plus")
            for y in range(size[1]):
                assert not ACTING.search("".join(segment.text for segment in app.screen._compositor.render_strips()[y]))
            await come(pilot, "right")
        assert len(app.screen_stack) == 1


def test_every_view_can_do_what_the_table_says_it_does() -> None:
    for name, view in VIEWS.items():
        assert f"memory.{name}" == view.SCREEN
        for action in ACTIONS:
            if "pane" in action.owners and action.is_on(view.SCREEN) and not action.call:
                assert callable(getattr(view, f"action_{action.id}", None)), f"{name} can't {action.id}"
