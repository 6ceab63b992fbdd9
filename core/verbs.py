"""The one table of verbs: server, command line and console all do what they do through it (room.md 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core import projects
from core.exchange import copying, importing
from core.knowledge import adrs, change, entries, reading, search
from core.memory import (
    adopt,
    baton,
    cancel,
    crystal,
    drafts,
    episodes,
    kept_texts,
    loops,
    prepare,
    recall,
    restore,
    save,
    section_schemas,
    status,
)
from core.sessions import (
    bind,
    capture,
    checkpoint,
    end,
    finishing,
    focus,
    lifecycle,
    listing,
    projects_read,
    relay,
    slots,
    sweep,
    tickets,
)
from core.store.database import View
from core.trail import anchors

Role = Literal["agent", "operator"]
EVERYBODY: frozenset[Role] = frozenset({"agent", "operator"})
OPERATOR: frozenset[Role] = frozenset({"operator"})
NOW = frozenset({"now"})


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the domain: its function and what every surface must know of it.

    `guarded`: its refusals go to the trail; `destructive`: it ends or replaces something; `idempotent`: a repetition
    changes nothing more; `reads`: it changes nothing at all and gets a snapshot instead of a deed; `roles`: who may.
    `asks`: what a reading verb wants of the process beside the snapshot: identity, witness, clock, now. `absorbs`: checks the
    arguments, and gives the session and key for the absorption that goes before; `absorbs_after`: there is one into
    the session that it opened (sessions.md b.0.3). `finish`: adds, on a
    snapshot after the commit, what must never hold the writer or cost the deed.
    """

    name: str
    function: Callable[..., Any]
    guarded: bool = False
    destructive: bool = False
    idempotent: bool = False
    reads: bool = False
    roles: frozenset[Role] = EVERYBODY
    asks: frozenset[str] = frozenset()
    absorbs: Callable[..., tuple[str, str]] | None = None
    absorbs_after: bool = False
    finish: Callable[[View, Any, datetime], Any] | None = None


VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb("record", episodes.record),
        Verb("recall", recall.recall, reads=True, idempotent=True),
        Verb("delete_episode", episodes.delete_episode, guarded=True, destructive=True),
        Verb("prepare_wrap", prepare.prepare_wrap, guarded=True),
        Verb("save_continuity", save.save_continuity, guarded=True, destructive=True),
        Verb("draft_continuity", drafts.draft_continuity, guarded=True, idempotent=True),
        Verb("wrap_cancel", cancel.wrap_cancel, guarded=True, destructive=True),
        Verb("crystal_index", crystal.crystal_index, reads=True, idempotent=True),
        Verb("crystal_recall", crystal.crystal_recall, reads=True, idempotent=True),
        Verb("spore_add", loops.spore_add),
        Verb("spore_get", loops.spore_get, reads=True, idempotent=True, asks=frozenset({"clock"})),
        Verb("spore_list", loops.spore_list, reads=True, idempotent=True, asks=frozenset({"clock"})),
        Verb("spore_surface", loops.spore_surface, reads=True, idempotent=True, asks=frozenset({"clock"})),
        Verb("spore_touch", loops.spore_touch, idempotent=True),
        Verb("spore_update", loops.spore_update),
        Verb("spore_descend", loops.spore_descend, destructive=True),
        Verb("spore_ascend", loops.spore_ascend, destructive=True),
        Verb("status", status.status, reads=True, idempotent=True, asks=frozenset({"identity", "witness", "clock"})),
        Verb("force_cancel", cancel.force_cancel, guarded=True, destructive=True, roles=OPERATOR),
        Verb("ask_release", cancel.ask_release, guarded=True, roles=OPERATOR),
        Verb("deal_with", kept_texts.deal_with, guarded=True, idempotent=True, roles=OPERATOR),
        Verb("adopt_continuity", adopt.adopt_continuity, guarded=True, destructive=True, roles=OPERATOR),
        Verb("set_section_schema", section_schemas.set_section_schema, guarded=True, idempotent=True, roles=OPERATOR),
        Verb("restore_continuity", restore.restore_continuity, guarded=True, destructive=True, roles=OPERATOR),
        Verb("gate", projects.set_gate, guarded=True, idempotent=True, roles=OPERATOR),
        Verb("peer_cancel", projects.set_peer_cancel, guarded=True, idempotent=True, roles=OPERATOR),
        Verb("baton_claim", baton.claim, guarded=True, idempotent=True, roles=OPERATOR),
        Verb("baton_release", baton.release, guarded=True, idempotent=True, roles=OPERATOR),
        Verb("import_anneal", importing.import_anneal, idempotent=True, roles=OPERATOR),
        Verb("copy_project", copying.copy_project, roles=OPERATOR),
        Verb("accept_anchors", anchors.accept_anchors, guarded=True, roles=OPERATOR),
        # projects and their base focus
        Verb("brain_set_project_context", focus.set_context, destructive=True),
        Verb("brain_update_project_focus", focus.update_focus, guarded=True, destructive=True),
        Verb("brain_focus_history", projects_read.focus_history, reads=True, idempotent=True),
        Verb("brain_project_get", projects_read.get_project, reads=True, idempotent=True),
        Verb("brain_list_projects", projects_read.list_projects, reads=True, idempotent=True),
        Verb("brain_list_project_groups", projects_read.list_groups, reads=True, idempotent=True),
        Verb("brain_project_archive", focus.archive, idempotent=True),
        Verb("brain_project_unarchive", focus.unarchive, idempotent=True),
        # slots and tickets
        Verb("brain_slot_open", slots.open_slot, guarded=True, idempotent=True),
        Verb("brain_slot_list", slots.list_slots, reads=True, idempotent=True, asks=NOW),
        Verb("brain_slot_get", slots.get_slot, reads=True, idempotent=True, asks=NOW),
        Verb("brain_slot_close", slots.close_slot, guarded=True, destructive=True),
        Verb("brain_ticket_create", tickets.create),
        Verb("brain_ticket_list", tickets.list_tickets, reads=True, idempotent=True),
        Verb("brain_ticket_receive", tickets.receive, idempotent=True),
        # sessions
        Verb("brain_session_start", lifecycle.start, idempotent=True, absorbs_after=True, finish=finishing.started),
        Verb("brain_session_resume", lifecycle.resume, idempotent=True, absorbs=finishing.pair, finish=finishing.resumed),
        Verb("brain_session_list", listing.list_sessions, reads=True, idempotent=True, asks=NOW),
        Verb("brain_session_get", listing.get_session, reads=True, idempotent=True, asks=NOW),
        Verb("brain_session_heartbeat", lifecycle.heartbeat, absorbs=finishing.pair),
        Verb("brain_session_checkpoint", checkpoint.checkpoint, idempotent=True),
        Verb("brain_session_capture", capture.capture, idempotent=True, absorbs=finishing.of_capture),
        Verb("brain_session_bind", bind.bind, guarded=True, idempotent=True),
        Verb("brain_session_end", end.end, guarded=True, destructive=True, idempotent=True, absorbs=finishing.of_end),
        Verb(
            "brain_session_relay",
            relay.relay,
            guarded=True,
            destructive=True,
            idempotent=True,
            absorbs=finishing.of_relay,
            absorbs_after=True,
            finish=finishing.relayed,
        ),
        Verb("brain_session_abandon", lifecycle.abandon, guarded=True, destructive=True, idempotent=True),
        # knowledge
        Verb("brain_log_decision", entries.log_decision),
        Verb("brain_supersede_decision", entries.supersede_decision, destructive=True),
        Verb("brain_learn", entries.learn),
        Verb("brain_save_snippet", entries.save_snippet),
        Verb("brain_create_runbook", entries.create_runbook),
        Verb("brain_propose_adr", entries.propose_adr),
        Verb("brain_accept_adr", adrs.accept_adr, destructive=True, idempotent=True),
        Verb("brain_deprecate_adr", adrs.deprecate_adr, destructive=True, idempotent=True),
        Verb("brain_supersede_adr", entries.supersede_adr, destructive=True),
        Verb("brain_get_supersession_chain", reading.chain, reads=True, idempotent=True),
        Verb("brain_get", reading.get_entry, reads=True, idempotent=True),
        Verb("brain_list", reading.list_entries, reads=True, idempotent=True),
        Verb("brain_update", change.update, destructive=True, idempotent=True),
        Verb("brain_archive", change.archive, idempotent=True),
        Verb("brain_unarchive", change.unarchive, idempotent=True),
        Verb("brain_delete", change.delete, destructive=True, idempotent=True),
        Verb("brain_search", search.search, reads=True, idempotent=True),
        Verb("sweep", sweep.sweep, destructive=True, idempotent=True, roles=OPERATOR),
    )
}
