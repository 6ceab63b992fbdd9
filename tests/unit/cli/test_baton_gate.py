"""`watchroom baton` and `watchroom gate` (room.md 2.7 and 2.12)."""

from __future__ import annotations

from core.room import Room
from tests.rooms import Rooms
from tests.unit.cli.conftest import Cli


def test_a_baton_is_claimed_taken_and_released(cli: Cli, rooms: Rooms) -> None:
    rooms.agent("alice")
    assert cli.data("baton", "claim", "alice", "--project", "demo")["outcome"] == "claimed"
    assert cli.data("baton", "claim", "alice", "--project", "demo")["outcome"] == "already_held"
    error = cli.error("baton", "claim", "bob", "--project", "demo")
    assert error["code"] == "baton_held" and "alice" in error["sentence"]
    [held] = cli.data("baton", "status")["batons"]
    assert (held["session_id"], held["live"]) == ("alice", True)
    assert cli.data("baton", "claim", "bob", "--take", "--project", "demo")["previous_holder"] == "alice"
    assert cli.data("baton", "status", "--project", "demo")["batons"][0]["live"] is False
    assert cli.error("baton", "release", "alice", "--project", "demo")["code"] == "baton_held"
    assert cli.data("baton", "release", "bob", "--project", "demo")["outcome"] == "released"
    assert cli.data("baton", "release", "bob", "--project", "demo")["outcome"] == "nothing_held"
    assert "demo" in cli("baton", "status").stdout


def test_every_outcome_has_its_words(cli: Cli, rooms: Rooms) -> None:
    rooms.agent()
    for command, words in (
        (("claim", "a"), "a holds the baton of default now."),
        (("claim", "a"), "already; nothing changed"),
        (("claim", "b", "--take"), "a held it and is told"),
        (("release", "b"), "nobody holds it"),
        (("release", "b"), "Nobody holds the baton"),
    ):
        assert words in cli("baton", *command).stdout


def test_the_gate_is_set_and_a_second_time_changes_nothing(cli: Cli, agent: Room) -> None:
    assert cli.data("gate", "require", "--project", "demo") == {
        "project_key": "demo",
        "gate": "required",
        "peer_cancel": "any",
        "changed": True,
    }
    assert cli.data("gate", "require", "--project", "demo")["changed"] is False
    assert "nothing changed" in cli("gate", "require", "--project", "demo").stdout
    assert cli.data("gate", "peer-cancel", "dead", "--project", "demo")["peer_cancel"] == "dead"
    [gate] = cli.data("gate", "status")["gates"]
    assert (gate["project_key"], gate["gate"], gate["peer_cancel"]) == ("demo", "required", "dead")
    assert "is open to everybody" in cli("gate", "open", "--project", "demo").stdout
    assert "There is no project other" in cli("gate", "status", "--project", "other").stdout
