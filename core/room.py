"""The room: one process's place at a store, through which every surface reads and does (room.md 1 and 6)."""

from __future__ import annotations

import contextlib
import importlib.metadata
import logging
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from core.actors import Actor, ActorKind, current_user, describe_via
from core.clock import Clock, SystemClock
from core.errors import Refusal, StoreError
from core.ids import Ids, SystemIds
from core.life import connections, notices
from core.life.beats import Beats, BeatsReader, Heart
from core.life.liveness import wedged_after_from_environment
from core.life.processes import Processes, SystemProcesses
from core.life.witness import Witness
from core.memory import salvage
from core.sessions import absorption, traces
from core.store.database import Readers, Store, Transaction, View, own_files, same_file
from core.store.deed import Deed, Deeds, Identity
from core.trail.anchors import AnchorFile, anchor_path, set_aside
from core.trail.append import TrailHead, append, head
from core.trail.refusals import RefusalLog
from core.verbs import VERBS, Verb

logger = logging.getLogger(__name__)

Surface = Literal["stdio", "http", "cli", "console", "web"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where and as whom a process enters: the store's path, the surface, and what it was started with."""

    path: Path
    surface: Surface
    session_id: str | None = None
    client_name: str | None = None
    anchors: Path | None = None

    @property
    def kind(self) -> ActorKind:
        """Who acts on this surface: agents through a server, the operator elsewhere."""
        return "agent" if self.surface in ("stdio", "http") else "operator"


class Room:
    """Opens a store for writing and runs verbs as deeds. Threads share it; every method may be called from any of them."""

    def __init__(
        self,
        place: Place,
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        processes: Processes | None = None,
        patience: float = 10.0,
    ) -> None:
        """Opens the store at `place`, creating it when it is missing. Raises StoreError with a sentence for a person.

        The connection is registered by `enter` (a server, at its start) or by the first deed (room.md 2.12).
        """
        self.place = place
        self.clock = clock or SystemClock()
        self.ids = ids or SystemIds()
        self.processes = processes or SystemProcesses()
        self.identity = Identity(
            Actor(place.kind, current_user(), self._via()),
            self.ids.unique(),
            place.session_id,
            "agent" if place.kind == "agent" else "operator",
        )
        self.store = Store(place.path, self.clock, patience=patience, announce=self._announce)
        self.readers = Readers(place.path)
        self.beats = Beats(place.path, self.clock)
        self.beats_reader = BeatsReader(place.path)
        self.witness = Witness(self.processes, self.beats_reader, self.clock, wedged_after_from_environment(os.environ))
        self.refusals = RefusalLog(self.clock)
        with self.readers.snapshot() as view:
            self.store_id: str = view.one("select store_id from store")[0]
            newest = head(view)
        self.anchors = AnchorFile(fit_anchor_path(place), self.store_id, self.clock)
        self._anchor(newest)
        self._registered = False
        self._pending = threading.local()
        self._heart: Heart | None = None
        self._client: tuple[str, str | None] | None = None
        self._client_stored = False
        self._deeds = Deeds(
            self.store,
            identity=self.identity,
            clock=self.clock,
            ids=self.ids,
            witness=self.witness,
            append=append,
            attach=self._attach,
            attached=self._attached,
            record_refusal=self._record_refusal,
            worth_recording=self.refusals.worth_recording,
            committed=self._anchor,
        )

    # verbs

    def do(self, name: str, /, *, patience: float | None = None, **arguments: Any) -> Any:
        """Run a verb of the table and give its result. Raises its Refusal, or StoreError when the store cannot be used."""
        verb = VERBS[name]
        if self.identity.role not in verb.roles:
            raise Refusal("operator_role_required", f"{name} is the operator's: an agent may not.")
        if verb.reads:
            return self._read(verb, arguments)
        absorbed = self._absorb(verb, arguments)
        result = self._deeds.run(name, verb.function, guarded=verb.guarded, patience=patience, **arguments)
        if absorbed is not None and hasattr(result, "absorption"):
            result = replace(result, absorption=absorbed)
        return self._finish(verb, result)

    def _read(self, verb: Verb, arguments: dict[str, Any]) -> Any:
        own = {"identity": self.identity, "witness": self.witness, "clock": self.clock, "now": self.clock.now()}
        with self.readers.snapshot() as view:
            return verb.function(view, **arguments, **{name: own[name] for name in verb.asks})

    def _absorb(self, verb: Verb, arguments: dict[str, Any]) -> absorption.Absorption | None:
        """The absorption before a command, in a transaction of its own; only a wrong client key stops the command (sessions.md b.0.3)."""
        if verb.absorbs is None or not absorption.is_attempted(self.identity):
            return None
        try:
            session_id, client_key = verb.absorbs(**arguments)
        except Refusal:
            return None  # the command itself says so, in its own order
        return self._absorb_into(verb, session_id, client_key)

    def _absorb_into(self, verb: Verb, session_id: str, client_key: str) -> absorption.Absorption | None:
        try:
            found: absorption.Absorption = self._deeds.run(
                verb.name, absorption.absorb, guarded=verb.guarded, session_id=session_id, client_key=client_key
            )
        except Refusal as refusal:
            if refusal.code == "client_key_mismatch":
                raise
            return absorption.failed()
        except StoreError:
            return absorption.failed()
        return found

    def _finish(self, verb: Verb, result: Any) -> Any:
        """What is added after the commit: an absorption into a session that was just opened, and the briefing. It never costs the deed."""
        if verb.finish is None:
            return result
        try:
            session = result.session
            if verb.absorbs_after and absorption.is_attempted(self.identity) and session.is_open:
                self._absorb_into(verb, session.id, session.client_key)
            with self.readers.snapshot() as view:
                return verb.finish(view, result, self.clock.now())
        except Exception:
            logger.exception("what belongs to the answer of %s could not be read", verb.name)
            return result

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[View]:
        """A consistent snapshot for views; it waits for nobody and writes nothing."""
        with self.readers.snapshot() as view:
            yield view

    def restart_anchors(self) -> Path | None:
        """Set the anchor file aside, so that this room's next head begins a new one; gives the old one's new name.

        What follows an `accept_anchors` that was committed (room.md 5).
        """
        aside = set_aside(self.anchors.path, self.clock.now())
        with self.readers.snapshot() as view:
            newest = head(view)
        self._anchor(newest)
        return aside

    def _anchor(self, newest: TrailHead | None) -> None:
        if newest is not None:
            self.anchors.note(newest.seq, newest.hash, newest.at)

    # the connection's life

    def enter(self, *, patience: float | None = None) -> None:
        """Register this connection now and start its heart: what a server does at its start (room.md 2.12).

        A store that is busy then is no reason to stay away: the first deed registers instead (faults.md S7).
        """
        self._start_heart()
        with contextlib.suppress(Refusal, StoreError):
            self._deeds.run("enter", self._attach, guarded=False, patience=patience)

    def called(self, client_name: str | None = None, client_version: str | None = None) -> None:
        """Note a call of this connection's client: its time, and the name the client gave itself (room.md 4)."""
        if client_name:
            self._client = (client_name, client_version)
        self.beats.called(self.identity.connection_id, client_name, client_version)

    def observe(self, project_key: str) -> None:
        """Keep the trace of an HTTP connection that has called, where the switch is on; it never fails a call (sessions.md b.18)."""
        if not traces.is_kept(self.identity):
            return
        try:
            self._deeds.run("observe", traces.observe, guarded=False, patience=1.0, project_key=project_key)
        except (Refusal, StoreError):
            logger.warning("the trace of connection %s could not be kept", self.identity.connection_id, exc_info=True)

    def refused(self) -> None:
        """Count a refusal that this connection's client got."""
        self.beats.refused(self.identity.connection_id)

    def take_notices(self) -> list[notices.Notice]:
        """The notices that are due for this connection, noted as delivered (room.md 2.13)."""
        with self.readers.snapshot() as view:
            due = notices.due(view, self.identity.connection_id, self.beats_reader, self.clock.now())
        if due:
            notices.mark_delivered(due, self.identity.connection_id, self.beats)
        return due

    def close(self) -> None:
        """Leave: record `connection_closed` if this process had registered, and let go of every file. A second call does nothing."""
        if self._heart:
            self._heart.stop()
        if self._registered:
            with contextlib.suppress(Refusal, StoreError):
                self._deeds.run("leave", _leave, guarded=False, patience=2.0)
            self._registered = False
        self.anchors.close()
        self.beats.close()
        self.beats_reader.close()
        self.readers.close()
        self.store.close()

    def __enter__(self) -> Room:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # hooks of the deeds

    def _via(self) -> str:
        via = describe_via(self.place.surface) if self.place.surface in ("cli", "console") else self.place.surface
        parent = self.processes.program_of_parent()
        return f"{via} under {parent}" if parent else via

    def _start_heart(self) -> None:
        if self._heart is None:
            self._heart = Heart(self.beats, self.identity.connection_id, on_beat=self.witness.suspend_watch.tick)
            self._heart.start()

    def _attach(self, deed: Deed) -> None:
        """Register the connection inside the deed's transaction, once; note its client's name when it has become known."""
        if not self._registered and not getattr(self._pending, "registering", False) and not self._is_stored(deed):
            self._pending.registering = True
            with_parent = self.place.kind == "agent"
            registration = connections.Registration.of(
                self.processes, program_version(), with_parent=with_parent, client_name=self.place.client_name
            )
            connections.register(deed, registration)
        if self._client and not self._client_stored and not getattr(self._pending, "naming", False):
            self._pending.naming = True
            connections.name_client(deed, *self._client)

    def _is_stored(self, deed: Deed) -> bool:
        # another thread's first deed may have committed, and not have come to say so yet
        return connections.facts(deed.transaction, self.identity.connection_id, None) is not None

    def _attached(self, done: bool) -> None:
        if getattr(self._pending, "registering", False):
            self._pending.registering = False
            if done:
                self._registered = True
                self._start_heart()
        if getattr(self._pending, "naming", False):
            self._pending.naming = False
            self._client_stored = done

    def _record_refusal(self, deed: Deed, name: str, refusal: Refusal) -> None:
        kept = (
            salvage.keep(deed, refusal.salvage, refusal.code) if isinstance(refusal.salvage, salvage.SalvageCandidate) else None
        )
        self.refusals.record(deed, name, refusal, kept)

    def _announce(self, transaction: Transaction, before: int) -> None:
        append(
            transaction,
            now=self.clock.now(),
            event="store_migrated" if before else "store_created",
            outcome="done",
            project_key=None,
            actor=self.identity.actor.as_json(),
            connection_id=self.identity.connection_id,
            subject=None,
            data={"layout_before": before},
        )


def _leave(deed: Deed) -> None:
    traces.close_connection(deed)
    connections.close(deed)


def fit_anchor_path(place: Place) -> Path:
    """Where the anchors go. Raises StoreError when the place named is one of the store's own files: a line there would damage it."""
    path = place.anchors or anchor_path(place.path)
    if any(same_file(path, one) for one in own_files(place.path)):
        raise StoreError(
            f"{path} is one of the store's own files, so the anchors cannot go there. Name another file with --anchors."
        )
    return path


def program_version() -> str:
    """This program's version, as its package metadata says."""
    try:
        return importlib.metadata.version("watchroom")
    except importlib.metadata.PackageNotFoundError:
        return "0"
