"""What is said about the files of an installed runtime: verdicts, repairs, clean-ups."""

import enum

import msgspec


class DifferenceKind(enum.StrEnum):
    """How a file differs from what was installed."""

    MISSING = "missing"
    CHANGED = "changed"
    EXTRA = "extra"
    """Nobody installed it."""
    MODE = "mode"
    """It may be executed and should not, or the other way round."""
    MOVED = "moved"
    """It names the folder in which the runtime lay before."""
    SUSPECT = "suspect"
    """It was installed so, but its package lists other content: the package cache was damaged."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One file that is not as installed; `path` is relative to the runtime's folder."""

    path: str
    kind: DifferenceKind


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a verification found."""

    runtime: str
    runtime_id: str
    is_full: bool
    """Every byte was read; otherwise a sample was looked at."""
    is_known: bool
    """False: the runtime has no list of its files; it is older than those lists, or lost it."""
    files: int
    """How many files were looked at."""
    bytes: int
    """How many bytes were read."""
    seconds: float
    differences: tuple[Difference, ...] = ()
    bytecode: int = 0
    """Compiled files that are missing or were compiled anew: no damage; a repair renews them."""

    @property
    def is_whole(self) -> bool:
        """Return whether nothing differs."""
        return not self.differences


class Repaired(msgspec.Struct, frozen=True, kw_only=True):
    """What a repair did."""

    runtime: str
    runtime_id: str
    restored: int
    """Files that were missing or wrong."""
    removed: int
    """Files that did not belong there."""
    compiled: int
    """Bytecode files that were made anew."""
    packages: tuple[str, ...] = ()
    """Distributions that were unpacked again for it."""
    is_rebuilt: bool = False
    """The runtime was installed anew as a whole."""
    seconds: float


class Removal(msgspec.Struct, frozen=True, kw_only=True):
    """Something that nothing uses."""

    path: str
    what: str
    """In words: what it is and why it may go."""


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """What a clean-up removed, or would remove."""

    removals: tuple[Removal, ...]
    bytes: int
    """Bytes of disk that are free again: a file counts when its last link goes, and once."""
    is_dry_run: bool
    notes: tuple[str, ...] = ()
    """What was left alone, and why."""
