"""Sessions, slots and knowledge: what a deed and a page cost in a full store, beside a hundredth of it (issue 3, How good)."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.clock import stamp
from core.room import Place, Room
from core.sessions.models import Anchor
from core.views import snapshot
from core.views.look import Looker
from core.views.sessions import session_detail
from tests.benchmarks.build import PROJECT, bulk
from tests.benchmarks.contents import contents
from tests.benchmarks.figures import Figures, Goal, Side, in_turns, medians, ms

SESSIONS, SLOTS, ITEMS = 10_000, 2_000, 50_000
SMALLER = 100
OPEN_OF_TEN = 1
ROUNDS = 40
AT_MOST = 1.5
TEXT = "Aim: one thing. " * 40


def filled(path: Path, divisor: int) -> Room:
    """A room with so many sessions, slots and items of one project; a tenth of the sessions and slots are open."""
    room = Room(Place(path, "stdio", client_name="bench"))
    room.enter()
    room.do("brain_set_project_context", project_key=PROJECT, name="demo", description="d", current_focus=TEXT)
    past = datetime.now(UTC) - timedelta(days=30)
    moments = (stamp(past + timedelta(seconds=30 * number)) for number in itertools.count())
    with bulk(path) as database:
        database.executemany(
            "insert into knowledge (id, project_key, kind, title, body, tags, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (str(uuid.uuid4()), PROJECT, ("decision", "learning", "snippet")[number % 3], text[:60], text, '["t"]', at, at)
                for number, ((_, text), at) in enumerate(zip(contents(ITEMS // divisor), moments, strict=False))
            ),
        )
        slots = [(str(uuid.uuid4()), number % 10 < OPEN_OF_TEN) for number in range(SLOTS // divisor)]
        for number, (slot_id, is_open) in enumerate(slots):
            at = next(moments)
            ended = (None, None, None) if is_open else (at, "explicit", "done")
            values = (slot_id, PROJECT, f"slot {number}", TEXT, 0 if is_open else 1, at, at, *ended)
            database.execute(
                "insert into slots (id, project_key, title, body, revision, opened_at, body_updated_at, closed_at, close_reason,"
                " close_note) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            database.execute("insert into slot_anchors (slot_id, kind, topic) values (?, 'topic', 't')", (slot_id,))
            database.execute(
                "insert into slot_history (slot_id, revision, body, source, created_at) values (?, 0, ?, 'slot_open', ?)",
                (slot_id, TEXT, at),
            )
        for number in range(SESSIONS // divisor):
            insert_session(database, number, next(moments))
    return room


def insert_session(database: Any, number: int, at: str) -> None:
    """A session of the past: open, or ended with a text."""
    common = (str(uuid.uuid4()), PROJECT, f"key-{number}", at, at, at)
    if number % 10 < OPEN_OF_TEN:
        database.execute(
            "insert into sessions (id, project_key, client_key, status, nature, started_focus_revision, started_at,"
            " last_heartbeat_at, updated_at) values (?, ?, ?, 'open', 'operator', 0, ?, ?, ?)",
            common,
        )
        return
    database.execute(
        "insert into sessions (id, project_key, client_key, status, nature, started_focus_revision, started_at, last_heartbeat_at,"
        " updated_at, ended_at, summary, next_focus, focus_at_end, end_expected_focus_revision, focus_outcome, focus_revision_at_end)"
        " values (?, ?, ?, 'ended', 'operator', 0, ?, ?, ?, ?, 's', ?, ?, 0, 'applied', 1)",
        (*common, at, TEXT, TEXT),
    )


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The full store's room and the small one's."""
    folder = tmp_path_factory.mktemp("sessions")
    made = [filled(folder / f"{divisor}.db", divisor) for divisor in (1, SMALLER)]
    yield made
    for room in made:
        room.close()


NUMBERS = itertools.count(1)


def started(room: Room) -> dict[str, str]:
    """A new session, as it is named."""
    key = f"bench-{next(NUMBERS)}"
    session = room.do("brain_session_start", project_key=PROJECT, client_key=key).session
    return {"session_id": session.id, "expected_client_key": key}


def start(room: Room) -> None:
    """A start with its briefing."""
    started(room)


def relay(room: Room, pair: dict[str, str]) -> None:
    """A relay on a slot."""
    more = {"summary": "s", "handover": TEXT, "new_client_key": f"heir-{next(NUMBERS)}", "initiator": "operator"}
    room.do("brain_session_relay", **pair, **more, expected_slot_revision=0)


