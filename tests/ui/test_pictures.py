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


def test_what_a_window_left_that_was_killed_is_swept_and_nothing_else(temporary: Path) -> None:
    """Not that of a window that lives, a young one, or somebody else's."""
    names = (f"weir-studio-{GONE}-old", f"weir-studio-{GONE}-young",
             f"weir-studio-{os.getpid()}-old", "weir-studio-notes-old")  # fmt: skip
    for name in names:
        (temporary / name).mkdir()
        if name.endswith("-old"):
            long_ago = time.time() - 100_000
            os.utime(temporary / name, (long_ago, long_ago))

    Pictures().end()

    assert {path.name for path in temporary.iterdir()} == set(names[1:])
