"""Which version the starters of Windows run, and the way to another one."""

import os
from pathlib import Path

import pytest

from studio.domain.errors import StudioError
from studio.domain.self_update import Came
from studio.host import own_program, own_windows
from tests.fakes import windows_versions


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder in which 1.1.0 runs and 1.0.0 is kept."""
    folder = tmp_path / "Wéir Studio"
    windows_versions.made(folder, "app-1.0.0", "app-1.1.0")
    return folder


def test_another_version_is_run_in_one_step_and_the_one_that_ran_is_kept(place: Path) -> None:
    """So there is a way back from the way back; nothing else lies there afterwards."""
    own_windows.switch(place, "1.0.0")

    assert (place / "current.txt").read_bytes() == b"app-1.0.0"
    assert (place / "previous.txt").read_bytes() == b"app-1.1.0"
    assert (own_windows.current(place), own_windows.before(place, "1.0.0")) == ("1.0.0", "1.1.0")
    assert not list(place.glob("*.new"))
    own_windows.switch(place, "1.0.0")
    assert own_windows.before(place, "1.0.0") == "1.1.0"


def test_a_cut_between_the_two_files_leaves_a_version_and_the_way_back(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first file then names what runs; the other version is found by looking."""
    replace = Path.replace

    def cut(path: Path, target: Path) -> Path:
        if target.name == own_windows.POINTER:
            raise PermissionError(13, "a scanner holds it")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", cut)
    with pytest.raises(StudioError) as caught:
        own_windows.switch(place, "1.0.0")

    assert caught.value.code == "not-writable"
    assert own_windows.current(place) == "1.1.0"
    assert own_windows.before(place, "1.1.0") == "1.0.0"


def test_what_a_starter_would_take_without_the_pointer_is_what_was_gone_back_to(
    place: Path,
) -> None:
    """It looks for the version that was finished last."""
    os.utime(place / "app-1.0.0/complete", (1, 1))

    own_windows.switch(place, "1.0.0")

    times = {path.name: (path / "complete").stat().st_mtime for path in place.glob("app-*")}
    assert times["app-1.0.0"] > times["app-1.1.0"]


@pytest.mark.parametrize("name", ["", "app-9.9.9", "..\\..\\evil", "app-1.0.0/../../x", "ä" * 90])
def test_a_damaged_pointer_names_nothing(place: Path, name: str) -> None:
    """After a power cut, or because somebody wrote into it."""
    (place / "current.txt").write_text(name, encoding="utf-8")
    (place / "previous.txt").write_text(name, encoding="utf-8")

    assert own_windows.current(place) is None
    assert own_windows.before(place, "1.1.0") == "1.0.0"


def test_a_version_that_is_not_whole_is_none(place: Path) -> None:
    """A set-up that was cut off left it; a repaired one lies beside what it replaced."""
    (place / "app-1.0.0/complete").unlink()
    assert own_windows.before(place, "1.1.0") is None
    assert own_windows.folder(place, "1.0.0") is None
    with pytest.raises(FileNotFoundError):
        own_windows.switch(place, "1.0.0")

    windows_versions.finish(place, "app-1.1.0-b")
    assert own_windows.folder(place, "1.1.0") == place / "app-1.1.0"
    (place / "current.txt").write_text("app-1.1.0-b", encoding="ascii")
    assert own_windows.folder(place, "1.1.0") == place / "app-1.1.0-b"
    assert own_windows.current(place) == "1.1.0"
    assert own_windows.current(place / "none") is None


def test_a_versions_own_file_knows_where_it_belongs(place: Path) -> None:
    """A person starts it by hand, because the newer version does nothing any more."""
    found = own_program.installed_in(place / "app-1.0.0")

    assert (found.came, found.versions) == (Came.SETUP, place)
    assert "Windows removes" in own_program.of(place / "app-1.0.0").notes[0]


