"""What only the window needs, told from the libraries' own lists."""

import shutil
import subprocess
from pathlib import Path

import pytest

from installer import window_only


def library(path: Path, *needs: Path) -> Path:
    """Make a shared library that needs others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = ["cc", "-shared", "-nostdlib", f"-Wl,-soname,{path.name}", "-Wl,--no-as-needed"]
    subprocess.run(
        [*command, "-x", "c", "/dev/null", "-x", "none", *map(str, needs), "-o", str(path)],
        check=True,
    )
    return path


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    """Return a frozen folder: Qt needs X11, which needs Xau; a module and Qt need z."""
    if shutil.which("cc") is None or shutil.which("patchelf") is None:
        pytest.skip("needs a C compiler and patchelf")
    inside = tmp_path / "weir-studio/_internal"
    z, xau = library(inside / "libz.so.1"), library(inside / "libXau.so.6")
    x11 = library(inside / "libX11.so.6", xau)
    library(inside / "PySide6/Qt/lib/libQt6Gui.so.6", x11, z)
    library(inside / "cryptography/_rust.abi3.so", z)
    (inside / "libQt6Gui.so.6").symlink_to("PySide6/Qt/lib/libQt6Gui.so.6")
    for name in ("fonts/a.woff2", "release.toml"):
        (inside / "assets" / name).parent.mkdir(parents=True, exist_ok=True)
        (inside / "assets" / name).touch()
    return tmp_path / "weir-studio"


def test_what_a_module_needs_stays(frozen: Path) -> None:
    """A library that Qt shares with the rest is not the window's."""
    assert window_only.parts(frozen) == [
        "_internal/PySide6",
        "_internal/assets/fonts",
        "_internal/libQt6Gui.so.6",
        "_internal/libX11.so.6",
        "_internal/libXau.so.6",
    ]


def test_without_the_window_the_rest_is_whole(frozen: Path) -> None:
    """By the list that came along."""
    window_only.write(frozen)
    window_only.remove(frozen)

    left = {path.name for path in (frozen / "_internal").rglob("*") if path.is_file()}
    assert left == {"libz.so.1", "_rust.abi3.so", "release.toml"}
