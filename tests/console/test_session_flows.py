"""The operator's ways with sessions and slots, each to the end against a real store (issue 3, item 8; console.md, Acting safely)."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from console.app import ConsoleApp
from console.dialogs.abandon_session import AbandonSessionDialog
from console.dialogs.end_session import EndSessionDialog
from console.dialogs.handover import HandoverDialog
from console.dialogs.relay import RelayDialog
from console.drafts import Drafts
from core.views.sessions import SessionDetail, session_detail
from core.views.slots import base_focus
from tests.console.scene import Scene, quiet, ready
from tests.console.waiting import settled, until

SEARCH_SESSION = ("3", "j")
BASKET_SESSION = ("3", "j", "j")


async def dialog_by(pilot: Pilot[Any], app: ConsoleApp, *keys: str) -> Any:
    """The dialog that these keys open, once keys count in it."""
    await until(pilot, ready(app))
    for key in keys:
        await pilot.press(key)
        await quiet(pilot)
    await until(pilot, lambda: settled(app))
    return app.screen


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Keys, each after what the one before did."""
    for key in keys:
        await pilot.press("space" if key == " " else key)
    await pilot.pause()


def detail_of(scene: Scene, session_id: str) -> SessionDetail:
    """A session as the views have it."""
    with scene.operator.snapshot() as view:
        found = session_detail(view, scene.operator.witness, session_id)
    assert found is not None
    return found


def events(scene: Scene, event: str) -> list[tuple[str, str]]:
    """Outcome and data of the trail's rows of an event."""
    with scene.operator.snapshot() as view:
        rows = view.all("select outcome, data from audit where event = ? order by seq", (event,))
    return [(row["outcome"], row["data"]) for row in rows]


async def test_a_relay_under_the_floor_is_off_until_the_base_may_shrink_for_a_reason(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "R")
        assert isinstance(dialog, RelayDialog)
        session_id = dialog.row.session_id
        await press(pilot, *"Index rebuilt.", "f6", "f7", "delete", *"Aim: page one.")
        assert dialog.measure.too_short and "short" in dialog.measure.words
        await press(pilot, "ctrl+s")
        assert "under the floor" in dialog.said.words and not dialog.may_confirm
        await press(pilot, "f8")
        assert "Why the base is to shrink is required" in dialog.why_not()
        await until(pilot, lambda: dialog.shrink_reason.input.has_focus)
        await press(pilot, *"one aim only")
        assert "type the first 6 characters" in dialog.why_not(), "a WEDGED agent may be at work"
        await press(pilot, "enter", *session_id[:6])
        await until(pilot, lambda: dialog.may_confirm)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: dialog.result_of_back() is not None)
        relayed = dialog.result_of_back()
        assert relayed.session.id in dialog.receipt.words and "ranking-18" in dialog.receipt.words
        await press(pilot, "ctrl+s")
        assert "done already" in dialog.said.words, "a second press says already"
        await press(pilot, "y")
        assert "brain_session_resume" in app.clipboard and relayed.session.id in app.clipboard
        await press(pilot, "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1 and app.pane.table.cursor_key == relayed.session.id)
        await press(pilot, "left")
        await until(pilot, lambda: app.pane.table.cursor_key == session_id)
        assert app.pane.current.successor_id == relayed.session.id  # type: ignore[attr-defined]
    before = detail_of(room_scene, session_id)
    assert before.row.status == "ended" and before.row.successor_id == relayed.session.id
    base = room_scene.operator.do("brain_project_get", project_key="search").project
    assert base.current_focus == "Aim: page one."
    ((outcome, data),) = events(room_scene, "brain_session_relay")[-1:]
    assert outcome == "done" and '"allow_focus_shrink":true' in data and "one aim only" in data and "Aim: page one." not in data
    resumed = room_scene.wedged.do("brain_session_resume", session_id=relayed.session.id, expected_client_key="ranking-18")
    assert resumed.briefing is not None and "Aim: page one." in str(resumed.briefing)


async def test_a_relay_on_a_slot_has_the_slots_cap_and_no_floor(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *BASKET_SESSION, "R")
        await press(pilot, *"Half done.", "f6", "f7", "delete", *"Lock by order.")
        assert (dialog.measure.cap, dialog.measure.floor) == (4_000, 0)
        dialog.typed.text = dialog.row.session_id[:6]
        await until(pilot, lambda: dialog.may_confirm)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: dialog.result_of_back() is not None)
        relayed = dialog.result_of_back()
    assert relayed.slot.body == "Lock by order." and relayed.slot.revision == 1
    assert detail_of(room_scene, relayed.session.id).row.slot_title == "Two tabs, one basket"


