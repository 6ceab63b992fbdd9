"""What the header says of the feed: which store, how fresh, and a count for each screen (console.md, Screens and Feel)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from console.feed_state import FeedState
from console.text import one_line
from console.widgets.header import Freshness, HeaderState, Tab
from core.ages import words_for_age

ALARMING = ("dead_wrap", "partial_wrap", "broken_trail")


def header_state(
    path: Path,
    state: FeedState,
    *,
    active: str,
    project: str,
    who: str,
    read_only: bool,
    only_attention: bool,
    waiting: int | None,
    now: datetime,
) -> HeaderState:
    """The header for this state. `waiting` is how many changes came since it was frozen, None when it is not."""
    shown = f"{project or 'all'}, needs you only" if only_attention else project
    return HeaderState(
        store=store_words(path),
        project=shown,
        who=who,
        read_only=read_only,
        freshness=_freshness(state, waiting, now),
        tabs=_tabs(state),
        active=active,
    )


def store_words(path: Path) -> str:
    """The store's path, shortened with ~ where it is in one's home."""
    try:
        return one_line(f"~/{path.relative_to(Path.home())}")
    except (ValueError, RuntimeError):
        return one_line(str(path))


def _freshness(state: FeedState, waiting: int | None, now: datetime) -> Freshness:
    showing = ""
    if state.snapshot is not None:
        showing = f", showing {state.snapshot.taken_at.astimezone():%H:%M:%S}"
    if state.health == "opening":
        return Freshness("opening", "muted", "◔")
    if state.health != "live":
        since = f" since {words_for_age((now - state.since).total_seconds())}" if state.since else ""
        return Freshness(f"{state.health}{since}{showing}", "danger", "✗")
    if waiting is not None:
        changes = "no change waiting" if not waiting else f"{waiting:,} change{'s' if waiting != 1 else ''} waiting"
        return Freshness(f"frozen, {changes}", "warning", "‖")
    return Freshness()


def _tabs(state: FeedState) -> tuple[Tab, ...]:
    snapshot = state.snapshot
    if snapshot is None:
        names = (("overview", "1", "Overview"), ("wraps", "2", "Wraps"), ("sessions", "3", "Sessions"), ("slots", "4", "Slots"))
        return tuple(Tab(*name, "not measured") for name in (*names, ("audit", "5", "Audit"), ("memory", "6", "Memory")))
    needs = len(snapshot.attention)
    alarming = any(item.kind in ALARMING for item in snapshot.attention)
    return (
        Tab(
            "overview",
            "1",
            "Overview",
            f"{needs} need{'s' if needs == 1 else ''} you" if needs else "",
            "danger" if alarming else "warning",
        ),
        Tab("wraps", "2", "Wraps", str(len(snapshot.wraps)) if snapshot.wraps else ""),
        Tab("sessions", "3", "Sessions", f"{snapshot.open_sessions:,}" if snapshot.open_sessions else ""),
        Tab("slots", "4", "Slots", f"{snapshot.open_slots:,}" if snapshot.open_slots else ""),
        Tab("audit", "5", "Audit", f"{snapshot.trail_last:,}"),
        Tab("memory", "6", "Memory", f"{sum(row.episodes for row in snapshot.projects):,}"),
    )
