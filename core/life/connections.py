"""Connections: processes attached to the store, with their evidence of life (room.md 1, 2.12, 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass

from core.actors import Actor
from core.clock import stamp
from core.life.beats import Beat
from core.life.processes import Processes
from core.models import ConnectionFacts, ProcessIdentity
from core.store.deed import Deed, Reading

COLUMNS = (
    "id, host, boot, pid_namespace, pid, process_start, parent_pid, parent_start, client_name, client_version, session_id,"
    " role, via, actor, program_version, opened_at, closed_at"
)


@dataclass(frozen=True, slots=True)
class Registration:
    """What a process says of itself when it registers."""

    process: ProcessIdentity
    parent_pid: int | None
    parent_started_ticks: int | None
    program_version: str
    client_name: str | None = None
    client_version: str | None = None

    @classmethod
    def of(cls, processes: Processes, program_version: str, *, with_parent: bool, client_name: str | None = None) -> Registration:
        """This process's registration. `with_parent` is false where the parent is not the client (a console, a command)."""
        parent_pid, parent_start = processes.parent() if with_parent else (None, None)
        return cls(processes.here(), parent_pid, parent_start, program_version, client_name)


def register(deed: Deed, registration: Registration) -> None:
    """Register the deed's connection and record `connection_opened` (room.md 2.12, 5)."""
    identity, process = deed.identity, registration.process
    deed.execute(
        f"insert into connections ({COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, null)",
        (
            identity.connection_id,
            process.host,
            process.boot,
            process.namespace,
            process.pid,
            process.started_ticks,
            registration.parent_pid,
            registration.parent_started_ticks,
            registration.client_name,
            registration.client_version,
            identity.session_id,
            identity.role,
            identity.actor.via,
            identity.actor.as_json(),
            registration.program_version,
            stamp(deed.clock.now()),
        ),
    )
    deed.append(
        "connection_opened",
        project_key=None,
        subject=f"connection:{identity.connection_id}",
        data={
            "host": process.host,
            "pid": process.pid,
            "parent_pid": registration.parent_pid,
            "session_id": identity.session_id,
            "role": identity.role,
        },
    )


def name_client(deed: Deed, client_name: str, client_version: str | None) -> None:
    """Note the name that a connection's client gave itself; no deed of its own, it rides on the next one."""
    deed.execute(
        "update connections set client_name = ?, client_version = ? where id = ? and client_name is not ?",
        (client_name, client_version, deed.identity.connection_id, client_name),
    )


def close(deed: Deed) -> None:
    """Close the deed's connection and record `connection_closed`; a second close changes nothing."""
    connection_id = deed.identity.connection_id
    closed = deed.execute(
        "update connections set closed_at = ? where id = ? and closed_at is null", (stamp(deed.clock.now()), connection_id)
    )
    if closed.rowcount:
        deed.append("connection_closed", project_key=None, subject=f"connection:{connection_id}", data={})


def facts(reading: Reading, connection_id: str, beat: Beat | None) -> ConnectionFacts | None:
    """The stored facts of one connection, joined with its beat; None when it is not recorded."""
    row = reading.one(f"select {COLUMNS} from connections where id = ?", (connection_id,))
    return None if row is None else facts_of(row, beat)


def facts_of(row: object, beat: Beat | None) -> ConnectionFacts:
    """The facts in a row of `connections` and in a beat."""
    (
        connection_id,
        host,
        boot,
        namespace,
        pid,
        process_start,
        parent_pid,
        parent_start,
        client_name,
        _client_version,
        session_id,
        role,
        via,
        actor,
        _program_version,
        opened_at,
        closed_at,
    ) = tuple(row)  # type: ignore[arg-type, var-annotated]
    return ConnectionFacts(
        connection_id=connection_id,
        process=ProcessIdentity(host, boot, namespace, pid, process_start),
        parent_pid=parent_pid,
        parent_started_ticks=parent_start,
        client_name=(beat.client_name if beat else None) or client_name,
        session_id=session_id,
        role=role,
        via=via,
        actor=actor,
        opened_at=opened_at,
        closed_at=closed_at,
        last_beat_at=beat.beat_at if beat else None,
        last_call_at=beat.call_at if beat else None,
    )


def every(reading: Reading, beats: dict[str, Beat], *, closed: bool, limit: int = 500) -> list[ConnectionFacts]:
    """Every open connection, or with `closed` the newest closed ones, at most `limit`."""
    where = "closed_at is not null order by closed_at desc" if closed else "closed_at is null order by opened_at desc"
    rows = reading.all(f"select {COLUMNS} from connections where {where} limit ?", (limit,))
    return [facts_of(row, beats.get(row["id"])) for row in rows]


def describe(found: ConnectionFacts) -> str:
    """Who a connection is, in words for a refusal: client name, pid and host (room.md 2.2)."""
    name = found.client_name or Actor.from_json(found.actor).via
    return f"{name} (pid {found.process.pid} on {found.process.host})"


def with_session(reading: Reading, session_id: str) -> list[str]:
    """The ids of the open connections that were started with that `--session-id`."""
    rows = reading.all(
        "select id from connections where session_id = ? and closed_at is null order by opened_at desc", (session_id,)
    )
    return [row["id"] for row in rows]
