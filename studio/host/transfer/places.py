"""Open files by number, read and written at a place: what POSIX has of it and Windows lacks.

On Windows a file is opened so that it can be renamed and removed while it is open, as on POSIX.
"""

import os
import sys
import threading
from pathlib import Path

_TURN = threading.Lock()
"""Where a place has to be sought first, nobody else may seek meanwhile."""


def open_file(path: Path) -> int:
    """Open a file for reading and writing, made if need be. Raises: OSError."""
    if sys.platform == "win32":
        return _open_shared(path)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def read_at(file: int, most_bytes: int, at: int) -> bytes:
    """Return bytes from a place on. Raises: OSError."""
    if sys.platform == "win32":
        return read_seeking(file, most_bytes, at)
    return os.pread(file, most_bytes, at)


def write_at(file: int, data: bytes | memoryview, at: int) -> int:
    """Write bytes from a place on; return how many were. Raises: OSError."""
    if sys.platform == "win32":
        return write_seeking(file, data, at)
    return os.pwrite(file, data, at)


def flush(file: int) -> None:
    """Bring what was written to the disk. Raises: OSError."""
    if sys.platform == "win32":
        os.fsync(file)
    else:
        os.fdatasync(file)


def flush_folder(path: Path) -> None:
    """Bring the names in a folder to the disk; Windows does that by itself. Raises: OSError."""
    if sys.platform != "win32":
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def flush_file(path: Path) -> None:
    """Bring what is in a file to the disk. Raises: OSError."""
    # Windows flushes only what may be written.
    file = open_file(path) if sys.platform == "win32" else os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def read_seeking(file: int, most_bytes: int, at: int) -> bytes:
    """Do as `read_at` does, where there is no call for it. Raises: OSError."""
    found = bytearray()
    with _TURN:
        os.lseek(file, at, os.SEEK_SET)
        while len(found) < most_bytes:
            part = os.read(file, most_bytes - len(found))
            if not part:
                break
            found += part
    return bytes(found)


def write_seeking(file: int, data: bytes | memoryview, at: int) -> int:
    """Do as `write_at` does, where there is no call for it. Raises: OSError."""
    with _TURN:
        os.lseek(file, at, os.SEEK_SET)
        return os.write(file, data)


if sys.platform == "win32":
    import ctypes
    import msvcrt

    _READ_WRITE = 0xC0000000
    _SHARE_ALL = 0x7
    _OPEN_ALWAYS = 4
    _INVALID = ctypes.c_void_p(-1).value

    def _open_shared(path: Path) -> int:
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateFileW.restype = ctypes.c_void_p
        handle = kernel.CreateFileW(
            ctypes.c_wchar_p(str(path)), _READ_WRITE, _SHARE_ALL, None, _OPEN_ALWAYS, 0, None
        )
        if handle in (None, _INVALID):
            raise ctypes.WinError(ctypes.get_last_error())
        return msvcrt.open_osfhandle(handle, os.O_RDWR | os.O_BINARY | os.O_NOINHERIT)
