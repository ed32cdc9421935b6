"""One window a folder."""

import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.ui.single import LOCK, SOCKET, Single

ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from studio.ui.single import Single

application = QCoreApplication([])
single = Single(Path(sys.argv[1]))
print(single.take(), flush=True)
application.exec()
"""

CALLER = """
import sys
from pathlib import Path
from studio.ui.single import Single

print(Single(Path(sys.argv[1])).call())
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a folder with a name that is not simple."""
    folder = tmp_path / "Jörg's"
    folder.mkdir()
    return folder


def held(home: Path) -> "subprocess.Popen[str]":
    """Return a process that is the first window of `home`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


def test_a_second_window_is_told_and_calls_the_first(qtbot: QtBot, home: Path) -> None:
    """Two windows would show the same service twice."""
    first, second = Single(home), Single(home)
    assert first.take()
    assert not second.take()

    with (
        qtbot.waitSignal(first.called),
        subprocess.Popen(
            [sys.executable, "-c", CALLER, str(home)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as caller,
    ):
        qtbot.waitUntil(lambda: caller.poll() is not None)
        assert caller.communicate()[0] == "True\n"

    first.release()
    assert second.take()
    second.release()


def test_what_a_killed_window_left_behind_is_in_nobodys_way(home: Path) -> None:
    """After a crash the window has to open again."""
    process = held(home)
    with process:
        assert not Single(home).take()
        process.kill()
        process.wait()
    assert (home / LOCK).exists()
    assert (home / SOCKET).exists()

    heir = Single(home)

    assert heir.take()
    heir.release()


def test_two_folders_have_two_windows(home: Path, tmp_path: Path) -> None:
    """A second Studio beside the first is a thing of its own."""
    one, other = Single(home), Single(tmp_path)

    assert one.take()
    assert other.take()
    one.release()
    other.release()


def test_a_first_window_that_does_not_answer_is_not_waited_for_for_ever(home: Path) -> None:
    """The second start has to say so instead of hanging."""
    assert not Single(home).call(patience_ms=120)


def test_a_folder_that_takes_no_lock_still_gets_its_window(tmp_path: Path) -> None:
    """A folder that is gone, or a path too long for a socket, must not keep the window away."""
    assert Single(tmp_path / "gone").take()
    assert Single(tmp_path / ("long" * 40)).take()
