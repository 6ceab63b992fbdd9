"""A terminal for one program: a pty of 120 columns and 36 lines that is read at once, so that what is painted can be timed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator, Sequence

from tests.benchmarks.shelf import environment

COLUMNS, LINES = 120, 36
ASKED_FOR_SYNC, HAS_SYNC = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
"""Whether a terminal can hold a frame back until it is whole: a modern one says yes."""
FRAME_END = b"\x1b[?2026l"


class Terminal:
    """The terminal's side of a running program."""

    def __init__(self, pid: int, descriptor: int, started: float) -> None:
        self.pid = pid
        self.started = started
        self._descriptor = descriptor
        self._seen = b""
        self._answered = False

    def press(self, keys: bytes) -> None:
        """Send keys."""
        os.write(self._descriptor, keys)

    def painted(self, *words: bytes, seconds: float = 30.0) -> float:
        """When all these words and the end of their frame have come, on the clock of `started`; they count from now on.

        A word is to be of one style, for what comes is what a terminal gets.
        """
        deadline = time.perf_counter() + seconds
        while True:
            last = max((self._seen.find(word) for word in words), default=0)
            if all(word in self._seen for word in words) and self._seen.find(FRAME_END, last) >= 0:
                return time.perf_counter()
            if not self._read(deadline - time.perf_counter()):
                raise AssertionError(f"{words!r} did not come within {seconds} s; what came ends in {self._seen[-2_000:]!r}")

    def forget(self) -> None:
        """Read what there is, and let it count no more."""
        self.settle(0.0)
        self._seen = b""

    def settle(self, quiet: float, *, most: float = 30.0) -> None:
        """Read until nothing has come for `quiet` seconds, at most for `most`."""
        deadline = time.perf_counter() + most
        while self._read(quiet) and time.perf_counter() < deadline:
            pass

    def listen(self, seconds: float) -> int:
        """Read for so many seconds; gives how many bytes came."""
        deadline, before = time.perf_counter() + seconds, len(self._seen)
        while (left := deadline - time.perf_counter()) > 0:
            self._read(left)
        return len(self._seen) - before

    def _read(self, seconds: float) -> bool:
        if seconds < 0 or not select.select([self._descriptor], [], [], seconds)[0]:
            return False
        try:
            came = os.read(self._descriptor, 1 << 16)
        except OSError:  # Linux says so when the program has left
            return False
        self._seen += came
        if not self._answered and ASKED_FOR_SYNC in self._seen:
            self._answered = True
            os.write(self._descriptor, HAS_SYNC)
        return bool(came)


@contextlib.contextmanager
def on_terminal(command: Sequence[str], **more: str) -> Iterator[Terminal]:
    """A program in a terminal of its own, killed at the end."""
    environ = environment(TERM="xterm-256color", COLORTERM="truecolor", **more)
    started = time.perf_counter()
    pid, descriptor = pty.fork()
    if pid == 0:
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            os.execve(command[0], list(command), environ)
        finally:
            os._exit(127)
    try:
        yield Terminal(pid, descriptor, started)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(descriptor)
