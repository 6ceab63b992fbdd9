"""The tables of an anneal-memory database, read by name. Stores of the 0.9 line lack some, and some columns: those read as empty."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.exchange.report import Tally
from core.store.database import View

TAKEN = frozenset(
    {
        *(
            "episodes",
            "episode_trust",
            "episode_derived",
            "state_keys",
            "supersessions",
            "tombstones",
            "wraps",
            "wrap_graduations",
        ),
        *("pattern_history", "pattern_levels", "pattern_grounding", "metadata"),
    }
)
"""Tables that an import reads."""
WITHOUT_MEMORY = frozenset(
    {"sqlite_sequence", "sqlite_stat1", "retired_origin_keys", "processed_co_surface_events", "pattern_graph_projection_meta"}
)
"""Tables that only serve the other program's own work."""
NOT_TAKEN = {
    "associations": "links between episodes have no place here",
    "pattern_associations": "links between patterns have no place here",
    "pattern_aliases": "other names of patterns have no place here",
    "drift_probes": "drift probes have no place here",
    "drift_results": "drift probes have no place here",
}


class Tables:
    """The tables in one snapshot of the database."""

    def __init__(self, view: View) -> None:
        self._view = view
        found = view.all("select name from sqlite_master where type = 'table' and sql not like 'create virtual%'")
        self.names = frozenset(row[0] for row in found if isinstance(row[0], str))

    def columns(self, table: str) -> frozenset[str]:
        """The names of a table's columns, none for one that is not there."""
        return frozenset(row[1] for row in self._view.all(f"pragma table_info({table})")) if table in self.names else frozenset()

    def rows(self, table: str, columns: Iterable[str], order: str = "rowid") -> list[Any]:
        """Every row of a table, with null for a column that is not there."""
        if table not in self.names:
            return []
        known = self.columns(table)
        wanted = ", ".join(one if one in known else f"null as {one}" for one in columns)
        return self._view.all(f"select {wanted} from {table} order by {order}")

    def count(self, table: str) -> int:
        """How many rows a table has; 0 when it is not there."""
        return int(self._view.one(f'select count(*) from "{table}"')[0]) if table in self.names else 0

    def leave_out_others(self, tally: Tally) -> None:
        """Tell every table with rows that has no place here."""
        for table in sorted(name for name in self.names - TAKEN - WITHOUT_MEMORY if '"' not in name):
            why = NOT_TAKEN.get(
                table, "the team ledger has no place here" if table.startswith("team_") else "they have no place here"
            )
            tally.leave_out(table.replace("_", " "), why, self.count(table))
