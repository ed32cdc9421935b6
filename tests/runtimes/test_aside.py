"""What is built anew stays as it was until that has succeeded."""

import asyncio
import shutil
from pathlib import Path

import pytest

from studio.domain.errors import NetworkFailure
from studio.runtimes import aside, folder, versions
from studio.runtimes.folder import KEPT
from studio.runtimes.repair import ensure_whole
from tests.runtimes.sharing_pair import forget_sources
from tests.runtimes.standin import StandIn
from tests.runtimes.test_repair import assert_whole, installed, repaired, run


@pytest.fixture
def root(stand_in: StandIn) -> Path:
    """Return an installed runtime whose list is half of one, and nothing to build it from."""
    place = installed(stand_in)
    listed = place / "manifest"
    listed.write_bytes(listed.read_bytes()[:100])
    forget_sources(stand_in)
    shutil.rmtree(stand_in.paths.store)
    return place


def used(stand_in: StandIn) -> Path:
    """Return the folder that a start would use."""
    work = ensure_whole(stand_in.recipe, stand_in.paths, stand_in.reports.append)
    record = asyncio.run(work)
    assert record is not None
    return folder.folder_of(stand_in.paths, record)


def test_what_cannot_be_built_anew_is_there_as_before(stand_in: StandIn, root: Path) -> None:
    """Every file is whole but the list of them; in a train, that was the end of the runtime."""
    with pytest.raises(NetworkFailure):
        repaired(stand_in)

    assert used(stand_in) == root
    assert run(root / folder.PYTHON, "-I", "-c", "import weirtiny; print(weirtiny.ANSWER)") == "42"
    assert not list(root.parent.glob(f"{KEPT}*"))


def test_a_building_that_was_cut_off_brings_the_old_one_back(stand_in: StandIn, root: Path) -> None:
    """A clean-up before the next start must not take the one that is whole."""
    aside.put(stand_in.paths, stand_in.recipe, root)
    (root / "python").mkdir(parents=True)
    versions.collect(stand_in.paths, dry_run=False)
    (root / "python").mkdir(parents=True, exist_ok=True)

    assert used(stand_in) == root
    assert (root / folder.PYTHON).exists()


def test_the_old_one_goes_when_the_new_one_is_finished(stand_in: StandIn) -> None:
    """Two of each would be 2.5 GB more where a disk cannot share."""
    root = installed(stand_in)
    (root / "manifest").unlink()

    assert repaired(stand_in).is_rebuilt

    assert_whole(stand_in)
    assert not list(root.parent.glob(f"{KEPT}*"))
    shutil.copytree(root, root.with_name(f"{KEPT}{root.name}"), symlinks=True)
    assert used(stand_in) == root
    assert not list(root.parent.glob(f"{KEPT}*"))
