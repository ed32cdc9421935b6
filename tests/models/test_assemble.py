"""A folder put together from others."""

from pathlib import Path

import pytest

from studio.domain.errors import Damaged
from studio.models import assemble
from studio.models.assemble import Held
from tests.fakes.hub import sha256
from tests.models.checkpoints import INDEX, put


def test_a_later_layer_wins_and_the_index_comes_last(tmp_path: Path) -> None:
    """A folder without its index is unfinished for every reader."""
    below = put(
        tmp_path / "a", {"a.json": b"1", INDEX: b"{}", "z": b"", ".cache/x": b"", "b": b"0"}
    )
    above = put(tmp_path / "b", {"b": b"22", "not.txt": b"", "weir-model.json": b"{}"})

    found = assemble.merged(
        [assemble.layer(below, "below"), assemble.layer(above, "above", patterns=("b", "*.json"))]
    )

    assert [one.name for one in found] == ["a.json", "b", "z", INDEX]
    assert {one.name: one.size_bytes for one in found}["b"] == 2


def test_a_proven_link_is_not_read_again_and_everything_else_is(tmp_path: Path) -> None:
    """20 GB take half a minute to read; a proof of a file that has changed counts for nothing."""
    big = bytes(2 << 20)
    folder = put(tmp_path / "a", {"big.bin": big, "small": b"abc"})
    stat = (folder / "big.bin").stat()
    proven = {"big.bin": Held(size_bytes=len(big), sha256="f" * 64, modified_ns=stat.st_mtime_ns)}
    large, small = assemble.merged([assemble.layer(folder, "a", proven=proven)])

    held, _ = assemble.bring(large, tmp_path / "out", "a")
    other, _ = assemble.bring(small, tmp_path / "out", "a")

    assert held.sha256 == "f" * 64
    assert (tmp_path / "out" / "big.bin").samefile(folder / "big.bin")
    assert other.sha256 == sha256(b"abc")
    stale = {"big.bin": Held(size_bytes=len(big), sha256="f" * 64, modified_ns=1)}
    (again, _) = assemble.merged([assemble.layer(folder, "a", proven=stale)])
    assert assemble.bring(again, tmp_path / "out", "a")[0].sha256 == sha256(big)


def test_a_file_that_is_not_what_its_source_says_is_refused(tmp_path: Path) -> None:
    """And does not stay."""
    folder = put(tmp_path / "a", {"x": b"other"})
    (file,) = assemble.layer(folder, "a", said={"x": sha256(b"right")}).files

    with pytest.raises(Damaged) as caught:
        assemble.bring(file, tmp_path / "out", "a/b")

    assert caught.value.code == "model-weights"
    assert not (tmp_path / "out" / "x").exists()


def test_what_cannot_be_read_is_no_file(tmp_path: Path) -> None:
    """A folder in a file's place."""
    with pytest.raises(FileNotFoundError):
        assemble.hashed(tmp_path)
