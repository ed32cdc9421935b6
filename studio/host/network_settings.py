"""What a person may set about the network: names, checked values, and the file they are kept in."""

import difflib
import re
import ssl
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput
from studio.domain.network import Mirror, NetworkChange, NetworkSettings
from studio.host import wsl
from studio.host.documents import write_json
from studio.host.network import DIRECT, MOST_CONNECTIONS, proxy_address, read_settings, redacted
from studio.host.paths import Paths

_YES = frozenset(("on", "yes", "true", "1"))
_NO = frozenset(("off", "no", "false", "0"))
_BETWEEN_MIRRORS = re.compile(r"\s+(?=https?://\S*=)")
_FIELDS = {
    "proxy": "proxy",
    "no_proxy": "no_proxy",
    "ca": "ca_file",
    "offline": "offline",
    "connections": "connections",
    "mirror": "mirrors",
}
"""Names as people type them, to fields."""
NAMES = tuple(name.replace("_", "-") for name in _FIELDS)
"""All that can be set."""


def change(paths: Paths, request: NetworkChange) -> NetworkSettings:
    """Keep what was asked for, all of it or nothing, and return the settings as they then are.

    Raises: BadInput (`network-setting-unknown`, `network-setting-invalid`, `proxy-invalid`,
    `ca-file-invalid`), Damaged (`network-settings-damaged`), HostLacks (`not-writable`).
    """
    after = changed(read_settings(paths), request)
    # It may hold a proxy's password.
    write_json(paths.network_settings, after, mode=0o600)
    return after


def changed(before: NetworkSettings, request: NetworkChange) -> NetworkSettings:
    """Return `before` with the changes. Raises: BadInput."""
    defaults = NetworkSettings()
    after = before
    for name in request.forget:
        field = _field(name)
        after = msgspec.structs.replace(after, **{field: getattr(defaults, field)})
    for name, text in request.values.items():
        field = _field(name)
        after = msgspec.structs.replace(after, **{field: _PARSERS[field](text.strip(), after)})
    return after


def _field(name: str) -> str:
    plain = name.strip().lower().replace("-", "_")
    if plain not in _FIELDS:
        close = next(iter(difflib.get_close_matches(plain, _FIELDS, n=1)), None)
        raise BadInput(
            "network-setting-unknown",
            f"There is no network setting `{name}`."
            + (f" Is `{close.replace('_', '-')}` meant?" if close is not None else ""),
            hint=f"There are: {', '.join(known.replace('_', '-') for known in _FIELDS)}.",
        )
    return _FIELDS[plain]


def _proxy(text: str, _before: NetworkSettings) -> str:
    if text.lower() == DIRECT:
        return DIRECT
    url = proxy_address(text)
    if url.startswith("socks"):
        raise BadInput(
            "proxy-invalid",
            f"{redacted(url)} is a SOCKS proxy, which the Studio's own downloads cannot use.",
            hint="Name an HTTP proxy, or `direct`.",
        )
    return url


def _no_proxy(text: str, _before: NetworkSettings) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for part in text.replace(",", " ").split() if part))


def _ca_file(text: str, _before: NetworkSettings) -> str:
    path = Path(wsl.meant(text)).expanduser().absolute()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(path)
    except (OSError, ssl.SSLError) as error:
        reason = "it holds no certificate as PEM" if isinstance(error, ssl.SSLError) else str(error)
        raise BadInput(
            "ca-file-invalid",
            f"{path} is no file of certificate authorities: {reason}.",
            hint="It is a text with `-----BEGIN CERTIFICATE-----`; whoever runs the proxy has it.",
        ) from error
    return str(path)


def _offline(text: str, _before: NetworkSettings) -> bool:
    if text.lower() not in _YES | _NO:
        raise _invalid("offline", text, "`on` or `off`")
    return text.lower() in _YES


def _connections(text: str, _before: NetworkSettings) -> int:
    is_number = text.isascii() and text.isdecimal() and len(text) < 4
    if not is_number or not 1 <= int(text) <= MOST_CONNECTIONS:
        raise _invalid("connections", text, f"a number from 1 to {MOST_CONNECTIONS}")
    return int(text)


def _mirrors(text: str, before: NetworkSettings) -> tuple[Mirror, ...]:
    """Return the mirrors with those in `text` added; one that is named again moves to the end."""
    mirrors = before.mirrors
    for one in _BETWEEN_MIRRORS.split(text):
        of, equals, at = (part.strip() for part in one.partition("="))
        if not equals or not _is_address(of) or not (_is_address(at) or _is_place(at)):
            raise _invalid(
                "mirror",
                redacted(one),
                "`https://files.example/=https://mirror.example/files/`, or a folder after the =",
            )
        new = Mirror(of=of, at=at)
        mirrors = (*(mirror for mirror in mirrors if mirror != new), new)
    return mirrors


def _is_address(text: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _is_place(text: str) -> bool:
    return text.startswith("file:///") or Path(text).is_absolute()


def _invalid(name: str, text: str, expected: str) -> BadInput:
    return BadInput("network-setting-invalid", f"`{name}` should be {expected}, found `{text}`.")


_PARSERS: dict[str, Callable[[str, NetworkSettings], object]] = {
    "proxy": _proxy,
    "no_proxy": _no_proxy,
    "ca_file": _ca_file,
    "offline": _offline,
    "connections": _connections,
    "mirrors": _mirrors,
}
