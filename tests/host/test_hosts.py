"""Hosts in files: found by id or path, read strictly, refused in words."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from studio.domain.errors import BadInput, HostLacks, NotFound, StudioError
from studio.host import hosts
from studio.host.paths import Paths, bundled_root

PATHS = Paths(home=Path("/nowhere"), catalogue=bundled_root())
CARD: dict[str, Any] = {"index": 0, "name": "NVIDIA X", "total_bytes": 100, "free_bytes": 50}
HOST: dict[str, Any] = {"system": "linux", "machine": "x86_64", "os_name": "Linux", "gpus": [CARD]}


def written(folder: Path, document: object, name: str = "my host.json") -> Path:
    """Write a document; return its path."""
    path = folder / name
    text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> StudioError:
    """Return the error that reading `path` ends with."""
    with pytest.raises(StudioError) as caught:
        hosts.read(path)
    return caught.value


def test_every_host_of_the_catalogue_is_found_by_its_id() -> None:
    """The list in a hint is the list that works."""
    listed = hosts.listed(PATHS)

    assert {one.id for one in listed} >= {"rtx3090-linux", "rtx4090-wsl2", "none-linux"}
    for one in listed:
        assert hosts.load(one.id, PATHS).id == one.id


def test_an_unknown_id_is_answered_with_the_likely_one() -> None:
    """And with all, because nobody knows them by heart."""
    with pytest.raises(NotFound) as caught:
        hosts.load("rtx4090-wsl", PATHS)

    assert caught.value.code == "host-unknown"
    assert "`rtx4090-wsl2`" in (caught.value.hint or "")
    assert "v100-16x4-linux" in (caught.value.hint or "")


def test_an_id_never_reads_a_path() -> None:
    """The control API takes ids only, whatever they look like."""
    for wicked in (
        "../../etc/passwd",
        "/etc/passwd",
        "none-linux/../none-linux",
        "none-linux.json",
    ):
        with pytest.raises(NotFound):
            hosts.of_catalogue(wicked, PATHS)


def test_a_catalogue_without_hosts_leaves_the_bundled_ones(tmp_path: Path) -> None:
    """People who write presets of their own need not copy the hosts."""
    paths = Paths(home=tmp_path, catalogue=tmp_path)

    assert hosts.load("h200-linux", paths).host.gpus[0].name == "NVIDIA H200"


@pytest.mark.parametrize(
    "document",
    [
        HOST,
        {"schema_version": 1, "id": "mine", "title": "Mine", "host": HOST},
        {"schema_version": 1, "version": "9", "title": "Mine", "level": "good", "checks": [],
         "runtimes": [{"future": 1}], "host": HOST},
    ],
    ids=["snapshot", "host file", "doctor's report"],
)  # fmt: skip
def test_three_shapes_are_read(document: object, tmp_path: Path) -> None:
    """What any command or call of ours prints can be replayed."""
    found = hosts.load(str(written(tmp_path, document)), PATHS)

    assert found.host.gpus[0].total_bytes == 100


def test_a_file_in_the_current_folder_is_named_without_a_slash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`weir doctor --host box.json`."""
    written(tmp_path, HOST, "bøx.JSON")
    monkeypatch.chdir(tmp_path)

    assert hosts.load("bøx.JSON", PATHS).id == "bøx"