async def test_what_is_ticked_goes_into_the_ledger(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "R")
        assert dialog.capture.option_count == 2, "the decision and the learning of nobody's session"
        await press(pilot, *"Done.", "f4", "space", "down", "space")
        assert len(dialog.named) == 2 and not dialog.nothing.has_class("-asked")
        dialog.typed.text = dialog.row.session_id[:6]
        await until(pilot, lambda: dialog.may_confirm)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: dialog.result_of_back() is not None)
    assert len(detail_of(room_scene, dialog.row.session_id).ledger) == 2


async def test_a_revision_that_moves_is_shown_beside_the_text_and_can_be_gone_on_from(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "R")
        standing = dialog.standing
        await press(pilot, *"Done.", "f6", *"MINE ")
        mine = dialog.editor.text
        other = standing + "\nSomebody else's line."
        room_scene.live.do("brain_update_project_focus", project_key="search", current_focus=other, expected_focus_revision=0)
        await until(pilot, lambda: dialog.texts.moved is not None)
        assert dialog.editor.text == mine and "moved under you" in str(dialog.texts.stands.sections)
        assert "F9" in dialog.why_not() and dialog.revision_button.display
        await press(pilot, "f9")
        assert dialog.revision == 1 and dialog.standing == other and dialog.editor.text == mine
        dialog.typed.text = dialog.row.session_id[:6]
        await until(pilot, lambda: dialog.may_confirm)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: dialog.result_of_back() is not None)
    with room_scene.operator.snapshot() as view:
        base = base_focus(view, "search")
    assert base is not None
    texts = [one.focus for one in base.history]
    assert texts[:3] == [mine.strip(), other, standing]


async def test_a_refusal_by_the_revision_inside_the_transaction_keeps_the_text_too(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "R")
        do = dialog._do
        other = dialog.standing + "!"

        async def overtaken(name: str, **arguments: Any) -> Any:
            room_scene.live.do("brain_update_project_focus", project_key="search", current_focus=other, expected_focus_revision=0)
            dialog._do = do
            return await do(name, **arguments)

        dialog._do = overtaken
        await press(pilot, *"Done.", "f6", *"MINE ")
        mine = dialog.editor.text
        dialog.typed.text = dialog.row.session_id[:6]
        await until(pilot, lambda: dialog.may_confirm)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: dialog.texts.moved is not None)
        assert dialog.texts.moved == (other, 1) and dialog.editor.text == mine and dialog.result_of_back() is None
    assert events(room_scene, "brain_session_relay")[-1][0] == "refused"
    assert "MINE" not in events(room_scene, "brain_session_relay")[-1][1]


async def test_two_consoles_that_relay_one_session_get_one_receipt_and_one_conflict(room_scene: Scene) -> None:
    first, second = room_scene.app(), room_scene.app()
    async with first.run_test(size=(120, 40)) as one, second.run_test(size=(120, 40)) as other:
        dialogs = []
        for app, pilot, text in ((first, one, "FIRST "), (second, other, "SECOND ")):
            dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "R")
            await press(pilot, *"Done.", "f6", *text)
            dialog.typed.text = dialog.row.session_id[:6]
            await until(pilot, lambda dialog=dialog: dialog.may_confirm)
            dialogs.append(dialog)
        typed = [dialog.editor.text for dialog in dialogs]
        await one.press("ctrl+s")
        await other.press("ctrl+s")
        await until(one, lambda: any(dialog.result_of_back() is not None for dialog in dialogs))
        await until(other, lambda: sum(dialog._over or dialog.result_of_back() is not None for dialog in dialogs) == 2)
        receipts = [dialog.result_of_back() for dialog in dialogs]
        assert sum(receipt is not None for receipt in receipts) == 1
        lost = dialogs[0] if receipts[0] is None else dialogs[1]
        assert lost._over and lost.editor.text == typed[dialogs.index(lost)], "the text that came second is still there"
        assert not lost.may_confirm
        kept_as = lost.draft()
        app = first if lost is dialogs[0] else second
        await (one if app is first else other).press("escape")
        await until(one, lambda: len(app.screen_stack) == 1)
        assert app.drafts.load("relay", kept_as.session_id) == kept_as
    won = next(dialog for dialog in dialogs if dialog is not lost)
    base = room_scene.operator.do("brain_project_get", project_key="search").project
    assert base.current_focus == won.editor.text.strip()
    assert [outcome for outcome, _ in events(room_scene, "brain_session_relay")].count("done") == 2, (
        "the scene's own, and this one"
    )


