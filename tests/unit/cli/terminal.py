"""A real terminal for a command: a pty that is read while the command runs."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator

from tests.unit.cli.conftest import ROOT

SECONDS = 60.0
"""After so long a word that did not come counts as missing."""


class Terminal:
    """The person's side of it."""

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self.shown = b""
        self._descriptor = descriptor

    def wait_for(self, words: bytes) -> None:
        """Read until these words have been shown."""
        deadline = time.monotonic() + SECONDS
        while words not in self.shown:
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{words!r} did not come; what came ends in {self.shown[-2_000:]!r}")

    def type(self, keys: bytes) -> None:
        """Send keys."""
        os.write(self._descriptor, keys)

    def end(self) -> int:
        """Read until the command has left; gives its exit code."""
        while self._read(SECONDS):
            pass
        return self.process.wait(SECONDS)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._descriptor], [], [], max(0.0, seconds))[0]:
            return False
        try:
            came = os.read(self._descriptor, 1 << 16)
        except OSError:  # Linux says so when the command has left
            return False
        self.shown += came
        return bool(came)


@contextlib.contextmanager
def on_terminal(*arguments: str) -> Iterator[Terminal]:
    """`watchroom` on a terminal of its own, killed at the end if it is still there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "console.cli", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as process:
        os.close(theirs)
        try:
            yield Terminal(process, ours)
        finally:
            process.kill()
            os.close(ours)
