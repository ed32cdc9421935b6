"""One installation and the store: exactly what is missing is asked for."""

import asyncio
import errno
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from studio.domain.errors import StudioError
from studio.domain.events import InstallStep, Stage
from studio.host.meter import Meter
from studio.host.paths import Paths
from studio.runtimes import folder, survey
from studio.runtimes.catalog import Catalog
from studio.runtimes.folder import python_of
from studio.runtimes.install import install
from studio.runtimes.stock import Stock, whole_lock
from studio.runtimes.store import Store
from studio.runtimes.versions import collect
from tests.fakes.wheels import make_wheel
from tests.runtimes import standin
from tests.runtimes.sharing_pair import add, build, forget_sources, root_of
from tests.runtimes.standin import StandIn
from tests.runtimes.test_install import ROOT, VICTIM, WAIT_S, assert_whole, helpers_of


def stock(stand_in: StandIn) -> Stock:
    """Return what an installation that begins now would have."""
    meter = Meter(Stage.RUNTIME, "test", stand_in.reports.append)
    return Stock(stand_in.recipe, stand_in.paths, meter)


async def test_uv_is_asked_for_exactly_the_missing_pins(stand_in: StandIn, tmp_path: Path) -> None:
    """With their hashes, and not at all when nothing is missing."""
    await install(stand_in.recipe, stand_in.paths, stand_in.reports.append)
    assert await stock(stand_in).take_packages(tmp_path / "new") is None
    add(stand_in, "weirmore")

    missing = await stock(stand_in).take_packages(tmp_path / "newer")

    assert missing is not None
    (line,) = missing.read_text().splitlines()
    assert line.startswith("weirmore==1.0 --hash=sha256:")


