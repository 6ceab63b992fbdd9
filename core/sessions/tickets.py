"""Minimal tickets, and the receipt that closes slots (sessions.md a.3.2; room.md 2.17)."""

from __future__ import annotations

from dataclasses import dataclass

from core.clock import stamp
from core.errors import Refusal
from core.sessions import base, slot_anchors, slots
from core.sessions.limits import page, unique_id
from core.store.deed import Deed, Reading
from core.texts import digest, not_blank

TITLE_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket as stored; `received_at` and `receipt_id` are None until it is received."""

    id: str
    project_key: str
    title: str
    target_release: str | None
    created_at: str
    receipt_id: str | None
    received_at: str | None


@dataclass(frozen=True, slots=True)
class TicketPage:
    """What `brain_ticket_list` answers: newest first."""

    tickets: tuple[Ticket, ...]
    total: int
    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class Received:
    """What `brain_ticket_receive` answers: the ticket, and the slots that its receipt closed."""

    ticket: Ticket
    replayed: bool
    closed_slot_ids: tuple[str, ...]


COLUMNS = "id, project_key, title, target_release, created_at, receipt_id, received_at"


def create(deed: Deed, *, project_key: str, title: str, target_release: str | None = None) -> Ticket:
    """Store a ticket of an existing project. Refuses `invalid_input` (title, release not X.Y.Z) and `project_not_found`."""
    name = not_blank(title, "The title").strip()
    if len(title) > TITLE_LIMIT:
        raise Refusal("invalid_input", f"The title has {len(title)} characters; at most {TITLE_LIMIT} are taken.")
    if target_release is not None and not slot_anchors.RELEASE_SHAPE.fullmatch(target_release):
        raise Refusal("invalid_input", "target_release is X.Y.Z in digits, without a leading v.")
    key = base.key_of_existing(deed.transaction, project_key)
    ticket = Ticket(deed.ids.unique(), key, name, target_release, stamp(deed.clock.now()), None, None)
    deed.execute(
        "insert into tickets (id, project_key, title, target_release, created_at) values (?, ?, ?, ?, ?)",
        (ticket.id, key, name, target_release, ticket.created_at),
    )
    deed.append(
        "brain_ticket_create",
        project_key=key,
        subject=f"ticket:{ticket.id}",
        data={"title": digest(name), "target_release": target_release},
    )
    return ticket


def list_tickets(reading: Reading, *, project_key: str, limit: int = 20, offset: int = 0) -> TicketPage:
    """A page of the project's tickets, newest first. Refuses `invalid_input`, `invalid_limit`, `project_not_found`."""
    limit, offset = page(limit, offset)
    key = base.key_of_existing(reading, project_key)
    rows = reading.all(
        f"select {COLUMNS} from tickets where project_key = ? order by created_at desc, id desc limit ? offset ?",
        (key, limit, offset),
    )
    total = reading.one("select count(*) from tickets where project_key = ?", (key,))[0]
    return TicketPage(tuple(Ticket(*tuple(row)) for row in rows), total, limit, offset)


def receive(deed: Deed, *, ticket_id: str) -> Received:
    """Issue a ticket's receipt, and close every open slot whose anchors it satisfies (sessions.md a.3.2). A second one is a replay.

    Refuses `invalid_input` and `ticket_not_found`.
    """
    wanted = unique_id(ticket_id, "ticket_id")
    ticket = _find(deed.transaction, wanted)
    if ticket is None:
        raise Refusal(
            "ticket_not_found",
            f"There is no ticket {wanted} in this store; brain_ticket_list shows those there are.",
            facts={"ticket_id": wanted},
            subject=f"ticket:{wanted}",
        )
    if ticket.received_at is not None:
        return Received(ticket, True, ())
    deed.execute(
        "update tickets set receipt_id = ?, received_at = ? where id = ?",
        (deed.ids.unique(), stamp(deed.clock.now()), ticket.id),
    )
    received = _find(deed.transaction, ticket.id)
    assert received is not None
    deed.append(
        "brain_ticket_receive",
        project_key=ticket.project_key,
        subject=f"ticket:{ticket.id}",
        data={"receipt_id": received.receipt_id},
    )
    return Received(received, False, _close_satisfied(deed, received))


def _close_satisfied(deed: Deed, ticket: Ticket) -> tuple[str, ...]:
    # only slots that name the ticket or its release can have become satisfied by it
    candidates = deed.all(
        "select s.id from slots s where s.project_key = ? and s.closed_at is null and exists (select 1 from slot_anchors a"
        " where a.slot_id = s.id and (a.ticket_id = ? or a.target_release = ?)) order by s.id",
        (ticket.project_key, ticket.id, ticket.target_release),
    )
    done = []
    for row in candidates:
        slot = slots.of_session(deed.transaction, row["id"])
        receipt = slot_anchors.receipt_of(deed.transaction, slot.project_key, slot.anchors)
        if receipt is not None:
            slots.close(deed, slot, f"receipt:{receipt}", None)
            done.append(slot.id)
    return tuple(done)


def _find(reading: Reading, ticket_id: str) -> Ticket | None:
    row = reading.one(f"select {COLUMNS} from tickets where id = ?", (ticket_id,))
    return None if row is None else Ticket(*tuple(row))
