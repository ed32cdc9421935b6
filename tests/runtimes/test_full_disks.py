"""A disk that is full at every stage of an update: named, the old one runs, and it goes on."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.domain.events import StageProgress
from studio.domain.manifests import InstalledRuntime
from studio.runtimes import folder
from studio.runtimes.install import install
from tests.runtimes.sharing_pair import add
from tests.runtimes.standin import NAME, PATCH, PATCH_TEXT, StandIn

STAGES = ("plan", "fetch", "packages", "patches", "probe", "activate")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a small disk for a home of its own."""
    place = tmp_path / "small dïsk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path) -> None:
    """Leave nothing free: somebody else's download has it."""
    found = os.statvfs(disk)
    with (disk / "filler").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize)


@pytest.mark.parametrize("stage", STAGES)
def test_full_from_a_stage_on_the_old_one_runs_and_it_goes_on(
    stand_in: StandIn, disk: Path, stage: str
) -> None:
    """The room goes at the moment when the stage begins, and comes back for the second run."""
    here = stand_in.elsewhere(disk / "home")
    here.edit("disk_bytes = 2_000_000", "disk_bytes = 1")
    old = asyncio.run(install(here.recipe, here.paths, here.reports.append))
    add(here, "weirlarge", size=600_000)
    here.write_patch(PATCH, PATCH_TEXT.replace("+X = 70\n", "+X = 71\n"))

    def report(progress: StageProgress) -> None:
        if progress.step == stage and not (disk / "filler").exists():
            fill(disk)

    with pytest.raises(HostLacks) as caught:
        asyncio.run(install(here.recipe, here.paths, report, is_update=True))

    assert caught.value.code == "disk-full", (caught.value.message, caught.value.evidence)
    assert folder.current(here.paths, NAME) == old
    assert said(here, old, "import weirtiny.part7 as p; print(p.X)") == b"70"
    (disk / "filler").unlink()
    new = asyncio.run(install(here.recipe, here.paths, here.reports.append, is_update=True))
    assert said(here, new, "import weirlarge, weirtiny.part7 as p; print(p.X)") == b"71"


def said(here: StandIn, record: InstalledRuntime, code: str) -> bytes:
    """Return what a runtime prints."""
    python = folder.python_of(here.paths, record)
    done = subprocess.run([python, "-I", "-c", code], check=True, stdout=subprocess.PIPE)
    return done.stdout.strip()
