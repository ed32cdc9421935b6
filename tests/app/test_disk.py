"""What the Studio takes of its disk."""

import os
from pathlib import Path

import pytest

from studio.app import disk
from studio.app.disk import DiskUsage
from studio.app.uninstall import Uninstall
from studio.domain.uninstall import Belongings
from studio.host.own_program import OwnProgram
from studio.host.paths import Paths, bundled_root


def usage(home: Path) -> DiskUsage:
    """Return the measure of a home, with a program that lies elsewhere."""
    program = home.parent / "program"
    program.write_bytes(b"x" * 5_000)
    paths = Paths(home=home, catalogue=bundled_root())
    environ = {"HOME": str(home.parent)}
    own = OwnProgram(paths=(program,))
    return DiskUsage(paths, Uninstall(paths, environ=environ, program=lambda: own))


async def test_bytes_are_told_by_group_and_shared_ones_once(tmp_path: Path) -> None:
    """A package that the cache and a runtime share belongs to the runtime."""
    home = tmp_path / "wéir home"
    for name, size in {"models/a/w": 1_000, "runtimes/r/lib": 500, "logs/engine.log": 10}.items():
        (home / name).parent.mkdir(parents=True)
        (home / name).write_bytes(b"x" * size)
    (home / "cache").mkdir()
    os.link(home / "runtimes/r/lib", home / "cache/lib")
    (home / "notes of mine.txt").write_bytes(b"mine")

    report = await usage(home).report()

    assert {use.group: use.bytes for use in report.uses} == {
        Belongings.MODELS: 1_000, Belongings.RUNTIMES: 500, Belongings.LOGS: 10,
    }  # fmt: skip
    assert report.own_bytes == 1_510
    assert report.total_bytes is not None
    assert report.free_bytes is not None
    assert report.others_bytes == report.total_bytes - report.free_bytes - 1_510


async def test_a_home_that_is_not_there_yet_still_has_a_disk(tmp_path: Path) -> None:
    """The first run asks before anything was written."""
    report = await usage(tmp_path / "later").report()

    assert report.uses == ()
    assert report.own_bytes == 0
    assert report.free_bytes is not None


async def test_a_disk_that_says_nothing_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not known is not zero."""

    def refuse(_place: Path) -> tuple[int, int, int]:
        raise OSError

    monkeypatch.setattr(disk.shutil, "disk_usage", refuse)

    report = await usage(tmp_path / "home").report()

    assert (report.total_bytes, report.free_bytes, report.others_bytes) == (None, None, None)
