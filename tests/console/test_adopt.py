"""Adopting and dealing with kept texts in the console, each to the end against a real store (issue 4, 5; console.md, Acting safely)."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import ConsoleApp
from console.dialogs.adopt import KIND, AdoptDialog
from console.dialogs.base import now
from console.dialogs.deal_with import DealWithDialog
from console.dialogs.salvage import SalvageDialog
from core.memory.kept_texts import KeptKind
from core.views import continuity as continuity_view
from core.views import kept_texts as kept_view
from core.views.wraps import ended_wraps
from tests.console.dialog_host import drawn, type_in
from tests.console.hostile import ACTING
from tests.console.scene import SIZES, Scene, quiet, ready
from tests.console.waiting import settled, until
from tests.rooms import refused, text

PROJECT = "ledger"


def leave_draft(scene: Scene, words: str) -> int:
    """A draft of a wrap that was cancelled under its agent, in a project of its own with a continuity."""
    agent = scene.blocked
    for number in range(2):
        agent.do("record", project_key=PROJECT, content=f"Two captures of one authorisation {number}", episode_type="observation")
        opened = agent.do("prepare_wrap", project_key=PROJECT)
        if number == 0:
            agent.do("save_continuity", project_key=PROJECT, text=text(State="as it stood"), wrap_token=opened.wrap_token)
    kept = agent.do("draft_continuity", project_key=PROJECT, wrap_token=opened.wrap_token, text=words)
    scene.operator.do("wrap_cancel", project_key=PROJECT, wrap_token=opened.wrap_token)
    return int(kept.draft_id)


def events(scene: Scene, event: str) -> list[tuple[str, str]]:
    """Outcome and data of the trail's rows of an event."""
    with scene.operator.snapshot() as view:
        return [tuple(row) for row in view.all("select outcome, data from audit where event = ? order by seq", (event,))]


def stands(scene: Scene) -> Any:
    """The project's standing version."""
    with scene.operator.snapshot() as view:
        return continuity_view.version(view, PROJECT)


async def opened(pilot: Pilot[Any], app: ConsoleApp, item_id: int, kind: KeptKind = "draft") -> Any:
    """The adopt dialog on a kept text, once keys count in it."""
    await until(pilot, ready(app))
    app.adopt_text(kind, item_id)
    await until(pilot, lambda: isinstance(app.screen, AdoptDialog) and app.screen.is_mounted)
    await until(pilot, lambda: not app.screen.too_early(now()))  # type: ignore[attr-defined]
    await until(pilot, lambda: settled(app))
    return app.screen


async def test_a_draft_is_edited_beside_what_stands_and_saved_as_a_new_wrap(room_scene: Scene) -> None:
    item_id = leave_draft(room_scene, text(State="half of it"))
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await opened(pilot, app, item_id)
        shown = drawn(app)
        assert "as it stood" in shown and "half of it" in shown and "of 25,000 characters" in shown
        await type_in(pilot, "its host was lost")
        dialog.texts.editor.text = text(State="finished by hand")
        await pilot.press("f3")
        await quiet(pilot)
        shown = drawn(app)
        assert "- as it stood" in shown and "+ finished by hand" in shown
        await pilot.press("ctrl+s")
        await until(pilot, lambda: dialog.result_of_back() is not None)
        await quiet(pilot)
        assert "revision 2" in drawn(app) and app.drafts.load(KIND, f"draft:{item_id}") is None
        await pilot.press("ctrl+s")  # a second press does nothing more
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
    assert stands(room_scene).text.startswith("## State\nfinished by hand")
    ((outcome, data),) = events(room_scene, "continuity_adopted")
    assert outcome == "done" and "its host was lost" in data and "finished" not in data


@pytest.mark.parametrize(
    ("typed", "reason", "words"),
    [
        ("", "why", "is empty"),
        ("no section", "why", "lacks the section"),
        (text(State="x" * 26_000), "why", "at most 25,000"),
        (text(), "", "A reason is required"),
        (text(), "x" * 501, "at most 500"),
    ],
)
async def test_what_is_missing_is_said_and_nothing_is_sent(room_scene: Scene, typed: str, reason: str, words: str) -> None:
    item_id = leave_draft(room_scene, text())
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await opened(pilot, app, item_id)
        dialog.texts.editor.text = typed
        dialog.reason.text = reason
        await pilot.pause()
        assert words in dialog.why_not()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: settled(app))
        assert words in dialog.said.words
    assert events(room_scene, "adopt_continuity") == [] and stands(room_scene).revision == 1


