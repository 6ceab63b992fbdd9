"""A project as a store of its own: the same rows, a trail that is honestly its own, and a memory that goes on (room.md 3 and 5)."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.clock import stamp
from core.exchange import copying
from core.exchange.anneal_source import read
from core.exchange.exporting import KINDS, ExportCancelled, Exported, Source
from core.memory.wraps import seal_of
from core.projects import counters
from core.room import Room
from core.store.inspect import quick_check
from core.trail.append import row_hash
from core.trail.verify import verify
from tests.rooms import Rooms, refused, text
from tests.unit.exchange.busy import KEY, OTHER, Busy, busy
from tests.unit.sessions.support import outside, rows


@pytest.fixture
def copies(tmp_path: Path) -> Iterator[Rooms]:
    """Rooms on a new store, where the copy goes."""
    made = Rooms(tmp_path / "copy" / "store.db")
    made.ids = CountingFrom(10_000)  # type: ignore[assignment]
    yield made
    made.close()


class CountingFrom:
    """Ids that meet none of the store that is copied."""

    def __init__(self, start: int) -> None:
        self.number = start

    def token(self) -> str:
        return hashlib.sha256(self.unique().encode()).hexdigest()[:32]

    def episode_id(self) -> str:
        self.number += 1
        return f"{self.number:08x}"

    def unique(self) -> str:
        self.number += 1
        return f"10000000-0000-0000-0000-{self.number:012x}"


@pytest.fixture
def made(rooms: Rooms) -> Busy:
    """The project, with another before it, so that its rows do not begin at 1."""
    busy(rooms, OTHER)
    return busy(rooms)


def copied(origin: Room, copies: Rooms, **more: Any) -> tuple[Room, Exported]:
    """The copy's room, and what was copied."""
    room = copies.operator()
    with origin.snapshot() as view:
        exported: Exported = room.do("copy_project", source=Source(view, KEY, origin.clock.now()), **more)
    return room, exported


def things(room: Room, connections: set[str]) -> dict[str, list[dict[str, Any]]]:
    """Every row of the project outside the trail and the attachments."""
    found: dict[str, list[dict[str, Any]]] = {}
    with room.snapshot() as view:
        for kind in KINDS:
            if kind.name not in ("attachment", "audit"):
                sql = f"select t.* from {kind.table} t where {kind.where} order by t.rowid"
                found[kind.name] = [
                    dict(row) for row in view.all(sql, {"key": KEY, "connections": json.dumps(sorted(connections))})
                ]
    return found


@pytest.mark.parametrize(("batch", "size"), [(2_000, 1_000_000), (2, 1_000_000), (2_000, 1)])
def test_every_row_is_there_under_its_own_number(
    made: Busy, copies: Rooms, monkeypatch: pytest.MonkeyPatch, batch: int, size: int
) -> None:
    monkeypatch.setattr(copying, "BATCH", batch)
    monkeypatch.setattr(copying, "BATCH_SIZE", size)
    connections = {made.agent.identity.connection_id, made.operator.identity.connection_id}
    before = things(made.operator, connections)
    room, exported = copied(made.operator, copies)
    after = things(room, connections)
    now = exported.exported_at
    for row in before["wrap"]:
        row["wrap_token"] = row["wrap_token"][:8]
        row["seal"] = seal_of(row)
        if row["ended_at"] is None:
            row |= {
                "ended_at": now,
                "outcome": "cancelled",
                "ended_by": room.identity.actor.as_json(),
                "ended_reason": copying.STILL_OPEN,
            }
    for row in before["connection"]:
        row["closed_at"] = row["closed_at"] or now
    assert after == before
    assert [name for name in before if not before[name]] == []
    assert {name: len(after[name]) for name in after} == {name: exported.counts[name] for name in after}
    assert rows(room, "select project_key from projects") == [(KEY,)]
    with made.operator.snapshot() as there, room.snapshot() as here:
        counted = counters(there, KEY)
        counted["wraps:cancelled"] += 1
        assert {name: value for name, value in counters(here, KEY).items() if value} == {n: v for n, v in counted.items() if v}
        assert quick_check(here) == ()


def test_its_trail_verifies_and_says_where_it_came_from(made: Busy, copies: Rooms) -> None:
    with made.operator.snapshot() as view:
        head = tuple(view.one("select seq, hash, at from audit order by seq desc limit 1"))
    room, exported = copied(made.operator, copies)
    with room.snapshot() as view:
        found = verify(view)
    assert found.ok, found.words
    ((subject, data),) = rows(room, "select subject, data from audit where event = 'copy_project'")
    told = json.loads(data)
    assert (subject, told["store"]) == (f"project:{KEY}", made.operator.store_id) and told["store"] != room.store_id
    assert tuple(told["trail_head"].values()) == head
    assert told["counts"] == {name: count for name, count in exported.counts.items() if count}
    actors = {json.loads(actor)["name"] for (actor,) in rows(room, "select actor from audit")}
    assert actors == {room.identity.actor.name}, "what others did is not told as if they had done it here"


def test_what_is_told_again_names_the_row_that_it_repeats(made: Busy, copies: Rooms) -> None:
    room, _ = copied(made.operator, copies)
    again = [
        (event, subject, json.loads(data)["copied"])
        for event, subject, data in rows(
            room, "select event, subject, data from audit where json_extract(data, '$.copied') is not null"
        )
    ]
    originals = {
        seq: (event, subject, at, actor, digest)
        for seq, event, subject, at, actor, digest in rows(
            made.operator, "select seq, event, subject, at, actor, hash from audit"
        )
    }
    assert {event for event, _, _ in again} >= {"wrap_completed", "wrap_cancelled", "continuity_restored", "brain_session_relay"}
    for event, subject, one in again:
        assert originals[one["seq"]] == (event, subject, one["at"], one["actor"], one["hash"])


