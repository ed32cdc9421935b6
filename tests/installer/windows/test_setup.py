"""The setup program, from a stand-in of the frozen folder."""

import shutil
from pathlib import Path

import pytest

from installer.windows import setup


@pytest.fixture
def payload(tmp_path: Path) -> Path:
    """Return a folder as it is frozen for Windows."""
    folder = tmp_path / "päyload"
    (folder / "_internal/lib").mkdir(parents=True)
    (folder / setup.PROGRAM).write_bytes(b"MZ")
    (folder / "_internal/lib/ä b.dll").write_bytes(b"MZ")
    return folder


def test_files_are_listed_as_windows_writes_them(payload: Path) -> None:
    """And folders after them, the inner one first: then each is empty when its turn comes."""
    assert setup.listing(payload).split("\r\n") == [
        "_internal\\lib\\ä b.dll", "weir-studio.exe", "_internal\\lib\\", "_internal\\", "",
    ]  # fmt: skip


@pytest.mark.skipif(shutil.which("makensis") is None, reason="nsis")
def test_equal_folders_give_equal_programs(
    payload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever builds it again can compare."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made.append(setup.build(payload, tmp_path / name, tmp_path / name, "1.0.0"))

    assert made[0].read_bytes()[:2] == b"MZ"
    assert made[0].read_bytes() == made[1].read_bytes()
    assert (payload / setup.PROGRAM).is_file()


def test_a_folder_that_is_not_right_is_refused(payload: Path, tmp_path: Path) -> None:
    """Without the program, or with what only a test puts there."""
    (payload / "icuuc.dll").touch()
    with pytest.raises(RuntimeError, match=r"icuuc\.dll"):
        setup.build(payload, tmp_path, tmp_path, "1.0.0")
    (payload / setup.PROGRAM).unlink()
    with pytest.raises(RuntimeError, match=r"weir-studio\.exe"):
        setup.build(payload, tmp_path, tmp_path, "1.0.0")
