"""Heads of GGUF files: what a good one says, and that a hostile one costs nothing."""

import random
import struct
import time
import tracemalloc
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Damaged, HostLacks, StudioError
from studio.models.gguf import read
from tests.models.made_models import gguf, text


def put(folder: Path, data: bytes) -> Path:
    """Write a file."""
    path = folder / "m.gguf"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("version", [2, 3])
def test_a_head_says_what_the_model_is(tmp_path: Path, version: int) -> None:
    """Also behind a vocabulary, which is stepped over."""
    told: dict[str, str | int | list[str]] = {
        "general.architecture": "qwen3",
        "tokenizer.ggml.tokens": [f"wörd {n}" for n in range(5000)],
        "qwen3.context_length": 40960,
        "general.file_type": 15,
    }
    head = read(put(tmp_path, gguf(told, {"a": (12, [256, 2]), "b": (0, [8])}, version=version,
                                   data=b"\0" * 288)))  # fmt: skip

    assert (head.architecture, head.context_tokens, head.mixture) == ("qwen3", 40960, "Q4_K_M")
    assert head.parameters == 520
    assert head.types == {"Q4_K": 288, "F32": 32}


def test_without_a_mixture_the_type_of_most_bytes_is_named(tmp_path: Path) -> None:
    """Some converters leave it out."""
    assert read(put(tmp_path, gguf())).mixture == "F16"


def test_a_file_cut_off_anywhere_is_damaged_and_never_a_crash(tmp_path: Path) -> None:
    """A download that broke off, at each byte of a small file."""
    whole = gguf({"general.architecture": "llama", "t": ["a", "bb"]})
    for length in range(len(whole)):
        with pytest.raises(Damaged):
            read(put(tmp_path, whole[:length]))
    read(put(tmp_path, whole))


def test_flipped_bytes_are_read_or_refused_within_bounds(tmp_path: Path) -> None:
    """Numbers of a stranger's file make us read, allocate and count nothing of their size."""
    whole = gguf({"general.architecture": "llama", "t": ["a", "bb"] * 40, "n": 7})
    dice = random.Random(7)
    tracemalloc.start()
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(dice.randrange(1, 6)):
            data[dice.randrange(len(data) - 256)] = dice.randrange(256)
        try:
            read(put(tmp_path, bytes(data)))
        except StudioError:
            continue
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20_000_000


@pytest.mark.parametrize(
    "data",
    [
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60),
        b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1 << 62) + b"x" * 100,
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<IIQ", 9, 8, 1 << 50),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<IIQ", 9, 0, 1 << 50),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<IIQ", 9, 9, 1 << 50),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<IIQ", 9, 9, 1) * 40,
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("k") + struct.pack("<I", 77) + b"x" * 99,
        b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + text("t") + struct.pack("<I", 99) + b"x" * 99,
        gguf(None, {"t": (0, [1 << 40, 1 << 40])}),
        gguf({"general.alignment": 0}),
        b"GGML" + b"\0" * 100,
        b"version https://git-lfs.github.com/spec/v1\n",
        b"",
    ],
)
def test_claims_beyond_the_file_are_damage(tmp_path: Path, data: bytes) -> None:
    """At once, whatever they claim."""
    began = time.process_time()
    with pytest.raises(Damaged):
        read(put(tmp_path, data))

    assert time.process_time() - began < 2.0


def test_weights_that_end_too_early_are_missed(tmp_path: Path) -> None:
    """The head is whole, the download is not."""
    with pytest.raises(Damaged, match="missing at its end"):
        read(put(tmp_path, gguf(None, {"w": (1, [32, 400])})))


@pytest.mark.parametrize("version", [1, 4, 3 << 24])
def test_a_version_that_is_not_known_is_said(tmp_path: Path, version: int) -> None:
    """Older, newer, or of the other byte order."""
    with pytest.raises(BadInput) as refused:
        read(put(tmp_path, gguf(version=version)))

    assert refused.value.code == "gguf-version"


def test_a_file_that_went_is_not_readable(tmp_path: Path) -> None:
    """Between the walk and the look."""
    with pytest.raises(HostLacks):
        read(tmp_path / "none.gguf")
