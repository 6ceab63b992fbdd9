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
    key, ids, generation = project.project_key, list(episode_ids), project.generation + 1
    values = {
        "project_key": key,
        "generation": generation,
        "wrap_token": wrap_token or deed.ids.token(),
        "token_origin": "caller" if wrap_token else "minted",
        "started_at": stamp(deed.clock.now()),
        "episode_ids": json.dumps(ids, separators=(",", ":")),
        "section_schema": continuity.frozen_schema(sections),
        "gated_session": gated_session,
        "wrap_date": wrap_date,
        "connection_id": deed.identity.connection_id,
    }
    deed.execute("update projects set generation = ? where project_key = ?", (generation, key))
    wrap_id = deed.execute(
        "insert into wraps (project_key, generation, wrap_token, token_origin, started_at, episode_ids, section_schema, gated_session,"
        " wrap_date, connection_id, seal, prepared_revision) values (:project_key, :generation, :wrap_token, :token_origin, :started_at,"
        " :episode_ids, :section_schema, :gated_session, :wrap_date, :connection_id, :seal, :prepared_revision)",
        {**values, "seal": wraps.seal_of(values), "prepared_revision": prepared_revision},
    ).lastrowid
    deed.append(
        "wrap_started",
        project_key=key,
        subject=f"wrap:{wrap_id}",
        data={
            "wrap_id": wrap_id,
            "generation": generation,
            "wrap_token_start": str(values["wrap_token"])[:8],
            "wrap_token_bound": wrap_token is not None,
            "wrap_gated_session": gated_session,
            "wrap_section_schema": json.loads(str(values["section_schema"])),
            "wrap_date": wrap_date,
            "wrap_episode_count": len(ids),
            "wrap_episode_ids": ids,
            **(told or {}),
        },
    )
    return Started(int(wrap_id), str(values["wrap_token"]), generation)
