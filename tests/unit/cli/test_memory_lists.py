"""`watchroom episodes`, `patterns` and `knowledge` (console.md, screen 6)."""

from __future__ import annotations

import json

import pytest

from core.room import Room
from tests.rooms import Rooms
from tests.unit.cli.conftest import Cli
from tests.unit.memory.wrapping import Wrapping
from tests.unit.sessions.support import project

HOSTILE = "[/x] [red] \x1b[2J \u202etxt.exe\u202c 名前 👩‍🚀"
GROUND = "The connection pool is exhausted whenever checkout is under load"


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person sits there."""
    monkeypatch.setattr("console.commands.episodes.on_terminal", lambda: True)


@pytest.fixture
def recorder(rooms: Rooms) -> Room:
    return rooms.agent()


def record(room: Room, content: str, key: str = "demo", kind: str = "observation", **more: object) -> str:
    made: str = room.do("record", content=content, episode_type=kind, project_key=key, **more).episode_id
    return made


def inert(text: str) -> bool:
    """Whether nothing in what was printed drives a terminal."""
    return "\x1b" not in text and "\u202e" not in text and "[red]" in text


# episodes


def test_the_newest_episodes_are_listed_of_one_project_or_of_all(cli: Cli, recorder: Room) -> None:
    here = [record(recorder, f"thing {number}") for number in range(3)]
    there = record(recorder, "elsewhere", "other", "decision")
    assert [row["episode_id"] for row in cli.data("episodes")["episodes"]] == [there, *here[::-1]]
    found = cli.data("episodes", "--project", "demo", "--limit", "2")
    assert [row["episode_id"] for row in found["episodes"]] == here[:0:-1]
    assert (found["total"], found["more"], found["episodes"][0]["state"]) == (3, True, "waiting")
    shown = cli("episodes", "--limit", "2").stdout
    assert shown.startswith("EPISODE") and "and 2 more" in shown
    assert [row["project_key"] for row in cli.data("episodes", "--type", "decision")["episodes"]] == ["other"]
    assert "No episode" in cli("episodes", "--project", "nowhere").stdout


def test_a_search_takes_its_words_as_they_stand(cli: Cli, recorder: Room) -> None:
    made = record(recorder, "at 100% of the pool")
    record(recorder, "at 1000 of the pool")
    far = record(recorder, "100% of the pool there", "other", "decision")
    found = cli.data("episodes", "search", "100% of", "--project", "demo")
    assert ([row["episode_id"] for row in found["episodes"]], found["exact"], found["more"]) == ([made], 1, False)
    assert {row["episode_id"] for row in cli.data("episodes", "search", "100% of")["episodes"]} == {made, far}
    assert [row["episode_id"] for row in cli.data("episodes", "search", "100%", "--type", "decision")["episodes"]] == [far]
    assert "and 1 more that hold it" in cli("episodes", "search", "of the pool", "--limit", "1", "--project", "demo").stdout
    assert "No episode holds that" in cli("episodes", "search", "nonsense").stdout
    assert cli.error("episodes", "search", " ")["code"] == "invalid_input"


def test_one_episode_is_shown_with_what_hangs_on_it(cli: Cli, rooms: Rooms) -> None:
    wrapping = Wrapping(rooms)
    wrapping.save("- pool-size | 1x ({today})")
    made = wrapping.record(GROUND, metadata={"tags": ["pool"], "n": HOSTILE})
    derived = wrapping.record("So raise it", derived_from=[made])
    wrapping.save(f'- pool-size | 2x ({{today}}) [evidence: {made} "checkout exhausts the connection pool"]')
    shown = cli("episodes", "show", made).stdout
    assert inert(shown)
    for words in (GROUND, "which covers it", "pool-size, at 2x, from 2x on", derived, "Timeline"):
        assert words in shown, words
    data = cli.data("episodes", "show", made)
    assert (data["episode"]["content"], data["episode"]["state"], data["tags"]) == (GROUND, "covered", ["pool"])
    assert [one["episode_id"] for one in data["derived"]] == [derived]
    assert cli.error("episodes", "show", "ffffffff")["code"] == "episode_not_found"
    assert cli.error("episodes", "show", made, "--project", "other")["code"] == "episode_not_found"


def test_deleting_needs_a_reason_which_the_trail_keeps(cli: Cli, recorder: Room) -> None:
    made, other = record(recorder, HOSTILE), record(recorder, "stays")
    without = cli("episodes", "delete", made)
    assert without.exit_code == 2 and "--reason" in without.output
    assert cli.error("episodes", "delete", made, "--reason", "  ")["code"] == "invalid_input"
    assert cli.data("episodes")["total"] == 2
    done = cli("episodes", "delete", made, "--reason", "it held a password")
    assert (done.exit_code, done.stdout) == (0, f"Deleted observation {made} of project demo.\n")
    assert inert(done.stderr)
    assert [row["episode_id"] for row in cli.data("episodes")["episodes"]] == [other]
    assert [row["state"] for row in cli.data("episodes", "--deleted")["episodes"]] == ["waiting", "deleted"]
    with recorder.snapshot() as view:
        row = view.one("select data from audit where event = 'delete'")
    assert json.loads(row["data"])["reason"] == "it held a password"
    again = cli.error("episodes", "delete", made, "--reason", "again")
    assert again["code"] == "episode_not_found" and "deleted already" in again["sentence"]
    assert "Deleted at" in cli("episodes", "show", made).stdout
    assert "characters, gone)" in cli("episodes", "--deleted").stdout


@pytest.mark.usefixtures("on_terminal")
@pytest.mark.parametrize(("answer", "left", "code"), [("y", 0, 0), ("n", 1, 130)])
def test_on_a_terminal_it_asks_for_the_reason_and_whether_it_is_the_one(
    cli: Cli, recorder: Room, answer: str, left: int, code: int
) -> None:
    made = record(recorder, "a secret")
    result = cli("episodes", "delete", made, answers=f"it held a password\n{answer}\n")
    assert result.exit_code == code
    assert "a secret" in result.stderr and f"Delete episode {made}?" in result.stderr
    assert cli.data("episodes")["total"] == left


@pytest.mark.usefixtures("on_terminal")
def test_yes_asks_nothing_where_the_reason_is_given(cli: Cli, recorder: Room) -> None:
    made = record(recorder, "a secret")
    assert cli("episodes", "delete", made, "--reason", "why", "--yes").exit_code == 0


def test_deleting_the_evidence_of_a_pattern_says_that_it_fell(cli: Cli, rooms: Rooms) -> None:
    wrapping = Wrapping(rooms)
    wrapping.save("- pool-size | 1x ({today})")
    made = wrapping.record(GROUND)
    wrapping.save(f'- pool-size | 2x ({{today}}) [evidence: {made} "checkout exhausts the connection pool"]')
    done = cli("episodes", "delete", made, "--reason", "wrong")
    assert "rests on it from 2x" in done.stderr
    assert "Pattern pool-size fell from 2x to 1x." in done.stdout


# patterns


def test_patterns_are_listed_and_one_tells_how_it_climbed(cli: Cli, rooms: Rooms) -> None:
    wrapping = Wrapping(rooms)
    wrapping.save("- pool-size | 1x ({today})", "- once-seen | 1x ({today}) at noon")
    made = wrapping.record(GROUND)
    wrapping.save(
        f'- pool-size | 2x ({{today}}) [evidence: {made} "checkout exhausts the connection pool"] Raise limits {HOSTILE}',
        "- once-seen | 1x ({today}) at noon",
    )
    found = cli.data("patterns", "--project", "demo")
    assert [(row["name"], row["level"], row["tier"]) for row in found["patterns"]] == [
        ("pool-size", 2, "proven"),
        ("once-seen", 1, "sighted"),
    ]
    assert [row["name"] for row in cli.data("patterns", "--words", "seen")["patterns"]] == ["once-seen"]
    assert cli.data("patterns", "--proven")["total"] == 1
    assert "and 1 more" in cli("patterns", "--limit", "1").stdout
    shown = cli("patterns", "show", "pool-size", "--project", "demo").stdout
    assert inert(shown)
    for words in ("2x, proven", "1x → 2x", "climbed", made, "Raise limits", "checkout exhausts the connection pool"):
        assert words in shown, words
    data = cli.data("patterns", "show", str(found["patterns"][0]["pattern_id"]))
    assert [(step["movement"], step["level"]) for step in data["history"]] == [("entered", 1), ("climbed", 2)]
    assert (data["pattern"]["name"], data["evidence"][0]["episode_id"]) == ("pool-size", made)
    cli("episodes", "delete", made, "--reason", "wrong")
    fallen = cli("patterns", "show", "pool-size", "--project", "demo").stdout
    assert "2x → 1x" in fallen and "fell" in fallen and "gone since" in fallen


@pytest.mark.parametrize("name", ["pool", "999", "9" * 30, "²"])
def test_a_pattern_that_is_not_there_is_said(cli: Cli, recorder: Room, name: str) -> None:
    record(recorder, "something")
    assert cli.error("patterns", "show", name, "--project", "demo")["code"] == "pattern_not_found"
    assert "No pattern" in cli("patterns").stdout


# knowledge


def test_knowledge_is_listed_found_and_shown_by_the_beginning_of_its_id(cli: Cli, recorder: Room) -> None:
    project(recorder)
    learnt = recorder.do("brain_learn", topic="pool", insight=f"Pools drain {HOSTILE}", tags=["db"], project_key="demo").id
    decided = recorder.do(
        "brain_log_decision",
        title="limit 40",
        context="c",
        decision_made="d",
        reasoning="r",
        related_to=[{"id": learnt, "type": "MOTIVATED_BY"}],
        project_key="demo",
    ).id
    assert [row["id"] for row in cli.data("knowledge")["entries"]] == [decided, learnt]
    assert [row["id"] for row in cli.data("knowledge", "--kind", "learning")["entries"]] == [learnt]
    limited = cli.data("knowledge", "--limit", "1", "--project", "demo")
    assert (len(limited["entries"]), limited["total"], limited["more"]) == (1, 2, True)
    assert "more are kept" in cli("knowledge", "--limit", "1").stdout
    assert [row["id"] for row in cli.data("knowledge", "search", "drain")["entries"]] == [learnt]
    assert "No entry holds that" in cli("knowledge", "search", "nonsense", "--project", "demo").stdout
    shown = cli("knowledge", "show", learnt).stdout
    assert inert(shown) and "db" in shown and "Pools drain" in shown
    assert f"MOTIVATED_BY  {learnt}  pool" in cli("knowledge", "show", decided).stdout
    assert cli.data("knowledge", "show", learnt)["entry"]["title"] == "pool"
    assert cli.data("knowledge", "show", decided[:36].upper())["entry"]["title"] == "limit 40"
    assert cli.error("knowledge", "show", learnt[:8])["code"] == "knowledge_ambiguous"
    assert cli.error("knowledge", "show", "f" * 8)["code"] == "knowledge_not_found"
    assert cli.error("knowledge", "show", learnt, "--project", "other")["code"] == "knowledge_not_found"


def test_a_limit_above_a_page_takes_several(cli: Cli, recorder: Room) -> None:
    project(recorder)
    made = [recorder.do("brain_learn", topic=f"t {number}", insight="i", project_key="demo").id for number in range(130)]
    found = cli.data("knowledge", "--limit", "120")
    assert ([row["id"] for row in found["entries"]], found["more"]) == (made[:9:-1], True)
    assert len(cli.data("knowledge", "--limit", "130")["entries"]) == 130


@pytest.mark.parametrize(
    "arguments",
    [
        ("episodes", "--limit", "0"),
        ("episodes", "--type", "nonsense"),
        ("episodes", "show"),
        ("patterns", "show"),
        ("knowledge", "--kind", "nonsense"),
        ("knowledge", "search", "x", "--limit", "101"),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_two(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli(*arguments).exit_code == 2
