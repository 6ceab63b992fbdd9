"""`watchroom sessions`, `relay`, `end`, `abandon`, `bind`, `slots`, `projects`, `focus` and `sweep` (issue 3, item 9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.room import Room
from core.sessions.models import Anchor
from tests.rooms import Rooms
from tests.unit.cli.conftest import Cli

FOCUS = "Aim: one thing.\nNow: half of it.\n" + "x" * 60
HOSTILE = "[/x] [red] \x1b[2J \u202etxt.exe\u202c 名前 👩‍🚀"


@pytest.fixture
def worker(rooms: Rooms) -> Room:
    """An agent with an open session `k1` of project demo, on the base focus."""
    room = rooms.agent(client="worker")
    room.do("brain_set_project_context", project_key="demo", name="demo", description="d", current_focus=FOCUS)
    room.do("brain_session_start", project_key="demo", client_key="k1")
    room.called()
    return room


def kill(rooms: Rooms, room: Room) -> None:
    """Kill an agent and let its beats run out."""
    rooms.kill(room)
    rooms.clock.advance(20)


def slot(room: Room, title: str = "topic", body: str = "slot body") -> Any:
    """An open slot."""
    topic = [Anchor("topic", topic="t")]
    return room.do("brain_slot_open", project_key="demo", title=title, body=body, anchors=topic).slot


def written(tmp_path: Path, text: str) -> str:
    """A file with this text."""
    path = tmp_path / "handover.md"
    path.write_text(text, encoding="utf-8")
    return str(path)


def session_id(cli: Cli, key: str = "k1") -> str:
    """The id of the session with this key."""
    found: str = cli.data("sessions", key)["session"]["session_id"]
    return found


def test_sessions_lists_the_open_ones_with_who_is_at_work(cli: Cli, worker: Room) -> None:
    output = cli("sessions").stdout
    assert output.splitlines()[0].split()[:4] == ["SESSION", "PROJECT", "STATUS", "AT"]
    assert "LIVE" in output and "worker" in output and "base focus" in output
    [row] = cli.data("sessions")["sessions"]
    assert (row["client_key"], row["judgement"]["verdict"], row["status"]) == ("k1", "LIVE", "open")
    assert cli.data("sessions", "--project", "other")["sessions"] == []


def test_one_session_is_named_by_key_id_or_its_beginning(cli: Cli, worker: Room) -> None:
    wanted = session_id(cli)
    for name in (wanted, wanted[:-1], "k1"):
        assert session_id(cli, name) == wanted
    assert cli.error("sessions", "nothing like it")["code"] == "session_not_found"
    worker.do("brain_session_start", project_key="demo", client_key="k2")
    assert cli.error("sessions", "0000")["code"] == "session_ambiguous"
    output = cli("sessions", "k1").stdout
    for words in ("Checkpoints (0)", "Lineage (1)", "brain_session_start", "Aim: one thing."):
        assert words in output, words


def test_a_relay_of_a_dead_session_opens_its_successor(cli: Cli, rooms: Rooms, worker: Room, tmp_path: Path) -> None:
    kill(rooms, worker)
    text = written(tmp_path, FOCUS + HOSTILE)
    result = cli("relay", "k1", "--summary", "did it", "--text", text, "--expected-revision", "0")
    assert result.exit_code == 0, result.output
    assert "DEAD" in result.stderr and "brain_session_resume(session_id=" in result.stdout and "'k1-2'" in result.stdout
    [row] = cli.data("sessions")["sessions"]
    assert row["client_key"] == "k1-2" and row["predecessor_id"] == session_id(cli, "k1")
    [ended] = cli.data("sessions", "--ended")["sessions"]
    assert ended["successor_id"] == row["session_id"]
    assert "\x1b" not in cli("focus", "--project", "demo").stdout
    assert cli.data("focus", "--project", "demo")["current_focus"] == FOCUS + HOSTILE
    assert cli("sessions", "--ended").stdout.count("did it") == 1


def test_a_relay_of_a_live_session_asks_for_the_start_of_its_id(cli: Cli, worker: Room, tmp_path: Path) -> None:
    call = ("relay", "k1", "--summary", "s", "--text", written(tmp_path, FOCUS), "--expected-revision", "0")
    for typed in ((), ("--typed", "ffffff")):
        refused = cli.error(*call, *typed)
        assert refused["code"] == "invalid_input" and "first 6 characters" in refused["sentence"]
    assert cli.data("sessions")["sessions"][0]["client_key"] == "k1", "nothing happened"
    done = cli.data(*call, "--typed", session_id(cli)[:6], "--new-key", "heir")
    assert done["session"]["client_key"] == "heir"


def test_a_text_under_the_floor_needs_the_override_and_its_reason(cli: Cli, rooms: Rooms, worker: Room, tmp_path: Path) -> None:
    kill(rooms, worker)
    call = ("end", "k1", "--summary", "s", "--text", written(tmp_path, "Aim."), "--expected-revision", "0")
    refused = cli.error(*call)
    assert refused["code"] == "base_focus_shrink" and "allow_focus_shrink" not in refused["sentence"]
    assert cli(*call, "--allow-focus-shrink").exit_code == 2
    done = cli.data(*call, "--allow-focus-shrink", "--shrink-reason", "one aim only")
    assert done["focus_outcome"] == "applied"
    [data] = [one["data"] for one in cli.data("audit", "list", "--event", "brain_session_end", "--outcome", "done")["rows"]]
    assert "one aim only" in str(data)


def test_an_end_from_a_stale_revision_says_conflict(cli: Cli, rooms: Rooms, worker: Room, tmp_path: Path) -> None:
    worker.do("brain_update_project_focus", project_key="demo", current_focus=FOCUS + "!", expected_focus_revision=0)
    kill(rooms, worker)
    result = cli("end", "k1", "--summary", "s", "--text", written(tmp_path, FOCUS), "--expected-revision", "0")
    assert result.exit_code == 0 and "CONFLICT" in result.stdout
    assert "What it left" in cli("sessions", "k1").stdout


def test_a_text_without_its_revision_is_wrong_usage(cli: Cli, worker: Room, tmp_path: Path) -> None:
    result = cli("relay", "k1", "--summary", "s", "--text", written(tmp_path, FOCUS))
    assert result.exit_code == 2 and "what stands now is revision 0" in result.stderr
    assert cli("relay", "k1").exit_code == 2
    assert cli("end", "k1", "--text", written(tmp_path, FOCUS), "--expected-revision", "0").exit_code == 2
    (tmp_path / "latin.txt").write_bytes(b"\xff\xfe caf\xe9")
    call = ("end", "k1", "--summary", "s", "--expected-revision", "0", "--text", str(tmp_path / "latin.txt"))
    assert cli.error(*call)["code"] == "file_unreadable"


def test_what_was_typed_into_the_editor_and_refused_is_kept_for_the_console(
    cli: Cli, rooms: Rooms, worker: Room, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from console.drafts import Drafts

    kill(rooms, worker)
    monkeypatch.setattr("console.commands.handover.on_terminal", lambda: True)
    monkeypatch.setattr("console.drafts.drafts_folder", lambda: tmp_path / "drafts")
    monkeypatch.setattr("click.edit", lambda standing, extension: standing[:20])
    result = cli("relay", "k1", answers="what it did\n")
    assert result.exit_code == 1 and "base_focus_shrink" in result.stderr and "Your text is kept" in result.stderr
    kept = Drafts(tmp_path / "drafts").for_store(worker.store_id).load("relay", session_id(cli))
    assert kept is not None and (kept.text, kept.summary, kept.revision) == (FOCUS[:20], "what it did", 0)


def test_abandon_and_bind(cli: Cli, rooms: Rooms, worker: Room) -> None:
    opened = slot(worker)
    assert "is bound to slot topic" in cli("bind", "k1", opened.id).stdout
    assert cli.error("bind", "k1", slot(worker, "other").id)["code"] == "session_already_bound"
    assert cli("abandon", "k1").exit_code == 2, "a reason is required"
    kill(rooms, worker)
    assert "its slot is free" in cli("abandon", "k1", "--reason", "gone").stdout
    assert cli.data("sessions", "k1")["session"]["abandonment_reason"] == "gone"
    assert cli.error("abandon", "k1", "--reason", "another")["code"] == "terminal_conflict"


def test_slots_are_opened_shown_and_closed(cli: Cli, worker: Room, tmp_path: Path) -> None:
    text = written(tmp_path, HOSTILE)
    call = ("open-slot", "--project", "demo", "--title", "Vouchers", "--anchor", "topic:a", "--text", text)
    opened = cli.data(*call)["slot"]
    assert cli.data(*call)["replayed"] is True
    assert cli.error(*call[:-1], text, "--anchor", "topic:a")["code"] == "anchor_invalid"
    [row] = cli.data("slots")["slots"]
    assert row["slot_id"] == opened["id"] and "orphan" in cli("slots").stdout
    assert "\x1b" not in cli("slots", opened["id"]).stdout
    assert cli.data("slots", opened["id"], "--revision", "0")["revision"]["body"] == HOSTILE
    assert cli.error("slots", opened["id"], "--revision", "9")["code"] == "no_revision"
    assert cli("close-slot", opened["id"][:8], "--note", "n").exit_code == 2, "the beginning of an id is not the slot named"
    assert cli.data("close-slot", opened["id"], "--note", "decided")["slot"]["close_note"] == "decided"
    assert cli.data("slots")["slots"] == [] and len(cli.data("slots", "--closed")["slots"]) == 1


def test_projects_and_focus(cli: Cli, worker: Room, tmp_path: Path) -> None:
    [project] = cli.data("projects")["projects"]
    assert (project["project_key"], project["focus_revision"], project["focus_characters"]) == ("demo", 0, len(FOCUS))
    assert "demo" in cli("projects").stdout and "no project" in cli("projects", "--project", "other").stdout
    call = ("focus", "--project", "demo")
    assert "Aim: one thing." in cli(*call).stdout
    text = written(tmp_path, FOCUS + " more")
    assert cli(*call, "--write", text).exit_code == 2
    assert cli.data(*call, "--write", text, "--expected-revision", "0")["focus_revision"] == 1
    assert cli.error(*call, "--write", text, "--expected-revision", "0")["code"] == "focus_revision_conflict"
    assert [one["focus_revision"] for one in cli.data(*call, "--history")["history"]] == [1, 0]
    assert cli.data(*call, "--revision", "0")["revision"]["focus"] == FOCUS
    assert cli.error("focus", "--project", "other")["code"] == "project_not_found"


def test_a_sweep_is_dry_unless_it_is_told_and_allowed_to_write(
    cli: Cli, rooms: Rooms, worker: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms.clock.advance(7 * 86_400 + 1)
    before = cli.data("audit", "list")["rows"]
    found = cli.data("sweep")
    assert (found["dry"], len(found["candidates"]), found["abandoned_count"]) == (True, 1, 0)
    assert "Dry: nothing was changed" in cli("sweep").stdout
    assert cli.error("sweep", "--write")["code"] == "sweep_not_enabled"
    assert cli.data("audit", "list")["rows"] == before, "looking leaves no trace"
    monkeypatch.setenv("WATCHROOM_SWEEP_ENABLED", "true")
    assert cli.error("sweep", "--write")["code"] == "sweep_not_enabled", "its dry run is still on"
    monkeypatch.setenv("WATCHROOM_SWEEP_DRY_RUN", "false")
    done = cli.data("sweep", "--write")
    assert (done["dry"], done["abandoned_count"]) == (False, 1)
    assert cli.data("sessions", "k1")["session"]["abandonment_reason"] == "auto_stale_7d"
    assert "No session is without a heartbeat" in cli("sweep").stdout
