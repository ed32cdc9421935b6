"""One policy for everything that goes out: proxy, certificates, mirrors, patience, offline.

Downloads take it as it is, helpers (uv, git) as variables, people as `weir network`. Each value
comes from the first place that names it: the Studio's own settings, the environment, uv's file,
pip's files. Certificate authorities add up instead, because a company's own is needed beside the
public ones; what arrives is held against its sha256 in any case.
"""

import ipaddress
import os
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

import msgspec

from studio import __version__
from studio.domain.errors import BadInput, Damaged
from studio.domain.network import Mirror, NetworkSettings
from studio.host import system_name, uv_config
from studio.host.documents import read_json
from studio.host.paths import Paths
from studio.host.pip_config import PackageSources, has_system_store, read_sources

DIRECT = "direct"
MOST_CONNECTIONS = 16
OFFLINE = "WEIR_OFFLINE"
SETTINGS = "the Studio's settings"
_TRUE = frozenset(("1", "true", "yes", "on"))
_SCHEMES = ("https", "http")
_PROXY_SCHEMES = frozenset(("http", "https", "socks4", "socks4a", "socks5", "socks5h"))
_PROXY_VARIABLES = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY")
_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


class Proxy(msgspec.Struct, frozen=True, kw_only=True):
    """A proxy's address, password included, and who named it."""

    url: str
    source: str

    def __repr__(self) -> str:
        return f"Proxy({redacted(self.url)!r}, {self.source!r})"


