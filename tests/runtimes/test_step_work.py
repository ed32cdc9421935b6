"""The workshop of a step: what is saved before, and what is put back after a failure or a kill."""

import os
from pathlib import Path

import pytest

from studio.domain.runtimes import BuildStep
from studio.runtimes.step_work import StepFailed, Workshop
from tests.runtimes.standin import StandIn

STEP = BuildStep(name="x", title="X", protects=("mine*",), produces=("{site}/mine/new.so",))


@pytest.fixture
def workshop(stand_in: StandIn, tmp_path: Path) -> Workshop:
    """A workshop in a runtime with one package, its folder with a blank in its name."""
    folder = tmp_path / "a runtime"
    site = folder / "python" / "lib" / "python3.11" / "site-packages"
    (site / "mine").mkdir(parents=True)
    (site / "mine" / "__init__.py").write_text("old")
    (site / "mine" / "link").symlink_to("__init__.py")
    (site / "other.py").write_text("other")
    python = folder / "python" / "bin" / "python3"
    return Workshop(stand_in.recipe, stand_in.paths, folder, python, {"PATH": "/usr/bin"})


def site_of(workshop: Workshop) -> Path:
    """Return the packages."""
    return workshop.work.parents[1] / "python" / "lib" / "python3.11" / "site-packages"


def change(workshop: Workshop) -> None:
    """Do what a build script does to the packages."""
    site = site_of(workshop)
    (site / "mine" / "__init__.py").unlink()
    (site / "mine" / "new.so").write_text("new")
    (site / "mine_extra").mkdir()
    (site / "other.py").write_text("changed")


def test_what_was_replaced_is_put_back(workshop: Workshop) -> None:
    """Old files, links, and no new ones; what the step did not name is not ours to undo."""
    site = site_of(workshop)
    workshop.prepare(STEP)
    change(workshop)

    workshop.put_back()

    assert (site / "mine" / "__init__.py").read_text() == "old"
    assert (site / "mine" / "link").readlink() == Path("__init__.py")
    assert not (site / "mine" / "new.so").exists()
    assert not (site / "mine_extra").exists()
    assert (site / "other.py").read_text() == "changed"
    assert not workshop.work.exists()


def test_putting_back_twice_changes_nothing(workshop: Workshop) -> None:
    """A run that was killed while it put back does it again."""
    workshop.prepare(STEP)
    change(workshop)
    workshop.put_back()
    site = site_of(workshop)
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}

    workshop.put_back()

    assert {path: path.read_bytes() for path in site.rglob("*") if path.is_file()} == before


def test_what_is_done_stays_done(workshop: Workshop) -> None:
    """From its end on nothing is put back, whatever remains of the workshop."""
    site = site_of(workshop)
    workshop.prepare(STEP)
    change(workshop)

    workshop.finish(STEP, {})
    workshop.put_back()

    assert (site / "mine" / "new.so").exists()
    assert not (site / "mine" / "__init__.py").exists()


def test_a_product_that_is_missing_is_a_failure(workshop: Workshop) -> None:
    """A script that ends with 0 and has made nothing."""
    workshop.prepare(STEP)

    with pytest.raises(StepFailed, match=r"it made no new\.so"):
        workshop.finish(STEP, {})


def test_a_copy_that_was_cut_short_is_never_put_back(workshop: Workshop) -> None:
    """It appears under its name only when it is whole."""
    site = site_of(workshop)
    workshop.prepare(STEP)
    (workshop.work / "saved").rename(workshop.work / "saved.partial")
    (workshop.work / "saved.partial" / "mine" / "__init__.py").unlink()
    change(workshop)

    workshop.put_back()

    assert (site / "mine" / "new.so").exists()


def test_source_without_a_series_is_a_failure(workshop: Workshop) -> None:
    """A recipe that names a folder of a repository and no repository."""
    with pytest.raises(StepFailed, match="no series"):
        workshop.prepare(BuildStep(name="x", title="X", upstream="csrc"))


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "*", "**/x", "mine/../../x", ""])
def test_what_lies_elsewhere_is_never_protected(workshop: Workshop, pattern: str) -> None:
    """What is protected is removed when it is put back."""
    with pytest.raises(StepFailed, match="may not protect"):
        workshop.prepare(BuildStep(name="x", title="X", protects=(pattern,)))


def test_what_is_written_into_does_not_reach_the_cache(workshop: Workshop, tmp_path: Path) -> None:
    """Package files are links; `cp` over one of them would change the store and other runtimes."""
    file = site_of(workshop) / "mine" / "__init__.py"
    os.link(file, tmp_path / "cached")
    before = file.stat().st_mtime_ns
    workshop.prepare(STEP)

    assert file.stat().st_mtime_ns == before
    with file.open("w") as opened:
        opened.write("written in place")

    assert (tmp_path / "cached").read_text() == "old"
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []


def test_the_environment_is_of_the_runtime(workshop: Workshop, stand_in: StandIn) -> None:
    """Its own folders for everything that a build writes, its own programs first."""
    workshop.prepare(STEP)

    found = workshop.environment(STEP, {})

    assert found["PATH"].split(os.pathsep)[0] == str(workshop.work.parents[1] / "python" / "bin")
    assert Path(found["HOME"]).is_dir()
    assert found["PIP_CACHE_DIR"].startswith(str(stand_in.paths.cache))
    assert not [name for name in found if name.startswith("XDG_")]
