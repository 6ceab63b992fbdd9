"""Accepting and deprecating architecture decision records (issue 3). How one is proposed and superseded: entries."""

from __future__ import annotations

import json
from dataclasses import replace

from core.clock import stamp
from core.errors import Refusal
from core.knowledge.change import Changed, found, record
from core.knowledge.models import Status
from core.sessions.limits import REASON_LIMIT, optional, unique_id
from core.store.deed import Deed
from core.texts import digest


def accept_adr(deed: Deed, *, adr_id: str) -> Changed:
    """Accept a proposed ADR; accepting it again changes nothing.

    Refuses `invalid_input`, `knowledge_not_found`, and `knowledge_conflict` for one that is deprecated or superseded.
    """
    return _set_status(deed, "brain_accept_adr", unique_id(adr_id, "adr_id"), "accepted", ("proposed",), None)


def deprecate_adr(deed: Deed, *, adr_id: str, reason: str | None = None) -> Changed:
    """Say that an ADR no longer holds, with a reason of at most 2,000 characters; a second time changes nothing.

    Refuses `invalid_input`, `knowledge_not_found`, and `knowledge_conflict` for one that is superseded.
    """
    wanted, why = unique_id(adr_id, "adr_id"), optional(reason, "The reason", REASON_LIMIT)
    return _set_status(deed, "brain_deprecate_adr", wanted, "deprecated", ("proposed", "accepted"), why)


def _set_status(deed: Deed, event: str, adr_id: str, status: Status, before: tuple[Status, ...], reason: str | None) -> Changed:
    entry = found(deed, "adr", adr_id)
    if entry.status == status:
        return Changed(entry, False)
    if entry.status not in before:
        raise Refusal(
            "knowledge_conflict",
            f"ADR {entry.number} of project {entry.project_key} is {entry.status}, so it cannot become {status}.",
            facts={"id": entry.id, "status": entry.status, "superseded_by": entry.superseded_by},
            project_key=entry.project_key,
            subject=f"knowledge:{entry.id}",
        )
    now = stamp(deed.clock.now())
    details = {**entry.details, "decided_at" if status == "accepted" else "deprecated_at": now}
    if reason is not None:
        details["deprecation_reason"] = reason
    deed.execute(
        "update knowledge set status = ?, details = ?, updated_at = ? where id = ?",
        (status, json.dumps(details, ensure_ascii=False), now, entry.id),
    )
    record(deed, event, entry, {"status": status, "was": entry.status, "reason": digest(reason)})
    return Changed(replace(entry, status=status, details=details, updated_at=now), True)
