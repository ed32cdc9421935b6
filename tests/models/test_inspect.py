"""Reading a stranger's model folder: nothing in it is trusted."""

import json
import struct
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Damaged, NotFound
from studio.models import inspect


def weights(path: Path, tensors: dict[str, int], *, cut: int = 0) -> None:
    """Write a safetensors file of 16-bit tensors with so many elements each."""
    header, end = {}, 0
    for name, count in tensors.items():
        header[name] = {"dtype": "BF16", "shape": [count], "data_offsets": [end, end + 2 * count]}
        end += 2 * count
    raw = json.dumps(header).encode()
    data = struct.pack("<Q", len(raw)) + raw + bytes(end)
    path.write_bytes(data[: len(data) - cut])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a folder with a config and one file of weights."""
    folder = tmp_path / "mödel one"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    weights(folder / "model.safetensors", {"a": 4, "b": 6})
    return folder


def test_a_folder_and_its_config_are_the_same_model(model: Path) -> None:
    """People name either."""
    assert inspect.config_of(model) == inspect.config_of(model / "config.json")


def test_headers_are_read_without_the_weights(model: Path) -> None:
    """A 20 GB model is looked at in milliseconds."""
    headers = inspect.headers_of(model)

    assert list(headers) == ["model.safetensors"]
    assert headers["model.safetensors"]["b"]["data_offsets"] == [8, 20]


def test_a_folder_without_weights_has_no_headers(model: Path) -> None:
    """config.json alone is enough for the pool."""
    (model / "model.safetensors").unlink()

    assert inspect.headers_of(model) == {}


def test_an_index_decides_which_files_count(model: Path) -> None:
    """Left-overs of an earlier download lie beside; the engine does not load them."""
    weights(model / "one.safetensors", {"a": 1})
    index = {"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")

    assert list(inspect.headers_of(model)) == ["one.safetensors"]
    assert inspect.missing_files(model) == ("two.safetensors",)


def test_an_index_cannot_lead_out_of_the_folder(model: Path) -> None:
    """A model from the network must not make us read another file."""
    index = {"weight_map": {"a": "../../etc/passwd", "b": 7}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")

    assert inspect.missing_files(model) == ()
    assert list(inspect.headers_of(model)) == ["model.safetensors"]


@pytest.mark.parametrize("index", ["[]", '{"weight_map": []}', "{}"])
def test_an_index_that_says_nothing_is_no_index(model: Path, index: str) -> None:
    """The files of the folder are then what there is, or the index is named as broken."""
    (model / "model.safetensors.index.json").write_text(index, encoding="utf-8")

    if index == "[]":
        with pytest.raises(BadInput):
            inspect.headers_of(model)
    else:
        assert list(inspect.headers_of(model)) == ["model.safetensors"]


def test_a_download_that_was_cut_off_is_named_with_what_is_missing(model: Path) -> None:
    """The engine would find out after it loaded the rest."""
    weights(model / "model.safetensors", {"a": 400, "b": 600}, cut=100)

    with pytest.raises(Damaged) as caught:
        inspect.headers_of(model)

    assert caught.value.code == "weights-damaged"
    assert "100 B are missing at its end" in caught.value.message


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\1\2",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n",
        struct.pack("<Q", 1 << 62) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 3) + b"\xff\xfe\xfd",
    ],
)
def test_what_is_no_safetensors_file_is_said_to_be_none(model: Path, data: bytes) -> None:
    """Pointers, empty files, and headers that claim to be larger than any disk."""
    (model / "model.safetensors").write_bytes(data)

    with pytest.raises(Damaged) as caught:
        inspect.headers_of(model)

    assert caught.value.code == "weights-damaged"


@pytest.mark.parametrize("path", ["", "nothing here", "nul\0byte", "x" * 5000])
def test_a_name_that_is_no_folder_is_not_found(tmp_path: Path, path: str) -> None:
    """Also one that no file system takes."""
    with pytest.raises(NotFound) as caught:
        inspect.config_of(tmp_path / "none" / path)

    assert caught.value.code == "model-missing"


def test_a_gguf_is_told_what_the_engine_wants(tmp_path: Path) -> None:
    """The commonest mistake of people who come from llama.cpp."""
    (tmp_path / "model-Q4.gguf").write_bytes(b"GGUF")

    with pytest.raises(NotFound) as caught:
        inspect.config_of(tmp_path)

    assert "safetensors" in (caught.value.hint or "")


def test_a_config_larger_than_any_is_not_read(model: Path) -> None:
    """Somebody's weights under the wrong name would fill the memory."""
    with (model / "config.json").open("wb") as file:
        file.truncate(17 << 20)

    with pytest.raises(BadInput) as caught:
        inspect.config_of(model)

    assert "larger than 16.0 MiB" in caught.value.message
