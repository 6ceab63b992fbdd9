"""Making knowledge: decisions, learnings, snippets, runbooks and ADRs (issue 3; room.md 2.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.clock import stamp
from core.errors import Refusal
from core.knowledge.fields import Draft, draft
from core.knowledge.models import Confidence, Created, Kind, SourceType, Status
from core.knowledge.wording import pieces_of
from core.sessions import base, traces
from core.sessions.limits import unique_id
from core.store.deed import Deed
from core.texts import digest

Relations = Sequence[Mapping[str, str]]


def log_decision(
    deed: Deed,
    *,
    title: str,
    context: str,
    decision_made: str,
    reasoning: str,
    alternatives: Sequence[str] | None = None,
    consequences: str | None = None,
    tags: Sequence[str] | None = None,
    related_to: Relations | None = None,
    project_key: str,
) -> Created:
    """Keep a decision: what was chosen, in which situation, and why. Refuses `invalid_input`, `project_not_found`."""
    values = {
        "context": context,
        "decision_made": decision_made,
        "reasoning": reasoning,
        "alternatives": alternatives,
        "consequences": consequences,
    }
    return _create(deed, "brain_log_decision", draft("decision", title, values, tags, related_to), project_key)


def supersede_decision(
    deed: Deed,
    *,
    old_decision_id: str,
    title: str,
    context: str,
    decision_made: str,
    reasoning: str,
    alternatives: Sequence[str] | None = None,
    consequences: str | None = None,
    tags: Sequence[str] | None = None,
    project_key: str | None = None,
) -> Created:
    """Replace a decision by a new one of the same project; the old one stays, and names what replaced it.

    Refuses `invalid_input`, `knowledge_not_found`, and `knowledge_conflict` for one that is superseded already.
    """
    values = {
        "context": context,
        "decision_made": decision_made,
        "reasoning": reasoning,
        "alternatives": alternatives,
        "consequences": consequences,
    }
    return _supersede(deed, "brain_supersede_decision", old_decision_id, draft("decision", title, values, tags), project_key)


def learn(
    deed: Deed,
    *,
    topic: str,
    insight: str,
    source: str | None = None,
    source_type: SourceType = "experience",
    confidence: Confidence = "medium",
    tags: Sequence[str] | None = None,
    related_to: Relations | None = None,
    project_key: str,
) -> Created:
    """Keep an insight under its topic. Refuses `invalid_input`, `project_not_found`."""
    values = {"insight": insight, "source": source, "source_type": source_type, "confidence": confidence}
    return _create(deed, "brain_learn", draft("learning", topic, values, tags, related_to), project_key)


def save_snippet(
    deed: Deed,
    *,
    title: str,
    intention: str,
    code: str,
    language: str,
    dependencies: Sequence[str] | None = None,
    usage_example: str | None = None,
    gotchas: str | None = None,
    tags: Sequence[str] | None = None,
    related_to: Relations | None = None,
    project_key: str,
) -> Created:
    """Keep code that can be used again, by its intention. Refuses `invalid_input`, `project_not_found`."""
    values = {
        "intention": intention,
        "code": code,
        "language": language,
        "dependencies": dependencies,
        "usage_example": usage_example,
        "gotchas": gotchas,
    }
    return _create(deed, "brain_save_snippet", draft("snippet", title, values, tags, related_to), project_key)


def create_runbook(
    deed: Deed,
    *,
    title: str,
    description: str,
    trigger: str,
    steps: Sequence[Mapping[str, Any]],
    prerequisites: Sequence[str] | None = None,
    rollback_steps: Sequence[Mapping[str, Any]] | None = None,
    estimated_duration: str | None = None,
    tags: Sequence[str] | None = None,
    project_key: str,
) -> Created:
    """Keep a procedure step by step; steps without an order get their place in the list.

    Refuses `invalid_input`, also without a step, and `project_not_found`.
    """
    values = {
        "description": description,
        "trigger": trigger,
        "steps": steps,
        "prerequisites": prerequisites,
        "rollback_steps": rollback_steps,
        "estimated_duration": estimated_duration,
    }
    return _create(deed, "brain_create_runbook", draft("runbook", title, values, tags), project_key)


def propose_adr(
    deed: Deed,
    *,
    title: str,
    context: str,
    decision: str,
    consequences: str,
    alternatives_considered: Sequence[Mapping[str, Any]] | None = None,
    tags: Sequence[str] | None = None,
    project_key: str,
) -> Created:
    """Propose an architecture decision record; it gets the project's next number. Refuses `invalid_input`, `project_not_found`."""
    values = {
        "context": context,
        "decision": decision,
        "consequences": consequences,
        "alternatives_considered": alternatives_considered,
    }
    return _create(deed, "brain_propose_adr", draft("adr", title, values, tags), project_key)


