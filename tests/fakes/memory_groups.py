"""Real limits of a real kernel for tests: a control group, a swap file, a small disk.

Each needs root and a machine that allows it; where it does not, the test is skipped.
"""

import contextlib
import errno
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.waiting import until

_FIRST = Path("/sys/fs/cgroup/memory")
_SECOND = Path("/sys/fs/cgroup")


class Group:
    """A control group for memory."""

    def __init__(self, folder: Path, *, is_first: bool) -> None:
        self.folder = folder
        self._limit = folder / ("memory.limit_in_bytes" if is_first else "memory.max")
        self._none = "-1" if is_first else "max"

    def limit(self, size: int | None) -> None:
        """Allow so many bytes; None: as many as there are.

        The kernel refuses while it cannot push out enough of what is just being used.
        """
        text = self._none if size is None else str(size)
        until(lambda: self._is_accepted(text), f"the limit {text}")

    def _is_accepted(self, text: str) -> bool:
        try:
            self._limit.write_text(text)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            return False
        return True

    def take(self, *pids: int) -> None:
        """Put processes into it; what they hold already stays where it was counted."""
        for pid in pids:
            (self.folder / "cgroup.procs").write_text(str(pid))

    def pids(self) -> list[int]:
        """Return who lies in it."""
        return [int(one) for one in (self.folder / "cgroup.procs").read_text().split()]


@contextlib.contextmanager
def group(name: str) -> Iterator[Group]:
    """Yield a new control group, and remove it with everybody in it moved out."""
    is_first = (_FIRST / "memory.limit_in_bytes").exists()
    base = _FIRST if is_first else _SECOND
    folder = base / name
    try:
        folder.mkdir()
        made = Group(folder, is_first=is_first)
        made.limit(None)
    except OSError as error:
        with contextlib.suppress(OSError):
            folder.rmdir()
        pytest.skip(f"no control group can be made here: {error.strerror}")
    try:
        yield made
    finally:
        made.limit(None)
        for pid in made.pids():
            with contextlib.suppress(OSError):
                (base / "cgroup.procs").write_text(str(pid))
        until(lambda: _is_removed(folder), "the end of the control group")


def _is_removed(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        folder.rmdir()
    return not folder.exists()


@contextlib.contextmanager
def swap_file(folder: Path, size: int) -> Iterator[Path]:
    """Yield a swap file that is in use, and take it away again."""
    if shutil.which("mkswap") is None or shutil.which("swapon") is None:
        pytest.skip("mkswap and swapon are not here")
    file = folder / "swap"
    with file.open("wb") as opened:  # written, not only reserved: swap wants no holes
        for _ in range(size >> 20):
            opened.write(b"\0" * (1 << 20))
    file.chmod(0o600)
    subprocess.run(["mkswap", str(file)], check=True, capture_output=True)
    done = subprocess.run(["swapon", str(file)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        file.unlink()
        pytest.skip(f"swap cannot be switched on here: {done.stderr.strip()}")
    try:
        yield file
    finally:
        subprocess.run(["swapoff", str(file)], check=True, capture_output=True)
        file.unlink()


@contextlib.contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """Yield a folder on a disk of `size` bytes."""
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "weir-test", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True, capture_output=True)
