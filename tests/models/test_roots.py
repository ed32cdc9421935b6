"""Which folders are searched: each once, and a mistake is told before it is kept."""

from pathlib import Path

import pytest

from studio.domain.errors import BadInput, NotFound
from studio.domain.library import RootKind
from studio.models.roots import folder_of, given, is_root, require_folder, roots


def test_a_folder_with_two_names_is_searched_once(tmp_path: Path) -> None:
    """Else each of its models would be listed and counted twice."""
    own, cache = tmp_path / "own", tmp_path / "cache"
    own.mkdir()
    (tmp_path / "link").symlink_to(own)

    found = roots(own, cache, [str(tmp_path / "link"), str(tmp_path / "more")])

    assert [(Path(one.path).name, one.kind) for one in found] == [
        ("own", RootKind.OWN),
        ("cache", RootKind.CACHE),
        ("more", RootKind.FOLDER),
    ]
    assert is_root(tmp_path / "link", found)


@pytest.mark.parametrize(
    "text", ["", "  ", "models", "../x", "a\0b", "/a\nb", "~no-such-person/x", "\ud800"]
)
def test_what_is_no_absolute_path_is_refused(text: str) -> None:
    """A relative one would mean another folder in the service than in the terminal."""
    with pytest.raises(BadInput) as refused:
        given(text)

    assert refused.value.code == "path-invalid"


def test_a_path_is_taken_as_it_is_meant(tmp_path: Path) -> None:
    """Blanks, accents and dots are all fine."""
    assert given(f"{tmp_path}/a b/../mödel") == tmp_path / "mödel"
    assert given("~") == Path.home()


def test_a_folder_of_windows_is_found_in_its_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window on Windows chooses it there; elsewhere it is no path."""
    monkeypatch.setenv("WSL_DISTRO_NAME", "weir-studio")
    assert given(r"E:\models\Qwen 3") == Path("/mnt/e/models/Qwen 3")

    monkeypatch.delenv("WSL_DISTRO_NAME")
    with pytest.raises(BadInput):
        given(r"E:\models\Qwen 3")


def test_a_folder_that_cannot_be_listed_is_not_added(tmp_path: Path) -> None:
    """A file, or a disk that is not mounted yet."""
    (tmp_path / "file").write_text("x")
    for name in ("file", "none"):
        with pytest.raises(NotFound):
            require_folder(tmp_path / name)
    require_folder(tmp_path)


def test_a_folder_that_went_can_still_be_removed_from_the_list(tmp_path: Path) -> None:
    """That is when one wants to."""
    gone = str(tmp_path / "gone")

    assert folder_of(gone, [gone]) == gone
    with pytest.raises(NotFound) as unknown:
        folder_of("/other", [gone])
    assert gone in (unknown.value.hint or "")
