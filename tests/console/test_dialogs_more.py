"""The other dialogs: ask for release, choosers, texts, salvage, help, progress, and writing a file."""

from __future__ import annotations

import asyncio
import json
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from console.actions import Action, for_screen, row_actions
from console.dialogs.anchors import AnchorsDialog
from console.dialogs.ask_release import AskReleaseDialog
from console.dialogs.base import Dialog, now
from console.dialogs.chooser import Choice, ChooserDialog, MenuDialog
from console.dialogs.force_cancel import ForceCancelDialog
from console.dialogs.help import MEANINGS, HelpDialog, help_document
from console.dialogs.parts import CountedField
from console.dialogs.progress import ProgressDialog
from console.dialogs.salvage import SalvageDialog
from console.dialogs.text_view import TextDialog
from console.dialogs.write_file import WriteFileDialog, free_name
from console.themes import VERDICT_LOOK
from core.errors import StoreError
from core.memory.salvage import Salvaged
from core.trail.anchors import AnchorCheck
from core.trail.verify import verify_store
from tests.console.dialog_host import FINISHED, LOCKED, Deeds, Host, drawn, host_of, opened, snapshot, type_in, wrap
from tests.console.hostile import ACTING, HOSTILE
from tests.console.scene import Scene
from tests.console.waiting import until

# Ask for release.


async def test_asking_leaves_the_message_and_says_how_it_arrives() -> None:
    do = Deeds()
    host = Host(lambda: AskReleaseDialog(wrap(verdict="LIVE"), do))
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(pilot, host)
        assert "next call, and again each minute until the wrap" in drawn(host)
        await type_in(pilot, "we wait")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(host.results))
    assert do.calls == [("ask_release", {"wrap_id": 7, "message": "we wait"})]


async def test_the_message_may_be_left_out_and_a_failure_stays() -> None:
    do = Deeds(LOCKED, FINISHED)
    host = Host(lambda: AskReleaseDialog(wrap(verdict="LIVE"), do))
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await pilot.press("enter", "enter", "ctrl+s")
        await until(pilot, lambda: "locked" in dialog.said.words)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "already finished" in dialog.said.words)
        await pilot.press("ctrl+s")
        assert len(do.calls) == 2 and do.calls[0][1]["message"] is None


async def test_a_wrap_that_ends_meanwhile_has_nobody_to_ask() -> None:
    do = Deeds()
    host = Host(lambda: AskReleaseDialog(wrap(verdict="LIVE"), do))
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        dialog.follow(snapshot(wrap(verdict="WEDGED")))
        assert "was LIVE, is WEDGED now" in dialog.said.words
        dialog.follow(snapshot())
        assert "ended meanwhile" in dialog.said.words
        await until(pilot, lambda: not dialog.too_early(now()))
        await pilot.press("ctrl+s")
        assert do.calls == []


# Choosing.

CHOICES = tuple(Choice(name, name, f"{len(name)} letters") for name in ("checkout", "search", "payments", "ledger"))


async def test_typing_narrows_and_enter_chooses() -> None:
    host = Host(lambda: ChooserDialog("Which project?", CHOICES, "search"))
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        assert dialog.table.cursor_key == "search"
        await type_in(pilot, "pay")
        await until(pilot, lambda: [row.key for row in dialog.table.rows] == ["payments"])
        await pilot.press("enter")
        await until(pilot, lambda: host.results == ["payments"])


async def test_arrows_move_in_the_list_while_the_field_has_the_keys_and_escape_gives_none() -> None:
    host = Host(lambda: ChooserDialog("Jump to", CHOICES, None))
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await pilot.press("down", "down", "up")
        assert dialog.table.cursor_key == "search" and isinstance(host.focused, Input)
        await type_in(pilot, "zzz")
        await pilot.press("enter")
        assert host.screen is dialog and "Nothing here fits" in dialog.said.words
        await pilot.press("escape")
        await until(pilot, lambda: host.results == [None])


async def test_a_held_enter_does_not_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dialog, "OPENING_SECONDS", 30.0)
    host = Host(lambda: ChooserDialog("Jump to", CHOICES, None))
    async with host.run_test() as pilot:
        await pilot.press(*["enter"] * 5)
        assert host.results == [] and len(host.screen_stack) == 2


