"""What the tests of sessions, slots and the base focus share: short ways to get at each, and at the rows that a verb left."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from core.clock import stamp
from core.room import Room
from core.sessions.models import Anchor, ListedSlot, Session, Slot
from core.sessions.relay import Relayed
from core.store.library import sqlite3
from tests.rooms import Rooms, refused

PROJECT = "demo"
BASE = "base focus"
HANDOVER = "handover text"
NOT_OF_THE_DEED = re.compile(r"^(audit|connections|sqlite_|store)|_fts|_config$|_data$|_idx$|_docsize$|_content$")
NUMBERS = itertools.count(1)


def project(room: Room, focus: str | None = BASE, key: str = PROJECT, **more: Any) -> None:
    """A project, or the same one written anew."""
    room.do("brain_set_project_context", project_key=key, name=key, description="d", current_focus=focus, **more)


def start(room: Room, client_key: str = "k1", key: str = PROJECT) -> Session:
    """An open session."""
    session: Session = room.do("brain_session_start", project_key=key, client_key=client_key).session
    return session


def pair(session: Session) -> dict[str, str]:
    """The identity pair that its own agent sends."""
    return {"session_id": session.id, "expected_client_key": session.client_key}


def again(room: Room, session: Session) -> Session:
    """The session as it is now."""
    found: Session = room.do("brain_session_get", session_id=session.id).session
    return found


def ticket(room: Room, release: str | None = None, key: str = PROJECT) -> str:
    """A new ticket's id."""
    ticket_id: str = room.do("brain_ticket_create", project_key=key, title="a ticket", target_release=release).id
    return ticket_id


def topic(text: str = "no ticket") -> Anchor:
    """An anchor that needs nothing else."""
    return Anchor("topic", topic=text)


def slot(room: Room, title: str = "topic", body: str = "slot body", *anchors: Anchor, key: str = PROJECT) -> Slot:
    """An open slot, on a ticket of its own where no anchors are given."""
    wanted = anchors or (Anchor("ticket", ticket_id=ticket(room, key=key)),)
    opened: Slot = room.do("brain_slot_open", project_key=key, title=title, body=body, anchors=wanted).slot
    return opened


def slot_now(room: Room, found: Slot) -> ListedSlot:
    """The slot as it is now."""
    listed: ListedSlot = room.do("brain_slot_get", slot_id=found.id).slot
    return listed


def receive(room: Room, found: Slot) -> Any:
    """The receipt of the slot's first ticket."""
    return room.do("brain_ticket_receive", ticket_id=found.anchors[0].ticket_id)


def bind(room: Room, session: Session, found: Slot) -> Any:
    """Bind a session to a slot."""
    return room.do("brain_session_bind", **pair(session), slot_id=found.id)


def ending(session: Session, revision: int = 0, text: str = BASE, **more: Any) -> dict[str, Any]:
    """The arguments of an end."""
    return {**pair(session), "summary": "sum", "next_focus": text, "expected_focus_revision": revision, **more}


def end(room: Room, session: Session, revision: int = 0, text: str = BASE, **more: Any) -> Any:
    """End a session."""
    return room.do("brain_session_end", **ending(session, revision, text, **more))


def relaying(session: Session, new_client_key: str = "k2", text: str = HANDOVER, **more: Any) -> dict[str, Any]:
    """The arguments of a relay, in the base form from revision 0 unless told otherwise."""
    form = {} if "expected_slot_revision" in more or "expected_focus_revision" in more else {"expected_focus_revision": 0}
    plain = {"summary": "sum", "handover": text, "new_client_key": new_client_key, "initiator": "operator"}
    return {**pair(session), **plain, **form, **more}


def relay(room: Room, session: Session, new_client_key: str = "k2", text: str = HANDOVER, **more: Any) -> Relayed:
    """Relay a session."""
    done: Relayed = room.do("brain_session_relay", **relaying(session, new_client_key, text, **more))
    return done


def abandon(room: Room, session: Session, reason: str = "no longer needed") -> Any:
    """Give a session up."""
    return room.do("brain_session_abandon", **pair(session), reason=reason)


