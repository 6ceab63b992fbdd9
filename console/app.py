"""The console: one screen, a pane for each place, and a feed that follows the store (console.md)."""

from __future__ import annotations

import asyncio
import importlib
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import ContentSwitcher

from console import memory
from console.actions import ACTIONS, EVERYWHERE, action_named, bindings_for, is_allowed, row_actions, textual_keymap
from console.drafts import Drafts, drafts_folder
from console.feed_state import FeedState
from console.header_words import header_state
from console.kept_actions import KeptActions
from console.memory_actions import MemoryActions
from console.palette import RoomCommands
from console.session_actions import SessionActions
from console.text import copyable, one_line
from console.themes import begin_with_theme, install_themes, next_theme, theme_defaults
from console.trail_actions import TrailActions
from console.widgets.footer import KeyFooter
from console.widgets.header import RoomHeader
from console.wrap_actions import WrapActions
from core.actors import current_user
from core.clock import Clock, SystemClock
from core.errors import Refusal

if TYPE_CHECKING:
    from console.feed import Feed
    from console.panes.base import Pane
    from core.life.processes import Processes
    from core.room import Room
    from core.views.look import Looker

PANES = {
    "overview": "console.panes.overview:OverviewPane",
    "wraps": "console.panes.wraps:WrapsPane",
    "sessions": "console.panes.sessions:SessionsPane",
    "slots": "console.panes.slots:SlotsPane",
    "audit": "console.panes.audit:AuditPane",
    "memory": "console.panes.memory.pane:MemoryPane",
}
"""Every pane and where it is. They and what they show are imported after the first paint, which does not need them."""

MEMORY_TARGETS = {
    "episode": "episodes",
    "spore": "loops",
    "knowledge": "knowledge",
    "salvage": "kept",
    "draft": "kept",
    "kept": "kept",
}
"""Which view of the Memory screen has a thing of that kind."""


def pane_of(screen: str) -> Pane:
    """A new pane for a screen, imported now."""
    module, _, name = PANES[screen].partition(":")
    pane: Pane = getattr(importlib.import_module(module), name)()
    return pane


