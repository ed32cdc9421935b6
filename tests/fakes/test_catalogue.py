"""The stand-in catalogue is one that the Studio accepts and can start."""

import subprocess
from pathlib import Path

import pytest

from studio.domain.manifests import KnobValue
from studio.domain.rules import Facts
from studio.host import probe
from studio.host.paths import Paths
from studio.models import library
from studio.presets.choose import reasons_against
from studio.presets.resolve import resolve
from studio.presets.store import PresetStore
from studio.runtimes import folder
from studio.runtimes.catalog import Catalog
from studio.serving import command, diagnose
from tests.fakes import catalogue


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """Return a home and a catalogue whose paths hold a blank and Chinese characters."""
    root = catalogue.make_catalogue(tmp_path / "目录 with blank", boot_s=0.05, fault="stall")
    return Paths(home=tmp_path / "家 home", catalogue=root)


def test_runtime_and_model_count_as_installed(paths: Paths) -> None:
    """So that a test of `weir up` neither installs nor fetches."""
    recipe = Catalog(paths).recipe(catalogue.RUNTIME)
    preset = PresetStore(paths).get(catalogue.PRESET)
    assert folder.installed(paths, recipe) is None
    assert library.find(paths, preset.model) is None

    catalogue.install_fake(paths)
    catalogue.install_fake(paths)

    assert folder.installed(paths, recipe) is not None
    assert library.find(paths, preset.model) == paths.models / catalogue.MODEL
    assert reasons_against(preset, recipe, probe.snapshot(paths.home)) == ()
    assert diagnose.load(paths.catalogue / "runtimes" / "failures.toml")


def test_the_rendered_command_starts_the_fake_engine(paths: Paths, tmp_path: Path) -> None:
    """With the preset's knobs, faults included; here one that ends at once."""
    installed = catalogue.install_fake(paths)
    recipe = Catalog(paths).recipe(catalogue.RUNTIME)
    preset = PresetStore(paths).get(catalogue.PRESET)
    places = command.Places(
        python=str(installed / folder.PYTHON),
        runtime=str(installed),
        runtime_id="0",
        model=str(paths.models / catalogue.MODEL),
        socket=str(tmp_path / "s"),
        cache=str(paths.cache),
    )

    resolved = resolve(preset, Facts(runtime=recipe.name), {"fault": "refuse-kv"})
    launch = command.render(preset, resolved, recipe, places=places, inherited={})
    done = subprocess.run(
        launch.argv, env=dict(launch.environment), capture_output=True, check=False, timeout=20
    )

    knobs: dict[str, KnobValue] = dict(launch.knobs)
    assert knobs["boot_s"] == 0.05
    assert done.returncode == 1
    assert b"To serve at least one request" in done.stdout