def capture(room: Room, session: Session, *knowledge_ids: str) -> Any:
    """Capture knowledge."""
    return room.do("brain_session_capture", **pair(session), knowledge_ids=knowledge_ids)


def note(room: Room, session: Session, seq: int, progress: str = "p", next_step: str = "n", **more: Any) -> Any:
    """Write a checkpoint."""
    return room.do("brain_session_checkpoint", **pair(session), seq=seq, progress=progress, next_step=next_step, **more)


def knowledge(rooms: Rooms, kind: str = "decision", *, key: str = PROJECT, ago: float = 0.0, title: str = "a decision") -> str:
    """An item of knowledge, made so many seconds ago."""
    knowledge_id, at = rooms.ids.unique(), stamp(rooms.clock.now() - timedelta(seconds=ago))
    outside(
        rooms,
        "insert into knowledge (id, project_key, kind, title, body, created_at, updated_at) values (?, ?, ?, ?, 'b', ?, ?)",
        (knowledge_id, key, kind, title, at, at),
    )
    return knowledge_id


def trace(rooms: Rooms, monkeypatch: pytest.MonkeyPatch, room: Room | None = None) -> Session:
    """The agent trace of an HTTP connection that has called."""
    monkeypatch.setenv("WATCHROOM_AUTO_OPEN_ENABLED", "true")
    caller = room or rooms.agent(surface="http")
    caller.observe(PROJECT)
    with caller.snapshot() as view:
        row = view.one("select id from sessions where connection_id = ? and status = 'open'", (caller.identity.connection_id,))
    found: Session = caller.do("brain_session_get", session_id=row["id"]).session
    return found


def sweeping(monkeypatch: pytest.MonkeyPatch, *, inactive: bool = False) -> None:
    """Let the sweep write."""
    monkeypatch.setenv("WATCHROOM_SWEEP_ENABLED", "true")
    monkeypatch.setenv("WATCHROOM_SWEEP_DRY_RUN", "false")
    monkeypatch.setenv("WATCHROOM_INACTIVE_SWEEP_ENABLED", str(inactive).lower())


def outside(rooms: Rooms, sql: str, values: Any = ()) -> None:
    """A change made by another program."""
    database = sqlite3.connect(str(rooms.path))
    try:
        with database:
            database.execute("pragma foreign_keys = on")
            database.execute(sql, values)
    finally:
        database.close()


def rows(room: Room, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with room.snapshot() as view:
        return [tuple(row) for row in view.all(sql, values)]


def everything(room: Room) -> dict[str, list[str]]:
    """Every row of the store outside the trail and the connections."""
    with room.snapshot() as view:
        tables = [row[0] for row in view.all("select name from sqlite_master where type = 'table'")]
        kept = [name for name in tables if not NOT_OF_THE_DEED.search(name)]
        return {name: sorted(repr(tuple(row)) for row in view.all(f'select * from "{name}"')) for name in kept}


@contextlib.contextmanager
def unchanged(room: Room, *but: str) -> Iterator[None]:
    """Proves that no row changes meanwhile, outside the tables named."""
    before = everything(room)
    yield
    after = everything(room)
    assert {name for name in after if after[name] != before[name]} <= set(but)


Rung = tuple[str, str, dict[str, Any] | Callable[[], object]]
"""A refusal's code, a word of its sentence, and what takes its reason away: other arguments, or something to be done."""


def climb(room: Room, verb: str, arguments: dict[str, Any], rungs: Sequence[Rung]) -> Any:
    """Proves an order of checks: everything is wrong at once, and one reason after the other is taken away. Gives the result."""
    given = dict(arguments)
    for code, word, remedy in rungs:
        with unchanged(room):
            refusal = refused(room, verb, **given)
        assert (refusal.code, word in refusal.sentence) == (code, True), f"wanted {code} ({word}), got {refusal}"
        if callable(remedy):
            remedy()
        else:
            given |= remedy
    return room.do(verb, **given)
