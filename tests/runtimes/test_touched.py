"""Which packages have to go into the store before anything changes them."""

import msgspec
import pytest

from studio.domain.runtimes import BuildStep
from studio.runtimes import folder, touched
from studio.runtimes.packages import site_packages
from tests.runtimes.sharing_pair import build, root_of
from tests.runtimes.standin import StandIn


def test_a_patch_touches_the_packages_of_its_folders(stand_in: StandIn) -> None:
    """New files are entered in the list of one that lies in the same folder."""
    root = root_of(stand_in, build(stand_in))
    python = root / folder.PYTHON

    found = touched.packages(stand_in.recipe, stand_in.paths, root, python)
    assert found == {"weirtiny==1.0"}

    # A package that has one file in there, under a name that needs quotes.
    record = site_packages(python) / "weirother-1.0.dist-info" / "RECORD"
    text = record.read_text()
    record.unlink()
    record.write_text(text + '"weirtiny/a,b.txt",,\n')
    found = touched.packages(stand_in.recipe, stand_in.paths, root, python)
    assert found == {"weirtiny==1.0", "weirother==1.0"}


@pytest.mark.parametrize("has_step", [True, False])
def test_a_build_step_may_touch_any_and_without_patches_none_is(
    stand_in: StandIn, *, has_step: bool
) -> None:
    """What a step replaces is not known before it has done so."""
    steps = (BuildStep(name="a", title="A"),) if has_step else ()
    recipe = msgspec.structs.replace(stand_in.recipe, patches=(), steps=steps)

    found = touched.packages(recipe, stand_in.paths, stand_in.paths.home, stand_in.paths.home)

    assert found == (None if has_step else frozenset())
