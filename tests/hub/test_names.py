"""Names that are one file to a disk."""

from pathlib import Path

import pytest

from studio.domain.errors import BadInput
from studio.hub import names


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (("a", "b"), None),
        (("README.md", "readme.md"), ("README.md", "readme.md")),
        (("A/x", "a/y"), None),
        (("A/x", "a/X"), ("A/x", "a/X")),
        (("stra\u00dfe", "STRASSE"), ("stra\u00dfe", "STRASSE")),
        (("\u00fc", "u\u0308"), ("\u00fc", "u\u0308")),
        (("model", "model.json", "Model.txt"), None),
    ],
)
def test_paths_that_differ_in_case_alone_are_found(
    paths: tuple[str, ...], found: tuple[str, str] | None
) -> None:
    """Whole paths: two spellings of one folder still hold both files."""
    assert names.same_but_for_case(paths) == found


@pytest.mark.parametrize("suffix", [".part", ".part.journal"])
def test_a_file_that_is_called_as_an_unfinished_one_is_in_the_way(suffix: str) -> None:
    """The one would become the other's first bytes, and vanish when that is whole."""
    assert names.in_the_way(["a/x", "b/x.part", "y"]) is None
    assert names.in_the_way(["a/x", f"a/x{suffix}"]) == ("a/x", f"a/x{suffix}")


def test_a_disk_that_tells_letters_apart_is_one_and_keeps_nothing(tmp_path: Path) -> None:
    """The probe must not lie about in a cache."""
    assert not names.is_case_blind(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_one_file_for_two_names_is_refused_with_the_ways_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a disk of Windows, the second would replace the first, at each try again."""
    both = ("README.md", "readme.md")
    names.require_apart(both, tmp_path, "owner/name", is_plain=True)
    monkeypatch.setattr(names, "is_case_blind", lambda _folder: True)

    names.require_apart(("a", "b"), tmp_path, "owner/name", is_plain=True)
    with pytest.raises(BadInput) as caught:
        names.require_apart(both, tmp_path, "owner/name", is_plain=False)

    assert caught.value.code == "model-names-collide"
    assert "--exclude 'readme.md'" in (caught.value.hint or "")
    assert str(tmp_path) in caught.value.message


def test_only_plain_folders_have_unfinished_files_beside_others(tmp_path: Path) -> None:
    """In the cache they have the names of their digests."""
    both = ("x", "x.part")
    names.require_apart(both, tmp_path, "owner/name", is_plain=False)

    with pytest.raises(BadInput) as caught:
        names.require_apart(both, tmp_path, "owner/name", is_plain=True)

    assert "`x.part`" in caught.value.message
