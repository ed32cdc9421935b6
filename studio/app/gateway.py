"""The gateway's door: where it listens, under which names, with or without TLS.

The choice is kept first and carried out then. A gateway that is open moves at once; answers that
run over the old door end.
"""

import asyncio
import ipaddress
import re
import ssl
from collections.abc import Callable
from pathlib import Path

import msgspec

from studio.app.settings import SettingsFile
from studio.domain.errors import BadInput, NeedsConsent, StudioError
from studio.domain.events import Event, GatewayChanged
from studio.domain.gateway import GatewayChange, GatewayReport, GatewaySettings
from studio.gateway.service import Gateway
from studio.host import addresses, wsl
from studio.host.http_ports import listen
from studio.host.paths import Paths

_LOOPBACK_NAMES = ("127.0.0.1", "::1", "localhost")
_NAME_LENGTH = 256
_MOST = 100
_LAST_PORT = 65_535
_PLACE = re.compile(r"(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")
"""Host and port of a web page."""


class Door:
    """Opens, moves and describes the gateway."""

    def __init__(
        self,
        gateway: Gateway,
        settings: SettingsFile,
        paths: Paths,
        *,
        active_keys: Callable[[], int],
        publish: Callable[[Event], None],
    ) -> None:
        self._gateway = gateway
        self._settings = settings
        self._folder = paths.home / "gateway"
        self._active_keys = active_keys
        self._publish = publish
        self._allow(settings.now.gateway)

    async def open(self, port: int, take_next: bool) -> str:
        """Open on `port` (or, agreed to, on the next free one), keep the choice; the base URL.

        Raises: PortTaken, HostLacks, BadInput (`address-unusable`, `certificate-unusable`).
        """
        gateway = self._gateway
        if gateway.info().port != port:
            chosen = self._settings.now.gateway
            tls = await asyncio.to_thread(self._tls, chosen)
            port = await _free_port(chosen.address, port, take_next)  # before the old one is closed
            await gateway.close()
            await gateway.open(chosen.address, port, tls)
            self._publish(GatewayChanged(base_url=gateway.info().base_url))
        self._settings.change(port=port)
        base_url = gateway.info().base_url
        assert base_url is not None
        return base_url

    async def report(self) -> GatewayReport:
        """Return how it is set up, and where it can be reached."""
        return await asyncio.to_thread(self._report)

    async def change(self, change: GatewayChange) -> GatewayReport:
        """Change names and doors.

        Raises: BadInput (`alias-invalid`, `host-invalid`, `origin-invalid`, `address-invalid`,
        `certificate-unusable`, `port-invalid`, `nothing-to-forget`), NeedsConsent
        (`gateway-exposed`), PortTaken.
        """
        before = self._settings.now.gateway
        after = changed(before, _translated(change))
        if after.is_exposed and not before.is_exposed:
            self._require_agreed(after, change)
        tls = await asyncio.to_thread(self._tls, after)
        gateway, old_port = self._gateway, self._settings.now.port
        port = old_port if change.port is None else _port(change.port)
        moves = (before.address, before.tls, before.certificate, before.private_key, old_port) != (
            after.address, after.tls, after.certificate, after.private_key, port,
        )  # fmt: skip
        is_open = gateway.info().port is not None
        if moves and is_open:
            if port != old_port:
                await _free_port(after.address, port, False)  # before the old one closes
            await gateway.close()
            try:
                await gateway.open(after.address, port, tls)
            except StudioError:
                own = await asyncio.to_thread(self._tls, before)
                await gateway.open(before.address, old_port, own)
                raise
        self._settings.change(gateway=after, port=port)
        self._allow(after)
        if moves and is_open:
            self._publish(GatewayChanged(base_url=gateway.info().base_url))
        return await self.report()

    def _require_agreed(self, after: GatewaySettings, change: GatewayChange) -> None:
        if not self._active_keys():
            raise BadInput(
                "gateway-without-key",
                "There is no key yet, and a gateway that others can reach needs one.",
                hint="Make one first: `weir keys create NAME`.",
            )
        if change.expose:
            return
        where = "every network that this machine is in"
        if not addresses.is_everywhere(after.address):
            where = f"the network of {after.address}"
        plain = "" if after.tls else " Keys and prompts travel unencrypted; `--tls` changes that."
        port = self._gateway.info().port or self._settings.now.port
        raise NeedsConsent(
            "gateway-exposed",
            f"Everybody in {where} could reach port {port} and try keys.{plain}",
            hint="Say yes with `--expose`. A tunnel needs none of this:"
            f" `ssh -L {port}:127.0.0.1:{port} HOST`.",
            data={"what": after.address},
        )

    def _allow(self, chosen: GatewaySettings) -> None:
        """Tell the gateway which names are its own; an address cannot be pointed elsewhere."""
        names: tuple[str, ...] = ()
        if chosen.is_exposed:
            own = addresses.own_addresses()
            names = (*(addresses.in_url(one) for one in own), *addresses.own_names())
        self._gateway.allow(
            hosts=(*names, *chosen.hosts), origins=chosen.origins, aliases=chosen.aliases
        )

    def _tls(self, chosen: GatewaySettings) -> ssl.SSLContext | None:
        files = self._files(chosen)
        if files is None:
            return None
        from studio.host import certificates  # its mathematics take 50 ms to load

        return certificates.context(*files)

    def certificate(self) -> str | None:
        """Return the certificate that it shows, as PEM; None where it is not encrypted."""
        files = self._files(self._settings.now.gateway)
        return files[0].read_text(encoding="ascii") if files is not None else None

    def _files(self, chosen: GatewaySettings) -> tuple[Path, Path] | None:
        if not chosen.tls:
            return None
        if chosen.certificate is not None and chosen.private_key is not None:
            return Path(chosen.certificate), Path(chosen.private_key)
        names = [*_LOOPBACK_NAMES, *chosen.hosts]
        if chosen.is_exposed:
            names += [*addresses.own_addresses(), *addresses.own_names()]
        from studio.host import certificates

        return certificates.own_certificate(self._folder, list(dict.fromkeys(names)))

    def _report(self) -> GatewayReport:
        now, info = self._settings.now, self._gateway.info()
        chosen, port = now.gateway, info.port or now.port
        scheme = "https" if chosen.tls else "http"
        reached = [chosen.address]
        if addresses.is_everywhere(chosen.address):
            own = addresses.own_addresses()
            if ":" not in chosen.address:
                own = tuple(one for one in own if ":" not in one)
            reached = [addresses.reached_here(chosen.address), *own]
        return GatewayReport(
            settings=chosen,
            port=port,
            is_open=info.port is not None,
            urls=tuple(f"{scheme}://{addresses.in_url(one)}:{port}/v1" for one in reached),
            fingerprint=self._fingerprint(chosen),
            notes=_notes(chosen),
        )

    def _fingerprint(self, chosen: GatewaySettings) -> str | None:
        files = self._files(chosen)
        if files is None:
            return None
        from studio.host import certificates

        return certificates.fingerprint(files[0])


