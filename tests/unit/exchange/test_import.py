"""Importing a real store of anneal-memory: the same memory, once, read-only, in one deed (issue 4, import)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from core.errors import Refusal, StoreError
from core.exchange.anneal_source import read
from core.exchange.importing import examine
from core.exchange.report import ImportReport
from core.room import Room
from core.trail.verify_store import mismatches_with_store
from tests.foreign import spoilt
from tests.rooms import Rooms, text, trail


def brought(room: Room, path: Path, key: str = "brought") -> ImportReport:
    report: ImportReport = room.do("import_anneal", project_key=key, source=read(path))
    return report


def is_in_log(path: Path) -> bool:
    return any(one.content == "still in the log" for one in read(path).episodes)


def rows(room: Room, sql: str) -> list[tuple[object, ...]]:
    with room.snapshot() as view:
        return [tuple(row) for row in view.all(sql)]


def digests(folder: Path) -> dict[str, str]:
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in folder.iterdir() if one.is_file()}


def test_episodes_continuity_levels_and_windows_are_the_same(rooms: Rooms, foreign: Path) -> None:
    room = rooms.operator()
    brought(room, foreign)
    with contextlib.closing(sqlite3.connect(f"file:{foreign}?immutable=1", uri=True)) as there:
        theirs = there.execute(
            "select id, timestamp, type, content, source, metadata from episodes order by timestamp"
        ).fetchall()
        last = there.execute("select max(id) from wraps").fetchone()[0]
        waiting = there.execute(
            "select id from episodes where cast(session_id as integer) > ? order by timestamp", (last,)
        ).fetchall()
        deleted = there.execute("select id, pruned_at from tombstones").fetchall()
    assert (
        rows(room, "select episode_id, created_at, episode_type, content, source, metadata from episodes order by id") == theirs
    )
    assert rows(room, "select episode_id from episodes where wrap_id is null order by id") == waiting
    assert [row[0] for row in rows(room, "select episode_id from tombstones")] == [row[0] for row in deleted]
    assert rows(room, "select text from continuity") == [(foreign.with_name("memory.continuity.md").read_text(),)]
    levels = rows(room, "select name, level, highest, in_text from patterns where kind = 'name' order by name")
    assert levels == [("cache-keys", 2, 2, 1), ("small-steps", 3, 0, 0)]
    assert rows(room, "select citations_seen from projects where project_key = 'brought'") == [(1,)]
    found = room.do("recall", project_key="brought", keyword="stale build cache")
    assert found.total == 1


def test_the_source_is_only_read(rooms: Rooms, foreign: Path) -> None:
    before = digests(foreign.parent)
    brought(rooms.operator(), foreign)
    assert digests(foreign.parent) == before


def test_a_source_with_a_log_is_read_with_it_and_left_as_it_is(rooms: Rooms, newest: Path) -> None:
    writer = sqlite3.connect(newest)
    writer.create_function("anneal_writer_schema", 0, lambda: 2)
    writer.execute("pragma journal_mode = wal")
    writer.execute("update episodes set content = 'still in the log' where id = (select min(id) from episodes)")
    writer.commit()
    try:
        before = digests(newest.parent)
        assert "memory.db-wal" in before
        assert is_in_log(newest)
        after = digests(newest.parent)
        assert {**after, "memory.db-shm": ""} == {**before, "memory.db-shm": ""}  # the index holds locks, not data
        for name in ("memory.db", "memory.db-wal"):
            (newest.parent / f"other{name[6:]}").write_bytes((newest.parent / name).read_bytes())
        listed = set(digests(newest.parent))
        assert is_in_log(newest.with_name("other.db"))
        assert set(digests(newest.parent)) == listed
    finally:
        writer.close()


def test_a_dry_run_writes_nothing_and_says_what_the_import_says(rooms: Rooms, foreign: Path) -> None:
    room = rooms.operator()
    before = rows(room, "select count(*) from audit")
    with room.snapshot() as view:
        dry = examine(view, read(foreign), "brought")
    assert dry.outcome == "dry_run"
    assert rows(room, "select count(*) from audit") == before
    assert rows(room, "select count(*) from projects") == [(0,)]
    done = brought(room, foreign)
    assert set(done.taken) == set(dry.taken)
    assert done.left_out == dry.left_out


def test_twice_is_once_and_later_only_what_is_new(rooms: Rooms, foreign: Path) -> None:
    room = rooms.operator()
    brought(room, foreign)
    before = trail(room)
    counts = rows(
        room, "select (select count(*) from episodes), (select count(*) from attachments), (select count(*) from wraps)"
    )
    assert brought(room, foreign).outcome == "nothing_new"
    assert trail(room) == before
    with spoilt(foreign) as there:
        there.execute(
            "insert into episodes (id, timestamp, type, content) values ('feedbeef', '2027-01-01T00:00:00Z', 'decision', 'later')"
        )
    again = brought(room, foreign)
    assert again.outcome == "imported"
    assert {one.what: one.imported for one in again.taken}["episodes"] == 1
    assert rows(room, "select episode_id from episodes where wrap_id is null order by id")[-1] == ("feedbeef",)
    assert counts[0][2] == rows(room, "select count(*) from wraps")[0][0]
    assert brought(room, foreign).outcome == "nothing_new"


def test_the_open_wrap_can_be_saved_with_its_token(rooms: Rooms, foreign: Path) -> None:
    room = rooms.operator()
    brought(room, foreign)
    with contextlib.closing(sqlite3.connect(f"file:{foreign}?immutable=1", uri=True)) as there:
        held = dict(there.execute("select key, value from metadata where key like 'wrap_%'").fetchall())
    agent = rooms.agent(held.get("wrap_gated_session") or None)
    saved = agent.do("save_continuity", project_key="brought", text=text(), wrap_token=held["wrap_token"])
    assert saved.episodes_compressed == len(json.loads(held["wrap_episode_ids"]))
    assert saved.continuity_revision == 2
    assert ("wrap_started", f"wrap:{saved.wrap_id}") in trail(room)


def test_store_and_trail_agree_after_it(rooms: Rooms, foreign: Path) -> None:
    room = rooms.operator()
    report = brought(room, foreign)
    with room.snapshot() as view:
        assert mismatches_with_store(view, "") == []
        row = view.one("select data from audit where event = 'import_anneal'")
    assert json.loads(row[0])["trail_head"] == report.trail_head
    assert report.trail_findings == ()
    last = foreign.with_name("memory.audit.jsonl").read_bytes().strip().split(b"\n")[-1]
    assert report.trail_head == "sha256:" + hashlib.sha256(last).hexdigest()


def test_links_state_keys_and_derived_trust_come_along(rooms: Rooms, newest: Path) -> None:
    room = rooms.operator()
    brought(room, newest)
    hidden = rows(room, "select content from episodes where superseded_by is not null order by id")
    assert hidden == [("The deploy target is the old cluster in Frankfurt",), ("The office is in Bonn",)]
    assert rows(room, "select count(*) from episodes where trust = 'external' and effective_trust = 'external'") == [(1,)]
    assert rows(room, "select gate from projects") == [("required",)]
    assert rows(room, "select session_id from batons") == [("nightly",)]
    assert rows(room, "select text from spores order by id") == [("Measure the cold build",), ("Why was the key wrong?",)]
    assert rows(room, "select count(*) from pattern_grounding") == [(2,)]


def test_a_pattern_falls_when_its_imported_evidence_is_deleted(rooms: Rooms, newest: Path) -> None:
    room = rooms.operator()
    brought(room, newest)
    sql = "select episode_id from pattern_grounding g join patterns p on p.id = g.pattern_id where p.name = 'cache-keys'"
    ((evidence,),) = rows(room, sql)
    gone = room.do("delete_episode", project_key="brought", episode_id=evidence)
    assert [(one.name, one.before, one.level) for one in gone.patterns_revoked] == [("cache-keys", 2, 1)]


def test_a_tampered_trail_is_told_and_kept_with_its_finding(rooms: Rooms, newest: Path) -> None:
    log = newest.with_name("memory.audit.jsonl")
    log.write_bytes(log.read_bytes().replace(b'"type":"decision"', b'"type":"tension"', 1))
    room = rooms.operator()
    report = brought(room, newest)
    assert len(report.trail_findings) == 1
    assert "altered or missing" in report.trail_findings[0]
    ((data,),) = rows(room, "select data from audit where event = 'import_anneal'")
    assert json.loads(str(data))["trail_findings"] == list(report.trail_findings)


def test_a_partial_wrap_stays_partial_until_it_is_cleared(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        there.execute("update metadata set value = 'no list' where key = 'wrap_episode_ids'")
        there.execute("update metadata set value = '0' where key = 'consolidate_requires_baton'")
        there.execute("update metadata set value = '' where key = 'wrap_gated_session'")
    room = rooms.operator()
    report = brought(room, newest)
    assert any("partial state" in note for note in report.notes)
    agent = rooms.agent()
    with pytest.raises(Refusal, match="wrap_partial"):
        agent.do("prepare_wrap", project_key="brought")
    assert agent.do("wrap_cancel", project_key="brought", partial=True).outcome == "partial_cleared"


def test_a_project_with_a_history_of_its_own_is_refused(rooms: Rooms, newest: Path) -> None:
    agent = rooms.agent()
    agent.do("record", project_key="mine", content="my own", episode_type="context")
    room = rooms.operator()
    with pytest.raises(Refusal, match="import_project_in_use"):
        brought(room, newest, "mine")
    brought(room, newest)
    with pytest.raises(Refusal, match="import_elsewhere"):
        brought(room, newest, "other")


def test_an_id_that_is_taken_here_is_renamed_everywhere(rooms: Rooms, newest: Path) -> None:
    room = rooms.operator()
    with contextlib.closing(sqlite3.connect(f"file:{newest}?immutable=1", uri=True)) as there:
        frozen = json.loads(there.execute("select value from metadata where key = 'wrap_episode_ids'").fetchone()[0])
    room.do("record", project_key="mine", content="a stranger", episode_type="context")
    with contextlib.closing(sqlite3.connect(room.place.path)) as here:
        here.execute("drop trigger episodes_content_never_changes")
        here.execute("update episodes set episode_id = ?", (frozen[0],))
        here.commit()
    brought(room, newest)
    ((ids,),) = rows(room, "select episode_ids from wraps where ended_at is null")
    mine = {row[0] for row in rows(room, "select episode_id from episodes where project_key = 'brought'")}
    assert frozen[0] not in mine
    assert set(json.loads(str(ids))) <= mine
    assert brought(room, newest).outcome == "nothing_new"


def test_hostile_contents_come_in_as_text_or_not_at_all(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        add = "insert into episodes (id, timestamp, type, content, metadata, session_id) values (?, ?, ?, ?, ?, ?)"
        there.execute(add, ("../../etc", "not a time", "context", "[/x] \x1b[31m\x00", "{broken", "rubbish"))
        there.execute(add, ("aaaaaaaa", "9999-99-99", "spell", "unknown type", None, None))
        there.execute(add, ("bbbbbbbb", "2026-01-01", "context", b"\xff\xfe", None, None))
        there.execute(add, ("cccccccc", "2026-01-01", "context", "deep", "[" * 500 + "]" * 500, None))
        there.execute("update metadata set value = ? where key = 'section_schema'", ('[{"heading": 1}]',))
    newest.with_name("memory.spores.json").write_text(
        json.dumps({"spores": [{"id": 1}, {"id": "x", "type": "task"}], "resolved": 7})
    )
    room = rooms.operator()
    report = brought(room, newest)
    left_out: Counter[str] = Counter()
    for one in report.left_out:
        left_out[one.what] += one.count
    assert (left_out["episodes"], left_out["metadata"], left_out["open loops"]) == (2, 2, 3)
    assert ("[/x] \x1b[31m\ufffd",) in rows(room, "select content from episodes")
    assert all(len(str(row[0])) == 8 for row in rows(room, "select episode_id from episodes"))


def test_what_is_no_store_is_refused_in_clear_words(rooms: Rooms, newest: Path, tmp_path: Path) -> None:
    room = rooms.operator()
    words = tmp_path / "words.txt"
    words.write_text("no database at all, but long enough to be looked at" * 40)
    other = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(other)) as made:
        made.execute("create table episodes (id)")
    cases = {
        tmp_path: "folder",
        tmp_path / "none": "no file",
        words: "no SQLite file",
        other: "no store of",
        rooms.path: "watchroom store",
    }
    for path, said in cases.items():
        with pytest.raises(StoreError, match=said):
            brought(room, path)
    content = bytearray(newest.read_bytes())
    content[4096 * 3 : 4096 * 40] = b"\x00" * (4096 * 37)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        brought(room, damaged)
    with spoilt(newest) as there:
        there.execute("update metadata set value = '3' where key = 'format_version'")
    with pytest.raises(Refusal, match="import_newer_format"):
        brought(room, newest)


def test_an_interrupted_import_leaves_no_trace(rooms: Rooms, newest: Path) -> None:
    room = rooms.operator()
    before = rows(room, "select count(*) from audit")

    def interrupt(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        room.do("import_anneal", project_key="brought", source=read(newest), progress=interrupt)
    assert rows(room, "select count(*) from audit") == before
    assert rows(room, "select count(*) from episodes") == [(0,)]
    assert brought(room, newest).outcome == "imported"
