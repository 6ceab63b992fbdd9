"""What was kept of late saves and of drafts for a wrap: the list of texts with the chosen one beside it (room.md 2.8)."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.widget import Widget

from console import table_messages
from console.dialogs.reading import ReadingDialog, document_of
from console.rows import Cell, Row
from console.table import Column, RowTable
from console.widgets.split import ListDetail
from core.clock import parse_stamp
from core.memory.kept_texts import KeptText
from core.memory.salvage import Salvaged

COLUMNS = (
    Column("kept", "kept", 19, sortable=False),
    Column("code", "refused with", 14, grow=1, most=24, sortable=False),
    Column("size", "characters", 10, align="right", sortable=False),
    Column("state", "state", 10, drop=1, sortable=False),
)


def _time(text: str) -> str:
    moment = parse_stamp(text)
    return text if moment is None else f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"


class SalvageDialog(ReadingDialog):
    """The kept texts of one wrap, the newest first."""

    HINT = "↑↓ texts · tab to the text · / find · y copy · esc close"

    def __init__(self, project_key: str, wrap_id: int, texts: tuple[Salvaged | KeptText, ...]) -> None:
        super().__init__(f"Salvage of wrap {wrap_id} of {project_key}")
        self._texts = {f"{one.code or 'draft'}:{one.id}": one for one in texts}
        self.table = RowTable(COLUMNS, empty="Nothing was kept for this wrap", markable=False)
        self.split = ListDetail(self.table, self.detail)

    def body(self) -> Iterable[Widget]:
        """List and text."""
        return (self.split,)

    def first_focus(self) -> Widget | None:
        """The list."""
        return self.table

    def on_mount(self) -> None:
        """Show the texts, the newest one open."""
        self.table.set_rows(
            Row(
                key,
                (
                    _time(one.created_at),
                    one.code or "a draft",
                    f"{len(one.text):,}",
                    Cell("dealt with", "muted") if one.dealt_with_at else Cell("waiting", "warning"),
                ),
            )
            for key, one in self._texts.items()
        )

    @on(RowTable.Highlighted)
    def _highlighted(self, event: table_messages.Highlighted) -> None:
        event.stop()
        one = self._texts.get(event.key or "")
        if one is not None:
            self.detail.show(document_of(one.text, event.key or ""))

    @on(RowTable.Chosen)
    def _chosen(self, event: table_messages.Chosen) -> None:
        event.stop()
        self.detail.body.focus()

    @property
    def copied_text(self) -> str:
        """The chosen text as it was kept."""
        one = self._texts.get(self.table.cursor_key or "")
        return one.text if one is not None else ""

    def action_back(self) -> None:
        """Find, enlarged text, text, list: the innermost first."""
        if self.detail.close_find():
            return
        if self.split.enlarged:
            self.split.toggle_enlarged()
        elif self.detail.body.has_focus:
            self.table.focus()
        else:
            super().action_back()
