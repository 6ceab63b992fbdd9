"""Verify names every break with its row, and never says OK of nothing (room.md 5; faults.md T34, T35)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import StoreError
from core.store.database import Reader, Store
from core.store.library import sqlite3
from core.trail.append import append, row_hash
from core.trail.verify import HASHED, Verification, verify, verify_store
from tests.fakes import FakeClock


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A store whose trail has 300 rows."""
    path = tmp_path / "store.db"
    clock = FakeClock()
    store = Store(path, clock)
    with store.transaction() as transaction:
        for number in range(300):
            append(
                transaction,
                now=clock.advance(1),
                event="record",
                outcome="done",
                project_key="demo",
                actor='{"kind":"agent","name":"ä","via":"stdio"}',
                connection_id=None,
                subject=f"episode:{number}",
                data={"text": f'quote " back \\ line \n {number}'},
            )
    store.close()
    return path


def check(path: Path) -> Verification:
    return verify_store(path)


def damage(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as database:
        for name in ("audit_never_changes", "audit_goes_only_when_sealed"):
            database.execute(f"drop trigger {name}")
        for statement in statements:
            database.execute(statement)
    database.close()


def named(found: Verification) -> list[tuple[str, int, int]]:
    return [(one.kind, one.seq, one.last_seq) for one in found.breaks]


def test_a_whole_trail_is_ok_and_says_how_many_rows_and_that_its_tail_is_not_anchored(trail: Path) -> None:
    found = check(trail)
    assert found.ok and (found.rows, found.first_seq, found.last_seq) == (300, 1, 300)
    assert "300 rows" in found.words and "not anchored" in found.words


def test_no_rows_are_nothing_to_verify_and_never_ok(tmp_path: Path) -> None:
    Store(tmp_path / "new.db", FakeClock()).close()
    found = check(tmp_path / "new.db")
    assert not found.ok and not found.broken
    assert "nothing to verify" in found.words and "OK" not in found.words


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("update audit set data = '{}' where seq = 204", [("altered", 204, 204)]),
        ("update audit set at = '2020' where seq = 1", [("altered", 1, 1)]),
        ("update audit set outcome = 'refused' where seq = 300", [("altered", 300, 300)]),
        ("update audit set hash = 'x' where seq = 300", [("altered", 300, 300)]),
        ("update audit set project_key = null where seq = 9", [("altered", 9, 9)]),
        ("delete from audit where seq = 204", [("missing", 204, 204)]),
        ("delete from audit where seq between 10 and 20", [("missing", 10, 20)]),
        ("delete from audit where seq < 5", [("missing", 1, 4)]),
        ("update audit set data = x'ff00' where seq = 7", [("unreadable", 7, 7)]),
        ("update audit set data = cast(x'80ff41' as text) where seq = 7", [("unreadable", 7, 7)]),
        ("update audit set seq = 1000 where seq = 300", [("missing", 300, 999), ("out of order", 1000, 1000)]),
        ("update audit set seq = 0 where seq = 300", [("out of order", 0, 0)]),
        ("update audit set seq = -9223372036854775808 where seq = 300", [("out of order", -(2**63), -(2**63))]),
        ("update audit set seq = -5 where seq = 1", [("out of order", -5, -5), ("missing", 1, 1)]),
        ("update audit set hash = x'00' where seq = 7", [("unreadable", 7, 7)]),
        ("update audit set prev_hash = x'00' where seq = 7", [("unreadable", 7, 7)]),
        ("update audit set hash = cast(x'ff' as text) where seq = 7", [("unreadable", 7, 7)]),
        ("update audit set version = 'abc' where seq = 7", [("unreadable", 7, 7)]),
        ("update audit set version = 1.5 where seq = 7", [("unreadable", 7, 7)]),
        ("update audit set data = 'a' || char(0) || 'b' where seq = 7", [("altered", 7, 7)]),
    ],
)
def test_a_break_is_named_with_its_row_and_nothing_else_is(
    trail: Path, statement: str, expected: list[tuple[str, int, int]]
) -> None:
    damage(trail, statement)
    found = check(trail)
    assert named(found) == expected
    assert not found.ok and found.broken and f"row {expected[0][1]}" in found.words.replace("rows", "row")


def test_several_breaks_are_all_named_and_the_rest_is_still_checked(trail: Path) -> None:
    damage(
        trail,
        "update audit set data = '{}' where seq in (50, 204)",
        "delete from audit where seq = 100",
        "update audit set event = cast(x'ff' as text) where seq = 150",
    )
    assert named(check(trail)) == [("altered", 50, 50), ("missing", 100, 100), ("unreadable", 150, 150), ("altered", 204, 204)]


