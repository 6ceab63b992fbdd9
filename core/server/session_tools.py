"""The tools for sessions (sessions.md b.1 to b.10; room.md 2.3 and 2.14)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.server.project_tools import Key
from core.server.tools import Arguments, StrictNumber, UniqueId, tool
from core.sessions.bind import Bound
from core.sessions.capture import Captured
from core.sessions.checkpoint import Checkpointed
from core.sessions.end import Ended
from core.sessions.lifecycle import Abandoned, Beaten, Resumed, Started
from core.sessions.limits import (
    CAPTURE_LIMIT,
    CHECKPOINT_LIMIT,
    CLIENT_KEY_LIMIT,
    FOCUS_LIMIT,
    LIST_LIMIT,
    REASON_LIMIT,
    SUMMARY_LIMIT,
)
from core.sessions.listing import SessionFound, SessionPage
from core.sessions.models import Initiator, ListStatus, Session
from core.sessions.relay import Relayed

ClientKey = Annotated[
    str, Field(min_length=1, max_length=CLIENT_KEY_LIMIT, description="The session's own client key, as it was started with.")
]
COMMAND = "Only on an explicit command of your user."


class StartArguments(Arguments):
    """What brain_session_start takes."""

    project_key: Key
    client_key: Annotated[
        str,
        Field(
            min_length=1,
            max_length=CLIENT_KEY_LIMIT,
            description="A key of your choice that names this session for ever in the project.",
        ),
    ]


class PairArguments(Arguments):
    """The identity pair."""

    session_id: UniqueId
    expected_client_key: ClientKey


class SessionListArguments(Arguments):
    """What brain_session_list takes."""

    project_key: Annotated[str | None, Field(description="Only this project; left out, all of them.")] = None
    status: Annotated[ListStatus, Field(description="Which ones; stale are open ones without a heartbeat for 24 hours.")] = "open"
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT, description="How many at most.")] = 20
    offset: Annotated[int, Field(ge=0, description="How many of the newest to skip.")] = 0


class SessionArguments(Arguments):
    """What brain_session_get takes."""

    session_id: UniqueId


class CheckpointArguments(PairArguments):
    """What brain_session_checkpoint takes."""

    seq: Annotated[StrictNumber, Field(ge=1, description="Its number, of your choice; the same one again must say the same.")]
    progress: Annotated[str, Field(min_length=1, max_length=CHECKPOINT_LIMIT, description="What is done.")]
    next_step: Annotated[str, Field(min_length=1, max_length=CHECKPOINT_LIMIT, description="What comes next.")]
    blocker: Annotated[str | None, Field(max_length=CHECKPOINT_LIMIT, description="What stands in the way, if anything.")] = None


class CaptureArguments(PairArguments):
    """What brain_session_capture takes."""

    knowledge_ids: Annotated[
        list[UniqueId],
        Field(min_length=1, max_length=CAPTURE_LIMIT, description="Knowledge of this project, made since the session began."),
    ]


class BindArguments(PairArguments):
    """What brain_session_bind takes."""

    slot_id: UniqueId


class EndArguments(PairArguments):
    """What brain_session_end takes."""

    summary: Annotated[str, Field(min_length=1, max_length=SUMMARY_LIMIT, description="What the session did.")]
    next_focus: Annotated[
        str,
        Field(
            min_length=1,
            max_length=FOCUS_LIMIT,
            description="The text that is to stand from here on: the slot's body when bound (at most 4,000 characters), else the whole base focus.",
        ),
    ]
    expected_focus_revision: Annotated[
        StrictNumber,
        Field(ge=0, description="The revision that your text was made from: the slot's when bound, else the base's."),
    ]
    nothing_to_capture_reason: Annotated[
        str | None, Field(min_length=1, max_length=REASON_LIMIT, description="Why there is no knowledge to capture.")
    ] = None
    allow_focus_shrink: Annotated[
        bool, Field(description="Whether a base focus much shorter than the one that stands is meant so.")
    ] = False


class RelayArguments(PairArguments):
    """What brain_session_relay takes."""

    summary: Annotated[str, Field(min_length=1, max_length=SUMMARY_LIMIT, description="What the session did.")]
    handover: Annotated[
        str,
        Field(
            min_length=1,
            max_length=FOCUS_LIMIT,
            description="The text handed over: it REPLACES the slot's body when bound (at most 4,000 characters), else the whole base focus.",
        ),
    ]
    new_client_key: Annotated[
        str,
        Field(
            min_length=1, max_length=CLIENT_KEY_LIMIT, description="The successor's client key, never used before in the project."
        ),
    ]
    initiator: Annotated[Initiator, Field(description="Who set it off.")]
    expected_slot_revision: Annotated[
        StrictNumber | None, Field(ge=0, description="When bound: the slot's revision. Exactly one of the two.")
    ] = None
    expected_focus_revision: Annotated[
        StrictNumber | None, Field(ge=0, description="When not bound: the base's revision. Exactly one of the two.")
    ] = None
    allow_focus_shrink: Annotated[
        bool, Field(description="Whether a base focus much shorter than the one that stands is meant so.")
    ] = False
    knowledge_ids: Annotated[
        list[UniqueId] | None, Field(max_length=CAPTURE_LIMIT, description="Knowledge to capture with it.")
    ] = None
    nothing_to_capture_reason: Annotated[
        str | None, Field(min_length=1, max_length=REASON_LIMIT, description="Why there is no knowledge to capture.")
    ] = None


class AbandonArguments(PairArguments):
    """What brain_session_abandon takes."""

    reason: Annotated[str, Field(min_length=1, max_length=REASON_LIMIT, description="Why it is given up.")]


def started_text(done: Started) -> str:
    """A session that was started, and its briefing."""
    what = "is open already; you are in it again" if done.replayed else "is open"
    return f"Session {done.session.id} {what} ({done.open_session_count} open in project {done.session.project_key}).\n\n{done.briefing}"


def resumed_text(done: Resumed) -> str:
    """Where a session stands, and its briefing."""
    where = (
        f"slot {done.session.slot_id}{', which is CLOSED' if done.slot_closed else ''}"
        if done.session.slot_id
        else "the base focus"
    )
    return f"Session {done.session.id} is open, on {where}, revision {done.current_focus_revision}.\n\n{done.briefing}"


def listed_text(found: SessionPage) -> str:
    """The sessions, one a line; no client keys here."""
    return "\n".join(
        [f"{found.total} session(s), {len(found.sessions)} shown, newest first.", *(_line(one) for one in found.sessions)]
    )


def got_text(found: SessionFound) -> str:
    """One session with its checkpoints."""
    marks = "\n".join(f"- {one.seq} ({one.created_at}): {one.progress} Next: {one.next_step}" for one in found.checkpoints)
    after = f" Its successor is {found.successor_session_id}." if found.successor_session_id else ""
    return f"{_line(found.session)}{after}\n{found.checkpoint_count} checkpoint(s), newest first:\n{marks}".rstrip()


def _line(one: Session) -> str:
    kind = "trace" if one.is_trace else "session"
    state = "open, stale" if one.is_stale else one.status.replace("_", " ")
    slot = f", slot {one.slot_id}" if one.slot_id else ""
    return f"- {kind} {one.id} of {one.project_key}: {state}, started at {one.started_at}{slot}"


def beaten_text(done: Beaten) -> str:
    """A heartbeat."""
    return f"Session {done.session.id}: heartbeat at {done.session.last_heartbeat_at}."


def checkpointed_text(done: Checkpointed) -> str:
    """A checkpoint."""
    what = "was there already, since" if done.replayed else "is kept, at"
    return f"Checkpoint {done.seq} of session {done.session_id} {what} {done.created_at} ({done.checkpoint_count} in all)."


def captured_text(done: Captured) -> str:
    """A capture."""
    return (
        f"Session {done.session.id} owns {len(done.captured_knowledge_ids)} item(s): {len(done.newly_captured_knowledge_ids)} new, "
        f"{len(done.replayed_knowledge_ids)} known before."
    )


def bound_text(done: Bound) -> str:
    """A binding, with the slot's text."""
    return f"Session {done.session_id} works on slot {done.slot_id} from here on, at revision {done.slot_revision}:\n{done.slot_body}"


