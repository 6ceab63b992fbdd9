"""The table of actions itself: what the operator can do, by which key, and where. `console.actions` is what reads it.

An action's id is the name of the `action_<id>` method that does it, the id of its Textual binding, and its name in the
config file's `[keys]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Owner = Literal["app", "pane", "list", "detail"]
"""Who has the method: the app, a pane, the focused list (RowTable), or the focused detail (DetailPane)."""

Group = Literal["Screens", "Move", "Look", "Find", "Mark", "Take away", "Act", "Console"]

SCREENS: Final = ("overview", "wraps", "sessions", "slots", "audit", "memory")
"""The screens there are, in the order of the header; the key 7 comes with its screen."""

MEMORY_VIEWS: Final = ("continuity", "episodes", "patterns", "loops", "knowledge", "kept")
"""The views of the Memory screen, in the order of its own line; as places they are `memory.episodes` and so on."""

PLACES: Final = (*SCREENS[:-1], *(f"memory.{view}" for view in MEMORY_VIEWS))
"""Where one can be: a screen, or a view of one. An action of a screen is on all its views."""

EVERYWHERE: Final = "*"

_FACES: Final = {
    "space": "space",
    "escape": "esc",
    "enter": "enter",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
}


def key_face(key: str) -> str:
    """A key as a person reads it."""
    return _FACES.get(key, key)


@dataclass(frozen=True, slots=True)
class Action:
    """One thing the operator can do."""

    id: str
    key: str
    """Textual's key names, or the character itself; several are separated by commas, the first is the one shown."""
    label: str
    """Two words at most, for the footer and the row menu."""
    help: str
    """A sentence for the help and the palette."""
    group: Group
    owners: tuple[Owner, ...] = ("pane",)
    screens: frozenset[str] | Literal["*"] = EVERYWHERE
    dangerous: bool = False
    changes: bool = False
    """It changes the store without being dangerous; read-only has it as little as the dangerous ones."""
    show_in_footer: bool = False
    needs_row: bool = False
    rare: bool = False
    """Lives in the row menu and the palette; has a key only if the operator gives it one."""
    call: str = ""
    """What Textual is to run when it isn't the id itself."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Its keys, one by one."""
        return tuple(key for key in self.key.split(",") if key)

    @property
    def shown_key(self) -> str:
        """Its first key as a person reads it: `↑`, `ctrl+r`, `X`."""
        return key_face(self.keys[0]) if self.keys else ""

    @property
    def shown_keys(self) -> str:
        """All its keys as a person reads them."""
        return " ".join(key_face(key) for key in self.keys)

    @property
    def writes(self) -> bool:
        """Whether it changes the store: what read-only takes away."""
        return self.dangerous or self.changes

    def is_on(self, place: str) -> bool:
        """Whether the action exists at this place: on this screen, or in this view of one."""
        return self.screens == EVERYWHERE or place in self.screens or place.partition(".")[0] in self.screens


def _on(*screens: str) -> frozenset[str]:
    return frozenset(screens)


_READERS: Final[tuple[Owner, ...]] = ("list", "detail")

