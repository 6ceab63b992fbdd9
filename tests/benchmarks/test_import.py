"""Importing 100,000 episodes of anneal-memory beside a bare bulk insert of the same rows, in turns (issue 4, import)."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.exchange.anneal_source import read
from core.exchange.report import ImportReport
from core.room import Place, Room
from core.store.library import sqlite3
from tests.benchmarks.build import PEER, PROJECT
from tests.benchmarks.figures import Figures, Goal, Side, in_turns, medians
from tests.benchmarks.shelf import Shelf

pytest.importorskip("anneal_memory", reason="the peer comes with the bench extra")

EPISODES = 100_000
AS_DECLARED = "select replace(sql, 'references projects (project_key)', '') from sqlite_master where name = 'episodes'"
NOTHING_DECLARED = "select 'create table episodes (' || group_concat(name) || ')' from (select name from pragma_table_info('episodes') order by cid)"


def imported(source: Path, store: Path) -> ImportReport:
    """Everything that the command does: reading and judging the store, verifying its trail, and the import into a new one."""
    with Room(Place(store, "cli")) as room:
        report: ImportReport = room.do("import_anneal", project_key=PROJECT, source=read(source))
        return report


@contextlib.contextmanager
def connected(path: Path) -> Iterator[Any]:
    """A file with the settings of a store's."""
    with contextlib.closing(sqlite3.connect(str(path), isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = full")
        yield connection


def test_import(benchmark: Any, shelf: Shelf, figures: Figures, tmp_path: Path) -> None:
    source = shelf.original("peer", EPISODES) / PEER
    numbers = itertools.count()

    def new_file() -> Path:
        return tmp_path / f"{next(numbers)}.db"

    first = new_file()
    report = imported(source, first)
    assert {one.what: one.imported for one in report.taken}["episodes"] == EPISODES
    with contextlib.closing(sqlite3.connect(str(first))) as made:
        rows = made.execute("select * from episodes order by id").fetchall()
        tables = [made.execute(sql).fetchone()[0] for sql in (AS_DECLARED, NOTHING_DECLARED)]
    assert len(rows) == EPISODES
    insert = f"insert into episodes values ({', '.join('?' * len(rows[0]))})"

    def bare(table: str) -> Callable[[Path], None]:
        def work(path: Path) -> None:
            with connected(path) as connection:
                connection.execute(table)
                connection.execute("begin immediate")
                connection.executemany(insert, rows)
                connection.execute("commit")

        return work

    sides = [Side(lambda path: imported(source, path), before=new_file), *(Side(bare(one), before=new_file) for one in tables)]
    ours, declared, plain = medians(in_turns(benchmark, *sides, rounds=3))
    told = f"{ours:.2f} s against {{:.2f}} s"
    name = f"import of {EPISODES:,} episodes against inserting them"
    figures.add("import", name, ours / declared, Goal(at_most=5), told.format(declared))
    figures.add("import", f"{name} into a table without any rule", ours / plain, sides=told.format(plain))
    held = report.held_seconds or 0.0
    figures.add("import", "other writers wait for the import", held, Goal(at_most=10, unit="s"))
