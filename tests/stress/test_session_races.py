"""Each race that sessions.md (b) speaks of, between two real processes, fifty times: only what is specified comes of it (issue 3)."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.room import Place, Room
from core.sessions.models import Anchor
from core.trail.verify import verify_store
from tests.stress.test_processes import rows, start

ROUNDS = 50
LEAD_SECONDS = 0.004
Call = tuple[str, dict[str, Any]]
Outcomes = tuple[str, ...]


@pytest.fixture
def racers(tmp_path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Two servers on one store, waiting for what they are told."""
    with Room(Place(tmp_path / "store.db", "cli")) as room:
        room.do("brain_set_project_context", project_key="demo", name="demo", description="d", current_focus="base focus")
    processes = [start("racer", tmp_path / "store.db") for _ in range(2)]
    for process in processes:
        assert process.stdout is not None and "ready" in process.stdout.readline()
    yield processes
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0, errors


def race(processes: list[subprocess.Popen[str]], calls: tuple[Call, Call]) -> Outcomes:
    """What came of two calls at one moment, sorted; a replay and a conflict are said."""
    at = time.time() + LEAD_SECONDS
    for process, (verb, arguments) in zip(processes, calls, strict=True):
        assert process.stdin is not None
        process.stdin.write(json.dumps({"at": at, "verb": verb, "arguments": arguments}) + "\n")
        process.stdin.flush()
    found = []
    for process in processes:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        more = "replayed" if said.get("replayed") else said.get("focus_outcome") == "conflict" and "conflict"
        found.append(f"{said['outcome']} {more}" if more else said["outcome"])
    return tuple(sorted(found))


class Setting:
    """Makes what each round races for."""

    def __init__(self, room: Room, number: int) -> None:
        self.room = room
        self.number = number
        self.project = f"p{number}"
        self.topic = {"kind": "topic", "topic": f"t{number}"}
        room.do("brain_set_project_context", project_key=self.project, name="n", description="d", current_focus="base focus")

    def session(self, key: str = "k") -> dict[str, str]:
        """An open session, as it is named."""
        found = self.room.do("brain_session_start", project_key=self.project, client_key=key).session
        return {"session_id": found.id, "expected_client_key": key}

    def slot(self) -> str:
        """An open slot."""
        anchors = [Anchor("topic", topic="t")]
        return str(self.room.do("brain_slot_open", project_key=self.project, title="s", body="body", anchors=anchors).slot.id)

    def bound(self, slot_id: str) -> dict[str, str]:
        """An open session on a slot."""
        pair = self.session()
        self.room.do("brain_session_bind", **pair, slot_id=slot_id)
        return pair

    def relay(self, pair: dict[str, str], text: str, key: str, name: str = "expected_focus_revision") -> Call:
        """A relay of a session."""
        more = {"handover": text, "summary": "s", "new_client_key": key, "initiator": "operator", name: 0}
        return "brain_session_relay", {**pair, **more}

    def end(self, pair: dict[str, str], text: str = "base focus now") -> Call:
        """An end of a session from revision 0."""
        return "brain_session_end", {**pair, "summary": "s", "next_focus": text, "expected_focus_revision": 0}


def same_start(made: Setting) -> tuple[Call, Call]:
    call = "brain_session_start", {"project_key": made.project, "client_key": "k"}
    return call, call


def same_relay(made: Setting) -> tuple[Call, Call]:
    call = made.relay(made.session(), "base focus of an heir", "k2")
    return call, call


def two_relays(made: Setting) -> tuple[Call, Call]:
    pair = made.session()
    return made.relay(pair, "base focus of one", "k2"), made.relay(pair, "base focus of two", "k3")


def two_slot_relays(made: Setting) -> tuple[Call, Call]:
    pair = made.bound(made.slot())
    return tuple(made.relay(pair, f"text {key}", key, "expected_slot_revision") for key in ("k2", "k3"))  # type: ignore[return-value]


def two_sessions_relay_one_base(made: Setting) -> tuple[Call, Call]:
    return made.relay(made.session("a"), "base focus of a", "a2"), made.relay(made.session("b"), "base focus of b", "b2")


def relays_to_one_key(made: Setting) -> tuple[Call, Call]:
    one, other = made.session("a"), made.bound(made.slot())
    return made.relay(one, "base focus of a", "heir"), made.relay(other, "body", "heir", "expected_slot_revision")


def relay_and_end(made: Setting) -> tuple[Call, Call]:
    pair = made.session()
    return made.relay(pair, "base focus of an heir", "k2"), made.end(pair)


def end_and_abandon(made: Setting) -> tuple[Call, Call]:
    pair = made.session()
    return made.end(pair), ("brain_session_abandon", {**pair, "reason": "gone"})


def two_ends_of_two_sessions(made: Setting) -> tuple[Call, Call]:
    return made.end(made.session("a"), "base focus of a"), made.end(made.session("b"), "base focus of b")


