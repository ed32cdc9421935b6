"""A screen of one's own for windows of other processes."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest


@contextlib.contextmanager
def screen(size: str = "1280x900x24") -> Iterator[str]:
    """Run an X server while inside, and give its DISPLAY.

    The server itself takes a number that is free: `xvfb-run -a` looks first and takes later, and
    two of them at once take the same.
    """
    program = shutil.which("Xvfb")
    if program is None:
        pytest.skip("Xvfb is not on this machine")
    number, theirs = os.pipe()
    command = [program, "-displayfd", str(theirs), "-screen", "0", size, "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[theirs], stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        try:
            with os.fdopen(number) as said:
                line = said.readline().strip()
            assert line, "the X server did not start"
            yield f":{line}"
        finally:
            process.terminate()
