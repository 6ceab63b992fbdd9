"""A wrap's draft in the force-cancel dialog: seen before it is ended, inert, and said to be kept (issue 4, 5)."""

from __future__ import annotations

from typing import Any

import pytest

from console.dialogs.force_cancel import ForceCancelDialog
from core.memory.kept_texts import KeptText
from tests.console.dialog_host import Deeds, Host, drawn, opened, snapshot, type_in, wrap
from tests.console.hostile import ACTING
from tests.console.scene import SIZES, Scene, quiet, ready
from tests.console.waiting import settled, until

HALF = "## State\nThe retry budget is spent; half of the runbook is written.\n\n## Patterns\n- retries | 2x (2026-11-30)\n"


def kept(text: str, number: int = 4) -> KeptText:
    return KeptText("draft", number, "project-7", 7, text, "f" * 64, None, "c1", "2026-11-30T11:40:00.000000Z", None)


def host_of(*texts: str, **changed: Any) -> Host:
    """The dialog on a wrap whose draft is the first text, then at each new look the next."""
    left = [kept(text, number) for number, text in enumerate(texts, 1)]

    async def read_draft(wrap_id: int) -> KeptText | None:
        assert wrap_id == 7
        return left.pop(0) if len(left) > 1 else left[0] if left else None

    row = wrap(**changed)
    return Host(lambda: ForceCancelDialog((row,), Deeds(), (), read_draft))


async def test_the_newest_draft_is_shown_and_said_to_be_kept() -> None:
    host = host_of(HALF)
    async with host.run_test(size=(120, 60)) as pilot:
        await opened(pilot, host)
        await until(pilot, lambda: "half of the runbook" in drawn(host))
        shown = drawn(host)
    assert f"Its newest draft, {len(HALF)} characters, of 2026-11-30 11:40:00" in shown
    assert "It is kept when the wrap ends" in shown


async def test_a_wrap_without_a_draft_says_nothing_of_one() -> None:
    host = host_of()
    async with host.run_test(size=(120, 60)) as pilot:
        await opened(pilot, host)
        await until(pilot, lambda: settled(host))
        assert "draft" not in drawn(host)


@pytest.mark.parametrize("text", [f"{ACTING} [/x] [red]", "x" * 1_000_000, "line\n" * 30_000, "統一 👩‍🚀 \u202etxt.exe"])
async def test_a_hostile_or_huge_draft_is_inert_and_leaves_fields_and_buttons_in_place(text: str) -> None:
    host = host_of(text)
    async with host.run_test(size=(80, 24)) as pilot:
        dialog = await opened(pilot, host)
        await until(pilot, lambda: bool(dialog._draft.sections))
        await type_in(pilot, "it is gone")
        await pilot.press("pagedown", "pagedown")
        shown = drawn(host)
    assert "[ Force-cancel ]" in shown and "it is gone" in shown
    assert not any(character in shown for character in "\x1b\u202e\x9b\x07")


async def test_a_newer_draft_replaces_the_older_one_while_the_dialog_is_open() -> None:
    host = host_of("the first draft", "the second draft")
    async with host.run_test(size=(120, 60)) as pilot:
        dialog = await opened(pilot, host)
        await until(pilot, lambda: "the first draft" in dialog._draft.words)
        dialog.follow(snapshot(wrap()))
        await until(pilot, lambda: "the second draft" in dialog._draft.words)


async def draft_in_scene(scene: Scene, pilot: Any, app: Any) -> None:
    """Open force-cancel on a wrap of the scene whose holder had drafted."""
    await until(pilot, ready(app))
    for key in ("2", "G", "X"):
        await pilot.press(key)
        await quiet(pilot)
    await until(pilot, lambda: bool(app.screen._draft.sections))
    await quiet(pilot)


@pytest.mark.parametrize("theme", ["watchroom-dark", "watchroom-light"])
@pytest.mark.parametrize("size", SIZES, ids=[f"{width}" for width, _ in SIZES])
def test_picture_of_a_draft(snap_compare: Any, room_scene: Scene, size: tuple[int, int], theme: str) -> None:
    live = room_scene.live
    live.do("draft_continuity", project_key="payments", wrap_token=room_scene.live_wrap.wrap_token, text=HALF)
    app = room_scene.app(theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: draft_in_scene(room_scene, pilot, app))
