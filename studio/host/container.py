"""The container around us, and the memory and processors that its control group allows."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TypeVar

from studio.domain.hardware import UNLIMITED, ContainerFacts

N = TypeVar("N", int, float)

_KINDS = {
    "docker": "docker",
    "podman": "podman",
    "oci": "podman",
    "lxc": "lxc",
    "lxc-libvirt": "lxc",
    "systemd-nspawn": "systemd-nspawn",
}
"""What systemd writes, and what we call it."""
_CGROUP_MARKS = (("kubepods", "kubernetes"), ("docker", "docker"), ("libpod", "podman"))
_NONE_FROM = 1 << 60
"""The first version of control groups has no word for `no limit`, only a number beyond reach."""


def facts(
    *, environ: Mapping[str, str] = os.environ, root: Path = Path("/")
) -> ContainerFacts | None:
    """Return the container, or the bare limit of a control group; None when there is neither."""
    kind = _kind(environ, root)
    groups = _groups(root)
    memory = _memory_limit(groups, root)
    processors = _cpu_limit(groups, root)
    is_limited = any(one not in (None, UNLIMITED) for one in (memory, processors))
    if kind is None and not is_limited:
        return None
    return ContainerFacts(
        kind=kind or "control-group", memory_limit_bytes=memory, cpu_limit=processors
    )


def _kind(environ: Mapping[str, str], root: Path) -> str | None:
    if "KUBERNETES_SERVICE_HOST" in environ:
        return "kubernetes"
    if (root / "run/.containerenv").exists():
        return "podman"
    said = _text(root / "run/systemd/container") or environ.get("container", "").strip()
    if said and said != "wsl":  # WSL with systemd calls itself a container and is a machine
        return _KINDS.get(said, "other")
    if (root / ".dockerenv").exists():
        return "docker"
    groups = _text(root / "proc/1/cgroup") or ""
    return next((kind for mark, kind in _CGROUP_MARKS if mark in groups), None)


def _groups(root: Path) -> dict[str, str]:
    """Return our control groups: controller (`` for the second version) to path."""
    found = {}
    for line in (_text(root / "proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            found[controller.removeprefix("name=")] = path
    return found


def _memory_limit(groups: Mapping[str, str], root: Path) -> int | None:
    base = root / "sys/fs/cgroup"
    if "memory" in groups:
        texts = _upwards(base / "memory", groups["memory"], "memory.limit_in_bytes")
    else:
        texts = _upwards(base, groups.get("", "/"), "memory.max")
    limits = [_limit(text) for text in texts]
    return _least(limits)


def _cpu_limit(groups: Mapping[str, str], root: Path) -> float | None:
    base = root / "sys/fs/cgroup"
    if "cpu" in groups:
        quotas = _upwards(base / "cpu", groups["cpu"], "cpu.cfs_quota_us")
        periods = _upwards(base / "cpu", groups["cpu"], "cpu.cfs_period_us")
        pairs = list(zip(quotas, periods, strict=False))
    else:
        texts = _upwards(base, groups.get("", "/"), "cpu.max")
        pairs = [(quota, period) for quota, _, period in (text.partition(" ") for text in texts)]
    return _least([_share(quota, period) for quota, period in pairs])


def _share(quota: str, period: str) -> float | None:
    if quota in ("max", "-1"):
        return UNLIMITED
    if not quota.isdecimal() or not period.isdecimal() or period == "0":
        return None
    return int(quota) / int(period)


def _limit(text: str) -> int | None:
    if text == "max":
        return UNLIMITED
    if not text.isdecimal():
        return None
    value = int(text)
    return UNLIMITED if value >= _NONE_FROM else value


def _least(limits: list[N | None]) -> N | None:
    """Return the tightest limit on the way up, `UNLIMITED` when all say so, None for no word."""
    known = [one for one in limits if one is not None]
    real = [one for one in known if one != UNLIMITED]
    if real:
        return min(real)
    return known[0] if known else None


def _upwards(base: Path, group: str, name: str) -> list[str]:
    """Return what the group and those above it say: each may be tighter than the one below."""
    inside = PurePosixPath(group.lstrip("/"))
    places = [base / inside, *(base / parent for parent in inside.parents), base]
    texts = (_text(place / name) for place in dict.fromkeys(places))
    return [text for text in texts if text]


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\0\n ") or None
    except OSError:
        return None
