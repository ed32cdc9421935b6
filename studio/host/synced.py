"""Finds out whether a folder is copied to a cloud or another machine while it is used.

Such a service uploads databases in the middle of a change, locks files, and brings older ones back.
Told by what each service itself leaves: variables of OneDrive, Dropbox's list of its folders, and
the marks that Dropbox, Nextcloud, ownCloud and Syncthing keep in a folder they copy.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import HostLacks

_ONEDRIVE = ("OneDrive", "OneDriveConsumer", "OneDriveCommercial")
_MARKS = {
    ".dropbox": "Dropbox", ".dropbox.cache": "Dropbox", ".stfolder": "Syncthing",
    ".nextcloudsync.log": "Nextcloud", ".owncloudsync.log": "ownCloud",
}  # fmt: skip
_DATABASES = (".sync_", "._sync_")
"""Nextcloud's and ownCloud's, at the top of what they copy."""
_SETTINGS = ".dropbox"
"""In a person's home this is where Dropbox keeps its settings, and no mark."""


class _Account(msgspec.Struct, frozen=True, kw_only=True):
    """One of the accounts in Dropbox's `info.json`."""

    path: str = ""


def service_of(
    folder: Path, *, environ: Mapping[str, str] = os.environ, home: Path | None = None
) -> str | None:
    """Return the name of the service that copies a folder, which need not exist yet."""
    person = home if home is not None else Path(environ.get("HOME") or "/nonexistent")
    real = folder.resolve()
    for place, name in (*_onedrive(environ), *_dropbox(environ, person)):
        if folder.is_relative_to(place) or real.is_relative_to(place):
            return name
    marks = (_mark(parent, person) for parent in (real, *real.parents))
    return next((found for found in marks if found is not None), None)


def require_own(folder: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Refuse a folder that is copied. Raises: HostLacks (`folder-synced`)."""
    name = service_of(folder, environ=environ)
    if name is not None:
        raise HostLacks(
            "folder-synced",
            f"{folder} is copied by {name}, which damages databases and disk images in use.",
            hint="Choose a folder outside of it with WEIR_HOME.",
        )


def _onedrive(environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for variable in _ONEDRIVE:
        if environ.get(variable):
            yield Path(environ[variable]), "OneDrive"


def _dropbox(environ: Mapping[str, str], person: Path) -> Iterator[tuple[Path, str]]:
    """Yield the folders of Dropbox's `info.json`, which its help names for programs to read."""
    places = [Path(environ[name]) / "Dropbox" for name in ("APPDATA", "LOCALAPPDATA")
              if environ.get(name)]  # fmt: skip
    for settings in (person / ".dropbox", *places):
        try:
            raw = (settings / "info.json").read_bytes()
            accounts = msgspec.json.decode(raw, type=dict[str, _Account])
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            continue
        for account in accounts.values():
            if account.path:
                yield Path(account.path), "Dropbox"


def _mark(folder: Path, person: Path) -> str | None:
    try:
        names = [one.name for one in os.scandir(folder) if one.name.startswith(".")]
    except OSError:
        return None
    for name in names:
        if name in _MARKS and not (folder == person and name == _SETTINGS):
            return _MARKS[name]
        if name.startswith(_DATABASES) and name.endswith(".db"):
            return "Nextcloud or ownCloud"
    return None
