"""A project as JSON lines: everything that is its own, as stored, of one moment, without a key to anything (room.md 2.6)."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core.errors import Refusal
from core.exchange.anneal_source import read
from core.exchange.export_lines import export_lines
from core.exchange.exporting import KINDS, ExportCancelled, Exported
from core.room import Room
from core.store.library import sqlite3
from core.trail.append import row_hash
from tests.console.hostile import ACTING
from tests.rooms import Rooms
from tests.unit.exchange.busy import KEY, OTHER, Busy, busy
from tests.unit.sessions.support import outside

NOT_EXPORTED = {"store", "counters", "episode_sources", "_sqlite_migrations"}
"""The store's own, what triggers derive from the rest, and the library's own."""


def lines_of(room: Room, key: str = KEY, **more: Any) -> tuple[list[str], Exported]:
    """The lines of an export, and what it said of itself."""
    written: list[str] = []
    with room.snapshot() as view:
        exported = export_lines(view, key, written.append, now=room.clock.now(), program="watchroom test", **more)
    return "".join(written).splitlines(), exported


def by_kind(lines: list[str]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for line in map(json.loads, lines[1:-1]):
        found.setdefault(line["kind"], []).append(line["row"])
    return found


@pytest.fixture
def made(rooms: Rooms) -> Busy:
    """The project, with another beside it."""
    found = busy(rooms)
    busy(rooms, OTHER)
    return found


def test_every_row_of_the_project_is_there_as_stored_and_none_of_another(made: Busy) -> None:
    lines, exported = lines_of(made.operator)
    found = by_kind(lines)
    of_session = "session_id in (select id from sessions where project_key = 'demo')"
    of_slot = "slot_id in (select id from slots where project_key = 'demo')"
    of_pattern = "pattern_id in (select id from patterns where project_key = 'demo')"
    where = dict.fromkeys(("session_checkpoints", "session_artifacts", "session_connections"), of_session)
    where |= {"slot_anchors": of_slot, "slot_history": of_slot, "pattern_grounding": of_pattern, "pattern_history": of_pattern}
    with contextlib.closing(sqlite3.connect(f"file:{made.rooms.path}?mode=ro", uri=True)) as independent:
        independent.row_factory = sqlite3.Row
        for kind in KINDS:
            if kind.name in ("connection", "attachment", "wrap", "knowledge"):
                continue
            own = where.get(kind.table, "project_key = 'demo'")
            rows = independent.execute(f"select * from {kind.table} where {own}")
            stored = [dict(row) for row in rows]
            assert sorted(found[kind.name], key=repr) == sorted(stored, key=repr), kind.name
            assert exported.counts[kind.name] == len(stored) > 0, kind.name
        knowledge = [dict(row) for row in independent.execute("select * from knowledge where project_key = 'demo'")]
    assert found["knowledge"] == [{name: row[name] for name in row if name != "pieces"} for row in knowledge]
    opened_by = {made.agent.identity.connection_id, made.operator.identity.connection_id}
    assert {row["id"] for row in found["connection"]} == opened_by


def test_every_table_is_exported_or_named_as_not(made: Busy) -> None:
    with made.operator.snapshot() as view:
        tables = {row[0] for row in view.all("select name from sqlite_master where type = 'table'")}
    assert {name for name in tables if "_fts" not in name} == {kind.table for kind in KINDS} | NOT_EXPORTED


def test_the_header_says_what_it_is_and_the_end_tells_a_cut_off_or_altered_file(made: Busy) -> None:
    lines, exported = lines_of(made.operator)
    header, end = json.loads(lines[0]), json.loads(lines[-1])
    assert (header["kind"], header["format"], header["version"], header["project"]) == ("header", "watchroom-project", 1, KEY)
    with made.operator.snapshot() as view:
        head = tuple(view.one("select seq, hash, at from audit order by seq desc limit 1"))
        assert (header["store"], header["layout"]) == (view.one("select store_id from store")[0], 5)
    assert tuple(header["trail_head"].values()) == head
    assert header["counts"] == exported.counts
    assert end == {
        "kind": "end",
        "lines": len(lines) - 1,
        "counts": dict(Counter(json.loads(line)["kind"] for line in lines[1:-1])),
        "sha256": hashlib.sha256("".join(f"{line}\n" for line in lines[:-1]).encode()).hexdigest(),
    }


def test_a_deleted_episode_is_its_tombstone(made: Busy) -> None:
    lines, _ = lines_of(made.operator)
    assert "Nobody shall read this again" not in "".join(lines)
    (tombstone,) = by_kind(lines)["tombstone"]
    assert tombstone["episode_id"] == made.deleted


def test_a_token_is_cut_and_an_open_one_is_nowhere(made: Busy) -> None:
    lines, _ = lines_of(made.operator)
    tokens = {row["ended_at"]: (row["wrap_token"], row["wrap_token_sha256"]) for row in by_kind(lines)["wrap"]}
    assert tokens[None] == (made.open_token[:8], hashlib.sha256(made.open_token.encode()).hexdigest())
    assert made.open_token not in "".join(lines)
    # a dead one stands in the trail's row of its cancel, where it always stood (room.md 2.6)
    assert [line for line in lines if made.dead_token in line] == [
        line for line in lines if '"wrap_cancelled","outcome":"done"' in line
    ]


def test_a_trail_row_s_hash_can_be_computed_from_its_line(made: Busy) -> None:
    rows = by_kind(lines_of(made.operator)[0])["audit"]
    for row in rows:
        values = dict(row)
        stored, previous = values.pop("hash"), values.pop("prev_hash")
        assert row_hash(values["version"], values.pop("seq"), *list(values.values())[1:], previous) == stored
    assert {row["outcome"] for row in rows} == {"done", "refused"}


def test_a_line_drives_no_terminal(made: Busy) -> None:
    for line in lines_of(made.operator)[0]:
        assert line.isascii() and not ACTING.search(line)


def test_looking_leaves_no_row_and_changes_no_byte(made: Busy) -> None:
    def digests() -> bytes:  # by another process: a plain open in this one would drop its locks
        code = "import hashlib, sys\nfor one in sys.argv[1:]: print(hashlib.sha256(open(one, 'rb').read()).hexdigest())"
        files = [f"{made.rooms.path}{suffix}" for suffix in ("", "-wal", "-beats", ".anchors")]
        return subprocess.check_output([sys.executable, "-c", code, *files])

    before = digests()
    lines_of(made.operator)
    assert digests() == before


def test_it_is_of_one_moment(made: Busy) -> None:
    def meanwhile(done: int, total: int) -> None:
        if done == 0:
            made.agent.do("record", project_key=KEY, content="came later", episode_type="context")

    lines, exported = lines_of(made.operator, progress=meanwhile)
    assert "came later" not in "".join(lines)
    assert exported.counts["episode"] == len(by_kind(lines)["episode"])
    assert "came later" in "".join(lines_of(made.operator)[0]), "it was recorded while the export ran, and nobody waited"


def test_a_cancelled_one_stops_and_an_unknown_project_is_refused(made: Busy) -> None:
    with pytest.raises(ExportCancelled):
        lines_of(made.operator, cancelled=lambda: True)
    with pytest.raises(Refusal, match="project_not_found"):
        lines_of(made.operator, "nobody")


def test_what_damage_left_is_told_and_not_lost(made: Busy) -> None:
    outside(
        made.rooms,
        "update wraps set wrap_token = x'00ff', generation = 9e999, gated_session = cast(x'61ff' as text) where id = 3",
    )
    lines, _ = lines_of(made.operator)
    row = by_kind(lines)["wrap"][2]
    assert (row["generation"], row["gated_session"]) == ({"real": "inf"}, "a\udcff")
    assert row["wrap_token"] == "\x00\ufffd"
    assert [one["id"] for one in by_kind(lines)["wrap"]] == [1, 2, 3, 4], "the others are there, each once"


def test_a_real_store_s_attachments_come_out_whole_but_for_the_token_of_an_open_wrap(rooms: Rooms, foreign: Path) -> None:
    room = rooms.operator()
    room.do("import_anneal", project_key=KEY, source=read(foreign))
    with room.snapshot() as view:
        token = view.one("select wrap_token from wraps where ended_at is null")[0]
    found = by_kind(lines_of(room)[0])
    pieces: dict[int, bytes] = {}
    for row in found["attachment_piece"]:
        pieces[row["attachment_id"]] = pieces.get(row["attachment_id"], b"") + base64.b64decode(row["content"])
    held = [row["name"] for row in found["attachment"] if row["held_back"]]
    assert held == ["memory.audit.jsonl"], "its line wrap_started has the token whole"
    for row in found["attachment"]:
        if row["kind"] == "anneal-file":
            plain = gzip.decompress(pieces[row["id"]])
            assert plain == foreign.with_name(row["name"]).read_bytes()
            assert hashlib.sha256(plain).hexdigest() == row["sha256"]
    room.do("wrap_cancel", project_key=KEY, wrap_token=token)
    found = by_kind(lines_of(room)[0])
    assert [row["name"] for row in found["attachment"] if row["held_back"]] == []
