"""What uv's own configuration file says about the network, so that one place of truth is enough.

Only what the Studio's own downloads have to know; uv reads the file by itself for all the rest.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec


class UvFile(msgspec.Struct, frozen=True, kw_only=True):
    """The network settings of uv.toml; None means not set."""

    path: Path | None = None
    http_proxy: str | None = None
    https_proxy: str | None = None
    no_proxy: str | None = None
    offline: bool = False


class _Document(msgspec.Struct, frozen=True, rename="kebab"):
    http_proxy: str | None = None
    https_proxy: str | None = None
    no_proxy: str | list[str] | None = None
    offline: bool = False


def read(environ: Mapping[str, str] = os.environ) -> UvFile:
    """Return the first of uv's files that is there; one that uv could not read either says nothing.

    Source: the places and keys of uv 0.13.
    """
    if environ.get("UV_NO_CONFIG"):
        return UvFile()
    for path in _places(environ):
        try:
            raw = tomllib.loads(path.read_text("utf-8"))
            found = msgspec.convert(raw, _Document)
        except (OSError, ValueError, msgspec.ValidationError):
            continue
        exempt = found.no_proxy
        return UvFile(
            path=path,
            http_proxy=found.http_proxy,
            https_proxy=found.https_proxy,
            no_proxy=",".join(exempt) if isinstance(exempt, list) else exempt,
            offline=found.offline,
        )
    return UvFile()


def _places(environ: Mapping[str, str]) -> list[Path]:
    named = environ.get("UV_CONFIG_FILE")
    if named:
        return [Path(named).expanduser()]
    home = Path(environ.get("HOME") or Path.home())
    config_home = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    shared = (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)
    folders = [config_home, *(Path(folder) for folder in shared if folder), Path("/etc")]
    return [folder / "uv" / "uv.toml" for folder in folders]
