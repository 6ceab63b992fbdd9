"""What every dialog has: a panel with a title, a body that scrolls, a button row, and no way to confirm by reflex."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input

from console.dialogs.parts import CountedField, DialogButton, Field, TypedField
from console.text import one_line, safe_content
from console.widgets.document import Line
from console.widgets.sections import Lines
from core.errors import Refusal, StoreError
from core.views.snapshot import Snapshot

__all__ = ["REASON_REQUIRED", "CountedField", "Dialog", "DialogButton", "Do", "Field", "Lines", "now", "sentence_of"]

Result = TypeVar("Result")
Do = Callable[..., Awaitable[Any]]
"""`await do("verb", **arguments)` runs a verb off the UI thread; it raises Refusal or StoreError."""
REASON_REQUIRED = "A reason is required: one sentence that says why."
SAID_LIMIT = 800
"""Characters that what is said above the buttons may take: a refusal may quote foreign text of any length."""


class Panel(Vertical):
    """The frame of a dialog."""


class Body(VerticalScroll, can_focus=False):
    """What a dialog shows; it scrolls so that fields and buttons never leave a small terminal."""


class Dialog(ModalScreen[Result], Generic[Result]):
    """A modal question. Subclasses yield `body()`, `fields()` and `buttons()`, and say in `confirm()` what confirming does."""

    # Empty, because Textual's default of the first focusable widget would not know reason fields from others.
    AUTO_FOCUS: ClassVar[str | None] = ""

    OPENING_SECONDS: ClassVar[float] = 0.3
    """Keys this soon after the first paint can't confirm: a held or pasted trigger key."""
    CHANGE_SECONDS: ClassVar[float] = 1.0
    """How long confirming waits after the thing shown has changed."""
    HINT: ClassVar[str] = "esc back"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", show=False, id="step_back"),
        Binding("q", "back", "close", show=False, id="close_layer"),
        Binding("ctrl+s", "confirm", "confirm", show=False),
        Binding("pageup", "scroll_body(-1)", "page up", show=False),
        Binding("pagedown", "scroll_body(1)", "page down", show=False),
    ]

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > Panel {
            width: 90%; max-width: 100; height: auto; max-height: 100%; padding: 1 2;
            background: $panel; border: round $role-muted;
            border-title-color: $foreground; border-title-style: bold; border-subtitle-color: $role-muted;
            & > Body { height: auto; scrollbar-size-vertical: 1; scrollbar-background: $panel; }
            & > #fields { height: auto; margin: 1 0 0 0; }
            & > #said { margin: 1 0 0 0; }
            & > #buttons { height: 1; margin: 1 0 0 0; }
        }
        &.-dangerous > Panel { border: round $role-danger; border-title-color: $role-danger; }
        &.-whole > Panel {
            width: 100%; max-width: 100%; height: 100%; margin: 1 2; & > Body { height: 1fr; }
        }
        &.-small > Panel {
            width: 100%; padding: 0 1; margin: 0;
            & > #said, & > #fields, & > #buttons { margin: 0; }
        }
    }
    """

    def __init__(self, heading: str, *, dangerous: bool = False, whole: bool = False) -> None:
        """`heading` may be foreign text. A `whole` dialog takes the screen and sees to its own scrolling."""
        super().__init__()
        self.set_class(dangerous, "-dangerous")
        self.set_class(whole, "-whole")
        self.hint = self.HINT
        self._heading = heading
        self._whole = whole
        self._opened_at: float | None = None
        self._held_until = 0.0
        self._key_time = 0.0
        self._deed = ""
        self._given = False
        self._late: tuple[Result | None] | None = None
        self.panel = Panel()
        self.body_box = Body()
        self.said = Lines(id="said")

    def compose(self) -> ComposeResult:
        """Body, fields, what was said last, buttons."""
        with self.panel:
            with self.body_box:
                yield from self.body()
            fields = tuple(self.fields())
            if fields:
                with Vertical(id="fields"):
                    yield from fields
            yield self.said
            with Horizontal(id="buttons"):
                yield from self.buttons()

    def body(self) -> Iterable[Widget]:
        """What is shown."""
        return ()

    def fields(self) -> Iterable[Widget]:
        """What is to be filled in."""
        return ()

    def buttons(self) -> Iterable[DialogButton]:
        """The button row; Back comes first."""
        return (DialogButton("Back", "back"),)

    def first_focus(self) -> Widget | None:
        """What has the focus at first: the first field, or Back."""
        fields = self.query(TypedField)
        return fields.first() if fields else self.query(DialogButton).first()

    async def confirm(self) -> None:
        """Do what was confirmed; runs in a worker, and nothing else can be confirmed until it is done."""

    def why_not(self) -> str:
        """Why confirming is off now, as a sentence; "" when it isn't."""
        return ""

    def follow(self, snapshot: Snapshot) -> None:
        """The store has changed: show what is so now. The app calls it with every new snapshot."""
        del snapshot

    # Opening and layout.

    def on_mount(self) -> None:
        """Title, focus, and the first paint, from which keys are counted."""
        self.panel.border_title = safe_content(self._heading)
        self.panel.border_subtitle = safe_content(self.hint)
        first = self.first_focus()
        if first is not None:
            first.focus(scroll_visible=False)
        self.refresh_buttons()
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        self._opened_at = now()
        self.set_timer(self.OPENING_SECONDS, self.refresh_buttons)

    def on_resize(self, event: events.Resize) -> None:
        """A small terminal loses the blank lines first."""
        self.set_class(event.size.height < 30 or event.size.width < 90, "-small")
        self.fit_soon()

    def set_hint(self, hint: str) -> None:
        """Name these keys in the frame."""
        self.hint = hint
        self.panel.border_subtitle = safe_content(hint)
        self.fit_soon()

    def fit_soon(self) -> None:
        """Share the height out again, once what changed is laid out."""
        if not self._whole:
            self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Give the body what fields and buttons leave."""
        if not self.is_mounted:
            return
        others = sum(
            child.outer_size.height + child.styles.margin.height
            for child in self.panel.children
            if child is not self.body_box and child.display
        )
        most = max(3, self.size.height - self.panel.gutter.height - others)
        limit = self.body_box.styles.max_height
        if limit is None or limit.cells != most:
            self.body_box.styles.max_height = most
        more = self.body_box.virtual_size.height > most
        self.panel.border_subtitle = safe_content(f"PgDn more · {self.hint}" if more else self.hint)

    # What it says.

    def say(self, text: str, role: str = "") -> None:
        """Say this above the buttons; "" takes it away."""
        if text:
            self.said.set_lines(Line(one_line(text, SAID_LIMIT), role))
        else:
            self.said.set_lines()
        self.fit_soon()

    def hold(self, text: str) -> None:
        """The thing shown has changed: say so, and let confirming wait a moment."""
        self._held_until = now() + self.CHANGE_SECONDS
        self.say(text, "warning bold")
        self.refresh_buttons()
        self.set_timer(self.CHANGE_SECONDS, self.refresh_buttons)

    def refresh_buttons(self) -> None:
        """Let the confirming button look as it would act."""
        for button in self.query(DialogButton):
            if button.action == "confirm":
                button.off = not self.may_confirm
            elif button.action == "back":
                button.off = bool(self._deed)

    # Confirming.

    @property
    def busy(self) -> bool:
        """Whether a deed is being done."""
        return bool(self._deed)

    @property
    def may_confirm(self) -> bool:
        """Whether confirming would do something now."""
        return not (self.too_early(now()) or self._deed or self._given or self.why_not())

    def too_early(self, moment: float) -> bool:
        """Whether a key pressed at this moment came too soon after the opening or a change to be meant."""
        return self._opened_at is None or moment < max(self._opened_at + self.OPENING_SECONDS, self._held_until)

    def on_key(self, event: events.Key) -> None:
        """Every key comes by before its binding is looked up: note when it was pressed, which may be long before it is worked off."""
        self._key_time = event.time

    def action_confirm(self) -> None:
        """Ctrl+s."""
        self._confirm_asked(self._key_time)

    def action_back(self) -> None:
        """One step back."""
        if self._deed:
            self.say(f"{self._deed} Wait for the outcome; it takes ten seconds at most.", "accent")
        else:
            self.close(self.result_of_back())

    def result_of_back(self) -> Result | None:
        """What going back gives."""
        return None

    def action_scroll_body(self, step: int) -> None:
        """Scroll what is shown by a page."""
        self.body_box.scroll_relative(y=step * max(1, self.body_box.size.height - 1), animate=False)

    @on(DialogButton.Pressed)
    async def _pressed(self, event: DialogButton.Pressed) -> None:
        event.stop()
        if event.button.action == "confirm":
            self._confirm_asked(event.time if event.by_mouse else self._key_time)
        else:
            await self.run_action(event.button.action)

    @on(Input.Changed)
    def _typed_in(self, event: Input.Changed) -> None:
        """What is typed decides whether confirming is off; what else it means, a subclass has worked out before."""
        event.stop()
        self.refresh_buttons()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Enter in a field moves on to the next field, and from the last one nowhere: it can't become a confirmation."""
        event.stop()
        fields = [field for field in self.query(TypedField) if field.is_on_screen]
        at = fields.index(event.input) if event.input in fields else len(fields)
        if at + 1 < len(fields):
            fields[at + 1].focus()
        else:
            self.say(self.why_not() or "ctrl+s confirms, or tab to its button and enter.", "muted")

    def _confirm_asked(self, moment: float) -> None:
        if self._deed or self._given or self.too_early(moment):
            return
        reason = self.why_not()
        if reason:
            self.say(reason, "warning")
            return
        self.run_worker(self.confirm(), exclusive=True, group="confirm", exit_on_error=False)

    async def attempt(self, do: Do, name: str, words: str, **arguments: Any) -> Any:
        """Do a deed and give its receipt, or the Refusal or StoreError it met: a failure never leaves the dialog."""
        self._deed = words
        self.say(words, "accent")
        self.refresh_buttons()
        try:
            return await do(name, **arguments)
        except (Refusal, StoreError) as error:
            return error
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self.log.error(f"{name} failed", error)
            return StoreError(
                f"Something failed that should not have ({type(error).__name__}). Whether it was done is not known: look again."
            )
        finally:
            self._deed = ""
            if self.is_attached:
                self.say("")
                self.refresh_buttons()

    def close(self, result: Result | None = None) -> None:
        """Give the result and close, as soon as nothing lies on top."""
        if self._given:
            return
        if not self.is_current:
            self._late = (result,)
            return
        self._given = True
        self.dismiss(result)

    def on_screen_resume(self) -> None:
        """What lay on top is gone: close now if that waited."""
        if self._late is not None:
            self.close(self._late[0])


def now() -> float:
    """The clock by which Textual stamps its keys."""
    return Message().time


def sentence_of(error: Refusal | StoreError) -> str:
    """What a failure says to a person."""
    return error.sentence if isinstance(error, Refusal) else str(error)
