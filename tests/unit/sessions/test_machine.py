"""Sessions, slots and the base against a plain model of the specification, step by step, with two actors (issue 3, How good)."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from core.errors import Refusal
from core.sessions.models import Anchor
from core.trail.verify import verify_store
from tests.rooms import Rooms
from tests.unit.sessions.support import everything, knowledge, rows, ticket

KEYS = ("k1", "k2", "k3", "k4")
TITLES = ("one", "two", "three", "four")
RECEIVED = TITLES[:1]
TEXTS = ("x" * 30, "y" * 24, "z" * 20, "用" * 9, "👩‍🚀" * 5)
numbers = st.integers(0, 9)
offsets = st.sampled_from((0, 0, 0, 0, 1, -1))
actors = st.integers(0, 1)


@dataclass
class ModelSlot:
    """A slot as the specification has it."""

    id: str
    title: str
    history: list[tuple[str, str]]
    closed: str | None = None

    @property
    def body(self) -> str:
        """The text that stands."""
        return self.history[-1][0]

    @property
    def revision(self) -> int:
        """How often it was written or closed."""
        return len(self.history) - 1


@dataclass
class ModelSession:
    """A session as the specification has it."""

    id: str
    key: str
    started: datetime
    slot: ModelSlot | None = None
    status: str = "open"
    end: tuple[str, str, int, str, int] | None = None
    """Summary, text, expected revision, outcome, revision at the end."""
    reason: str | None = None
    predecessor: str | None = None
    ledger: list[str] = field(default_factory=list)


class SessionsMachine(RuleBasedStateMachine):
    """Each rule says beforehand what the specification wants, and does it for real."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.rooms = Rooms(self.folder / "room.db")
        self.actors = [self.rooms.agent(client="a"), self.rooms.agent(client="b")]
        self.sessions: list[ModelSession] = []
        self.slots: list[ModelSlot] = []
        self.base: list[tuple[str, str]] = [(TEXTS[0], "context_upsert")]
        self.tickets: dict[str, str] = {}
        self.received: set[str] = set()
        self.items: list[tuple[str, datetime]] = []
        self.last: tuple[str, dict[str, Any]] | None = None

    @initialize()
    def begin(self) -> None:
        """A project with a text, a ticket for each title, and knowledge that nobody has."""
        room = self.actors[0]
        room.do("brain_set_project_context", project_key="demo", name="demo", description="d", current_focus=TEXTS[0])
        self.tickets = {title: ticket(room) for title in TITLES}
        self.items = [(knowledge(self.rooms), self.rooms.clock.now())]

    def teardown(self) -> None:
        """The trail holds every row."""
        found = verify_store(self.rooms.path)
        self.rooms.close()
        shutil.rmtree(self.folder)
        assert found.ok, found.words

    def attempt(self, actor: int, verb: str, wanted: str, **arguments: Any) -> Any:
        """Do a verb; it must give what the model wants: `ok`, or the code of a refusal, after which nothing has changed."""
        self.rooms.clock.advance(61)
        room = self.actors[actor]
        before = everything(room) if wanted != "ok" else {}
        try:
            result, code = room.do(verb, **arguments), "ok"
        except Refusal as refusal:
            result, code = refusal, refusal.code
        assert code == wanted, f"{verb}({arguments}): the specification wants {wanted}, it was {code}: {result}"
        if wanted != "ok":
            assert everything(room) == before
        return result

    def session(self, number: int) -> ModelSession:
        """One of the sessions."""
        return self.sessions[-1 - number % len(self.sessions)]

    def holder(self, slot: ModelSlot) -> ModelSession | None:
        """The open session on a slot."""
        return next((one for one in self.sessions if one.slot is slot and one.status == "open"), None)

    @staticmethod
    def pair(session: ModelSession) -> dict[str, str]:
        """How its agent names it."""
        return {"session_id": session.id, "expected_client_key": session.key}

    @rule()
    def decide(self) -> None:
        """Knowledge that no session has yet."""
        self.rooms.clock.advance(61)
        self.items.append((knowledge(self.rooms), self.rooms.clock.now()))

    @rule(actor=actors, key=st.sampled_from(KEYS))
    def start(self, actor: int, key: str) -> None:
        """A key opens once; while it is open it gives the same session, and then it is spent."""
        same = next((one for one in self.sessions if one.key == key), None)
        spent = same is not None and same.status != "open"
        found = self.attempt(
            actor, "brain_session_start", "client_key_spent" if spent else "ok", project_key="demo", client_key=key
        )
        if same is None:
            self.sessions.append(ModelSession(found.session.id, key, self.rooms.clock.now()))
        elif not spent:
            assert found.session.id == same.id

    @rule(actor=actors, title=st.sampled_from(TITLES), body=st.sampled_from(TEXTS[:2]))
    def open_slot(self, actor: int, title: str, body: str) -> None:
        """One open slot a title; the same again is a replay."""
        same = next((one for one in self.slots if one.title == title and one.closed is None), None)
        if same is not None:
            wanted = "ok" if same.body == body else "slot_title_conflict"
        else:
            wanted = "anchor_already_received" if title in self.received else "ok"
        anchors = [Anchor("ticket", ticket_id=self.tickets[title])]
        found = self.attempt(actor, "brain_slot_open", wanted, project_key="demo", title=title, body=body, anchors=anchors)
        if same is None and wanted == "ok":
            self.slots.append(ModelSlot(found.slot.id, title, [(body, "slot_open")]))
        elif wanted == "ok":
            assert found.replayed and found.slot.id == same.id  # type: ignore[union-attr]

    @precondition(lambda self: self.slots)
    @rule(actor=actors, number=numbers, offset=offsets)
    def close_slot(self, actor: int, number: int, offset: int) -> None:
        """Closed by hand from the revision that stands, when nobody is on it."""
        slot = self.slots[-1 - number % len(self.slots)]
        expected = max(0, slot.revision + offset)
        if slot.closed is not None:
            wanted = "slot_closed"
        elif expected != slot.revision:
            wanted = "slot_revision_conflict"
        else:
            wanted = "slot_bound" if self.holder(slot) else "ok"
        self.attempt(actor, "brain_slot_close", wanted, slot_id=slot.id, expected_revision=expected, note="done")
        if wanted == "ok":
            self.close(slot, "explicit")

    @rule(actor=actors, title=st.sampled_from(RECEIVED))
    def receive(self, actor: int, title: str) -> None:
        """A receipt closes the slots of its ticket, whoever is on them; the bound session stays open."""
        self.attempt(actor, "brain_ticket_receive", "ok", ticket_id=self.tickets[title])
        self.received.add(title)
        for slot in self.slots:
            if slot.title == title and slot.closed is None:
                self.close(slot, "receipt")

    def close(self, slot: ModelSlot, how: str) -> None:
        """Closing keeps the text and moves the revision."""
        slot.closed = how
        slot.history.append((slot.body, "slot_close"))

    @precondition(lambda self: self.slots and self.sessions)
    @rule(actor=actors, number=numbers, other=numbers)
    def bind(self, actor: int, number: int, other: int) -> None:
        """For the rest of its life, to a slot that is free."""
        session, slot = self.session(number), self.slots[-1 - other % len(self.slots)]
        if session.status != "open":
            wanted = "session_not_open"
        elif session.slot not in (None, slot):
            wanted = "session_already_bound"
        elif slot.closed is not None:
            wanted = "slot_closed"
        elif session.slot is slot:
            wanted = "ok"
        else:
            wanted = "slot_busy" if self.holder(slot) else "ok"
        self.attempt(actor, "brain_session_bind", wanted, **self.pair(session), slot_id=slot.id)
        if wanted == "ok":
            session.slot = slot

    @precondition(lambda self: self.sessions)
    @rule(actor=actors, number=numbers, item=numbers)
    def capture(self, actor: int, number: int, item: int) -> None:
        """One item has one owner and is no older than it; what a closed session owns can be named again, nothing new added."""
        session, (wanted_id, made) = self.session(number), self.items[-1 - item % len(self.items)]
        owner = next((one for one in self.sessions if wanted_id in one.ledger), None)
        if owner is not None and owner is not session:
            wanted = "capture_conflict"
        elif owner is session:
            wanted = "ok"
        elif session.status != "open":
            wanted = "session_not_open"
        else:
            wanted = "invalid_input" if made < session.started else "ok"
        self.attempt(actor, "brain_session_capture", wanted, **self.pair(session), knowledge_ids=[wanted_id])
        if wanted == "ok" and owner is None:
            session.ledger.append(wanted_id)

    @precondition(lambda self: self.sessions)
    @rule(actor=actors, number=numbers, text=st.sampled_from(TEXTS), offset=offsets)
    def end(self, actor: int, number: int, text: str, offset: int) -> None:
        """Its text becomes what stands, or is kept with the session as a conflict."""
        session = self.session(number)
        slot, standing = session.slot, session.slot.history if session.slot else self.base
        revision = len(standing) - 1
        expected = max(0, revision + offset)
        outcome = "applied" if expected == revision and (slot is None or slot.closed is None) else "conflict"
        if session.status != "open":
            same = session.end is not None and session.end[:3] == ("ended", text, expected)
            wanted = "ok" if same else "terminal_conflict"
        elif slot is not None and slot.closed is not None and expected == revision:
            wanted = "slot_closed"
        elif slot is None and outcome == "applied" and len(text) * 10 < len(standing[-1][0]) * 7:
            wanted = "base_focus_shrink"
        else:
            wanted = "ok"
        arguments = {**self.pair(session), "summary": "ended", "next_focus": text, "expected_focus_revision": expected}
        found = self.attempt(actor, "brain_session_end", wanted, **arguments)
        if wanted != "ok":
            return
        if session.status != "open":
            assert found.replayed
            return
        assert found.focus_outcome == outcome
        session.status = "ended"
        if outcome == "applied":
            standing.append((text, "session_end"))
        session.end = ("ended", text, expected, outcome, len(standing) - 1)
        self.last = ("brain_session_end", arguments)

    @precondition(lambda self: self.sessions)
    @rule(
        actor=actors, number=numbers, text=st.sampled_from(TEXTS), offset=offsets, key=st.sampled_from((*KEYS, "r1", "r2", "r3"))
    )
    def relay(self, actor: int, number: int, text: str, offset: int, key: str) -> None:
        """End, handover and successor in one step, or nothing of it."""
        session = self.session(number)
        slot, standing = session.slot, session.slot.history if session.slot else self.base
        revision = len(standing) - 1
        expected = max(0, revision + offset)
        name = "expected_slot_revision" if slot else "expected_focus_revision"
        taken = any(one.key == key for one in self.sessions)
        if key == session.key:
            wanted = "relay_same_client_key"
        elif session.status != "open":
            heir = next((one for one in self.sessions if one.predecessor == session.id), None)
            same = (
                heir is not None
                and heir.key == key
                and session.end is not None
                and session.end[:3] == ("relayed", text, expected)
            )
            wanted = "ok" if same else "terminal_conflict"
        elif slot is not None and slot.closed is not None:
            wanted = "slot_closed"
        elif expected != revision:
            wanted = "slot_revision_conflict" if slot else "focus_revision_conflict"
        elif slot is None and len(text) * 10 < len(standing[-1][0]) * 7:
            wanted = "base_focus_shrink"
        else:
            wanted = "client_key_conflict" if taken else "ok"
        arguments = {
            **self.pair(session),
            "summary": "relayed",
            "handover": text,
            "new_client_key": key,
            "initiator": "operator",
            name: expected,
        }
        found = self.attempt(actor, "brain_session_relay", wanted, **arguments)
        if wanted != "ok" or session.status != "open":
            return
        session.status = "ended"
        standing.append((text, "session_relay" if slot else "session_end"))
        session.end = ("relayed", text, expected, "applied", expected + 1)
        self.sessions.append(ModelSession(found.session.id, key, self.rooms.clock.now(), slot, predecessor=session.id))
        self.last = ("brain_session_relay", arguments)

    @precondition(lambda self: self.sessions)
    @rule(actor=actors, number=numbers, reason=st.sampled_from(("gone", "given up")))
    def abandon(self, actor: int, number: int, reason: str) -> None:
        """No text changes, the slot is free, the ledger stays."""
        session = self.session(number)
        open_before = session.status == "open"
        wanted = "ok" if open_before or (session.status == "abandoned" and session.reason == reason) else "terminal_conflict"
        arguments = {**self.pair(session), "reason": reason}
        self.attempt(actor, "brain_session_abandon", wanted, **arguments)
        if open_before:
            session.status, session.reason = "abandoned", reason
            self.last = ("brain_session_abandon", arguments)

    @precondition(lambda self: self.last)
    @rule(actor=actors)
    def again(self, actor: int) -> None:
        """The same terminal deed again, by whomever, gives the same answer and changes nothing."""
        assert self.last is not None
        verb, arguments = self.last
        before = everything(self.actors[actor])
        found = self.attempt(actor, verb, "ok", **arguments)
        assert found.replayed
        after = everything(self.actors[actor])
        assert {name for name in after if after[name] != before[name]} <= {"session_connections"}

    @invariant()
    def rows_are_as_the_model_says(self) -> None:
        """Sessions, slots, base, histories and ledgers are what the model has (sessions.md d.1, d.2, d.9, d.11)."""
        room = self.actors[0]
        stored = {
            row[0]: row[1:]
            for row in rows(
                room,
                "select id, client_key, slot_id, status, summary, next_focus, end_expected_focus_revision, focus_outcome,"
                " focus_revision_at_end, abandonment_reason, relayed_from_session_id, captured_knowledge_ids from sessions",
            )
        }
        assert stored == {
            one.id: (
                one.key,
                one.slot.id if one.slot else None,
                one.status,
                *(one.end or (None,) * 5),
                one.reason,
                one.predecessor,
                json.dumps(one.ledger, separators=(",", ":")) if one.status == "ended" else "[]",
            )
            for one in self.sessions
        }
        slots = rows(room, "select id, title, body, revision, closed_at is not null from slots")
        assert {row[0]: row[1:] for row in slots} == {
            one.id: (one.title, one.body, one.revision, int(one.closed is not None)) for one in self.slots
        }
        history = rows(room, "select slot_id, revision, body, source from slot_history")
        assert sorted(history) == sorted(
            (one.id, revision, body, source) for one in self.slots for revision, (body, source) in enumerate(one.history)
        )
        if self.items:
            focus = rows(room, "select focus_revision, focus, source from focus_history where project_key = 'demo' order by 1")
            assert focus == [(revision, *entry) for revision, entry in enumerate(self.base)]
            assert rows(room, "select current_focus, focus_revision from projects where project_key = 'demo'") == [
                (self.base[-1][0], len(self.base) - 1)
            ]
        ledger = rows(room, "select session_id, knowledge_id from session_artifacts")
        assert sorted(ledger) == sorted((one.id, item) for one in self.sessions for item in one.ledger)

    @invariant()
    def the_rules_of_the_rows_hold(self) -> None:
        """What a row must and must not hold, whatever the model thinks (sessions.md a.5.2, d.7 to d.10; room.md 2.14)."""
        room = self.actors[0]
        for broken in (
            "select id from sessions where status = 'open' and (ended_at is not null or summary is not null or next_focus is not null"
            " or abandonment_reason is not null or focus_outcome is not null or captured_knowledge_ids <> '[]')",
            "select id from sessions where status = 'ended' and (ended_at is null or trim(summary) = '' or trim(next_focus) = ''"
            " or abandonment_reason is not null or focus_outcome is null)",
            "select id from sessions where focus_outcome = 'applied'"
            " and (focus_at_end is not next_focus or focus_revision_at_end <> end_expected_focus_revision + 1)",
            "select id from sessions where focus_outcome = 'conflict' and focus_revision_at_end = end_expected_focus_revision",
            "select id from sessions where status = 'abandoned' and (ended_at is null or trim(abandonment_reason) = ''"
            " or summary is not null or focus_outcome is not null or captured_knowledge_ids <> '[]')",
            "select slot_id from sessions where status = 'open' and slot_id is not null group by slot_id having count(*) > 1",
            "select relayed_from_session_id from sessions where relayed_from_session_id is not null"
            " group by relayed_from_session_id having count(*) > 1",
            "select heir.id from sessions heir join sessions one on one.id = heir.relayed_from_session_id"
            # an heir of a session without a slot may have been bound to one since
            " where heir.started_at <> one.ended_at or (one.slot_id is not null and heir.slot_id is not one.slot_id)",
        ):
            assert rows(room, broken) == [], broken


TestSessions = SessionsMachine.TestCase
TestSessions.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
