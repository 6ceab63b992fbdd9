"""Force-cancel of several wraps, with foreign text, and on a real store (faults.md T38, T39, T15)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from console.dialogs.base import Dialog, now
from console.dialogs.force_cancel import CancelOutcome, ForceCancelDialog
from console.panes.wraps import WrapsPane
from core.views.holders import Holder
from core.views.look import Looker
from core.views.wraps import WrapRow, open_wraps
from tests.console.dialog_host import FINISHED, LOCKED, Deeds, drawn, host_of, opened, snapshot, type_in, wrap
from tests.console.hostile import ACTING, HOSTILE
from tests.console.scene import Scene, ready
from tests.console.waiting import until

# Several.


async def test_of_several_only_the_dead_and_damaged_end_each_with_its_outcome() -> None:
    do = Deeds(None, FINISHED)
    rows = (wrap(1), wrap(2, "STALE"), wrap(3, "PARTIAL"), wrap(4, "LIVE"))
    host = host_of(*rows, do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        assert "2 wraps of 4 would end" in drawn(host) and "left out: STALE" in drawn(host)
        await type_in(pilot, "the rack lost power")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "1 wrap cancelled, 1 not" in dialog.said.words)
        await until(pilot, lambda: "[ Close ]" in drawn(host))
        assert "5 episodes back in the window" in drawn(host) and "grace" in drawn(host)
        await pilot.press("enter")
        await until(pilot, lambda: bool(host.results))
    assert [arguments["wrap_id"] for _, arguments in do.calls] == [1, 3]
    assert {arguments["reason"] for _, arguments in do.calls} == {"the rack lost power"}
    assert [type(one) for one in host.results[0]] == [CancelOutcome, CancelOutcome]
    assert [one.receipt is None for one in host.results[0]] == [False, True]


async def test_several_of_which_none_is_dead_can_not_be_confirmed() -> None:
    do = Deeds()
    host = host_of(wrap(1, "LIVE"), wrap(2, "STALE"), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        await pilot.press("ctrl+s")
        assert "only DEAD and PARTIAL" in dialog.said.words and do.calls == []


async def test_one_of_several_that_grows_lively_is_left_out() -> None:
    do = Deeds()
    host = host_of(wrap(1), wrap(2), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        dialog.follow(snapshot(wrap(1), wrap(2, "LIVE")))
        assert "wrap 2 changed: was DEAD, is LIVE now" in dialog.said.words
        await until(pilot, lambda: dialog.may_confirm)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "1 wrap cancelled" in dialog.said.words)
    assert [arguments["wrap_id"] for _, arguments in do.calls] == [1]


async def test_a_locked_store_stops_the_list_and_the_rest_can_be_tried_again() -> None:
    do = Deeds(None, LOCKED)
    host = host_of(wrap(1), wrap(2), wrap(3), do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        await type_in(pilot, "why")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "locked by another process" in dialog.said.words)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "3 wraps cancelled" in dialog.said.words)
    assert [arguments["wrap_id"] for _, arguments in do.calls] == [1, 2, 2, 3]


# Foreign text (T38, T39).


@pytest.mark.parametrize("number", range(len(HOSTILE)))
async def test_hostile_text_in_every_field_is_inert(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dialog, "OPENING_SECONDS", 0.01)
    text = HOSTILE[number]
    row = wrap(project_key=text, token_start=text[:8], gated_session=text)
    row = replace(
        row,
        holder=Holder("c1", text, text, text, 7, text, text),
        judgement=replace(row.judgement, evidence=(replace(row.judgement.evidence[0], text=text),)),
    )
    refusal = replace_sentence(text)
    for rows in ((row,), (row, replace(row, wrap_id=8))):
        host = host_of(*rows, do=Deeds(refusal, refusal), recent=(text,))
        async with host.run_test(size=(80, 24)) as pilot:
            dialog = await opened(pilot, host)
            await pilot.press("up")
            assert not ACTING.search(dialog.reason.text)
            dialog.reason.text = "why"
            await pilot.press("ctrl+s")
            await until(pilot, lambda: not dialog.busy)  # noqa: B023
            assert not ACTING.search(drawn(host).replace("\n", ""))


def replace_sentence(text: str) -> Exception:
    return type(FINISHED)("invalid_input", text)


# On a real store.


async def test_on_a_real_store_a_holder_that_comes_back_is_found_out_by_the_transaction(room_scene: Scene) -> None:
    row = shown_wrap(room_scene, room_scene.dead_wrap.wrap_id)
    assert row.judgement.verdict == "DEAD"

    async def do(name: str, **arguments: Any) -> Any:
        return await asyncio.to_thread(room_scene.operator.do, name, **arguments)

    host = host_of(row, do=do)
    async with host.run_test() as pilot:
        dialog = await opened(pilot, host)
        revive(room_scene)
        await type_in(pilot, "its host is down")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Nothing was cancelled" in dialog.said.words)
        await until(pilot, lambda: not dialog.too_early(now()))
        await pilot.press("enter")
        await type_in(pilot, (row.token_start or "")[:6])
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(host.results))
    assert host.results[0][0].receipt.reason == "its host is down"
    assert row.wrap_id not in {one.wrap_id for one in shown_wraps(room_scene)}


async def test_in_the_console_x_ends_the_dead_wrap_and_its_row_goes(room_scene: Scene) -> None:
    app = room_scene.app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, ready(app))
        await pilot.press("2")
        pane = app.query_one(WrapsPane)
        await until(pilot, lambda: pane.table.cursor_key is not None)
        pane.go_to_place(str(room_scene.dead_wrap.wrap_id))
        await until(pilot, lambda: pane.table.cursor_key == str(room_scene.dead_wrap.wrap_id))
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, ForceCancelDialog) and not app.screen.too_early(now()))
        await type_in(pilot, "its host is down")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await until(pilot, lambda: str(room_scene.dead_wrap.wrap_id) not in {row.key for row in pane.table.rows})
    assert room_scene.dead_wrap.wrap_id not in {row.wrap_id for row in shown_wraps(room_scene)}


def revive(room_scene: Scene) -> None:
    """The dead agent was only away: its processes are there again, and it calls."""
    identity = room_scene.dead.processes.identity  # type: ignore[attr-defined]
    parent = room_scene.dead.processes.parent_of_here  # type: ignore[attr-defined]
    room_scene.rooms.processes.table[identity.pid] = identity.started_ticks
    room_scene.rooms.processes.table[parent[0]] = parent[1]
    room_scene.dead.called()
    room_scene.dead.beats.beat(room_scene.dead.identity.connection_id)


def shown_wraps(room_scene: Scene) -> tuple[WrapRow, ...]:
    looker = Looker(room_scene.rooms.path, room_scene.rooms.clock, room_scene.rooms.processes)
    try:
        with looker.snapshot() as (view, witness):
            return open_wraps(view, witness, witness.beats.all(), witness.beats.newest())
    finally:
        looker.close()


def shown_wrap(room_scene: Scene, wrap_id: int) -> WrapRow:
    return next(row for row in shown_wraps(room_scene) if row.wrap_id == wrap_id)
