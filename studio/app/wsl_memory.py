"""How much memory WSL should have for the chosen preset, and `.wslconfig` in which it stands."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from studio.domain import hardware
from studio.domain.errors import StudioError
from studio.domain.wsl import WslConfigRequest
from studio.host import files, processes, wsl, wslconfig
from studio.host.documents import read_json, write_json

BEFORE = ".wslconfig.before-weir"


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """`wsl.json`: what has to be known after a restart of Windows."""

    schema_version: int = 1
    installed_in_boot: float | None = None
    """When the Windows was started in which WSL was installed."""
    preset: str | None = None
    """The one that memory was last asked for."""
    needed_bytes: int | None = None
    """What the planner says that this preset takes of the machine's memory."""
    compacting_pid: int | None = None
    """The process that compacts the disk image; None: none does."""
    compacting_since: float | None = None
    """When that process was started: one that was killed left its number to others."""


class Record:
    """The file of one home."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.path = home / "wsl.json"

    def read(self) -> Kept:
        """Return what is kept; a broken file keeps nothing."""
        try:
            return read_json(self.path, Kept) or Kept()
        except StudioError:
            return Kept()

    def write(self, kept: Kept) -> None:
        """Raises: HostLacks (`not-writable`)."""
        files.make_private(self._home)
        write_json(self.path, kept)

    @contextlib.contextmanager
    def compacting(self) -> Iterator[None]:
        """Say to other processes that this one compacts the disk image; one that dies does not."""
        pid = os.getpid()
        mark = {"compacting_pid": pid, "compacting_since": processes.started_at(pid)}
        self.write(msgspec.structs.replace(self.read(), **mark))
        try:
            yield
        finally:
            self.write(msgspec.structs.replace(self.read(), **dict.fromkeys(mark)))


class WslMemory:
    """What is proposed and written."""

    def __init__(
        self, record: Record, environ: Mapping[str, str], total_bytes: Callable[[], int]
    ) -> None:
        self._record = record
        self._environ = environ
        self._total_bytes = total_bytes

    @property
    def file(self) -> Path:
        """Return where WSL looks for it."""
        return Path(self._environ.get("USERPROFILE") or Path.home()) / ".wslconfig"

    @property
    def preset(self) -> str | None:
        """Return the preset that the proposal is for."""
        return self._record.read().preset

    def lines(self) -> tuple[str, ...]:
        """Return what is proposed; nothing where no preset asks for more than there is."""
        memory = self._proposed()
        return wslconfig.lines(memory) if memory is not None else ()

    def change(self, memory_bytes: int | None = None) -> tuple[str, ...]:
        """Return what writing `memory_bytes` would change in the file; None: what is proposed."""
        memory = memory_bytes or self._proposed()
        return wslconfig.difference(self._text(), memory) if memory is not None else ()

    def take(self, request: WslConfigRequest) -> None:
        """Keep the preset; write the file where that is wanted. Raises: HostLacks."""
        if request.preset is not None:
            kept = msgspec.structs.replace(
                self._record.read(), preset=request.preset, needed_bytes=request.needed_bytes
            )
            self._record.write(kept)
        memory = request.memory_bytes or self._proposed()
        if request.write and memory is not None:
            self._write(memory)

    def _proposed(self) -> int | None:
        given = wsl.with_config(hardware.WslFacts(), self._text()).config_memory_bytes
        return wslconfig.proposal(self._total_bytes(), self._record.read().needed_bytes, given)

    def _text(self) -> str:
        try:
            return wsl.decoded(self.file.read_bytes())
        except OSError:
            return ""

    def _write(self, memory_bytes: int) -> None:
        """Write it; the file as it was before the first time stays beside it."""
        kept = self.file.with_name(BEFORE)
        try:
            before = self.file.read_bytes()
        except FileNotFoundError:
            before = b""
        except OSError as error:
            raise files.from_os_error(error, self.file) from error
        if before and not kept.exists():
            files.write_atomic(kept, before)
        after = wslconfig.changed(wsl.decoded(before), memory_bytes)
        files.write_atomic(self.file, after.encode("utf-8"))
