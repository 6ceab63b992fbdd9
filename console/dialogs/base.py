"""What every dialog has: a title, a body that scrolls, buttons that do not, and no way to confirm by reflex (console.md, Acting safely)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from console.text import one_line, safe_content
from core.views.snapshot import Snapshot

REFLEX_SECONDS = 0.3
"""After opening and after a change, keys that confirm are not taken for so long: nobody can have read it yet."""

Do = Callable[..., Awaitable[Any]]
T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """A dialog. A subclass says what is in it (`body`, `buttons`), and what confirming does (`confirm`)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", show=False),
        Binding("ctrl+s", "confirm", "confirm", show=False),
    ]
    DANGEROUS: ClassVar[bool] = False

    DEFAULT_CSS = """
    Dialog {
        & > Vertical > VerticalScroll { height: auto; max-height: 60vh; scrollbar-size-vertical: 1; }
        & > Vertical > .field { height: auto; margin-top: 1; }
        & Input { border: none; height: 1; padding: 0 1; background: $background; background-tint: transparent; }
        & > Vertical > .buttons { height: 1; margin-top: 1; align-horizontal: right; }
        & .buttons > Button { margin-left: 2; }
        & .buttons > Static { width: 1fr; color: $text-muted; }
        & .said { height: auto; max-height: 6; }
    }
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._opened_at = 0.0
        self._said = Static("", classes="said", markup=False)

    def compose(self) -> ComposeResult:
        """Title, body, what was said last, buttons."""
        with Vertical(classes=f"dialog{' -dangerous' if self.DANGEROUS else ''}") as frame:
            frame.border_title = safe_content(one_line(self._title))
            with VerticalScroll(can_focus=False):
                yield from self.body()
            yield from self.fields()
            yield self._said
            with Horizontal(classes="buttons"):
                yield Static(safe_content(self.hint()))
                yield from self.buttons()

    def body(self) -> Iterator[Widget]:
        """What is to be read; it scrolls where there is not room for all of it."""
        return iter(())

    def fields(self) -> Iterator[Widget]:
        """What is to be filled in; always in view."""
        return iter(())

    def buttons(self) -> Iterator[Widget]:
        """The buttons; Back at least."""
        yield Button("Back", id="back")

    def hint(self) -> str:
        """How it is confirmed, in a few words."""
        return ""

    def on_mount(self) -> None:
        """The first field has the focus, or Back where there is none."""
        self.wait_a_moment()
        fields = [field for field in self.query(Input) if field.display]
        (fields[0] if fields else self.query_one("#back", Button)).focus()

    def wait_a_moment(self) -> None:
        """Take no confirmation for a moment."""
        self._opened_at = self.app.clock.monotonic() if hasattr(self.app, "clock") else 0.0
        self._reflex = True
        self.set_timer(REFLEX_SECONDS, self._moment_over)

    def _moment_over(self) -> None:
        self._reflex = False

    @property
    def settled(self) -> bool:
        """Whether a person can have read what is shown."""
        return not self._reflex

    def say(self, words: str, role: str = "") -> None:
        """Say something above the buttons; it stays until something else is said."""
        for name in ("danger", "warning", "ok", "muted"):
            self._said.set_class(name == role, name)
        self._said.update(safe_content(words, limit=2_000))

    def follow(self, snapshot: Snapshot) -> None:
        """The store has changed while the dialog is open."""

    def action_back(self) -> None:
        """One step back."""
        self.dismiss(None)

    def action_confirm(self) -> None:
        """Confirm, if a person can have read what is shown."""
        if self.settled:
            self.run_worker(self.confirm(), exclusive=True, group="confirm")

    async def confirm(self) -> None:
        """What confirming does."""

    @on(Button.Pressed, "#back")
    def _back_pressed(self) -> None:
        self.action_back()

    @on(Button.Pressed, "#confirm")
    def _confirm_pressed(self) -> None:
        self.action_confirm()

    @on(Input.Submitted)
    def _enter_moves_on(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus_next()

    def on_key(self, event: events.Key) -> None:
        """Keys do not fall through a dialog to the screen below."""
        if event.key == "q" and not isinstance(self.focused, Input):
            event.stop()
            self.action_back()
