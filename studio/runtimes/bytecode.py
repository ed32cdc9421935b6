"""The bytecode of a runtime, written by its own interpreter on all processors.

The script is `runtimes/tools/compile_sources.py`. What it has in its hands it reads once and writes
once, and it says what that was: the store and the list of files need not read it again.
The other files of the packages are read by the same workers, for the same purpose.
"""

import binascii
import errno
import functools
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import HostLacks
from studio.host import hashing, tools
from studio.host.hashing import Hashed
from studio.host.meter import Meter
from studio.host.paths import Paths
from studio.host.threads import in_thread
from studio.runtimes.packages import site_packages
from studio.runtimes.store import Read

logger = logging.getLogger(__name__)

_TOOL = "compile_sources.py"
REPORT_FOLDER = "compiled"
"""What the workers say of an installation, in its folder, as long as they work."""
_TIMEOUT_S = 1800.0
_SHOWN = 5

Row = tuple[str, int, int, int, bool, str]
"""Path, inode, size, time in nanoseconds, whether it is executable, sha256."""


async def compile_packages(paths: Paths, root: Path, python: Path, meter: Meter) -> dict[str, Read]:
    """Write the bytecode that the packages of the runtime in `root` lack.

    Return what was read and written, files that are no sources included, by its path in the
    runtime: what a run that was cut off had compiled already is not among it. Files that cannot be
    compiled are left to the probe.

    Not by uv: where all packages are installed it has nothing to do and compiles nothing, and what
    it compiles would be read again for its digest.
    Raises: OSError, HostLacks (`program-missing`, `compiler-ended`).
    """
    report = root / REPORT_FOLDER
    await in_thread(functools.partial(_empty, report))
    meter.begin("Compiling bytecode")
    await _compile(paths, python, [site_packages(python)], report=report, meter=meter)
    return await in_thread(functools.partial(_taken, root, report))


async def compile_folder(paths: Paths, python: Path, folder: Path) -> None:
    """Compile what has no bytecode yet. Raises: as `compile_packages`."""
    await _compile(paths, python, [folder])


async def compile_modules(paths: Paths, python: Path, modules: Sequence[Path]) -> None:
    """Compile single sources, whose older bytecode is gone. Raises: as `compile_packages`."""
    if modules:
        await _compile(paths, python, modules)


async def _compile(
    paths: Paths,
    python: Path,
    places: Sequence[Path],
    *,
    report: Path | None = None,
    meter: Meter | None = None,
) -> None:
    asked = {
        "places": [str(place) for place in places],
        "report": str(report) if report is not None else None,
    }
    failure = await _compiled(paths, python, asked | {"workers": hashing.cores()}, meter)
    if failure is not None:
        # Whom the kernel ends for want of memory leaves files without bytecode, which one alone, on
        # its second way through, makes good.
        logger.warning("the compiler was ended: %s; once more, by one alone", failure.evidence)
        failure = await _compiled(paths, python, asked | {"workers": 1}, meter)
    if failure is not None:
        raise failure


async def _compiled(
    paths: Paths, python: Path, asked: Mapping[str, object], meter: Meter | None
) -> HostLacks | None:
    """Run the script; return what it could not finish for. Raises: as `compile_packages`."""
    heard = _Heard(meter)
    result = await tools.run_tool(
        python,
        tools.tool_file(paths, _TOOL),
        [msgspec.json.encode(asked).decode()],
        timeout_s=_TIMEOUT_S,
        on_line=heard.on_line,
    )
    if heard.fault is not None:
        raise heard.fault
    if result.exit_code == 0 and not result.timed_out:
        return None
    return _ended(-result.exit_code if result.exit_code < 0 else heard.signal, result.tail)


def _ended(number: int | None, tail: Sequence[str]) -> HostLacks:
    message = "The compiler of the bytecode failed twice."
    if number is not None:
        message = f"The system ended the compiler of the bytecode with signal {number}, twice."
    return HostLacks(
        "compiler-ended",
        message,
        hint="A system ends programs when it runs out of memory: close others, then run it again. "
        "It goes on where it was.",
        evidence=tuple(tail[-_SHOWN:]),
    )


class _Heard:
    """What the script says, as progress and as a failure."""

    def __init__(self, meter: Meter | None) -> None:
        self.fault: OSError | None = None
        self.signal: int | None = None
        """By which a worker was ended."""
        self._meter = meter

    def on_line(self, line: str) -> None:
        """Take up a line."""
        word, _blank, rest = line.partition(" ")
        if word == "DONE" and self._meter is not None:
            self._meter.advance(int(rest))
        elif word == "TOTAL" and self._meter is not None:
            self._meter.begin("Compiling bytecode", total=int(rest) or None, unit="bytes")
        elif word == "ENDED":
            self.signal = int(rest)
        elif word == "FAULT":
            code, _blank, path = rest.partition(" ")
            number = int(code) or errno.EIO
            self.fault = OSError(number, os.strerror(number), path)


def _empty(report: Path) -> None:
    shutil.rmtree(report, ignore_errors=True)
    report.mkdir(parents=True, exist_ok=True)


def _taken(root: Path, report: Path) -> dict[str, Read]:
    """Return what the workers reported; a report that is not whole counts for nothing."""
    start = f"{root}/"
    known: dict[str, Read] = {}
    for file in report.glob("*.json"):
        try:
            rows = msgspec.json.decode(file.read_bytes(), type=list[Row])
        except (OSError, msgspec.DecodeError):
            continue
        for path, inode, size, mtime_ns, is_executable, digest in rows:
            hashed = Hashed(size, mtime_ns, is_executable, binascii.unhexlify(digest))
            known[path.removeprefix(start)] = Read(inode, hashed)
    shutil.rmtree(report, ignore_errors=True)
    return known
