"""Room on a disk taken before it is needed, only where that costs no writing (fallocate(2))."""

import ctypes
import errno
import os
import sys

_KEEP_SIZE = 0x01
"""FALLOC_FL_KEEP_SIZE (linux/falloc.h): the file looks no longer than it is."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


def allocate(file: int, size: int) -> bool:
    """Take room for the first `size` bytes; return whether the file system could.

    The system call itself, as the C library's `posix_fallocate` writes zeros where the file system
    cannot. Raises: OSError when the disk has not that much.
    """
    if sys.platform != "linux" or size <= 0:
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "fallocate64", None)
    if call is None:
        return False
    call.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    if call(file, _KEEP_SIZE, 0, size) == 0:
        return True
    number = ctypes.get_errno()
    if number in _FULL:
        raise OSError(number, os.strerror(number))
    return False
