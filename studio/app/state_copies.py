"""Copies of databases and settings, made before another version of the Studio touches them.

One folder a version under `copies/`, with a record that is written last. A copy is put back when
the version that wrote it runs again: all of it after an update that failed, and after a later
rollback only the databases whose schema the newer version had changed, so that keys and settings
made since stay.
"""

import contextlib
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from studio.domain.errors import Damaged, HostLacks
from studio.domain.self_update import Copy
from studio.host import files
from studio.host.documents import read_json, write_json
from studio.host.paths import Paths

logger = logging.getLogger(__name__)

FOLDER = "copies"
MOST_COPIES = 3
_RECORD = "copy.json"
_DATABASES = ("studio.db", "history.db")
_FILES = (
    "settings.json", "network.json", "metrics.json", "adopted.json", "autostart.json",
    "alarms.json", "boots.json", "calibration.json", "spill-baselines.json", "cache-findings.json",
    "downloads.json", "runtime-pins.json", "runtime-history.json", "service-unit.json",
    "window.ini",
)  # fmt: skip
_FOLDERS = ("presets", "clients")
"""Small, and a newer version may write them anew. Runtimes and models are never touched."""


class CopyRecord(msgspec.Struct, frozen=True, kw_only=True):
    """`copy.json` of one copy."""

    schema_version: int = 1
    version: str
    """Of the Studio that had written what was copied."""
    made_at: float
    schemas: dict[str, int] = {}
    """Of each database."""


class StateCopies:
    """The copies of one home. Everything blocks; no service may run meanwhile."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._folder = paths.home / FOLDER

    def all(self) -> tuple[Copy, ...]:
        """Return the copies that are whole, the newest first."""
        found = [
            Copy(
                version=record.version,
                made_at=record.made_at,
                bytes=files.folder_bytes(folder),
                path=str(folder),
            )
            for folder, record in self._whole()
        ]
        return tuple(sorted(found, key=lambda one: one.made_at, reverse=True))

    def has(self, version: str) -> bool:
        """Tell whether there is a whole copy of a version."""
        return any(record.version == version for _folder, record in self._whole())

    def make(self, version: str) -> None:
        """Copy what `version` left, in the place of an earlier copy of it.

        Raises: HostLacks (`disk-space`, `disk-full`, `not-writable`), Damaged (`copy-failed`).
        """
        target = self._folder / version
        part, old = target.with_name(f"{version}.part"), target.with_name(f"{version}.old")
        files.make_private(self._folder)
        for left in (part, old):
            shutil.rmtree(left, ignore_errors=True)
        files.require_space(self._folder, self._size(), "A copy of databases and settings")
        try:
            part.mkdir(mode=0o700)
            schemas = dict(self._copy_databases(part))
            self._copy_files(part)
            record = CopyRecord(version=version, made_at=time.time(), schemas=schemas)
            write_json(part / _RECORD, record, mode=0o600)
            _flush(part)
            if target.exists():
                target.replace(old)
            part.replace(target)
        except OSError as error:
            raise files.from_os_error(error, part) from error
        except sqlite3.Error as error:
            raise Damaged(
                "copy-failed",
                f"The databases in {self._paths.home} cannot be copied: {error}.",
                hint="`weir report` shows which; move a damaged one away.",
            ) from error
        shutil.rmtree(old, ignore_errors=True)
        self._forget_older(kept=version)

    def restore(self, version: str, *, only_changed: bool) -> tuple[str, ...]:
        """Put the copy of a version back; return the names of what was put back.

        With `only_changed`, just the databases whose schema is another one now. Can be repeated
        after a kill: the copy stays. Raises: HostLacks, Damaged (`copy-missing`).
        """
        for folder, record in self._whole():
            if record.version == version:
                return tuple(self._restore(folder, record, only_changed=only_changed))
        raise Damaged(
            "copy-missing",
            f"There is no copy of what version {version} had written.",
            hint=f"Copies lie in {self._folder}.",
        )

    def _restore(self, folder: Path, record: CopyRecord, *, only_changed: bool) -> Iterator[str]:
        try:
            for name in _DATABASES:
                here = self._paths.home / name
                is_other = _schema(here) != record.schemas.get(name)
                if name in record.schemas and (is_other or not only_changed):
                    _put_back(folder / name, here)
                    yield name
            if not only_changed:
                for name in _FILES:
                    if (folder / name).is_file():
                        _replace(folder / name, self._paths.home / name)
                        yield name
        except OSError as error:
            raise files.from_os_error(error, self._paths.home) from error

    def _copy_databases(self, to: Path) -> Iterator[tuple[str, int]]:
        for name in _DATABASES:
            source = self._paths.home / name
            if not source.is_file():
                continue
            os.close(os.open(to / name, os.O_RDWR | os.O_CREAT, 0o600))
            with (
                contextlib.closing(sqlite3.connect(source, timeout=5.0)) as here,
                contextlib.closing(sqlite3.connect(to / name)) as copy,
            ):
                here.backup(copy)
                yield name, int(copy.execute("PRAGMA user_version").fetchone()[0])

    def _copy_files(self, to: Path) -> None:
        for name in _FILES:
            if (self._paths.home / name).is_file():
                shutil.copy2(self._paths.home / name, to / name)
        for name in _FOLDERS:
            if (self._paths.home / name).is_dir():
                shutil.copytree(self._paths.home / name, to / name, symlinks=True)

    def _size(self) -> int:
        """Return what a copy takes at most."""
        home = self._paths.home
        names = (*_DATABASES, *(f"{name}-wal" for name in _DATABASES), *_FILES)
        single = sum(_bytes(home / name) for name in names)
        return single + sum(files.folder_bytes(home / name) for name in _FOLDERS)

    def _whole(self) -> Iterator[tuple[Path, CopyRecord]]:
        with contextlib.suppress(OSError):
            for folder in sorted(self._folder.iterdir()):
                record = _record(folder)
                if record is not None:
                    yield folder, record

    def _forget_older(self, *, kept: str) -> None:
        for copy in self.all()[MOST_COPIES:]:
            if copy.version != kept:
                shutil.rmtree(copy.path, ignore_errors=True)


def _record(folder: Path) -> CopyRecord | None:
    if folder.name.endswith((".part", ".old")):
        return None
    try:
        return read_json(folder / _RECORD, CopyRecord)
    except (Damaged, HostLacks):
        return None


def _schema(database: Path) -> int | None:
    """Return the schema's version of a database; None where there is none that can be read."""
    if not database.is_file():
        return None
    try:
        with contextlib.closing(sqlite3.connect(database, timeout=5.0)) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error:
        return None


def _put_back(copy: Path, database: Path) -> None:
    """Replace a database, without what SQLite keeps beside it: that belongs to the other file."""
    if database.is_file():
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(database, timeout=5.0)) as connection,
        ):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in ("-wal", "-shm"):
        database.with_name(f"{database.name}{suffix}").unlink(missing_ok=True)
    _replace(copy, database)


def _replace(copy: Path, target: Path) -> None:
    part = target.with_name(f".{target.name}.restoring")
    shutil.copy2(copy, part)
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(target)


def _flush(folder: Path) -> None:
    """Bring all of a folder to the disk before its name says that it is whole."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
