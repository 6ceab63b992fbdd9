"""The one scene that console tests and the README's pictures show: a store with a dead wrap, a wedged one, a live one and their history."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot

from console.app import ConsoleApp
from console.dialogs.base import Dialog
from console.table import RowTable
from core.room import Room
from core.server.demo import sessions
from core.server.demo.seed import CHAPTERS
from core.server.demo.stories import CHECKOUT, PAYMENTS, SEARCH, Story
from core.sessions.models import Anchor
from tests.console.waiting import settled, until
from tests.rooms import Rooms, refused, text

STORE = Path("room.db")


class Scene:
    """The scene's rooms, and the app on them with the same clock and process table."""

    def __init__(self, rooms: Rooms) -> None:
        self.rooms = rooms
        rooms.clock.advance(-3_000)
        self.operator = rooms.operator()
        sessions.begin(self.operator)
        self._history()
        self._sessions()
        self.dead = rooms.agent(client="release-agent")
        self._start(self.dead, "checkout", "release-2.14")
        self._record(self.dead, CHECKOUT, 5)
        self.dead_wrap = self.dead.do("prepare_wrap", project_key="checkout")
        rooms.clock.advance(30)
        self.wedged = rooms.agent(client="ranking-agent")
        self._start(self.wedged, "search", "ranking-17")
        topic = Anchor("topic", topic="typos")
        self.operator.do("brain_slot_open", project_key="search", title="Typos", body="Measure AUTO first.", anchors=[topic])
        self._decide(self.wedged)
        self._record(self.wedged, SEARCH, 3)
        self.wedged_wrap = self.wedged.do("prepare_wrap", project_key="search")
        rooms.clock.advance(950)
        self.live = rooms.agent(client="billing-agent")
        self._go_on_with_reconciliation(self.live)
        self.blocked = rooms.agent(client="bugfix-agent")
        self._record(self.live, PAYMENTS, 4)
        self.live_wrap = self.live.do("prepare_wrap", project_key="payments")
        rooms.kill(self.dead)
        refused(self.blocked, "prepare_wrap", project_key="checkout")
        rooms.clock.advance(64)
        refused(self.blocked, "prepare_wrap", project_key="checkout")
        self.blocked.refused()
        for room in (self.wedged, self.live, self.blocked, self.operator):
            room.beats.beat(room.identity.connection_id)
        self.live.called()

    def app(self, **options: Any) -> ConsoleApp:
        """The console on the scene."""
        return ConsoleApp(self.rooms.path, clock=self.rooms.clock, processes=self.rooms.processes, **options)

    def _history(self) -> None:
        agent = self.rooms.agent(client="planning-agent")
        for chapter in CHAPTERS[:4]:
            self._record(agent, chapter.story, chapter.episodes)
            self._wrap(agent, chapter.story.project_key, [f"- {one.name} | 1x ({{today}})" for one in chapter.story.patterns])
        self._climb(agent)
        self._record(agent, PAYMENTS, 2)
        late = agent.do("prepare_wrap", project_key="payments")
        self.late_wrap = late.wrap_id
        self.operator.do("wrap_cancel", project_key="payments", force=True, reason="its host is taken down for the kernel update")
        refused(
            agent,
            "save_continuity",
            project_key="payments",
            text=text(State="what the late agent had found"),
            wrap_token=late.wrap_token,
        )
        agent.close()

    def _wrap(self, room: Room, project_key: str, patterns: list[str]) -> None:
        """A whole wrap whose text has those lines in Patterns; `{today}` in them is the wrap's date."""
        opened = room.do("prepare_wrap", project_key=project_key)
        self.rooms.clock.advance(90)
        lines = "\n".join(patterns).replace("{today}", opened.wrap_date)
        saved = text(State="all is well", Patterns=lines)
        room.do("save_continuity", project_key=project_key, text=saved, wrap_token=opened.wrap_token)

    def _climb(self, room: Room) -> None:
        """A pattern of docs climbs from 1x to 2x by the episodes that it cites; open loops lie beside it."""
        told = [
            "The example of the capture call in the docs was wrong since the release, and nobody had run it.",
            "An example that is run with the tests broke the build the day its call changed.",
        ]
        record = partial(room.do, "record", project_key="docs", episode_type="observation")
        self.cited = [record(content=content).episode_id for content in told]
        because = f'[evidence: {", ".join(self.cited)} "an example that is run with the tests cannot go wrong unseen"]'
        self._wrap(room, "docs", [f"- examples-are-tests | 2x ({{today}}) {because}", "- one-word-one-thing | 1x ({today})"])
        plant = partial(self.operator.do, "spore_add")
        plant(
            project_key="docs", type="task", text="Run the examples of the payment guide with the tests", tier="hot", salience=3
        )
        plant(project_key="docs", type="question", text="Is `capture` a noun in the glossary?")
        plant(
            project_key="payments", type="thought", text="Gateways that answer late are worse than those that do not", tier="cold"
        )

    def _sessions(self) -> None:
        """The demo's sessions and slots: one that ended on its slot, one left open by an agent that has gone."""
        ledger, planning = self.rooms.agent(client="ledger-agent"), self.rooms.agent(client="planning-agent")
        sessions.work(self.operator, {"ledger-agent": ledger, "planning-agent": planning}, self.rooms.clock.advance)
        ledger.close()
        planning.close()

    def _start(self, room: Room, project_key: str, client_key: str) -> dict[str, str]:
        started = room.do("brain_session_start", project_key=project_key, client_key=client_key).session
        return {"session_id": started.id, "expected_client_key": client_key}

    def _decide(self, room: Room) -> None:
        """Knowledge that belongs to no session yet."""
        room.do(
            "brain_log_decision",
            project_key="search",
            title="Boost for stock is capped at 1.4",
            context="Sold-out classics vanished from page one.",
            decision_made="The boost never passes 1.4.",
            reasoning="NDCG@10 fell from 0.61 to 0.57 above it.",
        )
        room.do("brain_learn", project_key="search", topic="Analysers", insight="A change of the analyser needs a full reindex.")

    def _go_on_with_reconciliation(self, room: Room) -> None:
        """A session on the slot that another had left, relayed once by its own agent, with a checkpoint."""
        pair = self._start(room, "payments", "billing-1")
        slot = room.do("brain_slot_list", project_key="payments").slots[0]
        room.do("brain_session_bind", **pair, slot_id=slot.id)
        relayed = room.do(
            "brain_session_relay",
            **pair,
            handover=slot.body.replace("Next:", "Found: the capture of order 5120-77.\nNext:"),
            summary="Found the partial capture that is counted twice.",
            new_client_key="billing-2",
            initiator="operator",
            expected_slot_revision=slot.revision,
        )
        room.do(
            "brain_session_checkpoint",
            session_id=relayed.session.id,
            expected_client_key="billing-2",
            seq=1,
            progress="A test with two captures of one authorisation fails as it should.",
            next_step="The second ledger entry.",
        )

    def _record(self, room: Any, story: Story, count: int) -> None:
        lines = story.episodes("scene")
        for _ in range(count):
            line = next(lines)
            self.rooms.clock.advance(7)
            room.do(
                "record", project_key=story.project_key, content=line.text, episode_type=line.episode_type, source=line.source
            )