def test_nothing_missing_starts_no_uv(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """A patch that changed is an update without a network."""
    build(stand_in)
    forget_sources(stand_in)
    monkeypatch.delenv("PIP_FIND_LINKS")
    stand_in.write_patch(standin.PATCH, standin.PATCH_TEXT.replace("Z = 3", "Z = 4"))
    stand_in.reports.clear()

    record = build(stand_in)

    code = "import weirtiny.added as a; print(a.Z)"
    python = python_of(stand_in.paths, record)
    said = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "4"
    assert not any("Installing" in (report.note or "") for report in stand_in.reports)


async def test_what_is_kept_beside_patches_was_looked_at_before_them(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their working folder comes and goes, and a look at the same time would stumble over it."""
    record = await install(stand_in.recipe, stand_in.paths, stand_in.reports.append)
    root = root_of(stand_in, record)
    again = stock(stand_in)
    for path in again.store.packages.iterdir():
        path.unlink()

    def stumble(root: Path) -> dict[str, survey.Seen]:
        raise FileNotFoundError(errno.ENOENT, "gone in between", str(root))

    await again.look(root)
    monkeypatch.setattr(survey, "walk", stumble)
    await again.keep_others(root, frozenset({"weirtiny==1.0"}))

    assert [name.partition("-")[0] for name in again.store.held()] == ["weirother"]


def test_cut_off_in_the_last_checks_it_keeps_what_no_patch_has_changed(stand_in: StandIn) -> None:
    """Those go into the store beside the checks; what is patched by then must never get there."""
    root = root_of(stand_in, build(stand_in))
    store = stock(stand_in).store
    for path in store.packages.iterdir():
        path.unlink()
    (root / "runtime.json").unlink()
    journal = json.loads((root / "journal.json").read_text())
    journal["steps"] = [step for step in journal["steps"] if step not in ("probe", "canary")]
    (root / "journal.json").write_text(json.dumps(journal))

    build(stand_in)

    assert {name.partition("-")[0] for name in store.held()} == {"weirother"}
    assert_whole(stand_in)


def test_every_step_of_an_installation_is_named_in_its_order(stand_in: StandIn) -> None:
    """What `weir status` and the window show."""
    build(stand_in)

    steps = list(dict.fromkeys(r.step for r in stand_in.reports if r.step is not None))
    order = [step.value for step in InstallStep]
    assert steps == [step for step in order if step in steps]
    assert {"space-check", "packages", "patches", "probe", "activate"} <= set(steps)


def two_runtimes(stand_in: StandIn) -> list[str]:
    """Add a second runtime of the same packages to the catalogue; return both names."""
    other = stand_in.recipe_file.parents[1] / "twin-1.0"
    shutil.copytree(stand_in.recipe_file.parent, other)
    text = (other / "runtime.toml").read_text().replace(standin.NAME, "twin-1.0")
    (other / "runtime.toml").write_text(text)
    return [standin.NAME, "twin-1.0"]


async def install_together(stand_in: StandIn, names: list[str]) -> None:
    """Install several runtimes at the same time."""
    catalog = Catalog(stand_in.paths)
    async with asyncio.TaskGroup() as tasks:
        for name in names:
            work = install(catalog.recipe(name), stand_in.paths, stand_in.reports.append)
            tasks.create_task(work)


def installed(paths: Paths, name: str) -> Path:
    """Return the interpreter of the runtime that is in use."""
    record = folder.in_use(paths, name)
    assert record is not None
    return python_of(paths, record)


def test_two_installations_at_once_share_what_either_brings(stand_in: StandIn) -> None:
    """The window installs one runtime, the terminal another; both are whole, the store too."""
    names = two_runtimes(stand_in)
    paths = stand_in.paths

    asyncio.run(install_together(stand_in, names))

    code = "import weirtiny, weirother"
    for name in names:
        subprocess.run([installed(paths, name), "-I", "-c", code], check=True)
    store = Store(paths)
    assert all(store.record(path.name) is not None for path in store.packages.iterdir())
    # Where both unpacked a source in different seconds, one list names one of the two blobs; the
    # other is what an installation links to, or was replaced there by a patch: then it is freed.
    assert {Path(removal.path) for removal in collect(paths, dry_run=False).removals} <= {
        store.blobs
    }
    assert collect(paths, dry_run=False).removals == ()
    for name in names:
        subprocess.run([installed(paths, name), "-I", "-c", code], check=True)


def update_killed_at(stand_in: StandIn, last: int) -> subprocess.CompletedProcess[str]:
    """Run an installation that dies at point `last`."""
    return subprocess.run(
        [sys.executable, "-c", VICTIM, stand_in.paths.home, stand_in.paths.catalogue, str(last)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )


def test_killed_anywhere_with_a_store_the_old_one_runs_and_a_rerun_completes(
    stand_in: StandIn, tmp_path: Path
) -> None:
    """No half blob has a final name, no list names what is not there, nothing piles up."""
    first = build(stand_in)
    shutil.copytree(stand_in.paths.home, tmp_path / "counted", symlinks=True)
    add(stand_in, "weirmore")
    whole = update_killed_at(stand_in.elsewhere(tmp_path / "counted"), 0)
    assert whole.returncode == 0, whole.stderr
    count = int(whole.stdout)

    for number, last in enumerate(sorted(random.Random(3).sample(range(1, count), 6))):
        here = stand_in.elsewhere(tmp_path / f"killed {number}")
        shutil.copytree(stand_in.paths.home, here.paths.home, symlinks=True)
        assert update_killed_at(here, last).returncode == -9
        psutil.wait_procs(helpers_of(here.paths.home), timeout=WAIT_S)
        old = folder.folder_of(here.paths, first) / folder.PYTHON
        subprocess.run([old, "-I", "-c", "import weirtiny, weirother"], check=True)
        store = Store(here.paths)
        for path in store.packages.glob("[!.]*"):
            record = store.record(path.name)
            assert record is not None
            assert all(store.blob(entry).exists() for entry in record.entries)

        build(here)

        assert_whole_update(here)


def assert_whole_update(stand_in: StandIn) -> None:
    """Check that the new one works and that a clean-up then leaves nothing to clean."""
    record = folder.in_use(stand_in.paths, standin.NAME)
    assert record is not None
    code = "import weirtiny, weirother, weirmore, weirtiny.part7 as p; print(p.X)"
    python = python_of(stand_in.paths, record)
    said = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "70"
    collect(stand_in.paths, dry_run=False)
    assert collect(stand_in.paths, dry_run=False).removals == ()


@pytest.mark.parametrize("share", [0.05, 0.5, 0.97])
def test_a_disk_that_fills_up_at_any_stage_keeps_the_old_one(
    stand_in: StandIn, tmp_path: Path, share: float
) -> None:
    """A small disk, and an update that needs more than it has; with room it completes."""
    small = tmp_path / "small disk"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    try:
        here = stand_in.elsewhere(small / "home")
        here.edit("disk_bytes = 2_000_000", "disk_bytes = 1")
        first = build(here)
        add(here, "weirlarge", size=1_000_000)
        free = os.statvfs(small)
        filler = small / "filler"
        with filler.open("wb") as file:
            size = free.f_bavail * free.f_frsize - int(1_000_000 * share)
            file.write(b"\0" * size)

        with pytest.raises(StudioError) as caught:
            build(here)

        assert caught.value.code == "disk-full", caught.value.evidence
        assert folder.current(here.paths, standin.NAME) == first
        old = python_of(here.paths, first)
        subprocess.run([old, "-I", "-c", "import weirtiny, weirother"], check=True)
        filler.unlink()
        build(here)
        assert folder.current(here.paths, standin.NAME) != first
        record = folder.in_use(here.paths, standin.NAME)
        assert record is not None
        new = python_of(here.paths, record)
        subprocess.run([new, "-I", "-c", "import weirlarge"], check=True)
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_read_only_disk_is_named_and_the_old_one_stays(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that was remounted after an error."""
    first = build(stand_in)
    add(stand_in, "weirmore")

    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(stand_in.paths.store))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StudioError) as caught:
        build(stand_in)

    assert caught.value.code == "not-writable"
    assert folder.current(stand_in.paths, standin.NAME) == first
    monkeypatch.undo()


def test_the_whole_lock_names_wheels_by_address(stand_in: StandIn) -> None:
    """It is kept with the runtime, for a repair years later."""
    line = make_wheel(stand_in.wheels.parent / "own", "weirown", {"weirown/__init__.py": b""})
    sha256 = line.rpartition(":")[2]
    stand_in.edit(
        "[[packages.aliases]]",
        '[[packages.wheels]]\nname = "weirown"\nversion = "1.0"\n'
        f'url = "https://example.org/weirown-1.0-py3-none-any.whl"\nsha256 = "{sha256}"\n'
        "[[packages.aliases]]",
    )

    text = whole_lock(stand_in.paths, stand_in.recipe)

    assert f"weirown @ https://example.org/weirown-1.0-py3-none-any.whl --hash=sha256:{sha256}" in (
        text.splitlines()
    )


def test_a_finished_runtime_is_as_it_was_before_there_was_a_store(stand_in: StandIn) -> None:
    """Nothing of the store's own lies in it."""
    build(stand_in)
    assert_whole(stand_in)
    add(stand_in, "weirmore")
    assert not (root_of(stand_in, build(stand_in)) / "missing.lock").exists()
