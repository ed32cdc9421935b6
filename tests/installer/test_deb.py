"""The .deb: what is in it does not depend on who made it, and where."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from installer import deb
from tests.installer.masks import masked

pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not here")


def test_the_same_folder_gives_the_same_bytes_anywhere_and_for_anybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever keeps new files to himself would make a package that others cannot read."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    frozen = tmp_path / "weir-studio"
    frozen.mkdir()
    (frozen / "weir").write_text("#!/bin/sh\n", encoding="ascii")
    (frozen / "weir").chmod(0o755)
    os.utime(frozen / "weir", (1_700_000_000, 1_700_000_000))
    made = []
    for name, mask in (("here", 0o022), ("elsewhere of zoë", 0o077)):
        with masked(mask):
            (tmp_path / name).mkdir()
            work = tmp_path / name
            made.append(deb.build(frozen, work, work / "out", "1.2.3"))

    assert made[0].read_bytes() == made[1].read_bytes()
    listed = subprocess.run(
        ["dpkg-deb", "--contents", str(made[1])], capture_output=True, text=True, check=True
    )
    modes = {line.split()[-1]: line[:10] for line in listed.stdout.splitlines()}
    assert modes["./opt/weir-studio/weir"] == "-rwxr-xr-x"
    assert modes["./usr/share/applications/weir-studio.desktop"] == "-rw-r--r--"
    assert modes["./usr/share/applications/"] == "drwxr-xr-x"
