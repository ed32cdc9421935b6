"""Windows' performance counters, from a file: `tests/fakes/windows/pdh.c` as a library of Linux."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "windows/pdh.c"


def built(folder: Path) -> ctypes.CDLL:
    """Compile the stand-in into `folder`; skips the test where there is no compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler for the stand-in of Windows' counters: apt-get install gcc")
    made = folder / "libpdh.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(SOURCE)], check=True)
    return ctypes.CDLL(str(made))
