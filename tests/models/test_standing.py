"""What a preset still needs, decided from what lies here."""

from pathlib import Path

import msgspec
import pytest

from studio.domain.downloads import FetchedFile
from studio.domain.errors import BadInput
from studio.domain.manifests import ModelSource, ModelSpec, WheelSource
from studio.domain.preparing import PreparationStep, StepState
from studio.domain.proofs import ModelState
from studio.host.paths import Paths, bundled_root
from studio.models.lost import Lost, Served
from studio.models.standing import HeldSource, Look, in_words, judge, look, of_all, with_bases
from studio.presets.store import PresetStore

SOURCE = ModelSource(repository="a/b", revision="c" * 40, download_bytes=1_000)
SPEC = ModelSpec(
    id="m", title="M", licence="MIT", origin="a test", disk_bytes=1_500,
    files=("config.json", "x.safetensors"), sources=(SOURCE,), sizes={"x.safetensors": 900},
)  # fmt: skip
NOTHING = HeldSource(folder=None, is_whole=False, files={})


def held(**changes: object) -> Look:
    """Return a disk on which nothing lies."""
    empty = Look(
        place=Path("/home/models/m"), is_usable=False, state=ModelState.INCOMPLETE,
        missing=SPEC.files, done=frozenset(), sources=(NOTHING,), cache=Path("/hf"),
        is_apart=False,
    )  # fmt: skip
    import dataclasses

    return dataclasses.replace(empty, **changes)


def test_without_a_hub_the_presets_own_names_and_sizes_stand() -> None:
    """A size that nobody knows is not shown as nothing."""
    found = judge(SPEC, held())

    (source,) = found.sources
    assert [(one.name, one.size_bytes) for one in source.missing] == [
        ("config.json", None),
        ("x.safetensors", 900),
    ]
    assert (found.download_bytes, found.disk_bytes) == (1_000, 1_000)
    assert (found.folder, source.is_listed) == ("/hf", False)


def test_what_has_come_already_is_taken_off() -> None:
    """A download that was cut off goes on."""
    part = HeldSource(folder=Path("/hf/s"), is_whole=False, files={"x.safetensors": 900})

    found = judge(SPEC, held(sources=(part,)))

    assert found.download_bytes == 100
    assert [one.name for one in found.sources[0].missing] == ["config.json"]


def test_what_the_hub_lists_counts_to_the_byte() -> None:
    """A file of another size is not the same file."""
    files = [FetchedFile(path="x.safetensors", bytes=900), FetchedFile(path="y", bytes=7)]
    part = HeldSource(folder=Path("/hf/s"), is_whole=False, files={"x.safetensors": 899})

    found = judge(SPEC, held(sources=(part,)), {"a/b": files})

    assert found.download_bytes == 907
    assert found.sources[0].is_listed


def test_a_size_that_nobody_knows_makes_the_sum_unknown() -> None:
    """Not zero."""
    spec = msgspec.structs.replace(
        SPEC,
        sources=(SOURCE, ModelSource(repository="c/d")),
    )

    found = judge(spec, held(sources=(NOTHING, NOTHING)))

    assert found.download_bytes is None


def test_steps_and_copies_take_room() -> None:
    """Another disk for the cache means a copy of everything that is not written anew."""
    steps = (
        PreparationStep(name="a", what="A.", tool="t.py", disk_bytes=300),
        PreparationStep(name="b", what="B.", optional=True, open="?", disk_bytes=999),
        PreparationStep(name="c", what="C."),
    )
    spec = msgspec.structs.replace(SPEC, preparation=steps)

    near, apart = judge(spec, held()), judge(spec, held(is_apart=True))

    assert near.disk_bytes == 1_300
    assert apart.disk_bytes == 2_800
    assert [one.state for one in near.steps] == [StepState.DUE, StepState.LEFT_OUT, StepState.OPEN]
    assert not near.can_get
    assert near.advice


def test_a_model_in_a_package_needs_the_package() -> None:
    """The demo's model comes with a Python package."""
    wheel = WheelSource(
        package="p", version="1", sha256="0", bytes=50, member="x", member_sha256="1"
    )
    spec = msgspec.structs.replace(SPEC, sources=(), wheel=wheel)

    found = judge(spec, held(sources=()))

    assert (found.package, found.download_bytes, found.can_get) == ("p 1", 50, True)


def test_a_usable_model_needs_nothing() -> None:
    """Whatever its repository would still hold."""
    found = judge(SPEC, held(is_usable=True, state=ModelState.UNPROVEN))

    assert (found.download_bytes, found.disk_bytes, found.sources) == (0, 0, ())
    assert found.state is ModelState.UNPROVEN


def test_bases_come_first_and_once() -> None:
    """Two variants over one base share it."""
    base = msgspec.structs.replace(SPEC, id="base")
    one, two = (msgspec.structs.replace(SPEC, id=name, base=base) for name in ("one", "two"))

    assert [spec.id for spec in with_bases([one, two])] == ["base", "one", "two"]
    with pytest.raises(BadInput):
        with_bases([msgspec.structs.replace(SPEC, base="somebody")])


@pytest.mark.parametrize("preset", ["27b-dflash2", "27b-batch-fp8", "v100-27b", "cpu-demo"])
def test_shipped_models_can_be_got_and_their_scripts_exist(preset: str, tmp_path: Path) -> None:
    """A preset that names a script that is not shipped would fail after a download of hours."""
    paths = Paths(home=tmp_path, catalogue=bundled_root())
    specs = PresetStore(paths).get(preset).models

    found = of_all(paths, preset, specs, environ={"HF_HOME": str(tmp_path)})

    assert not found.is_usable
    assert all(one.can_get for one in found.models)
    assert (found.download_bytes or 0) > 80_000_000
    for spec in with_bases(specs):
        for step in spec.preparation:
            assert step.is_runnable or (step.optional and step.open)
            if step.tool:
                assert (bundled_root() / "runtimes" / "tools" / step.tool).is_file()
    if preset == "27b-dflash2":
        assert "syvai/qwen3.8-27b-3090-fast-variant (953.7 MiB) goes to" in in_words(found)


def test_an_empty_disk_is_looked_at_without_an_error(tmp_path: Path) -> None:
    """The first run."""
    paths = Paths(home=tmp_path / "none", catalogue=tmp_path)

    found = look(paths, SPEC, {"HF_HOME": str(tmp_path / "hf")})

    assert not found.is_usable
    assert found.missing == SPEC.files
    assert not found.is_apart


def test_a_model_that_another_hand_took_away_says_where_it_lay(tmp_path: Path) -> None:
    """What is to be fetched was here, and that is no download that never was."""
    paths = Paths(home=tmp_path / "home", catalogue=tmp_path)
    place = tmp_path / "big" / "model"
    seen = Served(
        name="m", path=str(place), root="/", models=(SPEC.id,), size_bytes=1, seen_at_s=0.0
    )
    Lost(paths.models).after([seen], (), {SPEC.id: ("p",)})

    found = look(paths, SPEC, {"HF_HOME": str(tmp_path / "hf")})

    assert judge(SPEC, found).lay_in == str(place)
    told = in_words(of_all(paths, "p", (SPEC,), environ={"HF_HOME": str(tmp_path / "hf")}))
    assert told.startswith(f" M lay in {place} until somebody removed or moved it. a/b (")