@pytest.mark.parametrize(
    ("change", "said", "hint"),
    [
        ({"memry_bytes": 1}, "`memry_bytes`", "`memory_bytes`"),
        ({"gpus": [{**CARD, "totl_bytes": 1}]}, "$.gpus[0]", "`total_bytes`"),
        (
            {"gpus": [{**CARD, "total_bytes": "24 GB"}]},
            "`gpus[0].total_bytes` should be a whole number",
            None,
        ),
        ({"gpus": [{"name": "X"}]}, "`gpus[0].index` is missing", None),
        ({"system": 5}, "`system` should be a text", None),
        ({"gpu_links": [{"first": 0, "second": 1, "kind": "wire"}]}, "Invalid enum value", None),
        ({"gpus": [CARD, CARD]}, "same `index`", None),
        ({"gpus": [{**CARD, "free_bytes": 101}]}, "more free memory", None),
        ({"memory_bytes": -5}, "below zero", None),
        ({"memory_bytes": 1 << 61}, "beyond reason", None),
        ({"gpus": [{**CARD, "power_limit_w": 1e308}]}, "$.host.gpus[0].power_limit_w", None),
        ({"os_name": "\x1b[31mred"}, "control character", None),
        ({"gpus": [{**CARD, "name": "a\nb"}]}, "$.host.gpus[0].name", None),
        ({"gpu_links": [{"first": 0, "second": 7}]}, "card 7", None),
    ],
)
def test_a_mistake_is_named_with_its_place(
    change: dict[str, Any], said: str, hint: str | None, tmp_path: Path
) -> None:
    """Written by hand, a host file has mistakes; each would give a wrong verdict."""
    error = refusal(written(tmp_path, {**HOST, **change}))

    assert isinstance(error, BadInput)
    assert error.code == "document-invalid"
    assert "my host.json" in error.message
    assert said in error.message
    if hint is not None:
        assert hint in (error.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "5",
        '"host"',
        "{}",
        '{"gpus": []}',
        "[" * 100_000,
        '{"checks": [], "host": 5}',
    ],
)
def test_what_is_no_host_file_is_refused(text: str, tmp_path: Path) -> None:
    """Never with a traceback."""
    error = refusal(written(tmp_path, text))

    assert error.code == "document-invalid"


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A picture by the wrong name."""
    path = tmp_path / "x.json"
    path.write_bytes(b"\x89PNG\xff\xfe")

    assert refusal(path).code == "document-invalid"


def test_a_newer_file_names_both_versions(tmp_path: Path) -> None:
    """`Unknown field` would send people looking for a typing mistake."""
    error = refusal(written(tmp_path, {"schema_version": 2, "future": 1, "host": HOST}))

    assert error.code == "document-newer"
    assert "schema_version is 2" in error.message


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    """Each has its own remedy."""
    assert refusal(tmp_path / "none.json").code == "file-missing"
    folder = refusal(tmp_path)
    assert isinstance(folder, HostLacks)
    assert folder.code == "not-readable"


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    """Somebody else's capture."""
    path = written(tmp_path, HOST)
    path.chmod(0)

    assert refusal(path).code == "not-readable"


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A model by mistake."""
    path = tmp_path / "model.json"
    with path.open("wb") as file:
        file.truncate(1 << 33)

    assert refusal(path).code == "document-large"


def test_an_integrated_chip_in_a_file_is_no_card_either(tmp_path: Path) -> None:
    """Its memory is the machine's and must not be planned with."""
    chip = {"index": 1, "name": "NVIDIA GB10", "is_integrated": True, "total_bytes": 1}
    document = {**HOST, "gpus": [CARD, chip], "gpu_links": [{"first": 0, "second": 1}]}

    found = hosts.read(written(tmp_path, document)).host

    assert [card.index for card in found.gpus] == [0]
    assert found.gpu_links == ()
    assert found.adapters[0].name == "NVIDIA GB10"


def test_no_limit_is_a_number_that_is_allowed(tmp_path: Path) -> None:
    """The one negative number that means something."""
    document = {**HOST, "limits": {"open_files": -1}}

    found = hosts.read(written(tmp_path, document)).host

    assert found.limits is not None
    assert found.limits.open_files == -1


def test_a_file_by_hand_hears_at_once_all_that_is_missing(tmp_path: Path) -> None:
    """With the least that will do, ready to be copied."""
    for document in ({"host": {}, "id": "x", "title": "x"}, {"system": "linux"}):
        error = refusal(written(tmp_path, document))

        assert "machine" in error.message
        assert "os_name" in error.message
        assert "missing" in error.message
        assert '"os_name": ' in (error.hint or "")
