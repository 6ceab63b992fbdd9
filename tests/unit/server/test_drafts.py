"""draft_continuity over the server's door: arguments, words, refusals (issue 4, 5; room.md 2.2 to 2.5)."""

from __future__ import annotations

from core.memory.salvage import SIZE_LIMIT
from core.server.service import TOOLS, Service
from tests.rooms import text
from tests.unit.server.support import code_of, data_of, sentence_of


def opened(service: Service) -> str:
    service.answer("record", {"content": "A fact", "episode_type": "observation"})
    token: str = data_of(service.answer("prepare_wrap", {}))["wrap_token"]
    return token


def test_a_draft_is_kept_and_says_that_nothing_was_saved(service: Service) -> None:
    token = opened(service)
    answer = service.answer("draft_continuity", {"wrap_token": token, "text": "half a text"})
    assert (data_of(answer)["changed"], data_of(answer)["drafts"], data_of(answer)["characters"]) == (True, 1, 11)
    assert "Nothing was saved" in sentence_of(answer)
    again = service.answer("draft_continuity", {"wrap_token": token, "text": "half a text"})
    assert data_of(again)["changed"] is False and "Kept already" in sentence_of(again)
    assert data_of(service.answer("save_continuity", {"wrap_token": token, "text": text()}))["outcome"] == "saved"


def test_the_token_is_required_and_a_late_draft_is_refused_as_a_late_save_is(service: Service) -> None:
    token = opened(service)
    assert code_of(service.answer("draft_continuity", {"text": "x"})) == "invalid_input"
    assert code_of(service.answer("draft_continuity", {"wrap_token": "", "text": "x"})) == "invalid_input"
    assert code_of(service.answer("draft_continuity", {"wrap_token": token, "text": " "})) == "invalid_input"
    assert code_of(service.answer("draft_continuity", {"wrap_token": token, "text": "x" * (SIZE_LIMIT + 1)})) == "invalid_input"
    service.answer("wrap_cancel", {"wrap_token": token})
    late = service.answer("draft_continuity", {"wrap_token": token, "text": "late"})
    assert code_of(late) == "wrap_cancelled" and "kept as salvage" in sentence_of(late)
    prepared = service.answer("prepare_wrap", {})
    assert data_of(prepared)["salvage_waiting"] == 1


def test_its_hints(service: Service) -> None:
    tool = TOOLS["draft_continuity"]
    assert (tool.read_only, tool.verb.destructive, tool.verb.idempotent) == (False, False, True)
