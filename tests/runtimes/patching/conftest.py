"""A folder in memory, where a flush costs nothing, if the machine has one."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def quick_path(tmp_path: Path) -> Iterator[Path]:
    """Return an empty folder, removed afterwards."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="weir-test-", dir="/dev/shm"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
