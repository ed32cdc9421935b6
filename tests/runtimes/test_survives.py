"""What antivirus programs, sync tools and moves do to a runtime, and that it comes back.

Each case is something that was seen on people's machines; what is named in
docs/user/repair.md is done here on purpose.
"""

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.domain.integrity import DifferenceKind
from studio.runtimes import folder, history
from studio.runtimes.install import install
from tests.runtimes.damage import SCRIPT, SITE
from tests.runtimes.standin import StandIn
from tests.runtimes.test_repair import assert_whole, installed, record_of, repaired, verified

ROOT = Path(__file__).parents[2]
KINDS = DifferenceKind

# A person who is no administrator: permissions count. As root the rights to ignore them are given
# up first, which nothing in the process can take back.
CHILD = """
import asyncio, sys, msgspec
from pathlib import Path
from studio.domain.errors import StudioError
from studio.host.paths import Paths
from studio.runtimes import folder
from studio.runtimes.catalog import Catalog
from studio.runtimes.repair import repair
from studio.runtimes.verify import verify
paths = Paths(home=Path(sys.argv[1]), catalogue=Path(sys.argv[2]))
recipe = Catalog(paths).recipe("tiny-1.0")
try:
    if sys.argv[3] == "repair":
        answer = asyncio.run(repair(recipe, paths, lambda report: None))
    else:
        record = folder.current(paths, "tiny-1.0")
        answer = asyncio.run(verify(paths, record, full=True, report=lambda report: None))
except StudioError as error:
    answer = error.info
print(msgspec.json.encode(answer).decode())
"""


