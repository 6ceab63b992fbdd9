"""The foreign trail over its weeks, the text of an interrupted save, and what beside the database is not imported (wraps.md a9, e4)."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from core.exchange.anneal_source import read
from core.exchange.anneal_trail import GENESIS
from core.room import Room
from tests.foreign import spoilt
from tests.rooms import Rooms


def rows(room: Room, sql: str) -> list[tuple[Any, ...]]:
    with room.snapshot() as view:
        return [tuple(row) for row in view.all(sql)]


def brought(rooms: Rooms, path: Path) -> Any:
    return rooms.operator().do("import_anneal", project_key="brought", source=read(path))


def manifest_of(path: Path) -> Path:
    return path.with_name("memory.audit.manifest.json")


def change_manifest(path: Path, **values: Any) -> None:
    place = manifest_of(path)
    place.write_text(json.dumps({**json.loads(place.read_text()), **values}))


@pytest.fixture
def weeks(newest: Path) -> Path:
    """A store whose trail has two sealed weeks, one packed and one not, and an active one."""
    log = newest.with_name("memory.audit.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    packed, plain = "memory.audit.2026-W01.jsonl.gz", "memory.audit.2026-W02.jsonl"
    newest.with_name(packed).write_bytes(gzip.compress(b"".join(lines[:4])))
    newest.with_name(plain).write_bytes(b"".join(lines[4:8]))
    log.write_bytes(b"".join(lines[8:]))
    change_manifest(newest, files=[{"filename": packed, "period": "2026-W01"}, {"filename": plain, "period": "2026-W02"}])
    return newest


def test_sealed_weeks_are_one_chain_with_the_active_file_and_attached_unpacked(rooms: Rooms, weeks: Path) -> None:
    source = read(weeks)
    lines = len(gzip.decompress(source.trail.files[0].packed).splitlines())
    assert ([one.name[13:] for one in source.trail.files], lines) == (["2026-W01.jsonl.gz", "2026-W02.jsonl", "jsonl"], 4)
    report = brought(rooms, weeks)
    assert report.trail_findings == ()
    kept = rows(rooms.operator(), "select name, content, sha256, head from attachments where kind = 'anneal-audit' order by id")
    assert [name for name, *_ in kept] == [one.name for one in source.trail.files]
    for name, content, digest, head in kept:
        there = weeks.with_name(name)
        raw = gzip.decompress(there.read_bytes()) if there.suffix == ".gz" else there.read_bytes()
        assert (gzip.decompress(content), digest, head) == (raw, hashlib.sha256(raw).hexdigest(), report.trail_head)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.with_name("memory.audit.2026-W02.jsonl").unlink(), ["lists 'memory.audit.2026-W02.jsonl', which is missing", "altered"]),
        (lambda path: path.with_name("memory.audit.2026-W01.jsonl.gz").write_bytes(b"\x1f\x8b broken"), ["cannot be read", "altered"]),
        (lambda path: path.with_name("memory.audit.2026-W03.jsonl.gz").write_bytes(gzip.compress(b"")), ["W03.jsonl.gz is not in the manifest"]),
        (lambda path: manifest_of(path).write_text("{"), ["the manifest cannot be read"]),
        (lambda path: change_manifest(path, files={}), ["the manifest is no manifest"]),
        (lambda path: change_manifest(path, version=2), ["of a newer version"]),
        (lambda path: manifest_of(path).with_name(manifest_of(path).name + ".corrupt-20260101T000000000000Z").touch(), ["put aside as corrupt"]),
        (lambda path: path.with_name("memory.audit.jsonl").unlink(), ["held entries and is gone"]),
        (lambda path: append(path, b"no json\n"), ["1 lines cannot be read"]),
        (lambda path: append(path, b'{"seq":99,"prev_hash":"x"} {}\n'), ["1 lines cannot be read"]),
        (lambda path: append(path, b'{"seq":0,"prev_hash":"x"}\n'), ["altered or missing", "seq 0 is out of order"]),
    ],
)  # fmt: skip
def test_every_break_of_the_weeks_is_a_finding(rooms: Rooms, weeks: Path, damage: Any, said: list[str]) -> None:
    change_manifest(weeks, active_begun={"period": "2026-W03"})
    damage(weeks)
    report = brought(rooms, weeks)
    assert len(report.trail_findings) == len(said), report.trail_findings
    for found, words in zip(report.trail_findings, said, strict=True):
        assert words in found
    told = json.loads(rows(rooms.operator(), "select data from audit where event = 'import_anneal'")[0][0])
    assert told["trail_findings"] == list(report.trail_findings)


def append(path: Path, line: bytes) -> None:
    log = path.with_name("memory.audit.jsonl")
    log.write_bytes(log.read_bytes() + line)


def test_a_chain_whose_old_weeks_were_deleted_begins_at_its_anchor(rooms: Rooms, weeks: Path) -> None:
    old = weeks.with_name("memory.audit.2026-W01.jsonl.gz")
    last = gzip.decompress(old.read_bytes()).splitlines()[-1]
    old.unlink()
    files = json.loads(manifest_of(weeks).read_text())["files"][1:]
    anchor = "sha256:" + hashlib.sha256(last).hexdigest()
    change_manifest(weeks, files=files, chain_anchor=anchor)
    assert read(weeks).trail.findings == ()
    assert read(weeks).trail.notes == ("its trail begins where old weeks were deleted: what came before cannot be checked",)
    change_manifest(weeks, chain_anchor_recovered=True, set_aside=[{"filename": "x"}])
    report = brought(rooms, weeks)
    assert report.trail_findings == ()
    assert "its trail begins at an anchor that was recovered by a repair: nothing vouches for what came before" in report.notes
    assert "its trail has 1 gaps that a repair recorded" in report.notes
    change_manifest(weeks, chain_anchor=GENESIS)
    assert "altered or missing" in read(weeks).trail.findings[0]


def test_a_rotation_of_the_real_program_is_read_as_it_verifies_it(
    rooms: Rooms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anneal_memory", reason="the peer comes with the bench extra")
    from anneal_memory import audit
    from anneal_memory.store import Store

    path = tmp_path / "real" / "memory.db"
    path.parent.mkdir()
    for week in ("2026-W01", "2026-W02"):
        monkeypatch.setattr(audit, "_iso_week_now", lambda week=week: week)
        with contextlib.closing(Store(path)) as store:
            for number in range(3):
                store.record(f"{week}, number {number}", "context")
    theirs = audit.AuditTrail.verify(path)
    assert (theirs.valid, theirs.files_verified, theirs.total_entries) == (True, 2, 6)
    ours = read(path).trail
    assert (ours.findings, len(ours.files), ours.entries) == ((), 2, 6)
    assert [one.name[-3:] for one in ours.files] == [".gz", "onl"]
    assert {one.what: one.imported for one in brought(rooms, path).taken}["trail files"] == 2


# the text of an interrupted save


def interrupted(path: Path, digest_of: bytes) -> bytes:
    """What is there when a save was killed after its commit and before its renames; gives the staged text."""
    content = path.with_name("memory.continuity.md").read_bytes() + b"\nthe newest words\n"
    path.with_name("memory.continuity.abcdefabcdef-12345678.md.tmp").write_bytes(content)
    with spoilt(path) as there:
        there.execute(
            "update wraps set content_hash = ?, pair_id = 'abcdefabcdef-12345678' where id = (select max(id) from wraps)",
            (hashlib.sha256(digest_of or content).hexdigest(),),
        )
    return content


def test_the_text_of_a_save_that_was_killed_before_its_renames_is_recovered(rooms: Rooms, foreign: Path) -> None:
    content = interrupted(foreign, b"")
    report = brought(rooms, foreign)
    assert "its last save was interrupted before its text was put in place; that text is taken" in report.notes
    assert rows(rooms.operator(), "select text from continuity") == [(content.decode(),)]


def test_a_text_that_no_save_vouches_for_is_told(rooms: Rooms, foreign: Path) -> None:
    interrupted(foreign, b"something else")
    report = brought(rooms, foreign)
    assert "the text is not the one that the last wrap saved: it was edited since" in report.notes
    assert rows(rooms.operator(), "select text from continuity") == [(foreign.with_name("memory.continuity.md").read_text(),)]


@pytest.mark.parametrize("name", ["../../etc/passwd", "a\x00b", None, b"\x01"])
def test_the_staged_text_s_name_is_no_path(rooms: Rooms, newest: Path, name: Any) -> None:
    with spoilt(newest) as there:
        there.execute("update wraps set content_hash = 'x', pair_id = ?", (name,))
    newest.with_name("memory.continuity.md").unlink()
    report = brought(rooms, newest)
    assert "the text that its last wrap saved is gone" in report.notes
    assert rows(rooms.operator(), "select text from continuity") == []


# what is not imported


def test_outcomes_registered_sessions_and_tables_without_a_place_here_are_told(rooms: Rooms, newest: Path) -> None:
    newest.with_name("memory.outcomes.jsonl").write_text('{"one": 1}\n\n{"two": 2}\n')
    sessions = newest.with_name("memory.continuity.md.sessions")
    sessions.mkdir()
    (sessions / "0123456789abcdef.session").write_text("{}")
    (sessions / "other.tmp").touch()
    with spoilt(newest) as there:
        there.execute("insert into drift_results values (1, 1, 'held', null)")
        there.execute("insert into team_overrides values ('a', 'b')")
        there.execute("create table something_new (one)")
        there.execute("insert into something_new values (1), (2)")
    found = {one.what: (one.count, one.why) for one in brought(rooms, newest).left_out}
    assert found["outcomes"] == (2, "what became of advice has no place here")
    assert found["registered sessions"] == (1, "who is alive is told by the connections here")
    assert found["drift results"] == (1, "drift probes have no place here")
    assert found["team overrides"] == (1, "the team ledger has no place here")
    assert found["something new"] == (2, "they have no place here")
