"""What outside tools may leave in a store, and what agents may send: found by trying to break it, and held from then on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import Refusal
from core.store.library import sqlite3
from core.trail.verify import verify_store
from core.views import wraps as wrap_views
from core.views.snapshot import take
from tests.rooms import Rooms, refused, text
from tests.unit.memory.test_wraps import damage, record

DEEP = "[" * 100_000


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_metadata_nested_too_deep_is_refused_and_what_is_stored_can_be_recalled(rooms: Rooms) -> None:
    agent = rooms.agent()
    arguments = {"content": "x y z", "episode_type": "context", "project_key": "demo"}
    assert refused(agent, "record", **arguments, metadata=nested(101)).code == "invalid_input"
    agent.do("record", **arguments, metadata=nested(100))
    assert agent.do("recall", project_key="demo").episodes[0].metadata == nested(100)


@pytest.mark.parametrize("column", ["episode_ids", "ended_by", "section_schema"])
def test_json_nested_without_end_is_damage_like_any_other(rooms: Rooms, column: str) -> None:
    agent = rooms.agent()
    record(agent)
    agent.do("prepare_wrap", project_key="demo")
    damage(rooms, f"update wraps set {column} = ?", DEEP)
    damage(rooms, "update connections set actor = ?", DEEP)
    with agent.snapshot() as view:
        assert take(view, agent.witness).wraps
        assert wrap_views.wrap_detail(view, agent.witness, 1) is not None
    assert agent.do("wrap_cancel", project_key="demo").outcome in ("cancelled", "partial_cleared")


def test_two_whole_open_rows_are_partial_on_every_surface_and_no_live_token_is_told(rooms: Rooms) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    columns = "project_key, generation, wrap_token, token_origin, started_at, episode_ids, section_schema, wrap_date, connection_id, seal"
    damage(rooms, f"insert into wraps ({columns}) select {columns} from wraps")
    with operator.snapshot() as view:
        rows = wrap_views.open_wraps(view, operator.witness, operator.beats_reader.all(), operator.beats_reader.newest())
    assert [row.judgement.verdict for row in rows] == ["PARTIAL", "LIVE"]
    first = rows[0]
    operator.do("force_cancel", wrap_id=first.wrap_id, verdict="PARTIAL", row_sha256=first.row_sha256, reason="a copy")
    with operator.snapshot() as view:
        assert opened.wrap_token not in view.one("select data from audit where event = 'wrap_cancelled'")[0]
    assert agent.do("status", project_key="demo").wrap.state == "open"


def test_an_end_that_is_no_text_is_an_end(rooms: Rooms) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    record(agent)
    agent.do("prepare_wrap", project_key="demo")
    damage(rooms, "update wraps set ended_at = x'00ff'")
    assert refused(operator, "force_cancel", wrap_id=1, verdict="LIVE", reason="r").code == "wrap_already_finished"
    with operator.snapshot() as view:
        assert view.one("select count(*) from audit where event = 'wrap_cancelled'")[0] == 0


def test_a_stray_outcome_does_not_end_a_wrap(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    damage(rooms, "update wraps set outcome = 'cancelled'")
    assert agent.do("save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token).outcome == "saved"


@pytest.mark.parametrize(
    ("late", "words"), [("x" * 1_000_001, "keep it yourself"), ("   ", "blank"), (text(), "kept as salvage")]
)
def test_a_late_saver_is_told_what_becomes_of_its_text(rooms: Rooms, late: str, words: str) -> None:
    agent, peer = rooms.agent(), rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    peer.do("wrap_cancel", project_key="demo")
    assert words in refused(agent, "save_continuity", project_key="demo", text=late, wrap_token=opened.wrap_token).sentence


def test_a_saved_text_sent_again_is_no_salvage_though_its_spaces_were_exotic(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    exotic = text(State="non\u00a0breaking\u2028lines")
    agent.do("save_continuity", project_key="demo", text=exotic, wrap_token=opened.wrap_token)
    refused(agent, "save_continuity", project_key="demo", text=exotic, wrap_token=opened.wrap_token)
    assert agent.do("status", project_key="demo").salvage_waiting == 0


@pytest.mark.parametrize("key", ["\ud800", "a\x00b"])
def test_a_project_key_that_no_store_could_hold_is_invalid_input(rooms: Rooms, key: str) -> None:
    agent = rooms.agent()
    for verb, more in (("status", {}), ("prepare_wrap", {}), ("wrap_cancel", {}), ("save_continuity", {"text": "x"})):
        with pytest.raises(Refusal, match="invalid_input"):
            agent.do(verb, project_key=key, **more)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("update continuity set text = 'evil'", "is not the one that was saved"),
        ("update wraps set ended_at = null, outcome = null", "the trail says that it has ended"),
    ],
)
def test_a_changed_text_and_a_reopened_wrap_are_told_by_verify(rooms: Rooms, statement: str, words: str) -> None:
    agent = rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    agent.do("save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token)
    assert not verify_store(rooms.path).broken
    damage(rooms, statement)
    found = verify_store(rooms.path)
    assert found.broken and words in found.words


def test_whatever_a_store_holds_the_console_goes_on_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The feed outlives an error that nobody foresaw, says unreadable, and mends itself."""
    import threading

    from console.feed import Feed, FeedState
    from core.views.look import Looker

    rooms = Rooms(tmp_path / "store.db")
    record(rooms.agent())
    healths: list[str] = []
    ill, well = threading.Event(), threading.Event()

    def post(state: FeedState) -> None:
        healths.append(state.health)
        (ill if state.health == "unreadable" else well).set()

    broken = True

    def take_or_fail(view: Any, witness: Any, **more: Any) -> Any:
        if broken:
            raise RecursionError("nobody foresaw it")
        return take(view, witness, **more)

    monkeypatch.setattr("console.feed.take", take_or_fail)
    looker = Looker(rooms.path, rooms.clock, rooms.processes)
    feed = Feed(looker, post)
    feed.start()
    assert ill.wait(10)
    broken = False
    feed.read_again()
    assert well.wait(10)
    feed.stop()
    looker.close()
    rooms.close()
    assert healths[0] == "unreadable" and healths[-1] == "live"


def test_the_library_in_use_reads_what_damage_left(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    agent.do("prepare_wrap", project_key="demo")
    with sqlite3.connect(rooms.path) as database:
        database.execute("update wraps set wrap_token = cast(x'80' as text), generation = 9223372036854775807")
    database.close()
    assert agent.do("status", project_key="demo").wrap.state == "partial"
