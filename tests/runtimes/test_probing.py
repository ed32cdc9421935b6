"""What the engine says of itself, through probe.py in a real interpreter; faults in words."""

import asyncio
from pathlib import Path

import pytest

from studio.domain.errors import Damaged
from studio.host.paths import Paths, bundled_root
from studio.runtimes import folder, probing
from studio.runtimes.catalog import Catalog
from studio.runtimes.install import install
from studio.runtimes.interpreter import probe_question
from tests.fakes.wheels import make_wheel
from tests.runtimes.standin import FILES, StandIn

ENGINE = b"""\
import argparse, os, sys
print("INFO: an engine logs to stdout while it is imported")
REGISTRY = {"TINY_KNOB": 1}
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--speculative-config")
    parser.add_argument("--kv-cache-memory-bytes", "-k")
    if len(sys.argv) > 2 and sys.argv[1] == "serve":
        parser.parse_args(["--help"])
    raise SystemExit(2)
"""
TORCH = b"""\
__version__ = "2.13.0"
class cuda:
    @staticmethod
    def is_available():
        return {answer}
def zeros(count, device):
    raise RuntimeError("no kernel image is available for execution on the device\\nmore")
"""


def asking(stand_in: StandIn, probe: str, **modules: bytes) -> None:
    """Make the recipe ask the engine, and give the packages an engine."""
    files = {"engine_of_tiny.py": ENGINE, **{f"{k}.py": v for k, v in modules.items()}}
    files |= FILES["weirtiny"]
    pin = make_wheel(stand_in.wheels, "weirtiny", files)
    lock = stand_in.recipe_file.parent / "requirements.lock"
    rest = [line for line in lock.read_text().splitlines() if not line.startswith("weirtiny")]
    lock.write_text("\n".join([pin, *rest, ""]))
    stand_in.edit("[serve]\n", '[serve.environment]\nTINY_CACHE = "{cache}/tiny"\n[serve]\n')
    stand_in.edit("[probe]\n", f"[probe]\n{probe}\n")


def fault(stand_in: StandIn) -> str:
    """Return why the installation stops at its probe."""
    with pytest.raises(Damaged) as caught:
        asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))
    assert caught.value.code == "runtime-probe"
    assert folder.installed(stand_in.paths, stand_in.recipe) is None
    return caught.value.message


HELP = 'help = ["engine_of_tiny", "serve", "--help=all"]\n'
REGISTRY = 'registry = "engine_of_tiny:REGISTRY"\n'


def test_an_engine_that_knows_everything_passes(stand_in: StandIn) -> None:
    """Whatever it prints while it is imported."""
    asking(
        stand_in,
        f'{HELP}{REGISTRY}flags = ["--speculative-config"]\nvariables = ["TINY_KNOB"]\n',
    )

    asyncio.run(install(stand_in.recipe, stand_in.paths, stand_in.reports.append))

    assert folder.installed(stand_in.paths, stand_in.recipe) is not None


def test_a_flag_and_a_knob_that_are_not_there_are_named(stand_in: StandIn) -> None:
    """A series that applied to nothing: found before the first start, not by a person."""
    flags = '["--speculative", "--kv-cache-memory-bytes", "--tool-strict-level"]'
    asking(stand_in, f'{HELP}{REGISTRY}flags = {flags}\nvariables = ["TINY_KNOB", "TINY_NEW"]\n')

    said = fault(stand_in)

    assert "the engine does not know --speculative;" in said
    assert "the engine does not know --tool-strict-level" in said
    assert "--kv-cache-memory-bytes" not in said
    assert "the engine has not registered TINY_NEW" in said


@pytest.mark.parametrize(
    ("probe", "said"),
    [
        ('help = ["no_such_engine", "serve", "x"]\nflags = ["--a"]', "No module named"),
        ('help = ["engine_of_tiny", "other"]\nflags = ["--a"]', "`other` ended with 2"),
        ('registry = "engine_of_tiny:NONE"\nvariables = ["A"]', "has no attribute 'NONE'"),
        ('registry = "no_such:X"\nvariables = ["A"]', "No module named 'no_such'"),
    ],
)
def test_an_engine_that_cannot_be_asked_is_a_fault(
    stand_in: StandIn, probe: str, said: str
) -> None:
    """It would not start either."""
    asking(stand_in, probe)

    assert said in fault(stand_in)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("False", "no card can be used: PyTorch 2.13.0 finds no card"),
        ("True", "no card can be used: RuntimeError: no kernel image is available for execution"),
    ],
)
def test_a_card_that_cannot_compute_is_a_fault(stand_in: StandIn, answer: str, said: str) -> None:
    """Seeing a card is not enough: a build without kernels for it sees it too."""
    asking(stand_in, "cuda = true", torch=TORCH.replace(b"{answer}", answer.encode()))

    assert said in fault(stand_in)


def test_without_such_a_question_nothing_is_imported(stand_in: StandIn) -> None:
    """The embedded runtime's probe stays a matter of a second."""
    assert "engine" not in probe_question(stand_in.recipe)
    assert probing.environment(stand_in.recipe, stand_in.paths, Path("x"), Path("y")) == {}
    assert probing.more_time_s(stand_in.recipe) == 0


def test_the_engine_is_asked_with_its_own_places(stand_in: StandIn) -> None:
    """An import that writes a cache must not write it into the person's home."""
    asking(stand_in, "cuda = true")

    found = probing.environment(stand_in.recipe, stand_in.paths, Path("x"), Path("y"))

    assert found == {"TINY_CACHE": f"{stand_in.paths.cache / 'engine'}/tiny"}


def test_every_shipped_recipe_says_how_its_engine_is_asked() -> None:
    """Flags without a help, or variables without a registry, would be asked in vain."""
    for recipe in Catalog(Paths(home=Path("x"), catalogue=bundled_root())).recipes():
        assert bool(recipe.probe.flags) <= bool(recipe.probe.help), recipe.name
        assert bool(recipe.probe.variables) <= bool(recipe.probe.registry), recipe.name
