"""The script that turns a matrix into 8-bit whole numbers: what it refuses, and what it makes."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Serving

SCRIPT = Path(__file__).resolve().parents[2] / "runtimes" / "tools" / "quantise_rows.py"

PROOF = """
import sys, torch
from safetensors.torch import load_file, save_file
from compressed_tensors.compressors.pack_quantized.helpers import unpack_from_int32

source, made = sys.argv[2:]
if sys.argv[1] == "make":
    torch.manual_seed(0)
    for kind in (torch.bfloat16, torch.float16, torch.float32):
        weights = torch.randn(1000, 256)
        weights[3] = 0
        tensors = {"lm_head.weight": weights.to(kind), "norm.weight": torch.randn(77).half()}
        save_file(tensors, f"{source}.{str(kind)[6:]}")
else:
    before, after = load_file(source), load_file(made)
    assert torch.equal(before["norm.weight"], after["norm.weight"])
    matrix = before["lm_head.weight"]
    scales = after["lm_head.weight_scale"]
    assert scales.dtype == matrix.dtype and scales.shape == (1000, 2)
    assert after["lm_head.weight_packed"].shape == (1000, 64)
    shape = torch.Size(after["lm_head.weight_shape"].tolist())
    assert shape == matrix.shape
    whole = unpack_from_int32(after["lm_head.weight_packed"], 8, shape).float()
    steps = scales.float()[..., None]
    back = whole.reshape(1000, 2, 128) * steps
    assert (back[3] == 0).all()
    off = (back - matrix.float().reshape(1000, 2, 128)).abs()
    assert (off <= 0.501 * steps).all(), (off / steps).max()
"""


def write(path: Path, tensors: dict[str, tuple[str, list[int], int]]) -> Path:
    """Write a safetensors file of zeros, given type, shape and bytes of each tensor."""
    header, end = {}, 0
    for name, (kind, shape, size) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    raw = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + bytes(end))
    return path


def run(
    python: Path | str, source: Path, made: Path, *names: str
) -> subprocess.CompletedProcess[str]:
    """Run the script as the Studio runs it."""
    command = [str(python), "-I", "-X", "utf8", str(SCRIPT), str(source), str(made), *names]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("tensor", "name", "said"),
    [
        (("F32", [2, 128], 1024), "other", "no tensor other"),
        (("F32", [2, 100], 800), "w", "multiple of 128"),
        (("I32", [2, 128], 1024), "w", "is I32"),
        (("F32", [256], 1024), "w", "is F32 of [256]"),
        (("F32", [2, 128], 1000), "w", "another size than its shape"),
    ],
)
def test_what_cannot_be_turned_is_refused_before_anything_is_written(
    tmp_path: Path, tensor: tuple[str, list[int], int], name: str, said: str
) -> None:
    """A head that is half turned would load and answer nonsense."""
    made = tmp_path / "mäde.safetensors"
    made.write_bytes(b"old")

    result = run(sys.executable, write(tmp_path / "a", {"w": tensor}), made, name)

    assert result.returncode == 1
    assert said in result.stderr
    assert made.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", made.name]


@pytest.mark.parametrize("kept", [0, 7, 40, -1])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, kept: int) -> None:
    """A download that broke must not become a smaller model."""
    source = write(tmp_path / "a", {"w": ("F32", [2, 128], 1024)})
    source.write_bytes(source.read_bytes()[:kept])

    result = run(sys.executable, source, tmp_path / "b", "w")

    assert result.returncode == 1
    assert "no whole safetensors file" in result.stderr or "cut off" in result.stderr
    assert not (tmp_path / "b").exists()


def check_against_the_library(python: Path, folder: Path) -> None:
    """Turn matrices of each type and read them back with the engine's own library."""
    source, made = folder / "wé ir", folder / "made"
    proof = [str(python), "-I", "-c", PROOF]
    subprocess.run([*proof, "make", str(source), str(made)], check=True, timeout=120)
    for kind in ("bfloat16", "float16", "float32"):
        one = source.with_name(f"{source.name}.{kind}")
        result = run(python, one, made, "lm_head.weight")
        assert result.returncode == 0, result.stderr
        size = 1000 * 256 * (4 if kind == "float32" else 2) + 154
        assert result.stdout.splitlines()[-1] == f"progress {size} {size}"
        subprocess.run([*proof, "check", str(one), str(made)], check=True, timeout=120)


@pytest.mark.real
def test_the_engines_own_library_reads_back_what_was_written(
    serving: Serving, tmp_path: Path
) -> None:
    """The form is another project's: only its own reader proves that it is met."""
    (python,) = serving.weir.paths.runtimes.glob("*/*/python/bin/python3")

    check_against_the_library(python, tmp_path)
