"""The header: which store, whose eyes, how fresh, and the screens with their counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from textual import events
from textual.message import Message

from console.widgets.piece import Piece, PieceLines, spread, width_of

GAP = Piece("   ")


@dataclass(frozen=True, slots=True)
class Tab:
    """One screen in the header."""

    screen: str
    key: str
    title: str
    count: str = ""
    """Words for the number behind it; "" has none, and what isn't measured is said, never 0."""
    role: str = "muted"
    """The role of the count: danger where something needs a person."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """How fresh what is shown is: "live", "locked since 12 s, showing 10:41:07", "12 changes waiting"."""

    text: str = "live"
    role: str = "ok"
    glyph: str = "●"


@dataclass(frozen=True, slots=True)
class HeaderState:
    """Everything the header says."""

    store: str = ""
    project: str = ""
    """The project shown; "" for all."""
    who: str = ""
    read_only: bool = False
    freshness: Freshness = field(default_factory=Freshness)
    tabs: tuple[Tab, ...] = ()
    active: str = ""


class RoomHeader(PieceLines):
    """Two lines over everything: what one looks at, and where one can go."""

    DEFAULT_CSS = """
    RoomHeader {
        dock: top;
        height: 2;
        width: 1fr;
        background: $panel;
    }
    """

    class TabChosen(Message):
        """A screen was clicked."""

        def __init__(self, screen: str) -> None:
            super().__init__()
            self.screen = screen

    def __init__(self, state: HeaderState | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._state = state or HeaderState()

    @property
    def state(self) -> HeaderState:
        """What it says now."""
        return self._state

    def set_state(self, state: HeaderState) -> None:
        """Say this."""
        if state != self._state:
            self._state = state
            self.refresh()

    def lines_for(self, width: int) -> list[tuple[Piece, ...]]:
        """The room's line and the screens' line."""
        return [room_line(self._state, width), tuple(piece for piece, _ in tab_pieces(self._state, width))]

    def on_click(self, event: events.Click) -> None:
        """A click on a screen goes there."""
        if event.y != 1:
            return
        at = 0
        for piece, screen in tab_pieces(self._state, self.size.width):
            if screen and at <= event.x < at + piece.width:
                self.post_message(self.TabChosen(screen))
                return
            at += piece.width


def room_line(state: HeaderState, width: int) -> tuple[Piece, ...]:
    """Store, project, who and freshness; a short line loses who, then the project, but never the store or the freshness."""
    fresh = state.freshness
    right = (Piece(f"{fresh.glyph} {fresh.text} ".lstrip(), fresh.role),)
    store = (Piece(f" {state.store}", "strong"),)
    read_only = (Piece("  "), Piece("read-only", "warning")) if state.read_only else ()
    project = (GAP, Piece("project ", "muted"), Piece(state.project or "all", "" if state.project else "muted"))
    who = (GAP, Piece("you ", "muted"), Piece(state.who)) if state.who else ()
    choices: Sequence[tuple[Piece, ...]] = (
        (*store, *project, *who, *read_only),
        (*store, *project, *read_only),
        (*store, *((GAP, project[2]) if state.project else ()), *read_only),
        (*store, *read_only),
    )
    for left in choices:
        if width_of(left) + 2 + width_of(right) <= width:
            return spread(left, right, width)
    return spread((*read_only[1:], *store), right, width)


def tab_pieces(state: HeaderState, width: int) -> list[tuple[Piece, str]]:
    """The screens' line as pieces with the screen each belongs to; a short line loses counts, then the others' titles."""
    for counts, titles in ((True, True), (False, True), (False, False)):
        pieces = [piece for tab in state.tabs for piece in _tab(tab, tab.screen == state.active, counts, titles)]
        if width_of(piece for piece, _ in pieces) <= width:
            break
    return pieces if state.tabs else []


def _tab(tab: Tab, active: bool, counts: bool, titles: bool) -> list[tuple[Piece, str]]:
    # A count that needs a person is the last thing to go.
    count = tab.count if tab.count and (counts or tab.role in ("danger", "warning")) else ""
    title = f" {tab.title}" if titles or active else ""
    ground = " tab" if active else ""
    pieces = [Piece(f" {tab.key}", f"key{ground}"), Piece(title, f"strong{ground}" if active else "muted")]
    if count:
        pieces.append(Piece(f" {count}", f"{tab.role}{ground}"))
    pieces.append(Piece(" ", ground.strip()))
    return [(piece, tab.screen) for piece in pieces if piece.text] + [(Piece(" "), "")]
