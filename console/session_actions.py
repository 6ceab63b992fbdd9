"""What the operator does with sessions and slots: each opens its dialog, whose deed gives the receipt (console.md, screens 3 and 4)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from console.text import one_line
from core.errors import StoreError

if TYPE_CHECKING:
    from console.app import ConsoleApp
    from core.views.sessions import SessionDetail, SessionRow
    from core.views.slots import SlotRow


def read_detail(app: Any, session_id: str) -> SessionDetail | None:
    """A session whole, read off the UI thread; None when it cannot be read now."""
    from core.views.sessions import session_detail

    try:
        with cast("ConsoleApp", app).looker.snapshot() as (view, witness):
            return session_detail(view, witness, session_id)
    except StoreError:
        return None


class SessionActions:
    """Mixed into the console: relay, end, abandon, bind; open and close a slot."""

    @property
    def _room_app(self) -> ConsoleApp:
        return cast("ConsoleApp", self)

    def relay_session(self, row: SessionRow | None) -> None:
        """Relay this session, with its handover."""
        self._with_detail(row, "relay", trace_words="A trace is nobody's working session: it can't be relayed.")

    def end_session(self, row: SessionRow | None) -> None:
        """End this session, with the text that is to stand."""
        self._with_detail(row, "end", trace_words="The server ends a trace by itself; A gives it up.")

    def _with_detail(self, row: SessionRow | None, kind: str, *, trace_words: str) -> None:
        app = self._room_app
        if row is None or not row.is_open:
            app.say("There is no open session here.", severity="warning")
        elif row.is_trace:
            app.say(trace_words, severity="warning")
        else:
            app.run_worker(self._open_handover(row.session_id, kind), exclusive=True, group="handover")

    async def _open_handover(self, session_id: str, kind: str) -> None:
        from console.dialogs.end_session import EndSessionDialog
        from console.dialogs.relay import RelayDialog

        app = self._room_app
        state = app.feed_state.snapshot
        drafts = app.drafts.for_store(state.store_id if state else "")
        detail = await asyncio.to_thread(read_detail, app, session_id)
        draft = await asyncio.to_thread(drafts.load, kind, session_id)
        if detail is None or not detail.row.is_open:
            app.say("The session can't be read, or has ended meanwhile.", severity="warning")
            return
        dialog = (RelayDialog if kind == "relay" else EndSessionDialog)(detail, app.do, drafts, draft)
        app.push_screen(dialog, self._handed_over)

    def _handed_over(self, found: Any) -> None:
        app = self._room_app
        if found is None:
            return
        successor = getattr(found, "ended_session_id", None)
        if successor is not None:
            app.say(f"Relayed: session {one_line(found.session.client_key, 60)} goes on.")
            app.go_to_target(f"session:{found.session.id}")
        else:
            app.say(f"Session {one_line(found.session.client_key, 60)} has ended, focus {found.focus_outcome}.")
        app.feed.read_again()

    def abandon_session(self, row: SessionRow | None) -> None:
        """Give this session up."""
        from console.dialogs.abandon_session import AbandonSessionDialog

        app = self._room_app
        if row is None or not row.is_open:
            app.say("There is no open session here.", severity="warning")
            return
        app.push_screen(AbandonSessionDialog(row, app.do), self._abandoned)

    def _abandoned(self, found: Any) -> None:
        if found is not None:
            again = " already" if found.replayed else ""
            self._room_app.say(f"Session {one_line(found.session.client_key, 60)} is given up{again}; its slot is free.")
            self._room_app.feed.read_again()

    def bind_session(self, row: SessionRow | None) -> None:
        """Choose one of the project's free slots, and bind this session to it."""
        from console.dialogs.chooser import Choice, ChooserDialog

        app = self._room_app
        words = self._why_no_binding(row)
        if words or row is None:
            app.say(words, severity="warning")
            return
        snapshot = app.feed_state.snapshot
        free = [one for one in (snapshot.slots if snapshot else ()) if one.project_key == row.project_key and one.is_orphan]
        if not free:
            app.say(f"Project {row.project_key} has no free slot: o on the Slots screen (4) opens one.", severity="warning")
            return
        choices = tuple(Choice(one.slot_id, one.title, ", ".join(one.anchors)) for one in free)
        by_id = {one.slot_id: one for one in free}
        app.push_screen(
            ChooserDialog("Bind to which slot?", choices, None),
            lambda slot_id: None if slot_id is None else self._bind(row, by_id[slot_id]),
        )

    @staticmethod
    def _why_no_binding(row: SessionRow | None) -> str:
        if row is None or not row.is_open:
            return "There is no open session here."
        if row.is_trace:
            return "A trace is nobody's working session: it can't be bound."
        return f"It is bound to the slot {one_line(row.slot_title or '', 60)} for the rest of its life." if row.slot_id else ""

    def _bind(self, row: SessionRow, slot: SlotRow) -> None:
        from console.dialogs.slot_dialogs import BindSessionDialog

        app = self._room_app
        app.push_screen(BindSessionDialog(row, slot, app.do), self._bound)

    def _bound(self, found: Any) -> None:
        if found is not None:
            self._room_app.say("Bound: its end and relay write the slot from here on.")
            self._room_app.feed.read_again()

    def open_slot(self, project_key: str | None) -> None:
        """Open a slot in this project."""
        from console.dialogs.slot_dialogs import OpenSlotDialog

        app = self._room_app
        snapshot = app.feed_state.snapshot
        projects = [one.project_key for one in snapshot.projects] if snapshot else []
        if project_key is None and len(projects) == 1:
            project_key = projects[0]
        if project_key is None:
            app.say("Which project? Put the cursor on one of its rows, or choose it with p.", severity="warning")
            return
        app.push_screen(OpenSlotDialog(project_key, app.do), self._opened_slot)

    def _opened_slot(self, found: Any) -> None:
        if found is not None:
            self._room_app.say(f"Slot {one_line(found.slot.title, 60)} is open{' already' if found.replayed else ''}.")
            self._room_app.go_to_target(f"slot:{found.slot.id}")
            self._room_app.feed.read_again()

    def close_slot(self, row: SlotRow | None) -> None:
        """Close this slot for good."""
        from console.dialogs.slot_dialogs import CloseSlotDialog

        app = self._room_app
        if row is None or not row.is_open:
            app.say("There is no open slot here.", severity="warning")
            return
        app.push_screen(CloseSlotDialog(row, app.do), self._closed_slot)

    def _closed_slot(self, found: Any) -> None:
        if found is not None:
            self._room_app.say(f"Slot {one_line(found.slot.title, 60)} is closed, at revision {found.slot.revision}.")
            self._room_app.feed.read_again()
