"""Why a verdict is believed: the facts of death first, each with a glyph of its own."""

from __future__ import annotations

from collections.abc import Sequence

from console.themes import VERDICT_LOOK
from console.widgets.document import Line
from console.widgets.sections import Lines
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


class EvidenceList(Lines):
    """A verdict with its evidence, as high as it needs to be."""

    def set_evidence(self, verdict: Verdict | None, evidence: Sequence[Evidence]) -> None:
        """Show this verdict and these reasons."""
        self.set_lines(*evidence_lines(verdict, evidence))
