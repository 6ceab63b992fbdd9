"""The tools for slots and tickets (sessions.md b.11 to b.13; room.md 2.14 and 2.17)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from core.server.project_tools import Key
from core.server.tools import Arguments, StrictNumber, UniqueId, tool
from core.sessions.limits import ANCHOR_LIMIT, LIST_LIMIT, REASON_LIMIT, SLOT_BODY_LIMIT, TITLE_LIMIT
from core.sessions.models import Anchor, AnchorKind, ListedSlot, SlotListStatus
from core.sessions.slots import SlotClosed, SlotFound, SlotOpened, SlotPage
from core.sessions.tickets import TITLE_LIMIT as TICKET_TITLE_LIMIT
from core.sessions.tickets import Received, Ticket, TicketPage


class AnchorArguments(Arguments):
    """One anchor: exactly the fields of its kind."""

    kind: AnchorKind
    ticket_id: Annotated[UniqueId | None, Field(description="For kind ticket: the ticket's id.")] = None
    target_release: Annotated[str | None, Field(description="For kind lot: the release, X.Y.Z in digits.")] = None
    repository_id: Annotated[int | None, Field(description="For kind pr, with pr_number.")] = None
    pr_number: Annotated[int | None, Field(description="For kind pr, with repository_id.")] = None
    topic: Annotated[
        str | None, Field(description="For kind topic: what it is about, for work that has no ticket. 1 to 120 characters.")
    ] = None


class OpenArguments(Arguments):
    """What brain_slot_open takes."""

    project_key: Key
    title: Annotated[
        str, Field(min_length=1, max_length=TITLE_LIMIT, description="Its title, unique among the project's open slots.")
    ]
    body: Annotated[str, Field(min_length=1, max_length=SLOT_BODY_LIMIT, description="The focus text to begin with.")]
    anchors: Annotated[
        list[AnchorArguments], Field(min_length=1, max_length=ANCHOR_LIMIT, description="What it is about; written once.")
    ]

    def as_verb(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments with anchors as the verb takes them."""
        return {**given, "anchors": [Anchor(**one.model_dump()) for one in self.anchors]}


class SlotListArguments(Arguments):
    """What brain_slot_list takes."""

    project_key: Key
    status: Annotated[SlotListStatus, Field(description="Which ones.")] = "open"
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT, description="How many at most.")] = 20
    offset: Annotated[int, Field(ge=0, description="How many of the newest to skip.")] = 0


class SlotArguments(Arguments):
    """What brain_slot_get takes."""

    slot_id: UniqueId


class CloseArguments(Arguments):
    """What brain_slot_close takes."""

    slot_id: UniqueId
    expected_revision: Annotated[StrictNumber, Field(ge=0, description="The revision that you read.")]
    note: Annotated[str, Field(min_length=1, max_length=REASON_LIMIT, description="Why it is closed and where the work stands.")]


class TicketArguments(Arguments):
    """What brain_ticket_create takes."""

    project_key: Key
    title: Annotated[str, Field(min_length=1, max_length=TICKET_TITLE_LIMIT, description="What is to be done.")]
    target_release: Annotated[str | None, Field(description="The release it is planned for: X.Y.Z in digits.")] = None


class TicketListArguments(Arguments):
    """What brain_ticket_list takes."""

    project_key: Key
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT, description="How many at most.")] = 20
    offset: Annotated[int, Field(ge=0, description="How many of the newest to skip.")] = 0


class ReceiveArguments(Arguments):
    """What brain_ticket_receive takes."""

    ticket_id: UniqueId


def opened_text(done: SlotOpened) -> str:
    """What brain_slot_open did."""
    what = "is open already, just so" if done.replayed else "is open"
    return f"Slot {done.slot.id} ({done.slot.title}) {what}, revision {done.slot.revision}. brain_session_bind binds a session to it."


def slots_text(found: SlotPage) -> str:
    """The slots, one a line."""
    head = f"{found.total} slot(s), {len(found.slots)} shown, newest first."
    return "\n".join([head, *(_line(one) for one in found.slots)])


