"""What is written down when a model comes from a hub."""

import hashlib
from pathlib import Path

import msgspec

from studio.app.library_known import note_fetched
from studio.domain.downloads import Fetched, FetchedFile, HubName
from studio.domain.proofs import ModelState
from studio.models import known, proof
from tests.models.made_models import COMMIT, git_name

CONFIG, WEIGHTS = b"{}", b"weights"


def fetched(folder: Path, **changes: object) -> Fetched:
    """Write two files; return them as they were fetched."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_bytes(CONFIG)
    (folder / "w.safetensors").write_bytes(WEIGHTS)
    files = (
        FetchedFile(path="config.json", bytes=2, blob_id=git_name(CONFIG)),
        FetchedFile(path="w.safetensors", bytes=7, sha256=hashlib.sha256(WEIGHTS).hexdigest()),
    )
    whole = Fetched(
        repository="o/n", hub=HubName.MODEL_SCOPE, asked="master", commit=COMMIT,
        folder=str(folder), files=files, fetched_bytes=9,
    )  # fmt: skip
    return msgspec.structs.replace(whole, **changes)


def state(folder: Path, models: Path) -> ModelState:
    """Return what the record says."""
    return proof.standing(folder, proof.read_proof(folder, models)).state


def test_what_came_whole_is_proven_and_the_rest_is_known(tmp_path: Path) -> None:
    """Names and sizes of all, so that what lacks later can be named."""
    folder, models = tmp_path / "m", tmp_path / "models"

    assert note_fetched(fetched(folder), models)

    assert state(folder, models) is ModelState.READY
    told = known.kept(folder, models)
    assert told is not None
    assert (told.source, told.revision, len(told.files)) == ("modelscope", COMMIT, 2)


def test_what_was_here_before_is_not_called_proven(tmp_path: Path) -> None:
    """Only its size was looked at."""
    folder, models = tmp_path / "m", tmp_path / "models"

    assert not note_fetched(fetched(folder, fetched_bytes=7), models)
    assert proof.read_proof(folder, models) is None


def test_a_second_part_is_joined_to_the_first(tmp_path: Path) -> None:
    """`--include` today and the rest tomorrow; asked for again, nothing is read."""
    folder, models = tmp_path / "m", tmp_path / "models"
    whole = fetched(folder)
    for file in whole.files:
        assert note_fetched(
            msgspec.structs.replace(whole, files=(file,), fetched_bytes=file.bytes), models
        )

    record = proof.read_proof(folder, models)
    assert record is not None
    assert len(record.files) == 2
    assert note_fetched(msgspec.structs.replace(whole, fetched_bytes=0), models)


def test_a_small_file_that_is_not_what_git_calls_it_is_not_proven(tmp_path: Path) -> None:
    """It was written between the download and now."""
    folder, models = tmp_path / "m", tmp_path / "models"
    whole = fetched(folder)
    (folder / "config.json").write_bytes(b"[]")

    assert not note_fetched(whole, models)
