"""The client's pipes themselves, taken before anything heavy is imported (faults.md T28)."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from dataclasses import dataclass

AT_ONCE = 4096
"""Bytes that a pipe with any room takes without making the writer wait (PIPE_BUF)."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The descriptors of the client's pipes, taken away from stdin and stdout.

    Whatever else writes to stdout, a stray print or a child process, goes to stderr from then on.
    """

    incoming: int
    outgoing: int

    @classmethod
    def claim(cls) -> Wire:
        """Take the pipes over. Raises OSError when there is no stdin or stdout."""
        sys.stdout.flush()
        wire = cls(os.dup(0), os.dup(1))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return wire


class Pipe:
    """The pipe to the client: written at once where it has the room, so that most answers change no thread."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._capacity = _capacity(descriptor)
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll:
            self._poll.register(descriptor, select.POLLOUT)

    def takes_at_once(self, size: int) -> bool:
        """Whether a write of so many bytes surely does not wait for the client to read."""
        if self._poll is None or not self._poll.poll(0):
            return False
        return size <= AT_ONCE or (size <= self._capacity and _unread(self._descriptor) == 0)

    def write(self, data: bytes) -> None:
        """Write all of it. Raises OSError when the client's end is closed."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


def _capacity(descriptor: int) -> int:
    """What an empty pipe holds; 0 where the system does not say, and for what is no pipe."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        return fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ)
    return 0


def _unread(descriptor: int) -> int:
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"), sys.byteorder)


def complain(sentence: str) -> None:
    """Say to a person why the server does not run."""
    sys.stderr.write(f"watchroom: {sentence}\n")
    sys.stderr.flush()
