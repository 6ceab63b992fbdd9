"""draft_continuity: the work in progress of an open wrap, kept so that what a killed agent had written survives (issue 4, 5)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from core import projects
from core.clock import stamp
from core.errors import Refusal
from core.memory import save
from core.memory.salvage import SIZE_LIMIT
from core.store.deed import Deed
from core.texts import digest, not_blank, token_shape

KEPT_A_WRAP = 5
"""How many drafts are kept of one wrap, the newest ones."""
TOLD_SECONDS = 60.0
"""Of one wrap's drafts at most one has a trail row in this time, so that an agent that drafts often does not flood the trail."""


@dataclass(frozen=True, slots=True)
class Drafted:
    """What `draft_continuity` answers. `drafts` counts those now kept of the wrap; `changed` is False when the newest is this very text."""

    project_key: str
    wrap_id: int
    draft_id: int
    characters: int
    sha256: str
    drafts: int
    changed: bool


def draft_continuity(deed: Deed, *, project_key: str, wrap_token: str, text: str) -> Drafted:
    """Keep the text as the newest draft of the open wrap, as it is: nothing in it is judged.

    The newest 5 of a wrap are kept, each of at most 1 MB, until the wrap is saved. Refuses the token as the save does (room.md
    2.5), which may keep the text as salvage, then `invalid_input` for a blank text or one over 1 MB.
    """
    token = token_shape(wrap_token)
    key = projects.normal_key(project_key)
    wrap = save.authorised_wrap(deed, key, token, text)
    encoded = not_blank(text, "The draft").encode()
    if len(encoded) > SIZE_LIMIT:
        raise Refusal(
            "invalid_input",
            f"The draft has {len(encoded):,} bytes; at most {SIZE_LIMIT:,} are kept. The drafts kept before are still there.",
            facts={"bytes": len(encoded), "limit": SIZE_LIMIT},
            project_key=key,
            subject=wrap.subject,
        )
    sha256 = hashlib.sha256(encoded).hexdigest()
    newest = deed.one("select id, sha256 from drafts where wrap_id = ? order by id desc limit 1", (wrap.id,))
    changed = newest is None or newest["sha256"] != sha256
    draft_id = _keep(deed, key, wrap.id, text, sha256) if changed else newest["id"]
    kept = deed.one("select count(*) from drafts where wrap_id = ?", (wrap.id,))[0]
    if changed and not _told_lately(deed, wrap.subject):
        data = {"wrap_id": wrap.id, "generation": wrap.generation, "draft_id": draft_id, "text": digest(text)}
        deed.append("continuity_drafted", project_key=key, subject=wrap.subject, data=data)
    return Drafted(key, wrap.id, int(draft_id), len(text), sha256, int(kept), changed)


def _keep(deed: Deed, key: str, wrap_id: int, text: str, sha256: str) -> int:
    draft_id = deed.execute(
        "insert into drafts (project_key, wrap_id, text, sha256, connection_id, created_at) values (?, ?, ?, ?, ?, ?)",
        (key, wrap_id, text, sha256, deed.identity.connection_id, stamp(deed.clock.now())),
    ).lastrowid
    deed.execute("delete from drafts where wrap_id = ? and sha256 = ? and id < ?", (wrap_id, sha256, draft_id))
    deed.execute(
        "delete from drafts where wrap_id = ? and id not in (select id from drafts where wrap_id = ? order by id desc limit ?)",
        (wrap_id, wrap_id, KEPT_A_WRAP),
    )
    return int(draft_id)


def _told_lately(deed: Deed, subject: str) -> bool:
    since = stamp(deed.clock.now() - timedelta(seconds=TOLD_SECONDS))
    # by the subject's index alone, the newest row first
    row = deed.one(
        "select at from audit where subject = ? and event = 'continuity_drafted' and outcome = 'done' order by seq desc limit 1",
        (subject,),
    )
    return row is not None and since < row["at"]
