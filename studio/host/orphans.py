"""Engine processes that nobody owns any more: found whatever they call themselves, and ended.

Three signs, since each alone fails: the marker in the environment (gone where a process wrote its
title over it), the session that was kept on disk when the engine was started (gone with the disk's
record), and descent from a process with either. None of them asks for a command line or a folder,
which processes change as they like.
"""

import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec
import psutil

from studio.domain.errors import StudioError
from studio.host import processes
from studio.host.documents import read_json, write_json
from studio.host.transfer.journal import boot_id

_WAIT_S = 5.0
_CLOCK_SLACK_S = 2.0
"""How far two readings of one process's beginning may lie apart after the clock was set."""


class Ownership(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept on disk of a running engine, for whoever comes after a kill of the service."""

    schema_version: int = 1
    boot: str | None = None
    """The kernel's own number of this run of the machine, and of the container around us."""
    session: int
    """The engine leads a session of its own; none can get this number while one of it lives."""
    started_at: float
    """When the leader began, in seconds since the epoch."""
    regions: tuple[str, ...] = ()
    """Names in /dev/shm that its processes were seen to use."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """One process that was ended."""

    pid: int
    name: str
    is_gone: bool = True
    """Whether it was seen to go; one that hangs in the kernel stays for a while."""


def record_file(home: Path) -> Path:
    """Return where the engine that a service of `home` runs is written down."""
    return home / "service" / "engine.json"


def own(home: Path, leader: int) -> Ownership | None:
    """Write down that `leader` and its session are ours; None where it is gone or cannot be."""
    with contextlib.suppress(psutil.Error, OSError, StudioError):
        kept = Ownership(
            boot=_here(), session=leader, started_at=psutil.Process(leader).create_time()
        )
        _write(home, kept)
        return kept
    return None


def add_regions(home: Path, regions: Iterable[str]) -> None:
    """Add names in /dev/shm to what is written down."""
    kept = recorded(home)
    if kept is None:
        return
    names = tuple(sorted({*kept.regions, *regions}))
    if names != kept.regions:
        with contextlib.suppress(StudioError):
            _write(home, msgspec.structs.replace(kept, regions=names))


def forget(home: Path) -> None:
    """Take the record away: nothing of that engine is left."""
    with contextlib.suppress(OSError):
        record_file(home).unlink(missing_ok=True)


def recorded(home: Path) -> Ownership | None:
    """Return what is written down; None when nothing is, or nothing that can be read."""
    with contextlib.suppress(StudioError):
        return read_json(record_file(home), Ownership)
    return None


def find(home: Path) -> list[psutil.Process]:
    """Return every living process of an engine that a service of `home` started."""
    found = {one.pid: one for one in processes.marked(home)}
    kept = recorded(home)
    if kept is not None and kept.boot == _here():
        found |= {one.pid: one for one in _of_session(home, kept)}
    for one in list(found.values()):
        with contextlib.suppress(*processes.GONE):
            found |= {child.pid: child for child in one.children(recursive=True)}
    found.pop(os.getpid(), None)
    return [one for one in found.values() if processes.is_living(one)]


def sweep(home: Path) -> list[Ended]:
    """End engine processes that an earlier service of `home` left behind; return them.

    Only for a moment when the caller has no engine of its own. Blocks up to a few seconds.
    """
    ended: dict[int, str] = {}
    left: list[psutil.Process] = []
    deadline = time.monotonic() + _WAIT_S
    while time.monotonic() < deadline:
        left = find(home)  # again after each kill: what was just forked was not seen before
        if not left:
            break
        for one in left:  # before any of them ends: a worker goes with its EngineCore
            ended.setdefault(one.pid, processes.title(one))
        for one in left:
            with contextlib.suppress(*processes.GONE):
                one.send_signal(signal.SIGKILL)
        psutil.wait_procs(left, timeout=min(1.0, max(0.0, deadline - time.monotonic())))
    stays = {one.pid for one in left if processes.is_living(one)}
    if not stays:
        forget(home)
    return [Ended(pid=pid, name=name, is_gone=pid not in stays) for pid, name in ended.items()]


def in_words(ended: Iterable[Ended]) -> str:
    """Return who was ended, by name and process id."""
    return ", ".join(f"{one.name} ({one.pid})" for one in ended)


def _write(home: Path, kept: Ownership) -> None:
    record_file(home).parent.mkdir(parents=True, exist_ok=True)
    write_json(record_file(home), kept, mode=0o600)


def _here() -> str | None:
    """Return what process ids are counted in: this run of the machine, and its container."""
    with contextlib.suppress(OSError):
        return f"{boot_id()} {Path('/proc/self/ns/pid').stat().st_ino}"
    return boot_id()


def _of_session(home: Path, kept: Ownership) -> list[psutil.Process]:
    """Return the members of the engine's session.

    While its leader lives, the number is its own for certain. Afterwards it may have gone to
    another session, whose leader is gone as well: then only what looks like an engine is taken.
    """
    has_leader = False
    with contextlib.suppress(*processes.GONE):
        begun = psutil.Process(kept.session).create_time()
        has_leader = abs(begun - kept.started_at) < _CLOCK_SLACK_S
        if not has_leader:
            return []  # somebody else's by now
    found = []
    for one in psutil.process_iter():
        with contextlib.suppress(*processes.GONE, OSError):
            if os.getsid(one.pid) != kept.session or not _is_own_user(one):
                continue
            if one.create_time() < kept.started_at - _CLOCK_SLACK_S:
                continue
            if has_leader or _is_engine(one, home):
                found.append(one)
    return found


def _is_engine(process: psutil.Process, home: Path) -> bool:
    """Tell whether it calls itself a part of vLLM, or runs on an interpreter of this home."""
    if processes.title(process).startswith(processes.TITLE):
        return True
    with contextlib.suppress(*processes.GONE):
        return Path(process.exe()).is_relative_to(home)
    return False


def _is_own_user(process: psutil.Process) -> bool:
    return bool(process.uids().real == os.getuid())
