"""Verify names every break with its row, and never says OK of nothing (room.md 5; faults.md T34, T35)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.store.database import Reader, Store
from core.store.library import sqlite3
from core.trail.append import append, row_hash
from core.trail.export import export
from core.trail.verify import HASHED, Verification, verify, verify_file, verify_store
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


def test_an_emptied_trail_over_a_used_store_is_broken(trail: Path) -> None:
    damage(trail, "delete from audit", "insert into wraps (project_key, started_at) values ('demo', 'x')")
    found = check(trail)
    assert found.broken and "the trail is empty" in found.words


def test_an_open_wrap_that_the_trail_does_not_know_is_a_mismatch(trail: Path) -> None:
    with sqlite3.connect(trail) as database:
        database.execute("insert into wraps (project_key, started_at) values ('demo', 'x')")
    database.close()
    assert "no wrap_started" in check(trail).store_mismatches[0]


def test_verify_can_be_cancelled_and_tells_its_progress(trail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.trail.verify.PROGRESS_ROWS", 100)
    seen: list[tuple[int, int]] = []
    assert verify_store(trail, progress=lambda done, total: seen.append((done, total))).ok
    assert seen and seen[-1][1] == 300
    found = verify_store(trail, cancelled=lambda: True)
    assert found.cancelled and not found.ok and "cancelled" in found.words


def exported(path: Path, write: Callable[[str], object]) -> int:
    reader = Reader(path)
    with reader.snapshot() as view:
        done = export(view, write)
    reader.close()
    return done


def test_an_export_verifies_without_the_store_and_tells_its_own_damage(trail: Path) -> None:
    lines: list[str] = []
    assert exported(trail, lines.append) == 300
    assert verify_file(lines).ok
    edited = [line.replace("quote", "quota") if '"seq":204,' in line else line for line in lines]
    assert named(verify_file(edited)) == [("altered", 204, 204)]
    assert named(verify_file([*lines[:9], *lines[12:]])) == [("missing", 10, 12)]
    assert "line 5" in verify_file([*lines[:4], "rubbish\n", *lines[5:]]).words


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_the_hash_is_over_what_sqlite_writes_as_json_array(trail: Path, text: str) -> None:
    database = sqlite3.connect(trail)
    row = [1, 1, text, text, "done", None, text, None, text, json.dumps({"t": text}), "0" * 64]
    names = HASHED[len("json_array(") : -1].split(", ")
    marks = ", ".join(f"? as {name}" for name in names)
    written = database.execute(f"select {HASHED} from (select {marks})", row).fetchone()[0]
    database.close()
    import hashlib

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
