"""Where this machine's pip gets its packages, so that the Studio's uv asks the same places.

Reads pip's own files (global, user, site, `PIP_CONFIG_FILE`) and `PIP_*` variables in pip's order,
and turns the places into uv's terms (proxy and certificates: network.py). `UV_*` variables win over
all of it. Folders that do not exist are left out, as pip does. Addresses go into the environment
and not onto the command line, because they may carry a password and a command line is visible to
every local user.
"""

import configparser
import os
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import BadInput

_COMMANDS = ("global", "install")
_TRUE = frozenset(("1", "true", "yes", "on"))
_UV_INDEX = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")
_UV_EXTRA = ("UV_INDEX", "UV_EXTRA_INDEX_URL")
_UV_SOURCES = (
    *_UV_INDEX,
    *_UV_EXTRA,
    "UV_FIND_LINKS",
    "UV_NO_INDEX",
    "UV_OFFLINE",
    "UV_INSECURE_HOST",
    "UV_KEYRING_PROVIDER",
    "UV_SYSTEM_CERTS",
    "UV_NATIVE_TLS",
    "UV_CONFIG_FILE",
    "UV_HTTP_",
    "UV_CONCURRENT_",
)
"""Where from and how; never what (a constraint, an override or a lax hash setting of the person's
would change a runtime that is locked). `UV_INDEX` also begins the names of an index's password."""
_SYSTEM_STORES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # openSUSE
)


class PackageSources(msgspec.Struct, frozen=True, kw_only=True):
    """What pip is configured with; `None` and empty mean not configured."""

    index_url: str | None = None
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    """Folders and addresses of pages, as configured."""
    no_index: bool = False
    cert: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    trusted_hosts: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return the wheel folders that exist."""
        return tuple(
            folder
            for folder in (_local(place) for place in self.find_links)
            if folder is not None and folder.is_dir()
        )


def read_sources(
    environ: Mapping[str, str] = os.environ, *, files: Iterable[Path] | None = None
) -> PackageSources:
    """Return the machine's package sources.

    Raises: BadInput (`pip-config-invalid`) naming the file that pip could not read either.
    """
    values: dict[str, str] = {}
    for path in config_files(environ) if files is None else files:
        values.update(_read_file(path))
    for name, value in environ.items():
        if name.startswith("PIP_") and value:
            values[_key(name.removeprefix("PIP_"))] = value
    return PackageSources(
        index_url=_one(values, "index-url"),
        extra_index_urls=_many(values, "extra-index-url"),
        find_links=_many(values, "find-links"),
        no_index=values.get("no-index", "").strip().lower() in _TRUE,
        cert=_one(values, "cert"),
        client_cert=_one(values, "client-cert"),
        proxy=_one(values, "proxy"),
        trusted_hosts=_many(values, "trusted-host"),
    )


def config_files(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Return pip's configuration files, the strongest last, whether they exist or not."""
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return ()
    home = Path(environ.get("HOME") or Path.home())
    config_home = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    shared = (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)
    return (
        *(Path(folder, "pip", "pip.conf") for folder in reversed(shared) if folder),
        Path("/etc/pip.conf"),
        home / ".pip" / "pip.conf",
        config_home / "pip" / "pip.conf",
        Path(sys.prefix) / "pip.conf",
        *((Path(named).expanduser(),) if named else ()),
    )


def uv_settings(
    sources: PackageSources,
    environ: Mapping[str, str] = os.environ,
    *,
    extra_indexes: Iterable[str] = (),
) -> tuple[list[str], dict[str, str]]:
    """Return uv's arguments and variables for `sources` and for places of our own.

    With more than one index uv would stop at the first that knows a name. Every pin carries its
    hash, so the version may come from any of them.
    """
    variables = {
        name: value
        for name, value in environ.items()
        if value and name.startswith(_UV_SOURCES) and not name.startswith("UV_INDEX_STRATEGY")
    }
    arguments = ["--index-strategy", "unsafe-best-match"]
    if not variables.keys() & set(_UV_INDEX) and sources.index_url:
        variables["UV_DEFAULT_INDEX"] = sources.index_url
    indexes = [url for url in sources.extra_index_urls if _is_there(url)]
    if variables.keys() & set(_UV_EXTRA):
        indexes = variables.pop("UV_EXTRA_INDEX_URL", "").split()
    indexes += extra_indexes
    if indexes:
        variables["UV_EXTRA_INDEX_URL"] = " ".join(indexes)
    if sources.no_index and "UV_NO_INDEX" not in variables:
        arguments.append("--no-index")
    if "UV_FIND_LINKS" not in variables:
        arguments += _find_links(sources, variables)
    for host in sources.trusted_hosts if "UV_INSECURE_HOST" not in variables else ():
        arguments += ["--allow-insecure-host", host]
    return arguments, variables


def _find_links(sources: PackageSources, variables: dict[str, str]) -> list[str]:
    pages = [place for place in sources.find_links if _local(place) is None]
    if pages:
        variables["UV_FIND_LINKS"] = ",".join(pages)
    # As addresses, because uv splits a plain value at commas.
    folders = [folder.absolute().as_uri() for folder in sources.folders]
    return [part for folder in folders for part in ("--find-links", folder)]


def has_system_store(environ: Mapping[str, str]) -> bool:
    """Return whether this machine has authorities of its own, or `environ` names some."""
    named = [environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if environ.get(name)]
    return any(Path(place).exists() for place in (*named, *_SYSTEM_STORES))


def _read_file(path: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        with path.open(encoding="utf-8-sig") as file:
            parser.read_file(file)
    except (FileNotFoundError, NotADirectoryError, PermissionError, IsADirectoryError):
        return {}
    except (configparser.Error, UnicodeDecodeError) as error:
        raise BadInput(
            "pip-config-invalid",
            f"pip's configuration {path} cannot be read: {error}.",
            hint="Correct the file, or set PIP_CONFIG_FILE to another one.",
        ) from error
    return {
        _key(name): value
        for section in _COMMANDS
        if parser.has_section(section)
        for name, value in parser.items(section)
        if value
    }


def _key(name: str) -> str:
    return name.lower().replace("_", "-").removeprefix("--")


def _one(values: Mapping[str, str], key: str) -> str | None:
    return values.get(key, "").strip() or None


def _many(values: Mapping[str, str], key: str) -> tuple[str, ...]:
    """Split as pip does: at blanks and line ends (a blank inside an address is `%20`)."""
    return tuple(values.get(key, "").split())


def _local(place: str) -> Path | None:
    """Return the folder that `place` names, or None for an address on a network."""
    if place.startswith("file:"):
        return Path(urllib.request.url2pathname(urllib.parse.urlsplit(place).path))
    return None if "://" in place else Path(place).expanduser()


def _is_there(place: str) -> bool:
    folder = _local(place)
    return folder is None or folder.is_dir()
