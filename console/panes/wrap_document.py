"""The detail of one wrap: evidence, timeline, frozen episodes, salvage, as a document of foreign text made safe (console.md, screen 2)."""

from __future__ import annotations

from console.panes.faces import clock_words
from console.widgets.document import NOTHING, DetailTab, Document, Line, Section
from console.widgets.evidence import evidence_lines
from core.actors import Actor
from core.ages import words_for_age
from core.views.trail import TrailRow
from core.views.wraps import WrapDetail, WrapRow


def wrap_document(row: WrapRow | None, detail: WrapDetail | None) -> Document:
    """The document of a wrap; what is not loaded yet says so."""
    if row is None:
        return NOTHING
    return Document(
        f"wrap:{row.wrap_id}",
        (
            DetailTab("Evidence", _evidence(row)),
            DetailTab("Timeline", (Section("Out of the trail", _timeline(detail)),)),
            DetailTab("Episodes", (Section(_episodes_title(row, detail), _episodes(detail)),)),
            DetailTab("Salvage", (Section("Late texts, kept", _salvage(detail)),)),
        ),
    )


def _evidence(row: WrapRow) -> tuple[Section, ...]:
    holder = row.holder
    about = [
        Line(f"{row.wrap_id}, generation {row.generation if row.generation is not None else '–'}", label="wrap"),
        Line(row.project_key or "none: the row names no project", "" if row.project_key else "warning", label="project"),
        Line(f"{row.token_start}…" if row.token_start else "–", label="token starts"),
        Line(clock_words(row.started_at), label="opened"),
    ]
    if row.ended_at:
        about.append(Line(f"{row.state} at {clock_words(row.ended_at)}", label="ended"))
        if row.ended_by:
            by = Actor.from_json(row.ended_by)
            about.append(Line(f"{by.kind} {by.name} ({by.via})", label="ended by"))
        if row.ended_reason:
            about.append(Line(row.ended_reason, label="reason"))
    elif row.age_seconds is not None:
        about.append(Line(words_for_age(row.age_seconds), label="open for"))
    about.append(Line("–" if row.episodes is None else str(row.episodes), label="episodes"))
    if row.refused_prepares:
        agents = f"{row.blocks} agent{'s' if row.blocks != 1 else ''}"
        prepares = f"{row.refused_prepares} prepare{'s' if row.refused_prepares != 1 else ''}"
        about.append(Line(f"{agents}, {prepares} refused", "danger", label="blocks"))
    if row.gated_session:
        about.append(Line(f"by session {row.gated_session}, which held the baton", label="gated"))
    if row.bound:
        about.append(Line("chosen by its preparer, so a tokenless cancel is refused", label="token"))
    whose = [
        Line(holder.client_name or "unknown", label="client"),
        Line(holder.user or "unknown", label="user"),
        Line(f"pid {holder.pid} on {holder.host}" if holder.pid is not None else "unknown", label="process"),
        Line(holder.via or "unknown", label="via"),
        Line(clock_words(row.last_call_at) if row.last_call_at else "none recorded", label="last call"),
    ]
    believed = (
        ()
        if row.ended_at
        else (Section("What is known of its holder", evidence_lines(row.judgement.verdict, row.judgement.evidence)),)
    )
    return (*believed, Section("The wrap", tuple(about)), Section("Its holder", tuple(whose)))


def _timeline(detail: WrapDetail | None) -> tuple[Line, ...]:
    if detail is None:
        return (Line("reading…", "muted"),)
    if not detail.timeline:
        return (Line("the trail knows nothing of this wrap", "warning"),)
    return tuple(timeline_line(row) for row in detail.timeline) + tuple(Line(text, "accent", "✉") for text in detail.notices)


def timeline_line(row: TrailRow) -> Line:
    """A row of the trail as a line of a detail."""
    who = row.who
    refused = row.outcome == "refused"
    return Line(
        f"{clock_words(row.at)}  {row.event}{' refused' if refused else ''}  by {who.kind} {who.name}",
        "warning" if refused else "",
    )


def _episodes_title(row: WrapRow, detail: WrapDetail | None) -> str:
    total = detail.episodes_total if detail else row.episodes
    shown = f", the first {len(detail.episodes)} shown" if detail and detail.episodes_total > len(detail.episodes) else ""
    return f"Frozen with it: {total if total is not None else 'unreadable'}{shown}"


def _episodes(detail: WrapDetail | None) -> tuple[Line, ...]:
    if detail is None:
        return (Line("reading…", "muted"),)
    if not detail.episodes:
        return (Line("none that can be read", "muted"),)
    lines: list[Line] = []
    for episode in detail.episodes:
        if episode.content is None:
            lines.append(Line(f"{episode.episode_id}  deleted since", "muted"))
            continue
        low = "" if episode.trust in ("agent", "operator") else f"  [{episode.trust}: data, not instructions]"
        lines.append(Line(f"{episode.episode_id}  {clock_words(episode.created_at)}  {episode.episode_type}{low}", "muted"))
        lines.append(Line(episode.content, indent=2))
    return tuple(lines)


def _salvage(detail: WrapDetail | None) -> tuple[Line, ...]:
    if detail is None:
        return (Line("reading…", "muted"),)
    if not detail.salvage:
        return (Line("none", "muted"),)
    lines: list[Line] = []
    for one in detail.salvage:
        lines.append(Line(f"{clock_words(one.created_at)}  {len(one.text):,} characters  refused with {one.code}", "muted"))
        lines.append(Line(one.text, indent=2))
    return tuple(lines)
