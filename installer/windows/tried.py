"""The setup program under trial: installed, asked and removed in one Windows of wine."""

import subprocess
import sys
import time
from pathlib import Path

from installer.windows.wine import Done, Prefix

PLACE = r"C:\Prögramme für zoë\Weir Studio"
TEMP = r"C:\tëmp für zoë"


def where(place: str = PLACE) -> list[str]:
    """Return what tells a silent set-up its folder.

    NSIS takes it last and without quotes; wine would put quotes around a word with blanks.
    """
    return ["/S", *f"/D={place}".split(" ")]


class Trial:
    """One setup program in one Windows."""

    def __init__(self, setup: Path, prefix: Prefix, pictures: Path) -> None:
        self.setup = setup
        self.prefix = prefix
        self.pictures = pictures
        self.place = prefix.drive / PLACE[3:].replace("\\", "/")
        self._temp = prefix.drive / TEMP[3:]
        self._temp.mkdir()
        for name in ("TEMP", "TMP"):
            prefix.set_variable(name, TEMP)
        self.extra = {"WEIR_HOME": r"C:\wéir home"}

    def install(self, place: str = PLACE) -> Done:
        """Install silently."""
        begun = time.monotonic()
        done = self.prefix.run(self.setup, *where(place), within_s=600, **self.extra)
        self.prefix.settle()
        say(f"  installed in {time.monotonic() - begun:.1f} s")
        return done

    @property
    def version(self) -> Path:
        """Return the folder of the version that starts. Raises: OSError."""
        return self.place / (self.place / "current.txt").read_text(encoding="ascii")

    def started(self) -> "subprocess.Popen[bytes]":
        """Start the set-up silently and go on."""
        return self.prefix.start(self.setup, *where(), **self.extra)

    def weir(self, *words: str, status: int = 0, within_s: float = 300, **extra: str) -> str:
        """Run the command line of the installed program. Raises: RuntimeError."""
        variables = {**self.extra, **extra}
        done = self.prefix.run(self.place / "weir.exe", *words, within_s=within_s, **variables)
        if done.status != status or "Traceback" in done.text:
            raise RuntimeError(f"weir {' '.join(words)}: status {done.status}\n{done.text}")
        return done.text

    def run_once(self) -> str:
        """Return what Windows would run at the next log-on."""
        self.prefix.settle()
        lines = [line for line in self.prefix.registry() if "RunOnce]" in line]
        return "".join(line for line in lines if "WeirStudio" in line)

    def removed(self) -> None:
        """Remove it silently; the uninstaller runs as a copy of itself in TEMP."""
        self.prefix.run(self.place / "Uninstall.exe", "/S", **self.extra)
        self.prefix.settle()


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def require(truth: object, words: str) -> None:
    """Raises: RuntimeError."""
    if not truth:
        raise RuntimeError(words)
