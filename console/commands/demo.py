"""`watchroom demo`: a store with live agents to look at, and a rehearsal for CI (issue 2, item 9)."""

from __future__ import annotations

import _thread
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import click

from console.commands.common import DONE, INTERRUPTED, REFUSED, STORE_ERRORS, Command, Duration, call_of, json_option, on_terminal
from console.commands.output import say, tell
from core.errors import StoreError

HEADLESS_SECONDS = 90.0
SERVE = [sys.executable, "-m", "console.cli", "serve"]
"""How an agent of the demo starts its server."""


@click.command(cls=Command)
@click.option("--store", metavar="FILE", help="A new file for the demo's store, which is kept. Default: a temporary one.")
@click.option("--for", "seconds", type=Duration(), metavar="TIME", help="End after that long: 90, 60s, 2m. Headless: 90s.")
@click.option("--headless", is_flag=True, help="No console: act as the operator too, and print what happened.")
@click.option("--read-only", is_flag=True, help="Open the console without its dangerous actions.")
@click.option(
    "--project", metavar="KEY", help="Open the console on one of the demo's projects: checkout, search, payments, docs."
)
@json_option
@click.pass_context
def demo(
    context: click.Context,
    store: str | None,
    seconds: float | None,
    headless: bool,
    read_only: bool,
    project: str | None,
    json: bool,
) -> None:
    """Look at a room with live agents, one of them dead inside its wrap.

    Builds a store and runs six real MCP agents on it as processes: some record, wrap and save, one is killed inside its wrap
    and blocks another, one stops calling, one waits for a live peer. Then it opens the console there. All of them end with it.
    With --headless it exits with 0 only when the whole story was seen, from DEAD to the late save's salvage.
    """
    if json and not headless:
        raise click.UsageError("--json tells what happened, so it goes with --headless.")
    if not headless and not on_terminal():
        raise click.UsageError("There is no terminal for the console here; with --headless the demo needs none.")
    if store and os.path.lexists(Path(store).expanduser()):
        raise click.UsageError(f"{store} exists already; the demo's agents only write to a new store, so name another file.")
    # what the console calls WEDGED must be what the agents are told
    from core.server.demo.fleet import WEDGED_AFTER

    os.environ.setdefault("WATCHROOM_WEDGED_AFTER", WEDGED_AFTER)
    try:
        with _ending_cleanly(), _place(store) as path:
            code = _rehearse(context, path, seconds, json) if headless else _show(path, seconds, read_only, project)
    except StoreError as error:
        tell(f"{next(name for kind, name in STORE_ERRORS if isinstance(error, kind))}: {error}")
        code = REFUSED
    except KeyboardInterrupt:
        code = INTERRUPTED
    context.exit(code)


def _rehearse(context: click.Context, path: Path, seconds: float | None, json: bool) -> int:
    from core.server.demo.headless import run_headless

    lines: list[str] = []
    limit = HEADLESS_SECONDS if seconds is None else seconds
    code = run_headless(path, SERVE, limit, lines.append if json else say)
    if json:
        call_of(context, str(path), None, True).answer({"lines": lines, "seen_whole": code == DONE}, lambda: lines)
    return code


def _show(path: Path, seconds: float | None, read_only: bool, project: str | None) -> int:
    from console.app import run_console
    from core.server.demo.fleet import Fleet

    fleet = Fleet(path, SERVE)
    time_is_up = threading.Event()

    def end() -> None:
        time_is_up.set()
        _interrupt()

    timer = threading.Timer(seconds or 0.0, end)
    timer.daemon = True
    try:
        fleet.start()
        if seconds is not None:
            timer.start()
        return run_console(path, project=project, read_only=read_only, screen="overview")
    except KeyboardInterrupt:
        if time_is_up.is_set():
            return DONE
        raise
    finally:
        timer.cancel()
        fleet.stop()


def _interrupt() -> None:
    """A ctrl-c for this process's main thread: a console closes by it and gives the terminal back."""
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:
        os.kill(os.getpid(), signal.SIGINT)  # interrupts the main thread's select, which a signal raised here would not


@contextlib.contextmanager
def _ending_cleanly() -> Iterator[None]:
    """SIGTERM and a terminal that goes away end the demo as ctrl-c does, so that neither agents nor files are left."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGINT)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    # a shell's background job starts with SIGINT ignored
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _place(store: str | None) -> Iterator[Path]:
    """The demo's store: as named, or in a temporary folder that is gone afterwards."""
    if store:
        yield Path(os.path.abspath(Path(store).expanduser()))  # noqa: PTH100 - links stay as the operator named them
        return
    folder = Path(tempfile.mkdtemp(prefix="watchroom-demo-"))
    try:
        yield folder / "demo.db"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
