"""What is to be planned, put together from files."""

import json
from pathlib import Path

import msgspec
import pytest

from studio.app import plan_cases
from studio.domain.hardware import Gpu
from studio.domain.manifests import ModelSpec
from studio.host.documents import write_json
from studio.host.paths import Paths, bundled_root
from studio.planner.card_ledger import Ground
from studio.planner.engine import Device
from studio.presets.store import PresetStore
from studio.runtimes.catalog import Catalog
from tests.models.test_inspect import weights
from tests.planner.plan_samples import LLAMA, card, host

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "head_dim": 64,
    "hidden_size": 576,
    "max_position_embeddings": 8192,
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a model's folder."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    weights(folder / "model.safetensors", {"model.layers.0.mlp.up_proj.weight": 1000})
    return folder


def test_weights_are_measured_from_the_files_headers(model: Path) -> None:
    """No list of sizes is as good as the files themselves."""
    found = plan_cases.read_folder(model)

    assert found.weights_bytes == 2000
    assert sum(found.geometry.weight_bytes.values()) == 2000


def test_weights_that_are_missing_are_not_counted(model: Path) -> None:
    """Half a download is no size."""
    index = {"weight_map": {"a": "model.safetensors", "b": "more.safetensors"}}
    write_json(model / "model.safetensors.index.json", index)

    found = plan_cases.read_folder(model)

    assert found.missing == ("more.safetensors",)
    assert found.weights_bytes is None


def test_the_config_on_disk_wins_and_a_difference_is_told(model: Path, tmp_path: Path) -> None:
    """A preset's own figures are for the time before the download."""
    paths = Paths(home=tmp_path / "home", catalogue=bundled_root())
    shipped = msgspec.structs.replace(LLAMA, query_heads=12)
    spec = ModelSpec(
        id="m",
        title="m",
        licence="x",
        origin="x",
        disk_bytes=1,
        files=("config.json",),
        folder=str(model),
        geometry=shipped,
    )

    found, notes = plan_cases._geometry(spec, paths)

    assert found is not None
    assert found.query_heads == 9
    assert "differs from what the preset ships (query heads" in notes[0]


@pytest.mark.parametrize(
    ("found", "shipped", "sizes"),
    [
        ({"body": 100, "mtp": 4}, {"body": 60, "ple_table": 40}, (60, 40)),
        ({"body": 100}, {"body": 90}, (100, None)),
        ({}, {"body": 60, "ple_table": 40}, (60, 40)),
        ({"body": 30}, {"body": 60, "ple_table": 40}, (0, 30)),
        ({"body": 100, "vision": 1}, {"body": 60, "experts": 70}, (30, None)),
    ],
)
def test_tables_that_stay_off_the_card_are_not_counted_on_it_once_they_are_here(
    found: dict[str, int], shipped: dict[str, int], sizes: tuple[int, int | None]
) -> None:
    """Before a download a model fits, and after it 47 GiB of table would lie on the card."""
    made = plan_cases._sizes(found, shipped)

    assert (made["body"], made.get("ple_table")) == sizes
    assert sum(made.values()) == sum((found or shipped).values())


def test_a_broken_config_falls_back_to_what_the_preset_ships(model: Path, tmp_path: Path) -> None:
    """And says so."""
    (model / "config.json").write_text("{", encoding="utf-8")
    spec = ModelSpec(
        id="m",
        title="m",
        licence="x",
        origin="x",
        disk_bytes=1,
        files=("config.json",),
        folder=str(model),
        geometry=LLAMA,
    )

    found, notes = plan_cases._geometry(
        spec, Paths(home=tmp_path / "home", catalogue=bundled_root())
    )

    assert found is LLAMA
    assert "The preset's own figures are used instead." in notes[0]


def test_the_recipe_says_where_an_engine_computes() -> None:
    """A runtime's name need not."""
    recipe = Catalog(Paths(home=Path("/none"), catalogue=bundled_root())).recipe("cpu-vllm-0.32.0")
    renamed = msgspec.structs.replace(recipe, name="fake-vllm-0.32.0")

    assert plan_cases._engine("fake-vllm-0.32.0", renamed, (), host()).device is Device.CPU


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        ((card(0),), "NVIDIA GeForce RTX 3090; Ubuntu 24.04"),
        ((card(0), card(1)), "2 × NVIDIA GeForce RTX 3090; Ubuntu 24.04"),
        ((), "x86_64, cores not known, no NVIDIA card; Ubuntu 24.04"),
    ],
)
def test_a_host_in_words(cards: tuple[Gpu, ...], words: str) -> None:
    """Cards first: they are what a plan is about."""
    assert plan_cases.in_words(host(*cards)) == words


def test_a_copy_of_a_preset_knows_what_it_came_from() -> None:
    """The ladder and the boot times of the original hold for it."""
    preset = PresetStore(Paths(home=Path("/none"), catalogue=bundled_root())).get("cpu-demo")

    assert plan_cases.profiles_of(preset) == ("cpu-demo",)
    assert plan_cases.profiles_of(None) == ()


def test_a_planned_card_shows_its_line_under_windows() -> None:
    """What may be used before bytes spill."""
    windows = Ground(host=host(card(), is_wsl=True))

    assert plan_cases.planned(card(), windows).line_bytes == card().free_bytes
    assert plan_cases.planned(card(), Ground(host=host(card()))).line_bytes is None
