"""The .run: what is in it does not depend on where it was made."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from installer import selfextract
from tests.installer.masks import masked

pytestmark = pytest.mark.skipif(shutil.which("makeself") is None, reason="makeself is not here")


def test_the_same_folder_gives_the_same_bytes_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """makeself writes its own command line into the file, and with it the builder's folders."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    frozen = tmp_path / "weir-studio"
    frozen.mkdir()
    (frozen / "weir").write_text("#!/bin/sh\n", encoding="ascii")
    made = []
    for name, mask in (("here", 0o022), ("elsewhere of zoë", 0o077)):
        work = tmp_path / name
        work.mkdir()
        with masked(mask):
            made.append(selfextract.build(frozen, work, work / "out", "1.2.3").read_bytes())
        assert not (work / "weir-studio-1.2.3-linux-x86_64.run").exists()

    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0]


def test_a_machine_without_xz_and_half_a_file_are_told_what_to_do(tmp_path: Path) -> None:
    """A minimal Debian has no xz; `xz: not found` after a bar of progress helps nobody."""
    frozen = tmp_path / "weir-studio"
    frozen.mkdir()
    (frozen / "weir").write_text("#!/bin/sh\n", encoding="ascii")
    package = selfextract.build(frozen, tmp_path, tmp_path / "out", "1.2.3")
    (tmp_path / "bin").mkdir()

    without = subprocess.run(
        ["/bin/sh", str(package)], env={"PATH": str(tmp_path / "bin")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    (tmp_path / "half.run").write_bytes(package.read_bytes()[:-9])
    half = subprocess.run(
        ["sh", str(tmp_path / "half.run")], capture_output=True, text=True, check=False
    )
    whole = subprocess.run(
        [str(package), "--check"], env=dict(os.environ), capture_output=True, text=True, check=False
    )

    assert without.returncode == 1
    assert without.stderr.splitlines() == [
        "error: This file is packed with xz, which is missing here.",
        "hint: On Debian and Ubuntu: sudo apt install xz-utils",
    ]
    size = package.stat().st_size
    assert half.returncode == 1
    assert f"is not whole: it has {size - 9} bytes of {size}." in half.stderr
    assert whole.returncode == 0, whole.stderr
