"""Drafts, salvage, adopting, section schemas and restoring: every refusal, and what the trail says (issue 4, 1 and 5; room.md 2.8)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.memory.continuity import SCHEMAS
from core.memory.drafts import KEPT_A_WRAP
from core.memory.salvage import SIZE_LIMIT
from core.room import Room
from core.store.library import sqlite3
from core.trail.verify import verify_store
from core.views import continuity as continuity_view
from core.views import kept_texts as kept_view
from core.views.snapshot import take
from tests.rooms import SECTIONS, Rooms, refused, text, trail

HOSTILE = "[/x] [red]bold\x1b[31m \u202eevil\u202c \x9b2J {0} %s\r\nnext\u2028line 统一 🏳️‍🌈 " + "]" * 50


def record(room: Room, content: str = "Connection pool is exhausted under checkout load", key: str = "demo") -> str:
    episode_id: str = room.do("record", content=content, episode_type="observation", project_key=key).episode_id
    return episode_id


def draft(room: Room, opened: Any, words: str, **more: Any) -> Any:
    return room.do("draft_continuity", project_key="demo", wrap_token=opened.wrap_token, text=words, **more)


def texts_of(rooms: Rooms, table: str = "drafts") -> list[str]:
    with sqlite3.connect(rooms.path) as database:
        found = [row[0] for row in database.execute(f"select text from {table} order by id")]
    database.close()
    return found


def damage(rooms: Rooms, sql: str, *values: object) -> None:
    with sqlite3.connect(rooms.path) as database:
        database.execute(sql, values)
    database.close()


def data_of(room: Room, event: str) -> dict[str, Any]:
    with room.snapshot() as view:
        row = view.one("select data from audit where event = ? and outcome = 'done' order by seq desc limit 1", (event,))
    found: dict[str, Any] = json.loads(row[0])
    return found


def assert_trail_holds(rooms: Rooms) -> None:
    """The trail verifies, and agrees with the store."""
    found = verify_store(rooms.path)
    assert not found.broken and not found.store_mismatches, found


@dataclass
class Left:
    """A wrap that was cancelled after it was drafted: its agent, the operator, what was opened, and the draft."""

    agent: Room
    operator: Room
    opened: Any
    draft_id: int
    episode_id: str


@pytest.fixture
def left(rooms: Rooms) -> Left:
    agent, operator = rooms.agent(), rooms.operator()
    episode_id = record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    kept = draft(agent, opened, text(State="as far as it got"))
    agent.do("wrap_cancel", project_key="demo", wrap_token=opened.wrap_token)
    return Left(agent, operator, opened, kept.draft_id, episode_id)


def adopt(left: Left, **changed: Any) -> dict[str, Any]:
    """The arguments of an adoption that goes through, with some changed."""
    return {
        "project_key": "demo",
        "kind": "draft",
        "item_id": left.draft_id,
        "text": text(State="finished by hand"),
        "expected_revision": 0,
        "reason": "the agent was killed over it",
        **changed,
    }


# drafts


def test_the_newest_five_drafts_of_a_wrap_are_kept_and_a_repeated_text_is_kept_once(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    for number in range(7):
        last = draft(agent, opened, f"draft {number}")
    assert (last.drafts, texts_of(rooms)) == (KEPT_A_WRAP, [f"draft {number}" for number in range(2, 7)])
    again = draft(agent, opened, "draft 6")
    assert (again.changed, again.draft_id) == (False, last.draft_id)
    assert draft(agent, opened, "draft 3").changed
    assert texts_of(rooms) == ["draft 2", "draft 4", "draft 5", "draft 6", "draft 3"]


def test_an_agent_that_drafts_without_pause_leaves_one_trail_row_a_minute_and_no_text_in_it(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    for number in range(61):
        draft(agent, opened, f"secret draft {number}")
        rooms.clock.advance(1)
    rows = [event for event, _ in trail(agent) if event == "continuity_drafted"]
    assert len(rows) == 2
    told = data_of(agent, "continuity_drafted")
    assert "secret" not in str(told) and set(told["text"]) == {"characters", "sha256"}
    agent.do("wrap_cancel", project_key="demo", wrap_token=opened.wrap_token)
    kept = data_of(agent, "wrap_cancelled")["draft_kept"]
    assert kept["characters"] == len("secret draft 60")


@pytest.mark.parametrize("words", ["", "  \n", "a\x00b", "a\ud800b", "x" * (SIZE_LIMIT + 1), "é" * (SIZE_LIMIT // 2 + 1)])
def test_a_draft_that_cannot_be_kept_is_refused_and_the_earlier_ones_stay(rooms: Rooms, words: str) -> None:
    agent = rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    draft(agent, opened, "first")
    refusal = refused(agent, "draft_continuity", project_key="demo", wrap_token=opened.wrap_token, text=words)
    assert (refusal.code, texts_of(rooms)) == ("invalid_input", ["first"])


def test_a_draft_of_exactly_a_megabyte_and_a_hostile_one_are_kept_as_they_are(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    draft(agent, opened, "x" * SIZE_LIMIT)
    draft(agent, opened, HOSTILE)
    assert texts_of(rooms) == ["x" * SIZE_LIMIT, HOSTILE]


def test_a_draft_takes_the_token_of_the_open_wrap_as_a_save_does(rooms: Rooms, left: Left) -> None:
    dead = {"project_key": "demo", "wrap_token": left.opened.wrap_token}
    refusal = refused(left.agent, "draft_continuity", text="late words", **dead)
    assert refusal.code == "wrap_cancelled" and "kept as salvage" in refusal.sentence
    assert texts_of(rooms, "salvage") == ["late words"]
    assert refused(left.agent, "draft_continuity", project_key="demo", wrap_token="ab" * 16, text="x").code == "no_wrap"
    second = left.agent.do("prepare_wrap", project_key="demo")
    assert (
        refused(left.agent, "draft_continuity", project_key="demo", wrap_token="ab" * 16, text="x").code == "wrap_token_mismatch"
    )
    assert refused(left.agent, "draft_continuity", project_key="demo", wrap_token="AB", text="x").code == "invalid_input"
    damage(rooms, "update wraps set wrap_date = 'x' where id = ?", second.wrap_id)
    assert (
        refused(left.agent, "draft_continuity", project_key="demo", wrap_token=second.wrap_token, text="x").code == "wrap_partial"
    )


def test_drafts_of_a_wrap_that_is_saved_go_with_it(rooms: Rooms) -> None:
    agent = rooms.agent()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    draft(agent, opened, "half")
    agent.do("save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token)
    assert texts_of(rooms) == []


def test_the_next_prepare_and_status_say_how_many_texts_wait(rooms: Rooms, left: Left) -> None:
    refused(left.agent, "save_continuity", project_key="demo", text="too late", wrap_token=left.opened.wrap_token)
    status = left.agent.do("status", project_key="demo")
    assert (status.salvage_waiting, status.drafts_waiting) == (1, 1)
    opened = left.agent.do("prepare_wrap", project_key="demo")
    assert (opened.salvage_waiting, opened.drafts_waiting) == (1, 1)
    assert "1 salvaged text(s)" in opened.package and "1 draft(s) of wraps that ended" in opened.package
    assert "as far as it got" not in opened.package
    draft(left.agent, opened, "of an open wrap, so it waits for nobody")
    assert left.agent.do("status", project_key="demo").drafts_waiting == 1


# dealing with


def test_dealing_with_a_draft_takes_the_older_ones_along_and_is_done_once(rooms: Rooms) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    ids = [draft(agent, opened, f"draft {number}").draft_id for number in range(3)]
    assert refused(operator, "deal_with", kind="draft", item_id=ids[0]).code == "wrap_in_progress"
    agent.do("wrap_cancel", project_key="demo", wrap_token=opened.wrap_token)
    done = operator.do("deal_with", kind="draft", item_id=ids[1], note="nothing in it")
    assert (done.texts, done.changed) == (2, True)
    again = operator.do("deal_with", kind="draft", item_id=ids[1])
    assert (again.texts, again.changed, again.dealt_with_at) == (0, False, done.dealt_with_at)
    assert agent.do("status", project_key="demo").drafts_waiting == 1
    told = data_of(operator, "kept_text_dealt_with")
    assert (told["note"], told["text"]["characters"], "draft 1" in str(told)) == ("nothing in it", len("draft 1"), False)
    assert_trail_holds(rooms)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"kind": "draft", "item_id": 99}, "kept_text_not_found"),
        ({"kind": "salvage", "item_id": 1}, "kept_text_not_found"),
        ({"kind": "wraps", "item_id": 1}, "invalid_input"),
        ({"kind": "draft", "item_id": 1, "note": "x" * 501}, "invalid_input"),
    ],
)
def test_what_cannot_be_dealt_with(left: Left, arguments: dict[str, Any], code: str) -> None:
    assert refused(left.operator, "deal_with", **arguments).code == code


# adopting


def test_adopting_saves_the_edited_text_as_a_new_wrap_over_the_same_episodes(rooms: Rooms, left: Left) -> None:
    later = record(left.agent, "Recorded after the cancel, so it stays in the window")
    done = left.operator.do("adopt_continuity", **adopt(left))
    assert (done.edited, done.from_wrap_id, done.texts) == (True, left.opened.wrap_id, 1)
    assert (done.saved.wrap_id, done.saved.generation) == (left.opened.wrap_id + 1, left.opened.generation + 1)
    assert (done.saved.continuity_revision, done.saved.episodes_compressed) == (1, 1)
    assert [event for event, _ in trail(left.operator)][-4:] == [
        "wrap_started",
        "wrap_completed",
        "continuity_saved",
        "continuity_adopted",
    ]
    told = data_of(left.operator, "continuity_adopted")
    assert (told["reason"], told["edited"], told["wrap_id"]) == ("the agent was killed over it", True, left.opened.wrap_id)
    with left.operator.snapshot() as view:
        tokens = {row[0] for row in view.all("select wrap_token from wraps")}
        covered = {row[0] for row in view.all("select episode_id from episodes where wrap_id is not null")}
        assert continuity_view.versions(view, "demo")[0].adopted_from == f"draft:{left.draft_id}"
        assert kept_view.kept_texts(view).rows == ()
    assert (len(tokens), covered) == (2, {left.episode_id})
    assert left.agent.do("prepare_wrap", project_key="demo").episodes[0].episode_id == later
    assert_trail_holds(rooms)


def test_an_adopted_pattern_is_judged_by_the_date_and_the_episodes_of_its_own_prepare(rooms: Rooms) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    save(agent, Patterns="- pool | 1x (2026-01-01)")
    episode_id = record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    line = f'- pool | 2x ({opened.wrap_date}) [evidence: {episode_id} "the connection pool is exhausted under load"]'
    kept = draft(agent, opened, text(Patterns=line))
    agent.do("wrap_cancel", project_key="demo", wrap_token=opened.wrap_token)
    rooms.clock.advance(3 * 86_400)
    arguments = {"project_key": "demo", "kind": "draft", "item_id": kept.draft_id, "text": text(Patterns=line)}
    done = operator.do("adopt_continuity", expected_revision=1, reason="it was killed", **arguments)
    assert [(one.name, one.level, one.judgement) for one in done.saved.patterns] == [("pool", 2, "validated")]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"reason": " "}, "invalid_input"),
        ({"reason": "x" * 501}, "invalid_input"),
        ({"kind": "wrap"}, "invalid_input"),
        ({"project_key": "other"}, "invalid_input"),
        ({"item_id": 99}, "kept_text_not_found"),
        ({"expected_revision": 1}, "continuity_revision_conflict"),
        ({"text": " "}, "invalid_input"),
        ({"text": "no section at all"}, "continuity_structure"),
        ({"text": text(State="x" * 30_000)}, "continuity_too_big"),
    ],
)
def test_what_is_refused_of_an_adoption_changes_nothing(rooms: Rooms, left: Left, changed: dict[str, Any], code: str) -> None:
    before = left.agent.do("status", project_key="demo")
    refusal = refused(left.operator, "adopt_continuity", **adopt(left, **changed))
    assert refusal.code == code
    assert "The wrap is still open" not in refusal.sentence
    if code in ("continuity_structure", "continuity_too_big"):
        assert refusal.subject == f"wrap:{left.opened.wrap_id}" and "Nothing was saved" in refusal.sentence
    after = left.agent.do("status", project_key="demo")
    assert (after.drafts_waiting, after.episodes_waiting, after.wrap) == (before.drafts_waiting, before.episodes_waiting, None)
    assert trail(left.operator, "refused")[-1][0] == "adopt_continuity"
    assert_trail_holds(rooms)


def test_nothing_is_adopted_while_a_wrap_is_open_or_damaged(rooms: Rooms, left: Left) -> None:
    opened = left.agent.do("prepare_wrap", project_key="demo")
    assert refused(left.operator, "adopt_continuity", **adopt(left)).code == "wrap_in_progress"
    damage(rooms, "update wraps set wrap_date = 'x' where id = ?", opened.wrap_id)
    assert refused(left.operator, "adopt_continuity", **adopt(left)).code == "wrap_partial"


def test_an_adoption_names_every_condition_of_the_prepare_that_no_longer_holds(rooms: Rooms, left: Left) -> None:
    record(left.agent, "Another one")
    second = left.agent.do("prepare_wrap", project_key="demo")
    left.agent.do("save_continuity", project_key="demo", text=text(), wrap_token=second.wrap_token)
    left.operator.do("set_section_schema", project_key="demo", schema="partnership")
    refusal = refused(left.operator, "adopt_continuity", **adopt(left, expected_revision=1))
    assert (refusal.code, set(refusal.facts["obstacles"])) == ("adopt_conflict", {"revision", "sections", "covered"})
    assert "revision 0" in refusal.sentence and left.episode_id in refusal.sentence
    with left.operator.snapshot() as view:
        detail = kept_view.kept_text(view, "draft", left.draft_id)
    assert detail is not None and {one.what for one in detail.obstacles} == {"revision", "sections", "covered"}


def test_a_deleted_episode_and_a_damaged_wrap_stand_in_the_way_by_name(rooms: Rooms, left: Left) -> None:
    left.agent.do("delete_episode", project_key="demo", episode_id=left.episode_id)
    assert set(refused(left.operator, "adopt_continuity", **adopt(left)).facts["obstacles"]) == {"gone"}
    damage(rooms, "update wraps set wrap_date = 'x' where id = ?", left.opened.wrap_id)
    assert set(refused(left.operator, "adopt_continuity", **adopt(left)).facts["obstacles"]) == {"wrap"}


def test_a_text_that_lost_much_is_adopted_only_when_that_is_meant(rooms: Rooms) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    operator.do("set_section_schema", project_key="demo", schema="partnership")
    full = text(State="s" * 3_000) + "## Active Threads\nnone\n\n## Understanding\n" + "u" * 3_000 + "\n"
    short = text() + "## Active Threads\nnone\n\n## Understanding\nlittle\n"
    record(agent)
    agent.do("save_continuity", project_key="demo", text=full, wrap_token=agent.do("prepare_wrap", project_key="demo").wrap_token)
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    kept = draft(agent, opened, short)
    agent.do("wrap_cancel", project_key="demo", wrap_token=opened.wrap_token)
    arguments = {"project_key": "demo", "kind": "draft", "item_id": kept.draft_id, "text": short, "expected_revision": 1}
    assert refused(operator, "adopt_continuity", reason="it is right", **arguments).code == "continuity_shrink"
    done = operator.do("adopt_continuity", reason="it is right", allow_shrink=True, **arguments)
    assert (done.saved.continuity_revision, done.edited) == (2, False)


def test_salvage_is_adopted_as_a_draft_is(rooms: Rooms, left: Left) -> None:
    refused(left.agent, "save_continuity", project_key="demo", text=text(State="too late"), wrap_token=left.opened.wrap_token)
    with left.operator.snapshot() as view:
        item = kept_view.kept_texts(view).rows[0]
    done = left.operator.do("adopt_continuity", **adopt(left, kind="salvage", item_id=item.id))
    assert (done.kind, done.saved.continuity_revision) == ("salvage", 1)
    assert left.agent.do("status", project_key="demo").salvage_waiting == 0


# schemas


def test_a_schema_is_frozen_with_the_wrap_and_cannot_move_under_it(rooms: Rooms) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    record(agent)
    own = [{"heading": "Now", "role": "live-state"}, {"heading": "Rules  of\tplay", "role": "graduating", "optional": False}]
    done = operator.do("set_section_schema", project_key="demo", schema=own)
    assert (done.name, done.changed, [one.heading for one in done.sections]) == ("own", True, ["Now", "Rules of play"])
    assert not operator.do("set_section_schema", project_key="demo", schema=own).changed
    opened = agent.do("prepare_wrap", project_key="demo")
    assert "## Rules of play" in opened.package
    assert refused(operator, "set_section_schema", project_key="demo", schema="default").code == "wrap_in_progress"
    assert refused(agent, "save_continuity", project_key="demo", text=text(), wrap_token=opened.wrap_token).facts["missing"] == [
        "Now",
        "Rules of play",
    ]
    agent.do("save_continuity", project_key="demo", text="## Now\nx\n## Rules of play\ny\n", wrap_token=opened.wrap_token)
    assert operator.do("set_section_schema", project_key="demo", schema="project").sections == SCHEMAS["project"]
    told = data_of(operator, "section_schema_set")
    assert (told["name"], told["was"], told["schema_was"][0]["heading"]) == ("project", "own", "Now")
    assert_trail_holds(rooms)


@pytest.mark.parametrize(
    "schema",
    [
        "partner",
        [],
        [{"heading": f"Heading {number:03}", "role": "frozen"} for number in range(31)],
        [{"heading": "State", "role": "live-state"}, {"heading": "STATE", "role": "narrative"}],
        [{"heading": "State", "role": "live-state"}, {"heading": "The state of things", "role": "narrative"}],
        [{"heading": "State", "role": "live-state"}, {"heading": "Old state", "role": "narrative", "optional": True}],
        [{"heading": "x" * 81, "role": "live-state"}],
        [{"heading": " ", "role": "live-state"}],
        [{"heading": "# State", "role": "live-state"}],
        [{"heading": "Sta\x1bte", "role": "live-state"}],
        [{"heading": "Sta\u202ete", "role": "live-state"}],
        [{"heading": "a\x00", "role": "live-state"}],
        [{"heading": "State", "role": "state"}],
        [{"heading": "State"}],
        [{"heading": 7, "role": "live-state"}],
        [{"heading": "State", "role": "live-state", "optional": "yes"}],
        [{"heading": "State", "role": "live-state", "colour": "red"}],
        [{"heading": "State", "role": "live-state", "optional": True}],
        [{"heading": "State", "role": "live-state"}, {"heading": "A", "role": "durable"}, {"heading": "B", "role": "durable"}],
    ],
)
def test_a_schema_that_no_text_could_follow_is_refused(rooms: Rooms, schema: Any) -> None:
    operator = rooms.operator()
    assert refused(operator, "set_section_schema", project_key="demo", schema=schema).code == "invalid_input"
    with operator.snapshot() as view:
        assert continuity_view.standing(view, "demo").schema_name == "default"


# restoring


def versions_of(room: Room) -> list[tuple[int, str, int | None]]:
    with room.snapshot() as view:
        return [(one.revision, one.origin, one.restored_from) for one in continuity_view.versions(view, "demo")]


def save(room: Room, **bodies: str) -> Any:
    record(room)
    opened = room.do("prepare_wrap", project_key="demo")
    return room.do("save_continuity", project_key="demo", text=text(**bodies), wrap_token=opened.wrap_token)


def test_restoring_makes_an_older_text_the_newest_revision(rooms: Rooms) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    save(agent, State="the first")
    save(agent, State="the second")
    done = operator.do("restore_continuity", project_key="demo", revision=1, reason="the second is wrong", expected_revision=2)
    assert (done.revision, done.restored_from, done.replaced) == (3, 1, 2)
    assert versions_of(operator) == [(3, "restored", 1), (2, "saved", None), (1, "saved", None)]
    with operator.snapshot() as view:
        newest, first = continuity_view.version(view, "demo"), continuity_view.version(view, "demo", 1)
    assert newest is not None and first is not None and newest.text == first.text
    told = data_of(operator, "continuity_restored")
    assert (told["reason"], told["revision"], "the first" in str(told)) == ("the second is wrong", 3, False)
    assert_trail_holds(rooms)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"reason": ""}, "invalid_input"),
        ({"revision": 2}, "invalid_input"),
        ({"revision": 7}, "continuity_not_found"),
        ({"project_key": "other"}, "continuity_not_found"),
        ({"expected_revision": 1}, "continuity_revision_conflict"),
    ],
)
def test_what_is_not_restored(rooms: Rooms, changed: dict[str, Any], code: str) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    save(agent)
    save(agent)
    arguments = {"project_key": "demo", "revision": 1, "reason": "better", "expected_revision": 2, **changed}
    assert refused(operator, "restore_continuity", **arguments).code == code
    assert len(versions_of(operator)) == 2


def test_nothing_is_restored_under_an_open_wrap(rooms: Rooms) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    save(agent)
    save(agent)
    record(agent)
    opened = agent.do("prepare_wrap", project_key="demo")
    arguments = {"project_key": "demo", "revision": 1, "reason": "better", "expected_revision": 2}
    assert refused(operator, "restore_continuity", **arguments).code == "wrap_in_progress"
    damage(rooms, "update wraps set wrap_date = 'x' where id = ?", opened.wrap_id)
    assert refused(operator, "restore_continuity", **arguments).code == "wrap_partial"


def test_patterns_are_told_to_stand_in_the_text_again_and_keep_their_levels(rooms: Rooms) -> None:
    agent, operator = rooms.agent(), rooms.operator()
    save(agent, Patterns="- pool | 1x (2026-01-01)")
    save(agent)
    operator.do("restore_continuity", project_key="demo", revision=1, reason="pool was lost", expected_revision=2)
    with operator.snapshot() as view:
        row = view.one("select level, in_text from patterns where name = 'pool'")
        judgements = [one[0] for one in view.all("select judgement from pattern_history order by id")]
    assert (tuple(row), judgements[-2:]) == ((1, 1), ["left-out", "returned"])


# views


def test_what_was_left_behind_needs_a_person_until_it_is_dealt_with(rooms: Rooms, left: Left) -> None:
    def needed() -> list[str]:
        with left.operator.snapshot() as view:
            return [one.what for one in take(view, left.operator.witness).attention if one.kind == "salvage"]

    wrap = left.opened.wrap_id
    assert needed() == [f"a draft of wrap {wrap} of demo, which ended without a save, kept"]
    refused(left.agent, "save_continuity", project_key="demo", text="too late", wrap_token=left.opened.wrap_token)
    assert needed() == [f"a late text for wrap {wrap} of demo, refused (wrap_cancelled), kept as salvage, and a draft beside"]
    left.operator.do("deal_with", kind="draft", item_id=left.draft_id)
    assert needed() == [f"a late text for wrap {wrap} of demo, refused (wrap_cancelled), kept as salvage"]
    left.operator.do("deal_with", kind="salvage", item_id=1)
    assert needed() == []


def test_kept_texts_are_paged_over_both_kinds_without_loss_or_repetition(rooms: Rooms) -> None:
    agent = rooms.agent()
    for number in range(4):
        record(agent)
        opened = agent.do("prepare_wrap", project_key="demo")
        draft(agent, opened, f"draft {number} {HOSTILE}")
        agent.do("wrap_cancel", project_key="demo", wrap_token=opened.wrap_token)
        rooms.clock.advance(1)
        refused(agent, "save_continuity", project_key="demo", text=f"late {number}", wrap_token=opened.wrap_token)
        rooms.clock.advance(1)
    found, before = [], kept_view.START
    with agent.snapshot() as view:
        while True:
            page = kept_view.kept_texts(view, project_key="demo", before=before, limit=3)
            found += page.rows
            if page.next_before is None:
                break
            before = page.next_before
        assert kept_view.kept_texts(view, project_key="other").rows == ()
        assert kept_view.kept_text(view, "draft", 99) is None
    assert [row.key for row in found] == [f"{kind}:{number}" for number in (4, 3, 2, 1) for kind in ("salvage", "draft")]
    assert {row.wrap_state for row in found} == {"cancelled"}


def test_versions_are_paged_by_revision(rooms: Rooms) -> None:
    agent = rooms.agent()
    for _ in range(5):
        save(agent)
    with agent.snapshot() as view:
        first = continuity_view.versions(view, "demo", limit=2)
        second = continuity_view.versions(view, "demo", before_revision=first[-1].revision, limit=10)
    assert [one.revision for one in (*first, *second)] == [5, 4, 3, 2, 1]


def test_a_store_of_an_older_layout_knows_from_which_revision_its_wraps_started(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path / "store.db")
    agent = rooms.agent()
    save(agent)
    record(agent)
    agent.do("prepare_wrap", project_key="demo")
    rooms.close()
    with sqlite3.connect(rooms.path) as database:
        database.executescript(
            "alter table wraps drop column prepared_revision; alter table continuity drop column restored_from;"
            "alter table continuity drop column adopted_from;"
            "delete from _sqlite_migrations where name = 'm005_origins'; pragma user_version = 4;"
        )
    database.close()
    again = Rooms(rooms.path)
    with again.agent().snapshot() as view:
        assert [row[0] for row in view.all("select prepared_revision from wraps order by id")] == [0, 1]
    again.close()


def test_the_sections_of_the_tests_are_the_default_ones() -> None:
    assert tuple(one.heading for one in SCHEMAS["default"] if not one.optional) == SECTIONS
