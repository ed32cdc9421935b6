"""`kill -9` at any instant of an installation: the old one still runs, and a re-run completes."""

import asyncio
import itertools
import os
import random
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from studio.domain.manifests import RuntimeRecipe
from studio.host.paths import Paths, bundled_root
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
from tests.runtimes import standin
from tests.runtimes.conftest import stand_in
from tests.runtimes.kills import (
    MISSED,
    Point,
    Site,
    Template,
    assert_recovers,
    assert_sound,
    measured,
    random_point,
    report_text,
    strike,
)
from tests.runtimes.standin import StandIn

__all__ = ["stand_in"]

SEED = 20261129
MANY = 200
FEW = 6
NOTES = {
    "Setting up …": "Setting up",
    "Installing N packages": "Installing",
    "Compiling …": "Compiling",
    "Applying patches": "Applying patches",
}
"""Parts of the work that are hit in any case, and what it says when they begin."""


def enlarge(stand_in: StandIn, name: str = "weirlarge") -> None:
    """Give the stand-in a package of some megabytes and hundreds of files."""
    choice = random.Random(SEED)
    files = {
        f"{name}/part{number}/module.py": b"VALUE = %d\n" % number * 40 for number in range(250)
    }
    files |= {f"{name}/data{number}.bin": choice.randbytes(400_000) for number in range(8)}
    files[f"{name}/__init__.py"] = b""
    line = standin.make_wheel(stand_in.wheels, name, files)
    lock = stand_in.recipe_file.parent / "requirements.lock"
    lock.write_text(lock.read_text() + line + "\n")


def site_of(stand_in: StandIn, *, is_update: bool) -> Site:
    """Return a home in which the old recipe is installed, or nothing, and the new one is due."""
    enlarge(stand_in)
    old = None
    if is_update:
        old = asyncio.run(install(stand_in.recipe, stand_in.paths, lambda _report: None))
        enlarge(stand_in, "weirmore")  # what the store has not: uv has to work for an update too
    stand_in.write_patch(
        standin.PATCH, standin.PATCH_TEXT.replace("+X = 70\n", "+X = 71\n")
    )  # another patch, another id
    return Site(
        stand_in=stand_in,
        name=standin.NAME,
        old=old,
        question="import weirtiny.part7 as p, weirlarge.part9.module as m; print(p.X, m.VALUE)",
        answer_new="71 9",
        answer_old="70 9",
    )


def kill_often(site: Site, count: int, seed: int, first: Iterable[Point] = ()) -> None:
    """Hit it `count` times, each time from the same beginning, and check everything after each.

    On a machine that was busier when the work was measured it may be finished before a point comes
    that the clock or the files choose; that is checked as well, and counts for nothing.
    """
    before = Template(site.stand_in.paths.home)
    measure = measured(site)
    assert_sound(site)
    choice = random.Random(seed)
    points = itertools.chain(first, (random_point(choice, measure) for _ in itertools.count()))
    while hits(site) < count:
        assert site.histogram[MISSED] <= 2 * count, report_text(site)
        before.restore()
        point = next(points)
        step = strike(site, point)
        try:
            assert_sound(site)
            asyncio.run(assert_recovers(site))
        except Exception as error:
            error.add_note(f"killed at {point}, while: {step}")
            raise


def hits(site: Site) -> int:
    """Return how often it was killed at work."""
    return site.histogram.total() - site.histogram[MISSED]


@pytest.mark.parametrize("is_update", [False, True], ids=["from nothing", "update"])
def test_killed_at_a_few_points_it_goes_on(stand_in: StandIn, *, is_update: bool) -> None:
    """The sample that every run takes."""
    site = site_of(stand_in, is_update=is_update)

    kill_often(site, FEW // 2, SEED)

    assert hits(site) == FEW // 2


@pytest.mark.soak
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("is_update", [False, True], ids=["from nothing", "update"])
def test_killed_at_200_points_it_goes_on(
    stand_in: StandIn, capsys: pytest.CaptureFixture[str], *, is_update: bool
) -> None:
    """Half from nothing, half while the old one is in use; short steps and long ones."""
    site = site_of(stand_in, is_update=is_update)

    kill_often(site, MANY // 2, SEED + is_update, [Point(note=NOTES[step]) for step in NOTES])

    with capsys.disabled():
        sys.stdout.write(f"\n{report_text(site)}")
    assert set(NOTES) <= set(site.histogram), report_text(site)


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.timeout(5400)
def test_the_real_runtime_killed_at_5_points(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An update from a recipe with one patch fewer; 2 GB and 55,000 files, for real."""
    kept = Path(os.environ.get("WEIR_TEST_CACHE", "~/.cache/weir-studio-tests")).expanduser()
    (kept / "uv").mkdir(parents=True, exist_ok=True)
    catalogue = tmp_path / "catalogue"
    shutil.copytree(bundled_root() / "runtimes", catalogue / "runtimes")
    paths = Paths(home=tmp_path / "my höme", catalogue=catalogue)
    paths.cache.mkdir(parents=True)
    (paths.cache / "uv").symlink_to(kept / "uv")
    name = "cpu-vllm-0.32.0"
    recipe_file = catalogue / "runtimes" / name / "runtime.toml"
    whole = recipe_file.read_text("utf-8")
    fewer = whole.replace('  "0004-startup-shim.patch",\n', "")
    assert fewer != whole
    recipe_file.write_text(fewer, "utf-8")
    old = asyncio.run(install(Catalog(paths).recipe(name), paths, lambda _report: None))
    recipe_file.write_text(whole, "utf-8")
    site = Site(
        stand_in=_Shipped(paths=paths, wheels=tmp_path),
        name=name,
        old=old,
        question="import importlib.metadata as m; print(m.version('vllm'))",
        answer_new="0.32.0+cpu",
        answer_old="0.32.0+cpu",
    )
    measure = measured(site)
    choice = random.Random(SEED)
    for _ in range(5):
        shutil.rmtree(_newest(site))
        (site.home / "current").write_text(f"{old.runtime_id}\n")
        (site.home / "history").write_text("")
        strike(site, random_point(choice, measure))
        assert_sound(site)
        asyncio.run(assert_recovers(site))
    with capsys.disabled():
        sys.stdout.write(f"\n{report_text(site)}")


class _Shipped(StandIn):
    """The shipped recipe in the stand-in's place."""

    @property
    def recipe(self) -> RuntimeRecipe:
        """Return the recipe as it stands now."""
        return Catalog(self.paths).recipe("cpu-vllm-0.32.0")


def _newest(site: Site) -> Path:
    assert site.old is not None
    (found,) = (
        path
        for path in site.home.iterdir()
        if path.is_dir() and not site.old.runtime_id.startswith(path.name)
    )
    return found
