"""The file of the history, on the one thread that may touch it. It never stops the service.

A file that cannot be read is set aside under another name and a new one is begun; one that cannot
be written keeps what is new in memory, as much as ten minutes of it, and is tried again.
"""

import contextlib
import logging
import os
import sqlite3
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from studio.domain.history import HistoryEvent, HistoryEventKind
from studio.monitor import history_schema, history_write
from studio.monitor.history_write import MOST_BYTES, Reading, Writer

logger = logging.getLogger(__name__)

_BUSY_S = 5.0
_JOURNAL_BYTES = 4 << 20
_BESIDE = ("-wal", "-shm")
_NOT_OURS = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

T = TypeVar("T")


class Unwritable(Exception):
    """The file cannot be written now; `str` says why."""


class HistoryFile:
    """One file. All of it runs on one thread."""

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.time,
        most_bytes: Callable[[], int] = lambda: MOST_BYTES,
    ) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._bound: int | None = None
        """The bound that the file was held to last: a smaller one holds at the next writing."""
        self.set_aside: str | None = None
        """What became of a file that could not be read, in a sentence."""
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._writer: Writer | None = None
        self._is_reader = False

    def open(self) -> None:
        """Open the file to write; makes it (mode 0600). Raises: Unwritable."""
        self.close()
        try:
            self._open()
        except _Unreadable as error:
            self._set_aside(str(error))
            try:
                self._open()
            except _Unreadable as again:
                raise Unwritable(str(again)) from again

    def close(self) -> None:
        """Let go of the file."""
        connection, self._connection, self._writer = self._connection, None, None
        self._is_reader = False
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def write(self, readings: Sequence[Reading], events: Sequence[HistoryEvent]) -> None:
        """Keep all of it, or nothing. Raises: Unwritable."""
        try:
            self._write(readings, events)
        except _Unreadable as error:
            self._set_aside(str(error))
            self.open()
            try:
                self._write(readings, events)
            except _Unreadable as again:
                raise Unwritable(str(again)) from again

    def change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in a transaction. Raises: Unwritable."""
        try:
            if self._connection is None or self._is_reader:
                self.open()
            connection = self._connection
            assert connection is not None
            with _translated(), history_schema.transaction(connection):
                return work(connection)
        except _Unreadable as error:
            raise Unwritable(str(error)) from error

    def read(self, work: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        """Return what `work` finds; `nothing` where there is no file, or none that can be read."""
        if self._connection is None and not self._open_to_read():
            return nothing
        assert self._connection is not None
        try:
            with _translated():
                return work(self._connection)
        except _Unreadable as error:
            logger.warning("the history cannot be read: %s", error)
            if self._is_reader:
                self.close()
            else:
                with contextlib.suppress(Unwritable):
                    self._set_aside(str(error))  # begun anew with the next write
        except Unwritable as error:
            logger.warning("the history cannot be read now: %s", error)
        return nothing

    def size(self) -> int | None:
        """Return how many bytes it takes on the disk; None when there is none."""
        files = [self.path, *self._beside()]
        sizes = [one.stat().st_size for one in files if one.exists()]
        return sum(sizes) if sizes else None

    # -- inside ----------------------------------------------------------------------------

    def _open(self) -> None:
        with _translated():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(
                self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            self._connection, self._is_reader = connection, False
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before the first table
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA journal_size_limit = {_JOURNAL_BYTES}")
            connection.execute("PRAGMA synchronous = NORMAL")
            if history_schema.version_of(connection) > history_schema.VERSION:
                raise _Unreadable("it was written by a newer version of the Studio")
            history_schema.bring_up(connection)
            self._writer = Writer(connection)

    def _open_to_read(self) -> bool:
        """Open a file that nobody of this process writes; tells whether there is one."""
        if not self.path.exists():
            return False
        # A folder that cannot be written takes no shared memory for the journal either.
        for way in ("mode=ro", "mode=ro&immutable=1"):
            with contextlib.suppress(_Unreadable, Unwritable), _translated():
                connection = sqlite3.connect(
                    f"{self.path.absolute().as_uri()}?{way}",
                    uri=True,
                    timeout=_BUSY_S,
                    isolation_level=None,
                    check_same_thread=False,
                )
                self._connection, self._is_reader = connection, True
                if history_schema.version_of(connection) == history_schema.VERSION:
                    return True
            self.close()
        return False

    def _write(self, readings: Sequence[Reading], events: Sequence[HistoryEvent]) -> None:
        if self._connection is None or self._writer is None:
            self.open()
        connection, writer = self._connection, self._writer
        assert connection is not None
        assert writer is not None
        try:
            with _translated(), history_schema.transaction(connection):
                writer.add(readings)
                writer.note(events)
            with _translated():
                most_bytes = self._most_bytes()
                if not writer.is_tidy or most_bytes != self._bound:
                    history_write.tidy(connection, most_bytes)
                    writer.is_tidy, self._bound = True, most_bytes
        except (Unwritable, _Unreadable):
            self.close()  # what the writer remembers may not be what the file holds
            raise

    def _set_aside(self, why: str) -> None:
        """Give the file another name; an older one that was set aside goes."""
        self.close()
        for old in self.path.parent.glob(f"{self.path.name}.damaged-*"):
            with contextlib.suppress(OSError):
                old.unlink()
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(self._clock()))
        kept = self.path.with_name(f"{self.path.name}.damaged-{stamp}")
        try:
            self.path.replace(kept)
            for one in self._beside():  # of the old file; a new one must not find them
                one.unlink(missing_ok=True)
        except OSError as error:
            raise Unwritable(f"{self.path} cannot be set aside: {error.strerror}") from error
        self.set_aside = f"The history could not be read ({why}); it lies in {kept.name} now."
        logger.warning("%s A new one is begun.", self.set_aside)

    def _beside(self) -> list[Path]:
        return [self.path.with_name(self.path.name + ending) for ending in _BESIDE]


def aside_event(at: float, sentence: str) -> HistoryEvent:
    """Return the event that tells of a file that was set aside."""
    return HistoryEvent(at=at, kind=HistoryEventKind.SET_ASIDE, name="history", detail=sentence)


class _Unreadable(Exception):
    """The file is not what it should be."""


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Turn what SQLite and the disk raise into the two cases that matter."""
    try:
        yield
    except OSError as error:
        raise Unwritable(error.strerror or str(error)) from error
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in _NOT_OURS:
            raise _Unreadable(str(error)) from error
        raise Unwritable(str(error)) from error
    except (sqlite3.DatabaseError, struct.error, ValueError) as error:
        raise _Unreadable(str(error)) from error
