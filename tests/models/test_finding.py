"""The walk finds every model once, and nothing that lies there stops or misleads it."""

import hashlib
import os
from pathlib import Path

import pytest

from studio.domain.library import RootKind, RootState
from studio.models import finding
from studio.models.finding import Found, parts_of, walk
from studio.models.roots import Root
from tests.models.made_models import COMMIT, cached, gguf, model, safetensors


def found(folder: Path, kind: RootKind = RootKind.FOLDER) -> dict[str, Found]:
    """Return the models of a root by name."""
    return {one.name: one for one in walk(Root(path=str(folder), kind=kind)).models}


def test_models_of_every_shape_are_found_by_the_name_that_people_use(tmp_path: Path) -> None:
    """Folders, folders of folders, a hub's cache, loose GGUF files, parts together."""
    model(tmp_path / "plain mödel")
    model(tmp_path / "owner" / "name")
    cached(tmp_path / "hub", "o/n")
    (tmp_path / "ggufs").mkdir()
    for name in ("a-Q4.gguf", "b-00001-of-00002.gguf", "b-00002-of-00002.gguf"):
        (tmp_path / "ggufs" / name).write_bytes(gguf())

    models = found(tmp_path)

    assert set(models) == {"plain mödel", "owner/name", "o/n", "ggufs/a-Q4.gguf", "ggufs/b.gguf"}
    assert models["o/n"].revision == COMMIT
    assert models["o/n"].refs == ("main",)
    assert len(models["ggufs/b.gguf"].files) == 2
    assert models["ggufs/b.gguf"].path.endswith("b-00001-of-00002.gguf")


def test_a_part_of_a_model_is_no_model_of_its_own(tmp_path: Path) -> None:
    """A pipeline's components, and weights in another form beside the model's own."""
    folder = model(tmp_path / "m")
    model(folder / "text_encoder")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "w.onnx").write_bytes(b"x")

    models = found(tmp_path)

    assert set(models) == {"m"}
    assert "onnx/w.onnx" in {file.name for file in models["m"].files}


def test_a_stray_config_hides_no_models_below_and_data_sets_are_none(tmp_path: Path) -> None:
    """Many programs call their file `config.json`."""
    (tmp_path / "config.json").write_text("{}")
    model(tmp_path / "m")
    begun = tmp_path / "begun"
    begun.mkdir()
    (begun / "config.json").write_text("{}")
    model(tmp_path / "datasets--o--d" / "snapshots" / COMMIT)

    assert set(found(tmp_path)) == {"m", "begun"}


def test_the_revision_of_main_bears_the_plain_name(tmp_path: Path) -> None:
    """Whatever else of the repository lies there says which commit it is."""
    cached(tmp_path, "o/n", commit="b" * 40, ref=None)
    cached(tmp_path, "o/n", commit=COMMIT, ref="main")

    assert set(found(tmp_path)) == {"o/n", "o/n@bbbbbbbb"}


def test_a_download_that_has_only_begun_is_listed_with_what_it_takes(tmp_path: Path) -> None:
    """Tens of GB that nobody can find are worse than a model that is not whole."""
    blobs = tmp_path / "models--o--n" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "x.incomplete").write_bytes(b"x" * 5000)

    models = found(tmp_path)

    assert models["o/n"].files == ()
    assert models["o/n"].unfinished_bytes == 5000


def test_an_import_that_broke_off_is_listed_with_what_it_takes(tmp_path: Path) -> None:
    """It goes on with the same line, or is removed as a model is."""
    work = tmp_path / ".importing-m" / "files"
    work.mkdir(parents=True)
    (work / ".model.bin.part").write_bytes(b"x" * 700)

    models = found(tmp_path, RootKind.OWN)

    assert models["m (import)"].unfinished_bytes == 700


def test_links_in_rings_and_out_of_the_folder_end(tmp_path: Path) -> None:
    """A ring would be walked for ever."""
    folder = model(tmp_path / "root" / "m")
    (folder / "again").symlink_to(tmp_path / "root")
    (tmp_path / "root" / "ring").symlink_to(tmp_path / "root")
    (tmp_path / "root" / "self").symlink_to("self")
    (folder / "gone.safetensors").symlink_to("nowhere")

    models = found(tmp_path / "root")

    assert set(models) == {"m"}
    broken = [file.name for file in models["m"].files if file.size is None]
    assert broken == ["gone.safetensors"]


