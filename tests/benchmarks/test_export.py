"""Exporting a project of 100,000 episodes beside merely fetching the same rows, in turns."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.exchange.export_lines import export_lines
from core.exchange.exporting import KINDS
from core.exchange.new_file import whole_text
from core.store.database import Reader
from tests.benchmarks.build import OURS, PROJECT
from tests.benchmarks.figures import Figures, Goal, Side, in_turns, medians, ms
from tests.benchmarks.shelf import ROOT, Shelf

EPISODES = 100_000
TABLES = tuple(kind.table for kind in KINDS)
MEMORY = r"""
import re, sys
from core.store.database import Reader
from datetime import UTC, datetime
from pathlib import Path
from core.exchange.new_file import whole_text
from core.exchange.export_lines import export_lines
store, target = map(Path, sys.argv[1:])
def most():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
before = most()
with whole_text(target, store, force=True) as file, Reader(store).snapshot() as view:
    export_lines(view, "demo", file.write, now=datetime.now(UTC), program="bench")
print(most() - before)
"""
"""Prints by how many KB its memory's highest mark rose while it exported."""


def test_export_as_json_lines(benchmark: Any, shelf: Shelf, figures: Figures, tmp_path: Path) -> None:
    path, target = shelf.original("ours", EPISODES) / OURS, tmp_path / "demo.jsonl"

    def ours() -> int:
        reader = Reader(path)
        try:
            with whole_text(target, path, force=True) as file, reader.snapshot() as view:
                return export_lines(view, PROJECT, file.write, now=datetime.now(UTC), program="bench").rows
        finally:
            reader.close()

    def fetch() -> int:
        reader, rows = Reader(path), 0
        with reader.snapshot() as view:
            for table in TABLES:
                cursor = view.execute(f"select * from {table}")
                cursor.row_factory = None
                while some := cursor.fetchmany(1_000):
                    rows += len(some)
        reader.close()
        return rows

    found = ours()
    assert EPISODES * 2 < found <= fetch()
    taken, merely = medians(in_turns(benchmark, Side(ours), Side(fetch), rounds=5))
    size = target.stat().st_size / 1024**2
    sides = f"{ms(taken)} for {found:,} rows and {size:.0f} MB against {ms(merely)}"
    figures.add("export", f"{EPISODES:,} episodes as JSON lines against select *", taken / merely, Goal(at_most=10), sides)
    grown = subprocess.check_output([sys.executable, "-c", MEMORY, str(path), str(target)], cwd=ROOT, env=os.environ)
    figures.add("export", "memory that it takes beyond the start", int(grown) / 1024, Goal(at_most=32, unit="MB"))
