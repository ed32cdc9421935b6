"""The tree as it would look: what was read, with the changes decided so far on top. Pure.

Within one git diff, renames and copies take their source as it was before the diff, whatever the
diff does to it elsewhere (git's rule); so changes of a git diff are queued until it ends.
"""

from collections.abc import Callable

from studio.runtimes.patching.model import Change, Record


class Entry(Record, frozen=True, kw_only=True):
    """A file at one moment; the last two as in `Change`."""

    content: bytes | None
    executable: bool | None = None
    mode_of: str | None = None


_GONE = Entry(content=None)


class Overlay:
    """A tree to try patches on."""

    def __init__(
        self, read: Callable[[str], bytes | None], settled: dict[str, Entry] | None = None
    ) -> None:
        self._read = read
        self._settled = settled or {}
        self._queued: dict[str, Entry] = {}
        self._removed: set[str] = set()

    def fork(self) -> "Overlay":
        """Return a copy whose changes leave this one alone."""
        self.settle()
        return Overlay(self._read, dict(self._settled))

    def before(self, path: str) -> Entry:
        """Return the file as it was before the present git diff."""
        known = self._settled.get(path)
        if known is not None:
            return known
        return Entry(content=self._read(path), mode_of=path)

    def now(self, path: str) -> Entry:
        """Return the file as it is; a second change to a file begins another diff."""
        if path in self._queued:
            self.settle()
        return _GONE if path in self._removed else self.before(path)

    def put(self, path: str, entry: Entry, *, is_queued: bool) -> None:
        """Make `path` be `entry`; a queued change is seen from the next diff on."""
        if is_queued:
            self._queued[path] = entry
        else:
            self._settled[path] = entry

    def remove(self, path: str, *, is_queued: bool) -> None:
        """Make `path` be gone, unless the same diff puts another file there."""
        if is_queued:
            self._removed.add(path)
        else:
            self._settled[path] = _GONE

    def settle(self) -> None:
        """End the present git diff."""
        for path in self._removed:
            self._settled[path] = _GONE
        self._settled.update(self._queued)
        self._queued = {}
        self._removed = set()

    def changes(self) -> tuple[Change, ...]:
        """Return what differs from the tree that was read, sorted by path."""
        self.settle()
        changes = []
        for path, entry in sorted(self._settled.items()):
            is_same_mode = entry.executable is None and entry.mode_of in (path, None)
            if entry.content == self._read(path) and (entry.content is None or is_same_mode):
                continue
            changes.append(
                Change(
                    path=path,
                    content=entry.content,
                    executable=entry.executable,
                    mode_of=entry.mode_of,
                )
            )
        return tuple(changes)