class ConsoleApp(WrapActions, SessionActions, MemoryActions, KeptActions, TrailActions, App[int]):
    """The operator's console on one store."""

    CSS_PATH = "watchroom.tcss"
    TITLE = "watchroom"
    COMMANDS: ClassVar[set[Any]] = {RoomCommands}
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for(EVERYWHERE, "app")]

    class Fed(Message):
        """The feed has a newer state."""

        def __init__(self, state: FeedState) -> None:
            super().__init__()
            self.state = state

        def can_replace(self, message: Message) -> bool:
            """A newer state takes the place of one that waits: after a stop there is one refresh, not sixty."""
            return isinstance(message, ConsoleApp.Fed)

    def __init__(
        self,
        path: Path,
        *,
        project: str | None = None,
        read_only: bool = False,
        theme: str | None = None,
        clock: Clock | None = None,
        processes: Processes | None = None,
        remembered: memory.Memory | None = None,
        config: memory.Config | None = None,
        remember: Callable[[memory.Memory], None] = lambda _: None,
        drafts: Drafts | None = None,
    ) -> None:
        """`remembered`, `config`, `remember` and `drafts` carry what is kept between runs; tests leave them out."""
        # with the terminal's own colours to begin with, NO_COLOR takes every colour away; else greys would be left
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.path = path
        self.project = project or ""
        self.read_only = read_only
        self.clock = clock or SystemClock()
        self.processes = processes
        self.who = current_user()
        self.remembered = remembered or memory.Memory()
        self.config = config or memory.Config()
        self.drafts = drafts or Drafts(None)
        self._looker: Looker | None = None
        self._searcher: Looker | None = None
        self._feed: Feed | None = None
        self.feed_state = FeedState()
        self.keymap_in_force = self.config.keys
        self.active = self.remembered.screen if self.remembered.screen in PANES else "overview"
        self._theme_wanted = theme or self.remembered.theme or self.config.theme
        self._remember = remember
        self._only_attention = False
        self._frozen: FeedState | None = None
        self._panes: dict[str, Pane] = {}
        self._places: list[tuple[str, str | None]] = []
        self._room: Room | None = None
        self._room_lock = threading.Lock()
        self._header = RoomHeader()
        self._footer = KeyFooter()
        begin_with_theme(self, self._theme_wanted)

    # the screen

    def compose(self) -> ComposeResult:
        """Header, the panes, footer."""
        yield self._header
        yield ContentSwitcher(id="panes")
        yield self._footer

    def on_mount(self) -> None:
        """Theme, keys and header; what the first paint does not need comes after it."""
        install_themes(self, self._theme_wanted)
        self.set_keymap(textual_keymap(self.keymap_in_force))
        for problem in self.config.problems:
            self.say(problem, severity="warning")
        self._ill_tick = self.set_interval(1.0, self._show_header, pause=True)
        self._show_header()
        self.call_after_refresh(self._open)

    async def _open(self) -> None:
        """After the first paint: the first pane, and the feed."""
        self.feed.start()
        await self._mount_pane(self.active)
        self.query_one("#panes", ContentSwitcher).current = f"pane-{self.active}"
        self.show_state()
        self.pane.focus_list()

    async def _mount_pane(self, screen: str) -> None:
        pane = pane_of(screen)
        await self.query_one("#panes", ContentSwitcher).add_content(pane)
        self._panes[screen] = pane
        self.restore_sort(pane)

    @property
    def opened(self) -> bool:
        """Whether the first pane is there."""
        return self.active in self._panes

    @property
    def looker(self) -> Looker:
        """What reads the store for this console; made at the first look."""
        if self._looker is None:
            from core.life.processes import SystemProcesses
            from core.views.look import Looker

            self._looker = Looker(self.path, self.clock, self.processes or SystemProcesses())
        return self._looker

    @property
    def searcher(self) -> Looker:
        """What reads long lists and searches: its queries may be interrupted, and hold nobody up who only looks."""
        if self._searcher is None:
            from core.life.processes import SystemProcesses
            from core.views.look import Looker

            self._searcher = Looker(self.path, self.clock, self.processes or SystemProcesses())
        return self._searcher

    @property
    def feed(self) -> Feed:
        """What follows the store."""
        if self._feed is None:
            from console.feed import Feed

            self._feed = Feed(self.looker, self._fed_from_thread)
        return self._feed

    async def on_unmount(self) -> None:
        """Leave the store as it was found: the feed stops, the connection closes."""
        self.remembered.screen = self.active
        self.remembered.theme = self.theme
        self._remember(self.remembered)
        await asyncio.to_thread(self._leave)

    def _leave(self) -> None:
        if self._feed is not None:
            self._feed.stop()
        if self._room is not None:
            self._room.close()
        if self._searcher is not None:
            self._searcher.interrupt()
            self._searcher.close()
        if self._looker is not None:
            self._looker.close()

    @property
    def pane(self) -> Pane:
        """What is shown and acted on: the pane of the screen, or the view of it that is in front."""
        return self._whole_pane.front

    @property
    def _whole_pane(self) -> Pane:
        return self._panes[self.active]

    @property
    def at(self) -> str:
        """Where one is, as the table of actions names it: a screen, or a view of one."""
        return self.pane.SCREEN if self.opened else self.active

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The room's roles for a theme that has none of its own."""
        return theme_defaults(self.current_theme)

    def get_system_commands(self, screen: Any) -> Any:
        """None of the framework's own: the palette has the room's actions."""
        del screen
        return iter(())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The one read-only rule: an action that the table does not allow here is not there."""
        del parameters
        if action in _TABLE_IDS:
            # before the first pane is there, one can only leave
            return (self.opened or action == "quit_now") and is_allowed(action, self.at, self.read_only)
        return True

    async def on_key(self, event: events.Key) -> None:
        """A field takes every key it can, so one that comes here was typed ahead of its focus: it is text, and no action."""
        field = self.focused
        if field is not None and field.check_consume_key(event.key, event.character):
            event.prevent_default()
            field.post_message(events.Key(event.key, event.character))

    # what is shown

    def _fed_from_thread(self, state: FeedState) -> None:
        self.post_message(self.Fed(state))

    @on(Fed)
    def _fed(self, message: Fed) -> None:
        self.feed_state = message.state
        if message.state.health == "live":
            self._ill_tick.pause()
        else:
            self._ill_tick.resume()
        self.show_state()
        follow = getattr(self.screen, "follow", None)
        if follow is not None and message.state.snapshot is not None:
            follow(message.state.snapshot)

    def show_state(self) -> None:
        """Bring what is on the screen in line with the state, or with the one that is frozen."""
        state = self._frozen or self.feed_state
        if self.opened:
            from console.panes.base import Shown

            self._whole_pane.show(Shown(state.snapshot, self.project, self._only_attention))
        self._show_header()
        self._show_footer()

    def _show_header(self) -> None:
        waiting = None
        if self._frozen is not None:
            now, then = self.feed_state.snapshot, self._frozen.snapshot
            waiting = (now.trail_last if now else 0) - (then.trail_last if then else 0)
        self._header.set_state(
            header_state(
                self.path,
                self.feed_state,
                active=self.active,
                project=self.project,
                who=self.who,
                read_only=self.read_only,
                only_attention=self._only_attention and is_allowed("only_attention", self.at, self.read_only),
                waiting=waiting,
                now=self.clock.now(),
            )
        )

    def _show_footer(self) -> None:
        has_row = self.opened and self.pane.has_row
        self._footer.set_place(self.at, read_only=self.read_only, has_row=has_row, keymap=self.keymap_in_force)

    def place_changed(self) -> None:
        """A pane's cursor has moved: the footer may have other keys."""
        self._show_footer()

    def say(self, words: str, *, severity: Any = "information") -> None:
        """A toast; its words are foreign text."""
        self.notify(copyable(words), severity=severity, markup=False)

    # places

    async def action_show(self, screen: str) -> None:
        """Go to a screen."""
        await self.go_to(screen)

    async def go_to(self, screen: str, place: str | None = None, *, remember: bool = True) -> None:
        """Go to a screen, and to a row of it."""
        if screen != self.active or place is not None:
            if remember:
                self._places = [*self._places[-49:], (self.active, self._whole_pane.place)]
            switcher = self.query_one("#panes", ContentSwitcher)
            if screen not in self._panes:
                await self._mount_pane(screen)
            self.active = screen
            switcher.current = f"pane-{screen}"
        self.show_state()
        await self._whole_pane.arrive(place)
        self.pane.focus_list()

    def go_to_target(self, target: str) -> None:
        """Go to the thing itself: `wrap:7`, `session:…`, `slot:…`, `trail:204`, `episode:…`, `salvage:3`."""
        kind, _, name = target.partition(":")
        if kind in MEMORY_TARGETS:
            screen, name = "memory", f"{MEMORY_TARGETS[kind]}:{target if kind in ('salvage', 'draft') else name}"
        else:
            places = {"wrap": "wraps", "session": "sessions", "slot": "slots", "trail": "audit", "memory": "memory"}
            screen = places.get(kind, "")
        if screen:
            self.run_worker(self.go_to(screen, name or None), exclusive=True, group="go-to")

    async def action_previous_place(self) -> None:
        """Back to where one was before."""
        if self._places:
            screen, place = self._places.pop()
            await self.go_to(screen, place, remember=False)

    def action_next_pane(self) -> None:
        """Between the list and its detail."""
        self.screen.focus_next()

    def action_step_back(self) -> None:
        """Exactly one step back; never quits."""
        if not self.pane.step_back() and self._only_attention:
            self.action_only_attention()

    def action_close_layer(self) -> None:
        """Close the top layer; at the top level, quit."""
        if not self.pane.step_back():
            self.exit(0)

    def action_quit_now(self) -> None:
        """Quit now."""
        self.exit(0)

    def restore_sort(self, pane: Pane) -> None:
        """Give a pane's list the order it had the last time."""
        table = getattr(pane, "table", None)
        if table is not None and pane.SCREEN in self.remembered.sorts:
            table.show_sort(*self.remembered.sorts[pane.SCREEN])

    def remember_sort(self, screen: str, column: str, reverse: bool) -> None:
        """Keep a screen's order for the next run."""
        self.remembered.sorts[screen] = (column, reverse)

    # narrowing and freezing

    def set_project(self, project: str) -> None:
        """Show one project, or with "" all."""
        self.project = project
        self.show_state()

    def action_only_attention(self) -> None:
        """Only what needs a person, or everything again."""
        self._only_attention = not self._only_attention
        self.show_state()

    def action_freeze(self) -> None:
        """Freeze what is shown, or follow the store again."""
        self._frozen = None if self._frozen else self.feed_state
        self.show_state()

    def action_read_again(self) -> None:
        """Read the store again now."""
        self.feed.read_again()

    def action_change_theme(self) -> None:
        """The next theme."""
        self.theme = next_theme(self.theme)
        self.say(f"theme {self.theme}")

    # dialogs

    def run_table_action(self, action_id: str) -> None:
        """Do an action of the table by its name, as its key would: what palette, menu and footer call."""
        action = action_named(action_id)
        if not is_allowed(action_id, self.at, self.read_only):
            return
        target = self if "app" in action.owners else self.pane
        self.run_worker(self.run_action(action.call or action.id, target), group="table-action")

    @on(KeyFooter.Pressed)
    def _footer_pressed(self, event: KeyFooter.Pressed) -> None:
        self.run_table_action(event.action_id)

    @on(RoomHeader.TabChosen)
    async def _tab_chosen(self, event: RoomHeader.TabChosen) -> None:
        await self.go_to(event.screen)

    def action_help(self) -> None:
        """Help for where one is."""
        from console.dialogs.help import HelpDialog

        self.push_screen(HelpDialog(self.at, self.read_only, self.keymap_in_force))

    def action_choose_project(self) -> None:
        """Choose the project to show."""
        from console.dialogs.chooser import Choice, ChooserDialog

        snapshot = self.feed_state.snapshot
        rows = snapshot.projects if snapshot else ()
        choices = (
            Choice("", "all projects", f"{len(rows)}"),
            *(Choice(row.project_key, row.project_key, f"{row.waiting:,} waiting of {row.episodes:,} episodes") for row in rows),
        )
        self.push_screen(ChooserDialog("Which project?", choices, self.project), self._project_chosen)

    def _project_chosen(self, key: str | None) -> None:
        if key is not None:
            self.set_project(key)

    def action_jump(self) -> None:
        """Jump to a wrap, session or slot by name."""
        from console.dialogs.chooser import Choice, ChooserDialog

        snapshot = self.feed_state.snapshot
        wraps = snapshot.wraps if snapshot else ()
        choices = tuple(
            Choice(f"wrap:{row.wrap_id}", f"wrap {row.wrap_id} of {row.project_key or 'no project'}", row.judgement.verdict)
            for row in wraps
        )
        if snapshot:
            choices += tuple(
                Choice(
                    f"session:{row.session_id}",
                    f"session {row.client_key} of {row.project_key}",
                    row.judgement.verdict if row.judgement else row.status,
                )
                for row in snapshot.sessions
                if not row.is_trace
            )
            choices += tuple(
                Choice(f"slot:{row.slot_id}", f"slot {row.title} of {row.project_key}", "orphan" if row.is_orphan else "held")
                for row in snapshot.slots
            )
        self.push_screen(ChooserDialog("Jump to", choices, None), lambda key: None if key is None else self.go_to_target(key))

    def open_row_menu(self) -> None:
        """Everything that can be done with the row under the cursor."""
        from console.dialogs.chooser import MenuDialog

        actions = row_actions(self.at, self.read_only, self.keymap_in_force)
        self.push_screen(
            MenuDialog("This row", actions), lambda chosen: None if chosen is None else self.run_table_action(chosen)
        )

    def write_file(self, default_name: str, lines: Callable[[], list[str]]) -> None:
        """Write what is shown to a file."""
        from console.dialogs.write_file import WriteFileDialog

        self.push_screen(WriteFileDialog(default_name, lines))

    def copy(self, text: str, what: str) -> None:
        """Copy a text, made safe, and say so."""
        self.copy_to_clipboard(copyable(text))
        self.say(f"copied {what}: {one_line(text, 60)}")

    # deeds

    async def do(self, name: str, **arguments: Any) -> Any:
        """Run a verb off the UI thread and give its result. Raises its Refusal, or StoreError.

        The connection is opened by the first deed, never by looking (room.md 2.12).
        """
        if self.read_only:
            raise Refusal("operator_role_required", "The console is read-only: start it without --read-only to act.")
        try:
            return await asyncio.to_thread(self._do, name, arguments)
        finally:
            self.feed.read_again()

    def _do(self, name: str, arguments: dict[str, Any]) -> Any:
        from core.room import Place, Room

        with self._room_lock:
            if self._room is None:
                self._room = Room(Place(self.path, "console"), clock=self.clock, processes=self.processes)
        self._room.called("watchroom console")
        result = self._room.do(name, **arguments)
        if name == "accept_anchors":
            self._room.restart_anchors()
        return result


_TABLE_IDS = frozenset(action.id for action in ACTIONS)


def run_console(
    path: Path, *, project: str | None, read_only: bool, mouse: bool = True, theme: str | None = None, screen: str | None = None
) -> int:
    """Open the console on a store until it is closed; gives the exit code. The store need not exist yet.

    `screen` is where it opens; None is where it was left the last time.
    """
    state_file = memory.memory_path()
    remembered = memory.load_memory(state_file)
    remembered.screen = screen or remembered.screen
    config = memory.load_config(memory.config_path())
    app = ConsoleApp(
        path,
        project=project,
        read_only=read_only,
        theme=theme,
        remembered=remembered,
        config=config,
        remember=partial(memory.save_memory, state_file),
        drafts=Drafts(drafts_folder()),
    )
    return app.run(mouse=mouse and config.mouse) or 0
