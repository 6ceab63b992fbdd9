"""The demo without a screen: it runs the fleet, does the operator's part itself, and says what it saw (issue 2, item 9)."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from core.errors import Refusal, StoreError
from core.life.witness import Witness
from core.memory.pattern_reports import PROVEN
from core.room import Place, Room
from core.server.demo.fleet import BLOCKED, DOOMED, WEDGED, Fleet, Happening
from core.sessions import evidence, rows
from core.sessions.models import SeenEvidence, Session
from core.store.database import View
from core.trail.verify import verify_store
from core.views import patterns, snapshot
from core.views.look import Looker
from core.views.wraps import WrapRow, wrap_detail

LOOK_SECONDS = 0.5
Step = Literal[
    "climbed",
    "blocked",
    "dead",
    "dead_cancelled",
    "unblocked",
    "waited",
    "wedged",
    "wedged_cancelled",
    "late",
    "salvage",
    "session",
    "shrink_refused",
    "relayed",
    "successor",
    "verified",
]
STEPS: dict[Step, str] = {
    "climbed": "a pattern has climbed from 1x to 2x by an episode that its wrap cites",
    "blocked": "an agent is refused a wrap by a dead one, with the reasons",
    "dead": "the dead wrap is DEAD in the overview and blocks an agent",
    "dead_cancelled": "the operator cancels the dead wrap",
    "unblocked": "the blocked agent wraps and saves",
    "waited": "an agent is refused a wrap by a LIVE one and waits",
    "wedged": "the idle holder's wrap is WEDGED",
    "wedged_cancelled": "the operator cancels the wedged wrap",
    "late": "the wedged holder saves late and learns who cancelled it, and why",
    "salvage": "its text is kept as salvage",
    "session": "an agent works in a session, and looks LIVE",
    "shrink_refused": "a relay that would halve the base focus is refused, with both lengths and the floor",
    "relayed": "the operator relays the session, with the override and its reason",
    "successor": "the agent comes back as the successor and gets its briefing",
    "verified": "the trail verifies",
}
"""What a rehearsal must have seen."""
DEAD_REASON = "its agent was killed while it compressed; others wait for this project"
SHRINK_REASON = "the plan for typos is dropped; only the aim and what stands are to go on"
WEDGED_REASON = "no call for too long; the ranking work goes on without it"


def run_headless(path: Path, server_command: Sequence[str], seconds: float, write: Callable[[str], None]) -> int:
    """Run the demo for at most `seconds` and write a line for everything that happens.

    Gives 0 when every step was seen, 1 otherwise, with a line for each that was not. Raises StoreError.
    """
    happenings: queue.SimpleQueue[Happening] = queue.SimpleQueue()
    fleet = Fleet(path, server_command, happenings.put)
    try:
        fleet.start()
        write(f"{fleet.seconds:6.1f} s  the store with its history is at {path}")
        with Room(Place(path, "cli")) as room, Looker(path) as looker:
            rehearsal = Rehearsal(fleet, room, looker, write)
            rehearsal.follow(happenings, seconds)
    finally:
        fleet.stop()
    write(f"{fleet.seconds:6.1f} s  every agent has ended")
    return rehearsal.conclude()


class Rehearsal:
    """Plays the operator and ticks off what it has seen."""

    def __init__(self, fleet: Fleet, room: Room, looker: Looker, write: Callable[[str], None]) -> None:
        self._fleet = fleet
        self._room = room
        self._looker = looker
        self._write = write
        self._seen: set[Step] = set()
        self._cancelled: dict[str, int] = {}
        self._session_id: str | None = None

    def follow(self, happenings: queue.SimpleQueue[Happening], seconds: float) -> None:
        """Follow the fleet until every step but the last was seen or the time is over."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and len(self._seen) < len(STEPS) - 1:
            until = min(deadline, time.monotonic() + LOOK_SECONDS)
            while (left := until - time.monotonic()) > 0:
                try:
                    self._hear(happenings.get(timeout=left))
                except queue.Empty:
                    break
            self._look()

    def conclude(self) -> int:
        """Verify the trail, say what was not seen, and give the exit code."""
        try:
            found = verify_store(self._fleet.path)
        except StoreError as error:
            self._say(f"operator       cannot verify the trail: {error}")
        else:
            if found.ok:
                self._seen.add("verified")
            self._say(f"operator       verifies the trail: {found.words}")
        missing = [what for step, what in STEPS.items() if step not in self._seen]
        for what in missing:
            self._say(f"not seen: {what}")
        self._say(f"{len(self._seen)} of {len(STEPS)} steps of the story were seen")
        return 1 if missing else 0

    def _say(self, sentence: str) -> None:
        self._write(f"{self._fleet.seconds:6.1f} s  {sentence}")

    def _see(self, step: Step, sentence: str) -> None:
        if step not in self._seen:
            self._seen.add(step)
            self._say(f"operator       {sentence}")

    def _hear(self, happening: Happening) -> None:
        self._write(happening.sentence)
        report, facts = happening.report, happening.report.facts
        refused = facts.get("code") if report.event == "refused" else None
        if refused == "wrap_in_progress":
            if happening.agent == BLOCKED.name and facts.get("verdict") == "DEAD" and facts.get("evidence"):
                self._seen.add("blocked")
            if facts.get("verdict") == "LIVE" and facts.get("evidence"):
                self._seen.add("waited")
        elif refused == "wrap_cancelled" and happening.agent == WEDGED.name and WEDGED_REASON in report.sentence:
            self._seen.add("late")
        elif report.event == "saved" and happening.agent == BLOCKED.name and "dead_cancelled" in self._seen:
            self._seen.add("unblocked")
        elif report.event == "session":
            self._session_id = str(facts.get("session_id"))
            if facts.get("resumed") and facts.get("focus_in_briefing"):
                self._seen.add("successor")

    def _look(self) -> None:
        """Look at the room as the console does, and act as an operator would."""
        try:
            with self._looker.snapshot() as (view, witness):
                room = snapshot.take(view, witness)
                shift = self._shift(view, witness)
                self._patterns(view)
                wedged_id = self._cancelled.get(WEDGED.name)
                kept = wrap_detail(view, witness, wedged_id) if wedged_id else None
        except StoreError as error:
            self._say(f"operator       cannot look: {error}")
            return
        for row in room.wraps:
            if (
                row.holder.client_name == DOOMED.name
                and row.judgement.verdict == "DEAD"
                and row.blocks
                and "blocked" in self._seen
            ):
                needs = next(one for one in room.attention if one.target == f"wrap:{row.wrap_id}")
                self._see("dead", f"sees: {needs.what}; {'; '.join(needs.why[:2])}")
                self._cancel(row, DOOMED.name, "dead_cancelled", DEAD_REASON, None)
            elif row.holder.client_name == WEDGED.name and row.judgement.verdict == "WEDGED":
                self._see("wedged", f"sees: {'; '.join((f'wrap {row.wrap_id} is WEDGED', row.judgement.evidence[0].text))}")
                self._cancel(row, WEDGED.name, "wedged_cancelled", WEDGED_REASON, (row.token_start or "")[:6])
        if shift and "relayed" not in self._seen:
            self._relay(*shift)
        if kept and kept.salvage:
            self._see(
                "salvage", f"finds the late text of wrap {kept.row.wrap_id} as salvage, {len(kept.salvage[0].text):,} characters"
            )

    def _patterns(self, view: View) -> None:
        """See how a proven pattern came to its level, wrap by wrap."""
        if "climbed" in self._seen:
            return
        for row in patterns.page(view, None, least_level=PROVEN).rows:
            detail = patterns.pattern(view, row.pattern_id)
            first, *later = detail.history if detail else ()
            climb = next((step for step in later if step.movement == "climbed" and step.level == PROVEN), None)
            if climb is None:
                continue
            self._see(
                "climbed",
                f"sees: pattern {row.name} of {row.project_key} entered at {first.level}x in wrap {first.wrap_id} and climbed to"
                f" {climb.level}x in wrap {climb.wrap_id}, which cites episode {', '.join(climb.episode_ids)}: {climb.explanation}",
            )

    def _shift(self, view: View, witness: Witness) -> tuple[Session, SeenEvidence] | None:
        """The session of the agent that works in one, with the evidence as an operator sees it; None until it is LIVE."""
        session = rows.find(view, self._session_id, witness.clock.now()) if self._session_id else None
        if session is None:
            return None
        connection_id = rows.connection_of(view, session.id)
        verdict = witness.judge_session(view, connection_id, started_at=session.started_at).verdict
        if verdict == "LIVE":
            self._see("session", f"sees: session {session.id[:8]} of {session.project_key} is open, its agent is LIVE")
        typed = session.id[: evidence.TYPED_CHARACTERS]
        return session, SeenEvidence(verdict, connection_id, witness.last_call_at(connection_id), typed)

    def _relay(self, session: Session, seen: SeenEvidence) -> None:
        """Relay the session with a handover of under 70 % of the base focus: refused first, then with the override and its reason."""
        standing = self._room.do("brain_project_get", project_key=session.project_key).project
        handover = (standing.current_focus or "")[: len(standing.current_focus or "") * 4 // 10]
        arguments = {
            "session_id": session.id,
            "expected_client_key": session.client_key,
            "summary": "Handed over by the operator, in short.",
            "handover": handover,
            "new_client_key": f"{session.client_key}-next",
            "initiator": "operator",
            "expected_focus_revision": standing.focus_revision,
            "seen": seen,
        }
        try:
            if "shrink_refused" not in self._seen:
                self._room.do("brain_session_relay", **arguments)
        except Refusal as refusal:
            if refusal.code != "base_focus_shrink":
                return  # it has called since: look again
            self._see("shrink_refused", f"may not relay it: {refusal.sentence}")
        try:
            done = self._room.do("brain_session_relay", **arguments, allow_focus_shrink=True, shrink_reason=SHRINK_REASON)
        except Refusal:
            return  # it has called since: look again
        self._see(
            "relayed",
            f"relays session {session.id[:8]} to {done.session.id[:8]}, focus revision {done.focus_revision}, because {SHRINK_REASON}",
        )

    def _cancel(self, row: WrapRow, holder: str, step: Step, reason: str, typed: str | None) -> None:
        try:
            receipt = self._room.do(
                "force_cancel",
                wrap_id=row.wrap_id,
                verdict=row.judgement.verdict,
                reason=reason,
                generation=row.generation,
                token_start=row.token_start,
                last_call_at=row.last_call_at,
                typed=typed,
            )
        except Refusal as refusal:
            self._say(f"operator       may not: {refusal}")
            return
        self._cancelled[holder] = row.wrap_id
        self._see(step, f"force-cancels wrap {receipt.wrap_id}, {receipt.episodes} episodes go back, because {reason}")
