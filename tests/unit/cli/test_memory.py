"""`watchroom continuity`, `schema` and `salvage` (issue 4, 1 and 5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from console.drafts import Drafts, drafts_folder
from core.room import Room
from tests.rooms import Rooms, refused, text
from tests.unit.cli.conftest import Cli

HOSTILE = "[/x] [red] \x1b[2J \u202etxt.exe\u202c 名前 👩‍🚀"


def save(room: Room, **bodies: str) -> None:
    room.do("record", project_key="demo", content="a fact", episode_type="observation")
    opened = room.do("prepare_wrap", project_key="demo")
    room.do("save_continuity", project_key="demo", text=text(**bodies), wrap_token=opened.wrap_token)


def leave_draft(room: Room, words: str) -> Any:
    room.do("record", project_key="demo", content="a fact", episode_type="observation")
    opened = room.do("prepare_wrap", project_key="demo")
    kept = room.do("draft_continuity", project_key="demo", wrap_token=opened.wrap_token, text=words)
    room.do("wrap_cancel", project_key="demo", wrap_token=opened.wrap_token)
    return opened, kept


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person sits there."""
    for module in ("continuity", "salvage"):
        monkeypatch.setattr(f"console.commands.{module}.on_terminal", lambda: True)


# continuity


def test_continuity_prints_lists_and_compares_versions_and_restores_one(cli: Cli, rooms: Rooms) -> None:
    agent = rooms.agent()
    save(agent, State=f"the first {HOSTILE}")
    save(agent, State="the second")
    shown = cli("continuity", "--project", "demo").output
    assert "the second" in shown
    first = cli("continuity", "--project", "demo", "--revision", "1").output
    assert "the first" in first and "\x1b" not in first and "\u202e" not in first
    assert [one["revision"] for one in cli.data("continuity", "--project", "demo", "--history")["versions"]] == [2, 1]
    changed = cli("continuity", "diff", "1", "2", "--project", "demo").output
    assert "- the first" in changed and "+ the second" in changed and "\x1b" not in changed
    assert {one["kind"] for one in cli.data("continuity", "diff", "1", "2", "--project", "demo")["lines"]} >= {"added", "removed"}
    restored = cli.data("continuity", "restore", "1", "--reason", "the second is wrong", "--project", "demo")
    assert (restored["revision"], restored["restored_from"]) == (3, 1)
    assert "revision 1" in cli("continuity", "--history", "--project", "demo").output
    assert cli.error("continuity", "restore", "1", "--reason", "x", "--expected-revision", "2", "--project", "demo")["code"] == (
        "continuity_revision_conflict"
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("continuity",), "continuity_not_found"),
        (("continuity", "--revision", "9"), "continuity_not_found"),
        (("continuity", "diff", "1", "9"), "continuity_not_found"),
        (("continuity", "restore", "9", "--reason", "x"), "continuity_not_found"),
    ],
)
def test_a_version_that_is_not_there(cli: Cli, agent: Room, arguments: tuple[str, ...], code: str) -> None:
    assert cli.error(*arguments, "--project", "demo")["code"] == code
    assert cli.data("continuity", "--history", "--project", "demo")["versions"] == []


def test_restore_shows_what_would_change_and_asks_why(cli: Cli, rooms: Rooms, on_terminal: None) -> None:
    agent = rooms.agent()
    save(agent, State="the first")
    save(agent, State="the second")
    result = cli("continuity", "restore", "1", "--project", "demo", answers="it was better\n")
    assert result.exit_code == 0 and "+ the first" in result.output and "Restored: revision 3" in result.output


def test_restore_without_a_person_takes_its_reason_as_an_option(cli: Cli, agent: Room) -> None:
    assert cli("continuity", "restore", "1", "--project", "demo").exit_code == 2
    assert cli("continuity", "--history", "--revision", "1").exit_code == 2


# schema


def test_schema_shows_and_sets_the_sections(cli: Cli, rooms: Rooms, tmp_path: Path) -> None:
    rooms.agent()
    assert cli.data("schema", "--project", "demo")["name"] == "default"
    assert "partnership" in cli("schema", "set", "partnership", "--project", "demo").output
    own = tmp_path / "sections.json"
    own.write_text(json.dumps([{"heading": "Now", "role": "live-state"}]))
    assert cli.data("schema", "set", "--sections", str(own), "--project", "demo")["name"] == "own"
    shown = cli("schema", "--project", "demo").output
    assert "Now" in shown and "20,000 characters to aim at" in shown
    assert "already" in cli("schema", "set", "--sections", str(own), "--project", "demo").output


