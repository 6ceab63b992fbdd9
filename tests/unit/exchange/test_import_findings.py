"""What an import leaves out, mends and tells, rule by rule: of episodes, links, tombstones, wraps, patterns and open loops."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.errors import StoreError
from core.exchange.anneal_source import read
from core.exchange.report import ImportReport
from core.memory.loop_rules import TEXT_LIMIT
from core.room import Room
from tests.foreign import loosened, spoilt
from tests.rooms import Rooms, refused

ADD = "insert into episodes (id, timestamp, type, content) values (?, ?, 'context', ?)"
LOOP = {"id": "spore-007", "type": "task", "text": "look", "status": "open", "resolution": None, "notes": []}


def brought(room: Room, path: Path) -> ImportReport:
    report: ImportReport = room.do("import_anneal", project_key="brought", source=read(path))
    return report


def left_out(report: ImportReport, what: str) -> dict[str, int]:
    return {one.why: one.count for one in report.left_out if one.what == what}


def rows(room: Room, sql: str, *values: object) -> list[tuple[Any, ...]]:
    with room.snapshot() as view:
        return [tuple(row) for row in view.all(sql, values)]


def with_loops(path: Path, *loops: Mapping[str, Any]) -> Path:
    path.with_name("memory.spores.json").write_text(json.dumps({"spores": loops}))
    return path


# episodes


def test_episodes_without_an_id_are_left_out_and_a_time_that_nobody_can_read_is_mended(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        for episode_id, time in ((None, "2027-01-01"), (None, "2027-01-01"), (b"\x01", "2027-01-01"), ("abcdabcd", "no time")):
            there.execute(ADD, (episode_id, time, "one more"))
        there.execute("update episodes set created_at = 7 where id = 'abcdabcd'")
    room = rooms.operator()
    report = brought(room, newest)
    assert left_out(report, "episodes") == {"their id is no text, or there twice": 3}
    assert "1 episodes: they have no readable time and get that of the import" in report.notes
    assert rows(room, "select created_at from episodes where episode_id = 'abcdabcd'")[0][0].startswith("2026-")


def test_an_id_that_is_there_twice_counts_once(rooms: Rooms, newest: Path) -> None:
    with spoilt(loosened(newest, "episodes", "tombstones")) as there:
        there.execute("insert into episodes select * from episodes order by timestamp limit 1")
        there.execute("insert into tombstones select * from tombstones")
    report = brought(rooms.operator(), newest)
    assert left_out(report, "episodes") == {"their id is no text, or there twice": 1}
    assert left_out(report, "deleted episodes") == {"their id is no text, or there twice": 1}


def test_a_new_id_is_none_that_comes_along(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        for number in range(1, 60):  # the ids that this store would give next
            there.execute(ADD, (f"{number:08x}", "2027-01-01", "a number"))
        for name in ("no id", "none either"):
            there.execute(ADD, (name, "2027-01-01", name))
    room = rooms.operator()
    report = brought(room, newest)
    assert "2 episodes get a new id, for theirs is taken here or is no id" in report.notes
    assert len(rows(room, "select distinct episode_id from episodes")) == 10 + 59 + 2
    assert brought(room, newest).outcome == "nothing_new"


def test_an_episode_that_was_deleted_over_there_lives_on_here(rooms: Rooms, newest: Path) -> None:
    room = rooms.operator()
    brought(room, newest)
    with spoilt(newest) as there:
        (episode_id,) = there.execute("select id from episodes order by timestamp limit 1").fetchone()
        there.execute("delete from episodes where id = ?", (episode_id,))
        there.execute("insert into tombstones values (?, '2027-01-01', 'context', 'x', '2027-01-01')", (episode_id,))
    report = brought(room, newest)
    assert (report.outcome, left_out(report, "deleted episodes")) == ("nothing_new", {"their episodes live on here": 1})
    assert len(rows(room, "select * from episodes where episode_id = ?", episode_id)) == 1


def test_an_episode_that_was_deleted_here_stays_deleted(rooms: Rooms, newest: Path) -> None:
    room = rooms.operator()
    brought(room, newest)
    ((episode_id,),) = rows(room, "select episode_id from episodes order by id limit 1")
    room.do("delete_episode", project_key="brought", episode_id=episode_id)
    assert brought(room, newest).outcome == "nothing_new"
    assert rows(room, "select * from episodes where episode_id = ?", episode_id) == []


def test_each_wrap_keeps_the_list_of_what_it_covers(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        sql = "select id from episodes where session_id = ? order by timestamp"
        covered = [[row[0] for row in there.execute(sql, (session,))] for session in ("1", "2")]
    room = rooms.operator()
    brought(room, newest)
    listed = rows(room, "select episode_ids from wraps where outcome = 'saved' order by id")
    assert [json.loads(row[0]) for row in listed] == covered


def test_an_id_that_lives_again_is_no_tombstone(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        (gone,) = there.execute("select id from tombstones").fetchone()
        there.execute(ADD, (gone, "2027-01-01T00:00:00Z", "its id was given again"))
    room = rooms.operator()
    assert left_out(brought(room, newest), "deleted episodes") == {"their id is in use again": 1}
    room.do("delete_episode", project_key="brought", episode_id=gone)


def test_links_that_lead_back_or_nowhere_are_left_out(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        there.execute("delete from supersessions")
        for name, time in (
            ("aaaaaaaa", "2027-01-01"),
            ("bbbbbbbb", "2027-01-02"),
            ("cccccccc", "2027-01-02"),
            ("dddddddd", "2027-01-02"),
        ):
            there.execute(ADD, (name, time, name))
        for number, (old, new) in enumerate(["ab", "ba", "aa", "ax", "bc", "cd", "db"]):
            there.execute("insert into supersessions values (?, ?, ?, 'agent')", (old * 8, new * 8, f"2027-01-0{number + 1}"))
    room = rooms.operator()
    report = brought(room, newest)
    assert left_out(report, "links between old and new") == {
        "they lead to an older episode, or round in a circle": 3,
        "an episode that they join is not imported, or gone": 1,
    }
    links = rows(room, "select old_id, new_id from supersessions order by old_id")
    assert [(old[0], new[0]) for old, new in links] == [("a", "b"), ("b", "c"), ("c", "d")]


def test_a_link_that_came_later_is_imported_later(rooms: Rooms, newest: Path) -> None:
    room = rooms.operator()
    brought(room, newest)
    with spoilt(newest) as there:
        old, new = (row[0] for row in there.execute("select id from episodes order by timestamp limit 2"))
        there.execute("insert into supersessions values (?, ?, '2027-01-01T00:00:00Z', 'agent')", (old, new))
    report = brought(room, newest)
    assert {one.what: one.imported for one in report.taken}["links between old and new"] == 1
    assert rows(room, "select superseded_by from episodes where episode_id = ?", old) == [(new,)]
    assert brought(room, newest).outcome == "nothing_new"


def test_the_older_holder_of_a_state_key_is_hidden_without_a_link(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        there.execute("delete from supersessions")
    room = rooms.operator()
    brought(room, newest)
    assert rows(room, "select content from episodes where superseded_by is not null") == [("The office is in Bonn",)]


def test_columns_that_an_older_store_lacks_read_as_empty(rooms: Rooms, newest: Path) -> None:
    with spoilt(loosened(newest, "episodes", "wraps", "pattern_grounding", "supersessions")) as there:
        for table, column in (
            *(("episodes", "metadata"), ("wraps", "content_hash"), ("wraps", "pair_id"), ("wraps", "continuity_chars")),
            *(("pattern_grounding", "gone_trust"), ("supersessions", "recorded_at")),
        ):
            there.execute(f"alter table {table} drop column {column}")
    room = rooms.operator()
    report = brought(room, newest)
    assert report.imported_anything and left_out(report, "metadata") == {}
    assert rows(room, "select count(*), count(metadata) from episodes") == [(10, 0)]
    assert rows(room, "select count(*) from pattern_grounding where gone_at is null") == [(2,)]


# wraps, baton


def test_a_caller_s_token_stays_one_that_only_its_caller_may_end_by(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        there.execute(
            "update metadata set value = (select value from metadata where key = 'wrap_token') where key = 'wrap_bound_token'"
        )
        there.execute("update metadata set value = '' where key = 'wrap_gated_session'")
    room = rooms.operator()
    brought(room, newest)
    assert rows(room, "select token_origin from wraps where ended_at is null") == [("caller",)]
    assert refused(rooms.agent(), "wrap_cancel", project_key="brought").code == "wrap_token_required"


def test_the_baton_comes_with_its_time_and_who_held_it_before(rooms: Rooms, newest: Path) -> None:
    held = {"session_id": "nightly", "claimed_at": 1_700_000_000.5, "previous_holder": "weekly"}
    newest.with_name("memory.continuity.md.baton").write_text(json.dumps(held))
    room = rooms.operator()
    brought(room, newest)
    claimed = "2023-11-14T22:13:20.500000Z"
    assert rows(room, "select session_id, claimed_at, previous_holder from batons") == [("nightly", claimed, "weekly")]
    ((told,),) = rows(room, "select data from audit where event = 'baton_claimed'")
    assert json.loads(told) == {"session_id": "nightly", "was": "weekly", "imported": True}


def test_a_token_that_was_used_again_over_there_is_the_last_wrap_s(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        (token,) = there.execute("select value from metadata where key = 'wrap_token'").fetchone()
    log = newest.with_name("memory.audit.jsonl")
    before = [
        json.loads(line)["data"]["wrap_token"] for line in log.read_text().splitlines() if '"event":"wrap_completed"' in line
    ]
    log.write_text(log.read_text().replace(before[-1], token))
    room = rooms.operator()
    brought(room, newest)
    assert rows(room, "select wrap_token from wraps order by id") == [(before[0],), (None,), (token,)]


def test_a_wrap_whose_token_was_used_here_before_comes_in_partial(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        (token,) = there.execute("select value from metadata where key = 'wrap_token'").fetchone()
        there.execute("update metadata set value = '0' where key = 'consolidate_requires_baton'")
    agent = rooms.agent()
    agent.do("record", project_key="mine", content="my own", episode_type="context")
    agent.do("prepare_wrap", project_key="mine", wrap_token=token)
    room = rooms.operator()
    brought(room, newest)
    assert agent.do("status", project_key="brought").wrap.state == "partial"
    assert rows(room, "select project_key from wraps where wrap_token = ?", token) == [("mine",)]
    assert agent.do("status", project_key="mine").wrap.state == "open"
    assert agent.do("wrap_cancel", project_key="brought", partial=True).outcome == "partial_cleared"


def test_damaged_wraps_and_batons_are_told(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        there.execute("update wraps set wrapped_at = 'noon', episodes_compressed = x'00' where id = 1")
        there.execute("update metadata set value = '[1]' where key = 'section_schema'")
    newest.with_name("memory.continuity.md.baton").write_text(json.dumps({"session_id": ["nightly"], "claimed_at": 10**400}))
    room = rooms.operator()
    report = brought(room, newest)
    assert "1 wraps: they have no readable time and get that of the import" in report.notes
    assert left_out(report, "baton") == {"its holder's name is no text": 1}
    assert left_out(report, "section schema") == {"no text could follow it; the default one is used": 1}
    assert len(rows(room, "select * from wraps where outcome = 'saved'")) == 2
    assert rows(room, "select * from batons") == []


# patterns


def test_damaged_patterns_and_evidence_are_left_out(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        for name, level in (("a\x00b", 2), ("a\ufffdb", 3), ("too-high", 10**12), ("half", 1.5), (" ", 2)):
            there.execute("insert into pattern_levels values ('name', ?, ?, 'x')", (name, level))
        there.execute("update pattern_grounding set earned_on = 'noon'")
        there.execute("insert into wrap_graduations values (1, 'never-seen', 2, null)")
    crystals = newest.with_name("memory.crystal.json")
    document = json.loads(crystals.read_text())
    document["crystal"] += [
        {"name": "no-level", "status": "crystallized", "level": "3", "evidence": ["\ud800"]},
        {"name": 5},
        "x",
    ]
    crystals.write_text(json.dumps(document))
    room = rooms.operator()
    report = brought(room, newest)
    assert left_out(report, "patterns") == {"their name or level is damaged": 3}
    assert left_out(report, "graduations") == {"their pattern is not here, or they are damaged": 1}
    assert left_out(report, "crystals") == {
        "they have no name, or are neither alive nor retired": 1,
        "they are no JSON objects": 1,
    }
    assert "1 crystals: they have no readable level and count as seen once" in report.notes
    assert "1 pieces of evidence: they have no readable day and get that of the import" in report.notes
    names = rows(room, "select name, level from patterns where kind = 'name' order by name")
    assert names == [("a\ufffdb", 2), ("cache-keys", 2), ("no-level", 1), ("small-steps", 3)]


def test_evidence_that_is_gone_counts_no_more_and_what_aged_out_takes_nothing_back(rooms: Rooms, newest: Path) -> None:
    with spoilt(newest) as there:
        for number, mark in enumerate((None, "external", "agent", "operator")):
            row = ("cache-keys", 2, "2026-01-02", f"{'a' * 32}:{number}", "checked", f"0000000{number}", mark)
            there.execute("insert into pattern_grounding values (?, ?, ?, ?, ?, ?, ?)", row)
    room = rooms.operator()
    assert left_out(brought(room, newest), "evidence") == {"its episode aged out, which takes nothing back": 2}
    sql = "select episode_id, line_number, gone_at is not null from pattern_grounding where earned_on = '2026-01-02' order by 1"
    assert rows(room, sql) == [("00000000", 1, 0), ("00000001", 2, 1)]


def test_what_a_pattern_earned_over_there_stands_in_its_history(rooms: Rooms, newest: Path) -> None:
    room = rooms.operator()
    brought(room, newest)
    sql = "select h.judgement, h.wrap_id, h.level from pattern_history h join patterns p on p.id = h.pattern_id where p.name = 'cache-keys'"
    assert rows(room, sql) == [("imported", 2, 2), ("validated", 2, 2)]


# open loops


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ({"id": 7}, "their id is none, or there twice"),
        ({"id": "spore-9223372036854775807"}, "their id is none, or there twice"),
        ({"id": " spore-007 "}, "their id is none, or there twice"),
        ({"text": ["look"]}, "they break a rule: text is no text."),
        ({"text": "\u202e\x07"}, "they break a rule: text is blank."),
        ({"text": "a\x00b"}, "they break a rule: text holds a NUL character at position 1; leave it out."),
        ({"text": "x" * (TEXT_LIMIT + 1)}, "they break a rule: text has 100,001 characters; at most 100,000 are kept."),
        ({"type": "wish"}, "they break a rule: type is one of task, question, thought, not 'wish'."),
        ({"status": "gone"}, "they break a rule: status is neither open nor resolved, or its resolution does not fit."),
        (
            {"resolution": {"direction": "descend"}},
            "they break a rule: status is neither open nor resolved, or its resolution does not fit.",
        ),
        (
            {"status": "resolved", "resolution": {"direction": ["up"]}},
            "they break a rule: the direction of its resolution is none.",
        ),
        (
            {"status": "resolved", "resolution": {"direction": "descend", "kind": "eaten"}},
            "they break a rule: A task cannot descend as 'eaten'; use done or dropped or composted.",
        ),
        (
            {"status": "resolved", "resolution": {"direction": "ascend", "kind": "project", "ref": " "}},
            "they break a rule: what it became is not named, or at too great length.",
        ),
    ],
)
def test_a_loop_that_breaks_a_rule_is_left_out_with_it(rooms: Rooms, newest: Path, damage: dict[str, Any], why: str) -> None:
    room = rooms.operator()
    assert left_out(brought(room, with_loops(newest, {**LOOP, **damage})), "open loops") == {why: 1}
    assert rows(room, "select * from spores") == []
    assert room.do("spore_add", project_key="brought", type="task", text="the next").spore_id == "spore-001"


def test_what_can_be_mended_of_a_loop_is_mended_and_told(rooms: Rooms, newest: Path) -> None:
    odd = {
        "tier": "boiling",
        "salience": True,
        "next": "tomorrow",
        "pointer": 5,
        "domain": {},
        "origin_key": "not one!",
        "seen": 3,
    }
    loop = {
        **LOOP,
        "text": "look \u202eat it\r\n",
        "notes": ["a\x00note", 7, "x" * (TEXT_LIMIT + 1)],
        **odd,
        "created": "2026-01-02",
    }
    room = rooms.operator()
    report = brought(room, with_loops(newest, loop))
    told = {note.split(": ")[1].split()[1] for note in report.notes if note.startswith("1 open loops: ")}
    assert told == set(odd)
    assert left_out(report, "notes of open loops") == {"they are no texts, or too long": 2}
    found = room.do("spore_get", project_key="brought", spore_id="spore-007")
    assert (found.text, found.tier, found.salience, found.next, found.pointer, found.domain) == (
        "look at it",
        "warm",
        0,
        None,
        None,
        "",
    )
    assert (found.created, found.seen, [one.text for one in found.notes]) == ("2026-01-02", "2026-01-02", ["a\ufffdnote"])
    assert room.do("spore_add", project_key="brought", type="task", text="the next").spore_id == "spore-008"


def test_a_loop_s_half_character_is_no_text_that_is_kept(rooms: Rooms, newest: Path) -> None:
    report = brought(rooms.operator(), with_loops(newest, {**LOOP, "text": "a \ud800 b"}, {**LOOP, "pointer": "a \ud800 b"}))
    assert [why[:55] for why in left_out(report, "open loops")] == ["they break a rule: text holds half a character (a lone "]


def test_resolved_loops_come_in_resolved(rooms: Rooms, newest: Path) -> None:
    end = {"direction": "ascend", "kind": "project", "ref": "shop", "on": "2026-02-03", "at": "2026-02-03T04:05:06Z"}
    done = {**LOOP, "status": "resolved", "resolution": end}
    room = rooms.operator()
    assert left_out(brought(room, with_loops(newest, done)), "open loops") == {}
    found = room.do("spore_get", project_key="brought", spore_id="spore-007").resolution
    assert (found.direction, found.kind, found.ref, found.on, found.at) == (
        *("ascend", "project", "shop", "2026-02-03", "2026-02-03T04:05:06.000000Z"),
    )


def test_a_loop_that_is_here_under_another_id_is_known_by_its_origin(rooms: Rooms, newest: Path) -> None:
    room = rooms.operator()
    brought(room, with_loops(newest, {**LOOP, "origin_key": "the-same"}))
    report = brought(room, with_loops(newest, {**LOOP, "id": "spore-009", "origin_key": "the-same"}))
    assert (report.outcome, left_out(report, "open loops")) == ("nothing_new", {})
    assert brought(room, with_loops(newest, {**LOOP, "id": "spore-009"})).outcome == "imported"
    assert len(rows(room, "select * from spores")) == 2


# the file


def test_a_store_that_changes_while_it_is_read_is_not_imported(rooms: Rooms, newest: Path) -> None:
    def change(done: int, total: int) -> None:
        with spoilt(newest) as there:
            there.execute(ADD, ("abcdabcd", "2027-01-01", "meanwhile"))

    with pytest.raises(StoreError, match=r"changed while it was read\. Nothing was imported"):
        read(newest, change)