async def test_a_continuity_that_moves_under_it_is_shown_and_every_character_is_kept(room_scene: Scene) -> None:
    item_id = leave_draft(room_scene, text(State="half of it"))
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await opened(pilot, app, item_id)
        dialog.texts.editor.text = text(State="MINE")
        dialog.reason.text = "its host was lost"
        agent = room_scene.blocked
        opened_now = agent.do("prepare_wrap", project_key=PROJECT)
        agent.do("save_continuity", project_key=PROJECT, text=text(State="saved meanwhile"), wrap_token=opened_now.wrap_token)
        room_scene.rooms.clock.advance(5)
        await until(pilot, lambda: bool(dialog.detail.obstacles))
        await quiet(pilot)
        shown = drawn(app)
        assert "It has moved under you: revision 1 before, 2 now" in shown and "+ saved meanwhile" in shown and "MINE" in shown
        await until(pilot, lambda: not dialog.too_early(now()))
        await pilot.press("ctrl+s")
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        kept = app.drafts.load(KIND, f"draft:{item_id}")
        assert kept is not None and "MINE" in kept.text and kept.summary == "its host was lost"
    assert events(room_scene, "continuity_adopted") == []


async def test_page_down_moves_the_left_side(room_scene: Scene) -> None:
    item_id = leave_draft(room_scene, text(State="\n".join(f"line {number}" for number in range(200))))
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await opened(pilot, app, item_id)
        await pilot.press("f4", "pagedown")
        await until(pilot, lambda: dialog.texts.left_box.scroll_y > 10)
        await pilot.press("pageup")
        await until(pilot, lambda: dialog.texts.left_box.scroll_y == 0)


async def test_what_was_typed_is_taken_up_again(room_scene: Scene) -> None:
    item_id = leave_draft(room_scene, text(State="half of it"))
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await opened(pilot, app, item_id)
        dialog.texts.editor.text = "as far as I came"
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        again = await opened(pilot, app, item_id)
        assert again.texts.editor.text == "as far as I came" and "taken up again" in again.said.words


async def test_nothing_is_adopted_while_a_wrap_is_open(room_scene: Scene) -> None:
    item_id = leave_draft(room_scene, text())
    room_scene.blocked.do("prepare_wrap", project_key=PROJECT)
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await opened(pilot, app, item_id)
        dialog.reason.text = "why"
        await until(pilot, lambda: "is open in this project" in dialog.why_not())


async def test_a_text_much_shorter_than_what_stands_needs_f8(room_scene: Scene) -> None:
    room_scene.operator.do("set_section_schema", project_key=PROJECT, schema="partnership")
    more = "## Active Threads\nnone\n\n## Understanding\n"
    agent = room_scene.blocked
    for words in (text() + more + "u" * 2_000, text() + more + "little"):
        agent.do("record", project_key=PROJECT, content="Two captures", episode_type="observation")
        prepared = agent.do("prepare_wrap", project_key=PROJECT)
        kept = agent.do("draft_continuity", project_key=PROJECT, wrap_token=prepared.wrap_token, text=words)
        if "little" not in words:
            agent.do("save_continuity", project_key=PROJECT, text=words, wrap_token=prepared.wrap_token)
    room_scene.operator.do("wrap_cancel", project_key=PROJECT, wrap_token=prepared.wrap_token)
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await opened(pilot, app, kept.draft_id)
        await type_in(pilot, "it is meant so")
        assert "F8 lets it shrink" in dialog.why_not()
        await pilot.press("f8", "ctrl+s")
        await until(pilot, lambda: dialog.result_of_back() is not None)
    assert "little" in stands(room_scene).text


