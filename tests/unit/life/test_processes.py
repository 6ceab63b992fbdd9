"""The process probe, on real processes. Each test waits for the thing itself, never for a time."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.life.processes import UNREADABLE, SystemProcesses

ON_LINUX = sys.platform.startswith("linux")
linux_only = pytest.mark.skipif(not ON_LINUX, reason="needs /proc")
WAIT = "import sys; print('ready', flush=True); sys.stdin.read()"


@contextlib.contextmanager
def child(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A child that has said it is ready, and is killed and reaped at the end."""
    started = subprocess.Popen(command or (sys.executable, "-c", WAIT), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert started.stdout is not None
    try:
        assert started.stdout.readline().strip() == b"ready"
        yield started
    finally:
        started.kill()
        started.communicate()


def kill_unreaped(victim: subprocess.Popen[bytes]) -> None:
    """Kill a child and wait until it is dead, but leave its zombie."""
    victim.kill()
    os.waitid(os.P_PID, victim.pid, os.WEXITED | os.WNOWAIT)


def start_of(processes: SystemProcesses, pid: int) -> int:
    started = processes._started(pid)
    assert started is not None
    return started


@pytest.fixture(params=["native", "psutil"])
def processes(request: pytest.FixtureRequest) -> SystemProcesses:
    """Both ways to probe: the platform's own, and psutil's, which other platforms use."""
    return SystemProcesses() if request.param == "native" else SystemProcesses(proc=None)


def test_this_process_is_alive_and_knows_where_it_runs(processes: SystemProcesses) -> None:
    here = processes.here()
    assert here.pid == os.getpid()
    assert here.host
    assert UNREADABLE not in (here.host, here.boot, here.namespace)
    assert here.started_ticks is not None
    assert processes.state(here.pid, here.started_ticks) == "alive"
    assert processes.here() == here


@linux_only
def test_on_linux_boot_and_namespace_come_from_proc() -> None:
    here = SystemProcesses().here()
    assert here.boot == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert here.namespace == str(Path("/proc/self/ns/pid").readlink())


def test_the_parent_is_told_with_its_start_and_name(processes: SystemProcesses) -> None:
    pid, started = processes.parent()
    if os.getppid() <= 1:
        assert (pid, started) == (None, None)
        return
    assert pid == os.getppid()
    assert processes.state(pid, started) == "alive"
    assert processes.program_of_parent()


@pytest.mark.parametrize("pid", [0, 1])
def test_a_parent_that_is_pid_0_or_1_is_none(pid: int, processes: SystemProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getppid", lambda: pid)
    assert processes.parent() == (None, None)
    assert processes.program_of_parent() is None


def test_a_child_is_alive_then_killed_and_unreaped_gone_then_reaped_gone(processes: SystemProcesses) -> None:
    with child() as started:
        ticks = start_of(processes, started.pid)
        assert processes.state(started.pid, ticks) == "alive"
        kill_unreaped(started)
        assert processes.state(started.pid, ticks) == "gone"  # a zombie
        assert processes.state(started.pid, None) == "gone"
        started.wait()
        assert processes.state(started.pid, ticks) == "gone"
        assert processes.state(started.pid, None) == "gone"


def test_the_same_pid_with_another_start_is_gone(processes: SystemProcesses) -> None:
    with child() as started:
        ticks = start_of(processes, started.pid)
        assert processes.state(started.pid, ticks - 10_000) == "gone"
        assert processes.state(started.pid, None) == "alive"


@linux_only
def test_on_linux_one_tick_makes_another_start() -> None:
    here = SystemProcesses().here()
    assert here.started_ticks is not None
    assert SystemProcesses().state(here.pid, here.started_ticks + 1) == "gone"


@linux_only
@pytest.mark.parametrize("name", ["a b) S (c", ") Z 1 1 (", "))) ((", "x\ny) Z"])
def test_a_name_with_blanks_and_parentheses_does_not_mislead(name: str) -> None:
    rename = f"open('/proc/self/comm', 'w').write({name!r}); " + WAIT
    with child(sys.executable, "-c", rename) as started:
        assert Path(f"/proc/{started.pid}/comm").read_text().startswith(name)
        here = SystemProcesses()
        assert here.state(started.pid, start_of(SystemProcesses(proc=None), started.pid)) == "alive"


@linux_only
@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="needs the number of the exit call")
def test_a_process_whose_main_thread_has_ended_is_alive_while_others_work() -> None:
    exit_call = {"x86_64": 60, "aarch64": 93}[platform.machine()]
    program = (
        "import ctypes, sys, threading\n"
        "def work():\n"
        "    while open('/proc/self/stat').read().rpartition(')')[2].split()[0] != 'Z': pass\n"
        "    print('ready', flush=True); sys.stdin.read()\n"
        "threading.Thread(target=work).start()\n"
        f"ctypes.CDLL(None).syscall({exit_call}, 0)\n"
    )
    with child(sys.executable, "-c", program) as started:
        processes = SystemProcesses()
        assert processes.state(started.pid, start_of(processes, started.pid)) == "alive"


def test_a_pid_that_nobody_has_is_gone(processes: SystemProcesses) -> None:
    assert processes.state(2**31 - 1, None) == "gone"


@pytest.mark.parametrize("pid", [0, -1, 2**70, "self", None])
def test_a_pid_that_can_be_nobodys_is_unknown_and_raises_nothing(pid: int, processes: SystemProcesses) -> None:
    assert processes.state(pid, 1) == "unknown"


@linux_only
def test_a_proc_that_hides_a_living_process_makes_it_unknown_and_not_gone(tmp_path: Path) -> None:
    processes = SystemProcesses(proc=str(tmp_path))
    assert processes.state(os.getpid(), 1) == "unknown"
    assert processes.state(2**31 - 1, 1) == "gone"
    here = processes.here()
    assert (here.boot, here.namespace, here.started_ticks) == (UNREADABLE, UNREADABLE, None)
    assert processes.parent() == (None, None)


@linux_only
@pytest.mark.parametrize("text", ["", "no parenthesis", "1 (x) S 1", "1 (x) S " + "word " * 30])
def test_a_stat_that_cannot_be_read_is_unknown(text: str, tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text(text)
    assert SystemProcesses(proc=str(tmp_path)).state(7, 1) == "unknown"


@linux_only
def test_a_denied_probe_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError

    monkeypatch.setattr("core.life.processes.os.open", denied)
    assert SystemProcesses().state(os.getpid(), 1) == "unknown"


def test_a_denied_psutil_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    def denied(pid: int) -> None:
        raise psutil.AccessDenied(pid)

    monkeypatch.setattr(psutil, "Process", denied)
    assert SystemProcesses(proc=None).state(os.getpid(), 1) == "unknown"


@linux_only
def test_a_long_program_name_is_whole_and_printable(tmp_path: Path) -> None:
    program = tmp_path / "a-program-with-a-long-name"
    shutil.copy("/bin/sh", program)
    script = "from core.life.processes import SystemProcesses; print(ascii(SystemProcesses().program_of_parent()))"
    # the words after it keep the shell from replacing itself by its last command
    done = subprocess.run(
        [program, "-c", f'"{sys.executable}" -c "{script}"; exit $?'], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "'a-program-with-a-long-name'"


def test_importing_the_probe_is_cheap() -> None:
    script = "import sys, core.life.processes; print([name for name in ('psutil', 'socket', 'sqlite3') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@linux_only
def test_a_fork_is_another_process() -> None:
    processes = SystemProcesses()
    before = processes.here()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, str(processes.here().pid).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(writer)
    assert int(os.read(reader, 32)) == pid != before.pid
    os.close(reader)