ACTIONS: Final[tuple[Action, ...]] = (
    # What a screen is for comes first: the footer fills from here until its line is full.
    Action(
        "force_cancel",
        "X",
        "force-cancel",
        "End this wrap, or the marked ones, for its holder: a reason is asked for, frozen episodes are kept",
        "Act",
        screens=_on("overview", "wraps"),
        dangerous=True,
        show_in_footer=True,
        needs_row=True,
    ),
    Action(
        "ask_for_release",
        "m",
        "ask for release",
        "Leave the holder of this wrap a notice that others wait for it",
        "Act",
        screens=_on("wraps"),
        changes=True,
        show_in_footer=True,
        needs_row=True,
    ),
    Action(
        "salvage",
        "u",
        "salvage",
        "Read what was saved of this wrap when it was refused or ended",
        "Act",
        screens=_on("wraps"),
        show_in_footer=True,
        needs_row=True,
    ),
    Action(
        "relay",
        "R",
        "relay",
        "End this session, hand its text over, and open its successor in one step",
        "Act",
        screens=_on("sessions", "slots"),
        dangerous=True,
        show_in_footer=True,
        needs_row=True,
    ),
    Action(
        "end_session",
        "E",
        "end",
        "End this session with a summary and the text that is to stand",
        "Act",
        screens=_on("sessions"),
        dangerous=True,
        show_in_footer=True,
        needs_row=True,
    ),
    Action(
        "abandon_session",
        "A",
        "abandon",
        "Give this session up, with a reason; no focus is changed, its slot becomes free",
        "Act",
        screens=_on("sessions"),
        dangerous=True,
        show_in_footer=True,
        needs_row=True,
    ),
    Action(
        "bind_session",
        "b",
        "bind",
        "Bind this session to one of its project's free slots, for the rest of its life",
        "Act",
        screens=_on("sessions"),
        changes=True,
        needs_row=True,
    ),
    Action(
        "open_slot",
        "o",
        "open slot",
        "Open a slot: a text for one topic in flight, with what it is anchored to",
        "Act",
        screens=_on("slots"),
        changes=True,
        show_in_footer=True,
    ),
    Action(
        "close_slot",
        "C",
        "close slot",
        "Close this slot for good, with a note",
        "Act",
        screens=_on("slots"),
        dangerous=True,
        show_in_footer=True,
        needs_row=True,
    ),
    Action(
        "delete_episode",
        "D",
        "delete",
        "Delete this episode for good; its tombstone stays, and patterns that rest on it may fall",
        "Act",
        screens=_on("memory.episodes"),
        dangerous=True,
        show_in_footer=True,
        needs_row=True,
    ),
    Action(
        "adopt",
        "I",
        "adopt",
        "Edit this kept text beside the continuity that stands, and save it as a new wrap",
        "Act",
        screens=_on("memory.kept"),
        dangerous=True,
        show_in_footer=True,
        needs_row=True,
    ),
    Action(
        "deal_with",
        "u",
        "dealt with",
        "Mark this kept text as dealt with, so that it waits for nobody",
        "Act",
        screens=_on("memory.kept"),
        changes=True,
        show_in_footer=True,
        needs_row=True,
    ),
    Action(
        "predecessor",
        "left",
        "predecessor",
        "Go to the session that this one follows",
        "Move",
        screens=_on("sessions"),
        needs_row=True,
    ),
    Action(
        "successor",
        "right",
        "successor",
        "Go to the session that follows this one",
        "Move",
        screens=_on("sessions"),
        needs_row=True,
    ),
    Action(
        "verify", "v", "verify", "Check the trail link by link, with progress", "Act", screens=_on("audit"), show_in_footer=True
    ),
    Action(
        "export_trail",
        "",
        "export trail",
        "Write the whole trail to a file that verifies without the store",
        "Act",
        screens=_on("audit"),
        rare=True,
    ),
    Action(
        "accept_anchors",
        "",
        "anchor",
        "Say what the anchor file says of the trail; after a restore, let the anchors start again, with a reason",
        "Act",
        screens=_on("audit"),
        changes=True,
        rare=True,
    ),
    # Movement, done by whatever list or text has the focus.
    Action("move_down", "j,down", "down", "One line down", "Move", _READERS),
    Action("move_up", "k,up", "up", "One line up", "Move", _READERS),
    Action("move_home", "g,home", "top", "To the first line", "Move", _READERS),
    Action("move_end", "G,end", "end", "To the last line; in Audit, follow the trail again", "Move", _READERS),
    Action("page_down", "ctrl+d,pagedown", "page down", "One page down", "Move", _READERS),
    Action("page_up", "ctrl+u,pageup", "page up", "One page up", "Move", _READERS),
    Action("choose", "enter", "open", "Open what the cursor is on", "Move", ("list",), show_in_footer=True, needs_row=True),
    Action("step_back", "escape", "back", "One step back: dialog, field, filter, marks, detail; never quits", "Move", ("app",)),
    Action("previous_place", "-", "previous place", "Back to where you were before", "Move", ("app",)),
    # A pane's, because the screen keeps tab from the app; the app does it.
    Action("next_pane", "tab", "other pane", "Between the list and its detail", "Move", call="app.next_pane"),
    Action("previous_tab", "[", "tab left", "The detail's tab to the left", "Look", ("pane", "detail")),
    Action("next_tab", "]", "tab right", "The detail's tab to the right", "Look", ("pane", "detail")),
    Action("enlarge", "+", "enlarge", "Give the detail the whole screen, or give it back", "Look", ("pane", "detail")),
    # Finding.
    Action("filter", "/", "filter", "Show only what holds these words; in a text, find them", "Find", show_in_footer=True),
    Action("find", "/", "find", "Find words in this text", "Find", ("detail",)),
    Action("find_next", "n", "next", "To the next find", "Find", ("pane", "detail")),
    Action("find_previous", "N", "previous", "To the find before", "Find", ("pane", "detail")),
    Action(
        "only_attention",
        "!",
        "needs you",
        "Show only what needs a person",
        "Find",
        screens=_on(*SCREENS[:-1], "memory.loops", "memory.kept"),
        show_in_footer=True,
    ),
    Action("choose_project", "p", "project", "Show one project, or all", "Find", ("app",), show_in_footer=True),
    Action(
        "show_ended",
        "h",
        "ended",
        "Show or hide what is over: ended wraps and sessions, closed slots, resolved loops, archived and dealt-with texts",
        "Find",
        screens=_on("wraps", "sessions", "slots", "memory.loops", "memory.knowledge", "memory.kept"),
        show_in_footer=True,
    ),
    Action("freeze", "f", "freeze", "Freeze what is shown, or follow the store again", "Look", ("app",), show_in_footer=True),
    Action(
        "previous_view",
        "left",
        "view left",
        "The view to the left: continuity, episodes, patterns, loops, knowledge, kept texts",
        "Look",
        screens=_on("memory"),
    ),
    Action(
        "next_view",
        "right",
        "view right",
        "The view to the right: continuity, episodes, patterns, loops, knowledge, kept texts",
        "Look",
        screens=_on("memory"),
    ),
    # Sorting and marking, done by the list.
    Action("sort_left", "<", "sort left", "Sort by the column to the left", "Look", ("list",)),
    Action("sort_right", ">", "sort right", "Sort by the column to the right", "Look", ("list",)),
    Action("sort_reverse", "s", "reverse", "Turn the order round", "Look", ("list",)),
    Action("mark", "space", "mark", "Mark this row, or take its mark away", "Mark", ("list",), needs_row=True),
    Action("mark_all", "*", "mark all", "Mark every row shown; rows a filter hides are left alone", "Mark", ("list",)),
    Action("row_menu", ".", "menu", "Everything that can be done with this row", "Act", show_in_footer=True, needs_row=True),
    # Taking away.
    Action("copy_id", "y", "copy id", "Copy the id of this row", "Take away", needs_row=True),
    Action("copy_json", "Y", "copy JSON", "Copy this row as JSON", "Take away", needs_row=True),
    Action(
        "copy_text",
        "c",
        "copy text",
        "Copy the text itself: the continuity, the episode, the entry",
        "Take away",
        screens=_on("memory"),
        show_in_footer=True,
        needs_row=True,
    ),
    Action("write_file", "w", "write file", "Write what is shown to a file", "Take away"),
    # The console.
    Action(
        "show_overview", "1", "Overview", "What needs a person, counts, activity", "Screens", ("app",), call="show('overview')"
    ),
    Action(
        "show_wraps",
        "2",
        "Wraps",
        "Every open wrap, who holds it, and whether they live",
        "Screens",
        ("app",),
        call="show('wraps')",
    ),
    Action(
        "show_sessions",
        "3",
        "Sessions",
        "Who works on what, whether they live, and what they leave",
        "Screens",
        ("app",),
        call="show('sessions')",
    ),
    Action("show_slots", "4", "Slots", "Topics in flight and base focuses", "Screens", ("app",), call="show('slots')"),
    Action("show_audit", "5", "Audit", "The trail, followed as it is written", "Screens", ("app",), call="show('audit')"),
    Action(
        "show_memory",
        "6",
        "Memory",
        "Continuity, episodes, patterns, loops, knowledge and kept texts",
        "Screens",
        ("app",),
        call="show('memory')",
    ),
    Action(
        "palette",
        ":,ctrl+p",
        "palette",
        "Every action, project, wrap, session and slot by name",
        "Console",
        ("app",),
        call="command_palette",
    ),
    Action("jump", "ctrl+o", "jump", "Jump to a wrap, session or slot by name", "Console", ("app",)),
    Action("read_again", "ctrl+r", "read again", "Read the store again now", "Console", ("app",)),
    Action("change_theme", "t", "theme", "The next theme: dark, light, high contrast, the terminal's own", "Console", ("app",)),
    Action("help", "?", "help", "Help for where you are", "Console", ("app",), show_in_footer=True),
    Action("close_layer", "q", "close", "Close the top layer; at the top level, quit", "Console", ("app",)),
    Action("quit_now", "ctrl+q", "quit", "Quit now; drafts are saved first", "Console", ("app",)),
)
