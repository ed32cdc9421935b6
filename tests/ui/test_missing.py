"""Why there is no window here, as a person reads it."""

import ctypes
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from studio.domain.errors import HostLacks
from studio.ui import missing

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_QT = """
import runpy, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "shiboken6":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
sys.argv = ["weir", "ui"]
runpy.run_module("studio", run_name="__main__")
"""


def test_an_installation_without_qt_says_where_a_window_is(tmp_path: Path) -> None:
    """What `--headless` installs: PySide6's own words, with every folder of Python, help nobody."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_QT],
        cwd=ROOT,
        env={**os.environ, "WEIR_HOME": str(tmp_path), "DISPLAY": ":0"},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 4
    assert "code: window-missing" in done.stderr
    assert "weir ui --ssh" in " ".join(done.stderr.split())
    for raw in ("No module named", "Shiboken", "sys.path", "Traceback"):
        assert raw not in done.stderr


def test_a_missing_library_is_named_with_what_brings_it() -> None:
    """A server without OpenGL: the loader's sentence becomes one with a remedy."""
    found = missing.from_import(
        ImportError("libEGL.so.1: cannot open shared object file: No such file or directory")
    )

    assert found is not None
    assert (found.code, found.exit_status) == ("window-missing", 4)
    assert "the library libEGL.so.1 is missing" in found.message
    assert "apt install" in str(found.hint)
    assert "--ssh" in str(found.hint)


def test_qt_that_cannot_be_loaded_keeps_its_reason_as_evidence() -> None:
    """A damaged installation, or Windows without its runtime: words differ, so they are shown."""
    found = missing.from_import(
        ImportError("DLL load failed while importing QtCore", path="C:/x/PySide6/QtCore.pyd")
    )

    assert found is not None
    assert found.evidence == ("DLL load failed while importing QtCore",)


def test_a_fault_of_our_own_is_not_blamed_on_qt() -> None:
    """A module that we forgot must come out as the mistake that it is."""
    assert missing.from_import(ModuleNotFoundError("x", name="studio.ui.nowhere")) is None


def test_a_plugin_that_lacks_a_library_is_refused_before_qt_aborts(tmp_path: Path) -> None:
    """Without libxcb-cursor Qt ends the process with a core dump."""
    (tmp_path / "platforms").mkdir()
    (tmp_path / "platforms/libqxcb.so").touch()

    def load(_name: str) -> ctypes.CDLL:
        raise OSError("libxcb-cursor.so.0: cannot open shared object file: No such file")

    with pytest.raises(HostLacks, match=r"library libxcb-cursor\.so\.0 is missing"):
        missing.require_x11({"DISPLAY": ":0"}, tmp_path, load=load)
    missing.require_x11({"WAYLAND_DISPLAY": "wayland-0"}, tmp_path, load=load)
    missing.require_x11({"QT_QPA_PLATFORM": "offscreen", "DISPLAY": ":0"}, tmp_path, load=load)


def test_the_screen_is_held_until_qt_has_it(tmp_path: Path) -> None:
    """Xvfb starts anew when its only client leaves, and Qt aborted in that moment."""
    (tmp_path / "platforms").mkdir()
    (tmp_path / "platforms/libqxcb.so").touch()
    gone: list[int] = []

    def connect(_display: None, _screen: None) -> int:
        return 7

    def has_error(_connection: int) -> int:
        return 0

    library = types.SimpleNamespace(
        xcb_connect=connect, xcb_connection_has_error=has_error,
        xcb_disconnect=lambda connection: gone.append(connection),
    )  # fmt: skip

    let_go = missing.require_x11({"DISPLAY": ":0"}, tmp_path, load=lambda _name: library)

    assert gone == []
    let_go()
    assert gone == [7]


def test_a_screen_that_does_not_answer_is_said_so(tmp_path: Path) -> None:
    """DISPLAY left over from a login that ended: Qt would abort with a core dump."""
    hidden = ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-m", "studio", "ui"],
        cwd=ROOT,
        env={**environment, "WEIR_HOME": str(tmp_path), "DISPLAY": ":4711"},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 4
    assert "code: no-display" in done.stderr
    assert "DISPLAY=:4711" in done.stderr
