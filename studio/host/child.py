"""One long-lived engine process, started through the guard, with its output as bytes.

`start` returns when the engine's process exists; `wait` when it and all its descendants are gone.
POSIX only: on Windows the service itself runs inside WSL2.
"""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from studio.domain.errors import EngineFailed

GUARD = Path(__file__).with_name("guard.py")
MARKER = "WEIR_ENGINE"
"""Variable in every engine process's environment; its value names the home that started it."""
TITLES_APART = "SPT_NOENV"
"""Variable that keeps setproctitle, by which vLLM names its processes, from writing a title over
the environment that others can read: the marker would be gone (seen with 1.3.8)."""

_SPAWN_S = 30.0
_CHUNK = 1 << 16


class Child:
    """A running engine. Made by `start`."""

    def __init__(self, guard: Process, leader: int, report: "_Pipe", output: "_Pipe") -> None:
        self._guard = guard
        self._report = report
        self._output = output
        self.pid = leader
        self.guard_pid = guard.pid

    def terminate(self) -> None:
        """Ask the engine's whole process group to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the engine's whole process group now."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    async def pump(self, on_output: Callable[[bytes], None]) -> None:
        """Hand over the engine's output as it comes; returns at its end."""
        while chunk := await self._output.reader.read(_CHUNK):
            on_output(chunk)

    async def wait(self) -> int | None:
        """Return the engine's exit code (negative: a signal) once nothing of it is left.

        None when the guard was killed; then the group is killed here before returning.
        """
        code: int | None = None
        while line := await self._report.reader.readline():
            word, _, number = line.decode("ascii", "replace").strip().partition(" ")
            if word == "exit":
                code = int(number)
        await self._guard.wait()
        if code is None:
            self.kill()
        return code

    async def close(self) -> None:
        """End the engine now and wait for it; safe at any time."""
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        self.kill()
        await self._guard.wait()
        self._output.close()
        self._report.close()


class _Pipe:
    """A pipe from a child. Ours rather than asyncio's own, whose `wait` waits for every holder of
    the other end: a stray grandchild would keep us waiting for ever.
    """

    def __init__(self) -> None:
        self._read_end, self.write_end = os.pipe()
        self.reader = asyncio.StreamReader()
        self._transport: asyncio.ReadTransport | None = None

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self.reader),
            os.fdopen(self._read_end, "rb", buffering=0),
        )

    def close_write_end(self) -> None:
        os.close(self.write_end)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def start(
    argv: tuple[str, ...],
    environment: Mapping[str, str],
    *,
    python: str,
    cwd: Path,
    grace_s: float,
) -> Child:
    """Start `argv` under a guard that `python` runs.

    When the service dies, the guard sends SIGTERM and, after `grace_s`, SIGKILL.
    Raises: EngineFailed (`engine-not-started`).
    """
    report, output = _Pipe(), _Pipe()
    await report.open()
    await output.open()
    starting = asyncio.gather(
        asyncio.create_subprocess_exec(
            python, "-I", "-S", str(GUARD), str(report.write_end), str(grace_s), *argv,
            stdin=PIPE, stdout=output.write_end, stderr=output.write_end, env=dict(environment),
            cwd=cwd, pass_fds=(report.write_end,), start_new_session=True,
        )
    )  # fmt: skip
    try:
        (guard,) = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # asyncio would kill the guard alone, and a family that has begun would live on.
        await asyncio.wait({starting})
        if starting.exception() is None:
            await _abandon(starting.result()[0])
        report.close()
        output.close()
        raise
    except OSError as error:
        report.close()
        output.close()
        raise EngineFailed(
            "engine-not-started",
            f"{python} cannot be started: {error.strerror or error}.",
            hint="The runtime looks damaged: remove its folder and run `weir up` again.",
        ) from error
    finally:
        report.close_write_end()
        output.close_write_end()
    leader: int | None = None
    try:
        leader = await _leader(report)
    finally:  # also when the caller is cancelled: the engine would boot on, known to nobody
        if leader is None:
            await _abandon(guard)
            report.close()
            output.close()
    if leader is None:
        raise EngineFailed(
            "engine-not-started",
            f"{python} did not start the engine.",
            hint="The runtime looks damaged: remove its folder and run `weir up` again.",
        )
    return Child(guard, leader, report, output)


async def _abandon(guard: Process) -> None:
    """End a guard, and what it may have started already; returns when it is gone.

    Killed alone, it would leave what has a session of its own. So its child is killed, and the
    guard ends the rest and then itself; where there is no child yet, none begins without it.
    """
    try:
        begun = psutil.Process(guard.pid).children()
    except psutil.Error:
        begun = []
    for one in begun:
        with contextlib.suppress(psutil.Error):
            one.kill()
    if not begun:
        with contextlib.suppress(ProcessLookupError):
            guard.kill()
    if guard.stdin is not None:
        guard.stdin.close()
    await guard.wait()


async def _leader(report: _Pipe) -> int | None:
    """Return the engine's process id as the guard reports it; None when it does not."""
    line = b""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SPAWN_S):
            line = await report.reader.readline()
    word, _, number = line.decode("ascii", "replace").strip().partition(" ")
    return int(number) if word == "pid" else None
