"""Arguments are strict (room.md 2.4): nothing is coerced, nothing unknown is let through, and the refusal says why."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.server.answers import REFUSAL_KEY
from core.server.service import TOOLS, Service
from tests.unit.server.support import code_of, data_of, sentence_of

VALID: dict[str, dict[str, Any]] = {
    "record": {"content": "A fact", "episode_type": "observation"},
    "delete_episode": {"episode_id": "00000000"},
    "save_continuity": {"text": "a text"},
}
INTEGERS = [
    ("recall", "limit"),
    ("recall", "offset"),
    ("prepare_wrap", "max_chars"),
    ("prepare_wrap", "staleness_days"),
    ("prepare_wrap", "max_package_chars"),
]
BOOLEANS = [
    ("wrap_cancel", "force"),
    ("wrap_cancel", "partial"),
    ("save_continuity", "allow_shrink"),
    ("recall", "include_superseded"),
]
TOKENS = ["prepare_wrap", "save_continuity", "wrap_cancel"]


def call(service: Service, tool: str, **arguments: Any) -> dict[str, Any]:
    return service.answer(tool, {**VALID.get(tool, {}), **arguments})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(data=st.data())
@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_refuses_an_unknown_argument_and_lists_its_own(service: Service, name: str, data: st.DataObject) -> None:
    known = list(TOOLS[name].arguments.model_fields)
    unknown = data.draw(st.text(min_size=1, max_size=80).filter(lambda text: text not in known))
    answer = call(service, name, **{unknown: data.draw(st.none() | st.booleans() | st.text(max_size=5))})
    assert code_of(answer) == "invalid_input"
    assert f"The arguments of {name} are {', '.join(known)}." in sentence_of(answer)


def test_a_mistyped_force_is_named_and_cancels_nothing(service: Service) -> None:
    call(service, "record")
    call(service, "prepare_wrap")
    answer = call(service, "wrap_cancel", forse=True)
    assert "'forse' is no argument of this tool" in sentence_of(answer)
    assert data_of(call(service, "status"))["wrap"]["state"] == "open"


@pytest.mark.parametrize(("tool", "argument"), INTEGERS)
@pytest.mark.parametrize("value", ["7", True, 7.5, [7], {"n": 7}, "many"])
def test_a_whole_number_is_never_made_from_something_else(service: Service, tool: str, argument: str, value: Any) -> None:
    answer = call(service, tool, **{argument: value})
    assert code_of(answer) == "invalid_input"
    assert f"{argument!r} must be a whole number, not" in sentence_of(answer)


@pytest.mark.parametrize(("tool", "argument"), BOOLEANS)
@pytest.mark.parametrize("value", [None, 1, 0, "true", "false", [], 1.0])
def test_a_boolean_is_never_made_from_something_else(service: Service, tool: str, argument: str, value: Any) -> None:
    answer = call(service, tool, **{argument: value})
    assert code_of(answer) == "invalid_input"
    assert f"{argument!r} must be true or false, not" in sentence_of(answer)


@pytest.mark.parametrize("value", [7, True, None, ["a"], {"a": 1}])
def test_a_text_is_never_made_from_something_else(service: Service, value: Any) -> None:
    answer = call(service, "record", content=value)
    assert "'content' must be a text, not" in sentence_of(answer)


@pytest.mark.parametrize("value", ["ab12cd34", '["ab12cd34"]', {"0": "ab12cd34"}, None])
def test_a_list_is_never_made_from_something_else(service: Service, value: Any) -> None:
    assert "'supersedes' must be a list, not" in sentence_of(call(service, "record", supersedes=value))


def test_an_item_of_a_list_is_named_by_its_place(service: Service) -> None:
    assert "'derived_from[1]' must be a text, not 7" in sentence_of(call(service, "record", derived_from=["ab12cd34", 7]))


@pytest.mark.parametrize("tool", TOKENS)
@pytest.mark.parametrize("token", ["", "abc", "A" * 32, "0" * 32 + "\n", " " * 32])
def test_an_empty_or_misshapen_token_is_refused_everywhere(service: Service, tool: str, token: str) -> None:
    assert code_of(call(service, tool, wrap_token=token)) == "invalid_input"


def test_an_empty_session_is_refused_and_null_is_absent(service: Service) -> None:
    assert code_of(call(service, "wrap_cancel", session_id="")) == "invalid_input"
    assert data_of(call(service, "wrap_cancel", session_id=None, wrap_token=None))["outcome"] == "nothing_open"


@pytest.mark.parametrize(("limit", "shown"), [(2.0, 2), (0, 0), (-4, 0), (-1.0, 0), (1e300, 3)])
def test_a_limit_may_be_a_whole_number_written_as_a_fraction(service: Service, limit: float, shown: int) -> None:
    for _ in range(3):
        call(service, "record")
    assert data_of(call(service, "recall", limit=limit))["shown"] == shown


@pytest.mark.parametrize("metadata", ["free text", '{"a": 1}', '["x"]', "7", 7, True, None, [1, None], {"a": {"b": [1]}}, ""])
def test_metadata_is_stored_as_given(service: Service, metadata: Any) -> None:
    call(service, "record", metadata=metadata)
    found = data_of(call(service, "recall"))["episodes"][0]["metadata"]
    assert (type(found), found) == (type(metadata), metadata)


@pytest.mark.parametrize("value", [None, {"mood": 7}, "x", 1])
def test_what_old_clients_send_with_a_save_is_accepted_and_ignored(service: Service, value: Any) -> None:
    answer = call(service, "save_continuity", affective_state=value, allow_unlinked=value)
    assert code_of(answer) == "no_wrap"


@pytest.mark.parametrize(("argument", "value"), [("max_package_chars", 999), ("max_package_chars", 1_000_001), ("max_chars", 0)])
def test_bounds_are_named(service: Service, argument: str, value: int) -> None:
    assert f"{argument!r} must be at " in sentence_of(call(service, "prepare_wrap", **{argument: value}))


def test_every_bad_argument_is_named_at_once_and_no_library_shows(service: Service) -> None:
    answer = service.answer("record", {"episode_type": "note", "trust": "operator", "source": 3, "x": 1})
    said = sentence_of(answer)
    for name in ("content", "episode_type", "trust", "source", "x"):
        assert f"{name!r} " in said
    assert "pydantic" not in said
    assert "http" not in said


def test_a_thousand_unknown_arguments_make_no_long_answer(service: Service) -> None:
    answer = call(service, "status", **{f"argument{number}" + "x" * 500: number for number in range(1_000)})
    assert len(sentence_of(answer)) < 4_000
    assert "and 980 more" in sentence_of(answer)


def test_an_unknown_tool_is_answered_with_the_nearest_names(service: Service) -> None:
    answer = service.answer("wrap_cancle", {})
    assert code_of(answer) == "invalid_input"
    assert sentence_of(answer) == "invalid_input: there is no tool 'wrap_cancle'; did you mean wrap_cancel?"
    assert answer["_meta"][REFUSAL_KEY]["facts"]["tools"] == list(TOOLS)


def test_a_tool_with_no_near_name_is_answered_with_their_number(service: Service) -> None:
    assert sentence_of(service.answer("xyzzy", {})).endswith(f"there are {len(TOOLS)}, which tools/list names.")


def test_a_project_left_out_or_null_is_the_servers_own(service: Service) -> None:
    for arguments in ({}, {"project_key": None}):
        assert data_of(call(service, "record", **arguments))["project_key"] == "demo"
    assert data_of(call(service, "record", project_key="other"))["project_key"] == "other"


@pytest.mark.parametrize("content", ["a\x00b", "half \ud800 a character", " \n "])
def test_a_text_that_cannot_be_kept_is_answered_with_a_sentence(service: Service, content: str) -> None:
    answer = call(service, "record", content=content)
    assert code_of(answer) == "invalid_input"
    sentence_of(answer).encode()


def test_half_a_character_in_metadata_or_an_id_is_answered_with_a_sentence(service: Service) -> None:
    assert code_of(call(service, "record", metadata={"k": ["\udfff"]})) == "invalid_input"
    for answer in (
        call(service, "delete_episode", episode_id="\ud800"),
        call(service, "status", **{"\ud800": 1}),
        call(service, "recall", keyword="\ud800"),
        service.answer("\ud800", {}),
    ):
        assert code_of(answer) in ("invalid_input", "episode_not_found")
        for block in answer["content"]:
            block["text"].encode()


def test_an_empty_text_is_the_arguments_fault_whatever_is_open(service: Service) -> None:
    answer = call(service, "save_continuity", text="")
    assert code_of(answer) == "invalid_input" and "'text'" in sentence_of(answer)
    assert code_of(call(service, "save_continuity", text=" ")) == "no_wrap"
