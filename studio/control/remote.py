"""Reaches the service of another machine for a window: by address and token, or through ssh.

A service listens on its loopback alone, so a tunnel is what leads to it: one of ours (`--ssh`), or
one that the person made (`--address`). The gateway's port comes along where it is free here, so
that the address in the window leads to the engine from here too.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from studio.app.settings import DEFAULT_PORT
from studio.control.address import Address
from studio.control.client import ControlClient
from studio.domain.errors import BadInput, ServiceUnreachable, StudioError
from studio.host import ssh as ssh_client
from studio.host.http_ports import listen
from studio.host.process import Running

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_OPEN_S = 20.0
_POLL_S = 0.05
_MARK = "weir-remote-1"
_SCRIPT = """\
h={home}
[ -n "$h" ] || h="${{WEIR_HOME:-${{XDG_DATA_HOME:-$HOME/.local/share}}/weir-studio}}"
for part in service/service.json service/token settings.json; do
  printf '\\n{mark} %s\\n' "$part"
  cat "$h/$part" 2>/dev/null
done
printf '\\n{mark} end %s\\n' "$h"
"""


class Found(NamedTuple):
    """What the other machine says about its service."""

    port: int
    token: str
    gateway_port: int


class _Settings(msgspec.Struct, frozen=True):
    """What is read of the other machine's `settings.json`."""

    port: int = DEFAULT_PORT


def reach(
    *,
    ssh: str | None,
    address: str | None,
    token_file: Path | None,
    home: str | None,
    environ: Mapping[str, str] = os.environ,
) -> tuple[str, Callable[[], Awaitable[ControlClient]]]:
    """Return the machine's name as it is shown, and how to connect to its service.

    Raises: BadInput (`ssh-host`, `remote-address`, `token-missing`).
    """
    if ssh is not None:
        made = SshReach(ssh, home, environ)
        return made.host, made.connect
    if token_file is None:
        raise BadInput(
            "token-missing",
            "A service is reached with its token.",
            hint="`--token-file FILE`: a copy of `service/token` from the other machine's folder.",
        )
    place = require_address(address or "")
    return place, ByAddress(place, token_file).connect


def require_address(text: str) -> str:
    """Return `HOST:PORT`, of a loopback alone: the token would travel unencrypted to any other.

    Raises: BadInput (`remote-address`).
    """
    host, _, port = text.strip().rpartition(":")
    is_port = port.isascii() and port.isdecimal() and 1 <= int(port or "0") <= 65_535
    if host.lower() in _LOOPBACK and is_port:
        return f"{host.lower()}:{port}"
    raise BadInput(
        "remote-address",
        f"{text!r} is no control port that can be reached: a service answers on its own machine "
        "only, and its token would travel unencrypted.",
        hint="`weir ui --ssh HOST` makes a tunnel; through one of yours: `--address "
        "127.0.0.1:PORT`.",
    )


class ByAddress:
    """A control port that somebody else's tunnel leads to."""

    def __init__(self, place: str, token_file: Path) -> None:
        self._place = place
        self._token_file = token_file

    async def connect(self) -> ControlClient:
        """Return a client; the token is read anew, since it changes with each service.

        Raises: BadInput (`token-unreadable`), ServiceUnreachable, and what the service answers.
        """
        token = await asyncio.to_thread(ssh_client.token_of, self._token_file)
        return await _proven(ControlClient(f"http://{self._place}", token))


class SshReach:
    """A tunnel of ours, kept as long as it works; it ends with this process, however that ends."""

    def __init__(
        self, host: str, home: str | None, environ: Mapping[str, str] = os.environ
    ) -> None:
        """Raises: BadInput (`ssh-host`)."""
        self.host = ssh_client.require_host(host)
        self._home = home
        self._environ = environ
        self._tunnel: Running | None = None
        self._found: Found | None = None
        self._local_port = 0

    async def connect(self) -> ControlClient:
        """Return a client through the tunnel, which is opened where there is none that works.

        Raises: ServiceUnreachable (`ssh-…`, `service-not-running`), HostLacks.
        """
        if self._tunnel is not None and self._tunnel.is_running and self._found is not None:
            with contextlib.suppress(StudioError):
                return await self._client(self._found)
        found = await self._look()
        await self._open(found)
        return await self._client(found)

    def end(self) -> None:
        """End the tunnel."""
        if self._tunnel is not None:
            self._tunnel.end()
            self._tunnel = None

    async def _client(self, found: Found) -> ControlClient:
        url = f"http://127.0.0.1:{self._local_port}"
        return await _proven(ControlClient(url, found.token))

    async def _look(self) -> Found:
        script = _SCRIPT.format(mark=_MARK, home=ssh_client.quoted(self._home or ""))
        said = await ssh_client.run_script(self.host, script, environ=self._environ)
        return read_found(self.host, said)

    async def _open(self, found: Found) -> None:
        self.end()
        self._local_port = await _free_port()
        ports = {self._local_port: found.port}
        if await _is_free(found.gateway_port):
            ports[found.gateway_port] = found.gateway_port
        tunnel = self._tunnel = await ssh_client.tunnel(self.host, ports, environ=self._environ)
        self._found = found
        deadline = time.monotonic() + _OPEN_S
        while tunnel.is_running and time.monotonic() < deadline:
            if await _answers(self._local_port):
                return
            await asyncio.sleep(_POLL_S)
        if not tunnel.is_running:
            raise ssh_client.said(self.host, await tunnel.last_words())


def read_found(host: str, said: str) -> Found:
    """Return what the script printed. Pure.

    Raises: ServiceUnreachable (`service-not-running`, `remote-not-understood`).
    """
    parts = {}
    for piece in said.split(f"{_MARK} ")[1:]:
        name, _, text = piece.partition("\n")
        parts[name.strip()] = text.strip()
    folder = next((one.removeprefix("end ") for one in parts if one.startswith("end ")), None)
    if folder is None:
        raise ServiceUnreachable(
            "remote-not-understood",
            f"{host} let us in, but its shell did not do what was asked.",
            hint=f"Does `ssh {host} true` work, and is there a POSIX shell?",
            evidence=tuple(said.splitlines()[-5:]),
        )
    token = parts.get("service/token", "")
    try:
        address = msgspec.json.decode(parts.get("service/service.json", ""), type=Address)
    except msgspec.DecodeError:
        address = None
    if address is None or not token:
        raise ServiceUnreachable(
            "service-not-running",
            f"No service runs on {host} in {folder}: start it there with `weir up --detach`.",
            hint="Another folder: `--remote-home FOLDER`.",
        )
    return Found(address.port, token, _gateway_port(parts.get("settings.json", "")))


def _gateway_port(text: str) -> int:
    try:
        return msgspec.json.decode(text, type=_Settings).port
    except msgspec.DecodeError:
        return DEFAULT_PORT


async def _proven(client: ControlClient) -> ControlClient:
    """Return a client whose service has answered."""
    try:
        await client.status()
    except BaseException:
        await client.close()
        raise
    return client


async def _free_port() -> int:
    listener = await listen("127.0.0.1", 0)
    with contextlib.closing(listener):
        return int(listener.getsockname()[1])


async def _is_free(port: int) -> bool:
    try:
        (await listen("127.0.0.1", port)).close()
    except StudioError:
        return False
    return True


async def _answers(port: int) -> bool:
    try:
        _reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True
