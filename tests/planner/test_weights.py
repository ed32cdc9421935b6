"""Bytes of a checkpoint from the headers of its files."""

import pytest

from studio.domain.errors import Damaged
from studio.planner.weights import indexed, weights


def tensor(kind: str, shape: list[int], place: list[int] | None = None) -> dict[str, object]:
    """Return one entry of a header."""
    entry: dict[str, object] = {"dtype": kind, "shape": shape}
    return entry if place is None else {**entry, "data_offsets": place}


HEADER = {
    "__metadata__": {"format": "pt"},
    "model.embed_tokens.weight": tensor("BF16", [100, 8], [0, 1_600]),
    "model.layers.0.mlp.down_proj.weight_packed": tensor("I32", [8, 4], [1_600, 1_728]),
    "model.layers.0.mlp.down_proj.weight_scale": tensor("F32", [8, 1], [1_728, 1_760]),
    "lm_head.weight": tensor("F32", [100, 8], [1_760, 4_960]),
    "model.visual.blocks.0.attn.qkv.weight": tensor("BF16", [8, 8], [4_960, 5_088]),
    "mtp.layers.0.mlp.up_proj.weight": tensor("BF16", [8, 8], [5_088, 5_216]),
}


def test_bytes_are_told_apart_by_part() -> None:
    """What is offloaded, quantised or left out is planned for part by part."""
    found = weights({"model.safetensors": HEADER})

    assert found.parts == {
        "embedding": 1_600,
        "body": 160,
        "lm_head": 3_200,
        "vision": 128,
        "mtp": 128,
    }
    assert found.total == found.stored == 5_216
    assert found.is_measured


def test_plain_numbers_count_in_the_type_that_they_are_loaded_in() -> None:
    """A float32 matrix takes half on the card; packed weights and their scales stay."""
    found = weights({"model.safetensors": HEADER}, model_dtype="bfloat16")

    assert found.parts["lm_head"] == 1_600
    assert found.parts["body"] == 160
    assert found.stored == 5_216


def test_a_tensor_in_two_shards_is_loaded_once() -> None:
    """One public checkpoint repeats its draft module, and planned double it would not fit."""
    again = {"mtp.layers.0.mlp.up_proj.weight": HEADER["mtp.layers.0.mlp.up_proj.weight"]}

    assert weights({"1": HEADER, "2": again}).parts["mtp"] == 128


def test_a_header_without_places_is_computed_from_shapes() -> None:
    """4-bit floats are half a byte each."""
    header = {"w": tensor("F4", [3, 5]), "v": tensor("F8_E4M3", [4])}

    assert weights({"a": header}).total == 8 + 4


@pytest.mark.parametrize(
    "entry",
    [
        7,
        {"dtype": "BF16"},
        {"dtype": 4, "shape": [1]},
        {"dtype": "NEW", "shape": [1]},
        {"dtype": "NEW", "shape": [1], "data_offsets": [4, 2]},
        {"dtype": "BF16", "shape": ["x"]},
    ],
)
def test_a_broken_header_names_file_and_tensor(entry: object) -> None:
    """A download that was cut short is told from a model that is unknown."""
    with pytest.raises(Damaged) as refused:
        weights({"model-00001.safetensors": {"w": entry}})

    assert "model-00001.safetensors" in refused.value.message
    assert "`w`" in refused.value.message


def test_an_index_alone_says_the_total_only() -> None:
    """Without the files there is a sum, and it is said that parts are not known."""
    found = indexed({"metadata": {"total_size": 1_000}})

    assert found is not None
    assert found.total == 1_000
    assert not found.is_measured
    assert indexed({}) is None
    assert indexed({"metadata": {"total_size": True}}) is None