def slot_text(found: SlotFound) -> str:
    """One slot with its body and the list of its revisions."""
    history = "\n".join(f"- {one.revision} ({one.source}, {one.created_at})" for one in found.history)
    return f"{_line(found.slot)}\n\n{found.slot.body}\n\nRevisions, newest first:\n{history}"


def _line(one: ListedSlot) -> str:
    holder = f"held by session {one.bound_session_id}" if one.bound_session_id else "orphan"
    state = f"closed at {one.closed_at}" if one.closed_at else holder
    flags = "".join((", stale" if one.is_stale else "", ", receipt pending" if one.receipt_pending else ""))
    return f"- {one.id} {one.title} (revision {one.revision}; {', '.join(anchor.reference for anchor in one.anchors)}): {state}{flags}"


def closed_text(done: SlotClosed) -> str:
    """What brain_slot_close did."""
    return f"Slot {done.slot.id} is closed, at revision {done.slot.revision}. Its body and history stay."


def ticket_text(done: Ticket) -> str:
    """A ticket that was created."""
    release = f", for release {done.target_release}" if done.target_release else ""
    return f"Ticket {done.id} of project {done.project_key}{release}."


def tickets_text(found: TicketPage) -> str:
    """The tickets, one a line."""
    lines = [
        f"- {one.id} {one.title}{f' (for {one.target_release})' if one.target_release else ''}: "
        + (f"received at {one.received_at}" if one.received_at else "not received")
        for one in found.tickets
    ]
    return "\n".join([f"{found.total} ticket(s), {len(lines)} shown, newest first.", *lines])


def received_text(done: Received) -> str:
    """What a receipt did."""
    if done.replayed:
        return f"Ticket {done.ticket.id} was received already, at {done.ticket.received_at}; nothing was changed."
    closed = f" It closed slot(s) {', '.join(done.closed_slot_ids)}." if done.closed_slot_ids else ""
    return f"Ticket {done.ticket.id} is received, receipt {done.ticket.receipt_id}.{closed}"


TOOLS = (
    tool(
        "brain_slot_open",
        title="Open a slot",
        description=(
            "Open a slot: a focus text for one topic in flight, beside the project's base focus, with 1 to 10 anchors. "
            "Only on an explicit command of your user."
        ),
        arguments=OpenArguments,
        result=SlotOpened,
        text=opened_text,
    ),
    tool(
        "brain_slot_list",
        title="List slots",
        description="A project's slots, newest first, each with its holder and whether it is stale or its receipt has come.",
        arguments=SlotListArguments,
        result=SlotPage,
        text=slots_text,
    ),
    tool(
        "brain_slot_get",
        title="Read a slot",
        description="One slot with its body, anchors, holder and history.",
        arguments=SlotArguments,
        result=SlotFound,
        text=slot_text,
    ),
    tool(
        "brain_slot_close",
        title="Close a slot",
        description=(
            "Close a slot for good, with a note; refused while a session is open on it. It can't be opened again. "
            "Only on an explicit command of your user."
        ),
        arguments=CloseArguments,
        result=SlotClosed,
        text=closed_text,
    ),
    tool(
        "brain_ticket_create",
        title="Create a ticket",
        description="Create a ticket of a project, which a slot can be anchored to; with a target_release it plans that lot.",
        arguments=TicketArguments,
        result=Ticket,
        text=ticket_text,
    ),
    tool(
        "brain_ticket_list",
        title="List tickets",
        description="A project's tickets, newest first.",
        arguments=TicketListArguments,
        result=TicketPage,
        text=tickets_text,
    ),
    tool(
        "brain_ticket_receive",
        title="Receive a ticket",
        description="Issue a ticket's receipt: its work is delivered. Slots whose anchors are all received are closed by it.",
        arguments=ReceiveArguments,
        result=Received,
        text=received_text,
    ),
)