def _translated(change: GatewayChange) -> GatewayChange:
    """Return the change with its files as this machine has them: Windows names them its own way."""
    files = (change.certificate, change.private_key)
    certificate, private_key = (one if one is None else wsl.meant(one) for one in files)
    return msgspec.structs.replace(change, certificate=certificate, private_key=private_key)


def changed(before: GatewaySettings, change: GatewayChange) -> GatewaySettings:
    """Return the settings after `change`, each value in one spelling. Pure.

    Raises: BadInput (`alias-invalid`, `host-invalid`, `origin-invalid`, `address-invalid`,
    `certificate-pair`, `certificate-unused`, `nothing-to-forget`).
    """
    known = {*before.aliases, *before.hosts, *before.origins}
    for name in change.forget:
        if name not in known:
            raise BadInput(
                "nothing-to-forget",
                f"The gateway knows no alias, host or page {name!r}.",
                hint="`weir gateway` shows what there is.",
            )
    aliases = {a: m for a, m in before.aliases.items() if a not in change.forget}
    for alias, meant in change.aliases.items():
        aliases[_alias(alias)] = _alias(meant) if meant else ""
    hosts = [one for one in before.hosts if one not in change.forget]
    hosts += [_host(one) for one in change.hosts]
    origins = [one for one in before.origins if one not in change.forget]
    origins += [_origin(one) for one in change.origins]
    if max(len(aliases), len(hosts), len(origins)) > _MOST:
        raise BadInput("alias-invalid", f"The gateway takes {_MOST} names of a kind at most.")
    if (change.certificate is None) != (change.private_key is None):
        raise BadInput(
            "certificate-pair",
            "A certificate and its private key come together.",
            hint="Name both: `--certificate FILE --key FILE`.",
        )
    if change.certificate is not None and change.tls is False:
        raise BadInput(
            "certificate-unused",
            "A certificate is given, and at the same time no encryption is asked for.",
            hint="Leave one of them out: `--no-tls`, or `--certificate` with `--key`.",
        )
    tls, files = before.tls, (before.certificate, before.private_key)
    if change.certificate is not None or change.tls is not None:
        files = (change.certificate, change.private_key)
        tls = change.certificate is not None or bool(change.tls)
    return msgspec.structs.replace(
        before,
        aliases=aliases,
        hosts=tuple(dict.fromkeys(hosts)),
        origins=tuple(dict.fromkeys(origins)),
        address=before.address if change.address is None else _address(change.address),
        tls=tls,
        certificate=files[0],
        private_key=files[1],
    )


