"""Asking for the administrator where there is no Windows; the trial under wine really runs it."""

import ctypes
import sys

import pytest

from studio.host import elevated


def test_the_record_has_the_size_that_windows_checks() -> None:
    """`ShellExecuteExW` refuses any other; 112 bytes in a program of 64 bits."""
    assert ctypes.sizeof(elevated._Info) == 112


@pytest.mark.skipif(sys.platform == "win32", reason="it would ask the tester")
async def test_elsewhere_the_answer_is_no() -> None:
    """Nothing is started."""
    assert await elevated.run("cmd.exe", "/c exit 0") is None
