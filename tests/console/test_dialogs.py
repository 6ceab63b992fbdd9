"""Force-cancel: the right wrap, never by reflex, with what was shown, and every outcome said (faults.md T15, T42, T43, T59)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.events import Paste

from console.dialogs.base import Dialog, now
from console.dialogs.parts import DialogButton, TypedField
from core.models import Verdict
from core.texts import REASON_LIMIT
from core.views.holders import Holder
from tests.console.dialog_host import CHANGED, FINISHED, LOCKED, Deeds, drawn, host_of, opened, snapshot, type_in, wrap
from tests.console.hostile import ACTING
from tests.console.waiting import until

LIVELY: tuple[Verdict, ...] = ("LIVE", "STARTING", "WEDGED", "STALE", "UNKNOWN")


async def test_a_dead_wrap_is_cancelled_with_a_reason_and_exactly_what_was_shown() -> None:
    do = Deeds()
    host = host_of(row := wrap(), do=do)
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(pilot, host)
        await type_in(pilot, "its host is down")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(host.results))
    assert do.calls == [
        (
            "force_cancel",
            {
                "wrap_id": 7,
                "generation": row.generation,
                "token_start": "a1b2c3d4",
                "verdict": "DEAD",
                "last_call_at": row.last_call_at,
                "row_sha256": row.row_sha256,
                "reason": "its host is down",
                "typed": None,
            },
        )
    ]
    (outcomes,) = host.results
    assert outcomes[0].receipt.wrap_id == 7 and outcomes[0].refusal is None


async def test_the_dialog_names_the_thing_and_what_follows_and_fits_a_small_terminal() -> None:
    host = host_of(wrap(verdict="STALE"), do=Deeds())
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(pilot, host)
        shown = drawn(host)
    for words in (
        "wrap 7 of project-7",
        "generation 12, token a1b2c3d4…",
        "release-agent, pid 3142 on db1, user ada",
        "2 h 05 min",
        "5 episodes",
        "3 agents, 4 prepares refused",
        "STALE",
        "no beat for 3 min",
        "can't be undone",
        "No episode is deleted",
        "kept as salvage",
        "0/500",
        "token",
        "[ Back ]",
        "[ Ask for release ]",
        "[ Force-cancel ]",
    ):
        assert words in shown, words


async def test_long_evidence_scrolls_and_the_buttons_stay() -> None:
    row = wrap(verdict="LIVE")
    reasons = tuple(replace(row.judgement.evidence[0], text=f"reason number {number}") for number in range(40))
    host = host_of(replace(row, judgement=replace(row.judgement, evidence=reasons)), do=Deeds())
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(pilot, host)
        await until(pilot, lambda: "PgDn more" in drawn(host))
        assert "[ Force-cancel ]" in drawn(host) and "reason number 39" not in drawn(host)
        for _ in range(6):
            await pilot.press("pagedown")
        assert "kept as salvage" in drawn(host) and "[ Force-cancel ]" in drawn(host)


# Never by reflex (T43).


async def test_a_held_trigger_key_only_types() -> None:
    do = Deeds()
    host = host_of(wrap(), do=do, at_once=False)
    async with host.run_test() as pilot:
        await pilot.press(*["X"] * 12)
        dialog = await opened(pilot, host)
        assert isinstance(host.focused, TypedField) and len(host.screen_stack) == 2
        assert set(dialog.reason.text) <= {"X"}
    assert do.calls == []


async def test_keys_pasted_behind_the_trigger_confirm_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    do = Deeds()
    monkeypatch.setattr(Dialog, "OPENING_SECONDS", 30.0)
    host = host_of(wrap(), do=do, at_once=False)
    async with host.run_test() as pilot:
        await pilot.press("X", *"gone", "enter", "ctrl+s", "tab", "tab", "enter", "enter", "ctrl+s")
        assert len(host.screen_stack) == 2 and do.calls == []


async def test_enter_in_the_fields_moves_on_and_never_confirms() -> None:
    do = Deeds()
    host = host_of(wrap(verdict="LIVE"), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        await pilot.press("enter")
        assert host.focused is dialog.typed.input
        await type_in(pilot, "a1b2c3")
        await pilot.press(*["enter"] * 20)
        assert do.calls == [] and host.focused is dialog.typed.input and dialog.may_confirm


async def test_enter_on_the_confirming_button_reached_by_tab_confirms() -> None:
    do = Deeds()
    host = host_of(wrap(), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        await pilot.press("tab")
        assert isinstance(host.focused, DialogButton) and host.focused.label == "Back"
        await pilot.press("tab")
        assert host.focused is dialog.confirm_button
        await pilot.press("enter")
        await until(pilot, lambda: bool(host.results))
    assert len(do.calls) == 1


async def test_escape_goes_back_and_q_in_the_field_is_text() -> None:
    do = Deeds()
    host = host_of(wrap(), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "q")
        assert dialog.reason.text == "q"
        await pilot.press("escape")
        await until(pilot, lambda: len(host.screen_stack) == 1)
    assert host.results == [None] and do.calls == []


async def test_while_it_runs_it_says_so_and_cannot_be_confirmed_or_left() -> None:
    do = Deeds()
    do.gate.clear()
    host = host_of(wrap(), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: dialog.busy)
        assert "cancelling…" in drawn(host)
        await pilot.press("ctrl+s", "ctrl+s", "escape")
        assert len(do.calls) == 1 and host.screen is dialog and "Wait for the outcome" in dialog.said.words
        do.gate.set()
        await until(pilot, lambda: bool(host.results))
    assert len(do.calls) == 1


# The reason.


async def test_a_blank_reason_and_one_too_long_are_refused_in_words() -> None:
    do = Deeds()
    host = host_of(wrap(), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await pilot.press("space", "ctrl+s")
        assert "A reason is required" in dialog.said.words
        dialog.reason.text = "x" * (REASON_LIMIT + 1)
        await until(pilot, lambda: f"{REASON_LIMIT + 1}/{REASON_LIMIT}" in drawn(host))
        await pilot.press("ctrl+s")
        assert f"at most {REASON_LIMIT}" in dialog.said.words
    assert do.calls == []


async def test_recent_reasons_are_offered_and_what_was_typed_comes_back() -> None:
    host = host_of(wrap(), do=Deeds(), recent=("its host is down", "the agent was stopped"))
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        assert "2 recent ones" in drawn(host)
        await type_in(pilot, "my own")
        await pilot.press("up")
        assert dialog.reason.text == "its host is down"
        await pilot.press("up", "up")
        assert dialog.reason.text == "the agent was stopped"
        await pilot.press("down", "down")
        assert dialog.reason.text == "my own"


async def test_a_pasted_reason_is_one_inert_line() -> None:
    host = host_of(wrap(), do=Deeds())
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        host.post_message(Paste("two\nlines\x1b[2J \u202ehere"))
        await until(pilot, lambda: "lines" in dialog.reason.text)
        assert dialog.reason.text.startswith("two lines") and not ACTING.search(dialog.reason.text)


# The token.


@pytest.mark.parametrize("verdict", LIVELY)
async def test_every_other_verdict_asks_for_the_start_of_the_token(verdict: Verdict) -> None:
    do = Deeds()
    host = host_of(wrap(verdict=verdict), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        await pilot.press("ctrl+s")
        assert "first 6 characters" in dialog.said.words
        await pilot.press("enter")
        await type_in(pilot, "a1b2c4")
        await pilot.press("ctrl+s")
        assert "is not how its token starts" in dialog.said.words and do.calls == []
        await pilot.press("backspace", "3", "ctrl+s")
        await until(pilot, lambda: bool(host.results))
    assert do.calls[0][1]["typed"] == "a1b2c3" and do.calls[0][1]["verdict"] == verdict


async def test_a_damaged_wrap_needs_no_token_and_shows_what_cannot_be_read() -> None:
    row = wrap(verdict="PARTIAL", project_key=None, generation=None, token_start=None, episodes=None, age_seconds=None)
    row = replace(row, holder=Holder(None, None, None, None, None, None, None), last_call_at=None)
    do = Deeds()
    host = host_of(row, do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        assert "no project" in drawn(host) and "unreadable" in drawn(host) and not dialog.ask_button.display
        await type_in(pilot, "why")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(host.results))
    assert do.calls[0][1]["row_sha256"] == row.row_sha256 and do.calls[0][1]["verdict"] == "PARTIAL"


async def test_asking_for_release_is_the_gentler_way_and_cancels_nothing() -> None:
    do = Deeds()
    host = host_of(wrap(verdict="LIVE"), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "please")
        await pilot.press("tab", "tab", "tab")
        assert host.focused is dialog.ask_button
        await pilot.press("enter")
        await until(pilot, lambda: "Asked release-agent" in dialog.said.words)
        await pilot.press("escape")
        await until(pilot, lambda: bool(host.results))
    assert do.calls == [("ask_release", {"wrap_id": 7, "message": "please"})] and host.results == [None]


# Following (T15, T42).


async def test_a_holder_that_comes_back_is_said_and_asks_for_the_token() -> None:
    do = Deeds()
    host = host_of(wrap(), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        assert dialog.may_confirm and not dialog.typed.display
        dialog.follow(snapshot(wrap(verdict="LIVE")))
        await pilot.press("ctrl+s")
        assert "changed: was DEAD, is LIVE now" in dialog.said.words and do.calls == []
        assert "changed: was DEAD, is LIVE now" in drawn(host) and "last beat 3 s ago" in drawn(host)
        await until(pilot, lambda: not dialog.too_early(now()))
        await pilot.press("ctrl+s")
        assert do.calls == [] and "first 6 characters" in dialog.said.words and dialog.reason.text == "why"


async def test_a_change_makes_confirming_wait_a_moment() -> None:
    do = Deeds()
    host = host_of(wrap(verdict="STALE"), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        dialog.reason.text, dialog.typed.text = "why", "a1b2c3"
        dialog.typed.input.focus()
        dialog.follow(snapshot(wrap(verdict="DEAD")))
        assert not dialog.may_confirm and dialog.confirm_button.off
        await until(pilot, lambda: host.focused is dialog.reason.input)
        await pilot.press("ctrl+s")
        assert do.calls == []
        await until(pilot, lambda: dialog.may_confirm and not dialog.confirm_button.off)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(host.results))
    assert do.calls[0][1]["verdict"] == "DEAD" and do.calls[0][1]["typed"] is None


async def test_ages_alone_are_no_change_and_a_later_call_is_passed_on_as_shown() -> None:
    do = Deeds()
    host = host_of(wrap(), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        dialog.follow(snapshot(wrap(age_seconds=9_999.0, blocks=9)))
        assert dialog.may_confirm and not dialog.said.sections
        await until(pilot, lambda: "9 agents" in drawn(host))
        dialog.follow(snapshot(wrap(last_call_at="2026-11-30T11:59:00Z")))
        assert "has called since" in dialog.said.words
        await until(pilot, lambda: dialog.may_confirm)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(host.results))
    assert do.calls[0][1]["last_call_at"] == "2026-11-30T11:59:00Z"


async def test_another_order_and_other_wraps_do_not_change_what_is_cancelled() -> None:
    do = Deeds()
    host = host_of(wrap(7), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        dialog.follow(snapshot(wrap(3), wrap(9, "LIVE"), wrap(7), wrap(1)))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(host.results))
    assert [arguments["wrap_id"] for _, arguments in do.calls] == [7]


async def test_a_wrap_that_ends_meanwhile_leaves_only_back() -> None:
    do = Deeds()
    host = host_of(wrap(), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        dialog.follow(snapshot(wrap(8)))
        await until(pilot, lambda: "has ended meanwhile" in drawn(host) and "Force-cancel ]" not in drawn(host))
        await until(pilot, lambda: not dialog.too_early(now()))
        await pilot.press("ctrl+s")
        assert do.calls == [] and host.focused is dialog.back_button
        await pilot.press("enter")
        await until(pilot, lambda: host.results == [None])


# Refusals and failures (T59).


async def test_changed_evidence_cancels_nothing_keeps_the_reason_and_asks_anew() -> None:
    do = Deeds(CHANGED)
    host = host_of(wrap(), do=do)
    async with host.run_test(size=(80, 24)) as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Nothing was cancelled" in dialog.said.words)
        assert dialog.reason.text == "why" and dialog.typed.has_class("-asked") and not dialog.may_confirm
        await until(pilot, lambda: "last beat 1 s ago" in drawn(host) and "● LIVE" in drawn(host))
        await until(pilot, lambda: not dialog.too_early(now()))
        await pilot.press("enter")
        await type_in(pilot, "a1b2c3")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(host.results))
    again = do.calls[1][1]
    assert again["verdict"] == "LIVE" and again["last_call_at"] == "2026-11-30T12:00:00Z" and again["typed"] == "a1b2c3"


async def test_a_failure_stays_in_the_dialog_and_the_second_press_says_already() -> None:
    do = Deeds(LOCKED, FINISHED)
    host = host_of(wrap(), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "locked by another process" in dialog.said.words)
        assert host.screen is dialog and dialog.reason.text == "why"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Already done" in dialog.said.words)
        assert "by the operator grace" in dialog.said.words and "2026-11-30T12:00:00Z" in dialog.said.words
        await until(pilot, lambda: "Force-cancel ]" not in drawn(host))
        await pilot.press("ctrl+s", "escape")
        await until(pilot, lambda: bool(host.results))
    assert len(do.calls) == 2 and host.results[0][0].receipt is None


async def test_an_error_nobody_foresaw_stays_in_the_dialog_as_a_sentence() -> None:
    do = Deeds(ZeroDivisionError("secret"))
    host = host_of(wrap(), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "should not have (ZeroDivisionError)" in dialog.said.words)
        assert "Traceback" not in drawn(host) and dialog.may_confirm
