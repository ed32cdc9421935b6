"""What a model is, from config and heads; a bad file is said of this one model and no more."""

import json
import os
from pathlib import Path

import pytest

from studio.domain.library import RootKind, WeightsForm
from studio.models.facts import Described, describe
from studio.models.finding import walk
from studio.models.roots import Root
from tests.models.made_models import gguf, model, safetensors


def of(folder: Path) -> Described:
    """Return what the one model in a folder is."""
    (found,) = walk(Root(path=str(folder), kind=RootKind.FOLDER)).models
    return describe(found)


def test_config_and_headers_make_a_model(tmp_path: Path) -> None:
    """The line that a person chooses by."""
    model(tmp_path / "m", text_config={"max_position_embeddings": 1})

    facts = of(tmp_path).facts

    assert facts.form is WeightsForm.SAFETENSORS
    assert facts.architecture == "LlamaForCausalLM"
    assert (facts.parameters, facts.quantisation, facts.context_tokens) == (2048, "BF16", 8192)


def test_the_index_says_which_files_count_and_which_lack(tmp_path: Path) -> None:
    """As it does for the engine; a name that leads out of the folder is none."""
    folder = model(tmp_path / "m")
    (folder / "b.safetensors").write_bytes(safetensors({"b": ("F32", [4])}))
    index = {"weight_map": {"a": "a.safetensors", "b": "b.safetensors", "c": "../c.safetensors",
                            "d": 7}}  # fmt: skip
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    described = of(tmp_path)

    assert [file.name for file in described.missing] == ["a.safetensors"]
    assert described.facts.parameters is None
    assert described.facts.quantisation == "F32"


def test_weights_that_are_there_twice_in_other_forms_count_once(tmp_path: Path) -> None:
    """Mistral's repositories hold both."""
    folder = model(tmp_path / "m")
    (folder / "consolidated.safetensors").write_bytes(safetensors())

    assert of(tmp_path).facts.parameters == 2048


def test_parts_of_a_gguf_are_one_model_and_what_lacks_is_named(tmp_path: Path) -> None:
    """A download of parts that broke off between two."""
    for number in (1, 3):
        (tmp_path / f"m-Q4-0000{number}-of-00003.gguf").write_bytes(gguf())

    described = of(tmp_path)

    assert [file.name for file in described.missing] == ["m-Q4-00002-of-00003.gguf"]
    assert described.facts.parameters is None
    assert described.facts.context_tokens == 4096


def test_a_folder_with_several_mixtures_is_not_their_sum(tmp_path: Path) -> None:
    """The same model in 4 and in 8 bits, and the eyes beside it."""
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    for name, kind in (("a-Q4_0.gguf", 2), ("a-Q8_0.gguf", 7), ("mmproj.gguf", 1)):
        values = {"general.architecture": "llama", "general.file_type": kind}
        (folder / name).write_bytes(gguf(values))

    facts = of(tmp_path).facts

    assert (facts.parameters, facts.quantisation) == (128, "Q4_0, Q8_0")


@pytest.mark.parametrize(
    "config",
    [
        "[]",
        "7",
        "{",
        "[" * 100_000,
        '{"architectures": 7}',
        '{"architectures": [[]], "max_position_embeddings": true}',
        '{"architectures": ["a\\u001b[2J"], "quantization_config": []}',
        '{"max_position_embeddings": -1, "text_config": "x"}',
    ],
)
def test_a_config_of_the_wrong_type_takes_nothing_down(tmp_path: Path, config: str) -> None:
    """What the headers say is still told."""
    folder = model(tmp_path / "m")
    (folder / "config.json").write_text(config)

    facts = of(tmp_path).facts

    assert (facts.parameters, facts.architecture, facts.context_tokens) == (2048, None, None)


def test_damaged_weights_are_named(tmp_path: Path) -> None:
    """Cut off, or a pointer instead of the file."""
    folder = model(tmp_path / "m")
    (folder / "model.safetensors").write_bytes(safetensors()[:-1])
    (folder / "second.safetensors").write_bytes(b"version https://git-lfs")

    described = of(tmp_path)

    assert described.damaged == ("model.safetensors", "second.safetensors")
    assert len(described.problems) == 2


def test_a_file_that_may_not_be_read_is_a_problem_and_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be whole."""
    folder = model(tmp_path / "m")
    real = Path.open

    def refuse(path: Path, *given: object, **named: object) -> object:
        if path.name == "model.safetensors":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *given, **named)

    monkeypatch.setattr(Path, "open", refuse)
    described = of(folder.parent)

    assert described.damaged == ()
    assert "Permission denied" in described.problems[0]


def test_other_weights_are_said_to_be_such(tmp_path: Path) -> None:
    """PyTorch's own files run code when they are read: they are not."""
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    (folder / "pytorch_model.bin").write_bytes(os.urandom(64))

    facts = of(tmp_path).facts

    assert (facts.form, facts.architecture, facts.parameters) == (WeightsForm.OTHER, "bert", None)