@contextmanager
def scene(folder: Path) -> Iterator[Scene]:
    """The scene on a new store in `folder`, with the user's name, the time zone and the store's shown path pinned."""
    before, zone = Path.cwd(), os.environ.get("TZ")
    os.chdir(folder)
    os.environ["TZ"] = "UTC"
    time.tzset()
    rooms = Rooms(STORE)
    try:
        with patch("core.room.current_user", lambda: "ada"), patch("console.app.current_user", lambda: "ada"):
            yield Scene(rooms)
    finally:
        rooms.close()
        os.chdir(before)
        if zone is None:
            del os.environ["TZ"]
        else:
            os.environ["TZ"] = zone
        time.tzset()


Keys = tuple[str, ...]

PICTURES: dict[str, Keys] = {
    "overview": (),
    "wraps": ("2",),
    "wraps-timeline": ("2", "]"),
    "wraps-episodes": ("2", "]", "]"),
    "sessions": ("3",),
    "sessions-lineage": ("3", "G", "]", "]"),
    "slots": ("4",),
    "slots-history": ("4", "]"),
    "relay": ("3", "j", "R", *"Index rebuilt; PR 2417 can be compared.", "f6", "f7", "delete", *"Aim: page one.", "f3", "f8"),
    "end-session": ("3", "E"),
    "abandon-session": ("3", "A"),
    "bind-session": ("3", "j", "b", "enter"),
    "open-slot": ("4", "o"),
    "close-slot": ("4", "j", "j", "j", "C"),
    "audit": ("5",),
    "audit-filtered": ("5", "slash", *"outcome:refused", "enter"),
    "continuity": ("6", "j", "]"),
    "episodes": ("6", "right", "slash", *"capture", "enter"),
    "patterns": ("6", "right", "right", "]"),
    "patterns-history": ("6", "right", "right", "]", "]"),
    "loops": ("6", *["right"] * 3),
    "knowledge": ("6", *["right"] * 4),
    "kept": ("6", "left", "]"),
    "delete-episode": ("6", "right", "slash", *"example of the capture", "enter", "D"),
    "adopt": ("6", "left", "I"),
    "force-cancel": ("2", "X", *"its laptop is gone"),
    "force-cancel-live": ("2", "G", "X"),
    "force-cancel-several": ("2", "asterisk", "X"),
    "ask-for-release": ("2", "j", "m"),
    "salvage": ("2", "h", "slash", *"cancelled", "enter", "u"),
    "verify": ("5", "v"),
    "help": ("2", "question_mark"),
    "menu": ("2", "full_stop"),
    "project": ("p",),
    "palette": ("colon",),
    "write-file": ("2", "w"),
}
"""What is pictured: a name, and the keys that lead there from the start."""

SIZES = ((80, 24), (120, 40), (200, 60))


def ready(app: ConsoleApp) -> Callable[[], bool]:
    """Whether the app shows its first snapshot."""
    return lambda: app.opened and app.pane.shown.snapshot is not None


def lead_to(name: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    """What leads a running app to a picture: its keys, each after the one before has settled."""

    async def lead(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, ConsoleApp)
        await until(pilot, ready(app))
        for key in PICTURES[name]:
            await pilot.press(key)
            await quiet(pilot)
        await quiet(pilot)

    return lead


async def quiet(pilot: Pilot[Any]) -> None:
    """Let workers end and what they brought be painted."""
    app = pilot.app
    assert isinstance(app, ConsoleApp)
    await pilot.app.workers.wait_for_complete([worker for worker in app.workers if worker.group != "confirm"])
    await pilot.pause()
    await until(pilot, lambda: not any(table._flashing for table in app.screen.query(RowTable)))
    if isinstance(app.screen, Dialog):
        await until(pilot, lambda: not isinstance(app.screen, Dialog) or settled(app))
    await pilot.pause()
