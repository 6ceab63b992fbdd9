"""Many processes add to one trail, and it never forks (faults.md T31, C2)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from core.trail.verify import verify_store

ROOT = Path(__file__).parents[3]
WRITER = """
import sys
from pathlib import Path
from core.clock import SystemClock
from core.store.database import Store
from core.trail.append import append

clock = SystemClock()
store = Store(Path(sys.argv[1]), clock, patience=60)
sys.stdin.readline()  # all begin together
for number in range(50):
    with store.transaction() as transaction:
        append(
            transaction, now=clock.now(), event="record", outcome="done", project_key="demo", actor="{}",
            connection_id=sys.argv[2], subject=f"episode:{number}", data={"number": number},
        )
store.close()
"""


def test_eight_processes_of_fifty_rows_make_one_whole_chain(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(number)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    found = verify_store(path)
    assert found.ok and (found.rows, found.first_seq, found.last_seq) == (400, 1, 400), found.words
