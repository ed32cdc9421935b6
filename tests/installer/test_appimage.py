"""The AppImage, with a stand-in for its runtime that only knows how to unpack."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from installer import appimage
from tests.installer.masks import masked

pytestmark = pytest.mark.skipif(shutil.which("mksquashfs") is None, reason="squashfs-tools")

RUNTIME = """\
#!/bin/sh
[ "$1" = --appimage-extract-and-run ] && shift
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
tail -c +{size} "$0" > "$folder/image"
unsquashfs -quiet -no-progress -d "$folder/tree" "$folder/image" >/dev/null
APPIMAGE=$(readlink -f "$0") "$folder/tree/AppRun" "$@"
exit $?
"""


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """Return the stand-in: a script that ends where the image begins."""
    path = tmp_path / "runtime"
    size = len(RUNTIME.format(size="0000")) + 1
    path.write_text(RUNTIME.format(size=f"{size:04}"), encoding="ascii")
    return path


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    """Return a stand-in of the frozen folder."""
    folder = tmp_path / "frozen"
    folder.mkdir()
    (folder / "weir").write_text('#!/bin/sh\necho "$APPIMAGE: $*"\n', encoding="ascii")
    (folder / "weir").chmod(0o755)
    return folder


def build(frozen: Path, out: Path, runtime: Path) -> Path:
    """Build it."""
    out.mkdir()
    sha256 = hashlib.sha256(runtime.read_bytes()).hexdigest()
    return appimage.build(frozen, out, out, "1.0.0", runtime=runtime, sha256=sha256)


def test_one_file_runs_without_being_mounted_and_a_double_click_is_the_window(
    frozen: Path, runtime: Path, tmp_path: Path
) -> None:
    """In a folder that is not easy; equal inputs give equal bytes."""
    package = build(frozen, tmp_path / "öut put", runtime)
    command = [str(package), "--appimage-extract-and-run"]

    said = subprocess.run([*command, "status"], capture_output=True, text=True, check=True)
    opened = subprocess.run(command, capture_output=True, text=True, check=True)

    assert said.stdout == f"{package}: status\n"
    assert opened.stdout == f"{package}: ui\n"
    with masked(0o077):
        again = build(frozen, tmp_path / "again", runtime)
    assert again.read_bytes() == package.read_bytes()
    assert os.access(package, os.X_OK)


def test_another_runtime_than_the_one_meant_is_refused(
    frozen: Path, runtime: Path, tmp_path: Path
) -> None:
    """It would run on every person's machine."""
    with pytest.raises(RuntimeError, match="nothing was built"):
        appimage.build(frozen, tmp_path, tmp_path, "1.0.0", runtime=runtime, sha256="0" * 64)
    assert not list(tmp_path.glob("*.AppImage"))
