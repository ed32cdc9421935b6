"""The engine's output: a ring in memory, a rotated file, batches of news.

No thread, no sleep: the owner feeds bytes as they come and calls `flush`, or hands in a timer. A
full disk costs the file some lines, never the service its life.
"""

import collections
import itertools
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from studio.domain.metrics import LogLine
from studio.host.files import from_os_error
from studio.serving.log_text import LINE_LIMIT, Splitter, level_of, redact

BATCH_LINES = 500
BATCH_INTERVAL_S = 0.1
_RETRY_S = 5.0
"""How long a file that could not be written is left alone."""
_SHORTEST_SECRET = 4
_TAIL_LINE_BYTES = 400
"""How far back to read for each line wanted of a file; longer lines cost some lines."""

OnLines = Callable[[tuple[LogLine, ...], int], None]
Timer = Callable[[float, Callable[[], None]], object]
"""`loop.call_later`, or anything that calls back once after so many seconds."""


def read_tail(path: Path, count: int) -> list[LogLine]:
    """Return the newest lines of a log that no `LogKeeper` of ours has open; none when missing.

    Times are not in the file, so each line carries the file's own.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - count * _TAIL_LINE_BYTES))
            at = os.fstat(file.fileno()).st_mtime
            texts = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    kept = texts[-count:] if count > 0 else []
    return [
        LogLine(seq=seq, at=at, source="engine", level=level_of(text), text=text)
        for seq, text in enumerate(kept, 1)
    ]


class LogKeeper:
    """Keeps the log of one engine across its boots.

    One thread only. `on_lines(lines, dropped)` is called at most ten times a second with at most
    500 lines: the newest ones; `dropped` counts those that were left out (they are in the file, and
    in the ring as long as it holds them).
    """

    def __init__(
        self,
        path: Path,
        *,
        secrets: Iterable[str] = (),
        clock: Callable[[], float],
        on_lines: OnLines,
        timer: Timer | None = None,
        max_bytes: int = 5 << 20,
        backups: int = 4,
        ring: int = 5000,
    ) -> None:
        self._secrets: tuple[str, ...] = ()
        self.add_secrets(*secrets)
        self._clock = clock
        self._on_lines = on_lines
        self._timer = timer
        self._timer_set = False
        self._file = _RotatedFile(path, max_bytes=max_bytes, backups=backups)
        self._splitters: dict[str, Splitter] = {}
        self._ring: collections.deque[LogLine] = collections.deque(maxlen=ring)
        self._seq = 0
        self._announced = 0
        self._flushed_at: float | None = None

    @property
    def seq(self) -> int:
        """Return the number of the newest line; 0 when there is none."""
        return self._seq

    @property
    def file_error(self) -> str | None:
        """Return why the file is not being written at present, in words."""
        return self._file.error

    def add_secrets(self, *secrets: str) -> None:
        """Replace these by `***` from now on; each boot has a key of its own."""
        known = {*self._secrets, *(text for text in secrets if len(text) >= _SHORTEST_SECRET)}
        self._secrets = tuple(sorted(known, key=lambda text: (-len(text), text)))

    def feed(self, data: bytes, source: str = "engine") -> list[str]:
        """Take bytes as they were read.

        Returns every text that became whole, interim states of progress bars included, redacted:
        what a reader of boot phases wants to see. Bars' interim states are kept nowhere.
        """
        splitter = self._splitters.get(source)
        if splitter is None:
            splitter = self._splitters[source] = Splitter()
        lines, interim = splitter.feed(data, self._secrets)
        self._keep(lines, source)
        return interim + lines if interim else lines

    def note(self, text: str, *, level: str = "info") -> None:
        """Add a line of the Studio's own."""
        line = redact(text, self._secrets).replace("\r", " ").replace("\n", " ")
        self._store([line[:LINE_LIMIT]], "studio", level)

    def finish(self, source: str = "engine") -> None:
        """End a line that was begun; call it when the engine's output ends."""
        splitter = self._splitters.pop(source, None)
        if splitter is not None:
            self._keep(splitter.finish(self._secrets), source)

    def flush(self, now: float | None = None) -> float | None:
        """Announce what is new, if the last announcement is 0.1 s old.

        Returns the seconds after which to call again, or None when nothing waits.
        """
        if self._announced == self._seq:
            return None
        now = self._clock() if now is None else now
        if self._flushed_at is not None:
            elapsed = now - self._flushed_at
            if 0 <= elapsed < BATCH_INTERVAL_S:  # negative: the clock was set back
                return BATCH_INTERVAL_S - elapsed
        self._announce(now)
        return None

    def tail(self, count: int) -> list[LogLine]:
        """Return the newest lines, oldest first."""
        return list(itertools.islice(self._ring, max(0, len(self._ring) - max(0, count)), None))

    def after(self, seq: int, limit: int = BATCH_LINES) -> list[LogLine]:
        """Return at most `limit` lines that follow line `seq`, oldest first."""
        if not self._ring:
            return []
        start = max(0, seq + 1 - self._ring[0].seq)
        return list(itertools.islice(self._ring, start, start + max(0, limit)))

    def close(self) -> None:
        """End begun lines, announce what is left and close the file."""
        for source in tuple(self._splitters):
            self.finish(source)
        if self._announced < self._seq:
            self._announce(self._clock())
        self._file.close()

    def _announce(self, now: float) -> None:
        fresh = self._seq - self._announced
        lines = tuple(self.tail(min(fresh, BATCH_LINES)))
        self._announced = self._seq
        self._flushed_at = now
        self._on_lines(lines, fresh - len(lines))

    def _keep(self, lines: list[str], source: str) -> None:
        lines = [line for line in lines if line.strip()]
        if lines:
            self._store(lines, source, None)

    def _store(self, lines: list[str], source: str, level: str | None) -> None:
        now = self._clock()
        seq = self._seq
        for text in lines:
            seq += 1
            self._ring.append(
                LogLine(seq=seq, at=now, source=source, level=level or level_of(text), text=text)
            )
        self._seq = seq
        change = self._file.write("\n".join(lines).encode(errors="replace") + b"\n", now)
        if change is not None:
            self.note(change, level="warning")
        if self._timer is not None and not self._timer_set:
            self._timer_set = True
            self._timer(BATCH_INTERVAL_S, self._on_timer)

    def _on_timer(self) -> None:
        self._timer_set = False
        wait_s = self.flush()
        if wait_s is not None and self._timer is not None:
            self._timer_set = True
            self._timer(wait_s, self._on_timer)


class _RotatedFile:
    """`path`, `path.1` … `path.N`, none larger than `max_bytes`, readable by the owner only."""

    def __init__(self, path: Path, *, max_bytes: int, backups: int) -> None:
        assert max_bytes > 0
        assert backups >= 0
        self._path = path
        self._max_bytes = max_bytes
        self._backups = backups
        self._descriptor: int | None = None
        self._size = 0
        self._torn = False
        self._retry_at: float | None = None
        self.error: str | None = None

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
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        self._descriptor = os.open(self._path, flags, 0o600)
        os.fchmod(self._descriptor, 0o600)  # a file left by somebody with another umask
        self._size = os.fstat(self._descriptor).st_size

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
            written = os.write(self._descriptor, view)  # may be short on a disk that fills up
            self._size += written
            view = view[written:]
        self._torn = not piece.endswith(b"\n")

    def _rotate(self) -> None:
        self.close()
        for number in range(self._backups, 0, -1):
            source = self._path if number == 1 else self._numbered(number - 1)
            if source.exists():
                source.replace(self._numbered(number))
        if self._backups == 0:
            self._path.unlink(missing_ok=True)
        self._open()

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")
