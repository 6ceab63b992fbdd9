"""A deed: one verb that changed something, with its trail row, in one transaction (room.md 1, 2.11 and 6).

The trail's appender, the witness of who is alive and what keeps salvage are passed in: this layer knows none of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.actors import Actor
from core.clock import Clock
from core.errors import Refusal, StoreError
from core.ids import Ids
from core.models import Judgement
from core.store.database import Store, Transaction, View

Reading = Transaction | View
"""Whatever can be read from: a deed's transaction or a reader's snapshot."""


@dataclass(frozen=True, slots=True)
class Identity:
    """On whose behalf a process acts: its actor, its connection, and what it was started with.

    `session_id` is the name given with `--session-id`, `role` is agent or operator (room.md 2.15).
    """

    actor: Actor
    connection_id: str
    session_id: str | None
    role: str

    @property
    def on_stdio(self) -> bool:
        """Whether the caller speaks to a server over its own stdio."""
        return self.actor.via.startswith("stdio")


class Witness(Protocol):
    """What a verb may ask about who is alive (room.md 4)."""

    def judge(self, reading: Reading, connection_id: str | None, *, coherent: bool, started_at: str | None) -> Judgement:
        """The verdict on whoever opened something at `started_at` over a connection, with its evidence."""
        ...

    def judge_session(self, reading: Reading, connection_id: str | None, *, started_at: str | None) -> Judgement:
        """The verdict on the connection that is at work on a work session which was started at `started_at`."""
        ...

    def session_is_live(self, reading: Reading, session_id: str) -> bool:
        """Whether a connection opened with that `--session-id` is LIVE, STARTING or WEDGED (room.md 2.12)."""
        ...

    def last_call_at(self, connection_id: str | None) -> str | None:
        """The time of a connection's last call, as stored."""
        ...


class Append(Protocol):
    """The trail's appender (core.trail.append)."""

    def __call__(
        self,
        transaction: Transaction,
        *,
        now: Any,
        event: str,
        outcome: Any,
        project_key: str | None,
        actor: str,
        connection_id: str | None,
        subject: str | None,
        data: Mapping[str, Any],
    ) -> Any:
        """Add one row and give the new head."""
        ...


@dataclass(slots=True)
class Deed:
    """What a verb gets: the transaction, on whose behalf, and the time, ids and witness of the process."""

    transaction: Transaction
    identity: Identity
    clock: Clock
    ids: Ids
    witness: Witness
    _append: Append
    _attach: Callable[[Deed], None]
    heads: list[Any] = field(default_factory=list)

    def one(self, sql: str, parameters: Any = ()) -> Any:
        """The first row of a query inside the deed's transaction, or None."""
        return self.transaction.one(sql, parameters)

    def all(self, sql: str, parameters: Any = ()) -> list[Any]:
        """Every row of a query inside the deed's transaction."""
        return self.transaction.all(sql, parameters)

    def execute(self, sql: str, parameters: Any = ()) -> Any:
        """Run a statement inside the deed's transaction."""
        return self.transaction.execute(sql, parameters)

    def append(
        self,
        event: str,
        *,
        project_key: str | None,
        subject: str | None,
        data: Mapping[str, Any],
        outcome: str = "done",
    ) -> None:
        """Add the deed's row to the trail. A connection that is not registered yet is registered first (room.md 2.12)."""
        self._attach(self)
        head = self._append(
            self.transaction,
            now=self.clock.now(),
            event=event,
            outcome=outcome,
            project_key=project_key,
            actor=self.identity.actor.as_json(),
            connection_id=self.identity.connection_id,
            subject=subject,
            data=data,
        )
        self.heads.append(head)


class Deeds:
    """Runs deeds for one process: begin, verb, trail, commit; or on a refusal roll back, then record it (room.md 6)."""

    def __init__(
        self,
        store: Store,
        *,
        identity: Identity,
        clock: Clock,
        ids: Ids,
        witness: Witness,
        append: Append,
        attach: Callable[[Deed], None],
        attached: Callable[[bool], None],
        record_refusal: Callable[[Deed, str, Refusal], None],
        worth_recording: Callable[[str, Refusal], bool],
        committed: Callable[[Any], None],
    ) -> None:
        self.store = store
        self.identity = identity
        self.clock = clock
        self.ids = ids
        self.witness = witness
        self._append = append
        self._attach = attach
        self._attached = attached
        self._record_refusal = record_refusal
        self._worth_recording = worth_recording
        self._committed = committed

    def run(
        self, name: str, function: Callable[..., Any], /, *, guarded: bool, patience: float | None = None, **arguments: Any
    ) -> Any:
        """Run the verb `name` as a deed and give its result.

        Raises the verb's Refusal after rolling back; a refused guarded verb is then recorded in a transaction of its own.
        """
        started = self.clock.monotonic()
        allowed = self.store.patience if patience is None else patience
        try:
            return self._commit(lambda deed: function(deed, **arguments), allowed)
        except Refusal as refusal:
            if guarded and refusal.code != "store_busy" and self._worth_recording(name, refusal):
                remaining = max(0.5, allowed - (self.clock.monotonic() - started))
                self._record(name, refusal, remaining)
            raise

    def _record(self, name: str, refusal: Refusal, patience: float) -> None:
        # the caller's own "no" matters more than a trail row that found no writer or no room
        with contextlib.suppress(Refusal, StoreError):
            self._commit(lambda deed: self._record_refusal(deed, name, refusal), patience)

    def _commit(self, work: Callable[[Deed], Any], patience: float) -> Any:
        done = False
        try:
            with self.store.transaction(patience) as transaction:
                deed = Deed(transaction, self.identity, self.clock, self.ids, self.witness, self._append, self._attach)
                result = work(deed)
            done = True
        finally:
            self._attached(done)
        if deed.heads:
            self._committed(deed.heads[-1])
        return result
