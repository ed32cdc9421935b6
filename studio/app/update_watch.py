"""Watches the first starts of a newer version of the Studio, which may crash once it is proven.

`watched.json` says which version is watched and how often it ended without saying goodbye. Such
an end counts when the machine was not restarted meanwhile, so that a power cut is nobody's fault.
After `MOST_ENDS` of them the version before comes back by itself; one is enough to offer that. The
watch is over after `MOST_STARTS` starts, or when the version has served for `STEADY_S`.
"""

from pathlib import Path

import msgspec

from studio.domain.errors import HostLacks, StudioError
from studio.host.documents import read_json, write_json
from studio.host.transfer.journal import boot_id

MOST_STARTS = 5
MOST_ENDS = 3
STEADY_S = 3_600.0


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """`watched.json`: a version whose first starts are counted."""

    version: str
    previous: str
    starts: int = 1
    ends: int = 0
    """So many of them ended without a goodbye."""
    boot: str | None = None
    """The start of the machine in which the version was started last; None: not known."""
    is_running: bool = True
    """It was started and has not said goodbye."""

    def ends_by(self, boot: str | None) -> int:
        """Return how often it has ended without a goodbye, where it does not run any more.

        `boot` is the start of the machine now; where that is not known, nothing is counted.
        """
        return self.ends + int(self.is_running and boot is not None and self.boot == boot)


class Watch:
    """The watch over one home's program."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "watched.json"

    def now(self) -> Watched | None:
        """Return what is watched; a damaged record is none."""
        try:
            return read_json(self._file, Watched)
        except StudioError:
            return None

    def begin(self, version: str, previous: str) -> None:
        """Watch a version that has just come up. Raises: HostLacks (`disk-full`, …)."""
        self._write(Watched(version=version, previous=previous, boot=boot_id()))

    def started(self, version: str) -> Watched | None:
        """Count a start of a version; return what is known of its starts while it is watched.

        Raises: HostLacks (`disk-full`, `not-writable`).
        """
        known = self.now()
        if known is None:
            return None
        if known.version != version or known.starts >= MOST_STARTS:
            self.over()
            return None
        boot = boot_id()
        found = msgspec.structs.replace(
            known,
            starts=known.starts + 1,
            ends=known.ends_by(boot),
            boot=boot,
            is_running=True,
        )
        self._write(found)
        return found

    def ended(self, version: str) -> None:
        """Keep that a version has said goodbye; a full disk must not keep it from ending."""
        known = self.now()
        if known is not None and known.version == version:
            try:
                self._write(msgspec.structs.replace(known, is_running=False))
            except HostLacks:
                self.over()

    def copy(self, record: Watched | None) -> None:
        """Keep what another home's watch has counted; None: it watches nothing.

        Raises: HostLacks (`disk-full`, `not-writable`).
        """
        if record is None:
            self.over()
        elif record != self.now():
            self._write(record)

    def over(self) -> None:
        """Watch no longer."""
        self._file.unlink(missing_ok=True)

    def _write(self, record: Watched) -> None:
        write_json(self._file, record, mode=0o600)
