"""The trail as a source of rows: pages by number in a worker, so that a million rows cost what is seen of them (libraries.md F)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache

from console.panes.faces import clock_short
from console.rows import Cell, Row
from core.views.trail import TrailRow

PAGE = 200
PAGES_KEPT = 40


@lru_cache(maxsize=1_000)
def trail_row(row: TrailRow) -> Row:
    """A trail row as a line of the list."""
    refused = row.outcome == "refused"
    who = row.who
    return Row(
        str(row.seq),
        (
            f"{row.seq}",
            Cell(clock_short(row.at), "muted"),
            Cell(row.event, "warning" if refused else ""),
            Cell("refused", "warning", "⊘") if refused else Cell("done", "muted"),
            row.project_key or "–",
            f"{who.kind} {who.name}",
            Cell(who.via, "muted"),
            Cell(row.subject or "–", "accent" if row.subject else "muted"),
        ),
    )


class TrailSource:
    """Every row of the trail by its number; what is not held is asked for, a page at a time."""

    def __init__(self, load: Callable[[int, int], None]) -> None:
        """`load` is to fetch the rows numbered from first to last and hand them to `arrived`."""
        self._load = load
        self._pages: OrderedDict[int, dict[int, TrailRow]] = OrderedDict()
        self._asked: set[int] = set()
        self.first = 1
        self.last = 0

    def count(self) -> int:
        """How many rows there are."""
        return max(0, self.last - self.first + 1)

    def row_at(self, index: int) -> Row | None:
        """The row with this place, if its page is held."""
        held = self.trail_row_at(index)
        return None if held is None else trail_row(held)

    def trail_row_at(self, index: int) -> TrailRow | None:
        """The trail's row with this place, if its page is held."""
        seq = self.first + index
        page = self._pages.get(seq // PAGE)
        return None if page is None else page.get(seq)

    def request(self, first: int, last: int) -> None:
        """Have these places loaded."""
        for number in range((self.first + first) // PAGE, (self.first + last) // PAGE + 1):
            held = self._pages.get(number)
            low, high = max(self.first, number * PAGE), min(self.last, number * PAGE + PAGE - 1)
            if number not in self._asked and (held is None or len(held) < high - low + 1):
                self._asked.add(number)
                self._load(low, high)

    def arrived(self, first: int, rows: tuple[TrailRow, ...]) -> bool:
        """Hold a page that was asked for; True when it is whole, False when the trail has grown into it meanwhile."""
        number = first // PAGE
        self._asked.discard(number)
        self._pages[number] = {row.seq: row for row in rows}
        self._pages.move_to_end(number)
        while len(self._pages) > PAGES_KEPT:
            self._pages.popitem(last=False)
        return first + len(rows) - 1 >= min(self.last, number * PAGE + PAGE - 1)

    def failed(self, first: int) -> None:
        """A page could not be loaded; it may be asked for again."""
        self._asked.discard(first // PAGE)

    def grow(self, first: int, last: int) -> bool:
        """The trail goes from `first` to `last` now; True when that is news."""
        if (first, last) == (self.first, self.last):
            return False
        if last < self.last or first != self.first:
            self._pages.clear()  # another store was put in its place
            self._asked.clear()
        self.first, self.last = first, last
        return True


class FoundRows:
    """The matches of a filter, newest last like the trail itself; they come in from the newest backwards."""

    def __init__(self) -> None:
        self._rows: list[TrailRow] = []
        self.complete = False

    def add_older(self, rows: tuple[TrailRow, ...]) -> None:
        """More matches, all older than those held."""
        self._rows.extend(rows)

    def add_newer(self, rows: tuple[TrailRow, ...]) -> None:
        """Matches among rows that were written since, newest first."""
        self._rows[:0] = rows

    def count(self) -> int:
        """How many matches are held."""
        return len(self._rows)

    def trail_row_at(self, index: int) -> TrailRow | None:
        """The match with this place, the oldest first."""
        return self._rows[len(self._rows) - 1 - index] if 0 <= index < len(self._rows) else None

    def row_at(self, index: int) -> Row | None:
        """The match with this place as a line."""
        held = self.trail_row_at(index)
        return None if held is None else trail_row(held)

    def request(self, first: int, last: int) -> None:
        """Nothing is ever missing here."""

    @property
    def newest(self) -> int:
        """The number of the newest match held; 0 when there is none."""
        return self._rows[0].seq if self._rows else 0
