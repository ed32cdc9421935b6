"""Runs a program of Windows as administrator: Windows asks the person, we wait for the end.

`ShellExecuteExW` with the verb `runas` (Microsoft, "ShellExecuteExW function"; layout and numbers
from `shellapi.h`).
"""

import asyncio
import ctypes
import sys

_KEEP_PROCESS = 0x40
"""SEE_MASK_NOCLOSEPROCESS: we want to wait for it."""
_AT_ONCE = 0x100
"""SEE_MASK_NOASYNC: this thread has no messages to handle meanwhile."""
_HIDDEN = 0
_WAIT_MS = 120_000


class _Info(ctypes.Structure):
    """SHELLEXECUTEINFOW."""

    _fields_ = (
        ("size", ctypes.c_uint32), ("mask", ctypes.c_uint32), ("window", ctypes.c_void_p),
        ("verb", ctypes.c_wchar_p), ("file", ctypes.c_wchar_p), ("parameters", ctypes.c_wchar_p),
        ("folder", ctypes.c_wchar_p), ("show", ctypes.c_int), ("instance", ctypes.c_void_p),
        ("ids", ctypes.c_void_p), ("class_name", ctypes.c_wchar_p), ("class_key", ctypes.c_void_p),
        ("hot_key", ctypes.c_uint32), ("icon", ctypes.c_void_p), ("process", ctypes.c_void_p),
    )  # fmt: skip


async def run(program: str, parameters: str) -> int | None:
    """Return the exit status; None when the person said no, or it did not end in two minutes."""
    return await asyncio.to_thread(_run, program, parameters)


def _run(program: str, parameters: str) -> int | None:
    if sys.platform == "win32":
        info = _Info(
            size=ctypes.sizeof(_Info), mask=_KEEP_PROCESS | _AT_ONCE, verb="runas", file=program,
            parameters=parameters, show=_HIDDEN,
        )  # fmt: skip
        if not ctypes.windll.shell32.ShellExecuteExW(ctypes.byref(info)) or not info.process:
            return None
        kernel = ctypes.windll.kernel32
        process = ctypes.c_void_p(info.process)
        try:
            if kernel.WaitForSingleObject(process, _WAIT_MS) != 0:
                return None
            status = ctypes.c_uint32()
            kernel.GetExitCodeProcess(process, ctypes.byref(status))
            return int(status.value)
        finally:
            kernel.CloseHandle(process)
    return None
