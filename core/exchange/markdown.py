"""Foreign text in a Markdown document: code, which no renderer reads as anything else (console.md, Feel).

Every text is fenced or in a code span whose backticks are longer than any run of them inside, so none can end what holds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from core.clock import parse_stamp

Inert = Callable[[str], str]
"""Makes every character of a text that acts or hides visible, and leaves line feeds and tabs as they are."""
NOTHING = "–"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


class Page:
    """A document that is written from its beginning to its end."""

    def __init__(self, write: Callable[[str], object], inert: Inert) -> None:
        self._write = write
        self._inert = inert

    def heading(self, level: int, words: str) -> None:
        """A heading; what is foreign in `words` went through `code`."""
        self._write(f"{'#' * level} {words}\n\n")

    def say(self, words: str) -> None:
        """A paragraph of our own words."""
        self._write(f"{words}\n\n")

    def items(self, words: Iterable[str]) -> None:
        """A list, item by item; nothing for no items."""
        any_written = False
        for one in words:
            self._write(f"- {one}\n")
            any_written = True
        if any_written:
            self._write("\n")

    def text(self, text: object) -> None:
        """A foreign text whole, in a fence of its own."""
        plain = self._inert(str(text))
        fence = "`" * max(3, _longest_run(plain) + 1)
        self._write(f"{fence}text\n{plain}{'' if plain.endswith(chr(10)) else chr(10)}{fence}\n\n")

    def code(self, value: object) -> str:
        """A foreign word or line, for a place inside our own words."""
        if value is None:
            return NOTHING
        plain = " ".join(self._inert(str(value)).split()) or " "
        ticks = "`" * (_longest_run(plain) + 1)
        pad = " " if "`" in (plain[0], plain[-1]) else ""
        return f"{ticks}{pad}{plain}{pad}{ticks}"

    def when(self, value: object) -> str:
        """A stored time; one that cannot be read is shown as it is."""
        if value is None:
            return NOTHING
        moment = parse_stamp(value)
        return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else self.code(value)

    def day(self, value: object) -> str:
        """The day of a stored time."""
        moment = parse_stamp(value)
        return f"{moment:%Y-%m-%d}" if moment else "A time that cannot be read"

    def number(self, value: object) -> str:
        """A stored number."""
        return f"{value:,}" if isinstance(value, int) else self.code(value)
