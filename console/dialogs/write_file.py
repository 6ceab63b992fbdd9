"""Writing what is shown to a file that is not there yet (console.md, Keys)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from textual.widget import Widget
from textual.widgets import Button, Input, Static

from console.dialogs.base import Dialog
from console.text import copyable, one_line, safe_content


class WriteFileDialog(Dialog[Path]):
    """Asks for a path and writes lines there, for their owner alone, never over anything."""

    def __init__(self, default_name: str, lines: Callable[[], Iterable[str]]) -> None:
        super().__init__("Write what is shown to a file")
        self._name = default_name
        self._lines = lines
        self._written: Path | None = None

    def body(self) -> Iterator[Widget]:
        """What is written."""
        yield Static(safe_content("One JSON line a row, as shown now. A file that exists is never overwritten."))

    def fields(self) -> Iterator[Widget]:
        """The path."""
        yield Input(value=str(Path.cwd() / self._name), id="path", classes="field", compact=True)

    def buttons(self) -> Iterator[Widget]:
        """Back and write."""
        yield Button("Back", id="back")
        yield Button("Write", id="confirm")

    def hint(self) -> str:
        """How it is confirmed."""
        return "ctrl+s writes · esc goes back"

    async def confirm(self) -> None:
        """Write the file."""
        if self._written is not None:
            self.dismiss(self._written)
            return
        path = Path(self.query_one("#path", Input).value.strip()).expanduser()
        lines = [copyable(line) for line in self._lines()]
        try:
            await asyncio.to_thread(write_new, path, lines)
        except FileExistsError:
            self.say(f"{one_line(str(path))} is there already: choose another name.", "warning")
        except OSError as error:
            self.say(f"It can't be written: {error.strerror or error}.", "warning")
        else:
            self._written = path
            self.say(f"{len(lines):,} lines written to {one_line(str(path))}.", "ok")
            self.query_one("#confirm", Button).display = False
            self.query_one("#back", Button).focus()


def write_new(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file that must not exist, readable by its owner alone. Raises FileExistsError and other OSErrors."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
