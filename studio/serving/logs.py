"""The engine's output: a ring in memory, a rotated file, batches of news.

No thread, no sleep: the owner feeds bytes as they come and calls `flush`, or hands in a timer. What
is kept of a line is its text; records are made for those who ask. A full disk costs the file some
lines, never the service its life.
"""

import collections
import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path

from studio.domain.metrics import LogLine
from studio.domain.redaction import redact
from studio.serving.log_file import RotatedFile, stamp
from studio.serving.log_text import LINE_LIMIT, Splitter, level_of

BATCH_LINES = 500
BATCH_INTERVAL_S = 0.1
FILE_BYTES = 5 << 20
FILES = 5
_SHORTEST_SECRET = 4
_MOST_SECRETS = 64
"""Keys of boots that are remembered: each line is searched for each of them."""

OnLines = Callable[[tuple[LogLine, ...], int], None]
Timer = Callable[[float, Callable[[], None]], object]
"""`loop.call_later`, or anything that calls back once after so many seconds."""


@dataclasses.dataclass(slots=True, kw_only=True)
class _Read:
    """Lines that came at once."""

    first: int
    at: float
    source: str
    level: str | None
    texts: list[str]

    @property
    def last(self) -> int:
        return self.first + len(self.texts) - 1

    def records(self, first: int, last: int) -> list[LogLine]:
        start, end = max(first, self.first), min(last, self.last)
        texts = self.texts[start - self.first : end - self.first + 1]
        return [
            LogLine(
                seq=seq,
                at=self.at,
                source=self.source,
                level=self.level or level_of(text),
                text=text,
            )
            for seq, text in enumerate(texts, start)
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
        max_bytes: int = FILE_BYTES,
        backups: int = FILES - 1,
        ring: int = 5000,
    ) -> None:
        self._known_secrets: dict[str, None] = {}
        self._secrets: tuple[str, ...] = ()
        self.add_secrets(*secrets)
        self._clock = clock
        self._on_lines = on_lines
        self._timer = timer
        self._timer_set = False
        self._file = RotatedFile(path, max_bytes=max_bytes, backups=backups)
        self._splitters: dict[str, Splitter] = {}
        self._ring: collections.deque[_Read] = collections.deque()
        self._ring_lines = ring
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

    def limit(self, *, max_bytes: int, files: int) -> None:
        """Keep at most so many files of so many bytes from now on."""
        self._file.limit(max_bytes=max_bytes, backups=files - 1)

    def add_secrets(self, *secrets: str) -> None:
        """Replace these by `***` from now on; each boot has a key of its own."""
        for text in secrets:
            if len(text) >= _SHORTEST_SECRET:
                self._known_secrets[text] = self._known_secrets.pop(text, None)
        for text in list(self._known_secrets)[:-_MOST_SECRETS]:
            del self._known_secrets[text]
        self._secrets = tuple(sorted(self._known_secrets, key=lambda text: (-len(text), text)))

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
        return self._between(self._seq - max(0, count) + 1, self._seq)

    def after(self, seq: int, limit: int = BATCH_LINES) -> list[LogLine]:
        """Return at most `limit` lines that follow line `seq`, oldest first."""
        first = max(seq + 1, self._oldest())
        return self._between(first, first + max(0, limit) - 1)

    def close(self) -> None:
        """End begun lines, announce what is left and close the file."""
        for source in tuple(self._splitters):
            self.finish(source)
        if self._announced < self._seq:
            self._announce(self._clock())
        self._file.close()

    def _oldest(self) -> int:
        return max(1, self._seq - self._ring_lines + 1)

    def _between(self, first: int, last: int) -> list[LogLine]:
        first = max(first, self._oldest())
        wanted: list[_Read] = []
        for read in reversed(self._ring):
            if read.last < first:
                break
            if read.first <= last:
                wanted.append(read)
        return [line for read in reversed(wanted) for line in read.records(first, last)]

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
        self._remember(_Read(first=self._seq + 1, at=now, source=source, level=level, texts=lines))
        before = stamp(now) + (f"studio {level or 'info'}: " if source == "studio" else "")
        text = before + f"\n{before}".join(lines) + "\n"
        change = self._file.write(text.encode(errors="replace"), now)
        if change is not None:
            self.note(change, level="warning")
        if self._timer is not None and not self._timer_set:
            self._timer_set = True
            self._timer(BATCH_INTERVAL_S, self._on_timer)

    def _remember(self, read: _Read) -> None:
        self._seq = read.last
        if len(read.texts) > self._ring_lines:
            read.first += len(read.texts) - self._ring_lines
            read.texts = read.texts[-self._ring_lines :]
        self._ring.append(read)
        oldest = self._oldest()
        while self._ring[0].last < oldest:
            self._ring.popleft()

    def _on_timer(self) -> None:
        self._timer_set = False
        wait_s = self.flush()
        if wait_s is not None and self._timer is not None:
            self._timer_set = True
            self._timer(wait_s, self._on_timer)