def _alias(text: str) -> str:
    name = text.strip()
    if not 1 <= len(name) <= _NAME_LENGTH or not name.isprintable():
        raise BadInput("alias-invalid", f"{text!r} is no name of a model.")
    return name


def _host(text: str) -> str:
    name = text.strip().lower().rstrip(".")
    letters = name.strip("[]")
    is_plain = letters.isascii() and all(one.isalnum() or one in "-.:" for one in letters)
    if not letters or not is_plain or len(name) > _NAME_LENGTH or "://" in name:
        raise BadInput(
            "host-invalid",
            f"{text!r} is no name of a host.",
            hint="Write it without scheme, port and path: `studio.example`.",
        )
    return name


def _origin(text: str) -> str:
    scheme, _, place = text.strip().rstrip("/").lower().partition("://")
    found = _PLACE.fullmatch(place)
    port = found["port"] if found is not None else None
    is_port = port is None or 1 <= int(port) <= _LAST_PORT
    if scheme not in ("http", "https") or found is None or not is_port:
        raise BadInput(
            "origin-invalid",
            f"{text!r} is no origin of web pages.",
            hint="Write scheme, host and port alone: `http://localhost:3000`. `*` is not taken.",
        )
    return f"{scheme}://{place}"


def _address(text: str) -> str:
    name = "127.0.0.1" if text.strip() == "localhost" else text.strip().strip("[]")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        address = None
    if address is None or address.is_multicast:
        raise BadInput(
            "address-invalid",
            f"{text!r} is no address to listen on.",
            hint="`127.0.0.1` for this machine only, `0.0.0.0` for every network, or one address"
            " of this machine.",
        )
    return str(address)


def _port(number: int) -> int:
    if 1 <= number <= _LAST_PORT:
        return number
    raise BadInput(
        "port-invalid",
        f"{number} is no port.",
        hint=f"A port is a number from 1 to {_LAST_PORT}; those below 1024 are the system's own.",
    )


def _notes(chosen: GatewaySettings) -> tuple[str, ...]:
    notes = []
    if chosen.is_exposed:
        notes.append("Other machines can reach the gateway; a key is all that keeps them out.")
        if not chosen.tls:
            notes.append("Keys and prompts travel unencrypted: `weir gateway listen --tls`.")
    if chosen.tls and chosen.certificate is None:
        notes.append("The certificate is the Studio's own: clients must be told to trust it.")
    return tuple(notes)


async def _free_port(address: str, port: int, take_next: bool) -> int:
    """Return `port`, or the next free one where that was agreed to."""
    try:
        (await listen(address, port)).close()
    except StudioError as error:
        free = error.data.get("free_port")
        if not take_next or not isinstance(free, int):
            raise
        return free
    return port
