"""Regions in /dev/shm that engines leave behind: they hold memory until somebody removes them.

A killed engine with its KV cache's CPU tier leaves `vllm_offload_*.mmap`, gigabytes large
(HyperQwen's launcher removes the same, and keeps them where VLLM_OFFLOAD_KEEP_SHM is set: the
processes of other containers cannot be seen from here). Other names are removed only where the
engine that used them is known to have been ours.
"""

import contextlib
import dataclasses
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

SHM = Path("/", "dev", "shm")
KEEP = "VLLM_OFFLOAD_KEEP_SHM"
_OFFLOAD = re.compile(r"vllm_offload_.*\.mmap")
_PROC = Path("/proc")
_MAPPED = re.compile(r"^\S+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) +/", re.MULTILINE)
_DELETED = " (deleted)"
_ENGINES = ("python", "vllm", "VLLM")
"""How the names of processes begin that may be an engine; what else hides its maps (an ssh-agent)
is none."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """One region that was removed."""

    name: str
    bytes: int


def used_by(pids: Iterable[int], folder: Path = SHM) -> frozenset[str]:
    """Return the names in `folder` that these processes map or hold open."""
    prefix = f"{folder}{os.sep}"
    found: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in (_PROC / str(pid) / "maps").read_text("utf-8", "replace").splitlines():
                place = line.find(prefix)
                if place >= 0 and not line.endswith(_DELETED):
                    found.add(line[place + len(prefix) :])
        links = _links(pid, lambda link: link.startswith(prefix) and not link.endswith(_DELETED))
        found |= {link[len(prefix) :] for link, _ in links}
    return frozenset(found)


def remove_stale(known: Collection[str] = (), folder: Path = SHM) -> list[Region]:
    """Remove regions of engines of this user that no living process maps or holds; return them.

    `known`: further names that an ended engine of ours used.
    """
    candidates = dict(_candidates(known, folder))
    if not candidates:
        return []
    taken = _in_use({(told.st_dev, told.st_ino): path.name for path, told in candidates.items()})
    if taken is None:
        return []
    removed = []
    for path, told in candidates.items():
        if (told.st_dev, told.st_ino) not in taken:
            with contextlib.suppress(OSError):
                path.unlink()
                removed.append(Region(name=path.name, bytes=told.st_blocks * 512))
    return removed


def _candidates(known: Collection[str], folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not (entry.name in known or _OFFLOAD.fullmatch(entry.name)):
                continue
            with contextlib.suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    told = entry.stat(follow_symlinks=False)
                    if told.st_uid == os.getuid():
                        yield Path(entry.path), told


def _in_use(wanted: Mapping[tuple[int, int], str]) -> set[tuple[int, int]] | None:
    """Return which files living processes map or hold; None when an engine hides it.

    By device and inode, since another container may see the same region at another path.
    """
    taken: set[tuple[int, int]] = set()
    names = tuple(wanted.values())
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            taken |= _mapped(entry) & wanted.keys()
        except PermissionError:
            if _may_be_engine(entry):
                return None
        except OSError:
            continue  # it has just ended
        held = _links(int(entry.name), lambda link: Path(link).name in names)
        taken |= {key for _, key in held if key in wanted}
    return taken


def _mapped(entry: Path) -> set[tuple[int, int]]:
    text = (entry / "maps").read_text("utf-8", "replace")
    return {
        (os.makedev(int(major, 16), int(minor, 16)), int(inode))
        for major, minor, inode in _MAPPED.findall(text)
    }


def _may_be_engine(entry: Path) -> bool:
    """Tell whether a process of this user whose maps are hidden may be an engine."""
    with contextlib.suppress(OSError):
        name = (entry / "comm").read_text("utf-8", "replace")
        status = (entry / "status").read_text("utf-8", "replace")
        match = re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE)
        return match is not None and int(match[1]) == os.getuid() and name.startswith(_ENGINES)
    return False


def _links(pid: int, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the wanted files that a process holds open: path, and device with inode."""
    folder = _PROC / str(pid) / "fd"
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                link = str(Path(entry.path).readlink())
                # Asked of no others: one on a dead network disk would not answer.
                if is_wanted(link):
                    told = entry.stat()
                    yield link, (told.st_dev, told.st_ino)
