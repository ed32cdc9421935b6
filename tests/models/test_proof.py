"""The record of what was proven: a model is called ready for a reason that can be named."""

import os
from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import BadInput, Damaged
from studio.domain.proofs import ModelState, ProofRecord, ProvenFile
from studio.host.files import sha256_file
from studio.models.proof import proven, read_proof, record_path, standing, write_proof


def model(folder: Path) -> ProofRecord:
    """Make a model of two files; return what is proven of it."""
    (folder / "sub").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "sub" / "a.safetensors").write_bytes(b"weights")
    names = ("config.json", "sub/a.safetensors")
    files = tuple(proven(folder, name, sha256_file(folder / name)) for name in names)
    return ProofRecord(source="huggingface", proven_at_s=1.0, files=files)


@pytest.mark.parametrize("name", ["plain", "mödel 模型 " + "x" * 200])
def test_a_written_proof_is_read_back_beside_a_model_of_ours(tmp_path: Path, name: str) -> None:
    """Downloads write it and the library reads it: both must mean the same file."""
    folder = tmp_path / "models" / name
    record = model(folder)
    assert write_proof(folder, tmp_path / "models", record) == folder / "weir-model.json"
    assert read_proof(folder, tmp_path / "models") == record
    assert standing(folder, record).state is ModelState.READY


def test_nothing_is_written_into_a_folder_that_is_not_ours(tmp_path: Path) -> None:
    """Another tool's cache stays as it was, also where a link in our folder leads to it."""
    folder, models = tmp_path / "other", tmp_path / "models"
    record = model(folder)
    models.mkdir()
    (models / "linked").symlink_to(folder)
    before = sorted(folder.rglob("*"))
    path = write_proof(models / "linked", models, record)
    assert path.parent == models / ".proofs"
    assert sorted(folder.rglob("*")) == before
    assert read_proof(folder, models) == record


def test_each_way_to_be_not_ready_is_told_apart(tmp_path: Path) -> None:
    """What is missing is fetched, what is damaged replaced, what changed hashed again."""
    record = model(tmp_path)
    config, weights = tmp_path / "config.json", tmp_path / "sub" / "a.safetensors"
    assert standing(tmp_path, None).state is ModelState.UNPROVEN
    os.utime(config, ns=(1, 1))
    changed = standing(tmp_path, record)
    assert (changed.state, changed.changed) == (ModelState.UNKNOWN, ("config.json",))
    weights.unlink()
    missing = standing(tmp_path, record)
    assert missing.state is ModelState.INCOMPLETE
    assert [(file.name, file.size_bytes) for file in missing.missing] == [("sub/a.safetensors", 7)]
    weights.write_bytes(b"weight")
    damaged = standing(tmp_path, record)
    assert (damaged.state, damaged.damaged) == (ModelState.DAMAGED, ("sub/a.safetensors",))
    weights.unlink()
    weights.symlink_to("a.safetensors")
    assert standing(tmp_path, record).state is ModelState.UNKNOWN


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/../../x", "", ".", "a//b", "a\\b", "a\0"]
)
def test_a_name_outside_the_folder_is_never_kept_or_believed(tmp_path: Path, name: str) -> None:
    """A record that came with a stranger's folder must not lead anybody out of it."""
    file = ProvenFile(name=name, size_bytes=1, sha256="a" * 64, modified_ns=1)
    record = ProofRecord(source="spec", proven_at_s=1.0, files=(file,))
    folder = tmp_path / "m"
    folder.mkdir()
    with pytest.raises(BadInput, match="cannot be kept"):
        write_proof(folder, tmp_path, record)
    record_path(folder, tmp_path).write_bytes(msgspec.json.encode(record))
    with pytest.raises(Damaged, match="of no use"):
        read_proof(folder, tmp_path)


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 100_000, b'{"format": "1"}'])
def test_a_record_of_the_wrong_form_is_damaged_not_a_crash(tmp_path: Path, data: bytes) -> None:
    """One bad folder must not take the whole list down."""
    (tmp_path / "m").mkdir()
    record_path(tmp_path / "m", tmp_path).write_bytes(data)
    with pytest.raises(Damaged, match="of no use"):
        read_proof(tmp_path / "m", tmp_path)


def test_a_pipe_in_the_records_place_does_not_hold_the_reader_up(tmp_path: Path) -> None:
    """Opening a pipe waits for a writer that never comes."""
    (tmp_path / "m").mkdir()
    os.mkfifo(record_path(tmp_path / "m", tmp_path))
    with pytest.raises(Damaged, match="not a file"):
        read_proof(tmp_path / "m", tmp_path)
