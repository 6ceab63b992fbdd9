"""The process probe: who this process is, and whether another one is still there (room.md 3 and 4, faults.md R4).

A probe never raises: what cannot be told is `unknown`, which is never death (faults.md T14). psutil and socket are imported
only where they are needed, so that importing this module stays cheap.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Protocol

from core.models import ProcessIdentity, ProcessState

UNREADABLE = "unreadable"
"""The boot or namespace of a process that could not read its own; it equals nobody's (core.life.liveness)."""

TICKS_PER_SECOND = 100
"""Clock ticks a second where psutil tells the start; Linux has its own ticks, which are only ever compared."""

DRIFT_SECONDS = 60.0
"""How far two readings of one boot time may lie apart where the system derives it from a clock that people set."""

LARGEST_PID = 2**31 - 1
"""No system gives a process a larger pid."""


class Processes(Protocol):
    """What the room asks about processes."""

    def here(self) -> ProcessIdentity:
        """This process, whose host, boot and namespace are the observer's."""
        ...

    def parent(self) -> tuple[int | None, int | None]:
        """Pid and start, in ticks since boot, of the parent; (None, None) when it is pid 0 or 1 or cannot be told."""
        ...

    def state(self, pid: int, started_ticks: int | None) -> ProcessState:
        """What has become of the process with that pid and start, in ticks since boot, in this boot and namespace (room.md 4)."""
        ...

    def program_of_parent(self) -> str | None:
        """The name of the parent program, for the actor's `via` (room.md 1); None when it cannot be told."""
        ...


class SystemProcesses:
    """The machine's processes: /proc on Linux, psutil elsewhere.

    `proc` is where procfs is mounted; None asks psutil.
    """

    def __init__(self, proc: str | None = "/proc" if sys.platform.startswith("linux") else None) -> None:
        self._proc = proc
        self._here: ProcessIdentity | None = None

    def here(self) -> ProcessIdentity:
        """This process: host, boot, namespace, pid and start in ticks since boot (room.md 3, table connections)."""
        found, pid = self._here, os.getpid()
        if found is None or found.pid != pid:  # a fork is another process
            found = ProcessIdentity(_host(), self._boot(), self._namespace(), pid, self._started(pid))
            self._here = found
        return found

    def parent(self) -> tuple[int | None, int | None]:
        """Pid and start, in ticks since boot, of the parent; (None, None) when it is pid 0 or 1 or its start cannot be told."""
        pid = os.getppid()
        started = self._started(pid) if pid > 1 else None
        return (None, None) if started is None else (pid, started)

    def state(self, pid: int, started_ticks: int | None) -> ProcessState:
        """What has become of the process with that pid and start (room.md 4, "process gone").

        Absent, a zombie or another start is `gone`; a probe denied or failed is `unknown`. Without a recorded start a
        process with that pid is taken for it: that can hide a death, but never make one up.
        """
        if not isinstance(pid, int) or not 0 < pid <= LARGEST_PID:
            return "unknown"  # no process ever had it: the record is damaged
        try:
            ended, started = self._look(pid)
        except ProcessLookupError:
            return "gone"
        except Exception:  # whatever a platform makes of a probe, it is no death
            return "unknown"
        if ended:
            return "gone"
        if started_ticks is None or self._same_start(started, started_ticks):
            return "alive"
        return "gone"

    def program_of_parent(self) -> str | None:
        """The name of the parent program, printable and at most 64 characters; None when it cannot be told."""
        pid = os.getppid()
        if pid <= 1:
            return None
        try:
            name = _name_from_proc(self._proc, pid) if self._proc else _name_from_psutil(pid)
        except Exception:  # a name is a courtesy
            return None
        return "".join(letter if letter.isprintable() else "?" for letter in name)[:64] or None

    def _look(self, pid: int) -> tuple[bool, int]:
        """Whether a process has ended, and its start in ticks; raises ProcessLookupError when there is none."""
        return _look_in_proc(self._proc, pid) if self._proc else _look_with_psutil(pid)

    def _started(self, pid: int) -> int | None:
        try:
            return self._look(pid)[1]
        except Exception:  # a start that cannot be told is None
            return None

    def _same_start(self, found: int, recorded: int) -> bool:
        if self._proc:
            return found == recorded
        return abs(found - recorded) <= DRIFT_SECONDS * TICKS_PER_SECOND

    def _boot(self) -> str:
        try:
            if self._proc:
                return Path(self._proc, "sys/kernel/random/boot_id").read_text().strip() or UNREADABLE
            import psutil

            return str(psutil.boot_time())
        except Exception:  # never raise from a probe
            return UNREADABLE

    def _namespace(self) -> str:
        if not self._proc:
            return ""
        try:
            return str(Path(self._proc, "self/ns/pid").readlink())
        except OSError:
            return UNREADABLE


def _host() -> str:
    import socket

    try:
        return socket.gethostname()
    except OSError:
        return UNREADABLE


def _look_in_proc(proc: str, pid: int) -> tuple[bool, int]:
    """Read /proc/PID/stat: state is field 3, the number of threads field 20, the start field 22 (man proc_pid_stat)."""
    try:
        descriptor = os.open(f"{proc}/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        os.getpgid(pid)  # raises ProcessLookupError when it is absent
        raise PermissionError(f"pid {pid} is there, but {proc} hides it") from None  # hidepid, or no procfs
    try:
        text = os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
    fields = text[text.rindex(b")") + 1 :].split()  # the name may hold blanks and parentheses, what follows never does
    state, threads, started = fields[0], int(fields[17]), int(fields[19])
    # a leader whose main thread has ended while others work shows Z as well, and is no zombie
    return state in (b"X", b"x") or (state == b"Z" and threads <= 1), started


def _look_with_psutil(pid: int) -> tuple[bool, int]:
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            ended = process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
            return ended, round((process.create_time() - psutil.boot_time()) * TICKS_PER_SECOND)
    except psutil.NoSuchProcess as error:  # a ZombieProcess is one too
        raise ProcessLookupError(pid) from error


def _name_from_proc(proc: str, pid: int) -> str:
    name = Path(proc, str(pid), "comm").read_bytes().rstrip(b"\n")
    if len(name) >= 15:  # the kernel cuts there; the command line has the rest
        program = Path(proc, str(pid), "cmdline").read_bytes().split(b"\0")[0].rpartition(b"/")[2]
        name = program if program.startswith(name) else name
    return name.decode("utf-8", "replace")


def _name_from_psutil(pid: int) -> str:
    import psutil

    return str(psutil.Process(pid).name())
