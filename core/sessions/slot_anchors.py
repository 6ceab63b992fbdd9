"""What a slot is anchored to, and when an anchor is satisfied (sessions.md a.3, a.3.2, b.11; room.md 2.17)."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence

from core.errors import Code, Refusal
from core.sessions.limits import ANCHOR_LIMIT, TOPIC_LIMIT
from core.sessions.models import Anchor
from core.store.deed import Deed, Reading
from core.texts import storable

RELEASE_SHAPE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+", re.ASCII)
FIELDS = {
    "ticket": ("ticket_id",),
    "lot": ("target_release",),
    "pr": ("repository_id", "pr_number"),
    "topic": ("topic",),
}
LARGEST = 2**63 - 1
ANCHORS_HINT = "topic:TEXT; ticket:UUID; lot:1.2.3; pr:REPOSITORY#NUMBER"


def checked(anchors: Sequence[Anchor]) -> tuple[Anchor, ...]:
    """The anchors as they are stored. Refuses `anchor_required` for none, `anchor_invalid` for too many, malformed or repeated ones."""
    if not anchors:
        raise Refusal("anchor_required", "A slot needs at least one anchor: a ticket, a lot, a pr or a topic.")
    if len(anchors) > ANCHOR_LIMIT:
        raise Refusal("anchor_invalid", f"{len(anchors)} anchors were sent; at most {ANCHOR_LIMIT} are taken.")
    found = tuple(_checked(anchor) for anchor in anchors)
    repeated = next((one for one in found if found.count(one) > 1), None)
    if repeated is not None:
        raise Refusal("anchor_invalid", f"The anchor {repeated.reference} was sent twice.")
    return found


def from_line(text: str) -> tuple[Anchor, ...]:
    """The anchors in a line such as `topic:basket lock; lot:1.2.3`. Refuses as `checked` does."""
    found = []
    for part in (piece.strip() for piece in text.split(";")):
        if not part:
            continue
        kind, _, value = (one.strip() for one in part.partition(":"))
        if kind == "ticket":
            found.append(Anchor("ticket", ticket_id=value))
        elif kind == "lot":
            found.append(Anchor("lot", target_release=value))
        elif kind == "topic":
            found.append(Anchor("topic", topic=value))
        elif kind == "pr":
            repository, _, number = value.partition("#")
            if not (repository.isascii() and repository.isdigit() and number.isascii() and number.isdigit()):
                raise Refusal("anchor_invalid", "A pr is pr:REPOSITORY#NUMBER, both in digits.")
            found.append(Anchor("pr", repository_id=int(repository), pr_number=int(number)))
        else:
            raise Refusal("anchor_invalid", f"An anchor is one of {ANCHORS_HINT}.")
    return checked(found)


def _checked(anchor: Anchor) -> Anchor:
    wanted = FIELDS.get(anchor.kind)
    if wanted is None:
        raise Refusal("anchor_invalid", f"{str(anchor.kind)[:40]!r} is no kind of anchor; use one of {', '.join(FIELDS)}.")
    given = tuple(
        name
        for name in ("ticket_id", "target_release", "repository_id", "pr_number", "topic")
        if getattr(anchor, name) is not None
    )
    if given != wanted:
        raise Refusal(
            "anchor_invalid",
            f"A {anchor.kind} anchor has exactly {' and '.join(wanted)}; {', '.join(given) if given else 'nothing'} was sent.",
        )
    if anchor.ticket_id is not None:
        try:
            return Anchor("ticket", ticket_id=str(uuid.UUID(anchor.ticket_id)))
        except ValueError:
            raise Refusal("anchor_invalid", "A ticket anchor's ticket_id is a UUID.") from None
    if anchor.target_release is not None:
        if not RELEASE_SHAPE.fullmatch(anchor.target_release):
            raise Refusal("anchor_invalid", "A lot anchor's target_release is X.Y.Z in digits, without a leading v.")
        return anchor
    if anchor.topic is not None:
        topic = storable(anchor.topic, "The topic").strip()
        if not 1 <= len(topic) <= TOPIC_LIMIT:
            raise Refusal("anchor_invalid", f"A topic has 1 to {TOPIC_LIMIT} characters.")
        return Anchor("topic", topic=topic)
    if not (1 <= (anchor.pr_number or 0) <= LARGEST and 1 <= (anchor.repository_id or 0) <= LARGEST):
        raise Refusal("anchor_invalid", "A pr anchor's repository_id and pr_number are whole numbers of at least 1.")
    return anchor


def refuse_foreign(deed: Deed, project_key: str, anchors: Sequence[Anchor]) -> None:
    """Check each anchor in order: first that it is this project's, then that nothing satisfies it already (sessions.md b.11, d.22).

    Refuses `anchor_ticket_foreign`, `anchor_lot_unplanned`, `anchor_unbound_pr`, `anchor_already_received`.
    """
    for anchor in anchors:
        if anchor.kind == "ticket":
            row = deed.one("select project_key, received_at from tickets where id = ?", (anchor.ticket_id,))
            if row is None or row["project_key"] != project_key:
                raise _refusal(
                    "anchor_ticket_foreign",
                    f"Ticket {anchor.ticket_id} is not addressed to project {project_key}, or does not exist.",
                    project_key,
                    anchor,
                )
        elif anchor.kind == "lot":
            if (
                deed.one(
                    "select 1 from tickets where project_key = ? and target_release = ?", (project_key, anchor.target_release)
                )
                is None
            ):
                raise _refusal(
                    "anchor_lot_unplanned",
                    f"No ticket of project {project_key} is planned for release {anchor.target_release}.",
                    project_key,
                    anchor,
                )
        elif anchor.kind == "pr":
            raise _refusal(
                "anchor_unbound_pr",
                f"{anchor.reference} has no active binding on a ticket of project {project_key}.",
                project_key,
                anchor,
            )
        if satisfied(deed.transaction, project_key, anchor) is not None:
            raise _refusal(
                "anchor_already_received",
                f"{anchor.reference} is received already: there is nothing left to do on it.",
                project_key,
                anchor,
            )


def satisfied(reading: Reading, project_key: str, anchor: Anchor) -> str | None:
    """The receipt that satisfies an anchor, or None: a ticket's own; for a lot, the last one once all its tickets are received."""
    if anchor.kind == "ticket":
        row = reading.one("select receipt_id from tickets where id = ? and project_key = ?", (anchor.ticket_id, project_key))
        return row["receipt_id"] if row else None
    if anchor.kind == "lot":
        row = reading.one(
            "select count(*) as planned, count(receipt_id) as received from tickets where project_key = ? and target_release = ?",
            (project_key, anchor.target_release),
        )
        if row["planned"] == 0 or row["received"] < row["planned"]:
            return None
        newest = reading.one(
            "select receipt_id from tickets where project_key = ? and target_release = ? order by received_at desc, id desc limit 1",
            (project_key, anchor.target_release),
        )
        return str(newest["receipt_id"])
    return None


def receipt_of(reading: Reading, project_key: str, anchors: Sequence[Anchor]) -> str | None:
    """The receipt that satisfies a slot, or None (sessions.md a.3.2): lots decide alone; otherwise every ticket and pr must be received.

    A slot that has a topic is closed by hand only (room.md 2.17).
    """
    if not anchors or any(anchor.kind == "topic" for anchor in anchors):
        return None
    lots = [anchor for anchor in anchors if anchor.kind == "lot"]
    found = [satisfied(reading, project_key, anchor) for anchor in (lots or anchors)]
    return None if None in found else found[-1]


def _refusal(code: Code, sentence: str, project_key: str, anchor: Anchor) -> Refusal:
    facts = {"anchor": anchor.reference, "project_key": project_key}
    return Refusal(code, f"{sentence} No slot was opened.", facts=facts, project_key=project_key)
