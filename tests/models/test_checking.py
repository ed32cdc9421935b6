"""What a whole check comes to: proven, damaged, or the first digests of what nobody knows."""

import hashlib
from pathlib import Path

import msgspec

from studio.domain.library import RootKind
from studio.models.checking import Outcome, files_of, outcome, wants_git
from studio.models.digests import Digest, DigestBook
from studio.models.roots import Root
from studio.models.shelf import Model, Shelf
from tests.models.made_models import cached, git_name, model


def one(home: Path, folder: Path, kind: RootKind = RootKind.FOLDER) -> Model:
    """Return the one model of a root."""
    shelf = Shelf(home / "models", home / "cache", DigestBook(home / "models"))
    (found,) = shelf.scan([Root(path=str(folder), kind=kind)]).models
    return found


def read_all(model: Model) -> Outcome:
    """Read every file as a check does."""
    read = {}
    for file in files_of(model):
        data = Path(file.path).read_bytes()
        read[file.device, file.inode] = Digest(
            size_bytes=len(data),
            modified_ns=file.mtime_ns,
            sha256=hashlib.sha256(data).hexdigest(),
            git_blob=git_name(data) if wants_git(model, file) else None,
            at_s=1.0,
        )
    return outcome(model, read, 7.0)


def test_a_model_as_its_hub_has_it_is_proven(tmp_path: Path) -> None:
    """Small files by git's name of them, large ones by sha256."""
    cached(tmp_path / "hub")
    came = read_all(one(tmp_path, tmp_path / "hub", RootKind.CACHE))

    assert came.proof is not None
    assert (came.proof.source, came.proof.repository) == ("huggingface", "owner/name")
    assert (came.checked.result.compared, came.checked.result.damaged) == (2, ())
    assert came.proof.proven_at_s == came.checked.result.at_s == 7.0


def test_other_content_is_damage_and_no_proof(tmp_path: Path) -> None:
    """Of the right size, as a bad sector leaves it."""
    snapshot = cached(tmp_path / "hub")
    for name in ("config.json", "model.safetensors"):
        blob = (snapshot / name).resolve()
        data = bytearray(blob.read_bytes())
        data[-1] ^= 1
        blob.write_bytes(bytes(data))

    came = read_all(one(tmp_path, tmp_path / "hub", RootKind.CACHE))

    assert came.proof is None
    assert came.checked.result.damaged == ("config.json", "model.safetensors")
    assert set(came.checked.bad) == {"config.json", "model.safetensors"}


def test_of_what_nobody_knows_the_first_digests_are_kept(tmp_path: Path) -> None:
    """From then on a change is noticed; that is said to be all that is known."""
    model(tmp_path / "root" / "m")
    found = one(tmp_path, tmp_path / "root")
    first = read_all(found)
    assert first.proof is not None

    again = read_all(msgspec.structs.replace(found, proof=first.proof))

    assert (first.proof.source, first.checked.result.compared) == ("import", 0)
    assert again.checked.result.compared == 2


def test_a_file_that_cannot_be_read_leaves_the_model_unproven(tmp_path: Path) -> None:
    """It is neither whole nor damaged."""
    model(tmp_path / "root" / "m")
    found = one(tmp_path, tmp_path / "root")

    came = outcome(found, {})

    assert came.proof is None
    assert came.checked.result.unreadable == ("config.json", "model.safetensors")


def test_a_file_with_two_names_is_read_once(tmp_path: Path) -> None:
    """And counts under both."""
    folder = model(tmp_path / "root" / "m")
    (folder / "second.safetensors").hardlink_to(folder / "model.safetensors")
    found = one(tmp_path, tmp_path / "root")

    came = read_all(found)

    assert len(files_of(found)) == 2
    assert came.proof is not None
    assert len(came.proof.files) == 3
