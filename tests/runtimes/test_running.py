"""No folder is taken away under an engine: whatever it is called, and whatever its records say."""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.domain.errors import Busy
from studio.host import plain_home
from studio.host.child import MARKER
from studio.runtimes import folder, versions
from studio.runtimes.install import install
from studio.runtimes.running import runs_from
from tests.runtimes.damage import SITE
from tests.runtimes.sharing_pair import add, build, root_of
from tests.runtimes.standin import StandIn

MAPS = """
import mmap, os
with open(os.environ["MAPPED"], "rb") as file:
    kept = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
print("ready", flush=True)
input()
"""
WAITS = "print('ready', flush=True); input()"


@contextlib.contextmanager
def engine(
    stand_in: StandIn, code: str, *arguments: str, mapped: Path | None = None
) -> Iterator[None]:
    """Run a process that passes for an engine of this home."""
    variables = {MARKER: str(stand_in.paths.home), "MAPPED": str(mapped or "")}
    child = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "ready\n"
        yield
    finally:
        child.communicate("\n")


def test_an_engine_is_known_by_the_name_without_blanks(stand_in: StandIn) -> None:
    """A home with a blank: engines are started by a link, and a clean-up took their files away."""
    first = root_of(stand_in, build(stand_in))
    add(stand_in, "weirmore")
    build(stand_in)
    add(stand_in, "weirlast")
    build(stand_in)
    plain = plain_home.name_of(stand_in.paths, first / folder.PYTHON)
    assert str(first) not in plain

    with engine(stand_in, WAITS, plain):
        assert runs_from(stand_in.paths, first)
        assert versions.collect(stand_in.paths, dry_run=False).removals == ()
    assert not runs_from(stand_in.paths, first)
    versions.collect(stand_in.paths, dry_run=False)

    assert not first.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's list of mapped files")
def test_an_engine_that_renamed_itself_is_known_by_what_it_has_loaded(stand_in: StandIn) -> None:
    """vLLM's processes write `VLLM::…` over the arguments that they were started with."""
    root = root_of(stand_in, build(stand_in))

    with engine(stand_in, MAPS, mapped=root / SITE / "weirother/data.bin"):
        assert runs_from(stand_in.paths, root)
        assert not runs_from(stand_in.paths, root.with_name("0" * 12))


def test_what_lost_its_records_is_not_built_anew_under_an_engine(stand_in: StandIn) -> None:
    """A sync tool took the small files, and somebody types `weir up` while it serves."""
    root = root_of(stand_in, build(stand_in))
    for name in ("runtime.json", "journal.json"):
        (root / name).unlink()

    with engine(stand_in, WAITS, str(root / folder.PYTHON)), pytest.raises(Busy) as caught:
        build(stand_in)

    assert caught.value.code == "engine-running"
    assert (root / SITE / "weirother/data.bin").exists()
    assert root_of(stand_in, build(stand_in)) == root


def test_an_update_leaves_what_an_engine_runs_from(stand_in: StandIn) -> None:
    """It looks like the folder of an installation that was given up."""
    old = root_of(stand_in, build(stand_in))
    (old / "runtime.json").unlink()
    add(stand_in, "weirmore")

    with engine(stand_in, WAITS, str(old / folder.PYTHON)):
        asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))

    assert os.access(old / folder.PYTHON, os.X_OK)
