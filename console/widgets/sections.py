"""Titled lines that are as high as they need to be, for dialogs and for evidence."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.geometry import Size

from console.widgets.document import DetailTab, Line, Section, lay_out_tab
from console.widgets.piece import Piece, PieceLines


class Lines(PieceLines):
    """Titled lines, wrapped, as high as they need to be; not there while there are none."""

    DEFAULT_CSS = """
    Lines { height: auto; width: 1fr; display: none; &.-some { display: block; } }
    """

    def __init__(self, sections: Iterable[Section] = (), *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._sections: tuple[Section, ...] = ()
        self._laid: tuple[int, tuple[tuple[Piece, ...], ...]] = (-1, ())
        self.set_sections(sections)

    @property
    def sections(self) -> tuple[Section, ...]:
        """What is shown."""
        return self._sections

    @property
    def words(self) -> str:
        """What is shown, as plain text."""
        lines = (line for section in self._sections for line in section.lines)
        return "\n".join(line if isinstance(line, str) else line.text for line in lines)

    def set_lines(self, *lines: Line | str) -> None:
        """Show these lines."""
        self.set_sections((Section("", lines),) if lines else ())

    def set_sections(self, sections: Iterable[Section]) -> None:
        """Show these sections."""
        sections = tuple(sections)
        if sections != self._sections:
            self._sections = sections
            self._laid = (-1, ())
            self.set_class(bool(sections), "-some")
            self.refresh(layout=True)

    def lines_for(self, width: int) -> tuple[tuple[Piece, ...], ...]:
        """The lines, wrapped."""
        if self._laid[0] != width:
            self._laid = (width, lay_out_tab(DetailTab("", self._sections), width))
        return self._laid[1]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the texts take at this width."""
        del container, viewport
        return len(self.lines_for(width))

    def on_resize(self, event: events.Resize) -> None:
        """Another width wraps the texts anew."""
        del event
        self.refresh()
