"""The lines behind the log view: kept, filtered and searched; no Qt.

Appending costs what the new lines cost; only a change of filter or search looks at all of them.
"""

from collections.abc import Sequence

from studio.domain.metrics import LogLine
from studio.ui.viewmodels.logs import is_grave

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
        self._grave: list[LogLine] = []
        self.only_grave = False
        self.query = ""
        self.matches: list[int] = []
        self.longest = 0
        self.dropped = 0

    @property
    def shown(self) -> list[LogLine]:
        """Return the lines that pass the filter; not to be changed."""
        return self._grave if self.only_grave else self._kept

    @property
    def count(self) -> int:
        """Return how many lines are kept."""
        return len(self._kept)

    def clear(self) -> None:
        """Forget everything but filter and search."""
        self._kept.clear()
        self._grave.clear()
        self.matches.clear()
        self.longest = self.dropped = 0

    def append(self, lines: Sequence[LogLine], dropped: int = 0) -> int:
        """Take more lines; return how many shown rows went from the top."""
        start = len(self.shown)
        self._kept.extend(lines)
        self._grave.extend(line for line in lines if is_grave(line))
        self.dropped += dropped
        if lines:
            longest = max(len(line.text) for line in lines)
            self.longest = min(_LONGEST, max(self.longest, longest))
        self._find_from(start)
        return self._trim()

    def find_again(self) -> None:
        """Search all shown lines, after a change of filter or query."""
        self.matches.clear()
        self._find_from(0)

    def text_of(self, line: LogLine) -> str:
        """Return what is drawn of a line: control characters blank, tabs as four spaces."""
        return line.text[:_LONGEST].translate(_PLAIN).expandtabs(4)

    def _find_from(self, start: int) -> None:
        needle = self.query.lower()
        if needle:
            self.matches.extend(
                row
                for row, line in enumerate(self.shown[start:], start)
                if needle in line.text.lower()
            )

    def _trim(self) -> int:
        excess = len(self._kept) - CAPACITY
        if excess <= _SLACK:
            return 0
        oldest_kept = self._kept[excess]
        grave_gone = next(
            (row for row, line in enumerate(self._grave) if line.seq >= oldest_kept.seq),
            len(self._grave),
        )
        del self._kept[:excess]
        del self._grave[:grave_gone]
        self.dropped += excess
        gone = grave_gone if self.only_grave else excess
        self.matches = [row - gone for row in self.matches if row >= gone]
        return gone
