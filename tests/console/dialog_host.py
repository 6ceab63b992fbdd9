"""A tiny app that shows one dialog, and wraps to show in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.pilot import Pilot
from textual.screen import Screen

from console.dialogs.base import Dialog, now
from console.dialogs.force_cancel import ForceCancelDialog
from console.themes import install_themes, theme_defaults
from core.errors import Refusal, StoreError
from core.memory.cancel import Cancelled, ReleaseAsked
from core.models import Evidence, Judgement, Verdict
from core.views.holders import Holder
from core.views.snapshot import Snapshot
from core.views.wraps import WrapRow
from tests.console.waiting import until

EVIDENCE: dict[Verdict, tuple[Evidence, ...]] = {
    "DEAD": (
        Evidence("process_gone", "pid 3142 on this host is gone", death=True),
        Evidence("silent", "no beat for 17 min", death=True),
        Evidence("last_call", "last call 18 min ago"),
    ),
    "STALE": (Evidence("silent", "no beat for 3 min", death=True),),
    "PARTIAL": (Evidence("not_coherent", "the wrap's row does not match its seal"),),
}


def wrap(number: int = 7, verdict: Verdict = "DEAD", **changed: Any) -> WrapRow:
    """A wrap with this verdict."""
    row = WrapRow(
        wrap_id=number,
        project_key=f"project-{number}",
        generation=12,
        state="partial" if verdict == "PARTIAL" else "open",
        judgement=Judgement(verdict, EVIDENCE.get(verdict, (Evidence("beat", "last beat 3 s ago"),))),
        started_at="2026-11-30T10:00:00Z",
        age_seconds=7_530.0,
        holder=Holder("c1", "release-agent", "ada", "stdio under node", 3142, "db1", None),
        episodes=5,
        blocks=3,
        refused_prepares=4,
        gate="open",
        gated_session=None,
        bound=False,
        token_start="a1b2c3d4",
        row_sha256="f" * 64,
        last_call_at="2026-11-30T11:42:00Z",
        salvage=0,
        ended_at=None,
        ended_by=None,
        ended_reason=None,
    )
    return replace(row, **changed)


def snapshot(*rows: WrapRow) -> Snapshot:
    """A room with these open wraps."""
    moment = datetime(2026, 11, 30, 12, tzinfo=UTC)
    return Snapshot(moment, "store", "2026-11-30T09:00:00Z", (), rows, 0, (), (), 0, (), (), 0, 0, 0, 0, (), 1, 9)


def receipt(arguments: dict[str, Any]) -> Cancelled:
    """What a force-cancel gives."""
    return Cancelled(
        "cancelled",
        "project",
        arguments["wrap_id"],
        arguments["generation"],
        arguments["token_start"],
        None,
        5,
        arguments["verdict"],
        (),
        "operator",
        arguments["reason"],
    )


class Deeds:
    """Stands in for the app's `do`: notes each call, and answers as told, or with a receipt."""

    def __init__(self, *answers: Any) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answers = list(answers)
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, name: str, **arguments: Any) -> Any:
        self.calls.append((name, arguments))
        await self.gate.wait()
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        if answer is not None:
            return answer
        return receipt(arguments) if name == "force_cancel" else ReleaseAsked(arguments["wrap_id"], "project", "release-agent")


CHANGED = Refusal(
    "evidence_changed",
    "Nothing was cancelled, because wrap 7 has changed since it was shown: its holder looks LIVE now, where DEAD was shown.",
    facts={
        "wrap_id": 7,
        "generation": 12,
        "verdict": "LIVE",
        "evidence": ["last beat 1 s ago"],
        "last_call_at": "2026-11-30T12:00:00Z",
    },
)
FINISHED = Refusal(
    "wrap_already_finished",
    "Wrap 7 is already finished: it was cancelled by the operator grace (cli) at 2026-11-30T12:00:00Z.",
    facts={"wrap_id": 7, "outcome": "cancelled", "ended_at": "2026-11-30T12:00:00Z", "reason": None},
)
LOCKED = StoreError("The store is locked by another process; nothing was changed. Try again.")


class Host(App[None]):
    """Shows a dialog when `X` is pressed, as the console does, or at once."""

    CSS_PATH = "../../console/watchroom.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("X", "open", "open")]

    def __init__(self, make: Callable[[], Screen[Any]], *, at_once: bool = True) -> None:
        super().__init__()
        install_themes(self)
        self.make = make
        self.at_once = at_once
        self.results: list[Any] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_defaults(self.current_theme)

    def on_mount(self) -> None:
        if self.at_once:
            self.open()

    def action_open(self) -> None:
        self.open()

    def open(self) -> None:
        self.push_screen(self.make(), self.results.append)

    @property
    def dialog(self) -> Any:
        assert isinstance(self.screen, Dialog)
        return self.screen


async def opened(pilot: Pilot[None], host: Host) -> Any:
    """The dialog, once it is painted and no key is too early any more."""
    await until(pilot, lambda: isinstance(host.screen, Dialog) and host.screen.is_mounted)
    dialog = host.dialog
    await until(pilot, lambda: not dialog.too_early(now()))
    return dialog


async def type_in(pilot: Pilot[None], text: str) -> None:
    """Type the text."""
    await pilot.press(*("space" if character == " " else character for character in text))


def drawn(host: Host) -> str:
    """Everything on the screen, as text."""
    width, height = host.size
    lines = host.screen._compositor.render_strips()
    assert len(lines) == height and all(line.cell_length == width for line in lines)
    return "\n".join("".join(segment.text for segment in line) for line in lines)


def host_of(*rows: WrapRow, do: Any, recent: tuple[str, ...] = (), at_once: bool = True) -> Host:
    """An app that shows the force-cancel dialog on these wraps."""
    return Host(lambda: ForceCancelDialog(rows, do, recent), at_once=at_once)
