"""`watchroom status`, `wraps`, `cancel` and `ask-release` (console.md, screens 1 and 2, Acting safely)."""

from __future__ import annotations

from typing import Any

import pytest

from console.commands import cancel as cancel_module
from core.room import Room
from tests.rooms import Rooms, refused, text
from tests.unit.cli.conftest import Cli, make_partial

HOSTILE = "[/x] [red] \x1b[2J \x9b1m \u202etxt.exe\u202c a\nb\tc \x07 名前 👩‍🚀"


def kill(rooms: Rooms, room: Room) -> None:
    """Kill an agent and let its beats run out."""
    rooms.kill(room)
    rooms.clock.advance(20)


def token_start(cli: Cli) -> str:
    """The start of the open wrap's token, as shown."""
    start: str = cli.data("wraps")["wraps"][0]["token_start"]
    return start


def test_wraps_lists_the_open_ones_with_verdict_and_evidence(cli: Cli, agent: Room) -> None:
    output = cli("wraps").stdout
    assert output.splitlines()[0].split()[:3] == ["WRAP", "PROJECT", "VERDICT"]
    assert "LIVE" in output and "claude-code" in output
    [row] = cli.data("wraps")["wraps"]
    assert (row["wrap_id"], row["project_key"], row["judgement"]["verdict"], row["episodes"]) == (1, "demo", "LIVE", 2)
    assert row["judgement"]["evidence"][0]["text"]


def test_wraps_of_another_project_are_left_out(cli: Cli, agent: Room) -> None:
    assert cli.data("wraps", "--project", "other")["wraps"] == []
    assert cli("wraps", "--project", "other").stdout == "No wrap is open.\n"


def test_the_detail_shows_evidence_timeline_episodes_and_salvage(cli: Cli, rooms: Rooms, agent: Room) -> None:
    with agent.snapshot() as view:
        token = view.one("select wrap_token from wraps")[0]
    rooms.operator().do("ask_release", wrap_id=1, message="others wait")
    assert cli("cancel", "1", "--reason", "enough", "--typed", token_start(cli)[:6]).exit_code == 0
    late = refused(agent, "save_continuity", project_key="demo", text=text(State="late words"), wrap_token=token)
    assert late.code == "wrap_cancelled"
    output = cli("wraps", "1").stdout
    for words in ("wrap_started", "wrap_cancelled", "the build is red", "late words", "enough", "others wait"):
        assert words in output
    data = cli.data("wraps", "1")
    assert [one["content"] for one in data["episodes"]] == ["the build is red", "the build is green"]
    [kept] = data["salvage"]
    assert "late words" in cli("wraps", "1", "--salvage", str(kept["id"])).stdout
    assert cli.error("wraps", "1", "--salvage", "99")["code"] == "no_salvage"


def test_an_ended_wrap_has_no_verdict(cli: Cli, rooms: Rooms, agent: Room) -> None:
    agent.do("wrap_cancel", project_key="demo", reason="not now")
    assert cli.data("wraps")["wraps"] == []
    [row] = cli.data("wraps", "--ended")["wraps"]
    assert (row["state"], row["judgement"], row["ended_reason"]) == ("cancelled", None, "not now")
    assert cli.data("wraps", "--ended", "--project", "other")["wraps"] == []
    assert len(cli.data("wraps", "--ended", "--project", "demo", "--limit", "1")["wraps"]) == 1
    assert "not now" in cli("wraps", "--ended").stdout


def test_a_wrap_that_is_not_there_is_refused(cli: Cli, agent: Room) -> None:
    assert cli.error("wraps", "77")["code"] == "no_wrap"
    assert cli.error("wraps", "1", "--project", "other")["code"] == "no_wrap"


def test_status_says_first_what_needs_a_person(cli: Cli, rooms: Rooms, agent: Room) -> None:
    assert "Nothing needs you." in cli("status").stdout
    kill(rooms, agent)
    lines = cli("status").stdout.splitlines()
    assert lines[2] == "Needs you"
    assert "wrap 1 of demo is DEAD" in lines[3]
    data = cli.data("status")
    assert data["needs_you"][0]["kind"] == "dead_wrap" and data["trail"]["verified"] is None
    assert cli.data("status", "--project", "other")["needs_you"] == []


