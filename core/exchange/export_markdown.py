"""A project as a Markdown document for people: what stands in it, what it rests on, and how it came to be.

It leaves out what only a program asks for (connections, notices, the trail's rows, older texts of the continuity): JSON lines have all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from core.exchange.exporting import OF_NAME, Cancelled, Exported, Progress, Source, Ticker
from core.exchange.markdown import NOTHING, Inert, Page
from core.store.database import View

TOLD = (
    "wrap",
    "episode",
    "tombstone",
    "continuity",
    "salvage",
    "draft",
    "pattern",
    "loop",
    "focus",
    "slot",
    "session",
    "knowledge",
)
"""The kinds whose rows the document goes through."""
EXCERPT = 160
"""Characters of an episode that a pattern's evidence is told by."""
Row = dict[str, Any]


def export_markdown(
    view: View,
    project_key: str,
    write: Callable[[str], object],
    *,
    inert: Inert,
    now: datetime,
    program: str,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Exported:
    """Write the project as Markdown. Refuses `project_not_found`; raises ExportCancelled when it was stopped."""
    source = Source(view, project_key, now)
    counts = source.exported.counts
    told = _Told(source, Page(write, inert), Ticker(sum(counts[name] for name in TOLD), progress, cancelled))
    told.beginning(program)
    standing = (told.continuity, told.patterns, told.loops, told.knowledge, told.focus, told.slots, told.sessions)
    for part in (*standing, told.left_behind, told.wraps, told.episodes, told.tombstones):
        part()
    return source.exported


class _Told:
    """Tells the parts of the document."""

    def __init__(self, source: Source, page: Page, ticker: Ticker) -> None:
        self.source, self.page, self.ticker = source, page, ticker
        self.exported, self.view = source.exported, source.view

    def each(self, name: str, order: str = "t.rowid") -> Iterator[Row]:
        """The rows of a kind, one at a time."""
        kind = OF_NAME[name]
        columns = self.source.columns(kind)
        for row in self.source.rows(kind, columns, errors="replace", order=order):
            self.ticker.tick()
            yield dict(zip(columns, row, strict=True))

    def of(self, table: str, column: str, value: object, order: str = "rowid") -> list[Any]:
        """The few rows of a table that belong to one thing."""
        return self.view.all(f"select * from {table} where {column} = ? order by {order}", (value,))

    def section(self, title: str, *names: str) -> bool:
        """Begin a section, unless there is nothing for it."""
        if not any(self.exported.counts[name] for name in names):
            return False
        self.page.heading(2, title)
        return True

    # the parts

    def beginning(self, program: str) -> None:
        page, counts, head = self.page, self.exported.counts, self.exported.head
        row = self.view.one(
            "select description, created_at, gate, archived_at from projects where project_key = ?", (self.source.key,)
        )
        page.heading(1, f"Project {page.code(self.exported.project_key)}")
        about = (
            f"exported {page.when(self.exported.exported_at)} by {program}, from store {page.code(self.exported.store_id)}",
            f"the trail's newest row then: {f'{head.seq:,}, {page.code(head.hash)}' if head else 'none'}",
            f"there since {page.when(row['created_at'])}, gate {page.code(row['gate'])}"
            + (f", archived {page.when(row['archived_at'])}" if row["archived_at"] else ""),
            "rows by kind: " + ", ".join(f"{name.replace('_', ' ')} {counts[name]:,}" for name in counts if counts[name]),
        )
        page.items(about)
        page.say(
            "What agents and people wrote stands in code blocks, whole and as it is; a character that acts or hides is named."
        )
        if row["description"]:
            page.text(row["description"])

    def continuity(self) -> None:
        if not self.section("Continuity", "continuity"):
            return
        page, newest, versions = self.page, None, []
        for row in self.each("continuity", "t.revision"):
            how = f", restored from revision {page.number(row['restored_from'])}" if row["restored_from"] is not None else ""
            how += f", adopted from {page.code(row['adopted_from'])}" if row["adopted_from"] is not None else ""
            characters = page.number(len(str(row["text"])))
            versions.append(
                f"revision {page.number(row['revision'])}, {page.when(row['created_at'])}, {characters} characters{how}"
            )
            newest = row
        if newest is not None:
            page.say(f"What stands: {versions.pop()}.")
            page.text(newest["text"])
        page.items(reversed(versions))

    def patterns(self) -> None:
        if not self.section("Patterns", "pattern"):
            return
        page = self.page
        for row in self.each("pattern", "t.level desc, t.kind, t.name, t.rowid"):
            page.heading(3, f"{page.number(row['level'])}x {page.code(row['name'])}")
            grounded = f", last grounded on {page.code(row['last_grounded_on'])}" if row["last_grounded_on"] else ""
            stands = "Stands in the continuity" if row["in_text"] else "Left out of the continuity"
            page.say(f"{stands}; the highest level that was grounded: {page.number(row['highest'])}x{grounded}.")
            for explanation in _texts(row["explanations"]) or ([row["summary"]] if row["summary"] else []):
                page.text(explanation)
            page.items(self._evidence(one) for one in self.of("pattern_grounding", "pattern_id", row["id"]))
            page.items(self._judgement(one) for one in self.of("pattern_history", "pattern_id", row["id"]))

    def _evidence(self, row: Any) -> str:
        page = self.page
        episode = self.view.one(f"select substr(content, 1, {EXCERPT}) from episodes where episode_id = ?", (row["episode_id"],))
        gone = f", gone since {page.when(row['gone_at'])}" if row["gone_at"] else ""
        said = f": {page.code(episode[0])}" if episode else ""
        rests = f"{page.number(row['level'])}x rests on episode {page.code(row['episode_id'])}"
        return f"{rests}, earned on {page.code(row['earned_on'])}, {page.code(row['rule'])}{gone}{said}"

    def _judgement(self, row: Any) -> str:
        page = self.page
        before = f" from {page.number(row['before'])}x" if row["before"] is not None else ""
        detail = f": {page.code(row['detail'])}" if row["detail"] else ""
        return f"{page.when(row['at'])} {page.code(row['judgement'])}{before}, {page.number(row['level'])}x{detail}"

    def loops(self) -> None:
        if not self.section("Loops", "loop"):
            return
        page = self.page
        for row in self.each("loop", "t.status <> 'open', t.rowid"):
            page.heading(
                3, f"{'Open' if row['status'] == 'open' else 'Resolved'} {page.code(row['type'])} {page.code(row['spore_id'])}"
            )
            about = [f"tier {page.code(row['tier'])}", f"created {page.code(row['created'])}", f"seen {page.code(row['seen'])}"]
            about += [f"{name} {page.code(row[name])}" for name in ("next", "domain", "pointer") if row[name]]
            if row["status"] != "open":
                to = f" as {page.code(row['ref'])}" if row["ref"] else ""
                about.append(f"{page.code(row['direction'])}, {page.code(row['kind'])}{to}, on {page.code(row['resolved_on'])}")
            page.say("; ".join(about))
            page.text(row["text"])
            notes = self.view.all(
                "select noted_on, text from spore_notes where project_key = ? and spore_id = ? order by id",
                (self.source.key, row["spore_id"]),
            )
            for note in notes:
                page.say(f"Noted on {page.code(note['noted_on'])}:")
                page.text(note["text"])

    def knowledge(self) -> None:
        if not self.section("Knowledge", "knowledge"):
            return
        page = self.page
        for row in self.each("knowledge", "t.kind, t.created_at, t.rowid"):
            number = f" {page.number(row['number'])}" if row["number"] is not None else ""
            page.heading(3, f"{page.code(row['kind'])}{number} {page.code(row['title'])}")
            about = [page.code(row["id"]), page.when(row["created_at"]), page.code(row["status"])]
            about += [f"superseded by {page.code(row['superseded_by'])}"] if row["superseded_by"] else []
            about += [f"archived {page.when(row['archived_at'])}"] if row["archived_at"] else []
            about += [f"tags {', '.join(map(page.code, tags))}"] if (tags := _texts(row["tags"])) else []
            page.say("; ".join(about))
            page.text(row["body"])

    def focus(self) -> None:
        if not self.section("Base focus", "focus"):
            return
        for row in self.each("focus", "t.focus_revision desc"):
            self._revision(row["focus_revision"], row["created_at"], row["source"], row["focus"])

    def _revision(self, revision: object, at: object, source: object, text: object) -> None:
        page = self.page
        page.say(f"Revision {page.number(revision)}, {page.when(at)}, by {page.code(source)}:")
        if text is None:
            page.say("Empty.")
        else:
            page.text(text)

    def slots(self) -> None:
        if not self.section("Slots", "slot"):
            return
        page = self.page
        for row in self.each("slot"):
            page.heading(3, f"Slot {page.code(row['title'])}")
            closed = (
                f", closed {page.when(row['closed_at'])}, {page.code(row['close_note'] or row['close_reason'])}"
                if row["closed_at"]
                else ""
            )
            page.say(f"{page.code(row['id'])}, opened {page.when(row['opened_at'])}{closed}")
            page.items(self._anchor(one) for one in self.of("slot_anchors", "slot_id", row["id"]))
            for one in self.of("slot_history", "slot_id", row["id"], "revision desc"):
                self._revision(one["revision"], one["created_at"], one["source"], one["body"])

    def _anchor(self, row: Any) -> str:
        names = ("ticket_id", "target_release", "repository_id", "pr_number", "topic")
        return f"{self.page.code(row['kind'])} {' '.join(self.page.code(row[name]) for name in names if row[name] is not None)}"

    def sessions(self) -> None:
        if not self.section("Handovers", "session"):
            return
        page = self.page
        for row in self.each("session", "t.started_at, t.rowid"):
            page.heading(3, f"Session {page.code(row['client_key'])}")
            about = [page.code(row["id"]), f"started {page.when(row['started_at'])}", page.code(row["status"])]
            about += [f"ended {page.when(row['ended_at'])}"] if row["ended_at"] else []
            about += [f"bound to slot {page.code(row['slot_id'])}"] if row["slot_id"] else []
            about += [f"relayed from {page.code(row['relayed_from_session_id'])}"] if row["relayed_from_session_id"] else []
            page.say("; ".join(about))
            for one in self.of("session_checkpoints", "session_id", row["id"], "seq"):
                page.say(f"Checkpoint {page.number(one['seq'])}, {page.when(one['created_at'])}; done, next, and what hinders:")
                for text in (one["progress"], one["next_step"], one["blocker"]):
                    if text is not None:
                        page.text(text)
            self._end(row)

    def _end(self, row: Row) -> None:
        page = self.page
        applied = row["focus_outcome"] == "applied"
        became = f", which became revision {page.number(row['focus_revision_at_end'])}" if applied else ", which was NOT applied"
        for words, text in (
            ("Given up:", row["abandonment_reason"]),
            ("Summary:", row["summary"]),
            (f"Handed over{became}:", row["next_focus"]),
            ("Nothing to capture:", row["nothing_to_capture_reason"]),
        ):
            if text is not None:
                page.say(words)
                page.text(text)

    def left_behind(self) -> None:
        """Texts of late saves, and of wraps that ended without one."""
        if not self.section("Salvage and drafts", "salvage", "draft"):
            return
        page = self.page
        for name in ("salvage", "draft"):
            for row in self.each(name):
                dealt = f", dealt with {page.when(row['dealt_with_at'])}" if row["dealt_with_at"] else ""
                page.heading(3, f"{name.capitalize()} {page.number(row['id'])}")
                page.say(f"For wrap {page.number(row['wrap_id'])}, {page.when(row['created_at'])}{dealt}")
                page.text(row["text"])

    def wraps(self) -> None:
        if self.section("Wraps", "wrap"):
            self.page.items(map(self._wrap, self.each("wrap")))

    def _wrap(self, row: Row) -> str:
        page = self.page
        frozen = page.number(len(_texts(row["episode_ids"]))) if row["episode_ids"] is not None else NOTHING
        said = f"wrap {page.number(row['id'])}, generation {page.number(row['generation'])}, episodes {frozen}"
        said += f", started {page.when(row['started_at'])}"
        if row["ended_at"] is None:
            return f"{said}, open"
        why = f": {page.code(row['ended_reason'])}" if row["ended_reason"] else ""
        return f"{said}, {page.code(row['outcome'])} {page.when(row['ended_at'])}{why}"

    def episodes(self) -> None:
        if not self.section("Episodes", "episode"):
            return
        page, day = self.page, None
        for row in self.each("episode", "t.created_at, t.rowid"):
            if (found := page.day(row["created_at"])) != day:
                day = found
                page.heading(3, day)
            about = [f"{page.code(row['episode_type'])} {page.code(row['episode_id'])}", page.when(row["created_at"])]
            about += [f"from {page.code(row['source'])}", f"trust {page.code(row['effective_trust'])}"]
            about.append(f"in wrap {page.number(row['wrap_id'])}" if row["wrap_id"] is not None else "waiting")
            about += [f"superseded by {page.code(row['superseded_by'])}"] if row["superseded_by"] else []
            about += [f"derived from {', '.join(map(page.code, sources))}"] if (sources := _texts(row["derived_from"])) else []
            about += [
                f"{name.replace('_', ' ')} {page.code(row[name])}" for name in ("state_key", "metadata") if row[name] is not None
            ]
            page.say("; ".join(about))
            page.text(row["content"])

    def tombstones(self) -> None:
        if not self.section("Deleted episodes", "tombstone"):
            return
        page = self.page
        page.items(
            f"{page.code(row['episode_type'])} {page.code(row['episode_id'])} of {page.when(row['created_at'])},"
            f" deleted {page.when(row['removed_at'])}"
            for row in self.each("tombstone")
        )


def _texts(stored: object) -> list[str]:
    """The texts of a JSON list, or the stored text itself where it is none."""
    try:
        found = json.loads(str(stored))
    except (ValueError, RecursionError):
        return [str(stored)]
    return [str(one) for one in found] if isinstance(found, list) else [str(stored)]
