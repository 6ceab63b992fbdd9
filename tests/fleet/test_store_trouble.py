"""A busy store keeps no server away; one that can never be used is said in one sentence (faults.md S7, T13, T7; room.md 2.19)."""

from __future__ import annotations

import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.fleet.servers import Fleet, command, environment, rows, until


def start(store: Path) -> subprocess.CompletedProcess[str]:
    """A server that is expected to end by itself."""
    return subprocess.run(command(store), stdin=subprocess.PIPE, capture_output=True, text=True, env=environment(), timeout=30)


def test_a_text_file_is_no_store(tmp_path: Path) -> None:
    store = tmp_path / "notes.txt"
    store.write_text("these are my notes, and they are long enough to be no database at all\n" * 20)
    done = start(store)
    assert done.returncode == 1
    assert "is not a watchroom store" in done.stderr
    assert done.stderr.count("\n") == 1
    assert store.read_text().startswith("these are my notes")


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    done = start(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is a folder, not a store" in done.stderr


def test_a_newer_store_is_refused(fleet: Fleet) -> None:
    fleet.agent().close()
    with sqlite3.connect(fleet.store) as database:
        database.execute("pragma user_version = 99")
    database.close()
    done = start(fleet.store)
    assert (done.returncode, done.stdout) == (1, "")
    assert "newer watchroom" in done.stderr


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "other.db"
    with sqlite3.connect(store) as database:
        database.execute("create table theirs (a)")
    database.close()
    done = start(store)
    assert done.returncode == 1
    assert "of another program" in done.stderr


def test_a_store_that_is_locked_at_the_start_is_entered_when_it_is_free(fleet: Fleet) -> None:
    fleet.agent().close()
    with fleet.locked():
        agent = fleet.agent()
        # looking waits for nobody
        assert agent.done("status")["episodes_total"] == 0
    assert agent.recorded()
    assert agent.connection()[1] is None


@pytest.mark.parametrize("tool", ["record"])
def test_a_call_that_finds_no_writer_is_busy_and_the_heart_goes_on(fleet: Fleet, tool: str) -> None:
    agent = fleet.agent()
    agent.recorded()
    connection_id = agent.connection()[0]
    beats = fleet.store.with_name(fleet.store.name + "-beats")

    def beat() -> str:
        return str(rows(beats, "select beat_at from beats where connection_id = ?", connection_id)[0][0])

    with fleet.locked():
        request = agent.start("tools/call", {"name": tool, "arguments": {"content": "waits", "episode_type": "outcome"}})
        at_the_call = until(lambda: beat())
        later = until(lambda: beat() if beat() > at_the_call else None, 8.0)
        until(lambda: beat() > later, 8.0)
        refusal = agent.answer_to(request)["result"]["_meta"]["watchroom/refusal"]
    assert refusal["code"] == "store_busy"
    assert "disk" not in refusal["sentence"]
    assert agent.recorded()


def test_each_call_moves_the_time_of_last_call(fleet: Fleet) -> None:
    agent = fleet.agent()
    beats = fleet.store.with_name(fleet.store.name + "-beats")
    seen = []
    for tool in ("status", "recall", "no_such_tool", "wrap_cancel"):
        agent.call(tool)
        seen.append(rows(beats, "select calls, call_at from beats where connection_id = ?", agent.connection()[0])[0])
    assert [calls for calls, _ in seen] == [1, 2, 3, 4]
    assert sorted({at for _, at in seen}) == [at for _, at in seen]