def test_hostile_texts_are_inert_in_tables_and_json(cli: Cli, rooms: Rooms) -> None:
    agent = rooms.agent()
    agent.called(HOSTILE, "1")
    agent.do("record", project_key="demo", content=HOSTILE, episode_type="observation")
    agent.do("prepare_wrap", project_key="demo", max_chars=20_000, staleness_days=7)
    assert cli("cancel", "1", "--reason", HOSTILE, "--typed", token_start(cli)[:6]).exit_code == 0
    for command in (
        ("status",),
        ("wraps", "1"),
        ("wraps", "--ended"),
        ("audit", "list"),
        ("audit", "export"),
        ("cancel", "1", "--reason", "x"),
    ):
        for more in ((), ("--json",)) if command[-1] != "export" else ((),):
            output = cli(*command, *more).output
            assert not any(one in output for one in "\x1b\x9b\x07\u202e\u202c\t"), command
            assert "Traceback" not in output
    assert "[/x] [red]" in cli("wraps", "1").stdout


def test_a_dead_wrap_that_is_named_is_cancelled_plainly(cli: Cli, rooms: Rooms, agent: Room) -> None:
    kill(rooms, agent)
    result = cli("cancel", "1", "--reason", "its agent is gone")
    assert result.exit_code == 0, result.output
    assert "✗" in result.stderr and "is gone" in result.stderr, "it is shown with its evidence"
    assert "Cancelled wrap 1 of demo" in result.stdout
    assert "already finished" in cli.error("cancel", "1", "--reason", "again")["sentence"]


def test_the_receipt_is_the_transactions_own(cli: Cli, rooms: Rooms, agent: Room) -> None:
    kill(rooms, agent)
    data = cli.data("cancel", "1", "--reason", "its agent is gone")
    assert (data["outcome"], data["wrap_id"], data["authorised_by"], data["episodes"]) == ("cancelled", 1, "operator", 2)


def test_a_live_wrap_needs_the_first_six_characters_of_its_token(cli: Cli, agent: Room) -> None:
    start = token_start(cli)
    assert cli.error("cancel", "1", "--reason", "why")["code"] == "invalid_input"
    assert cli.error("cancel", "1", "--reason", "why", "--yes")["code"] == "invalid_input"
    assert cli.error("cancel", "1", "--reason", "why", "--typed", "zzzzzz")["code"] == "invalid_input"
    assert len(cli.data("wraps")["wraps"]) == 1
    assert cli("cancel", "1", "--reason", "why", "--typed", start[:6]).exit_code == 0
    assert cli.data("wraps")["wraps"] == []