def two_binds(made: Setting) -> tuple[Call, Call]:
    slot_id = made.slot()
    calls = [("brain_session_bind", {**made.session(key), "slot_id": slot_id}) for key in ("a", "b")]
    return calls[0], calls[1]


def bind_and_close(made: Setting) -> tuple[Call, Call]:
    slot_id = made.slot()
    close = "brain_slot_close", {"slot_id": slot_id, "expected_revision": 0, "note": "n"}
    return ("brain_session_bind", {**made.session(), "slot_id": slot_id}), close


def slot_relay_and_receipt(made: Setting) -> tuple[Call, Call]:
    ticket = made.room.do("brain_ticket_create", project_key=made.project, title="t").id
    anchors = [Anchor("ticket", ticket_id=ticket)]
    slot = made.room.do("brain_slot_open", project_key=made.project, title="s", body="body", anchors=anchors).slot
    pair = made.bound(slot.id)
    return made.relay(pair, "text", "k2", "expected_slot_revision"), ("brain_ticket_receive", {"ticket_id": ticket})


def two_opens(made: Setting) -> tuple[Call, Call]:
    arguments = {"project_key": made.project, "title": "s", "anchors": [{"kind": "topic", "topic": "t"}]}
    return ("brain_slot_open", {**arguments, "body": "one"}), ("brain_slot_open", {**arguments, "body": "two"})


def one_seq_twice(made: Setting) -> tuple[Call, Call]:
    note = {**made.session(), "seq": 1, "next_step": "n"}
    return ("brain_session_checkpoint", {**note, "progress": "one"}), ("brain_session_checkpoint", {**note, "progress": "two"})


def one_item_twice(made: Setting) -> tuple[Call, Call]:
    pairs = [made.session(key) for key in ("a", "b")]
    text = {"context": "c", "decision_made": "d", "reasoning": "r"}
    item = made.room.do("brain_log_decision", project_key=made.project, title="t", **text).id
    calls = [("brain_session_capture", {**pair, "knowledge_ids": [item]}) for pair in pairs]
    return calls[0], calls[1]


def two_focus_updates(made: Setting) -> tuple[Call, Call]:
    call = {"project_key": made.project, "expected_focus_revision": 0}
    verb = "brain_update_project_focus"
    return (verb, {**call, "current_focus": "base focus of one"}), (verb, {**call, "current_focus": "base focus of two"})


RACES: dict[Callable[[Setting], tuple[Call, Call]], set[Outcomes]] = {
    same_start: {("ok", "ok replayed")},
    same_relay: {("ok", "ok replayed")},
    two_relays: {("ok", "terminal_conflict")},
    two_slot_relays: {("ok", "terminal_conflict")},
    two_sessions_relay_one_base: {("focus_revision_conflict", "ok")},
    relays_to_one_key: {("client_key_conflict", "ok")},
    relay_and_end: {("ok", "terminal_conflict")},
    end_and_abandon: {("ok", "terminal_conflict")},
    two_ends_of_two_sessions: {("ok", "ok conflict")},
    two_binds: {("ok", "slot_busy")},
    bind_and_close: {("ok", "slot_bound"), ("ok", "slot_closed")},
    slot_relay_and_receipt: {("ok", "ok"), ("ok", "slot_closed")},
    two_opens: {("ok", "slot_title_conflict")},
    one_seq_twice: {("checkpoint_conflict", "ok")},
    one_item_twice: {("capture_conflict", "ok")},
    two_focus_updates: {("focus_revision_conflict", "ok")},
}


@pytest.mark.parametrize("made", RACES, ids=[one.__name__ for one in RACES])
def test_only_what_is_specified_comes_of_a_race(
    tmp_path: Path, racers: list[subprocess.Popen[str]], made: Callable[[Setting], tuple[Call, Call]]
) -> None:
    store = tmp_path / "store.db"
    came: Counter[Outcomes] = Counter()
    with Room(Place(store, "cli"), patience=30.0) as room:
        for number in range(ROUNDS):
            came[race(racers, made(Setting(room, number)))] += 1
    assert set(came) <= RACES[made], came
    for broken in (
        "select slot_id from sessions where status = 'open' and slot_id is not null group by slot_id having count(*) > 1",
        "select relayed_from_session_id from sessions where relayed_from_session_id is not null group by 1 having count(*) > 1",
        "select project_key, client_key from sessions group by project_key, client_key having count(*) > 1",
        "select project_key, title from slots where closed_at is null group by 1, 2 having count(*) > 1",
        "select project_key, focus_revision from focus_history group by 1, 2 having count(*) > 1",
        "select p.project_key from projects p where focus_revision <>"
        " (select max(focus_revision) from focus_history h where h.project_key = p.project_key)",
    ):
        assert rows(store, broken) == [], broken
    found = verify_store(store)
    assert found.ok, found.words