@pytest.mark.parametrize("key, chosen", [("X", "force_cancel"), ("y", "copy_id"), ("Y", "copy_json"), ("space", "mark")])
async def test_a_letter_of_the_menu_does_its_action(key: str, chosen: str) -> None:
    host = Host(lambda: MenuDialog("This row", row_actions("wraps")))
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(pilot, host)
        await pilot.press(key)
        await until(pilot, lambda: host.results == [chosen])


async def test_the_menu_moves_and_enter_chooses_what_the_cursor_is_on() -> None:
    actions = row_actions("wraps")
    host = Host(lambda: MenuDialog("This row", actions))
    async with host.run_test() as pilot:
        await opened(pilot, host)
        await pilot.press("j", "down", "k", "enter")
        await until(pilot, lambda: host.results == [actions[1].id])


async def test_a_read_only_menu_lists_no_dangerous_action() -> None:
    host = Host(lambda: MenuDialog("This row", row_actions("wraps", read_only=True)))
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await pilot.press("X")
        assert host.screen is dialog and host.results == [] and "force-cancel" not in drawn(host)


# Reading.


async def test_a_text_is_found_in_and_copied_with_what_acts_named() -> None:
    host = Host(lambda: TextDialog("A text", text="first\nsecond \x1b[2J\nthird"))
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await pilot.press("slash", *"third", "enter")
        await until(pilot, lambda: dialog.detail.body.finds() == (1, 1))
        await pilot.press("y")
        assert host.clipboard.startswith("first\nsecond ") and not ACTING.search(host.clipboard.replace("\n", ""))
        await pilot.press("escape")
        assert host.screen is dialog and dialog.detail.body.finds() == (0, 0)
        await pilot.press("q")
        await until(pilot, lambda: host.results == [None])


async def test_salvage_lists_the_texts_and_shows_the_one_under_the_cursor() -> None:
    texts = (
        Salvaged(2, "payments", 9, "the newer text", "wrap_cancelled", "2026-11-30T12:02:00Z", None),
        Salvaged(1, "payments", 9, "the older text", "wrap_token_spent", "2026-11-30T12:01:00Z", "2026-11-30T12:05:00Z"),
    )
    host = Host(lambda: SalvageDialog("payments", 9, texts))
    async with host.run_test(size=(80, 24)) as pilot:
        dialog = await opened(pilot, host)
        await until(pilot, lambda: "the newer text" in drawn(host))
        assert "wrap_token_spent" in drawn(host) and "dealt with" in drawn(host)
        await pilot.press("down")
        await until(pilot, lambda: "the older text" in drawn(host))
        await pilot.press("y")
        assert host.clipboard == "the older text"
        await pilot.press("enter")
        assert host.focused is dialog.detail.body
        await pilot.press("escape")
        assert host.focused is dialog.table
        await pilot.press("escape")
        await until(pilot, lambda: host.results == [None])


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("screen", ["overview", "wraps", "audit"])
def test_the_help_has_every_action_of_the_screen_and_every_verdict(screen: str, read_only: bool) -> None:
    lines = [line for tab in help_document(screen, read_only).tabs for section in tab.sections for line in section.lines]
    texts = {getattr(line, "text", line) for line in lines}
    labels = {getattr(line, "label", "") for line in lines}
    for action in for_screen(screen, read_only):
        assert action.owners == ("detail",) or action.help in texts
    assert {f"{look.glyph} {look.word}" for look in VERDICT_LOOK.values()} <= labels and set(MEANINGS) == set(VERDICT_LOOK)
    assert ("X" in labels) == (screen != "audit" and not read_only)


def test_the_help_shows_the_operators_own_keys() -> None:
    lines = [line for tab in help_document("wraps", keymap={"salvage": "f5"}).tabs for one in tab.sections for line in one.lines]
    assert "f5" in {getattr(line, "label", "") for line in lines}


@pytest.mark.parametrize("key", ["question_mark", "escape", "q"])
async def test_the_help_closes(key: str) -> None:
    host = Host(lambda: HelpDialog("wraps", False, {}))
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(pilot, host)
        await until(pilot, lambda: "whether its holder" in drawn(host))
        await pilot.press(key)
        await until(pilot, lambda: host.results == [None])