def test_two_rows_that_changed_places_are_out_of_order(trail: Path) -> None:
    damage(
        trail,
        "update audit set seq = -5 where seq = 5",
        "update audit set seq = 5 where seq = 6",
        "update audit set seq = 6 where seq = -5",
    )
    kinds = named(check(trail))
    assert ("out of order", 5, 5) in kinds and ("out of order", 6, 6) in kinds


def test_a_row_forged_together_with_its_hash_is_altered(trail: Path) -> None:
    database = sqlite3.connect(trail)
    row = list(
        database.execute(
            "select version, seq, at, event, outcome, project_key, actor, connection_id, subject, data, prev_hash from audit where seq = 42"
        ).fetchone()
    )
    database.close()
    row[9] = '{"forged":true}'
    damage(trail, f"update audit set data = '{row[9]}', hash = '{row_hash(*row)}' where seq = 42")
    assert named(check(trail)) == [("altered", 42, 42)]


def test_a_row_forged_with_another_predecessor_is_named_and_the_one_before_is_not(trail: Path) -> None:
    database = sqlite3.connect(trail)
    row = list(database.execute(f"select {HASHED[len('json_array(') : -1]} from audit where seq = 42").fetchone())
    database.close()
    row[10] = "f" * 64
    damage(trail, f"update audit set prev_hash = '{row[10]}', hash = '{row_hash(*row)}' where seq = 42")
    assert named(check(trail)) == [("altered", 42, 42)]


def test_a_deleted_row_whose_followers_were_renumbered_leaves_every_one_out_of_order(trail: Path) -> None:
    damage(
        trail,
        "delete from audit where seq = 204",
        "update audit set seq = -seq where seq > 204",
        "update audit set seq = -seq - 1 where seq < 0",
    )
    assert named(check(trail)) == [("out of order", seq, seq) for seq in range(204, 300)]


@pytest.mark.parametrize("value", ["null", "'abc'", "x'ff'", "204.5"])
def test_a_row_without_a_number_in_a_rebuilt_table_is_named(trail: Path, value: str) -> None:
    damage(
        trail,
        "create table copied as select * from audit",
        "drop table audit",
        "alter table copied rename to audit",
        f"update audit set seq = {value} where seq = 204",
    )
    found = check(trail)
    assert ("missing", 204, 204) in named(found)
    assert any(one.kind == "unreadable" and "no number" in one.words for one in found.breaks)


def test_nulls_in_a_rebuilt_table_are_unreadable(trail: Path) -> None:
    damage(
        trail,
        "create table copied as select * from audit",
        "drop table audit",
        "alter table copied rename to audit",
        "update audit set at = null, hash = null, data = null where seq = 204",
    )
    assert named(check(trail)) == [("unreadable", 204, 204)]


@pytest.mark.parametrize("event", ["trail_sealed", "continuity_saved"])
@pytest.mark.parametrize("data", ["'rubbish'", "cast(x'ff' as text)", "x'00'", "'[1]'"])
def test_spoilt_data_of_a_row_that_verify_reads_itself_is_named_like_any_other(trail: Path, event: str, data: str) -> None:
    damage(
        trail,
        f"update audit set event = '{event}', subject = 'wrap:1', data = {data} where seq = 204",
        "insert into continuity (project_key, revision, text, sha256, wrap_id, created_at) "
        "values ('demo', 1, 'text', '982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1', 1, 'x')",
        "delete from audit where seq < 10",
    )
    found = check(trail)
    assert [(seq, last) for _, seq, last in named(found)] == [(1, 9), (204, 204)]
    assert found.store_mismatches == ("continuity revision 1 of demo is not what the trail says was saved",)


def test_a_store_that_lost_its_own_row_is_broken(trail: Path) -> None:
    damage(trail, "delete from store")
    assert "the store's own row is gone" in check(trail).words


