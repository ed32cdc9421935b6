"""What is known of files without reading them, and who is believed."""

import hashlib
from pathlib import Path

import pytest

from studio.domain.library import RootKind
from studio.domain.manifests import ModelSource, ModelSpec
from studio.models import known
from studio.models.finding import Found, walk
from studio.models.known import Expected, Known, known_of
from studio.models.roots import Root
from tests.models.made_models import COMMIT, cached, git_name, model, safetensors

SHA = hashlib.sha256(safetensors()).hexdigest()


def one(folder: Path, kind: RootKind = RootKind.FOLDER) -> Found:
    """Return the one model of a root."""
    (found,) = walk(Root(path=str(folder), kind=kind)).models
    return found


def spec(**told: object) -> ModelSpec:
    """Return what a preset says of a model."""
    values = {"id": "m", "title": "M", "licence": "", "origin": "", "disk_bytes": 1,
              "files": ("config.json",), **told}  # fmt: skip
    return ModelSpec(**values)


def test_names_of_blobs_are_digests(tmp_path: Path) -> None:
    """Large files by sha256, small ones by git's name; both can be compared with."""
    found = known_of(one_config(tmp_path), None, ())

    assert found is not None
    files = found.by_name()
    assert files["model.safetensors"].sha256 == SHA
    assert files["config.json"].git_blob is not None
    assert (found.source, found.repository, found.revision) == ("huggingface", "owner/name", COMMIT)


def one_config(folder: Path) -> Found:
    """Return a model in a cache."""
    cached(folder)
    return one(folder, RootKind.CACHE)


def test_what_hf_download_notes_in_a_plain_folder_counts(tmp_path: Path) -> None:
    """`hf download --local-dir` writes commit and ETag beside the files."""
    folder = model(tmp_path / "m")
    notes = folder / ".cache" / "huggingface" / "download"
    notes.mkdir(parents=True)
    (notes / "model.safetensors.metadata").write_text(f"{COMMIT}\n{SHA}\n1.0\n")
    (notes / "config.json.metadata").write_text(f"{COMMIT}\n{git_name(b'{}')}\n1.0\n")

    found = known_of(one(tmp_path), None, ())

    assert found is not None
    assert found.revision == COMMIT
    assert found.by_name()["model.safetensors"].sha256 == SHA


@pytest.mark.parametrize("note", ["", "\n\n", "x\ny\nz", "\xff" * 5000, COMMIT])
def test_notes_that_say_nothing_are_passed_over(tmp_path: Path, note: str) -> None:
    """They are a stranger's files too."""
    folder = model(tmp_path / "m")
    notes = folder / ".cache" / "huggingface" / "download"
    notes.mkdir(parents=True)
    (notes / "config.json.metadata").write_text(note, "latin-1")

    assert known_of(one(tmp_path), None, ()) is None


def test_a_presets_digests_hold_for_its_own_folder_and_its_repository(tmp_path: Path) -> None:
    """At the commit that it names; of another one they say nothing."""
    model(tmp_path / "own" / "m")
    cached(tmp_path / "hub")
    told = spec(digests={"model.safetensors": SHA}, sizes={"model.safetensors": 7})
    source = ModelSource(repository="owner/name", revision=COMMIT)
    other = ModelSource(repository="owner/name", revision="b" * 40)

    here = known_of(one(tmp_path / "own", RootKind.OWN), None, [told])
    in_cache = one(tmp_path / "hub", RootKind.CACHE)

    assert here is not None
    assert here.by_name()["model.safetensors"] == Expected(
        name="model.safetensors", size_bytes=7, sha256=SHA
    )
    assert known.is_served_as(in_cache, spec(sources=(source,)))
    assert not known.is_served_as(in_cache, spec(sources=(other,)))


def test_what_is_written_down_comes_first_and_is_completed_by_others(tmp_path: Path) -> None:
    """A hub's own list, from when the model was fetched."""
    found = one_config(tmp_path / "hub")
    kept = Known(source="modelscope", files=(Expected(name="model.safetensors", size_bytes=9),
                                             Expected(name="more.bin", size_bytes=1)))  # fmt: skip
    known.keep(Path(found.folder), tmp_path / "models", kept)

    read = known.kept(Path(found.folder), tmp_path / "models")
    joined = known_of(found, read, ())

    assert read == kept
    assert joined is not None
    assert joined.source == "modelscope"
    assert joined.by_name()["model.safetensors"] == Expected(
        name="model.safetensors", size_bytes=9, sha256=SHA
    )
    known.forget(Path(found.folder), tmp_path / "models")
    assert known.kept(Path(found.folder), tmp_path / "models") is None
