"""Listening sockets, and who sits on a port that is taken."""

import asyncio
import errno
import socket

import psutil

from studio.domain.errors import BadInput, HostLacks, PortTaken, StudioError

_TRIES = 200
_BACKLOG = 1024


async def listen(address: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes any free one.

    A port that is only in TIME_WAIT is taken at once; one that somebody listens on never is.
    Raises: PortTaken (`port-taken`), HostLacks (`port-forbidden`), BadInput (`address-unusable`).
    """
    try:
        return _bound(address, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise await asyncio.to_thread(_taken, address, port) from error
        raise _unusable(address, port, error) from error


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # The protocol is named because asyncio sets TCP_NODELAY only then: else every short answer
    # waits 40 ms for the client's delayed acknowledgement. (uvloop sets it always.)
    listener = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        # The bind alone may succeed beside another socket that is bound but does not listen yet.
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def _taken(address: str, port: int) -> PortTaken:
    owner = _owner(port)
    free = _next_free(address, port)
    hint = "End that program, or choose another port."
    if free is not None:
        hint = f"End that program, or use the next free port: {free}."
    who = owner or "a program that this user may not look at"
    return PortTaken(
        "port-taken",
        f"Port {port} on {address} is taken by {who}.",
        hint=hint,
        data={"port": port, "owner": owner, "free_port": free},
    )


def _owner(port: int) -> str | None:
    """Return `name (process 123)` of whoever listens on `port`; None when not known."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return None
    for connection in connections:
        local = connection.laddr
        if not local or local.port != port or connection.pid is None:
            continue
        if connection.status != psutil.CONN_LISTEN:
            continue
        try:
            return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
        except psutil.Error:
            return f"process {connection.pid}"
    return None


def _next_free(address: str, port: int) -> int | None:
    for candidate in range(port + 1, min(port + 1 + _TRIES, 65536)):
        try:
            _bound(address, candidate).close()
        except OSError:
            continue
        return candidate
    return None


def _unusable(address: str, port: int, error: OSError) -> StudioError:
    if error.errno in {errno.EACCES, errno.EPERM}:
        return HostLacks(
            "port-forbidden",
            f"Port {port} may not be opened by this user.",
            hint="Choose a port from 1024 on.",
        )
    return BadInput(
        "address-unusable",
        f"{address} is no address of this machine to listen on: {error.strerror or error}.",
        hint="Use 127.0.0.1, or an address that `ip address` shows.",
    )
