"""Verifying the trail beside merely fetching the same rows, in turns (issue 2, How good)."""

from __future__ import annotations

from typing import Any

from core.store.database import Reader
from core.trail.verify import COLUMNS, verify_store
from tests.benchmarks.build import OURS
from tests.benchmarks.figures import Figures, Goal, Side, in_turns, medians, ms
from tests.benchmarks.shelf import Shelf

ROWS = 200_000
FETCHED_AT_ONCE = 1_000


def test_verify(benchmark: Any, shelf: Shelf, figures: Figures) -> None:
    path = shelf.original("ours", 0, ROWS) / OURS
    found = verify_store(path)
    assert found.ok and found.rows == ROWS, found.words

    def fetch() -> int:
        reader, rows = Reader(path), 0
        with reader.snapshot() as view:
            cursor = view.execute(f"select {COLUMNS} from audit order by seq")
            cursor.row_factory = None
            while some := cursor.fetchmany(FETCHED_AT_ONCE):
                rows += len(some)
        reader.close()
        return rows

    assert fetch() == ROWS
    ours, merely = medians(in_turns(benchmark, Side(lambda: verify_store(path)), Side(fetch), rounds=7))
    figures.add(
        "trail", f"verify {ROWS:,} rows against fetching", ours / merely, Goal(at_most=2.5), f"{ms(ours)} against {ms(merely)}"
    )
