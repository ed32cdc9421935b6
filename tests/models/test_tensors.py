"""Counting parameters from headers, quantised ones included."""

import json
import struct
from pathlib import Path

import pytest

from studio.domain.errors import Damaged
from studio.models.tensors import count
from tests.models.made_models import safetensors

NONE: frozenset[int] = frozenset()
FOUR = frozenset({4})


def put(folder: Path, data: bytes) -> Path:
    """Write a file."""
    path = folder / "w.safetensors"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("tensors", "bits", "parameters"),
    [
        ({"a.weight": ("BF16", [8, 4]), "b": ("F32", [2])}, NONE, 34),
        ({"q.qweight": ("I32", [8, 4]), "q.scales": ("F16", [4]), "q.qzeros": ("I32", [4])}, FOUR,
         256),
        ({"q.weight_packed": ("I32", [8, 4]), "q.weight_scale": ("F16", [4])}, FOUR, 256),
        ({"q.weight_packed": ("U8", [8, 4]), "q.weight_global_scale": ("F32", [1])}, FOUR, 64),
        ({"e.down_proj_blocks": ("U8", [8, 4]), "e.down_proj_scales": ("U8", [8])}, FOUR, 64),
        ({"q.weight": ("F8_E4M3", [8, 4]), "q.weight_scale_inv": ("F32", [1])}, NONE, 32),
        ({"q.weight_packed": ("I32", [8, 4])}, frozenset({4, 8}), None),
        ({"q.qweight": ("I32", [8, 4])}, NONE, None),
    ],
)  # fmt: skip
def test_packed_weights_count_as_what_they_were(
    tmp_path: Path,
    tensors: dict[str, tuple[str, list[int]]],
    bits: frozenset[int],
    parameters: int | None,
) -> None:
    """A 27 B model in 4 bits is no 4 B model; where the width is not known, nothing is said."""
    assert count(put(tmp_path, safetensors(tensors)), bits).parameters == parameters


@pytest.mark.parametrize(
    "header",
    [
        {"a": {"dtype": "BF16", "shape": [-1, 4], "data_offsets": [0, 4]}},
        {"a": {"dtype": "BF16", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 4]}},
        {"a": {"dtype": 7, "shape": [1], "data_offsets": [0, 4]}},
        {"a": {"dtype": "BF16", "shape": "x", "data_offsets": [0, 4]}},
        {"a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 400]}},
        ["a"],
        "a",
    ],
)
def test_a_header_of_the_wrong_types_is_damage(tmp_path: Path, header: object) -> None:
    """And no crash of the whole list."""
    raw = json.dumps(header).encode()
    with pytest.raises(Damaged):
        count(put(tmp_path, struct.pack("<Q", len(raw)) + raw + b"data"), NONE)


def test_notes_in_a_header_are_no_tensors(tmp_path: Path) -> None:
    """`__metadata__` may hold anything."""
    raw = json.dumps({"__metadata__": {"shape": "x"}, "a": {"dtype": "F32", "shape": []}}).encode()

    found = count(put(tmp_path, struct.pack("<Q", len(raw)) + raw), NONE)

    assert (found.parameters, found.types) == (1, {"F32": 1})
