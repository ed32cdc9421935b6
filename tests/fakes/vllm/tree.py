"""The fake engine's processes: this one, EngineCore below it, Worker below that.

All in one session and process group, named like the real ones. They hold no socket. EngineCore and
Worker outlive a killed API server; Worker ends when EngineCore is gone.
"""

import contextlib
import os
import signal
import socket
import sys
import time
from pathlib import Path

WORKER_DIED = 3
"""EngineCore's exit status when its worker was taken from it."""
_FOLLOWS_S = 0.1
"""The real one was seen to follow its worker 0.1 to 0.3 s later; at once, nobody could tell who of
the two was first."""

_ARG_START = 47
"""Index in /proc/self/stat, counted after the command: where the command line lies in memory."""


def rename(name: str, command_line: str | None = None) -> None:
    """Show this process under `name` (15 characters) and `command_line`, as setproctitle does."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_bytes(name.encode()[:15])
    if command_line is None:
        return
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        start, end = int(fields[_ARG_START - 2]), int(fields[_ARG_START - 1])
        text = command_line.encode()[: end - start - 1].ljust(end - start, b"\0")
        with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
            memory.seek(start)
            memory.write(text)


class Tree:
    """EngineCore and Worker, as the API server sees them."""

    def __init__(self, core_pid: int, worker_pid: int) -> None:
        self.core_pid = core_pid
        self.worker_pid = worker_pid
        self._status: int | None = None

    def ended(self) -> int | None:
        """Return EngineCore's end (negative: a signal), or None while it runs."""
        if self._status is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.core_pid, os.WNOHANG)
                if pid:
                    self._status = os.waitstatus_to_exitcode(status)
        return self._status

    def end(self, within_s: float = 2.0) -> None:
        """End both, kindly and then not."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in (self.core_pid, self.worker_pid):
                if self.ended() is None or pid == self.worker_pid:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)
            until = time.monotonic() + within_s
            while time.monotonic() < until:
                if self.ended() is not None:
                    return
                time.sleep(0.005)


def grow(listener: socket.socket | None, *, ignores_sigterm: bool, workers: int = 1) -> Tree:
    """Fork EngineCore, which forks its workers; returns when all run."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    core_pid = os.fork()
    if core_pid == 0:
        os.close(reader)
        if listener is not None:
            listener.close()
        _be_core(writer, ignores_sigterm=ignores_sigterm, workers=workers)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()  # ends when all have closed it, ready and renamed
    worker_pid = int(told.split()[0])
    return Tree(core_pid, worker_pid)


def _be_core(report: int, *, ignores_sigterm: bool, workers: int) -> None:
    """Live as EngineCore; never returns."""
    rename("VLLM::EngineCore", "VLLM::EngineCore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if ignores_sigterm else signal.SIG_DFL)
    life_reader, life_writer = os.pipe()
    pids = []
    for rank in range(workers):
        pid = os.fork()
        if pid == 0:
            os.close(life_writer)
            _be_worker(life_reader, report, "Worker" if workers == 1 else f"Worker_TP{rank}")
        pids.append(pid)
    os.close(life_reader)
    if not ignores_sigterm:

        def leave(_number: int, _frame: object) -> None:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os._exit(0)

        signal.signal(signal.SIGTERM, leave)
    os.close(report)
    os.wait()  # one worker fewer, and it cannot go on
    time.sleep(_FOLLOWS_S)
    os._exit(WORKER_DIED)


def _be_worker(life: int, report: int, name: str) -> None:
    """Live as a worker until EngineCore is gone; never returns."""
    rename(f"VLLM::{name}", f"VLLM::{name}")
    os.write(report, b"%d " % os.getpid())
    os.close(report)
    os.read(life, 1)  # nothing is ever written: this returns when the other end is closed
    os._exit(0)
