"""Projects: a memory of its own in the store, with its gate (room.md 1, 2.1, 2.7 and 2.12)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.clock import stamp
from core.errors import Refusal
from core.models import Gate, PeerCancel
from core.store.deed import Deed, Reading
from core.texts import storable

KEY_SHAPE = re.compile(r"[a-z0-9]+(?:[-:][a-z0-9]+)*")
KEY_LIMIT = 50
ALIASES = {"brain": "brain-v42", "brain_v42": "brain-v42"}
DEFAULT_PROJECT = "default"


@dataclass(frozen=True, slots=True)
class Project:
    """A project's row, as far as wraps need it; a project that is not there yet reads as an empty one with an open gate."""

    project_key: str
    gate: Gate = "open"
    peer_cancel: PeerCancel = "any"
    generation: int = 0
    section_schema: str = "default"
    exists: bool = False


@dataclass(frozen=True, slots=True)
class GateReceipt:
    """What `set_gate` and `set_peer_cancel` answer."""

    project_key: str
    gate: Gate
    peer_cancel: PeerCancel
    changed: bool


def normal_key(key: str) -> str:
    """A project key as it is looked up: trimmed, aliases replaced (sessions.md a.1). A malformed key simply finds nothing.

    Refuses `invalid_input` for one that no store could hold (core.texts).
    """
    trimmed = storable(key, "The project key").strip()
    return ALIASES.get(trimmed, trimmed)


def key_for_writing(key: str) -> str:
    """The key for a project that a write may create. Refuses `invalid_input` with a suggestion when it is malformed."""
    normal = normal_key(key)
    if KEY_SHAPE.fullmatch(normal) and len(normal) <= KEY_LIMIT:
        return normal
    suggestion = re.sub(r"[^a-z0-9]+", "-", normal.lower()).strip("-")[:KEY_LIMIT].strip("-")
    hint = f" Did you mean {suggestion!r}?" if suggestion else ""
    raise Refusal(
        "invalid_input",
        f"The project key {normal[:60]!r} is malformed: lower-case letters and digits, joined by single - or :, "
        f"at most {KEY_LIMIT} characters.{hint}",
    )


def find(reading: Reading, key: str) -> Project:
    """The project with that key; one that does not exist reads as empty (room.md 2.1)."""
    row = reading.one("select gate, peer_cancel, generation, section_schema from projects where project_key = ?", (key,))
    if row is None:
        return Project(key)
    # any unknown value of the gate reads as required: it fails closed (wraps.md a8)
    gate: Gate = "open" if row["gate"] == "open" else "required"
    peer_cancel: PeerCancel = "any" if row["peer_cancel"] == "any" else "dead"
    return Project(key, gate, peer_cancel, row["generation"], row["section_schema"], True)


def ensure(deed: Deed, key: str) -> Project:
    """The project with that key, created with a `project_created` row in the trail when it is missing (room.md 2.1)."""
    key = key_for_writing(key)
    project = find(deed.transaction, key)
    if project.exists:
        return project
    now = stamp(deed.clock.now())
    deed.execute("insert into projects (project_key, name, created_at) values (?, ?, ?)", (key, key, now))
    deed.execute(
        "insert into focus_history (project_key, focus_revision, focus, source, created_at) values (?, 0, null, 'context_upsert', ?)",
        (key, now),
    )
    deed.append("project_created", project_key=key, subject=f"project:{key}", data={})
    return find(deed.transaction, key)


def set_gate(deed: Deed, *, project_key: str, gate: Gate) -> GateReceipt:
    """Say whether the project's wraps need the baton (wraps.md a8, room.md 2.12). Creates a missing project."""
    project = ensure(deed, project_key)
    changed = project.gate != gate
    if changed:
        deed.execute("update projects set gate = ? where project_key = ?", (gate, project.project_key))
        deed.append(
            "gate_set",
            project_key=project.project_key,
            subject=f"project:{project.project_key}",
            data={"gate": gate, "was": project.gate},
        )
    return GateReceipt(project.project_key, gate, project.peer_cancel, changed)


def set_peer_cancel(deed: Deed, *, project_key: str, peer_cancel: PeerCancel) -> GateReceipt:
    """Say whose wraps a tokenless cancel may end: any, or only dead ones (room.md 2.7). Creates a missing project."""
    project = ensure(deed, project_key)
    changed = project.peer_cancel != peer_cancel
    if changed:
        deed.execute("update projects set peer_cancel = ? where project_key = ?", (peer_cancel, project.project_key))
        data = {"peer_cancel": peer_cancel, "was": project.peer_cancel}
        deed.append("gate_set", project_key=project.project_key, subject=f"project:{project.project_key}", data=data)
    return GateReceipt(project.project_key, project.gate, peer_cancel, changed)


def counters(reading: Reading, key: str) -> dict[str, int]:
    """The project's counters by name: episodes, episodes:TYPE, waiting, tombstones, wraps:OUTCOME. Kept by triggers, never counted."""
    return {row["name"]: row["value"] for row in reading.all("select name, value from counters where project_key = ?", (key,))}