async def test_what_was_typed_survives_the_console(room_scene: Scene) -> None:
    drafts = Drafts(room_scene.rooms.path.absolute().parent / "drafts")
    app = room_scene.app(drafts=drafts)
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "R")
        await press(pilot, *"Half a summary", "f6", *"[/] 用語 ")
        typed = dialog.editor.text
        await until(pilot, lambda: drafts.load("relay", dialog.row.session_id) is not None)
        # no esc, no close: the console is gone in the middle of it
    app = room_scene.app(drafts=Drafts(room_scene.rooms.path.absolute().parent / "drafts"))
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "R")
        assert (dialog.editor.text, dialog.summary.text) == (typed, "Half a summary")
        assert "draft was kept" in dialog.said.words


async def test_a_draft_from_an_older_revision_comes_back_as_a_conflict(room_scene: Scene) -> None:
    drafts = Drafts(None)
    app = room_scene.app(drafts=drafts)
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "E")
        assert isinstance(dialog, EndSessionDialog)
        standing = dialog.standing
        await press(pilot, *"Half", "f6", *"MINE ", "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await quiet(pilot)
        room_scene.live.do(
            "brain_update_project_focus", project_key="search", current_focus=standing + "!", expected_focus_revision=0
        )
        dialog = await dialog_by(pilot, app, "E")
        assert dialog.texts.moved == (standing + "!", 1) and dialog.editor.text == "MINE " + standing


async def test_an_end_writes_the_text_and_a_second_press_says_already(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, "3", "E")
        assert dialog.row.client_key == "release-2.14" and not dialog.typed.has_class("-asked"), "DEAD confirms plainly"
        await press(pilot, *"It was released.", "f6", *"Released. ")
        await until(pilot, lambda: dialog.may_confirm)
        await press(pilot, "ctrl+s", "ctrl+s")
        await until(pilot, lambda: dialog.result_of_back() is not None)
        assert "applied, revision 1" in dialog.receipt.words
        await press(pilot, "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
    row = detail_of(room_scene, dialog.row.session_id).row
    assert (row.status, row.summary) == ("ended", "It was released.")
    assert room_scene.operator.do("brain_project_get", project_key="checkout").project.current_focus.startswith("Released. Aim")


async def test_an_end_that_meets_a_conflict_says_so_in_its_receipt(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, "3", "E")
        do, other = dialog._do, dialog.standing + "!"

        async def overtaken(name: str, **arguments: Any) -> Any:
            room_scene.live.do(
                "brain_update_project_focus", project_key="checkout", current_focus=other, expected_focus_revision=0
            )
            return await do(name, **arguments)

        dialog._do = overtaken
        await press(pilot, *"It was released.", "f6", *"Released. ")
        await until(pilot, lambda: dialog.may_confirm)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: dialog.result_of_back() is not None)
        assert "CONFLICT" in dialog.receipt.words
    row = detail_of(room_scene, dialog.row.session_id).row
    assert row.next_focus is not None and row.next_focus.startswith("Released. Aim"), "the text is kept with the session"


async def test_a_call_of_the_agent_just_before_is_evidence_that_changed(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "A")
        assert isinstance(dialog, AbandonSessionDialog)
        do = dialog._do

        async def overtaken(name: str, **arguments: Any) -> Any:
            room_scene.wedged.called()
            return await do(name, **arguments)

        dialog._do = overtaken
        await press(pilot, *"no news", "enter", *dialog.row.session_id[:6])
        await until(pilot, lambda: dialog.may_confirm)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "LIVE" in dialog.said.words)
        assert dialog.row.judgement.verdict == "LIVE" and dialog.typed.text == "", (
            "what is so now is shown, and must be typed anew"
        )
    assert detail_of(room_scene, dialog.row.session_id).row.is_open