# Long work.


class Work:
    """Long work whose steps a test lets go."""

    def __init__(self) -> None:
        self.go, self.began, self.stopped = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> str:
        progress(1_234, 10_000)
        self.began.set()
        while not self.go.wait(0.01):
            if cancelled():
                self.stopped.set()
                return "stopped"
        progress(10_000, 10_000)
        return "everything is in order"


async def test_long_work_shows_how_far_it_is_then_what_it_found() -> None:
    work = Work()
    host = Host(lambda: ProgressDialog("Verify the trail", work))
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await until(pilot, lambda: "1,234 of 10,000 rows" in drawn(host) and "12 %" in drawn(host))
        work.go.set()
        await until(pilot, lambda: "everything is in order" in drawn(host) and "[ Close ]" in drawn(host))
        assert dialog.finished
        await pilot.press("enter")
        await until(pilot, lambda: host.results == ["everything is in order"])


async def test_escape_cancels_long_work_and_says_how_far_it_came() -> None:
    work = Work()
    host = Host(lambda: ProgressDialog("Verify the trail", work))
    async with host.run_test() as pilot:
        await opened(pilot, host)
        await until(pilot, work.began.is_set)
        await pilot.press("escape")
        await until(pilot, lambda: "cancelled, 1,234 rows checked" in drawn(host))
        assert work.stopped.is_set()
        await pilot.press("escape")
        await until(pilot, lambda: host.results == ["stopped"])


async def test_work_that_fails_says_so_and_gives_nothing() -> None:
    def fails(progress: object, cancelled: object) -> str:
        raise StoreError("The store is not there any more.")

    host = Host(lambda: ProgressDialog("Verify the trail", fails))
    async with host.run_test() as pilot:
        await opened(pilot, host)
        await until(pilot, lambda: "not there any more" in drawn(host))
        await pilot.press("escape")
        await until(pilot, lambda: host.results == [None])


async def test_closing_the_app_ends_the_work() -> None:
    work = Work()
    host = Host(lambda: ProgressDialog("Verify the trail", work))
    async with host.run_test() as pilot:
        await opened(pilot, host)
        await until(pilot, work.began.is_set)
    assert await asyncio.to_thread(work.stopped.wait, 10)


async def test_a_real_verification_says_its_words_and_names_each_break(room_scene: Scene) -> None:
    path = room_scene.rooms.path

    def work(progress: Any, cancelled: Any) -> Any:
        return verify_store(path, progress=progress, cancelled=cancelled)

    host = Host(lambda: ProgressDialog("Verify the trail", work))
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(pilot, host)
        await until(pilot, lambda: "rows checked" in drawn(host))
        await pilot.press("escape")
        await until(pilot, lambda: bool(host.results))
    assert host.results[0].rows > 0


# Writing.


async def written(name: str, lines: list[str], tmp_path: Path) -> tuple[Any, str]:
    """What the dialog gave and said when this name was confirmed."""
    host = Host(lambda: WriteFileDialog("watchroom-wraps.jsonl", lambda: lines))
    async with host.run_test(size=(80, 24)) as pilot:
        dialog = await opened(pilot, host)
        dialog.path.text = name
        await pilot.press("enter", "ctrl+s")
        await until(pilot, lambda: bool(host.results) or ("writing" not in dialog.said.words and dialog.said.words != ""))
        said = dialog.said.words
    return (host.results or [None])[0], said


async def test_a_new_file_is_written_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"text": text}, ensure_ascii=False) for text in HOSTILE]
    path, _ = await written("out.jsonl", lines, tmp_path)
    assert path == Path("out.jsonl") and stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o600
    found = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert not ACTING.search(found.replace("\n", "")) and len([json.loads(line) for line in found.splitlines()]) == len(HOSTILE)


async def test_home_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path, _ = await written("~/out.jsonl", ["{}"], tmp_path)
    assert path == tmp_path / "out.jsonl" and path.read_text() == "{}\n"


async def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    for path in (there, link):
        result, said = await written(str(path), ["{}"], tmp_path)
        assert result is None and "left as it is" in said
    assert there.read_text() == "mine" and not (tmp_path / "nowhere").exists()


