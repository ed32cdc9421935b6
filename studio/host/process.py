"""Short-lived helper programs: the only module that uses `subprocess`.

A helper runs in a session of its own, so that Ctrl+C in a terminal reaches us and not half of us;
its whole group is killed when the call is cancelled or times out, and the kernel kills it when we
die. It gets the environment of `helper_environment`: an allow-list, so that no secret of ours and
no setting of another Python reaches it. The engine is started elsewhere (guard.py).
"""

import asyncio
import asyncio.subprocess
import collections
import contextlib
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import psutil

from studio.domain.errors import HostLacks

_TAIL_LINES = 60
_LINE_LIMIT = 16_384
"""Bytes; a longer line is cut, so that a program that prints no newline cannot fill our memory."""
_CHUNK = 65_536
_LINE_END = re.compile(rb"[\r\n]+")
_REAP_S = 2.0
_LOOK_S = 0.25
"""How often a silent helper is looked at: has it ended and left a child that holds the pipe?"""

_ALLOWED = frozenset(
    (
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TEMP",
        "TMP",
        "SYSTEMROOT",
        "NETRC",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "SSL_CLIENT_CERT",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
    )
)
_ALLOWED_PREFIXES = ("LC_", "XDG_")

# Run by the Studio's own interpreter where `setpriv` is missing: asks for the signal, then becomes
# the program. The second look at the parent closes the gap in which it may have died already.
_SHIM = (
    "import ctypes,os,sys;ctypes.CDLL(None).prctl(1,9,0,0,0);"
    "os.getppid()==int(sys.argv[1]) or os._exit(1);os.execvp(sys.argv[2],sys.argv[2:])"
)


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a helper ended. `exit_code` is negative after a signal, as in `subprocess`."""

    exit_code: int
    tail: tuple[str, ...]
    """The last lines it printed, both streams together."""
    timed_out: bool = False


def helper_environment(
    extra: Mapping[str, str] | None = None, *, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return what a helper may know of our environment, plus `extra`."""
    kept = {
        name: value
        for name, value in environ.items()
        if name in _ALLOWED or name.startswith(_ALLOWED_PREFIXES)
    }
    return {**kept, **(extra or {})}


async def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    timeout_s: float,
    cwd: Path | None = None,
    on_line: Callable[[str], None] | None = None,
    on_tick: Callable[[int], None] | None = None,
) -> RunResult:
    """Run a helper to its end. `on_line` gets each line; `on_tick` its process id, often.

    Raises: HostLacks (`program-missing`) when the program cannot be started.
    """
    program = shutil.which(argv[0], path=env.get("PATH", os.defpath))
    if program is None:
        raise HostLacks(
            "program-missing",
            f"The program {argv[0]} is not on this machine, or may not be run.",
            hint="Install it, or check the file's permissions.",
        )
    process = await asyncio.create_subprocess_exec(
        *_dying_with_us([program, *argv[1:]]),
        env=dict(env),
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    tail: collections.deque[str] = collections.deque(maxlen=_TAIL_LINES)
    timed_out = False
    try:
        async with asyncio.timeout(timeout_s):
            await _follow(process, tail, on_line, on_tick)
    except TimeoutError:
        timed_out = True
    finally:
        _kill_group(process.pid)
        if not timed_out and process.returncode is None:  # cancelled, or refused by a callback
            await _reap(process)
    if timed_out:
        await _drain(process)
    return RunResult(exit_code=await process.wait(), tail=tuple(tail), timed_out=timed_out)


async def interactive(argv: Sequence[str]) -> int:
    """Run a program that talks to the person in this terminal; return its exit status.

    Ctrl+C is the program's, as long as it runs. Raises: OSError when it cannot be started.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = await asyncio.create_subprocess_exec(*argv)
        return await process.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def written_bytes(pid: int) -> int | None:
    """Return the bytes that a running helper has written so far, or None when not known."""
    try:
        return int(psutil.Process(pid).io_counters().write_chars)
    except (psutil.Error, OSError):
        return None


def read_bytes_of_children(pid: int) -> int | None:
    """Return the bytes that the running children of a helper have read so far."""
    total = 0
    try:
        for child in psutil.Process(pid).children():
            total += int(child.io_counters().read_chars)
    except (psutil.Error, OSError):
        return None
    return total


def _dying_with_us(argv: list[str]) -> list[str]:
    """Return a command that asks the kernel for SIGKILL at our death, then becomes `argv`.

    Not `preexec_fn`: it runs Python between fork and exec, which may deadlock in a process with
    threads and costs the fast vfork path. `setpriv` (util-linux) adds 1 ms; the shim some 20 ms.
    """
    if not sys.platform.startswith("linux"):
        return argv
    setpriv = shutil.which("setpriv")
    if setpriv is not None:
        return [setpriv, "--pdeathsig", "KILL", "--", *argv]
    if getattr(sys, "frozen", False):  # a frozen program cannot run code for others
        return argv
    return [sys.executable, "-I", "-S", "-c", _SHIM, str(os.getpid()), *argv]


async def _follow(
    process: asyncio.subprocess.Process,
    tail: collections.deque[str],
    on_line: Callable[[str], None] | None,
    on_tick: Callable[[int], None] | None,
) -> None:
    """Read until the helper ends; what it left behind with the pipe in hand is ended with it."""
    assert process.stdout is not None
    pending = b""
    overdue = False
    while not overdue:
        if on_tick is not None:
            on_tick(process.pid)
        try:
            async with asyncio.timeout(_LOOK_S):
                chunk = await process.stdout.read(_CHUNK)
        except TimeoutError:
            overdue = process.returncode is not None and not _kill_group(process.pid)
            continue
        if not chunk:
            break
        *whole, pending = _LINE_END.split(pending + chunk)
        pending = pending[:_LINE_LIMIT]
        for line in whole:
            _emit(line, tail, on_line)
    _emit(pending, tail, on_line)
    await process.wait()


async def _drain(process: asyncio.subprocess.Process) -> None:
    """Read what a killed helper left, so that its pipe closes: a full one is never seen to end."""
    assert process.stdout is not None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LOOK_S):
            while await process.stdout.read(_CHUNK):
                pass


async def _reap(process: asyncio.subprocess.Process) -> None:
    """Wait for a killed helper's end, so that nothing of it is left to the loop's own end."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_REAP_S):
            await _drain(process)
            await process.wait()


def _emit(line: bytes, tail: collections.deque[str], on_line: Callable[[str], None] | None) -> None:
    text = line[:_LINE_LIMIT].decode("utf-8", "replace").rstrip()
    if not text:
        return
    tail.append(text)
    if on_line is not None:
        on_line(text)


def _kill_group(group: int) -> bool:
    """Kill the group; returns whether there was anything to kill."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True