async def test_an_agent_that_only_goes_on_calling_takes_no_typed_character_away(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "A")
        room_scene.wedged.called()
        room_scene.rooms.clock.advance(3)
        await until(pilot, lambda: dialog.row.judgement.verdict == "LIVE")
        await press(pilot, *"no news", "enter", *dialog.row.session_id[:6])
        shown = dialog.row.last_call_at
        room_scene.wedged.called()
        room_scene.rooms.clock.advance(3)
        await until(pilot, lambda: dialog.row.last_call_at != shown)
        assert "called since" in dialog.said.words and not dialog.may_confirm, "it says so and waits a moment"
        assert dialog.typed.text == dialog.row.session_id[:6]
        await until(pilot, lambda: dialog.may_confirm)


async def test_abandon_asks_for_a_reason_and_frees_the_slot(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *BASKET_SESSION, "A")
        dialog.typed.text = dialog.row.session_id[:6]
        await press(pilot, "ctrl+s")
        assert "reason" in dialog.said.words
        await press(pilot, *"gone home")
        await until(pilot, lambda: dialog.may_confirm)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: len(app.screen_stack) == 1)
    row = detail_of(room_scene, dialog.row.session_id).row
    assert (row.status, row.abandonment_reason) == ("abandoned", "gone home")
    slots = room_scene.operator.do("brain_slot_list", project_key="checkout").slots
    assert [one.bound_session_id for one in slots] == [None]


async def test_bind_offers_the_projects_free_slots(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "b", "enter")
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: len(app.screen_stack) == 1)
    assert detail_of(room_scene, dialog.row.session_id).row.slot_title == "Typos"


async def test_a_slot_is_opened_and_closed(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, "4", "o")
        await press(
            pilot, *"Vouchers", "enter", *"topic:vouchers; topic:refunds", "shift+tab", "shift+tab", *"[b]Marcela[/b] decides"
        )
        await until(pilot, lambda: dialog.may_confirm)
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await until(pilot, lambda: getattr(app.pane.current, "title", "") == "Vouchers")  # type: ignore[attr-defined]
        dialog = await dialog_by(pilot, app, "C")
        await press(pilot, *"decided", "ctrl+s")
        await until(pilot, lambda: len(app.screen_stack) == 1)
    slot = room_scene.operator.do("brain_slot_list", project_key="checkout", status="closed").slots[0]
    assert (slot.title, slot.body, slot.close_note) == ("Vouchers", "[b]Marcela[/b] decides", "decided")
    assert [anchor.reference for anchor in slot.anchors] == ["topic:vouchers", "topic:refunds"]


async def test_read_only_offers_none_of_it(room_scene: Scene) -> None:
    app = room_scene.app(read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, ready(app))
        for keys in (("3", "R", "E", "A", "b"), ("4", "o", "C")):
            await press(pilot, *keys)
            await quiet(pilot)
            assert len(app.screen_stack) == 1


async def test_a_handover_dialog_never_loses_what_its_session_has_ended_under(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await dialog_by(pilot, app, *SEARCH_SESSION, "R")
        assert isinstance(dialog, HandoverDialog)
        await press(pilot, *"Done.", "f6", *"MINE ")
        room_scene.wedged.do(
            "brain_session_abandon", session_id=dialog.row.session_id, expected_client_key="ranking-17", reason="by itself"
        )
        await until(pilot, lambda: dialog.over)
        assert not dialog.may_confirm and dialog.editor.text.startswith("MINE ")
        await press(pilot, "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await quiet(pilot)
        draft = app.drafts.load("relay", dialog.row.session_id)
        assert draft is not None and draft.text.startswith("MINE ")