async def test_what_stands_in_the_way_is_said_in_a_sentence(tmp_path: Path) -> None:
    assert "There is no folder" in (await written(str(tmp_path / "no" / "out"), [], tmp_path))[1]
    assert "is a folder" in (await written(str(tmp_path), [], tmp_path))[1]
    assert "Give the file a name" in (await written("  ", [], tmp_path))[1]
    assert "can't be written" in (await written(str(tmp_path / ("x" * 300)), [], tmp_path))[1]


async def test_a_file_that_can_not_be_written_whole_is_taken_away(tmp_path: Path) -> None:
    def lines() -> Any:
        yield "{}"
        raise OSError(28, "No space left on device")

    host = Host(lambda: WriteFileDialog("x", lines))
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        dialog.path.text = str(tmp_path / "out")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "no space left" in dialog.said.words)
    assert not (tmp_path / "out").exists()


def test_the_proposed_name_is_a_free_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert free_name("w.jsonl") == "w.jsonl"
    (tmp_path / "w.jsonl").touch()
    (tmp_path / "w-2.jsonl").symlink_to("nowhere")
    assert free_name("w.jsonl") == "w-3.jsonl"


# Counted fields.


@pytest.mark.parametrize(
    ("make", "field", "name", "required"),
    [
        (lambda: AskReleaseDialog(wrap(), Deeds()), "message", "message", ""),
        (lambda: AnchorsDialog(AnchorCheck("anchored", 9, 0, 9, 0, ()), Deeds()), "reason", "reason", "it goes into the trail"),
        (lambda: ForceCancelDialog((wrap(),), Deeds(), ("an earlier one",)), "reason", "reason", "one sentence that says why"),
    ],
)
async def test_a_counted_field_counts_from_the_start_and_says_what_is_wrong(
    make: Callable[[], Any], field: str, name: str, required: str
) -> None:
    host = Host(make)
    async with host.run_test(size=(80, 24)) as pilot:
        dialog = await opened(pilot, host)
        counted = getattr(dialog, field)
        assert isinstance(counted, CountedField)
        assert "0/500" in drawn(host) and required in dialog.why_not() and bool(required) == bool(dialog.why_not())
        counted.text = f"  {'x' * 501} "
        await until(pilot, lambda: "501/500" in drawn(host))
        assert dialog.why_not() == f"The {name} has 501 characters; at most 500 are kept."
        assert counted._note.has_class("-bad") and not dialog.may_confirm
        counted.text = "  the backup of Monday "
        await until(pilot, lambda: "20/500" in drawn(host))
        assert counted.words == "the backup of Monday" and dialog.may_confirm and not counted._note.has_class("-bad")


async def test_recent_reasons_are_offered_while_the_field_is_empty() -> None:
    host = host_of(wrap(), do=Deeds(), recent=("an earlier one",))
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(pilot, host)
        assert "↑↓ 1 recent one  0/500" in drawn(host)
        await type_in(pilot, "x")
        await until(pilot, lambda: "1/500" in drawn(host) and "recent" not in drawn(host))


# Foreign text.


@pytest.mark.parametrize("number", range(len(HOSTILE)))
async def test_hostile_text_is_inert_in_every_dialog(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dialog, "OPENING_SECONDS", 0.01)
    text = HOSTILE[number]
    action = Action("x", "x", text[:50], text, "Act")
    kept = Salvaged(1, text, 9, text, text, text, None)
    makers: tuple[Callable[[], Any], ...] = (
        lambda: AskReleaseDialog(wrap(project_key=text), Deeds()),
        lambda: ChooserDialog(text, (Choice("k", text, text), Choice("l", "other")), "k"),
        lambda: MenuDialog(text, (action,)),
        lambda: TextDialog(text, text=text),
        lambda: SalvageDialog(text, 9, (kept,)),
        lambda: ProgressDialog(text, lambda progress, cancelled: text),
    )
    for make in makers:
        host = Host(make)
        async with host.run_test(size=(80, 24)) as pilot:
            dialog = await opened(pilot, host)
            if isinstance(dialog, ProgressDialog):
                await until(pilot, lambda: dialog.finished)  # noqa: B023
            assert not ACTING.search(drawn(host).replace("\n", ""))
