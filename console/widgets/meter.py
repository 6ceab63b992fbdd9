"""A meter of characters: how many of how many, against a floor where there is one (console.md, Acting safely)."""

from __future__ import annotations

from dataclasses import dataclass

from textual.geometry import Size

from console.widgets.piece import Piece, PieceLines

BAR = 24


@dataclass(frozen=True, slots=True)
class Measure:
    """A text's length in characters against its cap, and against the floor that a replaced text sets (0 for none)."""

    used: int
    cap: int
    floor: int = 0
    standing: int = 0

    @property
    def too_long(self) -> bool:
        """Whether the cap is passed."""
        return self.used > self.cap

    @property
    def too_short(self) -> bool:
        """Whether it is under the floor."""
        return self.used < self.floor

    @property
    def role(self) -> str:
        """The colour of the state."""
        return "danger" if self.too_long or self.too_short else "warning" if self.used > self.cap * 9 // 10 else "ok"

    @property
    def words(self) -> str:
        """The state in words."""
        said = f"{self.used:,} of {self.cap:,} characters"
        if self.too_long:
            return f"{said}: {self.used - self.cap:,} too many"
        if self.floor:
            said += f" · floor {self.floor:,} (70 % of {self.standing:,})"
            if self.too_short:
                return f"{said}: {self.floor - self.used:,} short"
        return said


class Meter(PieceLines):
    """One line: a bar with the floor marked in it, and the state in words."""

    DEFAULT_CSS = """
    Meter { height: 1; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.measure = Measure(0, 1)

    def set_measure(self, measure: Measure) -> None:
        """Show this measure."""
        if measure != self.measure:
            self.measure = measure
            self.refresh()

    def lines_for(self, width: int) -> list[list[Piece]]:
        """The one line; a narrow one has words only."""
        found = self.measure
        glyph = "✗" if found.role == "danger" else "!" if found.role == "warning" else "✓"
        words = [Piece(f"{glyph} {found.words}", found.role)]
        if width < BAR + 2 + sum(piece.width for piece in words):
            return [words]
        most = max(found.cap, 1)
        filled = min(BAR, -(-found.used * BAR // most))
        mark = min(BAR - 1, found.floor * BAR // most) if found.floor else -1
        bar = "".join("┃" if at == mark else "█" if at < filled else "░" for at in range(BAR))
        return [[Piece(bar, found.role), Piece("  "), *words]]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One line."""
        del container, viewport, width
        return 1