def test_breaks_beyond_the_bound_are_counted(trail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.trail.verify.BREAKS_NAMED", 10)
    damage(trail, "update audit set data = x'ff'")
    found = check(trail)
    assert (len(found.breaks), found.breaks_more, found.rows) == (10, 290, 300)
    assert "and 297 more" in found.words


def test_rows_that_a_seal_accounts_for_are_no_break_and_the_words_say_what_was_not_checked(trail: Path) -> None:
    digest = hash_of(trail, 100)
    store = Store(trail, FakeClock())
    with store.transaction() as transaction:
        append(
            transaction,
            now=FakeClock().now(),
            event="trail_sealed",
            outcome="done",
            project_key=None,
            actor="{}",
            connection_id=None,
            subject="trail:",
            data={"first": 1, "last": 100, "count": 100, "last_hash": digest},
        )
        transaction.execute("delete from audit where seq <= 100")
    store.close()
    found = check(trail)
    assert found.ok and (found.rows, found.first_seq, found.last_seq) == (201, 101, 301)
    assert "rows 1 to 100 were sealed and their segments are not checked here" in found.words
    damage(trail, "delete from audit where seq = 101")
    assert named(check(trail)) == [("missing", 1, 101)]


def hash_of(path: Path, seq: int) -> str:
    database = sqlite3.connect(path)
    digest: str = database.execute("select hash from audit where seq = ?", (seq,)).fetchone()[0]
    database.close()
    return digest


def test_an_emptied_trail_over_a_used_store_is_broken(trail: Path) -> None:
    damage(trail, "delete from audit", "insert into wraps (project_key, started_at) values ('demo', 'x')")
    found = check(trail)
    assert found.broken and "the trail is empty" in found.words


def test_an_open_wrap_that_the_trail_does_not_know_is_a_mismatch(trail: Path) -> None:
    with sqlite3.connect(trail) as database:
        database.execute("insert into wraps (project_key, started_at) values ('demo', 'x')")
    database.close()
    assert "no wrap_started" in check(trail).store_mismatches[0]


def test_a_wrap_whose_end_the_trail_tells_otherwise_is_a_mismatch(trail: Path) -> None:
    store = Store(trail, FakeClock())
    with store.transaction() as transaction:
        for event in ("wrap_started", "wrap_cancelled"):
            append(
                transaction,
                now=FakeClock().now(),
                event=event,
                outcome="done",
                project_key="demo",
                actor="{}",
                connection_id=None,
                subject="wrap:1",
                data={},
            )
        transaction.execute("insert into wraps (id, project_key, ended_at, outcome) values (1, 'demo', 'x', 'saved')")
    assert check(trail).store_mismatches == ("wrap 1 has ended, but the trail does not say how",)
    with store.transaction() as transaction:
        transaction.execute("update wraps set outcome = 'cancelled'")
    store.close()
    assert check(trail).ok


def test_mismatches_beyond_the_bound_are_said(trail: Path) -> None:
    damage(trail, *["insert into wraps (project_key) values ('demo')"] * 101)
    found = check(trail)
    assert len(found.store_mismatches) == 101 and "the rest is not named" in found.store_mismatches[-1]


def test_an_interrupted_verification_blames_no_row(trail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.trail.verify.PROGRESS_ROWS", 100)
    reader = Reader(trail)
    with pytest.raises(StoreError, match="interrupted"), reader.snapshot() as view:
        verify(view, progress=lambda *_: reader.interrupt())
    reader.close()


def test_verify_changes_no_byte(trail: Path) -> None:
    def digests() -> dict[str, str]:
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in trail.parent.iterdir()}

    # every connection is closed, so reading the file takes no lock away
    damage(trail, "update audit set data = x'ff' where seq = 7", "delete from audit where seq = 9")
    before = digests()
    assert check(trail).broken
    assert {name: digest for name, digest in digests().items() if name in before} == before


def test_verify_can_be_cancelled_and_tells_its_progress(trail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.trail.verify.PROGRESS_ROWS", 100)
    seen: list[tuple[int, int]] = []
    assert verify_store(trail, progress=lambda done, total: seen.append((done, total))).ok
    assert len(seen) > 2 and seen[-1] == (300, 300)
    found = verify_store(trail, cancelled=lambda: True)
    assert found.cancelled and not found.ok and "cancelled" in found.words


def test_a_trail_that_is_unreadable_throughout_can_be_cancelled_too(trail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.trail.verify.PROGRESS_ROWS", 100)
    damage(trail, "update audit set data = x'ff'")
    found = verify_store(trail, cancelled=lambda: True)
    assert found.cancelled and found.rows == 100


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_the_hash_is_over_what_sqlite_writes_as_json_array(trail: Path, text: str) -> None:
    database = sqlite3.connect(trail)
    row: list[Any] = [1, 1, text, text, "done", None, text, None, text, json.dumps({"t": text}), "0" * 64]
    names = HASHED[len("json_array(") : -1].split(", ")
    marks = ", ".join(f"? as {name}" for name in names)
    written = database.execute(f"select {HASHED} from (select {marks})", row).fetchone()[0]
    database.close()
    assert hashlib.sha256(written.encode()).hexdigest() == row_hash(*row)


def test_the_trail_refuses_update_and_delete(trail: Path) -> None:
    database = sqlite3.connect(trail)
    for statement in ("update audit set data = '{}'", "delete from audit where seq = 300"):
        with pytest.raises(sqlite3.DatabaseError, match="append-only"):
            database.execute(statement)
    database.close()


def test_verifying_an_old_view_of_a_growing_trail_is_consistent(trail: Path) -> None:
    reader = Reader(trail)
    store = Store(trail, FakeClock())
    with reader.snapshot() as view:
        before = view.one("select max(seq) from audit")[0]
        with store.transaction() as transaction:
            append(
                transaction,
                now=FakeClock().now(),
                event="x",
                outcome="done",
                project_key=None,
                actor="{}",
                connection_id=None,
                subject=None,
                data={},
            )
        assert verify(view).rows == before
    reader.close()
    store.close()
