"""A Windows to try things in: a fresh wine prefix with a name that trips what cannot spell.

wine 8 lacks libraries that Windows 10 has, and that Qt and Rust ask for; stand-ins of the tests
lie in the prefix for them, never in a package. So do a `wsl.exe` and an `nvml.dll` that answer from
files.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from installer import freeze

FAKES = freeze.ROOT / "tests/fakes"
COMPILER = "x86_64-w64-mingw32-gcc"
PROGRAMS = {
    "wine": "wine", "wineboot": "wine", COMPILER: "gcc-mingw-w64-x86-64", "Xvfb": "xvfb",
    "openbox": "openbox", "import": "imagemagick", "xwininfo": "x11-utils",
}  # fmt: skip
_LIBRARIES = ("icuuc", "mscms", "bcryptprimitives")
_OURS = "mscms,pdh,netsh.exe,powershell.exe"
"""Of these, wine has some of its own, which it would take before those of a test."""


class Done(NamedTuple):
    """How a program ended."""

    status: int
    text: str


class Prefix:
    """One Windows."""

    def __init__(self, folder: Path) -> None:
        """Make it in `folder`, which is new. Raises: RuntimeError."""
        self.folder = folder
        self.drive = folder / "drive_c"
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "WINEPREFIX": str(folder), "WINEDEBUG": "-all", "WINEARCH": "win64",
            "WINEDLLOVERRIDES": f"{_OURS}=n,b;winemenubuilder.exe=d",
            "WINEQT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        folder.mkdir(parents=True)
        self._tool("wineboot", "-i")
        self._tool("winecfg", "-v", "win10")
        for name in _LIBRARIES:
            self.library(name, FAKES / f"windows/{name}.c")

    @property
    def system(self) -> Path:
        """Return its System32."""
        return self.drive / "windows/system32"

    def library(self, name: str, source: Path) -> None:
        """Put a library of the tests into it."""
        command = [COMPILER, "-shared", "-O1", "-o", str(self.system / f"{name}.dll"), str(source)]
        command += ["-static", "-lpthread"]
        subprocess.run(command, check=True)

    def program(self, name: str, source: Path, *, status: int = 0) -> None:
        """Put a program of the tests into it, which ends with `status`."""
        command = [COMPILER, "-municode", "-O1", f"-DSTATUS={status}"]
        subprocess.run([*command, "-o", str(self.system / name), str(source)], check=True)

    def run(self, program: Path | str, *words: str, within_s: float = 300, **extra: str) -> Done:
        """Run a program of Windows to its end; standard streams must be there, also for wine."""
        done = subprocess.run(
            ["wine", str(program), *words],
            env={**self.environment, **extra}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=within_s, check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout.decode("utf-8", "replace"))

    def start(self, program: Path, *words: str, **extra: str) -> "subprocess.Popen[bytes]":
        """Start a program of Windows and go on.

        Wine's own services are there before it, with nobody's pipe: they stay as long as it does,
        and what starts them next would be waited for as long, because they inherit what it says to.
        """
        self._tool("wine", "cmd", "/c", "rem")
        return subprocess.Popen(
            ["wine", str(program), *words], env={**self.environment, **extra},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def set_variable(self, name: str, value: str) -> None:
        """Give the person a variable, as Windows' settings do."""
        self.register("Environment", **{name: value})

    def register(self, key: str, **values: str) -> None:
        """Write texts into a key of the person's registry."""
        for name, value in values.items():
            place = rf"HKEY_CURRENT_USER\{key}"
            self._tool("wine", "reg", "add", place, "/v", name, "/d", value, "/f")

    def unregister(self, key: str) -> None:
        """Remove a key of the person's registry, with all in it."""
        self._tool("wine", "reg", "delete", rf"HKEY_CURRENT_USER\{key}", "/f")

    @property
    def socket(self) -> Path:
        """Return what wine's server listens on; Debian's wine notes in the prefix where it lies."""
        about, noted = self.folder.stat(), self.folder / "wineserver"
        place = noted.read_text(encoding="ascii") if noted.is_file() else f".wine-{os.getuid()}"
        return Path("/tmp", place, f"server-{about.st_dev:x}-{about.st_ino:x}", "socket")

    def settle(self) -> None:
        """Wait until nothing runs in it, and its registry is written down."""
        self._tool("wineserver", "-w")

    def end(self) -> None:
        """End everything that runs in it, also what has lost its server and waits for ever."""
        subprocess.run(["wineserver", "-k"], env=self.environment, check=False)
        for pid in self._processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _processes(self) -> Iterator[int]:
        ours = b"WINEPREFIX=" + os.fsencode(self.folder)
        for place in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if ours in place.read_bytes().split(b"\0"):
                    yield int(place.parent.name)

    def files(self) -> set[str]:
        """Return every file in it, but for what wine and Windows keep for themselves."""
        return {
            path.relative_to(self.drive).as_posix()
            for path in self.drive.rglob("*")
            if not path.is_dir() or path.is_symlink()
        }

    def registry(self) -> set[str]:
        """Return every key and value of the person's registry, once it is settled."""
        lines, key = set(), ""
        text = (self.folder / "user.reg").read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines():
            if line.startswith("["):
                key = line.partition("]")[0] + "]"
                lines.add(key)
            elif line.startswith(('"', "@")):
                lines.add(f"{key} {line}")
        return lines

    def _tool(self, *command: str) -> None:
        done = subprocess.run(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=300, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]} ended with status {done.returncode}")


def lacks() -> str | None:
    """Return which programs are missing, as a sentence; None: it can be tried here."""
    missing = sorted({name for tool, name in PROGRAMS.items() if shutil.which(tool) is None})
    return f"programs are missing: apt-get install {' '.join(missing)}" if missing else None
