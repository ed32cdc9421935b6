"""What is in the way of a printed command: cards, runtime and models that are not here."""

from pathlib import Path

import pytest

from studio.app import argv_notes
from studio.domain.hardware import Gpu, HostSnapshot
from studio.host.paths import Paths, bundled_root
from tests.presets.samples import bundled_all, recipe_of

HOST = HostSnapshot(
    system="linux", machine="x86_64", os_name="Debian", gpus=(Gpu(index=0, name="RTX 3090"),)
)


@pytest.mark.parametrize(
    ("gpus", "used", "wanted", "said"),
    [
        (None, (0,), 1, ""),
        ((0,), (0,), 1, ""),
        ((7,), (), 1, "This machine has no card 7 (cards here: 0 RTX 3090)."),
        ((6, 7), (), 2, "This machine has no card 6 or 7 (cards here: 0 RTX 3090)."),
        (None, (), 4, "It is written for a machine with four cards that this one does not have."),
        ((0,), (), 0, "It uses no card, so `--gpus` changes nothing."),
        (None, (), 0, ""),
    ],
)
def test_a_choice_of_cards_is_never_passed_over_in_silence(
    gpus: tuple[int, ...] | None, used: tuple[int, ...], wanted: int, said: str
) -> None:
    """The command looks right and computes somewhere else."""
    found = argv_notes.about_cards(HOST, gpus, used, wanted)

    assert found[:1] == ([said] if said else [])


def test_what_is_not_here_is_said_with_the_command_that_brings_it(tmp_path: Path) -> None:
    """A path with a placeholder in it cannot be run."""
    demo = next(one for one in bundled_all() if one.id == "cpu-demo")
    recipe = recipe_of(demo.runtime)
    paths = Paths(home=tmp_path, catalogue=bundled_root())

    missing = argv_notes.about_installing(paths, demo, recipe, is_installed=False)
    installed = argv_notes.about_installing(paths, demo, recipe, is_installed=True)

    assert "`RUNTIME-ID` stands for" in missing[0]
    assert f"weir runtime install {recipe.name}" in missing[0]
    assert installed == missing[1:]
    assert "`weir up cpu-demo` fetches it" in installed[0]
