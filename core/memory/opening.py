"""Writing down that a wrap is open: its row, the project's next generation and the `wrap_started` row (wraps.md a3; room.md 2.5)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.clock import stamp
from core.memory import continuity, wraps
from core.memory.continuity import Section
from core.projects import Project
from core.store.deed import Deed


@dataclass(frozen=True, slots=True)
class Started:
    """A wrap that was just opened."""

    wrap_id: int
    wrap_token: str
    generation: int


def start(
    deed: Deed,
    project: Project,
    *,
    episode_ids: Sequence[str],
    sections: tuple[Section, ...],
    wrap_date: str,
    prepared_revision: int,
    wrap_token: str | None = None,
    gated_session: str | None = None,
    told: Mapping[str, Any] | None = None,
) -> Started:
    """Open the project's wrap over exactly those episodes; the caller has checked that none is open.

    `wrap_token` is the preparer's own, else one is made. `prepared_revision` is the continuity's revision that the wrap
    starts from, 0 before the first; `told` is what else the trail row says.
    """
    values = {
        "project_key": project.project_key,
        "generation": project.generation + 1,
        "wrap_token": wrap_token or deed.ids.token(),
        "token_origin": "caller" if wrap_token else "minted",
        "started_at": stamp(deed.clock.now()),
        "episode_ids": json.dumps(list(episode_ids), separators=(",", ":")),
        "section_schema": continuity.frozen_schema(sections),
        "gated_session": gated_session,
        "wrap_date": wrap_date,
        "connection_id": deed.identity.connection_id,
    }
    seal = wraps.seal_of(values)
    wrap_id = enter(deed, values, seal=seal, prepared_revision=prepared_revision, episode_ids=episode_ids, told=told or {})
    return Started(wrap_id, str(values["wrap_token"]), project.generation + 1)


def enter(
    deed: Deed,
    values: Mapping[str, Any],
    *,
    seal: str | None,
    prepared_revision: int,
    episode_ids: Sequence[str],
    told: Mapping[str, Any],
) -> int:
    """Write an open wrap's row, with what a seal covers as `values`, the project's generation and the trail row; gives its id.

    Without its seal the wrap is partial from the start (room.md 2.9), as an import may find one.
    """
    key, ids = values["project_key"], list(episode_ids)
    deed.execute("update projects set generation = ? where project_key = ?", (values["generation"], key))
    wrap_id = deed.execute(
        "insert into wraps (project_key, generation, wrap_token, token_origin, started_at, episode_ids, section_schema, gated_session,"
        " wrap_date, connection_id, seal, prepared_revision) values (:project_key, :generation, :wrap_token, :token_origin, :started_at,"
        " :episode_ids, :section_schema, :gated_session, :wrap_date, :connection_id, :seal, :prepared_revision)",
        {**values, "seal": seal, "prepared_revision": prepared_revision},
    ).lastrowid
    deed.append(
        "wrap_started",
        project_key=key,
        subject=f"wrap:{wrap_id}",
        data={
            "wrap_id": wrap_id,
            "generation": values["generation"],
            "wrap_token_start": str(values["wrap_token"] or "")[:8],
            "wrap_token_bound": values["token_origin"] == "caller",
            "wrap_gated_session": values["gated_session"],
            "wrap_section_schema": json.loads(values["section_schema"]),
            "wrap_date": values["wrap_date"],
            "wrap_episode_count": len(ids),
            "wrap_episode_ids": ids,
            **told,
        },
    )
    return int(wrap_id)
