"""The floor of a screen: a Textual app with one line and nothing behind it."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static

WORDS = "an empty app"


class EmptyApp(App[None]):
    """One line."""

    def compose(self) -> ComposeResult:
        """It."""
        yield Static(WORDS)


if __name__ == "__main__":
    EmptyApp().run()
