"""The wrap's life: prepare, save, cancel, and what guards each (wraps.md b to e, room.md 2)."""

from __future__ import annotations

import pytest

from core.life.notices import Notice
from core.room import Room
from core.store.library import sqlite3
from tests.rooms import Rooms, refused, text, trail

TOKEN = "ab" * 16


def record(room: Room, content: str = "Connection pool is exhausted under checkout load", key: str = "demo") -> str:
    episode_id: str = room.do("record", content=content, episode_type="observation", project_key=key).episode_id
    return episode_id


def damage(rooms: Rooms, sql: str, *values: object) -> None:
    with sqlite3.connect(rooms.path) as database:
        database.execute(sql, values)
    database.close()


def test_a_wrap_covers_what_it_froze_and_nothing_later(rooms: Rooms) -> None:
    agent = rooms.agent()
    first = record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    record(agent, "Recorded while the wrap was open")
    saved = agent.do("save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token)
    assert [episode.episode_id for episode in opened.episodes] == [first]
    assert (saved.episodes_compressed, saved.continuity_revision) == (1, 1)
    assert agent.do("status", project_key="demo").episodes_waiting == 1
    assert trail(agent)[-2:] == [("wrap_completed", f"wrap:{opened.wrap_id}"), ("continuity_saved", f"wrap:{opened.wrap_id}")]


def test_looking_creates_no_project(rooms: Rooms) -> None:
    agent = rooms.agent()
    assert agent.do("status", project_key="demo").episodes_total == 0
    assert agent.do("prepare_wrap", project_key="demo").outcome == "nothing_to_wrap"
    with agent.snapshot() as view:
        assert view.one("select count(*) from projects")[0] == 0


def test_a_second_prepare_is_refused_with_whose_since_when_and_the_verdict(rooms: Rooms) -> None:
    holder, peer = rooms.agent(), rooms.agent()
    record(holder)
    opened = holder.do("prepare_wrap", project_key="demo")
    rooms.clock.advance(150)
    holder.called()
    refusal = refused(peer, "prepare_wrap", project_key="demo")
    assert refusal.code == "wrap_in_progress"
    assert refusal.facts["wrap_id"] == opened.wrap_id
    assert refusal.facts["verdict"] == "LIVE"
    assert refusal.facts["retry_after_seconds"] > 0
    assert "2 min" in refusal.sentence and "claude-code" in refusal.sentence and "pid 1000" in refusal.sentence
    assert opened.wrap_token not in str(refusal.facts) + refusal.sentence


def test_every_cancel_and_refusal_leaves_a_row_with_the_same_fields(rooms: Rooms) -> None:
    holder, peer = rooms.agent(), rooms.agent()
    record(holder)
    opened = holder.do("prepare_wrap", project_key="demo")
    refused(peer, "wrap_cancel", project_key="demo", wrap_token="f" * 32)
    with peer.snapshot() as view:
        row = view.one("select * from audit where outcome = 'refused'")
    assert (row["event"], row["subject"], row["project_key"]) == ("wrap_cancel", f"wrap:{opened.wrap_id}", "demo")
    assert row["connection_id"] == peer.identity.connection_id


def test_a_looping_refusal_leaves_one_row_a_minute_and_says_how_many_were_suppressed(rooms: Rooms) -> None:
    holder, peer = rooms.agent(), rooms.agent()
    record(holder)
    holder.do("prepare_wrap", project_key="demo")
    for _ in range(5):
        refused(peer, "prepare_wrap", project_key="demo")
    assert len(trail(peer, "refused")) == 1
    rooms.clock.advance(61)
    refused(peer, "prepare_wrap", project_key="demo")
    with peer.snapshot() as view:
        assert (
            view.one("select json_extract(data, '$.suppressed') from audit where outcome = 'refused' order by seq desc")[0] == 4
        )


def test_a_late_save_changes_nothing_and_its_text_is_kept_once(rooms: Rooms) -> None:
    late, peer = rooms.agent(), rooms.agent()
    record(late)
    first = late.do("prepare_wrap", project_key="demo")
    peer.do("wrap_cancel", project_key="demo", reason="it hung")
    second = peer.do("prepare_wrap", project_key="demo")
    mine = text(State="the late compression")
    refusal = refused(late, "save_continuity", project_key="demo", text=mine, wrap_token=first.wrap_token)
    assert refusal.code == "wrap_cancelled"
    assert "it hung" in refusal.sentence
    assert refused(late, "save_continuity", project_key="demo", text=mine).code == "wrap_token_required"
    refused(late, "save_continuity", project_key="demo", text=mine, wrap_token=first.wrap_token)
    status = peer.do("status", project_key="demo")
    assert (status.wrap.wrap_id, status.salvage_waiting) == (second.wrap_id, 1)
    assert [event for event, _ in trail(late, "refused")] == ["save_continuity", "save_continuity"]


def test_salvage_keeps_the_newest_five_distinct_texts_of_a_wrap(rooms: Rooms) -> None:
    late, peer = rooms.agent(), rooms.agent()
    record(late)
    opened = late.do("prepare_wrap", project_key="demo")
    peer.do("wrap_cancel", project_key="demo")
    for number in range(7):
        refused(late, "save_continuity", project_key="demo", text=text(State=f"version {number}"), wrap_token=opened.wrap_token)
    with late.snapshot() as view:
        kept = [row[0] for row in view.all("select text from salvage order by id")]
    assert [one.splitlines()[1] for one in kept] == [f"version {number}" for number in range(2, 7)]


def test_a_repeated_save_of_the_saved_text_is_no_salvage(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    agent.do("save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token)
    assert refused(agent, "save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token).code == "no_wrap"
    assert agent.do("status", project_key="demo").salvage_waiting == 0


def test_a_tokenless_save_needs_the_sole_wrap_of_its_own_stdio_connection(rooms: Rooms) -> None:
    agent, peer, web = rooms.agent(), rooms.agent(), rooms.agent(surface="http")
    record(agent)
    agent.do("prepare_wrap", project_key="demo")
    assert refused(peer, "save_continuity", project_key="demo", text=text()).code == "wrap_token_required"
    agent.do("wrap_cancel", project_key="demo")
    agent.do("prepare_wrap", project_key="demo")
    assert refused(agent, "save_continuity", project_key="demo", text=text()).code == "wrap_token_required"
    agent.do("wrap_cancel", project_key="demo")
    web.do("prepare_wrap", project_key="demo")
    assert refused(web, "save_continuity", project_key="demo", text=text()).code == "wrap_token_required"


def test_a_generation_counts_on_through_cancels(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    generations = []
    for _ in range(3):
        generations.append(agent.do("prepare_wrap", project_key="demo").generation)
        agent.do("wrap_cancel", project_key="demo")
    assert generations == [1, 2, 3]


def test_a_token_is_good_once_in_the_whole_store(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    record(agent, key="other")
    agent.do("prepare_wrap", project_key="demo", wrap_token=TOKEN)
    assert refused(agent, "prepare_wrap", project_key="other", wrap_token=TOKEN).code == "wrap_token_spent"


@pytest.mark.parametrize(
    "damaging",
    [
        "update wraps set started_at = null",
        "update wraps set wrap_token = ''",
        "update wraps set episode_ids = '[1, 2]'",
        "update wraps set episode_ids = x'ff00'",
        "update wraps set section_schema = null",
        "update wraps set gated_session = 'mallory'",
        "update wraps set seal = null",
        "update wraps set generation = 'three'",
        "update wraps set connection_id = 'somebody else'",
        "update wraps set wrap_date = cast(x'80ff' as text)",
        "insert into wraps (project_key) values ('demo')",
    ],
)
def test_any_damage_is_partial_on_every_surface_and_only_a_cancel_clears_it(rooms: Rooms, damaging: str) -> None:
    agent, peer = rooms.agent(), rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    damage(rooms, damaging)
    assert peer.do("status", project_key="demo").wrap.state == "partial"
    assert refused(peer, "prepare_wrap", project_key="demo").code == "wrap_partial"
    assert refused(agent, "save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token).code == "wrap_partial"
    assert peer.do("wrap_cancel", project_key="demo", partial=True).outcome == "partial_cleared"
    status = peer.do("status", project_key="demo")
    assert status.wrap is None or status.wrap.state == "open"
    assert status.episodes_waiting == 1


def test_the_gate_downgrades_and_names_nobody(rooms: Rooms) -> None:
    alice, nobody, bob = rooms.agent("alice"), rooms.agent(), rooms.agent("bob")
    operator = rooms.operator()
    record(alice)
    operator.do("gate", project_key="demo", gate="required")
    assert alice.do("prepare_wrap", project_key="demo").reason == "no_baton"
    operator.do("baton_claim", project_key="demo", session_id="alice")
    assert nobody.do("prepare_wrap", project_key="demo").reason == "baton_required"
    assert bob.do("prepare_wrap", project_key="demo").reason == "not_baton_holder"
    rooms.kill(alice)
    rooms.clock.advance(13)
    bob.called()
    assert bob.do("prepare_wrap", project_key="demo").reason == "stale_baton_holder"
    assert not bob.do("status", project_key="demo").may_consolidate


def test_a_taken_baton_strands_the_wrap_and_tells_its_former_holder(rooms: Rooms) -> None:
    alice, bob, operator = rooms.agent("alice"), rooms.agent("bob"), rooms.operator()
    record(alice)
    operator.do("gate", project_key="demo", gate="required")
    operator.do("baton_claim", project_key="demo", session_id="alice")
    opened = alice.do("prepare_wrap", project_key="demo")
    assert refused(operator, "baton_claim", project_key="demo", session_id="bob").code == "baton_held"
    operator.do("baton_claim", project_key="demo", session_id="bob", take=True)
    for agent in (alice, bob):
        refusal = refused(agent, "save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token)
        assert refusal.code == "save_not_authorized"
        assert "alice" not in refusal.sentence + str(refusal.facts)
    notices: list[Notice] = alice.take_notices()
    assert [notice.kind for notice in notices] == ["baton_taken"]
    assert alice.take_notices() == []
    assert bob.take_notices() == []


def test_a_strict_project_lets_a_peer_end_only_a_dead_wrap(rooms: Rooms) -> None:
    holder, peer, operator = rooms.agent(), rooms.agent(), rooms.operator()
    record(holder)
    operator.do("peer_cancel", project_key="demo", peer_cancel="dead")
    holder.do("prepare_wrap", project_key="demo")
    assert refused(peer, "wrap_cancel", project_key="demo").code == "wrap_not_dead"
    rooms.kill(holder)
    assert peer.do("wrap_cancel", project_key="demo").outcome == "cancelled"


def test_a_cancelled_holder_is_told_once_and_the_canceller_never(rooms: Rooms) -> None:
    holder, peer = rooms.agent(), rooms.agent()
    record(holder)
    holder.do("prepare_wrap", project_key="demo")
    peer.do("wrap_cancel", project_key="demo", reason="stuck at [/x]")
    assert ["stuck at [/x]" in notice.text for notice in holder.take_notices()] == [True]
    assert holder.take_notices() == [] == peer.take_notices()


def test_an_ask_for_release_comes_again_each_minute_until_the_wrap_ends(rooms: Rooms) -> None:
    holder, operator = rooms.agent(), rooms.operator()
    record(holder)
    opened = holder.do("prepare_wrap", project_key="demo")
    operator.do("ask_release", wrap_id=opened.wrap_id, message="please")
    assert len(holder.take_notices()) == 1
    assert holder.take_notices() == []
    rooms.clock.advance(61)
    assert len(holder.take_notices()) == 1
    holder.do("wrap_cancel", project_key="demo")
    rooms.clock.advance(61)
    assert holder.take_notices() == []


def test_a_package_holds_the_oldest_that_fit_and_says_how_many_wait(rooms: Rooms) -> None:
    agent = rooms.agent()
    ids = [record(agent, f"{number} " + "x" * 1_000) for number in range(10)]
    opened = agent.do("prepare_wrap", project_key="demo", max_package_chars=6_000)
    assert [episode.episode_id for episode in opened.episodes] == ids[: len(opened.episodes)]
    assert 1 <= len(opened.episodes) < 10 and opened.waiting == 10 - len(opened.episodes)
    assert len(opened.package) <= 6_000
    saved = agent.do("save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token)
    assert saved.episodes_compressed == len(opened.episodes)


def test_one_episode_too_long_for_a_package_is_excerpted_and_marked(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent, "y" * 50_000)
    opened = agent.do("prepare_wrap", project_key="demo", max_package_chars=5_000)
    assert opened.episodes[0].excerpt_of == 50_000
    assert "50,000" in opened.package and len(opened.package) <= 5_000


def test_the_wrap_date_is_the_day_it_was_prepared_even_after_midnight(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    rooms.clock.advance(86_400)
    assert agent.do("status", project_key="demo").wrap.wrap_id == opened.wrap_id
    with agent.snapshot() as view:
        assert view.one("select wrap_date from wraps")[0] == "2026-11-30"