def as_a_person(stand_in: StandIn, what: str) -> dict:
    """Verify or repair with the rights of an ordinary person; return the answer or the error."""
    limits = []
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("nothing here gives up the rights of root")
        limits = [setpriv, "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    paths = stand_in.paths
    done = subprocess.run(
        [*limits, sys.executable, "-c", CHILD, str(paths.home), str(paths.catalogue), what],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def root(stand_in: StandIn) -> Iterator[Path]:
    """Return the folder of an installed runtime; what a test locked is unlocked for its removal."""
    place = installed(stand_in)
    yield place
    for parent, folders, _names in os.walk(place):
        for name in folders:
            Path(parent, name).chmod(0o755)


def emptied(place: Path) -> None:
    """Leave the name and nothing behind it: what a sync tool has not fetched yet."""
    os.truncate(place, 0)


def cut(place: Path) -> None:
    """Keep the first half."""
    os.truncate(place, place.stat().st_size // 2)


def zeroed(place: Path) -> None:
    """Keep the size and lose the content: a disk after a power cut."""
    place.write_bytes(bytes(place.stat().st_size))


def quarantined(place: Path) -> None:
    """Move it away, as an antivirus program does."""
    place.unlink()


def conflicted(place: Path) -> None:
    """Rename it as a sync tool does that saw two versions."""
    place.rename(place.with_name(f"{place.stem} (conflicted copy 2026-11-29){place.suffix}"))


def shouted(place: Path) -> None:
    """Rename it as a file system does that keeps no case."""
    other = place.name.upper()
    place.rename(place.with_name(other if other != place.name else place.name.lower()))


def linked(place: Path) -> None:
    """Replace it by a link to a copy elsewhere: a tool that saves space."""
    away = place.with_name(f"away-{place.name}")
    place.rename(away)
    place.symlink_to(away.name)


HARMS: tuple[Callable[[Path], None], ...] = (
    emptied,
    cut,
    zeroed,
    quarantined,
    conflicted,
    shouted,
    linked,
)


def harm(place: Path, how: Callable[[Path], None]) -> None:
    """Harm one file as on a disk of its own: the package cache keeps its copy."""
    shutil.copy2(place, place.with_name("alone"))
    place.with_name("alone").replace(place)
    how(place)


@pytest.mark.parametrize("how", HARMS, ids=lambda how: how.__name__)
def test_a_tool_that_goes_through_everything(
    stand_in: StandIn, root: Path, how: Callable[[Path], None]
) -> None:
    """A third of all files at once, interpreter, lists and scripts among them."""
    every = sorted(
        path
        for path in (root / "python").rglob("*")
        if path.is_file() and not path.is_symlink() and path.stat().st_size
    )
    chosen = random.Random(20261129).sample(every, len(every) // 3)
    chosen += [root / SCRIPT, root / SITE / "weirtiny-1.0.dist-info/RECORD"]
    names = {path.relative_to(root).as_posix() for path in chosen}
    for name in names:
        harm(root / name, how)

    found = {one.path for one in verified(stand_in).differences}
    notes = {name for name in names if name.endswith(("/uv_cache.json", ".pyc"))}
    assert names - notes <= found

    assert not repaired(stand_in).is_rebuilt
    assert_whole(stand_in)


def test_a_package_folder_whose_case_changed_is_put_right(stand_in: StandIn, root: Path) -> None:
    """Unpacked on a stick that knows no case, and copied back."""
    (root / SITE / "weirtiny").rename(root / SITE / "WeirTiny")

    repaired(stand_in)

    assert not (root / SITE / "WeirTiny").exists()
    assert_whole(stand_in)


@pytest.mark.parametrize("mode", [0o000, 0o200], ids=["locked", "write only"])
def test_a_file_that_may_not_be_read_is_found_and_replaced(
    stand_in: StandIn, root: Path, mode: int
) -> None:
    """What a scanner holds looks whole by size and time, and the engine cannot load it."""
    place = root / SITE / "weirtiny/part3.py"
    harm(place, lambda place: place.chmod(mode))

    verdict = as_a_person(stand_in, "verify")
    assert [(one["path"], one["kind"]) for one in verdict["differences"]] == [
        (f"{SITE}/weirtiny/part3.py", "changed")
    ]
    assert as_a_person(stand_in, "repair")["restored"] == 1
    assert_whole(stand_in)


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o500], ids=["locked", "no entry", "read only"])
def test_a_folder_that_is_locked_is_found_and_opened(
    stand_in: StandIn, root: Path, mode: int
) -> None:
    """A verification says what cannot be read, and does not end in a traceback."""
    place = root / SITE / "weirtiny"
    (place / "part3.py").unlink()
    place.chmod(mode)

    verdict = as_a_person(stand_in, "verify")
    found = {one["path"]: one["kind"] for one in verdict["differences"]}
    assert f"{SITE}/weirtiny/part3.py" in found
    assert (f"{SITE}/weirtiny/part4.py" in found) == (mode != 0o500)
    repair = as_a_person(stand_in, "repair")

    assert "code" not in repair, repair
    assert_whole(stand_in)


def test_a_file_that_nobody_may_change_is_named(stand_in: StandIn, root: Path) -> None:
    """The person learns which one, and the next repair finishes."""
    place = root / SITE / "weirtiny/part3.py"
    harm(place, cut)
    try:
        done = subprocess.run(["chattr", "+i", place], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("this system has no chattr")
    if done.returncode != 0:
        pytest.skip("this file system has no such mark")
    try:
        with pytest.raises(HostLacks) as caught:
            repaired(stand_in)
    finally:
        subprocess.run(["chattr", "-i", place], check=True)

    assert caught.value.code == "not-writable"
    assert "part3.py" in caught.value.message
    repaired(stand_in)
    assert_whole(stand_in)


RECORDS = ("current", "history", "*/runtime.json", "*/journal.json", "*/patches.json", "*/manifest")


@pytest.mark.parametrize("how", [emptied, quarantined, conflicted], ids=lambda how: how.__name__)
@pytest.mark.parametrize("pattern", RECORDS)
def test_a_record_that_a_sync_tool_spoiled_costs_no_download(
    stand_in: StandIn,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    pattern: str,
    how: Callable[[Path], None],
) -> None:
    """The small files that say what is installed; the gigabytes beside them are whole."""
    before = record_of(stand_in)
    (place,) = root.parent.glob(pattern)
    how(place)
    if pattern == "*/manifest":
        # Nothing can be compared without it: built anew, from the cache where an index is known.
        assert repaired(stand_in).is_rebuilt
    else:
        monkeypatch.delenv("PIP_FIND_LINKS")  # nothing can be fetched any more
        asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))

    assert record_of(stand_in).runtime_id == before.runtime_id
    assert history.current(root.parent) == before.runtime_id
    for path in root.parent.rglob("*conflicted copy*"):
        path.unlink()
    assert verified(stand_in).differences == ()


@pytest.mark.parametrize("name", ["my höme 2", "中文 (moved)", 'o\'er "there"', "d" * 140])
def test_a_home_that_moved_runs_from_its_new_place(
    stand_in: StandIn, tmp_path: Path, name: str
) -> None:
    """Back and forth, with any name, and without a network: all that changes is what names it."""
    installed(stand_in)
    there = stand_in.elsewhere(tmp_path / name / "weir")
    there.paths.home.parent.mkdir()
    shutil.move(stand_in.paths.home, there.paths.home)
    shutil.move(stand_in.wheels, tmp_path / "wheels that are gone")

    kinds = {one.kind for one in verified(there).differences}
    assert kinds == {KINDS.MOVED}
    repaired(there)
    assert_whole(there)

    shutil.move(there.paths.home, stand_in.paths.home)
    repaired(stand_in)
    assert_whole(stand_in)


def test_a_copy_of_a_home_is_a_home_of_its_own(stand_in: StandIn, tmp_path: Path) -> None:
    """A backup that was brought back beside the first: neither reaches into the other."""
    root = installed(stand_in)
    copy = stand_in.elsewhere(tmp_path / "copy")
    subprocess.run(["cp", "-r", str(stand_in.paths.home), str(copy.paths.home)], check=True)

    repaired(copy)

    assert_whole(copy)
    assert_whole(stand_in)
    there = folder.folder_of(copy.paths, record_of(copy))
    scripts = [path for path in (there / "python/bin").iterdir() if not path.is_symlink()]
    assert all(str(root).encode() not in path.read_bytes() for path in scripts)