def test_a_call_after_it_was_shown_is_evidence_changed(
    cli: Cli, rooms: Rooms, agent: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = token_start(cli)

    def called_meanwhile(_row: Any) -> None:
        rooms.clock.advance(1)
        agent.called()

    monkeypatch.setattr(cancel_module, "print_row", called_meanwhile)
    error = cli.error("cancel", "1", "--reason", "why", "--typed", start[:6])
    assert error["code"] == "evidence_changed" and "has called since" in error["sentence"]
    assert len(cli.data("wraps")["wraps"]) == 1


def test_a_holder_that_comes_back_to_life_is_evidence_changed(
    cli: Cli, rooms: Rooms, agent: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = dict(rooms.processes.table)
    kill(rooms, agent)

    def revived(_row: Any) -> None:
        rooms.processes.table.update(table)

    monkeypatch.setattr(cancel_module, "print_row", revived)
    assert cli.error("cancel", "1", "--reason", "why")["code"] == "evidence_changed"


def test_a_damaged_wrap_is_cleared_and_partial_clears_nothing_else(cli: Cli, rooms: Rooms, agent: Room) -> None:
    error = cli.error("cancel", "1", "--reason", "why", "--partial")
    assert error["code"] == "wrap_not_partial" and error["facts"] == {"wrap_id": 1, "verdict": "LIVE"}
    make_partial(rooms)
    assert cli.data("wraps")["wraps"][0]["judgement"]["verdict"] == "PARTIAL"
    assert cli.data("cancel", "1", "--reason", "why", "--partial")["outcome"] == "partial_cleared"


def test_without_an_id_it_takes_the_projects_only_open_wrap(cli: Cli, rooms: Rooms, agent: Room) -> None:
    assert cli.error("cancel", "--reason", "x", "--project", "other")["code"] == "no_wrap"
    kill(rooms, agent)
    unasked = cli("cancel", "--reason", "x", "--project", "demo")
    assert unasked.exit_code == 2 and "--yes" in unasked.stderr
    assert cli("cancel", "--reason", "x", "--project", "demo", "--yes").exit_code == 0


def test_a_project_that_is_not_the_wraps_is_a_refusal(cli: Cli, rooms: Rooms, agent: Room) -> None:
    kill(rooms, agent)
    assert cli.error("cancel", "1", "--reason", "x", "--project", "other")["code"] == "no_wrap"
    assert len(cli.data("wraps")["wraps"]) == 1


@pytest.mark.parametrize("answers", ["because\nTOKEN\n", "because\nnothing\n"])
def test_a_terminal_is_asked_for_reason_and_token(cli: Cli, agent: Room, monkeypatch: pytest.MonkeyPatch, answers: str) -> None:
    monkeypatch.setattr(cancel_module, "on_terminal", lambda: True)
    result = cli("cancel", "1", answers=answers.replace("TOKEN", token_start(cli)[:6]))
    assert result.exit_code == (0 if "TOKEN" in answers else 1)
    assert "It looks LIVE" in result.stderr and result.stdout.count("Reason") == 0


@pytest.mark.parametrize(("answer", "code", "left"), [("y", 0, 0), ("n", 130, 1), ("", 130, 1)])
def test_a_terminal_is_asked_whether_the_wrap_found_is_meant(
    cli: Cli, rooms: Rooms, agent: Room, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, left: int
) -> None:
    kill(rooms, agent)
    monkeypatch.setattr(cancel_module, "on_terminal", lambda: True)
    result = cli("cancel", "--project", "demo", "--reason", "x", answers=f"{answer}\n" if answer else "")
    assert result.exit_code == code
    assert len(cli.data("wraps")["wraps"]) == left


def test_a_blank_or_too_long_reason_is_refused(cli: Cli, rooms: Rooms, agent: Room) -> None:
    kill(rooms, agent)
    for reason in (" ", "x" * 501):
        assert cli.error("cancel", "1", "--reason", reason)["code"] == "invalid_input"
    assert len(cli.data("wraps")["wraps"]) == 1


def test_ask_release_leaves_the_holder_a_notice(cli: Cli, agent: Room) -> None:
    result = cli("ask-release", "1", "--message", "we wait")
    assert result.exit_code == 0 and "Asked claude-code" in result.stdout
    assert "we wait" in agent.take_notices()[0].text
    assert cli.error("ask-release", "9")["code"] == "wrap_already_finished"
    assert cli.error("ask-release", "1", "--project", "other")["code"] == "no_wrap"


def test_a_deed_names_the_operator_and_a_command_that_only_looks_registers_nothing(cli: Cli, agent: Room) -> None:
    before = cli.data("audit", "list")["last"]
    for command in (("status",), ("wraps",), ("wraps", "1"), ("audit", "list"), ("doctor",), ("baton", "status")):
        assert cli(*command).exit_code == 0
    assert cli.data("audit", "list")["last"] == before
    assert cli("gate", "require", "--project", "demo").exit_code == 0
    [row] = cli.data("audit", "list", "--event", "gate_set")["rows"]
    assert '"kind":"operator"' in row["actor"] and '"via":"cli' in row["actor"]
