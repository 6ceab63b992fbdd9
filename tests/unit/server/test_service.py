"""The service: one answer for every call, whatever happens; notices ride along (room.md 2.2, 2.13; faults.md T13)."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import StoreError, StoreLocked
from core.room import Room
from core.server.service import Service
from tests.rooms import Rooms
from tests.unit.server.support import code_of, data_of, sentence_of, service_on


def record(service: Service) -> None:
    data_of(service.answer("record", {"content": "Queue is bounded", "episode_type": "observation"}))


def notices(answer: dict[str, Any]) -> list[str]:
    """The notices of an answer; each is a last text block as well."""
    told = answer.get("_meta", {}).get("watchroom/notices", [])
    blocks = [block["text"] for block in answer["content"]][len(answer["content"]) - len(told) :]
    for notice, block in zip(told, blocks, strict=True):
        assert block.startswith("Notice")
        assert block.endswith(notice["text"])
    return [notice["kind"] for notice in told]


def test_every_call_moves_the_time_of_last_call_refused_ones_too(service: Service, room: Room, rooms: Rooms) -> None:
    for tool in ("status", "recall", "wrap_cancle", "prepare_wrap", "save_continuity"):
        now = rooms.clock.advance(7)
        service.answer(tool, {}, "codex", "2")
        beat = room.beats_reader.one(room.identity.connection_id)
        assert beat is not None
        assert beat.call_at is not None
        assert beat.call_at.startswith(now.isoformat()[:19])
        assert beat.client_name == "codex"


def test_refusals_are_counted(service: Service, room: Room) -> None:
    for tool in ("status", "wrap_cancle", "save_continuity", "record"):
        service.answer(tool, {})
    beat = room.beats_reader.one(room.identity.connection_id)
    assert beat is not None
    assert beat.refusals == 3


def test_a_refused_argument_leaves_no_row_in_the_trail(service: Service, room: Room) -> None:
    with room.snapshot() as view:
        before = view.one("select count(*) from audit")[0]
    service.answer("wrap_cancel", {"force": None})
    with room.snapshot() as view:
        assert view.one("select count(*) from audit")[0] == before


def test_a_cancel_is_told_to_its_holder_once_with_whatever_comes_next(rooms: Rooms) -> None:
    holder, peer = service_on(rooms.agent()), service_on(rooms.agent())
    record(holder)
    data_of(holder.answer("prepare_wrap", {}))
    own = peer.answer("wrap_cancel", {"reason": "I was in a hurry"})
    assert notices(own) == []
    # a refusal carries it as well
    first = holder.answer("save_continuity", {"text": "late"})
    assert code_of(first) == "no_wrap"
    assert notices(first) == ["cancelled"]
    assert "“I was in a hurry”" in first["content"][-1]["text"]
    assert notices(holder.answer("status", {})) == []


def test_an_ask_comes_again_at_most_once_a_minute_until_the_wrap_ends(rooms: Rooms) -> None:
    holder, operator = service_on(rooms.agent()), rooms.operator()
    record(holder)
    wrap = data_of(holder.answer("prepare_wrap", {}))
    operator.do("ask_release", wrap_id=wrap["wrap_id"], message="please finish")
    answer = holder.answer("status", {})
    assert notices(answer) == ["release_asked"]
    assert answer["content"][-1]["text"].startswith("Notice from the operator: ")
    assert notices(holder.answer("recall", {})) == []
    rooms.clock.advance(59)
    assert notices(holder.answer("recall", {})) == []
    rooms.clock.advance(1)
    assert notices(holder.answer("recall", {})) == ["release_asked"]
    rooms.clock.advance(61)
    ended = holder.answer("wrap_cancel", {"wrap_token": wrap["wrap_token"]})
    assert data_of(ended)["outcome"] == "cancelled"
    assert notices(ended) == []


def test_the_token_stays_the_last_line_of_its_own_text_when_a_notice_follows(rooms: Rooms) -> None:
    holder, peer = service_on(rooms.agent()), service_on(rooms.agent())
    record(holder)
    data_of(holder.answer("prepare_wrap", {}))
    peer.answer("wrap_cancel", {})
    again = holder.answer("prepare_wrap", {})
    assert notices(again) == ["cancelled"]
    assert sentence_of(again).splitlines()[-1] == f"Wrap token: {data_of(again)['wrap_token']}"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreLocked("The store is locked by another process."), "store_busy"),
        (StoreError("The disk is full."), "store_unusable"),
        (RuntimeError("secret"), "internal_error"),
    ],
)
def test_what_goes_wrong_has_the_form_of_a_refusal(
    service: Service, room: Room, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(room, "do", fail)
    answer = service.answer("status", {})
    assert code_of(answer) == code
    assert "secret" not in str(answer)
    assert "Traceback" not in str(answer)


def test_an_answer_is_given_though_its_notices_cannot_be_read(
    service: Service, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise StoreLocked("locked")

    monkeypatch.setattr(room, "take_notices", fail)
    assert data_of(service.answer("status", {}))["episodes_total"] == 0