def test_older_versions_go_by_their_lists(place: Path) -> None:
    """What a person put there stays, a list that leads out of the folder is not followed, and the
    two that the files name are never touched."""
    for name in ("app-0.8.0", "app-0.9.0", "app-1.2.0", "app-1.2.0-b", "app-0.7.0-b"):
        windows_versions.finish(place, name)
    mine = place / "app-0.9.0/_internal/mine.txt"
    mine.write_text("mine", encoding="utf-8")
    outside = place / "outside.txt"
    outside.touch()
    (place / "app-0.8.0/files.txt").write_bytes("..\\outside.txt\r\n".encode("utf-16-le"))
    (place / "app-0.7.0-b/files.txt").unlink()

    own_windows.forget_older(place, {"1.2.0"})

    left = sorted(path.name for path in place.glob("app-*"))
    assert left[:5] == ["app-0.7.0-b", "app-0.8.0", "app-0.9.0", "app-1.0.0", "app-1.1.0"]
    assert left[5:] == ["app-1.2.0-b"]
    assert [path for path in (place / "app-0.9.0").rglob("*") if path.is_file()] == [mine]
    assert outside.exists()
    for name in ("0.7.0", "0.8.0", "0.9.0"):
        assert own_windows.folder(place, name) is None
    mine.unlink()
    own_windows.forget_older(place, ())
    assert (own_windows.current(place), own_windows.before(place, "1.1.0")) == ("1.1.0", "1.0.0")
    assert own_windows.folder(place, "1.2.0") is None


@pytest.mark.parametrize("line", ["{outside}", "\\{outside}", "sub\\{outside}", "link\\mine.txt"])
def test_no_line_of_a_changed_list_leads_out_of_the_folder(place: Path, line: str) -> None:
    """An absolute path, one in the middle of a line, or a link: what lies there stays."""
    old = windows_versions.finish(place, "app-0.9.0")
    outside = place / "outside"
    outside.mkdir()
    (outside / "mine.txt").touch()
    (old / "link").symlink_to(outside, target_is_directory=True)
    changed = line.format(outside=outside / "mine.txt")
    (old / own_windows.LISTED).write_bytes(f"{changed}\r\nweir.exe\r\n".encode("utf-16-le"))

    own_windows.remove_version(old)

    assert (outside / "mine.txt").exists()
    assert not (old / own_windows.PROGRAM).exists()


@pytest.mark.parametrize(
    "line", ["C:\\mine.txt", "C:mine.txt", "sub\\C:\\mine.txt", "sub/C:/mine.txt"]
)
def test_no_line_of_a_changed_list_leads_to_a_drive(place: Path, line: str) -> None:
    """Windows would leave the folder at such a part of a path; on Linux it is a name."""
    old = windows_versions.finish(place, "app-0.9.0")
    named = old.joinpath(*line.replace("\\", "/").split("/"))
    named.parent.mkdir(parents=True, exist_ok=True)
    named.touch()
    (old / own_windows.LISTED).write_bytes(f"{line}\r\nweir.exe\r\n".encode("utf-16-le"))

    own_windows.remove_version(old)

    assert named.exists()
    assert not (old / own_windows.PROGRAM).exists()


def test_a_file_that_cannot_be_removed_keeps_its_list(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window of that version is still open: the next time takes it."""
    old = windows_versions.finish(place, "app-0.9.0")
    unlink = Path.unlink

    def held(path: Path, missing_ok: bool = False) -> None:
        if path.name == own_windows.PROGRAM:
            raise PermissionError(13, "it runs")
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", held)
        own_windows.forget_older(place, ())
    assert (old / own_windows.LISTED).is_file()

    own_windows.forget_older(place, ())

    assert not old.exists()


def test_a_version_of_which_a_window_is_open_stays(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows holds what is loaded, and the rest would be taken from under it."""
    old = windows_versions.finish(place, "app-0.9.0")
    library = old / own_windows.INSIDE / "python311.dll"
    library.write_bytes(b"MZ")
    opening = Path.open

    def held(path: Path, mode: str = "r") -> object:
        if path == library and mode == "r+b":
            raise PermissionError(13, "it is loaded")
        return opening(path, mode)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", held)
        own_windows.forget_older(place, ())
    assert own_windows.folder(place, "0.9.0") == old

    own_windows.forget_older(place, ())

    assert own_windows.folder(place, "0.9.0") is None