def to_relay(room: Room) -> dict[str, str]:
    """A session on a slot of its own."""
    pair, title = started(room), f"bench {next(NUMBERS)}"
    anchors = [Anchor("topic", topic="t")]
    slot = room.do("brain_slot_open", project_key=PROJECT, title=title, body=TEXT, anchors=anchors).slot
    room.do("brain_session_bind", **pair, slot_id=slot.id)
    return pair


def look(room: Room, work: Callable[[Any, Any], Any]) -> None:
    """Something a screen reads."""
    with Looker(room.place.path) as looker, looker.snapshot() as (view, witness):
        work(view, witness)


def page(verb: str, **arguments: Any) -> Callable[[Room], Any]:
    """One page of a list."""
    return lambda room: room.do(verb, **arguments)


PAGES: dict[str, Callable[[Room], Any]] = {
    "session list": page("brain_session_list", project_key=PROJECT, limit=20),
    "session list, ended": page("brain_session_list", project_key=PROJECT, status="ended", limit=20),
    "slot list": page("brain_slot_list", project_key=PROJECT, limit=20),
    "slot list, all": page("brain_slot_list", project_key=PROJECT, status="all", limit=20),
    "project list": page("brain_list_projects"),
    "focus history": page("brain_focus_history", project_key=PROJECT),
    "ticket list": page("brain_ticket_list", project_key=PROJECT),
    "knowledge list": page("brain_list", entity_type="decision", project_key=PROJECT, limit=20),
}


def compare(benchmark: Any, figures: Figures, rooms: list[Room], name: str, sides: list[Side]) -> None:
    """The full store's side against the small one's."""
    del rooms
    full, small = medians(in_turns(benchmark, *sides, rounds=ROUNDS))
    figures.add(
        "sessions", f"{name}, full against a hundredth", full / small, Goal(at_most=AT_MOST), f"{ms(full)} against {ms(small)}"
    )


def test_start_with_its_briefing(benchmark: Any, figures: Figures, rooms: list[Room]) -> None:
    compare(benchmark, figures, rooms, "start and briefing", [Side(lambda room=room: start(room)) for room in rooms])


def test_relay_on_a_slot(benchmark: Any, figures: Figures, rooms: list[Room]) -> None:
    sides = [
        Side(lambda pair, room=room: relay(room, pair), before=lambda room=room: to_relay(room))  # type: ignore[misc]
        for room in rooms
    ]
    compare(benchmark, figures, rooms, "relay", sides)


def test_resume_with_its_briefing(benchmark: Any, figures: Figures, rooms: list[Room]) -> None:
    pairs = [started(room) for room in rooms]
    sides = [
        Side(lambda room=room, pair=pair: room.do("brain_session_resume", **pair))  # type: ignore[misc]
        for room, pair in zip(rooms, pairs, strict=True)
    ]
    compare(benchmark, figures, rooms, "resume and briefing", sides)


@pytest.mark.parametrize("name", PAGES)
def test_one_page(benchmark: Any, figures: Figures, rooms: list[Room], name: str) -> None:
    compare(benchmark, figures, rooms, f"a page of the {name}", [Side(lambda room=room: PAGES[name](room)) for room in rooms])


def test_search(benchmark: Any, figures: Figures, rooms: list[Room]) -> None:
    sides = [Side(lambda room=room: room.do("brain_search", query="zymurgical", project_key=PROJECT)) for room in rooms]
    full, small = medians(in_turns(benchmark, *sides, rounds=ROUNDS))
    figures.add(
        "sessions", "search for a rare word, full against a hundredth", full / small, Goal(), f"{ms(full)} against {ms(small)}"
    )


def test_what_the_console_reads(benchmark: Any, figures: Figures, rooms: list[Room]) -> None:
    sides = [Side(lambda room=room: look(room, snapshot.take)) for room in rooms]
    full, small = medians(in_turns(benchmark, *sides, rounds=ROUNDS))
    figures.add(
        "sessions",
        "the console's snapshot, 1,000 open sessions against 10",
        full / small,
        Goal(),
        f"{ms(full)} against {ms(small)}",
    )


def test_one_session_whole(benchmark: Any, figures: Figures, rooms: list[Room]) -> None:
    ids = [started(room)["session_id"] for room in rooms]
    sides = [
        Side(lambda room=room, one=one: look(room, lambda view, witness: session_detail(view, witness, one)))  # type: ignore[misc]
        for room, one in zip(rooms, ids, strict=True)
    ]
    compare(benchmark, figures, rooms, "the detail of a session", sides)
