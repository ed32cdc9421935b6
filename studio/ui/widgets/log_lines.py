"""The lines behind the log view: kept, filtered and searched; no Qt.

Appending costs what the new lines cost; only a change of filter or search looks at all of them, and
a search that goes on typing only at what it had found.
"""

from collections.abc import Sequence

from studio.domain.metrics import LogLine
from studio.ui.viewmodels.logs import Gravity, is_as_grave

CAPACITY = 100_000
_SLACK = 5_000
"""How far past the capacity lines may grow before the oldest go, all at once."""

_LONGEST = 4_000
"""Characters of a line that are shown; the rest is in the log file."""

_PLAIN = dict.fromkeys((*range(9), *range(10, 32), 127), " ")


class LogLines:
    """What is kept, what is shown of it, and which shown rows match the search."""

    def __init__(self) -> None:
        self._kept: list[LogLine] = []
        self._lowered: list[str] = []
        """The texts of `_kept` as they are searched."""
        self._rows: list[int] | None = None
        """Which of `_kept` are shown; None: all."""
        self._shown: list[LogLine] = self._kept
        self._gravity = Gravity.ALL
        self._only_matches = False
        self._query = ""
        self.matches: list[int] = []
        self.longest = 0
        self.dropped = 0

    @property
    def shown(self) -> list[LogLine]:
        """Return the lines that pass the filter; not to be changed."""
        return self._shown

    @property
    def count(self) -> int:
        """Return how many lines are kept."""
        return len(self._kept)

    @property
    def query(self) -> str:
        """Return what is searched for."""
        return self._query

    def clear(self) -> None:
        """Forget everything but filter and search."""
        self._kept.clear()
        self._lowered.clear()
        self.longest = self.dropped = 0
        self._look_again()

    def append(self, lines: Sequence[LogLine], dropped: int = 0) -> int:
        """Take more lines; return how many shown rows went from the top."""
        start = len(self._kept)
        self._kept.extend(lines)
        self._lowered.extend([line.text.lower() for line in lines])
        self.dropped += dropped
        if lines:
            longest = max(len(line.text) for line in lines)
            self.longest = min(_LONGEST, max(self.longest, longest))
        self._look_from(start)
        return self._trim()

    def filter(self, gravity: Gravity, *, only_matches: bool) -> None:
        """Show only lines that are grave enough, and on request only those that match."""
        if (gravity, only_matches) != (self._gravity, self._only_matches):
            self._gravity, self._only_matches = gravity, only_matches
            self._look_again()

    def search(self, text: str) -> None:
        """Find the lines that hold `text`, whatever its case."""
        before, self._query = self._query, text
        if before and before.lower() in text.lower():
            self._narrow()
        elif before != text:
            self._look_again()

    def text_of(self, line: LogLine) -> str:
        """Return what is drawn of a line: control characters blank, tabs as four spaces."""
        return line.text[:_LONGEST].translate(_PLAIN).expandtabs(4)

    def _look_again(self) -> None:
        is_all = self._gravity is Gravity.ALL and not (self._only_matches and self._query)
        self._rows = None if is_all else []
        self._shown = self._kept if is_all else []
        self.matches = []
        self._look_from(0)

    def _look_from(self, start: int) -> None:
        """Filter and search the kept lines from `start` on."""
        needle = self._query.lower()
        rows: Sequence[int] = range(start, len(self._kept))
        if self._gravity is not Gravity.ALL:
            rows = [row for row in rows if is_as_grave(self._kept[row], self._gravity)]
        if self._rows is None:
            if needle:
                self.matches += [row for row in rows if needle in self._lowered[row]]
            return
        if needle and self._only_matches:
            rows = [row for row in rows if needle in self._lowered[row]]
        first = len(self._shown)
        self._rows += rows
        self._shown += [self._kept[row] for row in rows]
        if needle and self._only_matches:
            self.matches += range(first, first + len(rows))
        elif needle:
            found = enumerate(rows, first)
            self.matches += [place for place, row in found if needle in self._lowered[row]]

    def _narrow(self) -> None:
        """Search only what was found for the beginning of the query."""
        needle = self._query.lower()
        if self._rows is None:
            self.matches = [row for row in self.matches if needle in self._lowered[row]]
            return
        found = [place for place in self.matches if needle in self._lowered[self._rows[place]]]
        if self._only_matches:
            self._rows = [self._rows[place] for place in found]
            self._shown = [self._shown[place] for place in found]
            found = list(range(len(found)))
        self.matches = found

    def _trim(self) -> int:
        excess = len(self._kept) - CAPACITY
        if excess <= _SLACK:
            return 0
        del self._kept[:excess]
        del self._lowered[:excess]
        self.dropped += excess
        gone = excess
        if self._rows is not None:
            gone = next((at for at, row in enumerate(self._rows) if row >= excess), len(self._rows))
            self._rows = [row - excess for row in self._rows[gone:]]
            del self._shown[:gone]
        self.matches = [row - gone for row in self.matches if row >= gone]
        return gone
