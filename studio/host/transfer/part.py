"""The unfinished file: one file of fixed name with holes, its lock, and its journal.

Ranges are written where they belong, so nothing is copied at the end. Room is reserved
where the kernel does that without writing; the C library would write zeros elsewhere, over a
network file system as long as the download itself. The free space is looked at before the first
byte, and a disk that fills up leaves all that is here for the next try.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from studio.host.reserving import allocate
from studio.host.transfer import places
from studio.host.transfer.journal import Entry, Journal
from studio.host.transfer.spans import Span, Spans

if os.name == "posix":
    import fcntl

RECORD_EVERY_BYTES = 256 << 10
"""What a kill may lose: less than this, in all connections together."""
LIGHT_BYTES = 16 << 10
"""A file of a set that is no larger keeps no journal: sixteen of them are a quarter of what a kill
may cost, and a journal would take longer than they do."""
_WORTH_RESERVING = 4 << 20
_MOST_NAME = 255 - len(".journal")
_BLOCK = 512
"""Unit of `st_blocks`, whatever the file system."""


class PartFile:
    """An open part, locked for this process. Not for use by several threads at a time."""

    def __init__(self, path: Path, file: int, *, is_light: bool = False) -> None:
        """Use `try_open`. Raises: OSError."""
        self.path = path
        self._file = file
        self._journal = None if is_light else Journal(journal_of(path))
        self._entry = Entry()
        self._spans = Spans()
        self._synced: tuple[Span, ...] = ()
        self._claimed: list[Span] = []
        self._unrecorded = 0
        self.record_every_bytes = RECORD_EVERY_BYTES
        """Less where several parts are written at a time: a kill hits all of them."""
        self.generation = 0
        """Changes whenever all bytes are forgotten."""
        self.contributors: set[str] = set()

    @classmethod
    def try_open(cls, path: Path, *, is_light: bool = False) -> "PartFile | None":
        """Return the part, made if need be; None while another process holds it. Raises: OSError.

        Whoever held it before may have renamed or removed it meanwhile: then the lock is on a file
        of another name, and counts for nothing. `is_light`: without a journal (`LIGHT_BYTES`); what
        a kill leaves of it is taken up as any part without one, and its digest tells.
        """
        file = places.open_file(path)
        try:
            if _lock(file) and _is_still(path, file):
                return cls(path, file, is_light=is_light)
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        return None

    # -- what is here ------------------------------------------------------------------------

    @property
    def size(self) -> int | None:
        """Return the size of the whole file; None while not known."""
        return self._entry.bytes

    @property
    def present(self) -> int:
        """Return how many bytes are here."""
        return self._spans.count

    @property
    def front(self) -> int:
        """Return how many bytes from the beginning on are here without a hole."""
        return self._spans.front

    @property
    def is_complete(self) -> bool:
        """Return whether every byte is here."""
        return self.size is not None and self._spans.front >= self.size

    @property
    def unwritten_bytes(self) -> int | None:
        """Return how much room the rest will take on the disk; None while not known."""
        if self.size is None:
            return None
        blocks: int | None = getattr(os.fstat(self._file), "st_blocks", None)
        taken = blocks * _BLOCK if blocks is not None else self.present
        return max(0, self.size - taken)

    def validator(self, source: str) -> str | None:
        """Return by what `source` told versions apart when its bytes were fetched."""
        return self._entry.validator if self._entry.source == source else None

    def resume(self, *, sha256: str | None, size: int | None, sources: set[str]) -> None:
        """Take up what an earlier run left, as far as it can belong to the file wanted now.

        With a digest the bytes may be of any source. Without one they have to be of a source that
        can still tell whether they are of the version that it has now. Raises: OSError.
        """
        before = self._journal.read() if self._journal is not None else None
        fresh = Entry(sha256=sha256, bytes=size)
        if before is None:
            self._entry = fresh
            self._take_up_plain(sha256, size)
        elif _fits(before, fresh, sources):
            known = before.bytes if size is None else size
            self._entry = msgspec.structs.replace(before, sha256=sha256, bytes=known)
            self._spans = Spans(before.believed())
            self.contributors = set(before.contributors)
        else:
            self._entry = fresh
        if not self._spans.count:
            os.ftruncate(self._file, 0)
        if self._journal is not None:
            self._journal.reserve()
        self.record()

    def _take_up_plain(self, sha256: str | None, size: int | None) -> None:
        """A part without a journal, as other programs leave it: whole from its beginning on.

        Only where a digest will tell, and only where the file has no holes.
        """
        stat = os.fstat(self._file)
        has_holes = getattr(stat, "st_blocks", 0) * _BLOCK < stat.st_size
        is_too_long = size is not None and stat.st_size > size
        if sha256 is not None and not has_holes and not is_too_long:
            self._spans.add(0, stat.st_size)

    # -- what comes ----------------------------------------------------------------------------

    def expect(self, size: int) -> None:
        """Note the size of the whole file."""
        if self._entry.bytes != size:
            self._entry = msgspec.structs.replace(self._entry, bytes=size)
            self.record()

    def reserve(self) -> None:
        """Take the room of the rest at once, where the file system can do that without writing.

        Elsewhere nothing happens: the C library's own way writes zeros.
        """
        if self.size is not None and self.size >= _WORTH_RESERVING and self.unwritten_bytes:
            allocate(self._file, self.size)

    def comes_from(self, source: str, validator: str | None) -> None:
        """Note who sends what comes next, and by what it tells versions apart."""
        self.contributors.add(source)
        self._entry = msgspec.structs.replace(
            self._entry,
            source=source,
            validator=validator,
            contributors=tuple(sorted(self.contributors)),
        )
        self.record()

    def write(self, at: int, data: bytes) -> None:
        """Write bytes where they belong. Raises: OSError."""
        view = memoryview(data)
        start = at
        while view:
            written = places.write_at(self._file, view, at)
            at += written
            view = view[written:]
        self._spans.add(start, at)
        self._unrecorded += at - start
        if self._unrecorded >= self.record_every_bytes:
            self.record()

    def record(self) -> None:
        """Bring the journal up to date. Raises: OSError."""
        self._unrecorded = 0
        if self._journal is None:
            return
        self._entry = msgspec.structs.replace(
            self._entry, spans=self._spans.all(), synced=self._synced
        )
        self._journal.write(self._entry)

    def reset(self, *, size: int | None) -> None:
        """Forget every byte: they are of another file, or come again from the beginning."""
        self.generation += 1
        self._spans = Spans()
        self._synced = ()
        self._claimed.clear()
        self.contributors = set()
        self._entry = Entry(sha256=self._entry.sha256, bytes=size)
        self.record()
        os.ftruncate(self._file, 0)

    def claim(self, most_bytes: int) -> Span | None:
        """Return the next missing range that nobody fetches yet; None when there is none."""
        busy = Spans(self._spans.all())
        for start, end in self._claimed:
            busy.add(start, end)
        holes = busy.holes(self.size if self.size is not None else busy.end + most_bytes)
        if not holes:
            return None
        start, end = holes[0]
        span = (start, min(end, start + most_bytes))
        self._claimed.append(span)
        return span

    def release(self, span: Span) -> None:
        """Give back a range; what of it has come stays."""
        if span in self._claimed:
            self._claimed.remove(span)

    def missing(self) -> int | None:
        """Return how many bytes neither are here nor are being fetched; None while not known."""
        if self.size is None:
            return None
        busy = Spans(self._spans.all())
        for start, end in self._claimed:
            busy.add(start, end)
        return self.size - busy.count

    # -- reading back and the end --------------------------------------------------------------

    def read(self, at: int, most_bytes: int) -> bytes:
        """Return bytes that are here. May be called from another thread. Raises: OSError."""
        return places.read_at(self._file, most_bytes, at)

    def spans(self) -> tuple[Span, ...]:
        """Return the ranges that are here."""
        return self._spans.all()

    def flush(self) -> None:
        """Bring what was written to the disk. May be called from a thread. Raises: OSError."""
        places.flush(self._file)

    def flushed(self, spans: tuple[Span, ...]) -> None:
        """Note that `spans` had been written before the last flush began."""
        self._synced = spans
        self.record()

    def publish(self, target: Path, *, is_alone: bool = True) -> None:
        """Give the whole file its name, flushed, in one step. Raises: OSError.

        Of many files each is flushed, and the folder once, by whoever brings them (`flush_folder`):
        a power cut before that may lose a name, never a part of what has one. A light one is not
        flushed here: whoever brings it does that (`flush_files`), and looks into it until then.
        """
        if os.fstat(self._file).st_size != (self.size or 0):
            os.ftruncate(self._file, self.size or 0)
        if self._journal is not None:
            os.fsync(self._file)
        self.path.replace(target)
        journal_of(self.path).unlink(missing_ok=True)
        if is_alone:
            flush_folder(target.parent)

    def discard(self) -> None:
        """Remove the part and its journal."""
        journal_of(self.path).unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the lock, with the journal up to date; a part without a byte is removed."""
        try:
            if not _is_still(self.path, self._file):
                return
            if not self.present:
                self.discard()
            elif self._unrecorded:
                self.record()
        finally:
            if self._journal is not None:
                self._journal.close()
            os.close(self._file)


def flush_folder(path: Path) -> None:
    """Bring the names in a folder to the disk. Raises: OSError."""
    places.flush_folder(path)


def flush_files(paths: Iterable[Path]) -> None:
    """Bring what is in files to the disk. Raises: OSError."""
    for path in paths:
        places.flush_file(path)


def part_of(target: Path) -> Path:
    """Return where a file is unfinished: beside it, under its name as far as names may be long."""
    name = f"{target.name}.part"
    if len(os.fsencode(name)) > _MOST_NAME:
        name = f"{hashlib.sha256(os.fsencode(target.name)).hexdigest()}.part"
    return target.with_name(name)


def journal_of(part: Path) -> Path:
    """Return where the journal of a part is."""
    return part.with_name(f"{part.name}.journal")


def _fits(before: Entry, now: Entry, sources: set[str]) -> bool:
    """Return whether what is on the disk can be a part of the file wanted now."""
    if before.sha256 != now.sha256:
        return False
    if before.bytes is not None and now.bytes is not None and before.bytes != now.bytes:
        return False
    return now.sha256 is not None or (before.validator is not None and before.source in sources)


def _lock(file: int) -> bool:
    if os.name != "posix":  # WORKAROUND(windows): the service runs in WSL2, so POSIX there
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False
