"""Listening sockets: who sits on a port that is taken, who keeps it, and which one is free instead.

Behind WSL a port counts as taken, too, when a program of Windows answers there: chat clients on
Windows would reach that one.
"""

import asyncio
import dataclasses
import errno
import itertools
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from studio.domain.errors import BadInput, HostLacks, PortTaken, StudioError
from studio.host import port_owners, windows_ports
from studio.host.windows_ports import WindowsPorts

_TRIES = 200
_BACKLOG = 1024
_HIGHEST = 65_535
_OURS = 18_020
_WELL_KNOWN = frozenset(
    (
        1_234, 2_375, 3_000, 3_001, 3_306, 4_000, 4_200, 5_000, 5_001, 5_173, 5_432, 5_601, 5_672,
        6_006, 6_379, 7_860, 8_000, 8_001, 8_080, 8_081, 8_188, 8_265, 8_443, 8_501, 8_787, 8_888,
        9_000, 9_090, 9_200, 9_229, 11_211, 11_434, 27_017,
    )
)  # fmt: skip
"""Never offered, though free at the moment: a development server, database or model server that
starts later expects to find its own (Vite, Flask, Jupyter, Gradio, Ollama, LM Studio, …)."""
_PRIVILEGED = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
_USUAL_FIRST = 1024

Look = Callable[[], Awaitable[WindowsPorts | None]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    address: str
    port: int
    windows: WindowsPorts

    def is_free(self, port: int) -> bool:
        """Tell whether `port` could be ours, at once and for long."""
        if port in _WELL_KNOWN or not self.windows.is_free(port):
            return False
        try:
            _bound(self.address, port).close()
        except OSError:
            return False
        # Clients that say `localhost` try ::1 first, and would reach whoever listens there.
        return self.address != "127.0.0.1" or not _is_taken("::1", port)

    def next_free(self) -> int | None:
        """Return the port to offer instead."""
        above = range(self.port + 1, min(self.port + 1 + _TRIES, _HIGHEST + 1))
        ours = range(_OURS, _OURS + _TRIES)
        candidates = itertools.chain(above, ours)
        return next((port for port in candidates if self.is_free(port)), None)


async def listen(
    address: str, port: int, *, ask_windows: Look = windows_ports.look
) -> socket.socket:
    """Return a listening socket; port 0 takes any free one.

    A port that is only in TIME_WAIT is taken at once; one that somebody listens on never is.
    Raises: PortTaken (`port-taken`, `port-reserved`), HostLacks (`port-forbidden`), BadInput
    (`address-unusable`).
    """
    # Asked before the socket exists: WSL may show it on Windows' side as soon as it does.
    windows = await ask_windows() if port else None
    wanted = _Wanted(address=address, port=port, windows=windows or WindowsPorts())
    try:
        listener = _bound(address, port)
    except OSError as error:
        raise await asyncio.to_thread(_refused, wanted, error) from error
    if wanted.windows.is_free(port):
        return listener
    listener.close()
    raise await asyncio.to_thread(_kept_by_windows, wanted)


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # The protocol is named because asyncio sets TCP_NODELAY only then: else every short answer
    # waits 40 ms for the client's delayed acknowledgement. (uvloop sets it always.)
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # where it would take the port from who listens on it
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        # The bind alone may succeed beside another socket that is bound but does not listen yet.
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def _is_taken(address: str, port: int) -> bool:
    """Tell whether somebody listens there; an address that is no address here is not taken."""
    try:
        _bound(address, port).close()
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False


def _refused(wanted: _Wanted, error: OSError) -> StudioError:
    match error.errno:
        case errno.EADDRINUSE:
            if not wanted.windows.is_free(wanted.port):
                return _kept_by_windows(wanted)
            owner = port_owners.find(wanted.port)
            return _taken(wanted, owner.words if owner is not None else None)
        case errno.EACCES | errno.EPERM:
            if wanted.windows.range_of(wanted.port) is not None:
                return _kept_by_windows(wanted)
            return _forbidden(wanted.port)
        case _:
            return _unusable(wanted.address, error)


def _kept_by_windows(wanted: _Wanted) -> StudioError:
    excluded = wanted.windows.range_of(wanted.port)
    if excluded is None:
        return _taken(wanted, wanted.windows.listeners[wanted.port])
    first, last = excluded
    free = wanted.next_free()
    hint = f"Use {free}." if free is not None else "Choose a port outside of it."
    return PortTaken(
        "port-reserved",
        f"Port {wanted.port} lies in a range that Windows keeps for itself: {first} to {last}.",
        hint=f"{hint} `netsh interface ipv4 show excludedportrange tcp` lists the ranges; after a "
        "restart of Windows they may be others.",
        data={
            "port": wanted.port,
            "owner": f"Windows, which keeps {first} to {last} for itself",
            "free_port": free,
        },
    )


def _taken(wanted: _Wanted, owner: str | None) -> PortTaken:
    free = wanted.next_free()
    hint = "End that program, or choose another port."
    if free is not None:
        hint = f"End that program, or use the next free port: {free}."
    who = owner or "a program that is not seen from here (of another container, or of the host)"
    return PortTaken(
        "port-taken",
        f"Port {wanted.port} on {wanted.address} is taken by {who}.",
        hint=hint,
        data={"port": wanted.port, "owner": owner, "free_port": free},
    )


def _forbidden(port: int) -> HostLacks:
    first = _first_unprivileged()
    if port < first:
        return HostLacks(
            "port-forbidden",
            f"Port {port} may not be opened by this user: ports below {first} belong to the "
            "system.",
            hint=f"Choose a port from {first} on, or allow it: "
            f"`sudo sysctl net.ipv4.ip_unprivileged_port_start={port}`.",
        )
    return HostLacks(
        "port-forbidden",
        f"Port {port} may not be opened: a security rule of this system keeps it.",
        hint="Choose another port, or look at the rules (SELinux, AppArmor, a firewall program).",
    )


def _first_unprivileged() -> int:
    try:
        return int(_PRIVILEGED.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return _USUAL_FIRST


def _unusable(address: str, error: OSError) -> BadInput:
    hint = "Use 127.0.0.1, or an address that `ip address` shows."
    if ":" in address and error.errno in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
        hint = "IPv6 may be switched off on this machine: use 127.0.0.1."
    return BadInput(
        "address-unusable",
        f"{address} is no address of this machine to listen on: {error.strerror or error}.",
        hint=hint,
    )
