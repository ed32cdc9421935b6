"""The lines between `diff --git` and the first hunk: names, modes, renames, copies. Pure."""

import re
from collections.abc import Sequence

from studio.domain.errors import BadInput, Damaged
from studio.runtimes.patching.model import Kind, Presence, Record
from studio.runtimes.patching.names import text_of, unquote

GIT_START = b"diff --git "

_FIELDS = re.compile(
    rb"(old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to"
    rb"|rename old|rename new|similarity index|dissimilarity index|index) (.*)$"
)
_INDEX = re.compile(rb"([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d{6}))?$")
_EMPTY_BLOB = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


class GitHeader(Record, frozen=True, kw_only=True):
    """What a git header says. Names hold their `a/` and `b/`."""

    end: int
    """Index of the line after the header."""
    kind: Kind
    old_name: str
    new_name: str
    old_presence: Presence
    new_presence: Presence
    old_executable: bool | None
    new_executable: bool | None
    says_anything: bool
    """Whether the header alone is a change."""


def read_git_header(lines: Sequence[bytes], start: int, patch: str) -> GitHeader:
    """Return the header that begins at `lines[start]`.

    Raises: Damaged (`patch-malformed`), BadInput (`patch-unsupported`).
    """
    fields: dict[bytes, bytes] = {}
    at = start + 1
    while at < len(lines) and (found := _FIELDS.match(lines[at].rstrip(b"\r"))) is not None:
        fields[found.group(1)] = found.group(2)
        at += 1
    kind, moved = _moved(fields)
    names = _names(lines[start][len(GIT_START) :].rstrip(b"\r"), moved)
    if names is None:
        raise Damaged(
            "patch-malformed",
            f"{patch}, line {start + 1}: the two file names cannot be told apart.",
            data={"patch": patch, "line": start + 1},
        )
    old_presence, new_presence = _presences(fields)
    old_mode = _mode(fields, (b"old mode", b"deleted file mode"), patch, start)
    new_mode = _mode(fields, (b"new mode", b"new file mode"), patch, start)
    return GitHeader(
        end=at,
        kind=kind,
        old_name=text_of(names[0], patch),
        new_name=text_of(names[1], patch),
        old_presence=old_presence,
        new_presence=new_presence,
        old_executable=old_mode,
        new_executable=new_mode,
        says_anything=kind is not Kind.CONTENT
        or Presence.ABSENT in (old_presence, new_presence)
        or (old_mode is not None and new_mode is not None),
    )


def _moved(fields: dict[bytes, bytes]) -> tuple[Kind, tuple[bytes, bytes] | None]:
    for kind, source, target in (
        (Kind.RENAME, b"rename from", b"rename to"),
        (Kind.RENAME, b"rename old", b"rename new"),
        (Kind.COPY, b"copy from", b"copy to"),
    ):
        if source in fields and target in fields:
            return kind, (_plain(fields[source]), _plain(fields[target]))
    return Kind.CONTENT, None


def _plain(raw: bytes) -> bytes:
    quoted = unquote(raw)
    return raw if quoted is None else quoted[0]


def _names(raw: bytes, moved: tuple[bytes, bytes] | None) -> tuple[bytes, bytes] | None:
    """Return both names of a `diff --git` line, or None when the line is ambiguous.

    Names with blanks are not quoted, so the split is found by what the two sides must be: equal
    after their first component, or, for a rename or copy, ending in the names that the header
    gives without `a/` and `b/`.
    """
    for old, new in _splits(raw):
        if moved is not None:
            if _ends_with(old, moved[0]) and _ends_with(new, moved[1]):
                return old, new
        elif old == new or old.partition(b"/")[2] == new.partition(b"/")[2] != b"":
            return old, new
    return None


def _splits(raw: bytes) -> list[tuple[bytes, bytes]]:
    quoted = unquote(raw)
    if quoted is not None:
        return [(quoted[0], _plain(quoted[1].lstrip()))]
    if raw.endswith(b'"') and b' "' in raw:
        old, _blank, new = raw.partition(b' "')
        return [(old, _plain(b'"' + new))]
    blanks = [at for at, byte in enumerate(raw) if byte == 0x20]
    return [(raw[:at], raw[at + 1 :]) for at in blanks]


def _ends_with(name: bytes, ending: bytes) -> bool:
    return name == ending or name.endswith(b"/" + ending)


def _presences(fields: dict[bytes, bytes]) -> tuple[Presence, Presence]:
    old = new = Presence.PRESENT
    index = _INDEX.match(fields.get(b"index", b""))
    if index is not None:
        old, new = (_presence_of(index.group(side)) for side in (1, 2))
    if b"new file mode" in fields:
        old = Presence.ABSENT
    if b"deleted file mode" in fields:
        new = Presence.ABSENT
    return old, new


def _presence_of(blob: bytes) -> Presence:
    if not blob.strip(b"0"):
        return Presence.ABSENT
    return Presence.EMPTY if _EMPTY_BLOB.startswith(blob) else Presence.PRESENT


def _mode(
    fields: dict[bytes, bytes], names: tuple[bytes, ...], patch: str, start: int
) -> bool | None:
    """Return whether the named mode is executable, or None when the header has none."""
    index = _INDEX.match(fields.get(b"index", b""))
    given = [fields[name] for name in names if name in fields]
    for mode in [*given, *([index.group(3)] if index is not None and index.group(3) else [])]:
        if mode not in (b"100644", b"100755", b"100664"):
            shown = mode.decode("utf-8", "backslashreplace")
            raise BadInput(
                "patch-unsupported",
                f"{patch}, line {start + 1}: file mode {shown} is not that of a regular file.",
                hint="Symbolic links and submodules are not supported; leave them out.",
                data={"patch": patch, "line": start + 1},
            )
    return None if not given else given[0] == b"100755"
