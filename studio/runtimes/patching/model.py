"""The records of the patch engine: what a patch says, and what became of each hunk."""

import enum

import msgspec

KEEP = " "
DROP = "-"
ADD = "+"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all records here."""


class Presence(enum.IntEnum):
    """What a patch says about a file on one side; the numbers are ordered."""

    PRESENT = 0
    EMPTY = 1
    """No lines, perhaps no file."""
    ABSENT = 2


class Kind(enum.StrEnum):
    """What happens to a file besides its lines."""

    CONTENT = "content"
    RENAME = "rename"
    COPY = "copy"
    UNCOPY = "uncopy"
    """A copy taken back; never in a patch, only in a patch read backwards."""


class Hunk(Record, frozen=True, kw_only=True):
    """One hunk. Lines keep their line ends; a last line without one has none here either."""

    number: int
    """From 1, within its file."""
    header: str
    old_first: int
    """Line, from 1, where the hunk was cut; of a hunk without old lines, where they would be."""
    new_first: int
    lines: tuple[tuple[str, bytes], ...]
    """`KEEP`, `DROP` or `ADD`, and the text."""
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    prefix: int
    """Context lines before the first change."""
    suffix: int
    """Context lines after the last change."""


class FileChange(Record, frozen=True, kw_only=True):
    """What a patch does to one file. Names are as written, no component stripped."""

    old_name: str | None
    new_name: str | None
    kind: Kind = Kind.CONTENT
    old_presence: Presence = Presence.PRESENT
    new_presence: Presence = Presence.PRESENT
    old_executable: bool | None = None
    new_executable: bool | None = None
    """None where the patch names no mode for that side."""
    hunks: tuple[Hunk, ...] = ()
    is_git: bool = False
    patch_line: int
    """Line of the patch where this begins."""


class Patch(Record, frozen=True, kw_only=True):
    """One patch file: diffs, each a run of file changes against one state of the tree.

    `git format-patch --stdout` puts several diffs into one file; those come after one another.
    """

    name: str
    sha256: str
    diffs: tuple[tuple[FileChange, ...], ...]


class Series(Record, frozen=True, kw_only=True):
    """Patches in the order in which they apply."""

    patches: tuple[Patch, ...]


class HunkResult(enum.StrEnum):
    """What became of a hunk."""

    CLEAN = "clean"
    OFFSET = "offset"
    ALREADY = "already-applied"
    REJECTED = "rejected"


class PatchState(enum.StrEnum):
    """What became of a patch."""

    APPLIED = "applied"
    ALREADY = "already-applied"
    REJECTED = "rejected"


class HunkOutcome(Record, frozen=True, kw_only=True):
    """One line of the record of a series."""

    patch: str
    sha256: str
    file: str
    hunk: int
    """0 for a change without lines: rename, copy, mode, empty file."""
    header: str
    result: HunkResult
    offset: int | None = None
    """Lines that the hunk lies below where it was cut."""


class PatchOutcome(Record, frozen=True, kw_only=True):
    """One patch of the series and its state."""

    name: str
    sha256: str
    state: PatchState


class Rejection(Record, frozen=True, kw_only=True):
    """A hunk that does not fit, and what stands in its place."""

    patch: str
    file: str
    hunk: int
    hunks: int
    """How many the patch has for this file."""
    header: str
    reason: str
    evidence: tuple[str, ...] = ()


class Change(Record, frozen=True, kw_only=True):
    """What a file becomes. `content` None: it is removed."""

    path: str
    content: bytes | None
    executable: bool | None = None
    """None: as the file `mode_of` has it."""
    mode_of: str | None = None
    """The file of the unpatched tree whose mode this one keeps; None for a new file."""


class Plan(Record, frozen=True, kw_only=True):
    """What a series would do to a tree. With `rejections`, `changes` is empty."""

    patches: tuple[PatchOutcome, ...]
    hunks: tuple[HunkOutcome, ...]
    changes: tuple[Change, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    paths: tuple[str, ...] = ()
    """Every file that the series names, sorted."""


class Outcome(Record, frozen=True, kw_only=True):
    """What a series did to a tree."""

    patches: tuple[PatchOutcome, ...]
    hunks: tuple[HunkOutcome, ...]
    written: tuple[str, ...]
    """Files that got new bytes or a new mode in this run."""
    removed: tuple[str, ...]
    modules: tuple[str, ...]
    """Python sources whose bytecode has to be compiled: all that the series names, so that a run
    that was cut short between patching and compiling loses nothing."""
    digest: str
    """`tree_digest` over every file that the series names."""


class Recovery(Record, frozen=True, kw_only=True):
    """An interrupted run that was taken back."""

    restored: tuple[str, ...]
    modules: tuple[str, ...]
    """Python sources whose bytecode was dropped meanwhile."""