def ended_text(done: Ended) -> str:
    """How a session ended, and what became of its text."""
    where = f"slot {done.session.slot_id}" if done.session.slot_id else "the base focus"
    if done.focus_outcome == "conflict":
        outcome = (
            f"CONFLICT: {where} had moved to revision {done.focus_revision_at_end}, so it was left as it is; "
            "your text is kept with the session only"
        )
    else:
        outcome = f"{where} is at revision {done.focus_revision_at_end} ({done.focus_diff or 'as before'})"
    again = " This was said before; nothing was changed." if done.replayed else ""
    left = (
        f" {done.unattributed_in_window} item(s) of knowledge made meanwhile belong to no session."
        if done.unattributed_in_window
        else ""
    )
    return f"Session {done.session.id} has ended. {outcome}.{left}{again}"


def relayed_text(done: Relayed) -> str:
    """The successor with its briefing."""
    where = (
        f"slot {done.slot.id}, revision {done.slot.revision}" if done.slot else f"the base focus, revision {done.focus_revision}"
    )
    again = " (relayed before; nothing was changed)" if done.replayed else ""
    return (
        f"Session {done.ended_session_id} has ended{again}; its text is {where}. Successor: session {done.session.id}, client key "
        f"{done.session.client_key}.\n\n{done.briefing}"
    )


