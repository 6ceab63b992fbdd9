"""Write what is shown to a file: a new one, for its owner alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from textual.widget import Widget

from console.dialogs.base import Dialog, DialogButton, Field, Lines
from console.text import copyable, one_line
from console.widgets.document import Line
from core.errors import Refusal, StoreError

MOST_NAMES = 1_000


class WriteFileDialog(Dialog[Path]):
    """Asks for a path and writes the lines there; gives the path, or None."""

    HINT = "esc back · ctrl+s writes"

    def __init__(self, default_name: str, lines: Callable[[], Iterable[str]]) -> None:
        """`lines` is called off the UI thread."""
        super().__init__("Write to a file")
        self._lines = lines
        self._proposed = default_name
        self.path = Field("file", default_name, id="path")

    def body(self) -> Iterable[Widget]:
        """Where it goes and how."""
        return (
            Lines(
                (),
                id="where",
            ),
        )

    def fields(self) -> Iterable[Widget]:
        """The path."""
        return (self.path,)

    def buttons(self) -> Iterable[DialogButton]:
        """Back and the deed."""
        return (DialogButton("Back", "back"), DialogButton("Write", "confirm"))

    def on_mount(self) -> None:
        """Propose a name that is free."""
        self.query_one("#where", Lines).set_lines(
            Line(os.fspath(Path.cwd()), label="folder"),
            Line("A file that is there already is never overwritten. Only you can read the new one.", "muted"),
        )
        self.path.input.cursor_position = len(self.path.text)
        self.run_worker(self._propose(), group="propose", exit_on_error=False)

    async def _propose(self) -> None:
        free = await asyncio.to_thread(free_name, self._proposed)
        if self.is_mounted and self.path.text == self._proposed:
            self.path.text = free

    def why_not(self) -> str:
        """Whether there is a name."""
        return "" if self.path.text.strip() else "Give the file a name."

    async def confirm(self) -> None:
        """Write."""
        found = await self.attempt(self._write, "write", "writing…", text=self.path.text.strip())
        if not self.is_mounted:
            return
        if isinstance(found, Refusal | StoreError):
            self.say(found.sentence if isinstance(found, Refusal) else str(found), "danger")
            return
        path, count = found
        self.app.notify(one_line(f"Wrote {count:,} line{'' if count == 1 else 's'} to {path}"), markup=False)
        self.close(path)

    async def _write(self, name: str, *, text: str) -> tuple[Path, int]:
        del name
        return await asyncio.to_thread(self._write_now, text)

    def _write_now(self, text: str) -> tuple[Path, int]:
        try:
            path = Path(text).expanduser()
        except RuntimeError:
            raise Refusal("invalid_input", f"There is no such home folder: {text}.") from None
        return path, write_new(path, self._lines)


def free_name(name: str) -> str:
    """The name, or with a number the first that is not taken."""
    path = Path(name)
    with contextlib.suppress(OSError, ValueError):
        for number in range(1, MOST_NAMES):
            proposed = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
            if not os.path.lexists(proposed):
                return os.fspath(proposed)
    return name


def write_new(path: Path, lines: Callable[[], Iterable[str]]) -> int:
    """Write a new file, whole or not at all, and give the number of lines. Refuses `invalid_input` with what stands in the way."""
    try:
        # O_EXCL: a file that came meanwhile, or a link, is never written through.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        there = "a folder: add a file name" if path.is_dir() else "there already, and is left as it is: choose another name"
        raise Refusal("invalid_input", f"{path} is {there}.") from None
    except (FileNotFoundError, NotADirectoryError):
        raise Refusal("invalid_input", f"There is no folder {path.parent}.") from None
    except (OSError, ValueError) as error:
        raise Refusal("invalid_input", f"{path} can't be written: {_why(error)}.") from None
    count = 0
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            for line in lines():
                file.write(copyable(line) + "\n")
                count += 1
    except BaseException as error:
        with contextlib.suppress(OSError):
            path.unlink()
        if isinstance(error, OSError):
            raise Refusal("invalid_input", f"{path} could not be written whole, so it was taken away: {_why(error)}.") from None
        raise
    return count


def _why(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
