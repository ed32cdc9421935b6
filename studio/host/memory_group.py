"""The tightest limited control group that a process lies in, in either version of them.

A group above may be tighter than one below; of all that have a limit, the one with the least room
left is the one that hurts.
"""

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from studio.domain.readings import PAGE_BYTES, GroupReading
from studio.host import pressure

_NONE_FROM = 1 << 60
"""The first version has no word for `no limit`, only a number beyond reach."""
_UNIFIED = ("", "unified")
"""Where the second version is mounted: alone, or beside the first."""

Read = Callable[[Path, str], GroupReading | None]


def of(pid: int, root: Path = Path("/")) -> GroupReading | None:
    """Return the group of `pid` with the least room; None when none has a limit."""
    groups = _groups(pressure.text_of(root / "proc" / str(pid) / "cgroup"))
    base = root / "sys/fs/cgroup"
    found: list[GroupReading] = []
    if "memory" in groups:
        found += _upwards(base / "memory", groups["memory"], _first)
    elif "" in groups:
        for mount in _UNIFIED:
            found += _upwards(base / mount, groups[""], _second)
    return min(found, key=_room, default=None)


def _room(group: GroupReading) -> int:
    return group.limit_bytes - (group.used_bytes or 0)


def _groups(text: str) -> dict[str, str]:
    """Return controller (`` for the second version) to path."""
    found = {}
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            found[controller] = path
    return found


def _upwards(base: Path, group: str, read: Read) -> list[GroupReading]:
    """Return the limited ones from `group` up to the top.

    In a container the path may be one that the host sees: then only the top is there.
    """
    inside = PurePosixPath(group.lstrip("/"))
    names = [str(one) for one in (inside, *inside.parents)]
    found = (read(base / name, f"/{name}".removesuffix("/.")) for name in dict.fromkeys(names))
    return [one for one in found if one is not None]


def _first(place: Path, name: str) -> GroupReading | None:
    limit = _number(place / "memory.limit_in_bytes")
    if limit is None or limit >= _NONE_FROM:
        return None
    stat = pressure.text_of(place / "memory.stat")
    control = pressure.text_of(place / "memory.oom_control")
    files = _sum(stat, "total_inactive_file", "total_active_file")
    return GroupReading(
        path=name or "/",
        limit_bytes=limit,
        used_bytes=_less(_number(place / "memory.usage_in_bytes"), files),
        swap_bytes=pressure.number_of(stat, "total_swap"),
        limit_hits=_number(place / "memory.failcnt"),
        kills=pressure.number_of(control, "oom_kill"),
        refault_bytes=_pages(pressure.number_of(stat, "total_workingset_refault_file")),
    )


def _second(place: Path, name: str) -> GroupReading | None:
    limit = _number(place / "memory.max")  # `max`: none
    if limit is None:
        return None
    stat = pressure.text_of(place / "memory.stat")
    events = pressure.text_of(place / "memory.events")
    files = _sum(stat, "inactive_file", "active_file")
    return GroupReading(
        path=name or "/",
        limit_bytes=limit,
        used_bytes=_less(_number(place / "memory.current"), files),
        swap_bytes=_number(place / "memory.swap.current"),
        limit_hits=pressure.number_of(events, "max"),
        kills=pressure.number_of(events, "oom_kill"),
        refault_bytes=_pages(pressure.number_of(stat, "workingset_refault_file")),
        pressure=pressure.read_pressure(pressure.text_of(place / "memory.pressure")),
    )


def _number(path: Path) -> int | None:
    text = pressure.text_of(path).strip()
    return int(text) if text.isdecimal() else None


def _less(used: int | None, files: int) -> int | None:
    return None if used is None else max(0, used - files)


def _sum(stat: str, *names: str) -> int:
    return sum(pressure.number_of(stat, name) or 0 for name in names)


def _pages(count: int | None) -> int | None:
    return None if count is None else count * PAGE_BYTES
