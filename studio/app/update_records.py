"""The small files in which updates of the Studio are remembered, under `update/` of a home.

A damaged one counts as none: a start must not fail for a note about updates.
"""

from pathlib import Path
from typing import TypeVar

import msgspec

from studio.app.update_proof import Holdings
from studio.domain.errors import ErrorInfo, StudioError
from studio.host import files
from studio.host.documents import read_json, write_json
from studio.host.paths import Paths

T = TypeVar("T")

FOLDER = "update"


class Staged(msgspec.Struct, frozen=True, kw_only=True):
    """`staged.json`: a version that lies beside the present one."""

    version: str
    wanted: bool = False
    """It takes over at the next start of the service."""
    is_rollback: bool = False
    """It is the version before: its databases come back where the schema has changed."""
    because: ErrorInfo | None = None
    """Why the way back is taken where no person asked for it."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """`trial.json`: which version is on trial, and who comes back otherwise."""

    old: str
    new: str
    pid: int
    process_started_at: float | None
    began_at: float
    holdings: Holdings = Holdings()
    """What the one before could read, and the new one has to find again."""
    shortcoming: str | None = None
    """What the new one lacks, in its own words."""


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """`ran.json`: the version that came up last in this home, and the one before it."""

    version: str
    previous: str | None = None


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """`opening.json`: a version that has opened this home and has not come up in it yet."""

    version: str


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """`failed.json`: why a version was taken back."""

    version: str
    error: ErrorInfo


class Records:
    """The small files of updates in one home."""

    def __init__(self, paths: Paths) -> None:
        self.folder = paths.home / FOLDER

    def staged(self) -> Staged | None:
        """Return the staged version; a damaged record is none."""
        return _read(self.folder / "staged.json", Staged)

    def trial(self) -> Trial | None:
        """Return the trial under way, or one that was cut off."""
        return _read(self.folder / "trial.json", Trial)

    def ran(self) -> Ran | None:
        """Return which version came up last."""
        return _read(self.folder / "ran.json", Ran)

    def opening(self) -> Opening | None:
        """Return which version began to start, where none has come up since."""
        return _read(self.folder / "opening.json", Opening)

    def failed(self) -> Failed | None:
        """Return why the last update was taken back."""
        return _read(self.folder / "failed.json", Failed)

    def write(self, record: Staged | Trial | Ran | Opening | Failed) -> None:
        """Write a record. Raises: HostLacks (`disk-full`, `not-writable`)."""
        files.make_private(self.folder)
        write_json(self.folder / f"{type(record).__name__.lower()}.json", record, mode=0o600)

    def forget(self, kind: type[Staged | Trial | Opening | Failed]) -> None:
        """Remove a record."""
        (self.folder / f"{kind.__name__.lower()}.json").unlink(missing_ok=True)


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return read_json(path, kind)
    except StudioError:
        return None
