"""Many real processes on one store: nothing lost, nothing doubled, no lock error, and a whole trail (faults.md T17, T20, T21, T31)."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.trail.verify import verify_store
from tests.rooms import Rooms
from tests.stress.actor import endless
from tests.unit.memory.test_wraps import record

ROOT = Path(__file__).parents[2]


def start(what: str, store: Path, *rest: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.stress.actor", what, str(store), *map(str, rest)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    output, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    return [json.loads(line) for line in output.splitlines()]


def rows(store: Path, sql: str) -> list[Any]:
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


def check_store(store: Path) -> None:
    """What must hold of every store at every time."""
    assert rows(store, "pragma integrity_check") == [("ok",)]
    assert rows(store, "select project_key from wraps where ended_at is null group by project_key having count(*) > 1") == []
    counted = dict(rows(store, "select name, value from counters where project_key = 'demo'"))
    assert counted.get("episodes", 0) == rows(store, "select count(*) from episodes")[0][0]
    assert counted.get("waiting", 0) == rows(store, "select count(*) from episodes where wrap_id is null")[0][0]
    found = verify_store(store)
    assert found.ok, found.words


def test_eight_processes_of_two_hundred_mixed_verbs_lose_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    processes = [start("mixed", store, seed, 200) for seed in range(8)]
    lines = [line for process in processes for line in said(process)]
    assert [line for line in lines if "unexpected" in line] == []
    assert sorted(line["finished"] for line in lines if "finished" in line) == list(range(8))
    recorded = {line["recorded"] for line in lines if "recorded" in line}
    deleted = {line["deleted"] for line in lines if "deleted" in line}
    assert {row[0] for row in rows(store, "select episode_id from episodes")} == recorded - deleted
    assert {row[0] for row in rows(store, "select episode_id from tombstones")} == deleted
    generations = [row[0] for row in rows(store, "select generation from wraps order by id")]
    assert generations == list(range(1, len(generations) + 1))
    check_store(store)


def test_of_eight_simultaneous_prepares_one_opens(rooms: Rooms) -> None:
    record(rooms.agent())
    processes = [start("prepare", rooms.path) for _ in range(8)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    outcomes = sorted(line["outcome"] for process in processes for line in said(process))
    assert outcomes == ["opened", *["wrap_in_progress"] * 7]


def test_four_processes_plant_loops_at_once_and_each_has_its_own_id(rooms: Rooms) -> None:
    rooms.agent()
    processes = [start("planter", rooms.path, seed, 50) for seed in range(4)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    planted = {(line["planted"], line["text"]) for process in processes for line in said(process)}
    assert {spore_id for spore_id, _ in planted} == {f"spore-{number:03}" for number in range(1, 201)}
    assert set(rows(rooms.path, "select spore_id, text from spores where project_key = 'demo' and status = 'open'")) == planted
    check_store(rooms.path)


def test_eight_processes_open_a_new_path_at_once_and_all_live(tmp_path: Path) -> None:
    store = tmp_path / "new.db"
    processes = [start("open_new", store) for _ in range(8)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    recorded = [line["recorded"] for process in processes for line in said(process)]
    assert len(set(recorded)) == 8
    assert rows(store, "select count(*) from audit where event = 'store_created'") == [(1,)]
    check_store(store)


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_at_any_moment_leaves_all_of_a_deed_or_nothing(tmp_path: Path, seed: int) -> None:
    """Kills two rival writers sixty times, each time after another number of deeds; what they reported is there, and all holds together."""
    store = tmp_path / "store.db"
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.stress.actor"])
    chance = random.Random(seed)
    reported: list[dict[str, Any]] = []
    for round_number in range(30):
        writers = []
        for number in range(2):
            here, there = processes.Pipe(duplex=False)
            writer = processes.Process(target=endless, args=(store, seed * 1_000 + round_number * 10 + number, there.send))
            writer.start()
            there.close()
            writers.append((writer, here))
        for _, pipe in writers:
            reported.extend(pipe.recv() for _ in range(chance.randint(1, 12)))
        for writer, pipe in writers:
            writer.kill()
            writer.join()
            with contextlib.suppress(EOFError):
                while pipe.poll():
                    reported.append(pipe.recv())
            pipe.close()
    recorded = {one["recorded"] for one in reported if "recorded" in one}
    assert recorded <= {row[0] for row in rows(store, "select episode_id from episodes")}
    assert {one["saved"] for one in reported if "saved" in one} <= {
        row[0] for row in rows(store, "select revision from continuity")
    }
    # a deed and its trail row are one: every episode and every revision has its row, and every row its thing
    assert rows(store, "select count(*) from episodes") == rows(store, "select count(*) from audit where event = 'record'")
    assert rows(store, "select count(*) from continuity") == rows(
        store, "select count(*) from audit where event = 'continuity_saved'"
    )
    assert rows(store, "select count(*) from wraps") == rows(store, "select count(*) from audit where event = 'wrap_started'")
    check_store(store)