def test_the_other_trail_s_rows_are_attached_as_they_stand(made: Busy, copies: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "ROWS_IN_ONE", 9)
    room, _ = copied(made.operator, copies)
    lines: list[dict[str, Any]] = []
    told = json.loads(rows(room, "select data from audit where event = 'copy_project'")[0][0])["trail_files"]
    attached = rows(room, "select name, content, sha256, head from attachments where kind = 'watchroom-audit' order by id")
    assert len(attached) > 3
    for name, content, digest, head in attached:
        plain = gzip.decompress(content)
        assert hashlib.sha256(plain).hexdigest() == digest == told[name]
        found = [json.loads(line) for line in plain.splitlines()]
        assert name == f"audit-{found[0]['seq']}-{found[-1]['seq']}.jsonl" and len(found) <= 9
        assert (head,) in rows(made.operator, "select hash from audit")
        lines += found
    with made.operator.snapshot() as view:
        stored = [dict(row) for row in view.all("select * from audit where project_key = ? order by seq", (KEY,))]
    assert lines == stored
    for line in lines:
        values = [line[name] for name in ("version", "seq", "at", "event", "outcome", "project_key", "actor", "connection_id")]
        assert row_hash(*values, line["subject"], line["data"], line["prev_hash"]) == line["hash"]


def test_neither_an_open_token_nor_a_deleted_text_is_in_any_byte_of_it(made: Busy, copies: Rooms) -> None:
    room, _ = copied(made.operator, copies)
    room.close()
    content = copies.path.read_bytes()
    assert b"Connection pool exhausted again" in content
    assert made.open_token.encode() not in content and b"Nobody shall read this again" not in content


def test_work_goes_on_in_the_copy(made: Busy, copies: Rooms) -> None:
    room, _ = copied(made.operator, copies)
    assert room.do("recall", project_key=KEY, keyword="exhausted").total == 2
    assert [one.name for one in room.do("crystal_recall", project_key=KEY, query="pool exhausted load").patterns] == ["pool"]
    assert room.do("brain_search", query="pool").results
    agent = copies.agent("nightly")
    status = agent.do("status", project_key=KEY)
    assert (status.wrap, status.episodes_waiting) == (None, 2), "what the open wrap had frozen waits again"
    draft = rows(room, "select id from drafts order by id desc limit 1")[0][0]
    done = room.do(
        "adopt_continuity",
        project_key=KEY,
        kind="draft",
        item_id=draft,
        text=text(State="adopted"),
        expected_revision=3,
        reason="go on",
    )
    assert done.saved.continuity_revision == 4
    started = agent.do("brain_session_start", project_key=KEY, client_key="new")
    assert started.session.started_focus == "hand over the base focus whole"
    with room.snapshot() as view:
        found = verify(view)
    assert found.ok, found.words


def test_a_copy_goes_into_a_store_without_projects_only(made: Busy, copies: Rooms) -> None:
    room, _ = copied(made.operator, copies)
    with made.operator.snapshot() as view:
        source = Source(view, KEY, made.rooms.clock.now())
        assert refused(room, "copy_project", source=source).code == "import_project_in_use"


def test_a_cancelled_one_leaves_the_store_empty(made: Busy, copies: Rooms) -> None:
    with pytest.raises(ExportCancelled):
        copied(made.operator, copies, cancelled=lambda: True)
    room = copies.operator()
    assert rows(room, "select count(*) from projects") == [(0,)]
    assert rows(room, "select event from audit") == [("store_created",)]


def test_a_damaged_wrap_and_text_are_copied_as_far_as_they_can_be_read(made: Busy, copies: Rooms) -> None:
    wrap_id = rows(made.operator, "select id from wraps where ended_at is null and project_key = 'demo'")[0][0]
    outside(
        made.rooms,
        "update wraps set generation = 'x', started_at = cast(x'61ff' as text), wrap_token = null where id = ?",
        (wrap_id,),
    )
    outside(made.rooms, "update patterns set summary = cast(x'61ff' as text) where project_key = 'demo'")
    room, exported = copied(made.operator, copies)
    assert rows(room, "select generation, started_at, outcome, ended_at from wraps where id = ?", wrap_id) == [
        ("x", "a\ufffd", "cancelled", stamp(made.rooms.clock.now()))
    ]
    assert rows(room, "select summary from patterns") == [("a\ufffd",)]
    assert exported.counts["wrap"] == 4


def test_an_import_is_known_in_the_copy_too(rooms: Rooms, copies: Rooms, foreign: Path) -> None:
    room = rooms.operator()
    room.do("import_anneal", project_key=KEY, source=read(foreign))
    held, _ = copied(room, copies)
    told = json.loads(rows(held, "select data from audit where event = 'copy_project'")[0][0])["held_back"]
    assert [one["name"] for one in told] == ["memory.audit.jsonl"], "it has the token of the open wrap whole"
    token = rows(room, "select wrap_token from wraps where ended_at is null")[0][0]
    packed = rows(held, "select content from attachments where kind = 'anneal-file'")
    assert packed and all(token.encode() not in gzip.decompress(content) for (content,) in packed)
    with held.snapshot() as view:
        assert verify(view).ok
    room.do("wrap_cancel", project_key=KEY, wrap_token=token)
    later = Rooms(copies.path.with_name("later.db"))
    later.ids = CountingFrom(20_000)  # type: ignore[assignment]
    again, _ = copied(room, later)
    assert again.do("import_anneal", project_key=KEY, source=read(foreign)).outcome == "nothing_new"
    later.close()
