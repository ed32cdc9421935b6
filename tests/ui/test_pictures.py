"""What the window writes among the system's temporary files."""

import os
import time
from pathlib import Path

import pytest

from studio.ui import pictures
from studio.ui.pictures import Pictures

GONE = 4_190_000
"""Above the most that a process can be numbered with here."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that Qt takes for temporary files."""
    monkeypatch.setattr(pictures.QDir, "tempPath", lambda: str(tmp_path))
    return tmp_path


def test_nothing_is_left_when_the_window_is_closed(temporary: Path) -> None:
    """Each start left a folder in /tmp before, also after the Studio was removed."""
    made = Pictures()
    folder = made.folder
    assert folder is not None
    (folder / "check.png").write_bytes(b"picture")

    made.end()

    assert list(temporary.iterdir()) == []


def test_what_a_killed_window_left_is_swept_by_the_next_one_and_nothing_else(
    temporary: Path,
) -> None:
    """Not that of a window that lives, of another container, or what is no window's at all."""
    here = pictures._place()
    left = (f"weir-studio-{GONE}-{here}-abc", f"weir-studio-{GONE}-1-long-ago")
    stays = (
        f"weir-studio-{os.getpid()}-{here}-abc", f"weir-studio-{GONE}-1-abc",
        f"weir-studio-{GONE}-abc", "weir-studio-notes-long-ago", "weir-studio-rootfs-abc",
    )  # fmt: skip
    for name in (*left, *stays):
        (temporary / name).mkdir()
        (temporary / name / "check.png").write_bytes(b"picture")
        if name.endswith("-long-ago"):
            long_ago = time.time() - 100_000
            os.utime(temporary / name, (long_ago, long_ago))
    made = Pictures()
    assert made.folder is not None

    made.sweep()

    assert {path.name for path in temporary.iterdir()} == {*stays, made.folder.name}
    made.end()


def test_what_is_another_persons_or_only_led_to_stays(
    temporary: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`/tmp` is everybody's."""
    mine = tmp_path_factory.mktemp("mine")
    (mine / "letter").write_text("dear")
    name = f"weir-studio-{GONE}-{pictures._place()}"
    (temporary / f"{name}-link").symlink_to(mine, target_is_directory=True)
    (temporary / f"{name}-file").write_text("")
    made = Pictures()

    made.sweep()
    monkeypatch.setattr(os, "getuid", lambda: -1)
    (temporary / f"{name}-theirs").mkdir()
    made.sweep()

    assert (mine / "letter").exists()
    found = {path.name.rpartition("-")[2] for path in temporary.iterdir()}
    assert {"link", "file", "theirs"} <= found
    made.end()
