"""Stands between the service and one engine, so that nothing of the engine outlives either.

A script, run by the runtime's own interpreter (`python -I -S guard.py REPORT_FD GRACE_S CMD…`);
the Studio never imports it. Standard library only, one thread, Linux and macOS.

Rules. It adopts every orphan of the engine (child subreaper), so a SIGKILL of the API server
cannot leave EngineCore or workers behind. Standard input is a pipe held by the service: when it
closes, for whatever reason, the engine is ended. On `REPORT_FD` it writes `pid N` once the engine
runs and `exit N` (negative: a signal) when the engine and all its descendants are gone.
"""

import contextlib
import ctypes
import os
import pathlib
import selectors
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_TICK_S = 0.05
_TIDY_S = 0.5
"""How long helpers may take after the leader's end; the resource tracker frees shared memory."""
_SWEEP_LIMIT_S = 10.0
_PROC = pathlib.Path("/proc")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _descendants(root: int) -> set[int]:
    """Return every living process below `root`, from /proc (zombies left out)."""
    parents: dict[int, int] = {}
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = (entry / "stat").read_text(encoding="ascii", errors="replace")
            fields = stat.rpartition(")")[2].split()
            if fields[0] not in "ZX":
                parents[int(entry.name)] = int(fields[1])
    found: set[int] = set()
    fresh = {root}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def _is_tracker(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return b"resource_tracker" in (_PROC / str(pid) / "cmdline").read_bytes()
    return False


def _signal_all(leader: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
    for pid in _descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


class _Guard:
    def __init__(self, report: int, grace_s: float, command: list[str]) -> None:
        self._report = report
        self._grace_s = grace_s
        self._status: int | None = None
        self._kill_at: float | None = None
        self._wanted_end = False
        wake_read, wake_write = os.pipe()
        for end in (wake_read, wake_write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, self._on_signal)
        self._wake = wake_read
        self._leader = self._spawn(command)

    def _spawn(self, command: list[str]) -> int:
        parent = os.getpid()
        begun_read, begun_write = os.pipe()  # closed by the exec, or by the child's end
        pid = os.fork()
        if pid:
            # Whoever hears of the engine may end its group at once, so there must be one by then.
            os.close(begun_write)
            os.read(begun_read, 1)
            os.close(begun_read)
            return pid
        # The child: nothing here may raise past os._exit.
        try:
            os.setsid()
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.close(self._report)
            if os.getppid() == parent:
                os.execvpe(command[0], command, os.environ)
        except OSError as error:
            os.write(2, f"guard: {command[0]} cannot be started: {error.strerror}\n".encode())
        os._exit(127)

    def _on_signal(self, number: int, _frame: object) -> None:
        if number != signal.SIGCHLD:
            self._wanted_end = True

    def _say(self, text: str) -> None:
        with contextlib.suppress(OSError):
            os.write(self._report, text.encode() + b"\n")

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._leader:
                self._status = os.waitstatus_to_exitcode(status)

    def _begin_end(self) -> None:
        if self._kill_at is None:
            self._kill_at = time.monotonic() + self._grace_s
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, signal.SIGTERM)

    def run(self) -> int:
        self._say(f"pid {self._leader}")
        chooser = selectors.DefaultSelector()
        chooser.register(0, selectors.EVENT_READ)
        chooser.register(self._wake, selectors.EVENT_READ)
        while True:
            self._reap()
            if self._status is not None:
                break
            if self._wanted_end:
                self._begin_end()
            if self._kill_at is not None and time.monotonic() >= self._kill_at:
                _signal_all(self._leader, signal.SIGKILL)
            wait = None if self._kill_at is None else max(_TICK_S, self._kill_at - time.monotonic())
            for key, _mask in chooser.select(wait):
                if key.fd == self._wake:
                    os.read(self._wake, 4096)
                elif not os.read(0, 4096):
                    chooser.unregister(0)
                    self._begin_end()
        self._sweep()
        self._say(f"exit {self._status}")
        return 0

    def _sweep(self) -> None:
        """Kill what the engine left behind; at most a few seconds (a process in D state waits).

        After a leader that was killed, only the tracker has anything left to do, and ends by
        itself when the others are gone.
        """
        ended = time.monotonic()
        if self._status is not None and self._status < 0:
            for pid in _descendants(os.getpid()):
                if not _is_tracker(pid):
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
            self._reap()
        while _descendants(os.getpid()) and time.monotonic() < ended + _SWEEP_LIMIT_S:
            if time.monotonic() >= ended + _TIDY_S:
                _signal_all(self._leader, signal.SIGKILL)
            time.sleep(_TICK_S)
            self._reap()


def main() -> int:
    """Run the command named on the command line and stay until it is gone."""
    report, grace_s, *command = sys.argv[1:]
    os.set_inheritable(int(report), False)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    return _Guard(int(report), float(grace_s), command).run()


if __name__ == "__main__":
    sys.exit(main())
