"""The detail of one slot or base focus: its text, and every revision with what changed (console.md, screen 4)."""

from __future__ import annotations

from console.diff import diff_lines
from console.panes.faces import clock_words
from console.panes.wrap_document import timeline_line
from console.widgets.document import NOTHING, DetailTab, Document, Line, Section
from core.sessions.limits import FOCUS_LIMIT, SLOT_BODY_LIMIT
from core.views.slots import BaseFocus, SlotDetail, SlotRow

READING = (Line("reading…", "muted"),)


def slot_document(row: SlotRow | None, detail: SlotDetail | None, base: BaseFocus | None) -> Document:
    """The document of a slot, with the base focus of its project beside it."""
    if row is None:
        return NOTHING
    return Document(
        f"slot:{row.slot_id}",
        (
            DetailTab("Slot", _slot(row)),
            DetailTab("History", (Section("Newest first", READING),) if detail is None else _slot_history(detail)),
            DetailTab("Base focus", (Section("", READING),) if base is None else _base(base)),
            DetailTab("Base history", (Section("", READING),) if base is None else _base_history(base)),
            DetailTab("Timeline", (Section("Out of the trail", _timeline(detail)),)),
        ),
    )


def base_document(project_key: str, base: BaseFocus | None) -> Document:
    """The document of a project's base focus."""
    loading = (Section("", READING),)
    return Document(
        f"base:{project_key}",
        (
            DetailTab("Base focus", loading if base is None else _base(base)),
            DetailTab("Base history", loading if base is None else _base_history(base)),
        ),
    )


def _slot(row: SlotRow) -> tuple[Section, ...]:
    if not row.is_open:
        state = Line(f"closed at {clock_words(row.closed_at)}, {row.close_reason}", "muted", label="state")
    elif row.holder_session_id:
        state = Line(f"held by session {row.holder_session_id} ({row.holder_client_key or '?'})", label="state")
    else:
        state = Line("orphan: no session is open on it", "warning", label="state")
    about = [
        Line(row.slot_id, label="slot"),
        Line(row.project_key, label="project"),
        Line(row.title, label="title"),
        Line(str(row.revision), label="revision"),
        state,
        Line(", ".join(row.anchors), label="anchors"),
        Line(clock_words(row.opened_at), label="opened"),
        Line(clock_words(row.body_updated_at), label="text of"),
    ]
    if row.is_stale:
        about.append(Line("nobody has touched it for 7 days", "warning", label="stale"))
    if row.receipt_pending:
        about.append(Line("all it is anchored to is received: it can be closed", "accent", label="received"))
    if row.close_note:
        about.append(Line(row.close_note, label="note"))
    return (
        Section(f"Text, {len(row.body):,} of {SLOT_BODY_LIMIT:,} characters", (Line(row.body),)),
        Section("The slot", tuple(about)),
    )


def _slot_history(detail: SlotDetail) -> tuple[Section, ...]:
    sections = []
    for position, one in enumerate(detail.history):
        below = detail.history[position + 1] if position + 1 < len(detail.history) else None
        who = f", session {one.session_id[:8]}" if one.session_id else ""
        by = f", by {one.actor}" if one.actor else ""
        title = f"Revision {one.revision}  {clock_words(one.created_at)}  {one.source}{who}{by}  {len(one.body):,} characters"
        sections.append(Section(title, diff_lines(below.body if below else None, one.body)))
    return tuple(sections)


def _base(base: BaseFocus) -> tuple[Section, ...]:
    used = len(base.current_focus or "")
    left = FOCUS_LIMIT - used
    text = Line(base.current_focus) if base.current_focus else Line("no focus is set", "muted")
    role = "danger" if left <= 0 else "warning" if left < FOCUS_LIMIT // 10 else ""
    about = (
        Line(base.project_key, label="project"),
        Line(str(base.focus_revision), label="revision"),
        Line(clock_words(base.focus_updated_at) if base.focus_updated_at else "never", label="text of"),
        Line(f"{used:,} of {FOCUS_LIMIT:,} characters, {left:,} left", role, label="used"),
    )
    return (Section("Base focus", (text,)), Section("About it", about))


def _base_history(base: BaseFocus) -> tuple[Section, ...]:
    sections = []
    for position, one in enumerate(base.history):
        below = base.history[position + 1] if position + 1 < len(base.history) else None
        by = f", by {one.actor}" if one.actor else ""
        title = (
            f"Revision {one.focus_revision}  {clock_words(one.created_at)}  {one.source}{by}  {len(one.focus or ''):,} characters"
        )
        if below is None and one.focus is None:
            sections.append(Section(title, (Line("no focus was set", "muted"),)))
        else:
            sections.append(Section(title, diff_lines(below.focus if below else None, one.focus)))
    return tuple(sections) or (Section("", (Line("no history", "muted"),)),)


def _timeline(detail: SlotDetail | None) -> tuple[Line, ...]:
    if detail is None:
        return READING
    return tuple(timeline_line(row) for row in detail.timeline) or (Line("the trail knows nothing of it", "warning"),)
