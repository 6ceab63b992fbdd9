"""What the demo's history holds of projects, tickets, slots, sessions and knowledge, beside its wraps (issue 3, console.md 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.room import Room
from core.server.demo.stories import CHECKOUT, DOCS, PAYMENTS, SEARCH, STORIES
from core.sessions.models import Anchor

FOCUS: Mapping[str, str] = {
    CHECKOUT.project_key: (
        "Aim: a customer pays once, and sees that they did.\n"
        "Now: the payment step tells declined from unreachable; double submits are gone since every POST has its idempotency key.\n"
        "Next: lock the basket during payment without shutting out the second tab; order summary reads from the order.\n"
        "Open: vouchers after a failed payment. Marcela decides, until then they are kept."
    ),
    SEARCH.project_key: (
        "Aim: the product that a customer means stands on page one.\n"
        "Now: synonyms are expanded when indexing, before stemming. NDCG@10 on the golden queries is 0.61; the nightly index takes "
        "38 minutes and is swapped by alias at 02:00 UTC.\n"
        "In work: the analyser of PR 2417 needs a full reindex before it can be compared. Boost for stock is capped at 1.4, "
        "because sold-out classics vanished above it. Pinned products are off until merchandising and we agree on a measure.\n"
        "Next: typos at distance one (7 % of queries): fuzziness AUTO costs 40 ms, so first measure on the golden queries.\n"
        "Do not: switch the circuit breaker off, whatever a forum says; change the golden queries without a second pair of eyes."
    ),
    PAYMENTS.project_key: (
        "Aim: the ledger is right, always, and the gateways agree with it by morning.\n"
        "Now: after a timeout of gateway B the state is asked before anything is retried; webhooks are stored first, worked on later.\n"
        "Next: the nightly reconciliation still finds a few differences with gateway A; see the slot on it.\n"
        "By Monday: no card number in any log."
    ),
    DOCS.project_key: (
        "Aim: whoever integrates us finds the answer in the handbook.\n"
        "Now: the error table is generated from the code; every example in a guide runs in CI.\n"
        "Next: 用語集 (the glossary): one word for one thing, then the translation goes on."
    ),
}
"""The base focus of each project."""

RECONCILIATION = (
    "Differences between our ledger and gateway A, found every night since build 5120.\n"
    "Known: 4 of 5 are refunds booked after midnight UTC; the fifth is a partial capture counted twice.\n"
    "Next: compare by booking date, not by arrival."
)
RECONCILIATION_THEN = (
    "Differences between our ledger and gateway A, found every night since build 5120.\n"
    "Known: refunds booked after midnight UTC are done (compared by booking date now). Left: a partial capture counted twice.\n"
    "Next: a second ledger entry for it, and a test with two captures of one authorisation."
)
GLOSSARY = (
    "One word for one thing: capture, settle and book are three words for one thing in the guides. Start with the refunds guide."
)
BASKET = "Two tabs, one basket: lock it by order, not by session; the second tab shows the running payment and waits."


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision that a session brought."""

    title: str
    context: str
    decision_made: str
    reasoning: str


DECIDED = (
    Decision(
        "Compare ledger and gateway by booking date",
        "Refunds after midnight UTC stood in the wrong night.",
        "The nightly comparison takes the booking date of both sides.",
        "The gateway's day ends at 00:00 of its own zone; arrival says nothing about it.",
    ),
    Decision(
        "A timeout is no answer",
        "Gateway B answers a timeout although it has booked.",
        "Ask for the state three times with the same reference, then retry.",
        "A second booking costs a customer's trust, a second question costs 200 ms.",
    ),
)


def begin(operator: Room) -> None:
    """Write every project's base focus, before the history begins."""
    for story in STORIES.values():
        operator.do(
            "brain_set_project_context",
            project_key=story.project_key,
            name=story.project_key,
            description=story.about,
            current_focus=FOCUS[story.project_key],
        )


def work(operator: Room, agents: Mapping[str, Room], let_pass: Callable[[float], object]) -> None:
    """The sessions of the history: one that ended on its slot, one that nobody is at work on any more, and slots that wait."""
    ticket = operator.do(
        "brain_ticket_create",
        project_key=PAYMENTS.project_key,
        title="Nightly differences with gateway A",
        target_release="2.14.0",
    )
    slot = _slot(
        operator,
        PAYMENTS.project_key,
        "Reconciliation with gateway A",
        RECONCILIATION,
        Anchor("ticket", ticket_id=ticket.id),
        Anchor("lot", target_release="2.14.0"),
    )
    ledger = agents["ledger-agent"]
    session = _start(ledger, PAYMENTS.project_key, "ledger-agent-morning", slot)
    let_pass(40)
    captured = [
        ledger.do(
            "brain_log_decision",
            project_key=PAYMENTS.project_key,
            title=one.title,
            context=one.context,
            decision_made=one.decision_made,
            reasoning=one.reasoning,
        ).id
        for one in DECIDED
    ]
    pair: dict[str, Any] = {"session_id": session, "expected_client_key": "ledger-agent-morning"}
    ledger.do("brain_session_capture", **pair, knowledge_ids=captured)
    ledger.do(
        "brain_session_checkpoint",
        **pair,
        seq=1,
        progress="Refunds are compared by booking date; four of five differences are gone.",
        next_step="The partial capture that is counted twice.",
    )
    let_pass(60)
    ledger.do(
        "brain_session_end",
        **pair,
        summary="Compared by booking date. Four of five nightly differences are explained and gone; the fifth is a partial capture.",
        next_focus=RECONCILIATION_THEN,
        expected_focus_revision=0,
    )
    _slot(operator, DOCS.project_key, "Glossary", GLOSSARY, Anchor("topic", topic="one word for one thing"))
    basket = _slot(operator, CHECKOUT.project_key, "Two tabs, one basket", BASKET, Anchor("topic", topic="basket lock"))
    # its agent has gone home without a word: the operator finds it open, and its slot held
    left_open = _start(agents["planning-agent"], CHECKOUT.project_key, "planning-agent-night", basket)
    agents["planning-agent"].do(
        "brain_session_checkpoint",
        session_id=left_open,
        expected_client_key="planning-agent-night",
        seq=1,
        progress="The lock is taken by order; one test with two tabs passes.",
        next_step="The second tab's waiting page.",
    )
    let_pass(20)


def _slot(operator: Room, project_key: str, title: str, body: str, *anchors: Anchor) -> str:
    opened: Any = operator.do("brain_slot_open", project_key=project_key, title=title, body=body, anchors=anchors)
    return str(opened.slot.id)


def _start(agent: Room, project_key: str, client_key: str, slot_id: str) -> str:
    session_id = str(agent.do("brain_session_start", project_key=project_key, client_key=client_key).session.id)
    agent.do("brain_session_bind", session_id=session_id, expected_client_key=client_key, slot_id=slot_id)
    return session_id
