"""Windows' `wsl.exe`: what is asked of it, and what it answers in bytes, numbers and codes.

It prints UTF-16 without a mark, or UTF-8 where `WSL_UTF8` is known (from 0.64 on), in the language
of the machine. So only exit statuses, codes, numbers and names of ours are read, never words.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from studio.domain.errors import HostLacks
from studio.host import powershell, process

PROGRAM = "wsl.exe"
_QUICK_S = 30.0
_IMPORT_S = 900.0
_INSTALL_S = 1_800.0
_CODE = re.compile(r"\b(?:(?:WSL_E|HCS_E|E|ERROR)_[A-Z0-9_]+|0x[0-9a-fA-F]{8})\b")
_VERSION = re.compile(r"\b(\d+)\.(\d+)\.(\d+)(?:\.(\d+))?\b")
_32_BITS = 1 << 32


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended."""

    status: int | None
    """Of 32 bits, without a sign; None: it took too long."""
    text: str

    @property
    def is_good(self) -> bool:
        """Return whether it did what was asked."""
        return self.status == 0

    @property
    def codes(self) -> tuple[str, ...]:
        """Return every code in it: those of WSL by name, HRESULTs in lower case."""
        found = [one.lower() if one.startswith("0x") else one for one in _CODE.findall(self.text)]
        if self.status is not None and self.status >= 1 << 31:
            found.append(f"0x{self.status:08x}")
        return tuple(dict.fromkeys(found))


def decoded(raw: bytes) -> str:
    """Return what it printed, in whichever of its encodings."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    if raw.count(0) > len(raw) // 4:  # every second byte of Latin letters in UTF-16
        return raw.decode("utf-16-le", "replace")
    return raw.decode("utf-8-sig", "replace")


def names(text: str) -> tuple[str, ...]:
    """Return the names that `--list --quiet` prints, one a line."""
    lines = (line.strip().strip("\0") for line in text.splitlines())
    return tuple(line for line in lines if line)


def version(text: str) -> tuple[int, ...] | None:
    """Return WSL's own version in what `--version` prints: the first number of three parts."""
    found = _VERSION.search(text)
    return tuple(int(part) for part in found.groups() if part) if found else None


class WslExe:
    """The program."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environment = {**powershell.environment(environ), "WSL_UTF8": "1"}

    async def call(self, *words: str, within_s: float = _QUICK_S) -> Answer:
        """Run it. Raises: HostLacks (`program-missing`)."""
        status, raw = await process.capture(
            [PROGRAM, *words], env=self._environment, timeout_s=within_s
        )
        return Answer(status=None if status is None else status % _32_BITS, text=decoded(raw))

    async def status(self) -> Answer:
        """Ask whether it works at all."""
        return await self.call("--status")

    async def version(self) -> tuple[int, ...] | None:
        """Return its version; None for the old one that came with Windows."""
        answer = await self.call("--version")
        return version(answer.text) if answer.is_good else None

    async def distributions(self) -> tuple[str, ...]:
        """Return all distributions; none registered is an error of its own to it."""
        answer = await self.call("--list", "--quiet")
        return names(answer.text) if answer.is_good else ()

    async def import_(self, name: str, folder: Path, rootfs: Path) -> Answer:
        """Register a distribution of WSL 2 from a root file system."""
        words = ("--import", name, str(folder), str(rootfs), "--version", "2")
        return await self.call(*words, within_s=_IMPORT_S)

    async def unregister(self, name: str) -> Answer:
        """Forget a distribution, and with it all that is in it."""
        return await self.call("--unregister", name, within_s=_IMPORT_S)

    async def terminate(self, name: str) -> Answer:
        """End a distribution."""
        return await self.call("--terminate", name)

    async def update(self) -> Answer:
        """Fetch the newest WSL."""
        return await self.call("--update", within_s=_INSTALL_S)

    async def compact(self, name: str) -> Answer:
        """Give back what a disk image does not use any more; newer WSL only."""
        return await self.call("--manage", name, "--compact", within_s=_IMPORT_S)

    async def inside(
        self, name: str, *argv: str, user: str | None = None, within_s: float = _QUICK_S
    ) -> Answer:
        """Run a command inside a distribution."""
        as_user = ("--user", user) if user is not None else ()
        words = ("--distribution", name, *as_user, "--exec", *argv)
        return await self.call(*words, within_s=within_s)

    async def install(self) -> int | None:
        """Install WSL without a distribution; Windows asks for the administrator.

        Returns the exit status; None when the person said no or it took too long.
        """
        script = (
            "try{$p=Start-Process -FilePath wsl.exe -Verb RunAs -Wait -PassThru "
            "-ArgumentList '--install','--no-distribution';exit $p.ExitCode}catch{exit 1223}"
        )
        status, _raw = await process.capture(
            powershell.command(script), env=self._environment, timeout_s=_INSTALL_S
        )
        return None if status in (None, 1223) else status  # ERROR_CANCELLED: a no


def missing(error: HostLacks) -> bool:
    """Tell whether an error says that the program itself is not there."""
    return error.code == "program-missing"


def keeper(name: str, argv: Sequence[str]) -> list[str]:
    """Return the command that runs a program inside and keeps the distribution alive with it."""
    return [PROGRAM, "--distribution", name, "--exec", *argv]