class Authority(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder of authorities, and who named it."""

    path: Path
    source: str

    @property
    def problem(self) -> str | None:
        """Return why it cannot be used, or None."""
        if not self.path.exists():
            return "it does not exist"
        return None if os.access(self.path, os.R_OK) else "it cannot be read"


class SourcedMirror(msgspec.Struct, frozen=True, kw_only=True):
    """A mirror, and who named it."""

    mirror: Mirror
    source: str


class NetworkPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How to go out. The defaults are those of a machine where nothing is set."""

    proxies: dict[str, Proxy] = {}
    """By the scheme of the address to reach: `http`, `https`."""
    no_proxy: tuple[str, ...] = ()
    authorities: tuple[Authority, ...] = ()
    """Beside the system's store and the public authorities that the Studio brings along."""
    client_certificate: Path | None = None
    offline_source: str | None = None
    """Who switched the network off; None: it is on."""
    mirrors: tuple[SourcedMirror, ...] = ()
    user_agent: str = f"weir-studio/{__version__} ({system_name.system()} {system_name.machine()})"
    sources: PackageSources = PackageSources()
    """Where packages come from, for the installer of packages."""
    connections: int = 4
    """Parts of one file that are fetched at a time."""
    block_bytes: int = 16 << 20
    """How much one request asks for at most."""
    connect_s: float = 10.0
    stall_s: float = 30.0
    """A server that sends nothing for this long is given up for the moment."""
    crawl_bytes_per_s: int = 1 << 10
    """Slower than this over `stall_s` counts as nothing."""
    tries: int = 5
    """Failures in a row, with nothing gained, that end one source."""
    tries_midway: int = 12
    """The same for the last source once it has brought something: routers take minutes to start."""
    most_tries: int = 100
    """Failures that end one file, whatever was gained."""
    back_off_s: float = 0.5
    back_off_most_s: float = 20.0
    wait_most_s: float = 120.0
    """A server that asks to wait for longer is left for the next mirror."""
    notes: tuple[str, ...] = ()

    @property
    def offline(self) -> bool:
        """Return whether nothing may be asked of the network."""
        return self.offline_source is not None

    @property
    def switch_on(self) -> str | None:
        """Return in words how the network is switched on again; None while it is on."""
        if self.offline_source is None:
            return None
        if self.offline_source == SETTINGS:
            return "Switch the network on with `weir network --set offline=off`."
        if self.offline_source in (OFFLINE, "UV_OFFLINE"):
            return (
                f"Unset {self.offline_source} to switch the network on, or overrule it: "
                "`weir network --set offline=off`."
            )
        return (
            f"Take `offline = true` out of {self.offline_source} to switch the network on, or "
            "overrule it: `weir network --set offline=off`."
        )

    def proxy_for(self, url: str) -> Proxy | None:
        """Return the proxy that an address is reached through, or None for directly."""
        try:
            parts = urllib.parse.urlsplit(url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:  # no address at all
            return None
        proxy = self.proxies.get(parts.scheme)
        host = (parts.hostname or "").lower()
        if proxy is None or host in _LOOPBACK:
            return None
        return None if any(_exempts(entry, host, port) for entry in self.no_proxy) else proxy

    def addresses(self, url: str) -> tuple[str, ...]:
        """Return where the file at `url` may be had, in order: mirrors first."""
        found = [
            one.mirror.at + url.removeprefix(one.mirror.of)
            for one in self.mirrors
            if url.startswith(one.mirror.of)
        ]
        return tuple(dict.fromkeys((*found, url)))

    def uv_variables(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return what uv has to be told beside its sources; `environ` is what it inherits.

        uv trusts its built-in authorities only, which fails behind a company's proxy; the system's
        are what every other program of the machine trusts. A bare container has none: then uv's.
        """
        variables = self.variables(environ)
        variables.pop("GIT_SSL_CAINFO", None)
        if not environ.get("UV_NATIVE_TLS") and not environ.get("UV_SYSTEM_CERTS"):
            named = {
                name: environ[name]
                for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")
                if environ.get(name)
            }
            if has_system_store({**named, **variables}):
                variables["UV_SYSTEM_CERTS"] = "1"
        if self.client_certificate is not None and not environ.get("SSL_CLIENT_CERT"):
            variables["SSL_CLIENT_CERT"] = str(self.client_certificate)
        if self.offline:
            variables["UV_OFFLINE"] = "1"
        return variables

    def variables(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return proxy and certificates as the variables that helpers (uv, git, curl) read.

        What a helper inherits already is left out. Both spellings are set: programs differ in
        which of them wins. An empty one takes an inherited proxy back.
        """
        found: dict[str, str] = {}
        for scheme in _SCHEMES:
            proxy = self.proxies.get(scheme)
            name = f"{scheme}_proxy"
            said = proxy.url if proxy is not None else ""
            for spelling in (name, name.upper()):
                if environ.get(spelling, "") != said:
                    found[spelling] = said
        if not self.proxies:
            found |= {name: "" for name in ("all_proxy", "ALL_PROXY") if environ.get(name)}
        exempt = ",".join(self.no_proxy)
        if exempt:
            found |= {
                name: exempt for name in ("no_proxy", "NO_PROXY") if environ.get(name, "") != exempt
            }
        named = next((one for one in self.authorities if one.problem is None), None)
        if named is not None and named.path.is_file():
            for name in ("SSL_CERT_FILE", "GIT_SSL_CAINFO"):
                if environ.get(name, "") != str(named.path):
                    found[name] = str(named.path)
        return found


def in_force(paths: Paths | None = None, environ: Mapping[str, str] = os.environ) -> NetworkPolicy:
    """Return the policy as everything is set now; without `paths` the settings are left out.

    Raises: BadInput (`pip-config-invalid`), Damaged (`network-settings-damaged`), HostLacks
    (`not-readable`).
    """
    settings = read_settings(paths) if paths is not None else NetworkSettings()
    return policy_of(settings, environ, read_sources(environ), uv_config.read(environ))


def read_settings(paths: Paths) -> NetworkSettings:
    """Return what the person set. Raises: Damaged (`network-settings-damaged`), HostLacks."""
    try:
        return read_json(paths.network_settings, NetworkSettings) or NetworkSettings()
    except Damaged as error:
        raise Damaged(
            "network-settings-damaged",
            error.message,
            hint="Put it right, or delete it: then environment and pip's files decide.",
        ) from error


def policy_of(
    settings: NetworkSettings,
    environ: Mapping[str, str],
    sources: PackageSources,
    uv_file: uv_config.UvFile,
) -> NetworkPolicy:
    """Join what the four places say."""
    proxies, notes = _proxies(settings, environ, sources, uv_file)
    authorities = _authorities(settings, environ, sources)
    client = environ.get("SSL_CLIENT_CERT") or sources.client_cert
    notes += [
        f"{one.path}, named by {one.source}, is not used: {one.problem}."
        for one in authorities
        if one.problem is not None
    ]
    exempt = environ.get("no_proxy") or environ.get("NO_PROXY") or uv_file.no_proxy or ""
    defaults = NetworkPolicy()
    return NetworkPolicy(
        proxies=proxies,
        no_proxy=tuple(
            dict.fromkeys((*settings.no_proxy, *(one.strip() for one in exempt.split(",") if one)))
        ),
        authorities=authorities,
        client_certificate=Path(client).expanduser() if client else None,
        offline_source=_offline(settings, environ, uv_file),
        mirrors=tuple(SourcedMirror(mirror=mirror, source=SETTINGS) for mirror in settings.mirrors),
        sources=sources,
        connections=max(1, min(settings.connections or defaults.connections, MOST_CONNECTIONS)),
        notes=tuple(notes),
    )


def _proxies(
    settings: NetworkSettings,
    environ: Mapping[str, str],
    sources: PackageSources,
    uv_file: uv_config.UvFile,
) -> tuple[dict[str, Proxy], list[str]]:
    proxies: dict[str, Proxy] = {}
    notes: list[str] = []
    for scheme in _SCHEMES:
        found = _proxy(scheme, settings, environ, sources, uv_file)
        if found is None or found.url == DIRECT:
            continue
        try:
            proxies[scheme] = msgspec.structs.replace(found, url=proxy_address(found.url))
        except BadInput as error:
            notes.append(f"The proxy named by {found.source} is not used: {error.message}")
    return proxies, notes


def _proxy(
    scheme: str,
    settings: NetworkSettings,
    environ: Mapping[str, str],
    sources: PackageSources,
    uv_file: uv_config.UvFile,
) -> Proxy | None:
    """Return the first that is named: settings, environment, uv's file, pip's files."""
    if settings.proxy is not None:
        return Proxy(url=settings.proxy, source=SETTINGS)
    for variable in (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY"):
        if environ.get(variable):
            return Proxy(url=environ[variable], source=variable)
    if any(environ.get(name) for name in _PROXY_VARIABLES):
        return None  # who set only the other one did so on purpose
    of_uv = uv_file.https_proxy if scheme == "https" else uv_file.http_proxy
    if of_uv is not None:
        return Proxy(url=of_uv, source=str(uv_file.path))
    return Proxy(url=sources.proxy, source="pip") if sources.proxy is not None else None


def proxy_address(text: str) -> str:
    """Return the address of a proxy with its scheme; without one it speaks plain HTTP.

    Raises: BadInput (`proxy-invalid`).
    """
    url = text.strip() if "://" in text else f"http://{text.strip()}"
    try:
        parts = urllib.parse.urlsplit(url)
        is_good = bool(parts.hostname) and parts.scheme in _PROXY_SCHEMES and (parts.port or 1) > 0
    except ValueError:
        is_good = False
    if not is_good:
        raise BadInput(
            "proxy-invalid",
            f"{redacted(url)} is not the address of a proxy.",
            hint="It looks like `http://proxy.example:3128`.",
        )
    return url


def _authorities(
    settings: NetworkSettings, environ: Mapping[str, str], sources: PackageSources
) -> tuple[Authority, ...]:
    named = [(settings.ca_file, SETTINGS), *((environ.get(name), name) for name in _BUNDLES)]
    named += [(sources.cert, "pip"), (environ.get("SSL_CERT_DIR"), "SSL_CERT_DIR")]
    found: dict[Path, Authority] = {}
    for place, source in named:
        if place:
            path = Path(place).expanduser()
            found.setdefault(path, Authority(path=path, source=source))
    return tuple(found.values())


def _offline(
    settings: NetworkSettings, environ: Mapping[str, str], uv_file: uv_config.UvFile
) -> str | None:
    if settings.offline is not None:
        return SETTINGS if settings.offline else None
    for name in (OFFLINE, "UV_OFFLINE"):
        if environ.get(name, "").strip().lower() in _TRUE:
            return name
    return str(uv_file.path) if uv_file.offline else None


def _exempts(entry: str, host: str, port: int) -> bool:
    """Return whether an entry of NO_PROXY means this host, as curl and Go read it."""
    entry = entry.strip().lower()
    if entry == "*":
        return True
    name, colon, wanted_port = entry.rpartition(":")
    if colon and wanted_port.isdecimal() and (":" not in name or name.endswith("]")):
        if int(wanted_port) != port:
            return False
        entry = name
    entry = entry.strip("[]").removeprefix("*").removeprefix(".")
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return bool(entry) and (host == entry or host.endswith(f".{entry}"))


def redacted(url: str) -> str:
    """Return an address without user name and password, and without the values of its query."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url
    host, slash, path = rest.partition("/")
    path, question, _query = path.partition("?")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}{'?…' if question else ''}"
