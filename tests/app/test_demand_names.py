"""What requests may call a preset, and whether it could be started."""

import shutil
from pathlib import Path

import pytest

from studio.app.demand_names import DemandNames, meant
from studio.app.settings import SettingsFile
from studio.domain.demand import DemandPreset, DemandSettings, ListedPreset
from studio.domain.errors import ErrorInfo
from studio.host.paths import Paths
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from tests.app.demand_support import NAMES, OTHER, add_other
from tests.app.running import fake_paths
from tests.fakes.catalogue import MODEL, PRESET, RUNTIME

PROBLEM = ErrorInfo(code="x", message="x", hint=None, exit_status=4)


def names_of(paths: Paths, **listed: ListedPreset) -> DemandNames:
    """Return the names of these presets."""
    settings = SettingsFile(paths.settings_file)
    presets = {name.replace("_", "-"): how for name, how in listed.items()}
    settings.change(demand=DemandSettings(presets=presets, ttl_s=60.0))
    return DemandNames(paths, PresetStore(paths), Catalog(paths), settings, lambda: None)


async def test_a_preset_is_called_by_its_public_name_and_by_its_id(tmp_path: Path) -> None:
    """Its context is that of the settings that it would have."""
    with fake_paths(tmp_path) as paths:
        add_other(paths.catalogue)
        names = names_of(
            paths,
            fake_demo=ListedPreset(overrides={"max_model_len": "1024"}, ttl_s=5.0),
            fake_other=ListedPreset(),
        )
        demo, other = await names.listed()

    assert demo.names == ("smollm2", PRESET)
    assert (demo.max_model_len, demo.ttl_s, demo.problem) == (1024, 5.0, None)
    assert other.names == (NAMES[OTHER], OTHER)
    assert (other.max_model_len, other.ttl_s) == (2048, 60.0)


async def test_what_is_not_on_this_disk_is_not_started(tmp_path: Path) -> None:
    """A request downloads nothing; the sentence says what gets it."""
    with fake_paths(tmp_path) as paths:
        shutil.rmtree(paths.models / MODEL)
        (without_model,) = await names_of(paths, fake_demo=ListedPreset()).listed()
        shutil.rmtree(paths.home / "runtimes" / RUNTIME)
        (without_runtime,) = await names_of(paths, fake_demo=ListedPreset()).listed()
        (unknown,) = await names_of(paths, nobody=ListedPreset()).listed()

    for found, what in ((without_model, "Fake model"), (without_runtime, RUNTIME)):
        assert found.problem is not None
        assert found.problem.code == "not-installed"
        assert what in found.problem.message
        assert f"weir up {PRESET}" in (found.problem.hint or "")
    assert unknown.problem is not None
    assert unknown.problem.code == "preset-unknown"
    assert unknown.names == ("nobody",)


def listed(**served: str) -> tuple[DemandPreset, ...]:
    """Return presets with their public names."""
    return tuple(
        DemandPreset(preset=preset, served_name=name, ttl_s=0) for preset, name in served.items()
    )


@pytest.mark.parametrize(
    ("name", "running", "last", "expected"),
    [
        ("b", None, None, "b"),
        ("big", None, None, "a"),
        ("big", "b", None, "b"),
        ("big", "c", None, "a"),
        ("mini", None, None, "c"),
        ("none", "a", "a", None),
        (None, "b", "c", "b"),
        (None, None, "c", "c"),
        (None, "x", "y", "a"),
    ],
)
def test_of_several_with_one_name_the_one_that_runs_is_meant(
    name: str | None, running: str | None, last: str | None, expected: str | None
) -> None:
    """A switch between two presets of one model is never made by its public name."""
    found = meant(listed(a="big", b="big", c="mini"), name, running=running, last=last)

    assert (found.preset if found is not None else None) == expected


def test_one_that_can_start_is_meant_before_one_that_cannot() -> None:
    """Of two with one public name, where the first is not on this disk."""
    one, two = listed(a="big", b="big")
    gone = DemandPreset(preset="a", served_name="big", ttl_s=0, problem=PROBLEM)

    assert meant((gone, two), "big", running=None, last=None) == two
    assert meant((gone,), "big", running=None, last=None) == gone
    assert meant((one, two), "big", running=None, last=None) == one
    assert meant((), None, running=None, last=None) is None
