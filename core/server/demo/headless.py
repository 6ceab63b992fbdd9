"""The demo without a screen: it runs the fleet, does the operator's part itself, and says what it saw (issue 2, item 9)."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from core.errors import Refusal, StoreError
from core.room import Place, Room
from core.server.demo.fleet import BLOCKED, DOOMED, WEDGED, Fleet, Happening
from core.trail.verify import verify_store
from core.views import snapshot
from core.views.look import Looker
from core.views.wraps import WrapRow, wrap_detail

LOOK_SECONDS = 0.5
Step = Literal[
    "blocked", "dead", "dead_cancelled", "unblocked", "waited", "wedged", "wedged_cancelled", "late", "salvage", "verified"
]
STEPS: dict[Step, str] = {
    "blocked": "an agent is refused a wrap by a dead one, with the reasons",
    "dead": "the dead wrap is DEAD in the overview and blocks an agent",
    "dead_cancelled": "the operator cancels the dead wrap",
    "unblocked": "the blocked agent wraps and saves",
    "waited": "an agent is refused a wrap by a LIVE one and waits",
    "wedged": "the idle holder's wrap is WEDGED",
    "wedged_cancelled": "the operator cancels the wedged wrap",
    "late": "the wedged holder saves late and learns who cancelled it, and why",
    "salvage": "its text is kept as salvage",
    "verified": "the trail verifies",
}
"""What a rehearsal must have seen."""
DEAD_REASON = "its agent was killed while it compressed; others wait for this project"
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

    def _look(self) -> None:
        """Look at the room as the console does, and act as an operator would."""
        try:
            with self._looker.snapshot() as (view, witness):
                room = snapshot.take(view, witness)
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
        if kept and kept.salvage:
            self._see(
                "salvage", f"finds the late text of wrap {kept.row.wrap_id} as salvage, {len(kept.salvage[0].text):,} characters"
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
