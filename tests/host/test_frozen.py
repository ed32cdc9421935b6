"""A frozen program and what it starts."""

import sys
from pathlib import Path

import pytest

from studio.host import frozen


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a program that thinks it is frozen."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    return tmp_path


def test_a_child_gets_its_libraries_as_if_we_were_not_frozen(packed: Path) -> None:
    """The engine's own libssl, and not the window's."""
    environ = {
        "LD_LIBRARY_PATH": str(packed),
        "LD_LIBRARY_PATH_ORIG": "/opt/cuda/lib",
        "_PYI_APPLICATION_HOME_DIR": str(packed),
        "HOME": "/home/x",
    }

    frozen.restore_environment(environ)

    assert environ == {"LD_LIBRARY_PATH": "/opt/cuda/lib", "HOME": "/home/x"}


def test_where_nothing_was_set_nothing_is_left(packed: Path) -> None:
    """The starter sets the variable also where there was none."""
    environ = {"LD_LIBRARY_PATH": str(packed)}

    frozen.restore_environment(environ)

    assert environ == {}


def test_a_checkout_keeps_its_environment() -> None:
    """There it is the person's own."""
    environ = {"LD_LIBRARY_PATH": "/mine", "LD_LIBRARY_PATH_ORIG": "/other"}

    frozen.restore_environment(environ)

    assert not frozen.is_frozen()
    assert environ == {"LD_LIBRARY_PATH": "/mine", "LD_LIBRARY_PATH_ORIG": "/other"}


def test_a_program_in_the_package_is_found(packed: Path) -> None:
    """One that is not there is left to the search elsewhere."""
    (packed / "bin").mkdir()
    (packed / "bin/uv").touch()

    assert frozen.program("uv") == packed / "bin/uv"
    assert frozen.program("git") is None


def test_all_of_a_frozen_package_is_loaded_but_what_is_left_out(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update may take the file from under a running service."""
    package = packed / "half_loaded"
    (package / "window").mkdir(parents=True)
    for name in ("__init__", "one", "window/__init__", "window/two"):
        (package / f"{name}.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(packed))

    frozen.load_all("half_loaded", but=("half_loaded.window",))

    assert "half_loaded.one" in sys.modules
    assert "half_loaded.window.two" not in sys.modules
