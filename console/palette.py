"""The palette: every action, project, wrap, session and slot by name (console.md, Keys)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from console.actions import MEMORY_VIEWS, for_screen
from console.text import one_line, safe_content

if TYPE_CHECKING:
    from console.app import ConsoleApp

MOVES = ("Move", "Look")
"""Groups that are keys of the hand, not things one looks for by name."""


class RoomCommands(Provider):
    """Hits for the palette, from the table of actions and the snapshot."""

    async def discover(self) -> Hits:
        """What is offered before anything is typed: the actions of this screen."""
        for name, run, help_text in self._actions():
            yield DiscoveryHit(safe_content(name), run, text=name, help=help_text)

    async def search(self, query: str) -> Hits:
        """Actions, projects and wraps whose names fit."""
        matcher = self.matcher(query)
        for name, run, help_text in (*self._actions(), *self._things()):
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, safe_content(name), run, text=name, help=help_text)

    @property
    def _room(self) -> ConsoleApp:
        return cast("ConsoleApp", self.app)

    def _actions(self) -> Iterator[tuple[str, Callable[[], object], str]]:
        room = self._room
        for action in for_screen(room.at, room.read_only, room.keymap_in_force):
            if action.group in MOVES or action.id == "palette" or (action.needs_row and not room.pane.has_row):
                continue
            key = f"  ({action.shown_key})" if action.keys else ""
            yield f"{action.label}{key}", partial(room.run_table_action, action.id), action.help

    def _things(self) -> Iterator[tuple[str, Callable[[], object], str]]:
        room = self._room
        snapshot = room.feed_state.snapshot
        if snapshot is None:
            return
        for view in MEMORY_VIEWS:
            yield f"memory {view}", partial(room.go_to_target, f"memory:{view}"), "Go to this view of the memory"
        for project in snapshot.projects:
            yield f"project {project.project_key}", partial(room.set_project, project.project_key), "Show this project only"
        for wrap in snapshot.wraps:
            name = one_line(f"wrap {wrap.wrap_id} of {wrap.project_key or 'no project'}, {wrap.judgement.verdict}")
            yield name, partial(room.go_to_target, f"wrap:{wrap.wrap_id}"), "Go to this wrap"
        for session in snapshot.sessions:
            if not session.is_trace:
                name = one_line(f"session {session.client_key} of {session.project_key}")
                yield name, partial(room.go_to_target, f"session:{session.session_id}"), "Go to this session"
        for slot in snapshot.slots:
            name = one_line(f"slot {slot.title} of {slot.project_key}")
            yield name, partial(room.go_to_target, f"slot:{slot.slot_id}"), "Go to this slot"