@pytest.mark.parametrize("content", ["{", '{"heading": "Now"}', "[7]", '[{"heading": "a", "role": "b"}]', "[]", "[" * 5_000])
def test_a_file_that_holds_no_sections_is_refused(cli: Cli, rooms: Rooms, tmp_path: Path, content: str) -> None:
    rooms.agent()
    own = tmp_path / "sections.json"
    own.write_text(content)
    assert cli.error("schema", "set", "--sections", str(own), "--project", "demo")["code"] == "invalid_input"


def test_schema_takes_a_name_or_a_file(cli: Cli, agent: Room) -> None:
    assert cli("schema", "set").exit_code == 2
    assert cli("schema", "set", "default", "--sections", "-").exit_code == 2
    assert cli.error("schema", "set", "project", "--project", "demo")["code"] == "wrap_in_progress"
    assert cli.error("schema", "set", "nonsense", "--project", "demo")["code"] == "invalid_input"


# salvage


def test_salvage_lists_and_shows_both_kinds_inert(cli: Cli, rooms: Rooms) -> None:
    agent = rooms.agent()
    opened, _ = leave_draft(agent, f"drafted {HOSTILE}")
    refused(agent, "save_continuity", project_key="demo", text=f"late {HOSTILE}", wrap_token=opened.wrap_token)
    listed = cli("salvage").output
    assert "draft:1" in listed and "salvage:1" in listed and "wrap_cancelled" in listed
    assert "\x1b" not in listed and "\u202e" not in listed
    shown = cli("salvage", "show", "draft:1")
    assert "it can be adopted" in shown.stderr and "drafted" in shown.stdout and "\x1b" not in shown.output
    assert cli.data("salvage", "show", "salvage:1")["text"]["text"] == f"late {HOSTILE}"
    assert cli.data("salvage", "--project", "other")["texts"] == []


def test_adopt_saves_a_file_and_says_what_it_covers(cli: Cli, rooms: Rooms, tmp_path: Path) -> None:
    leave_draft(rooms.agent(), "half")
    file = tmp_path / "text.md"
    file.write_text(text(State="finished"))
    done = cli("salvage", "adopt", "draft:1", "--text-file", str(file), "--expected-revision", "0", "--reason", "it was killed")
    assert done.exit_code == 0 and "covers 1 episode(s) of wrap 1" in done.output
    assert "finished" in cli("continuity", "--project", "demo").output
    assert cli("salvage").output.strip() == "No kept text waits."
    again = cli.error(
        "salvage", "adopt", "draft:1", "--text-file", str(file), "--expected-revision", "1", "--reason", "once more"
    )
    assert (again["code"], set(again["facts"]["obstacles"])) == ("adopt_conflict", {"revision", "covered"})


def test_adopt_opens_the_editor_on_the_kept_text_and_keeps_what_was_typed_when_it_is_refused(
    cli: Cli, rooms: Rooms, on_terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_draft(rooms.agent(), "half")
    monkeypatch.setattr("click.edit", lambda given, extension: f"{given} and no sections")
    result = cli("salvage", "adopt", "draft:1", answers="it was killed\n")
    assert result.exit_code == 1 and "continuity_structure" in result.output and "Your text is kept" in result.output
    with rooms.operator().snapshot() as view:
        store_id = view.one("select store_id from store")[0]
    draft = Drafts(drafts_folder()).for_store(store_id).load("adopt", "draft:1")
    assert draft is not None and (draft.text, draft.summary) == ("half and no sections", "it was killed")
    monkeypatch.setattr("click.edit", lambda given, extension: None)
    assert "was not saved in the editor" in cli("salvage", "adopt", "draft:1", answers="x\n").output


def test_deal_with_marks_a_text_once(cli: Cli, rooms: Rooms) -> None:
    leave_draft(rooms.agent(), "half")
    assert "draft:1 is dealt with." in cli("salvage", "deal-with", "draft:1", "--note", "nothing in it").output
    assert "already" in cli("salvage", "deal-with", "draft:1").output
    assert cli.data("salvage", "--all")["texts"][0]["dealt_with_at"]
    assert cli.error("salvage", "deal-with", "draft:9")["code"] == "kept_text_not_found"
    assert cli.error("salvage", "show", "salvage:9")["code"] == "kept_text_not_found"


@pytest.mark.parametrize("item", ["7", "wrap:1", "draft:", "draft:x", "draft:-1", "draft:" + "9" * 30, "draft:１"])
def test_an_item_is_named_by_kind_and_number(cli: Cli, item: str) -> None:
    assert cli("salvage", "show", item).exit_code == 2


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--text-file", "-"),
        ("--reason", "x"),
        ("--text-file", "-", "--reason", "x"),
    ],
)
def test_without_a_person_adopt_takes_everything_as_options(cli: Cli, rooms: Rooms, more: tuple[str, ...]) -> None:
    leave_draft(rooms.agent(), "half")
    assert cli("salvage", "adopt", "draft:1", *more).exit_code == 2
