"""The one table of verbs: server, command line and console all do what they do through it (room.md 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from core import projects
from core.memory import baton, cancel, episodes, prepare, recall, save, status
from core.trail import anchors

Role = Literal["agent", "operator"]
EVERYBODY: frozenset[Role] = frozenset({"agent", "operator"})
OPERATOR: frozenset[Role] = frozenset({"operator"})


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the domain: its function and what every surface must know of it.

    `guarded`: its refusals go to the trail; `destructive`: it ends or replaces something; `idempotent`: a repetition
    changes nothing more; `reads`: it changes nothing at all and gets a snapshot instead of a deed; `roles`: who may.
    """

    name: str
    function: Callable[..., Any]
    guarded: bool = False
    destructive: bool = False
    idempotent: bool = False
    reads: bool = False
    roles: frozenset[Role] = EVERYBODY


VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb("record", episodes.record),
        Verb("recall", recall.recall, reads=True, idempotent=True),
        Verb("delete_episode", episodes.delete_episode, guarded=True, destructive=True),
        Verb("prepare_wrap", prepare.prepare_wrap, guarded=True),
        Verb("save_continuity", save.save_continuity, guarded=True, destructive=True),
        Verb("wrap_cancel", cancel.wrap_cancel, guarded=True, destructive=True),
        Verb("status", status.status, reads=True, idempotent=True),
        Verb("force_cancel", cancel.force_cancel, guarded=True, destructive=True, roles=OPERATOR),
        Verb("ask_release", cancel.ask_release, guarded=True, roles=OPERATOR),
        Verb("gate", projects.set_gate, guarded=True, idempotent=True, roles=OPERATOR),
        Verb("peer_cancel", projects.set_peer_cancel, guarded=True, idempotent=True, roles=OPERATOR),
        Verb("baton_claim", baton.claim, guarded=True, idempotent=True, roles=OPERATOR),
        Verb("baton_release", baton.release, guarded=True, idempotent=True, roles=OPERATOR),
        Verb("accept_anchors", anchors.accept_anchors, guarded=True, roles=OPERATOR),
    )
}
