"""Disks: room, speed, rights."""

from typing import Any

import msgspec
import pytest

from studio.domain.doctor import EVERYTHING, Check, Level
from studio.domain.hardware import DiskKind
from tests.doctor.cases import RECIPES, all_said, host, said

ALL = frozenset(recipe.name for recipe in RECIPES)


def of(code: str, **changes: Any) -> Check:
    """Return the check of that code on a changed disk."""
    (disk,) = host().disks
    return said(host(disks=(msgspec.structs.replace(disk, **changes),)), code)


def test_a_folder_that_cannot_be_written_stops_everything() -> None:
    """The first download would fail."""
    check = of("disk-writable", is_writable=False)

    assert check.stops == (EVERYTHING,)
    assert "WEIR_HOME" in (check.advice or "")


@pytest.mark.parametrize(
    ("free", "level"),
    [
        (100_000_000_000, Level.GOOD),
        (10_000_000_000, Level.LOOK),
        (1_000_000_000, Level.STOPS),
        (0, Level.STOPS),
        (None, Level.UNKNOWN),
    ],
)
def test_room_is_measured_against_the_runtimes(free: int | None, level: Level) -> None:
    """3 GB for the smallest, 20 GB for the largest."""
    check = of("disk-room", free_bytes=free)

    assert check.level is level
    assert check.stops == ((EVERYTHING,) if level is Level.STOPS else ())


def test_what_is_installed_needs_no_room_any_more() -> None:
    """A full disk does not keep it from serving."""
    (disk,) = host().disks
    full = host(disks=(msgspec.structs.replace(disk, free_bytes=1),))

    assert said(full, "disk-room", installed=ALL).level is Level.GOOD
    one = said(full, "disk-room", installed={"cpu-vllm-0.32.0"})
    assert one.level is Level.LOOK


def test_several_disks_are_told_one_by_one() -> None:
    """Models on the large one, the rest on the fast one."""
    (disk,) = host().disks
    fast = msgspec.structs.replace(disk, holds=("home", "runtimes", "cache"))
    large = msgspec.structs.replace(disk, holds=("models",), mount="/big", kind=DiskKind.ROTATIONAL)

    pair = host(disks=(fast, large))

    assert [check.title for check in all_said(pair, "disk-room")] == [
        "Disk of home (/)",
        "Disk of models (/big)",
    ]
    assert [check.level for check in all_said(pair, "disk-speed")] == [Level.GOOD, Level.LOOK]


@pytest.mark.parametrize(
    ("kind", "level"),
    [
        (DiskKind.NVME, Level.GOOD),
        (DiskKind.SSD, Level.GOOD),
        (DiskKind.VIRTUAL, Level.GOOD),
        (DiskKind.ROTATIONAL, Level.LOOK),
        (DiskKind.NETWORK, Level.LOOK),
        (DiskKind.MEMORY, Level.LOOK),
        (None, Level.UNKNOWN),
    ],
)
def test_speed_goes_by_the_kind_of_disk(kind: DiskKind | None, level: Level) -> None:
    """Seconds or minutes for each start."""
    assert of("disk-speed", kind=kind).level is level


def test_a_windows_disk_is_worth_a_look_whatever_is_behind_it() -> None:
    """Ten to fifty times slower with small files."""
    check = of("disk-speed", is_windows_mount=True, kind=DiskKind.VIRTUAL)

    assert check.level is Level.LOOK
    assert "WSL's own disk" in (check.advice or "")


def test_without_disks_the_free_bytes_still_count() -> None:
    """Older captures have nothing else."""
    assert said(host(disks=(), disk_free_bytes=1), "disk-room").level is Level.STOPS
    assert said(host(disks=(), disk_free_bytes=None), "disk-room").level is Level.UNKNOWN
