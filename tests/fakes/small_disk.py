"""A disk that is really full soon: a file system in memory of a size of its own."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, size_bytes: int) -> Iterator[Path]:
    """Yield a folder on a disk of that size; skips the test where nobody may mount one."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=700", "weir-test"]
    if shutil.which("mount") is None:
        pytest.skip("there is no mount here")
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no disk of its own: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        if folder.is_mount():  # a test may have taken it off
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
