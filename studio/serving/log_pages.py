"""Pages of a log that lies on the disk, across its rotated files; needs no service.

A place in a log is `INODE-MARK-OFFSET`, so that it survives rotation; the mark is of the file's
first line, because a new file may get the inode of one that went. Reading disturbs no writer.
"""

import contextlib
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from studio.domain.errors import BadInput
from studio.domain.logs import LogPage
from studio.domain.metrics import LogLine
from studio.serving.log_file import Reader, file_of, written

_BLOCK = 1 << 18
_MOST_BYTES = 8 << 20
"""Bytes of one page: lines may be long."""
_PLACE = re.compile(r"(\d{1,20}-\d{1,10})-(\d{1,20})")
_FIRST_LINE_BYTES = 1024
_NOWHERE = "0-0-0"


def newest(
    folder: Path,
    source: str,
    *,
    lines: int,
    before: str | None = None,
    since: float | None = None,
) -> LogPage:
    """Return the newest lines, or those before a place; with `since`, none that is older.

    A line without a time belongs to the one before that has one; before the first of those it was
    written by a version that knew no times, and is older than any `since`.

    Raises: BadInput (`log-place-invalid`).
    """
    place = _place(before) if before is not None else None
    with _opened(folder, source) as files:
        start, end = 0, files[0].size if files else 0
        if place is not None:
            start = _index(files, place)
            end = place[1]
        after = f"{files[0].name}-{files[0].size}" if files else _NOWHERE
        found: list[LogLine] = []
        untimed = taken = 0
        first_timed: str | None = None
        for number in range(start, len(files)):
            one = files[number]
            stop = min(end, one.size) if number == start else one.size
            texts, begin = one.backwards(stop, lines - len(found), _MOST_BYTES - taken)
            taken += stop - begin
            reader = Reader(source, one.changed_at)
            block = reader.read(texts)
            if reader.untimed < len(texts):
                found[:untimed] = [_at(line, block[-1].at) for line in found[:untimed]]
                untimed = 0
                skipped = one.forwards(begin, reader.untimed)[1] if reader.untimed else begin
                first_timed = f"{one.name}-{skipped}"
            found[:0] = block
            untimed += reader.untimed
            is_older = since is not None and untimed < len(found) and found[untimed].at < since
            is_full = begin > 0 or len(found) >= lines
            if is_older or is_full:
                more = not is_older and (begin > 0 or number + 1 < len(files))
                here = f"{one.name}-{begin}"
                if since is not None and first_timed is not None:
                    here = first_timed  # the page before has the time of what comes before it
                return _page(found, since, here if more else None, after, untimed)
        return _page(found, since, None, after, untimed)


def following(folder: Path, source: str, *, lines: int, after: str) -> LogPage:
    """Return what was written after a place, oldest first; nothing when nothing was.

    Raises: BadInput (`log-place-invalid`).
    """
    place = _place(after)
    with _opened(folder, source) as files:
        at, offset = _index(files, place), place[1]
        is_gap = after != _NOWHERE and (at == len(files) or offset > files[at].size)
        if is_gap or at == len(files):
            at, offset = len(files) - 1, 0
        found: list[LogLine] = []
        reached = after
        for number in range(at, -1, -1):
            one = files[number]
            texts, end = one.forwards(offset if number == at else 0, lines - len(found))
            found += Reader(source, one.changed_at).read(texts)
            reached = f"{one.name}-{end}"
            if len(found) >= lines or end < one.size:
                break
        return LogPage(lines=_numbered(found), after=reached, is_gap=is_gap)


class _File:
    """One file as it was when it was opened."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        facts = os.fstat(file.fileno())
        self.inode = facts.st_ino
        self.size = facts.st_size
        self.changed_at = facts.st_mtime
        first, newline, _ = file.read(_FIRST_LINE_BYTES).partition(b"\n")
        self.name = f"{self.inode}-{zlib.crc32(first) if newline else 0}"

    def backwards(self, end: int, count: int, most_bytes: int) -> tuple[list[str], int]:
        """Return at most `count` whole lines that end at `end`, and where the first begins."""
        data, start = b"", end
        while start > 0 and data.count(b"\n") <= count and end - start < max(most_bytes, _BLOCK):
            begin = max(0, start - _BLOCK)
            self._file.seek(begin)
            data = self._file.read(start - begin) + data
            start = begin
        if start > 0:  # the first line may have lost its beginning
            cut = data.find(b"\n") + 1
            if cut == 0 or cut == len(data):
                return [data.decode("utf-8", "replace")], start
            data, start = data[cut:], start + cut
        lines = _split(data)
        kept = lines[-count:] if count > 0 else []
        begin = end - sum(len(line) for line in kept)
        return [line.decode("utf-8", "replace").rstrip("\n") for line in kept], begin

    def forwards(self, start: int, count: int) -> tuple[list[str], int]:
        """Return at most `count` whole lines from `start` on, and where the last one ends."""
        self._file.seek(start)
        data = self._file.read(min(max(0, self.size - start), _MOST_BYTES))
        whole = data.rfind(b"\n") + 1
        if whole == 0 and len(data) == _MOST_BYTES:
            whole = len(data)  # no line of ours is as long as that
        kept = _split(data[:whole])[: max(0, count)]
        end = start + sum(len(line) for line in kept)
        return [line.decode("utf-8", "replace").rstrip("\n") for line in kept], end


def _split(data: bytes) -> list[bytes]:
    """Return the lines with their ends; only a newline ends one."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


@contextlib.contextmanager
def _opened(folder: Path, source: str) -> Iterator[list[_File]]:
    with contextlib.ExitStack() as stack:
        files: dict[int, _File] = {}
        for path in written(file_of(folder, source)):
            with contextlib.suppress(OSError):
                one = _File(stack.enter_context(path.open("rb")))
                files.setdefault(one.inode, one)
        yield list(files.values())


def _index(files: Sequence[_File], place: tuple[str, int]) -> int:
    """Return which file holds a place; the number of files when none does."""
    name, offset = place
    for at, one in enumerate(files):
        was_empty = offset == 0 and name == f"{one.inode}-0"
        if one.name == name or was_empty:
            return at
    return len(files)


def _place(text: str) -> tuple[str, int]:
    match = _PLACE.fullmatch(text)
    if match is None:
        raise BadInput("log-place-invalid", f"`{text}` is no place in a log.")
    return match[1], int(match[2])


def _page(
    found: list[LogLine], since: float | None, before: str | None, after: str, untimed: int
) -> LogPage:
    if since is not None:
        timed = range(untimed, len(found))
        start = next((at for at in timed if found[at].at >= since), len(found))
        found = found[start:]
    return LogPage(lines=_numbered(found), before=before, after=after)


def _at(line: LogLine, at: float) -> LogLine:
    return LogLine(seq=line.seq, at=at, source=line.source, level=line.level, text=line.text)


def _numbered(lines: Sequence[LogLine]) -> tuple[LogLine, ...]:
    return tuple(
        LogLine(seq=seq, at=line.at, source=line.source, level=line.level, text=line.text)
        for seq, line in enumerate(lines, 1)
    )