def supersede_adr(
    deed: Deed,
    *,
    old_adr_id: str,
    title: str,
    context: str,
    decision: str,
    consequences: str,
    alternatives_considered: Sequence[Mapping[str, Any]] | None = None,
    tags: Sequence[str] | None = None,
    project_key: str | None = None,
) -> Created:
    """Replace an ADR by a new, accepted one. Refuses `invalid_input`, `knowledge_not_found`, `knowledge_conflict`."""
    values = {
        "context": context,
        "decision": decision,
        "consequences": consequences,
        "alternatives_considered": alternatives_considered,
    }
    return _supersede(deed, "brain_supersede_adr", old_adr_id, draft("adr", title, values, tags), project_key)


def _create(deed: Deed, event: str, new: Draft, project_key: str) -> Created:
    key = base.key_of_existing(deed.transaction, project_key)
    return _store(deed, event, new, key, "proposed" if new.kind == "adr" else "active", None)


def _supersede(deed: Deed, event: str, old_id: str, new: Draft, project_key: str | None) -> Created:
    kind = new.kind
    wanted = unique_id(old_id, f"old_{kind}_id")
    old = deed.one("select project_key, superseded_by from knowledge where id = ? and kind = ?", (wanted, kind))
    if old is None:
        raise not_found(kind, wanted)
    if project_key is not None and base.key_of_existing(deed.transaction, project_key) != old["project_key"]:
        raise Refusal("invalid_input", f"The {kind} {wanted} is of project {old['project_key']}; what replaces it is as well.")
    if old["superseded_by"] is not None:
        raise Refusal(
            "knowledge_conflict",
            f"The {kind} {wanted} is superseded already, by {old['superseded_by']}: supersede that one.",
            facts={"id": wanted, "superseded_by": old["superseded_by"]},
            project_key=old["project_key"],
            subject=f"knowledge:{wanted}",
        )
    made = _store(deed, event, new, old["project_key"], "accepted" if kind == "adr" else "active", wanted)
    deed.execute(
        "update knowledge set status = 'superseded', superseded_by = ?, updated_at = ? where id = ?",
        (made.id, made.created_at, wanted),
    )
    return made


def _store(deed: Deed, event: str, new: Draft, key: str, status: Status, supersedes: str | None) -> Created:
    """Store one entry with its trail row."""
    now, knowledge_id = stamp(deed.clock.now()), deed.ids.unique()
    number = _next_number(deed, key) if new.kind == "adr" else None
    labels = json.dumps(new.tags, ensure_ascii=False)
    deed.execute(
        "insert into knowledge (id, project_key, kind, number, title, body, pieces, details, tags, status, created_at, updated_at,"
        " connection_id) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            knowledge_id,
            key,
            new.kind,
            number,
            new.title,
            new.body,
            pieces_of(new.title, new.body),
            json.dumps(new.details, ensure_ascii=False),
            labels,
            status,
            now,
            now,
            deed.identity.connection_id,
        ),
    )
    deed.append(
        event,
        project_key=key,
        subject=f"knowledge:{knowledge_id}",
        data={
            "kind": new.kind,
            "title": digest(new.title),
            "body": digest(new.body),
            "tags": digest(labels),
            "supersedes": supersedes,
        },
    )
    _deposit(deed, knowledge_id, new.kind, key)
    return Created(knowledge_id, new.kind, key, new.title, status, number, now, supersedes)


def _deposit(deed: Deed, knowledge_id: str, kind: Kind, key: str) -> None:
    """Put it into the ledger of its connection's trace, if that has one (sessions.md b.18)."""
    traces.deposit(deed, knowledge_id, kind, key)


def _next_number(deed: Deed, key: str) -> int:
    row = deed.one("select max(number) from knowledge where project_key = ? and kind = 'adr'", (key,))
    return (row[0] or 0) + 1


def not_found(kind: str, knowledge_id: str) -> Refusal:
    """`knowledge_not_found`."""
    return Refusal(
        "knowledge_not_found",
        f"There is no {kind} {knowledge_id} in this store; brain_search and brain_list show what there is.",
        facts={"id": knowledge_id, "entity_type": kind},
        subject=f"knowledge:{knowledge_id}",
    )
