"""Lists and removes what the Studio made: in its folder, and the few things outside of it.

Needs no service and no home in order. What is not known to be ours is never touched; a link is
removed, never what it points at; a second run goes on where a kill ended the first.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from studio.domain.errors import Busy, StudioError
from studio.domain.secrets import StoreKind
from studio.domain.uninstall import (
    Belongings,
    Place,
    UninstallPlan,
    UninstallRequest,
    UninstallResult,
)
from studio.domain.wsl import DISTRIBUTION
from studio.host import lxss, own_program, plain_home, processes, unit_file
from studio.host.documents import read_json
from studio.host.own_program import OwnProgram, find
from studio.host.paths import Paths
from studio.host.registry import Registry
from studio.host.secrets import SecretStore
from studio.host.systemd import unit_folder

_LINUX = "wsl"
_IN_HOME: Mapping[str, Belongings] = {
    "models": Belongings.MODELS,
    "runtimes": Belongings.RUNTIMES,
    "store": Belongings.RUNTIMES,
    "series": Belongings.RUNTIMES,
    "signing": Belongings.RUNTIMES,
    "runtime-pins.json": Belongings.RUNTIMES,
    "runtime-history.json": Belongings.RUNTIMES,
    "install.lock": Belongings.RUNTIMES,
    "cache": Belongings.CACHE,
    "downloads.json": Belongings.CACHE,
    "logs": Belongings.LOGS,
    "prompts": Belongings.LOGS,
    "history.db": Belongings.HISTORY,
    "bench": Belongings.HISTORY,
    "boots.json": Belongings.HISTORY,
    "calibration.json": Belongings.HISTORY,
    "spill-baselines.json": Belongings.HISTORY,
    "cache-findings.json": Belongings.HISTORY,
    "studio.db": Belongings.KEYS,
    "secrets": Belongings.KEYS,
    "metrics.json": Belongings.KEYS,
    "adopted.json": Belongings.KEYS,
    "settings.json": Belongings.SETTINGS,
    "network.json": Belongings.SETTINGS,
    "presets": Belongings.SETTINGS,
    "autostart.json": Belongings.SETTINGS,
    "alarms.json": Belongings.SETTINGS,
    "window.ini": Belongings.SETTINGS,
    "window.lock": Belongings.SETTINGS,
    "window.sock": Belongings.SETTINGS,
    "clients": Belongings.SETTINGS,
    "service": Belongings.SERVICE,
    "gateway": Belongings.SERVICE,
    "service-unit.json": Belongings.SERVICE,
    "update": Belongings.CACHE,
    "copies": Belongings.KEYS,
    "wsl.json": Belongings.SETTINGS,
    _LINUX: Belongings.MODELS,  # a whole disk, with models in it
}
"""Every name that the Studio writes into its folder; a test compares it with what it wrote."""
_SIDE_FILES = ("-wal", "-shm", "-journal", ".lock", ".damaged", ".before")
"""What lies beside a file of ours: SQLite's own, locks, what was set aside."""


