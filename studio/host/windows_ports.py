"""Ports as Windows sees them: ranges that it keeps for itself, and who listens on its side of WSL.

Asked with Windows' own programs, from Windows or through WSL's interop. Their words are never read
(they come in any language, in UTF-16 or an old code page): only digits and marks of our own.
"""

import asyncio
import dataclasses
import ipaddress
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from studio.domain.errors import StudioError
from studio.host import powershell, process, wsl

_WITHIN_S = 6.0
"""PowerShell takes about a second, on a busy machine several; the start must not hang on it."""
_KEPT_S = 2.0
"""One start asks twice within a second."""
_RANGE = re.compile(r"^\s*(?P<first>\d{1,5})\s+(?P<last>\d{1,5})\s*\*?\s*$")
_MARK = "weir-port"
_LISTENER = re.compile(
    rf"{_MARK}\|(?P<address>[^|]*)\|(?P<port>\d{{1,5}})\|(?P<pid>\d+)\|(?P<name>.*)$"
)
_SCRIPT = (
    "[Console]::OutputEncoding=[Text.Encoding]::UTF8;"
    "Get-NetTCPConnection -State Listen -ErrorAction SilentlyContinue|ForEach-Object{"
    "$n=(Get-Process -Id $_.OwningProcess -ErrorAction SilentlyContinue).ProcessName;"
    f"'{_MARK}|'+$_.LocalAddress+'|'+$_.LocalPort+'|'+$_.OwningProcess+'|'+$n}}"
)
_RELAYS = frozenset(("wslrelay", "wslhost", "wslservice"))
"""WSL's own: they listen on Windows' side for what listens here."""
_HIGHEST = 65_535


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WindowsPorts:
    """What Windows said; what it did not say is empty."""

    excluded: tuple[tuple[int, int], ...] = ()
    """First and last port of each range that no program may open."""
    listeners: Mapping[int, str] = dataclasses.field(default_factory=dict)
    """Port → program of Windows that answers at localhost. Empty on Windows itself, where
    the ordinary way tells."""

    def range_of(self, port: int) -> tuple[int, int] | None:
        """Return the excluded range that holds `port`."""
        return next((one for one in self.excluded if one[0] <= port <= one[1]), None)

    def is_free(self, port: int) -> bool:
        """Tell whether Windows would let a program have `port`."""
        return port not in self.listeners and self.range_of(port) is None


_kept: tuple[float, str, WindowsPorts] | None = None


async def look(environ: Mapping[str, str] = os.environ) -> WindowsPorts | None:
    """Return the ports as Windows sees them; None where there is no Windows.

    Never raises: what cannot be asked is empty.
    """
    global _kept
    if sys.platform != "win32" and not wsl.is_wsl(_kernel(), environ):
        return None
    path = powershell.path(environ)
    if _kept is not None and _kept[1] == path and time.monotonic() - _kept[0] < _KEPT_S:
        return _kept[2]
    async with asyncio.TaskGroup() as tasks:
        ranges = tasks.create_task(_ask(_netsh(), environ))
        listing = tasks.create_task(_ask(_powershell(), environ))
    found = WindowsPorts(
        excluded=read_excluded(ranges.result()), listeners=read_listeners(listing.result())
    )
    _kept = (time.monotonic(), path, found)
    return found


def read_excluded(lines: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the ranges in what `netsh interface ipv4 show excludedportrange` prints.

    A range is a line of two numbers, in every language; administered ones end in `*`.
    """
    found = set()
    for line in lines:
        match = _RANGE.match(line.replace("\0", ""))
        if match is not None:
            first, last = int(match["first"]), int(match["last"])
            if 0 < first <= last <= _HIGHEST:
                found.add((first, last))
    return tuple(sorted(found))


def read_listeners(lines: Sequence[str]) -> dict[int, str]:
    """Return port → program of what our question to PowerShell printed."""
    found: dict[int, str] = {}
    for line in lines:
        match = _LISTENER.search(line.replace("\0", ""))
        if match is None or not _answers_at_localhost(match["address"]):
            continue
        name = match["name"].strip()
        if name.lower() in _RELAYS:
            continue
        who = f"{name}.exe" if name else "a program"
        found.setdefault(int(match["port"]), f"{who} (Windows process {match['pid']})")
    return found


def _answers_at_localhost(address: str) -> bool:
    try:
        known = ipaddress.ip_address(address.strip().partition("%")[0])
    except ValueError:
        return False
    return known.is_loopback or known.is_unspecified


def _netsh() -> list[str]:
    program = "netsh" if sys.platform == "win32" else "netsh.exe"
    return [program, "interface", "ipv4", "show", "excludedportrange", "protocol=tcp"]


def _powershell() -> list[str]:
    if sys.platform == "win32":
        return []
    return ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", _SCRIPT]


async def _ask(argv: list[str], environ: Mapping[str, str]) -> list[str]:
    """Return the lines that a program of Windows printed; none when it could not be asked."""
    if not argv:
        return []
    env = powershell.environment(environ)
    lines: list[str] = []
    try:
        done = await process.run(argv, env=env, timeout_s=_WITHIN_S, on_line=lines.append)
    except (StudioError, OSError):
        return []
    return lines if done.exit_code == 0 and not done.timed_out else []


def _kernel() -> str:
    try:
        return Path("/proc/sys/kernel/osrelease").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
