"""A list with its detail: side by side where there is room, one above the other where there isn't."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container

from console.table import RowTable
from console.widgets.detail import DetailPane

SIDE_BY_SIDE = 110
"""From this width on the detail stands beside the list."""
STACK_HEIGHT = 18
"""Under this height a stacked detail would leave neither of them enough lines; it shows when enlarged."""


class ListDetail(Container):
    """A RowTable and its DetailPane; `+` gives the detail everything, and again gives it back."""

    DEFAULT_CSS = """
    ListDetail {
        layout: vertical;
        & > RowTable { height: 3fr; }
        & > DetailPane { height: 2fr; border-top: solid $border-blurred; &:focus-within { border-top: solid $border; } }
        &.-wide {
            layout: horizontal;
            & > RowTable { width: 3fr; height: 1fr; }
            & > DetailPane {
                width: 2fr; height: 1fr; border-top: none; border-left: solid $border-blurred;
                &:focus-within { border-top: none; border-left: solid $border; }
            }
        }
        &.-low > DetailPane { display: none; }
        &.-enlarged > RowTable { display: none; }
        &.-enlarged > DetailPane { display: block; border: none; width: 1fr; height: 1fr; }
    }
    """

    def __init__(self, table: RowTable, detail: DetailPane, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.table = table
        self.detail = detail

    def compose(self) -> ComposeResult:
        """The list, then its detail."""
        yield self.table
        yield self.detail

    def on_resize(self, event: events.Resize) -> None:
        """Beside or below, by the room there is."""
        wide = event.size.width >= SIDE_BY_SIDE
        self.set_class(wide, "-wide")
        self.set_class(not wide and event.size.height < STACK_HEIGHT, "-low")

    @property
    def enlarged(self) -> bool:
        """Whether the detail has everything."""
        return self.has_class("-enlarged")

    @on(DetailPane.EnlargeAsked)
    def toggle_enlarged(self) -> None:
        """Give the detail everything, or give it back; the focus goes along."""
        self.toggle_class("-enlarged")
        if self.enlarged:
            self.call_after_refresh(self.detail.body.focus)
        else:
            self.call_after_refresh(self.table.focus)
