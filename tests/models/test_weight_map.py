"""Which file holds which tensor, when the index is a stranger's and after a change."""

import json
from pathlib import Path

import pytest

from studio.domain.errors import BadInput, Damaged
from studio.models import inspect, weight_map
from tests.models.checkpoints import FILES, INDEX, SHARD, put, safetensors


def test_the_index_decides_and_without_one_the_headers(tmp_path: Path) -> None:
    """Both say the same of a whole model."""
    put(tmp_path, FILES)
    indexed = weight_map.where(tmp_path)
    (tmp_path / INDEX).unlink()

    assert weight_map.where(tmp_path) == indexed
    assert indexed["lm_head.weight"] == SHARD.format(2)


@pytest.mark.parametrize(
    "text",
    ["[]", "{", '{"weight_map": 3}', '{"weight_map": {"a": "../b"}}', '{"weight_map": {"a": 1}}',
     "[" * 100_000],
)  # fmt: skip
def test_an_index_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    """It decides which files are read and written."""
    put(tmp_path, {INDEX: text.encode()})

    with pytest.raises(Damaged) as caught:
        weight_map.where(tmp_path)

    assert caught.value.code == "index-damaged"


def test_patterns_match_names(tmp_path: Path) -> None:
    """Each pattern has to be met for a condition to hold."""
    names = ("model.embed_tokens.weight_packed", "lm_head.weight")

    assert weight_map.matching(names, ("*embed_tokens*", "none")) == names[:1]
    assert weight_map.all_match(names, ("*embed_tokens*", "lm_head.weight"))
    assert not weight_map.all_match(names, ("*embed_tokens*", "none"))


def test_an_index_follows_its_files(tmp_path: Path) -> None:
    """Names that are gone go, new ones come, the sum changes by the difference."""
    before = put(tmp_path / "before", FILES)
    file = SHARD.format(2)
    after = put(tmp_path / "after", {file: safetensors({"new": b"12345"})})
    index = weight_map.read_index(before)
    assert index is not None

    made = weight_map.reindexed(
        {**index, "other": 1},
        weight_map.headers_of_files(before, [file]),
        {file: inspect.header_of(after / file)},
    )

    assert made["other"] == 1
    assert made["weight_map"] == {
        "model.embed_tokens.weight": SHARD.format(1),
        "model.norm.weight": SHARD.format(1),
        "new": file,
    }
    assert made["metadata"] == {"total_size": 2096 - 1032 + 5}


def test_an_index_that_names_what_no_file_holds_is_refused(tmp_path: Path) -> None:
    """Layers that do not belong together are found here, not in the engine."""
    put(tmp_path, FILES)
    weight_map.require_whole(tmp_path, "A model")
    document = json.loads(FILES[INDEX])
    document["weight_map"]["more"] = SHARD.format(1)
    put(tmp_path, {INDEX: json.dumps(document).encode()})

    with pytest.raises(Damaged) as caught:
        weight_map.require_whole(tmp_path, "A model")
    (tmp_path / SHARD.format(1)).unlink()
    with pytest.raises(BadInput) as absent:
        weight_map.require_whole(tmp_path, "A model")

    assert (caught.value.code, absent.value.code) == ("index-differs", "weights-missing")