def abandoned_text(done: Abandoned) -> str:
    """A session that was given up."""
    again = " This was said before; nothing was changed." if done.replayed else ""
    return f"Session {done.session.id} is given up.{again} No focus was changed; {done.remaining_open_session_count} session(s) stay open."


TOOLS = (
    tool(
        "brain_session_start",
        title="Start a session",
        description=(
            "Start a working session in a project; its briefing says where things stand. "
            f"The same key while it is open gives it back. {COMMAND}"
        ),
        arguments=StartArguments,
        result=Started,
        text=started_text,
    ),
    tool(
        "brain_session_resume",
        title="Resume a session",
        description=f"Take up an open session again: the focus that it works on, and its briefing. It changes no heartbeat. {COMMAND}",
        arguments=PairArguments,
        result=Resumed,
        text=resumed_text,
        read_only=True,
    ),
    tool(
        "brain_session_list",
        title="List sessions",
        description="Sessions, newest first: of one project or of all. Open ones include stale ones and traces that the server keeps.",
        arguments=SessionListArguments,
        result=SessionPage,
        text=listed_text,
        every_project=True,
    ),
    tool(
        "brain_session_get",
        title="Read a session",
        description="One session with its newest checkpoints and its successor.",
        arguments=SessionArguments,
        result=SessionFound,
        text=got_text,
    ),
    tool(
        "brain_session_heartbeat",
        title="Heartbeat of a session",
        description="Say that your session is still worked on. A session without one for 24 hours counts as stale, after 7 days it is given up.",
        arguments=PairArguments,
        result=Beaten,
        text=beaten_text,
    ),
    tool(
        "brain_session_checkpoint",
        title="Checkpoint of a session",
        description="Note where your session stands: what is done, what comes next, what is in the way. The next briefing shows it.",
        arguments=CheckpointArguments,
        result=Checkpointed,
        text=checkpointed_text,
    ),
    tool(
        "brain_session_capture",
        title="Capture knowledge",
        description="Put knowledge that your session brought into its ledger, all of the ids or none.",
        arguments=CaptureArguments,
        result=Captured,
        text=captured_text,
    ),
    tool(
        "brain_session_bind",
        title="Bind a session to a slot",
        description=f"Bind your session to one slot, for the rest of its life: its end and relay then write the slot, never the base. {COMMAND}",
        arguments=BindArguments,
        result=Bound,
        text=bound_text,
    ),
    tool(
        "brain_session_end",
        title="End a session",
        description=(
            "End your session with a summary and the text that is to stand from here on. If the slot or base has moved since, the session "
            f"ends with a conflict and your text stays with it alone. {COMMAND}"
        ),
        arguments=EndArguments,
        result=Ended,
        text=ended_text,
    ),
    tool(
        "brain_session_relay",
        title="Relay a session",
        description=(
            "End your session and open its successor in one step, handing a text over to it. If the slot or base has moved since, it is "
            f"refused and your session stays open. {COMMAND}"
        ),
        arguments=RelayArguments,
        result=Relayed,
        text=relayed_text,
    ),
    tool(
        "brain_session_abandon",
        title="Abandon a session",
        description=f"Give an open session up, with a reason. No focus is changed; its slot becomes free. {COMMAND}",
        arguments=AbandonArguments,
        result=Abandoned,
        text=abandoned_text,
    ),
)
