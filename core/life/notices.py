"""Notices: what an operator or a peer leaves for the holder of a wrap or a baton (room.md 2.13).

A notice lies in the store; when it was delivered is kept in the beats file, so that delivering it is no write to the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from core.clock import stamp
from core.life.beats import Beats, BeatsReader
from core.store.deed import Deed, Reading

NoticeKind = Literal["cancelled", "release_asked", "baton_taken"]

ASK_AGAIN_SECONDS = 60.0
"""An ask for release comes again at most once a minute until the wrap ends (room.md 2.13)."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice as a connection gets it: `text` names who wrote it and labels their words."""

    id: int
    kind: NoticeKind
    project_key: str
    wrap_id: int | None
    text: str
    created_at: str


def leave(deed: Deed, kind: NoticeKind, connection_id: str, *, project_key: str, wrap_id: int | None, text: str) -> None:
    """Leave a notice for a connection; nobody gets one for its own deed."""
    if connection_id == deed.identity.connection_id:
        return
    deed.execute(
        "insert into notices (kind, connection_id, project_key, wrap_id, text, actor, created_at) values (?, ?, ?, ?, ?, ?, ?)",
        (kind, connection_id, project_key, wrap_id, text, deed.identity.actor.as_json(), stamp(deed.clock.now())),
    )


def due(reading: Reading, connection_id: str, beats: BeatsReader, now: datetime) -> list[Notice]:
    """The notices that a connection's next result must carry.

    A cancel's and a taken baton's once; an ask's again at most once a minute until its wrap ends.
    """
    rows = reading.all(
        "select n.id, n.kind, n.project_key, n.wrap_id, n.text, n.created_at, w.ended_at"
        " from notices n left join wraps w on w.id = n.wrap_id where n.connection_id = ? order by n.id",
        (connection_id,),
    )
    found = []
    for row in rows:
        delivered = beats.delivered_at(row["id"], connection_id)
        if row["kind"] == "release_asked":
            if row["ended_at"] is not None:
                continue
            if delivered is not None and (now - delivered).total_seconds() < ASK_AGAIN_SECONDS:
                continue
        elif delivered is not None:
            continue
        found.append(Notice(row["id"], row["kind"], row["project_key"], row["wrap_id"], row["text"], row["created_at"]))
    return found


def mark_delivered(notices: list[Notice], connection_id: str, beats: Beats) -> None:
    """Note that these notices have gone out with a result."""
    for notice in notices:
        beats.delivered(notice.id, connection_id)
