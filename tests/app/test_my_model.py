"""`weir presets make`: a folder in, a preset out that `weir up` can start."""

import json
from pathlib import Path

import msgspec
import pytest

from studio.app.my_model import MyModels, slug
from studio.domain.errors import BadInput, NotFound, StudioError
from studio.domain.library import RootKind
from studio.domain.plans import MadePreset, MakeRequest, PlanVerdict
from studio.host.paths import Paths, bundled_root
from studio.models import library
from studio.models.digests import DigestBook
from studio.models.finding import RECORDS
from studio.models.roots import Root
from studio.models.shelf import Shelf
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from tests.app.test_plans import planner
from tests.models.test_inspect import weights
from tests.planner.plan_samples import host

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "hidden_size": 64,
    "max_position_embeddings": 4096,
    "dtype": "float32",
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a model's folder with a name that is hard on files."""
    folder = tmp_path / 'Mein "Modell" ü (v2)'
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    (folder / "chat_template.jinja").write_text("x", encoding="utf-8")
    weights(folder / "model.safetensors", {"a": 1000})
    return folder


def makers(tmp_path: Path) -> tuple[MyModels, PresetStore, Paths]:
    """Return who makes presets in an empty home on a machine without cards."""
    plans = planner(tmp_path, host(glibc="2.36", gpu_note="No NVIDIA driver was found."))
    paths = plans._paths
    store = PresetStore(paths)
    made = MyModels(
        paths=paths, presets=store, catalog=Catalog(paths), plans=plans, machine=plans._machine
    )
    return made, store, paths


async def make(tmp_path: Path, **fields: object) -> MadePreset:
    """Make one preset."""
    return await makers(tmp_path)[0].make(MakeRequest(**fields))


async def fails(tmp_path: Path, **fields: object) -> StudioError:
    """Return the error that making ends with."""
    with pytest.raises(StudioError) as caught:
        await make(tmp_path, **fields)
    return caught.value


async def test_a_folder_becomes_a_preset_whose_plan_is_exact(tmp_path: Path, model: Path) -> None:
    """The figure is the one that the engine will print."""
    made = await make(tmp_path, folder=str(model))

    assert made.id == "mein-modell-v2"
    assert made.plan.verdict is PlanVerdict.FITS
    assert made.plan.pool_tokens_error == 0
    assert made.plan.max_model_len == 4096
    assert made.notes == ()


async def test_the_preset_is_an_ordinary_file_that_is_read_like_any_other(
    tmp_path: Path, model: Path
) -> None:
    """It may be edited, copied and deleted."""
    made = await make(tmp_path, folder=str(model))
    _, store, paths = makers(tmp_path)

    preset = store.get(made.id)

    assert preset.title == 'Mein "Modell" ü (v2)'
    assert preset.is_own
    assert library.find(paths, preset.model) == model
    assert preset.knobs["max_model_len"].default == 4096
    assert preset.knobs["enforce_eager"].default is True


def _stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


async def test_the_folder_itself_is_never_written_to(tmp_path: Path, model: Path) -> None:
    """It may be another program's, or read-only."""
    before = _stamps(model)

    await make(tmp_path, folder=str(model))

    assert _stamps(model) == before


async def test_a_folder_that_changed_is_named_at_the_next_start(
    tmp_path: Path, model: Path
) -> None:
    """Weights that were exchanged under the preset are another model."""
    made = await make(tmp_path, folder=str(model))
    _, store, paths = makers(tmp_path)
    weights(model / "model.safetensors", {"a": 2000})

    preset = store.get(made.id)

    assert library.find(paths, preset.model) is None
    with pytest.raises(StudioError) as caught:
        library.check(model, preset.model)
    assert caught.value.code == "model-moved"


