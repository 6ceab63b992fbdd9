"""Why a verdict is believed: the facts of death first, each with a glyph of its own."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Size

from console.themes import VERDICT_LOOK
from console.widgets.document import DetailTab, Line, Section, lay_out_tab
from console.widgets.piece import Piece, PieceLines
from core.models import Evidence, Verdict

DEATH, OTHER = "✗", "·"


def evidence_lines(verdict: Verdict | None, evidence: Sequence[Evidence]) -> tuple[Line, ...]:
    """The verdict and its reasons as lines of a detail or a dialog; inside each half the given order stays."""
    look = VERDICT_LOOK[verdict] if verdict is not None else None
    head = (Line(look.word, f"{look.role} bold", look.glyph),) if look is not None else ()
    deaths = tuple(Line(reason.text, "danger", DEATH, indent=2) for reason in evidence if reason.death)
    others = tuple(Line(reason.text, "", OTHER, indent=2) for reason in evidence if not reason.death)
    none = () if evidence else (Line("no evidence either way", "muted", OTHER, indent=2),)
    return (*head, *deaths, *others, *none)


class EvidenceList(PieceLines):
    """A verdict with its evidence, as high as it needs to be."""

    DEFAULT_CSS = """
    EvidenceList {
        height: auto;
        width: 1fr;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: tuple[Line, ...] = ()
        self._laid: tuple[int, tuple[tuple[Piece, ...], ...]] = (-1, ())

    def set_evidence(self, verdict: Verdict | None, evidence: Sequence[Evidence]) -> None:
        """Show this verdict and these reasons."""
        lines = evidence_lines(verdict, evidence)
        if lines != self._lines:
            self._lines = lines
            self._laid = (-1, ())
            self.refresh(layout=True)

    def lines_for(self, width: int) -> tuple[tuple[Piece, ...], ...]:
        """The lines, wrapped."""
        if self._laid[0] != width:
            self._laid = (width, lay_out_tab(DetailTab("", (Section("", self._lines),)), width))
        return self._laid[1]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the reasons take at this width."""
        del container, viewport
        return len(self.lines_for(width))

    def on_resize(self, event: events.Resize) -> None:
        """Another width wraps the reasons anew."""
        del event
        self.refresh()
