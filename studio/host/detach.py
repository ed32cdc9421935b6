"""Starts a process that outlives us: the service. POSIX; on Windows the service lives in WSL2."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from studio.host import frozen, own_program
from studio.host.files import from_os_error


def own_command() -> list[str]:
    """Return how this very program is started again."""
    if frozen.is_frozen():
        return [str(own_program.command())]
    # -P: no module of the folder that the person stands in.
    return [sys.executable, "-P", "-m", "studio"]


class Detached:
    """A process in a session of its own, with no terminal."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._exit_code: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs (or when somebody else waited for it)."""
        if self._exit_code is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                return None
            if pid:
                self._exit_code = os.waitstatus_to_exitcode(status)
        return self._exit_code


def spawn(argv: Sequence[str], environment: Mapping[str, str], log: Path) -> Detached:
    """Start `argv` with no input, its output written to `log`.

    Raises: HostLacks (`not-writable`, `disk-full`).
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        pid = os.posix_spawn(
            argv[0],
            list(argv),
            dict(environment),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    except OSError as error:
        raise from_os_error(error, log) from error
    return Detached(pid)
