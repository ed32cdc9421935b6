"""Where clients keep their files, on this system and on the Windows around a WSL; who is here."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from studio.clients.catalogue import ClientSpec, FileSpec
from studio.domain.clients import Side
from studio.domain.errors import BadInput
from studio.host import wsl

_MACOS = "darwin"
_WINDOWS = "win32"


class Place(NamedTuple):
    """A file that a client may have."""

    path: Path
    side: Side


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """The machine, as far as clients go."""

    home: Path
    platform: str = sys.platform
    environ: Mapping[str, str] = {}
    profile: Path | None = None
    """The Windows user's folder, seen from WSL; None: no WSL, or it cannot be found."""
    is_wsl: bool = False

    def places(self, file: FileSpec) -> list[Place]:
        """Return where the file may lie, the likeliest first."""
        forms = {_MACOS: file.macos, _WINDOWS: file.windows}.get(self.platform, file.linux)
        found = [Place(path, Side.HERE) for form in forms if (path := self.path(form))]
        moved = self.environ.get(file.folder_variable or "")
        if moved and forms:
            name = forms[0].replace("\\", "/").rsplit("/", 1)[-1]
            found.insert(0, Place(Path(moved).expanduser() / name, Side.HERE))
        if self.profile is not None:
            on_windows = [self._windows(form, self.profile) for form in file.windows]
            found += [Place(path, Side.WINDOWS) for path in on_windows]
        return found

    def path(self, form: str) -> Path | None:
        """Return a place of this system with `~` and `%NAMES%` put in; None: a name is not set."""
        if form.startswith("%"):
            name, _, rest = form[1:].partition("%")
            value = self.environ.get(name)
            return Path(value, *_parts(rest)) if value else None
        if form.startswith("~/"):
            if form.startswith("~/.config/") and self.environ.get("XDG_CONFIG_HOME"):
                return Path(self.environ["XDG_CONFIG_HOME"], form.removeprefix("~/.config/"))
            return self.home / form[2:]
        return Path(form)

    @staticmethod
    def _windows(form: str, profile: Path) -> Path:
        name, _, rest = form.removeprefix("%").partition("%")
        if not form.startswith("%"):
            rest = form.removeprefix("~")
            name = "USERPROFILE"
        inside = {"APPDATA": ("AppData", "Roaming"), "LOCALAPPDATA": ("AppData", "Local")}
        return profile.joinpath(*inside.get(name, ()), *_parts(rest))


def ground(environ: Mapping[str, str] = os.environ, root: Path = Path("/")) -> Ground:
    """Return this machine."""
    is_wsl = sys.platform == "linux" and wsl.is_wsl(os.uname().release, environ)
    return Ground(
        home=Path(environ.get("HOME") or Path.home()),
        environ=dict(environ),
        profile=wsl.profile(environ, root) if is_wsl else None,
        is_wsl=is_wsl,
    )


def chosen(places: Sequence[Place]) -> Place | None:
    """Return the place that counts: the file that is there, else the folder, else the first."""
    for place in places:
        if _is_there(place.path):
            return place
    for place in places:
        if _is_there(place.path.parent):
            return place
    return places[0] if places else None


def given(text: str) -> Place:
    """Return a file that the person named. Raises: BadInput (`path-not-absolute`)."""
    meant = wsl.meant(text)
    path = Path(meant).expanduser()
    if not path.is_absolute():
        raise BadInput("path-not-absolute", f"{text} should be a whole path.")
    return Place(path, Side.HERE if meant == text else Side.WINDOWS)


def trace(spec: ClientSpec, ground: Ground) -> str | None:
    """Return what shows that a client is on this machine; None: nothing does."""
    for command in spec.find.commands:
        found = shutil.which(command, path=ground.environ.get("PATH", ""))
        if found is not None:
            return found
    for form in spec.find.folders:
        for folder in _seen(form, ground):
            return str(folder)
    if spec.file is not None:
        for place in ground.places(spec.file):
            if _is_there(place.path):
                return str(place.path)
    return None


def _seen(form: str, ground: Ground) -> list[Path]:
    path = ground.path(form)
    if path is None:
        return []
    try:
        if path.name.endswith("*"):
            return sorted(path.parent.glob(path.name))[:1]
        return [path] if path.exists() else []
    except OSError:
        return []


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _parts(rest: str) -> list[str]:
    return [part for part in rest.replace("\\", "/").split("/") if part]
