"""The detail of one session: evidence, briefing, checkpoints, ledger, lineage, timeline (console.md, screen 3)."""

from __future__ import annotations

from console.panes.faces import clock_words
from console.panes.wrap_document import timeline_line
from console.widgets.document import NOTHING, DetailTab, Document, Line, Section
from console.widgets.evidence import evidence_lines
from core.ages import words_for_age
from core.views.sessions import Generation, KnowledgeLine, SessionDetail, SessionRow

READING = (Line("reading…", "muted"),)


def session_document(row: SessionRow | None, detail: SessionDetail | None) -> Document:
    """The document of a session; what is not loaded yet says so."""
    if row is None:
        return NOTHING
    return Document(
        f"session:{row.session_id}",
        (
            DetailTab("Session", _session(row)),
            DetailTab("Briefing", (Section("", READING if detail is None else (Line(detail.briefing),)),)),
            DetailTab("Checkpoints", (Section("Newest first", _checkpoints(detail)),)),
            DetailTab("Ledger", _ledger(row, detail)),
            DetailTab("Lineage", (Section("From the oldest on", _lineage(row, detail)),)),
            DetailTab("Timeline", (Section("Out of the trail", _timeline(detail)),)),
        ),
    )


def _session(row: SessionRow) -> tuple[Section, ...]:
    about = [
        Line(row.session_id, label="session"),
        Line(row.project_key, label="project"),
        Line(row.client_key, label="client key"),
        Line("trace that the server keeps of a connection" if row.is_trace else "working session", label="nature"),
        Line(clock_words(row.started_at), label="started"),
        Line(
            f"{clock_words(row.last_heartbeat_at)}{', stale' if row.is_stale else ''}",
            "warning" if row.is_stale else "",
            label="heartbeat",
        ),
        Line(clock_words(row.last_checkpoint_at) if row.last_checkpoint_at else "none", label="checkpoint"),
        Line(f"{row.slot_title} ({row.slot_id})" if row.slot_id else "none: it works on the base focus", label="slot"),
        Line(str(row.captured), label="captured"),
    ]
    if row.started_by_actor:
        about.append(Line(row.started_by_actor, label="started by"))
    if row.predecessor_id:
        about.append(Line(f"{row.predecessor_id}  (← goes there)", label="predecessor"))
    if row.successor_id:
        about.append(Line(f"{row.successor_id}  (→ goes there)", "accent", label="successor"))
    sections = [Section("The session", tuple(about))]
    if row.judgement is not None:
        sections.insert(
            0, Section("What is known of who is at work", evidence_lines(row.judgement.verdict, row.judgement.evidence))
        )
        sections.append(Section("Its connection", _holder(row)))
    else:
        sections.insert(0, Section("How it ended", _end(row)))
    return tuple(sections)


def _holder(row: SessionRow) -> tuple[Line, ...]:
    holder = row.holder
    if holder.connection_id is None:
        return (Line("no connection has named it yet: nobody is known to be at work", "muted"),)
    return (
        Line(holder.client_name or "unknown", label="client"),
        Line(holder.user or "unknown", label="user"),
        Line(f"pid {holder.pid} on {holder.host}" if holder.pid is not None else "unknown", label="process"),
        Line(clock_words(row.last_call_at) if row.last_call_at else "none recorded", label="last call"),
    )


def _end(row: SessionRow) -> tuple[Line, ...]:
    lines = [Line(f"{row.status.replace('_', ' ')} at {clock_words(row.ended_at)}", label="ended")]
    if row.abandonment_reason:
        lines.append(Line(row.abandonment_reason, label="reason"))
    if row.focus_outcome:
        conflict = row.focus_outcome == "conflict"
        words = "CONFLICT: its text is kept here alone" if conflict else f"applied, revision {row.focus_revision_at_end}"
        lines.append(Line(words, "warning" if conflict else "ok", label="focus"))
    if row.summary:
        lines.append(Line(row.summary, label="summary"))
    if row.next_focus:
        lines.append(Line(row.next_focus, label="next focus"))
    if row.nothing_to_capture_reason:
        lines.append(Line(row.nothing_to_capture_reason, label="no capture"))
    return tuple(lines)


def _checkpoints(detail: SessionDetail | None) -> tuple[Line, ...]:
    if detail is None:
        return READING
    if not detail.checkpoints:
        return (Line("none", "muted"),)
    lines: list[Line] = []
    for one in detail.checkpoints:
        lines.append(Line(f"{one.seq}  {clock_words(one.created_at)}", "muted"))
        lines.append(Line(one.progress, indent=2, label="done"))
        lines.append(Line(one.next_step, indent=2, label="next"))
        if one.blocker:
            lines.append(Line(one.blocker, "warning", indent=2, label="blocked"))
    return tuple(lines)


def _ledger(row: SessionRow, detail: SessionDetail | None) -> tuple[Section, ...]:
    if detail is None:
        return (Section("", READING),)
    owned = tuple(_knowledge(one) for one in detail.ledger) or (Line("nothing", "muted"),)
    sections = [Section(f"In its ledger: {len(detail.ledger)}", owned)]
    if row.is_open:
        free = tuple(_knowledge(one) for one in detail.uncaptured) or (Line("nothing", "muted"),)
        sections.append(Section(f"It could capture: {len(detail.uncaptured)}", free))
    return tuple(sections)


def _knowledge(one: KnowledgeLine) -> Line:
    how = f", {one.mode.replace('_', ' ')}" if one.mode and one.mode != "explicit" else ""
    return Line(f"{one.title}  {one.id[:8]}{how}", label=one.kind)


def _lineage(row: SessionRow, detail: SessionDetail | None) -> tuple[Line, ...]:
    if detail is None:
        return READING
    if len(detail.lineage) == 1:
        return (Line("it was not relayed, and follows nobody", "muted"),)
    lines = tuple(_generation(row, one) for one in detail.lineage)
    return (*lines, Line("← predecessor, → successor, - back", "muted"))


def _generation(row: SessionRow, one: Generation) -> Line:
    here = one.session_id == row.session_id
    ended = f" – {clock_words(one.ended_at)}" if one.ended_at else ""
    words = f"{one.session_id[:8]}  {one.status.replace('_', ' ')}  {clock_words(one.started_at)}{ended}  {one.client_key}"
    return Line(words, "accent" if here else "", "▸" if here else "·")


def _timeline(detail: SessionDetail | None) -> tuple[Line, ...]:
    if detail is None:
        return READING
    return tuple(timeline_line(row) for row in detail.timeline) or (Line("the trail knows nothing of it", "warning"),)


def stale_words(row: SessionRow) -> str:
    """How long ago the last heartbeat was, for a list."""
    return "unreadable" if row.heartbeat_age_seconds is None else words_for_age(row.heartbeat_age_seconds)
