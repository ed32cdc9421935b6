"""A log on the disk: rotated, private, each line with its own time. A full disk costs lines only.

A line is `2026-11-29T21:48:17.123Z text` as the engine wrote it (the shape in which container tools
write theirs), or `2026-11-29T21:48:17.123Z studio warning: text` for one of our own.
"""

import datetime
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from studio.domain.metrics import LogLine
from studio.host.files import from_os_error
from studio.serving.log_text import level_of

_RETRY_S = 5.0
"""How long a file that could not be written is left alone."""
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?(Z?) ")
_OURS = re.compile(r"studio (debug|info|warning|error): ")
_SERVICE = re.compile(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) ")
_SERVICE_LEVELS = {"CRITICAL": "error"}
SOURCES = ("engine", "service")


def stamp(at: float) -> str:
    """Return what stands before a line that was written at `at`, seconds since the epoch."""
    whole = int(at)
    clock = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
    return f"{clock}.{int((at - whole) * 1000):03d}Z "


def file_of(folder: Path, source: str) -> Path:
    """Return the newest file of a log; `source` is one of `SOURCES`."""
    return folder / f"{source}.log"


def written(path: Path) -> list[Path]:
    """Return the files of a log that exist, the newest first: `x.log`, `x.log.1` …

    In this order, because rotation between two looks then shows a file twice, never not at all.
    """
    older: list[tuple[int, Path]] = []
    for one in path.parent.glob(f"{path.name}.*") if path.parent.is_dir() else ():
        number = one.name.removeprefix(f"{path.name}.")
        if number.isdecimal() and len(number) < 6:
            older.append((int(number), one))
    return [path, *(one for _, one in sorted(older))]


class Reader:
    """Raw lines of one log to records, in their order; a line without a time takes the last one."""

    def __init__(self, source: str, at: float) -> None:
        self._source = source
        self._at = at
        self._known: dict[tuple[str, str, str], float] = {}
        self.untimed = 0
        """How many of the lines read last came before the first one with a time."""

    def read(self, texts: Sequence[str]) -> list[LogLine]:
        """Return the records of `texts`; `seq` counts from 1."""
        is_service = self._source == "service"
        make = self._service if is_service else self._engine
        self.untimed = len(texts)
        for number, text in enumerate(texts):
            first = self._time(text)
            if first is not None:
                self._at, self.untimed = first, number
                break
        return [make(seq, text) for seq, text in enumerate(texts, 1)]

    def _engine(self, seq: int, text: str) -> LogLine:
        rest = self._without_time(text)
        ours = _OURS.match(rest)
        if ours is not None:
            text = rest[ours.end() :]
            return LogLine(seq=seq, at=self._at, source="studio", level=ours[1], text=text)
        return LogLine(seq=seq, at=self._at, source="engine", level=level_of(rest), text=rest)

    def _service(self, seq: int, text: str) -> LogLine:
        rest = self._without_time(text)
        named = _SERVICE.match(rest) if rest is not text else None
        level = _SERVICE_LEVELS.get(named[1], named[1].lower()) if named is not None else "none"
        return LogLine(seq=seq, at=self._at, source="service", level=level, text=rest)

    def _without_time(self, text: str) -> str:
        at = self._time(text)
        if at is None:
            return text
        self._at = at
        match = _STAMP.match(text)
        assert match is not None
        return text[match.end() :]

    def _time(self, text: str) -> float | None:
        match = _STAMP.match(text)
        if match is None:
            return None
        key = (match[1], match[2], match[4])
        whole = self._known.get(key)
        if whole is None:
            whole = _seconds(*key)
            if whole is None:
                return None
            self._known = {key: whole}
        return whole + float(f"0.{match[3] or 0}")


def _seconds(day: str, clock: str, zone: str) -> float | None:
    try:
        moment = datetime.datetime.fromisoformat(f"{day}T{clock}{'+00:00' if zone else ''}")
        return moment.timestamp()  # without a zone: as older services wrote it, by their own clock
    except (ValueError, OverflowError, OSError):
        return None


class RotatedFile:
    """`path`, `path.1` … `path.N`, none larger than `max_bytes`, readable by the owner only."""

    def __init__(self, path: Path, *, max_bytes: int, backups: int) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._size = 0
        self._torn = False
        self._retry_at: float | None = None
        self.error: str | None = None
        self.limit(max_bytes=max_bytes, backups=backups)

    def limit(self, *, max_bytes: int, backups: int) -> None:
        """Hold these limits from the next line on; files beyond them go at the next rotation."""
        assert max_bytes > 0
        assert backups >= 0
        self._max_bytes = max_bytes
        self._backups = backups

    def write(self, data: bytes, now: float) -> str | None:
        """Append whole lines; returns a sentence when the file failed, or works again."""
        if self._retry_at is not None and self._retry_at - _RETRY_S <= now < self._retry_at:
            return None
        try:
            if self._descriptor is None:
                self._open()
            if self._torn:
                data = b"\n" + data
            self._append(data)
        except OSError as failure:
            return self._failed(failure, now)
        self._retry_at = None
        if self.error is not None:
            self.error = None
            return f"The log file {self._path} is written again."
        return None

    def close(self) -> None:
        """Close the file; the next line opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _failed(self, failure: OSError, now: float) -> str | None:
        self.close()
        self._retry_at = now + _RETRY_S
        known = self.error
        self.error = from_os_error(failure, self._path).message
        return None if known else f"{self.error} Log lines are kept in memory only."

    def _open(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        self._descriptor = os.open(self._path, flags, 0o600)
        os.fchmod(self._descriptor, 0o600)  # a file left by somebody with another umask
        self._size = os.fstat(self._descriptor).st_size
        if self._size and not self._torn:  # whoever wrote last may have been killed in mid line
            self._torn = os.pread(self._descriptor, 1, self._size - 1) != b"\n"

    def _append(self, data: bytes) -> None:
        while data:
            room = self._max_bytes - self._size
            piece = data
            if len(data) > room:
                end = data.rfind(b"\n", 0, max(0, room)) + 1
                if end == 0 and self._size > 0:
                    self._rotate()
                    continue
                piece = data[: end or self._max_bytes]
            self._write_all(piece)
            data = data[len(piece) :]

    def _write_all(self, piece: bytes) -> None:
        assert self._descriptor is not None
        view = memoryview(piece)
        while view:
            self._torn = True
            count = os.write(self._descriptor, view)  # may be short on a disk that fills up
            self._size += count
            view = view[count:]
        self._torn = not piece.endswith(b"\n")

    def _rotate(self) -> None:
        self.close()
        for path in written(self._path)[:0:-1]:
            if int(path.suffix[1:]) >= self._backups:
                path.unlink(missing_ok=True)
        for number in range(self._backups, 0, -1):
            source = self._path if number == 1 else self._numbered(number - 1)
            if source.exists():
                source.replace(self._numbered(number))
        if self._backups == 0:
            self._path.unlink(missing_ok=True)
        self._torn = False
        self._open()

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")