@pytest.mark.parametrize("is_older", [False, True])
async def test_the_studios_own_records_in_the_folder_are_no_part_of_the_model(
    tmp_path: Path, model: Path, is_older: bool
) -> None:
    """A prepared model has them, and a check writes them anew; older presets name them."""
    records = [model / name for name in RECORDS]
    for record in records:
        record.write_text("{}")
    made = await make(tmp_path, folder=str(model))
    _, store, paths = makers(tmp_path)
    spec = store.get(made.id).model
    assert not set(RECORDS) & {*spec.files, *spec.sizes}
    if is_older:
        names = (*spec.files, *RECORDS)
        sizes = {**spec.sizes, **dict.fromkeys(RECORDS, 2)}
        spec = msgspec.structs.replace(spec, files=names, sizes=sizes)

    for record in records:
        record.write_text('{"longer": "than before"}')

    assert library.find(paths, spec) == model
    shelf = Shelf(tmp_path / "own", tmp_path / "cache", DigestBook(tmp_path / "own"))
    root = Root(path=str(model), kind=RootKind.FOLDER)
    (found,) = shelf.scan([root], [spec]).library.models
    assert (found.uses, found.missing) == ((spec.id,), ())


async def test_an_id_is_not_taken_twice_unless_asked(tmp_path: Path, model: Path) -> None:
    """A preset of the person's own must not vanish under another model."""
    await make(tmp_path, folder=str(model), id="mine")

    error = await fails(tmp_path, folder=str(model), id="mine")
    again = await make(tmp_path, folder=str(model), id="mine", replace=True)

    assert error.code == "preset-exists"
    assert again.id == "mine"


async def test_a_bundled_preset_is_not_overwritten(tmp_path: Path, model: Path) -> None:
    """`--replace` speaks of one's own."""
    error = await fails(tmp_path, folder=str(model), id="cpu-demo", replace=True)

    assert error.code == "preset-exists"


@pytest.mark.parametrize("preset_id", ["", "../x", "Mine", "a b", "-x", "x" * 65])
async def test_an_id_is_a_file_name_and_nothing_else(
    tmp_path: Path, model: Path, preset_id: str
) -> None:
    """It must not lead out of the folder; an empty one is made from the folder's name."""
    if not preset_id:
        assert (await make(tmp_path, folder=str(model), id=preset_id)).id == "mein-modell-v2"
        return
    assert (await fails(tmp_path, folder=str(model), id=preset_id)).code == "preset-id"


async def test_a_folder_without_weights_is_no_preset(tmp_path: Path, model: Path) -> None:
    """There is nothing to serve; the plan works all the same."""
    (model / "model.safetensors").unlink()

    error = await fails(tmp_path, folder=str(model))

    assert isinstance(error, BadInput)
    assert error.code == "model-without-weights"
    assert "weir plan --model" in (error.hint or "")


async def test_what_the_engine_will_miss_is_said(tmp_path: Path, model: Path) -> None:
    """A missing tokenizer shows as an error about reasoning parsers, minutes later."""
    (model / "tokenizer.json").unlink()
    (model / "chat_template.jinja").unlink()

    notes = " ".join((await make(tmp_path, folder=str(model))).notes)

    assert "no tokenizer" in notes
    assert "no chat template" in notes


async def test_an_unknown_runtime_is_named(tmp_path: Path, model: Path) -> None:
    """With what was meant."""
    error = await fails(tmp_path, folder=str(model), runtime="cpu-vllm-0.33.0")

    assert isinstance(error, NotFound)
    assert error.code == "runtime-unknown"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Qwen3.8-27B", "qwen3.8-27b"),
        ("My Model (v2)", "my-model-v2"),
        ("模型", "my-model"),
        ("--..--", "my-model"),
        ("x" * 100, "x" * 64),
    ],
)
def test_a_folder_s_name_becomes_an_id(name: str, expected: str) -> None:
    """Whatever it holds."""
    assert slug(name) == expected


def test_the_shipped_catalogue_has_what_made_presets_use() -> None:
    """A preset that names a part which is not there cannot be read."""
    parts = bundled_root() / "presets" / "parts"

    assert {"my-model.toml", "my-model-cpu.toml", "my-model-card.toml"} <= {
        path.name for path in parts.iterdir()
    }
