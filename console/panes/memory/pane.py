"""Memory: one screen of six views, one list each, with a line that names them (console.md, screen 6)."""

from __future__ import annotations

import asyncio

from textual import on, work
from textual.app import ComposeResult
from textual.widgets import ContentSwitcher

from console.actions import MEMORY_VIEWS
from console.panes.base import Pane, Shown
from console.panes.memory.continuity import ContinuityView
from console.panes.memory.episodes import EpisodesView
from console.panes.memory.kept import KeptView
from console.panes.memory.knowledge import KnowledgeView
from console.panes.memory.line import ViewLine
from console.panes.memory.loops import LoopsView
from console.panes.memory.patterns import PatternsView
from console.panes.memory.view import MemoryView

VIEWS: dict[str, type[MemoryView]] = {
    "continuity": ContinuityView,
    "episodes": EpisodesView,
    "patterns": PatternsView,
    "loops": LoopsView,
    "knowledge": KnowledgeView,
    "kept": KeptView,
}


class MemoryPane(Pane):
    """The views; each is made when it is first looked at. A place is `episodes:1a2b3c4d`, or the name of a view."""

    SCREEN = "memory"

    DEFAULT_CSS = """
    MemoryPane > ContentSwitcher { height: 1fr; width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__(id="pane-memory")
        first = MEMORY_VIEWS[0]
        self._made: dict[str, MemoryView] = {first: VIEWS[first]()}
        self._chosen = self._wanted = first
        self._choosing = asyncio.Lock()
        self.line = ViewLine({name: view.TITLE for name, view in VIEWS.items()}, first)

    def compose(self) -> ComposeResult:
        """The line of views, and the view in front."""
        yield self.line
        with ContentSwitcher(initial=self.front.id):
            yield self.front

    @property
    def front(self) -> MemoryView:
        """The view that is shown."""
        return self._made[self._chosen]

    @property
    def place(self) -> str | None:
        """The view and the row one is at."""
        return f"{self._chosen}:{self.front.place or ''}"

    def show(self, shown: Shown) -> None:
        """Show this state in the view in front, and how many kept texts wait in the line."""
        self.shown = shown
        snapshot = shown.snapshot
        waiting = [one for one in snapshot.attention if one.kind == "salvage"] if snapshot else []
        self.line.set_state(self._chosen, len(waiting))
        self.front.show(shown)

    def focus_list(self) -> None:
        """Give the focus to the list of the view in front."""
        self.front.focus_list()

    def step_back(self) -> bool:
        """One step back inside the view in front."""
        return self.front.step_back()

    async def arrive(self, place: str | None) -> None:
        """Go to a view, and to a row of it."""
        if place is None:
            return
        view, _, key = place.partition(":")
        if view in VIEWS:
            await self.choose(view)
            self.front.go_to_place(key or None)

    async def choose(self, view: str) -> None:
        """Bring a view to the front; of several wanted at once, the last."""
        self._wanted = view
        async with self._choosing:
            if view != self._wanted:
                return
            if view not in self._made:
                made = VIEWS[view]()
                await self.query_one(ContentSwitcher).add_content(made)
                self.room.restore_sort(made)
                self._made[view] = made
            self._chosen = view
            self.query_one(ContentSwitcher).current = self.front.id
        self.room.show_state()
        self.focus_list()

    def step(self, by: int) -> None:
        """To the view so many to the right; round the ends."""
        self._wanted = MEMORY_VIEWS[(MEMORY_VIEWS.index(self._wanted) + by) % len(MEMORY_VIEWS)]
        self._bring(self._wanted)

    @on(MemoryView.StepAsked)
    def _step_asked(self, event: MemoryView.StepAsked) -> None:
        event.stop()
        self.step(event.by)

    @on(ViewLine.Chosen)
    def _chosen_in_line(self, event: ViewLine.Chosen) -> None:
        event.stop()
        self._bring(event.view)

    @work(group="memory-view")
    async def _bring(self, view: str) -> None:
        await self.choose(view)
