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
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path

import msgspec
import psutil

from studio.domain.errors import HostLacks
from studio.host.files import from_os_error

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
        # What Windows' own programs look up.
        "APPDATA",
        "COMSPEC",
        "LOCALAPPDATA",
        "PATHEXT",
        "PROGRAMDATA",
        "SYSTEMDRIVE",
        "USERPROFILE",
        "WINDIR",
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

_HIDDEN = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""The window has no console on Windows: without this, each helper would flash one of its own."""

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
    program = _found(argv[0], env)
    process = await _begun(
        asyncio.create_subprocess_exec(
            *_dying_with_us([program, *argv[1:]]),
            env=dict(env),
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            creationflags=_HIDDEN,
        )
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
    if sys.platform == "win32":
        # WORKAROUND(CPython<3.14: on Windows the end of a pipe may not be told, and what is open
        # when the loop ends is complained of on standard error; remove when it is closed with the
        # process.)
        vars(process)["_transport"].close()
        await asyncio.sleep(0)
    return RunResult(exit_code=await process.wait(), tail=tuple(tail), timed_out=timed_out)


class Running:
    """A helper that lives until it is ended, or until we die; what it says is kept for its end."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def is_running(self) -> bool:
        """Tell whether it has not ended."""
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self._process.pid

    async def last_words(self) -> tuple[str, ...]:
        """Return what it said, once it has ended."""
        assert self._process.stderr is not None
        said = await self._process.stderr.read(_LINE_LIMIT)
        await self._process.wait()
        lines = (line.decode("utf-8", "replace").rstrip() for line in _LINE_END.split(said))
        return tuple(line for line in lines if line)[-_TAIL_LINES:]

    def end(self) -> None:
        """Kill it, with all that it started; from any thread, also when its loop is gone."""
        _kill_group(self._process.pid)


async def start(argv: Sequence[str], *, env: Mapping[str, str]) -> Running:
    """Start a helper that goes on by itself; only what it says on standard error is kept.

    Raises: HostLacks (`program-missing`) when the program cannot be started.
    """
    process = await _begun(
        asyncio.create_subprocess_exec(
            *_dying_with_us([_found(argv[0], env), *argv[1:]]),
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            creationflags=_HIDDEN,
        )
    )
    return Running(process)


def _found(name: str, env: Mapping[str, str]) -> str:
    """Return where a program lies. Raises: HostLacks (`program-missing`)."""
    program = shutil.which(name, path=env.get("PATH", os.defpath))
    if program is None:
        raise HostLacks(
            "program-missing",
            f"The program {name} is not on this machine, or may not be run.",
            hint="Install it, or check the file's permissions.",
        )
    return program


async def capture(
    argv: Sequence[str], *, env: Mapping[str, str], timeout_s: float, most_bytes: int = 1 << 20
) -> tuple[int | None, bytes]:
    """Return exit status and raw output of a helper, for what does not speak UTF-8.

    The status is None when it was ended for taking too long. Works on Windows too.
    Raises: HostLacks (`program-missing`).
    """
    running = await _begun(
        asyncio.create_subprocess_exec(
            _found(argv[0], env),
            *argv[1:],
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            creationflags=_HIDDEN,
        )
    )
    try:
        async with asyncio.timeout(timeout_s):
            output, _none = await running.communicate()
    except TimeoutError:
        return None, b""
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()
    return running.returncode, output[:most_bytes]


def outliving(
    argv: Sequence[str], environment: Mapping[str, str], log: Path
) -> "subprocess.Popen[bytes]":
    """Start a program that goes on when we end, without a window; its output goes to `log`.

    For Windows; elsewhere `detach.spawn` does without a Python object that wants to be waited for.
    Raises: HostLacks (`not-writable`, `disk-full`).
    """
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            return subprocess.Popen(
                list(argv),
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                creationflags=_HIDDEN,
                start_new_session=sys.platform != "win32",
            )
    except OSError as error:
        raise from_os_error(error, log) from error


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


async def _begun(
    starting: Coroutine[object, object, asyncio.subprocess.Process],
) -> asyncio.subprocess.Process:
    """Return a program that was started; a cancellation meanwhile is heard when it can be ended.

    Cancelled between the start and the connection of the pipes, asyncio waits for ever: it tells of
    the end only when every pipe was closed (base_subprocess.py, `_try_finish`, CPython 3.11).
    """
    started = asyncio.gather(starting)
    try:
        (process,) = await asyncio.shield(started)
    except asyncio.CancelledError:
        await asyncio.wait({started})
        if started.exception() is None:
            (process,) = started.result()
            _kill_group(process.pid)
            with contextlib.suppress(ProcessLookupError):
                process.kill()  # where it is in our group
            await _reap(process)
        raise
    return process


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
            if process.stdout is not None:
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
    if sys.platform == "win32":
        return kill_family(group)
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_family(leader: int) -> bool:
    """Kill a program and all that it started; returns whether there was anything to kill.

    For Windows, which has no groups. Its number is not given to another one while we hold it.
    """
    try:
        first = psutil.Process(leader)
        family = [first, *first.children(recursive=True)]
    except psutil.Error:
        return False
    for one in family:
        with contextlib.suppress(psutil.Error):
            one.kill()
    return True