class Uninstall:
    """Knows one home, and the program that runs."""

    def __init__(
        self,
        paths: Paths,
        *,
        environ: Mapping[str, str] = os.environ,
        program: Callable[[], OwnProgram] = find,
        registry: Registry | None = None,
    ) -> None:
        self._paths = paths
        self._environ = environ
        self._program = program
        self._registry = registry or Registry()

    def plan(self) -> UninstallPlan:
        """Return what there is. Blocks while folders are measured."""
        program = self._program()
        known = sorted(self._known(program), key=_order)
        seen: set[tuple[int, int]] = set()
        places = tuple(_place(path, group, seen) for path, group in known if os.path.lexists(path))
        return UninstallPlan(
            home=str(self._paths.home),
            places=places,
            keyring=self._in_keyring(),
            foreign=tuple(str(path) for path in self._foreign()),
            notes=(*program.notes, *self._linux()),
            service_pid=self._service_pid(),
        )

    def remove(self, request: UninstallRequest) -> UninstallResult:
        """Remove the groups that are named, the program last. Blocks.

        Raises: Busy (`uninstall-service-runs`).
        """
        plan = self.plan()
        if plan.service_pid is not None:
            raise Busy(
                "uninstall-service-runs",
                f"The service runs (process {plan.service_pid}) and uses these files.",
                hint="`weir down` ends it; then run this again.",
            )
        wanted = set(request.remove)
        if Belongings.KEYS in wanted:
            self._forget_secrets()
        if Belongings.SERVICE in wanted:
            plain_home.forget(self._paths)
        removed, left = [], list(self._linux() if Belongings.MODELS in wanted else ())
        for group in Belongings:
            for place in plan.places if group in wanted else ():
                if place.group is group:
                    problem = own_program.remove(Path(place.path))
                    left += [] if problem is None else [problem]
                    removed += [place] if problem is None else _partly(place)
        _remove_if_empty(self._paths.home)
        if Belongings.PROGRAM in wanted:
            for folder in self._program().folders:
                _remove_if_empty(folder)
        return UninstallResult(
            removed=tuple(removed),
            freed_bytes=sum(place.bytes for place in removed),
            left=tuple(left),
        )

    def _known(self, program: OwnProgram) -> Iterator[tuple[Path, Belongings]]:
        for path in _entries(self._paths.home):
            group = _group(path.name)
            if group is not None and not (path.name == _LINUX and self._holds_linux(path)):
                yield path, group
        unit = unit_folder(self._environ) / unit_file.NAME
        if self._is_our_unit(unit):
            yield unit, Belongings.SERVICE
            yield unit.parent / "default.target.wants" / unit.name, Belongings.SERVICE
        if self._paths.sockets != self._paths.service:
            yield self._paths.sockets, Belongings.SERVICE
        for path in program.paths:
            yield path, Belongings.PROGRAM

    def _is_our_unit(self, unit: Path) -> bool:
        try:
            text = unit.read_text(encoding="utf-8")
        except (OSError, UnicodeError):
            return False
        return unit_file.is_ours(text) and unit_file.home_of(text) == str(self._paths.home)

    def _linux(self) -> tuple[str, ...]:
        """Say who removes the Studio's Linux, where WSL has it: its disk is in use, by a record.

        `wsl --manage NAME --move` leaves the folder in the home, which then goes like any other.
        """
        known, folder = dict(lxss.disks(self._registry)), self._paths.home / _LINUX
        notes = []
        if DISTRIBUTION in known:
            where = known[DISTRIBUTION]
            notes = [
                f"{where}: `weir wsl remove` says what is in the Studio's Linux and removes it."
            ]
        if self._holds_linux(folder) and not _lies_in(known.get(DISTRIBUTION), folder):
            notes.append(
                f"{folder}: it holds a disk image that the Studio's Linux does not use. Remove it "
                "by hand where nothing in it is needed."
            )
        return tuple(notes)

    def _holds_linux(self, folder: Path) -> bool:
        """Tell whether WSL has a disk in that folder, or might, as it has the Studio's Linux."""
        known = dict(lxss.disks(self._registry))
        is_registered = any(_lies_in(disk, folder) for disk in known.values())
        return is_registered or (DISTRIBUTION in known and any(folder.glob("*.vhdx")))

    def _foreign(self) -> Iterator[Path]:
        for path in _entries(self._paths.home):
            if _group(path.name) is None:
                yield path

    def _in_keyring(self) -> tuple[str, ...]:
        found = []
        for service in self._secret_services():
            kinds = SecretStore(self._paths.secrets).kinds(service)
            found += [name for name, kind in kinds.items() if kind is StoreKind.KEYRING]
        return tuple(sorted(found))

    def _forget_secrets(self) -> None:
        store = SecretStore(self._paths.secrets)
        for service in self._secret_services():
            for name in store.kinds(service):
                store.delete(service, name)

    def _secret_services(self) -> list[str]:
        return [path.name for path in _entries(self._paths.secrets) if path.is_dir()]

    def _service_pid(self) -> int | None:
        try:
            known = read_json(self._paths.service / "service.json", dict)
        except StudioError:
            return None
        pid = known.get("pid") if known is not None else None
        is_pid = isinstance(pid, int) and processes.started_at(pid) is not None
        return pid if is_pid else None


def _order(known: tuple[Path, Belongings]) -> tuple[int, Path]:
    """Return where to measure it: what runtimes and caches share belongs to the runtimes."""
    path, group = known
    return list(Belongings).index(group), path


def _group(name: str) -> Belongings | None:
    """Return what a name in the home belongs to; files beside one of ours belong with it."""
    if name in _IN_HOME:
        return _IN_HOME[name]
    for known, group in _IN_HOME.items():
        rest = name.removeprefix(known)
        if rest != name and rest.startswith(_SIDE_FILES):
            return group
    return None


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _place(path: Path, group: Belongings, seen: set[tuple[int, int]]) -> Place:
    """Measure one thing; bytes that two names share are counted at the first."""
    is_folder = path.is_dir() and not path.is_symlink()
    files = [Path(top, name) for top, _, names in os.walk(path) for name in names]
    size = 0
    for file in files if is_folder else [path]:
        try:
            about = file.lstat()
        except OSError:  # gone meanwhile
            continue
        if (about.st_dev, about.st_ino) not in seen:
            seen.add((about.st_dev, about.st_ino))
            size += about.st_size
    return Place(path=str(path), group=group, bytes=size, files=len(files) if is_folder else 1)


def _partly(place: Place) -> list[Place]:
    """Return what went of a place of which something stays, as a person's files in a version."""
    stays = _place(Path(place.path), place.group, set())
    gone = msgspec.structs.replace(
        place, bytes=place.bytes - stays.bytes, files=place.files - stays.files
    )
    return [gone] if gone.files > 0 and gone.bytes >= 0 else []


def _lies_in(disk: Path | None, folder: Path) -> bool:
    return disk is not None and disk.resolve().is_relative_to(folder.resolve())


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not _entries(folder):
        folder.rmdir()
