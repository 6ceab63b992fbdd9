"""Who waits while an import writes: other writers, each as long as its patience lasts; readers never (room.md 2.19; faults.md T56)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.exchange.anneal_source import read
from tests.rooms import Rooms, refused


def test_an_agent_that_waits_in_vain_is_told_store_busy_and_a_reader_waits_for_nobody(rooms: Rooms, newest: Path) -> None:
    operator, agent = rooms.operator(), rooms.agent()
    agent.do("record", project_key="mine", content="before", episode_type="context")
    source = read(newest)
    written, go_on = threading.Event(), threading.Event()

    def stop_at_the_end(done: int, total: int) -> None:
        if done == total:
            written.set()
            assert go_on.wait(60)

    with ThreadPoolExecutor(1) as pool:
        try:
            running = pool.submit(operator.do, "import_anneal", project_key="brought", source=source, progress=stop_at_the_end)
            assert written.wait(60)
            busy = refused(agent, "record", patience=0.2, project_key="mine", content="meanwhile", episode_type="context")
            assert busy.code == "store_busy" and busy.facts["retry_after_seconds"] == 5
            assert "writing" in busy.sentence and "disk" not in busy.sentence
            assert agent.do("recall", project_key="mine").total == 1
            assert agent.do("status", project_key="brought").episodes_total == 0
        finally:
            go_on.set()
        assert running.result(60).outcome == "imported"
    agent.do("record", project_key="mine", content="after", episode_type="context")
    assert agent.do("status", project_key="brought").episodes_total == 10


def test_reading_and_judging_the_other_store_keeps_nobody_waiting(rooms: Rooms, newest: Path) -> None:
    operator, agent = rooms.operator(), rooms.agent()

    def record_meanwhile(done: int, total: int) -> None:
        agent.do("record", project_key="mine", content=f"at {done} of {total}", episode_type="context", patience=0.2)

    source = read(newest, record_meanwhile)
    assert agent.do("status", project_key="mine").episodes_total == 1
    newest.unlink()  # nothing is read of it any more
    report = operator.do("import_anneal", project_key="brought", source=source)
    assert report.outcome == "imported" and report.held_seconds is not None