@pytest.mark.parametrize("words", [f"{ACTING} [/x] [red]", "x" * 1_000_000, "統一 👩‍🚀 \u202etxt.exe"])
async def test_a_hostile_or_huge_text_is_inert_in_every_page(room_scene: Scene, words: str) -> None:
    item_id = leave_draft(room_scene, words.replace("\x00", ""))
    app = room_scene.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app, item_id)
        for key in ("f2", "f3", "f4", "f5", "f6"):
            await pilot.press(key)
            await quiet(pilot)
            shown = drawn(app)
            assert "[ Adopt ]" in shown and not any(one in shown for one in "\x1b\u202e\x9b\x07")


async def test_a_kept_text_is_dealt_with_by_its_dialog(room_scene: Scene) -> None:
    leave_draft(room_scene, f"half of it {ACTING}".replace("\x00", ""))
    with room_scene.operator.snapshot() as view:
        (row,) = kept_view.kept_texts(view, project_key=PROJECT).rows
    app = room_scene.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, ready(app))
        app.deal_with_text(row)
        await until(pilot, lambda: isinstance(app.screen, DealWithDialog) and not app.screen.too_early(now()))
        await type_in(pilot, "x" * 501)
        assert "501 characters; at most 500" in app.screen.why_not()  # type: ignore[attr-defined]
        app.screen.note.text = "nothing in it"  # type: ignore[attr-defined]
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(app.screen_stack) == 1)
    ((outcome, data),) = events(room_scene, "kept_text_dealt_with")
    assert outcome == "done" and "nothing in it" in data


async def test_the_salvage_of_a_wrap_lists_its_drafts_beside_its_late_texts(room_scene: Scene) -> None:
    leave_draft(room_scene, "half of it")
    with room_scene.operator.snapshot() as view:
        (kept,) = kept_view.kept_texts(view, project_key=PROJECT).rows
        token = view.one("select wrap_token from wraps where id = ?", (kept.wrap_id,))[0]
        (row,) = [one for one in ended_wraps(view, room_scene.operator.witness) if one.wrap_id == kept.wrap_id]
    refused(room_scene.blocked, "save_continuity", project_key=PROJECT, text="all of it", wrap_token=token)
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, ready(app))
        app.show_salvage(row)
        await until(pilot, lambda: isinstance(app.screen, SalvageDialog) and settled(app))
        await until(pilot, lambda: "all of it" in drawn(app) and "a draft" in drawn(app))
        await pilot.press("j")
        await until(pilot, lambda: "half of it" in drawn(app))


PICTURED = text(
    State="The retry budget is spent; the runbook is half written.",
    Patterns="- retries | 1x (2026-11-30)",
    Context="A quiet week.",
)


async def adopt_in_scene(pilot: Any, app: Any, item_id: int, keys: tuple[str, ...]) -> None:
    """Open the dialog and lead to the picture."""
    await opened(pilot, app, item_id)
    for key in keys:
        await pilot.press(key)
        await quiet(pilot)


@pytest.mark.parametrize("theme", ["watchroom-dark", "watchroom-light"])
@pytest.mark.parametrize("size", SIZES, ids=[f"{width}" for width, _ in SIZES])
@pytest.mark.parametrize("keys", [("f3", *"its host is lost"), ("f5",)], ids=["changes", "about"])
def test_picture_of_adopting(
    snap_compare: Any, room_scene: Scene, size: tuple[int, int], theme: str, keys: tuple[str, ...]
) -> None:
    item_id = leave_draft(room_scene, PICTURED)
    app = room_scene.app(theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: adopt_in_scene(pilot, app, item_id, keys))


@pytest.mark.parametrize("theme", ["watchroom-dark", "watchroom-light"])
@pytest.mark.parametrize("size", SIZES, ids=[f"{width}" for width, _ in SIZES])
def test_picture_of_dealing_with(snap_compare: Any, room_scene: Scene, size: tuple[int, int], theme: str) -> None:
    leave_draft(room_scene, PICTURED)
    with room_scene.operator.snapshot() as view:
        (row,) = kept_view.kept_texts(view, project_key=PROJECT).rows
    app = room_scene.app(theme=theme)

    async def lead(pilot: Any) -> None:
        await until(pilot, ready(app))
        app.deal_with_text(row)
        await until(pilot, lambda: isinstance(app.screen, DealWithDialog) and not app.screen.too_early(now()))
        await quiet(pilot)

    assert snap_compare(app, terminal_size=size, run_before=lead)