def test_a_missing_root_is_said_and_no_error(tmp_path: Path) -> None:
    """A disk that is not mounted today is no reason to list nothing."""
    walked = walk(Root(path=str(tmp_path / "usb"), kind=RootKind.FOLDER))

    assert (walked.state, walked.models) == (RootState.MISSING, ())


def test_a_folder_that_vanishes_while_it_is_walked_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody removes a model while we look."""
    model(tmp_path / "a")
    model(tmp_path / "b")
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("/a"):
            raise FileNotFoundError(2, "No such file or directory", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)

    assert set(found(tmp_path)) == {"b"}


def test_a_root_that_may_not_be_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty and forbidden are not the same."""

    def scandir(path: str) -> object:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", scandir)
    walked = walk(Root(path=str(tmp_path), kind=RootKind.FOLDER))

    assert walked.state is RootState.UNREADABLE
    assert "Permission denied" in (walked.note or "")


def test_names_that_are_no_text_and_files_that_are_none_are_left_out(tmp_path: Path) -> None:
    """Such a name cannot go through JSON, and a pipe would be waited for."""
    folder = model(tmp_path / "m")
    (Path(os.fsdecode(os.fsencode(folder) + b"/b\xff.bin"))).write_bytes(b"x")
    os.mkfifo(folder / "pipe.safetensors")

    walked = walk(Root(path=str(tmp_path), kind=RootKind.FOLDER))

    assert {file.name for file in walked.models[0].files} == {"config.json", "model.safetensors"}
    assert "no text" in (walked.note or "")


def test_long_and_strange_names_are_names(tmp_path: Path) -> None:
    """People call their folders what they like."""
    name = "模型 " + "x" * 190
    model(tmp_path / name / name)

    assert set(found(tmp_path)) == {f"{name}/{name}"}


def test_too_many_files_are_cut_off_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home folder named by mistake must not hold the service for minutes."""
    monkeypatch.setattr(finding, "_MOST_ENTRIES", 10)
    for number in range(20):
        (tmp_path / f"{number}.txt").write_text("")
    model(tmp_path / "zz")

    walked = walk(Root(path=str(tmp_path), kind=RootKind.FOLDER))

    assert "more than 10 files" in (walked.note or "")


def test_a_root_may_be_one_model_or_one_file(tmp_path: Path) -> None:
    """What is imported by reference is listed by its own name."""
    model(tmp_path / "m")
    (tmp_path / "x-00001-of-00002.gguf").write_bytes(gguf())
    (tmp_path / "x-00002-of-00002.gguf").write_bytes(gguf())
    (tmp_path / "y.gguf").write_bytes(gguf())

    assert set(found(tmp_path / "m", RootKind.REFERENCE)) == {"m"}
    one = found(tmp_path / "x-00001-of-00002.gguf", RootKind.REFERENCE)["x.gguf"]
    assert len(one.files) == 2


def test_a_cache_without_links_names_its_blobs_too(tmp_path: Path) -> None:
    """On a stick or a Windows disk the snapshot holds the files, or second names of them."""
    snapshot = cached(tmp_path)
    for pointer in snapshot.iterdir():
        blob = pointer.resolve()
        pointer.unlink()
        pointer.hardlink_to(blob)
    sha256 = hashlib.sha256(safetensors()).hexdigest()

    file = {one.name: one for one in found(tmp_path)["owner/name"].files}["model.safetensors"]

    assert file.blob == sha256
    assert file.size == len(safetensors())


def test_the_parts_of_a_gguf_are_known_by_its_name() -> None:
    """What lacks can be named."""
    assert parts_of("m-00002-of-00003.gguf") == tuple(f"m-{n:05d}-of-00003.gguf" for n in (1, 2, 3))
    assert parts_of("m.gguf") == ("m.gguf",)
    assert parts_of("m-00001-of-99999.gguf") == ("m-00001-of-99999.gguf",)
