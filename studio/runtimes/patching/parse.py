"""Patch files to records: git style and plain unified diffs. Pure.

Stricter than GNU patch where leniency loses changes in silence: a hunk whose counts are wrong, a
stray hunk and a file that ends early are errors. Text around the diffs is ignored.
"""

import re
from collections.abc import Sequence

from studio.domain.errors import BadInput, Damaged
from studio.host.files import sha256_bytes
from studio.runtimes.patching.git_header import GIT_START, GitHeader, read_git_header
from studio.runtimes.patching.model import (
    ADD,
    DROP,
    KEEP,
    FileChange,
    Hunk,
    Kind,
    Patch,
    Presence,
    Series,
)
from studio.runtimes.patching.names import header_name, is_epoch, text_of

_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_BINARY = re.compile(rb"GIT binary patch\s*$|Binary files .+ and .+ differ\s*$")
_SIGNATURES = (b"-- ", b"--")
_TAGS = {0x20: KEEP, 0x2D: DROP, 0x2B: ADD}


class Reader:
    """The lines of one patch file, without their line feeds, and a place among them."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.lines = data.split(b"\n")
        if self.lines[-1] and not self.lines[-1].startswith(b"\\"):
            raise Damaged(
                "patch-malformed",
                f"{name} ends in the middle of line {len(self.lines)}.",
                hint="The file was cut short or edited by hand; get it again.",
            )
        self.at = 0

    @property
    def number(self) -> int:
        """The present line's number, from 1."""
        return self.at + 1

    def peek(self, ahead: int = 0) -> bytes | None:
        """Return a line without moving, or None after the last one."""
        at = self.at + ahead
        # What follows the last line feed is no line.
        if at >= len(self.lines) or (at == len(self.lines) - 1 and not self.lines[at]):
            return None
        return self.lines[at]

    def malformed(self, what: str) -> Damaged:
        """Return the error for the present line."""
        return Damaged(
            "patch-malformed",
            f"{self.name}, line {self.number}: {what}.",
            hint="The file was cut short or edited by hand; get it again.",
            data={"patch": self.name, "line": self.number},
        )


def parse_series(files: Sequence[tuple[str, bytes]]) -> Series:
    """Return the patches in `files` (name and bytes), in that order.

    Raises: Damaged (`patch-malformed`), BadInput (`patch-binary`, `patch-unsupported`).
    """
    return Series(patches=tuple(parse_patch(name, data) for name, data in files))


def parse_patch(name: str, data: bytes) -> Patch:
    """Return one patch file. Raises as `parse_series` does."""
    reader = Reader(name, data)
    diffs: list[list[FileChange]] = []
    is_new_diff = True
    while (line := reader.peek()) is not None:
        if line.startswith(GIT_START) or _is_file_header(reader):
            if is_new_diff:
                diffs.append([])
            is_new_diff = False
            diffs[-1].append(_file_change(reader))
            continue
        _refuse_lost_changes(reader, line, has_files=bool(diffs))
        # Words between two changes mean that another diff begins (a mailbox of commits).
        is_new_diff |= bool(line.strip()) and not line.startswith((b"diff ", b"Index: ", b"==="))
        reader.at += 1
    if not diffs:
        raise Damaged(
            "patch-malformed",
            f"{name} holds no unified diff.",
            hint="The engine reads `diff -u` and `git diff` output; get the file again.",
        )
    return Patch(
        name=name, sha256=sha256_bytes(data), diffs=tuple(tuple(changes) for changes in diffs)
    )


def _is_file_header(reader: Reader) -> bool:
    first, second = reader.peek(), reader.peek(1)
    return (
        first is not None
        and second is not None
        and first.startswith(b"--- ")
        and second.startswith(b"+++ ")
    )


def _refuse_lost_changes(reader: Reader, line: bytes, *, has_files: bool) -> None:
    """Raise for lines outside a hunk that carry a change, which ignoring would lose."""
    if _BINARY.match(line):
        raise _binary(reader)
    if has_files and _HUNK.match(line):
        raise reader.malformed("a hunk without a file header")
    if line.startswith(b"*** ") and (reader.peek(1) or b"").startswith(b"--- "):
        raise BadInput(
            "patch-unsupported",
            f"{reader.name}, line {reader.number}: this is a context diff.",
            hint="Make the patch with `diff -u` or `git diff`.",
        )


def _binary(reader: Reader) -> BadInput:
    return BadInput(
        "patch-binary",
        f"{reader.name}, line {reader.number}: the patch changes a binary file.",
        hint="Binary changes are not supported; leave them out of the patch.",
        data={"patch": reader.name, "line": reader.number},
    )


def _file_change(reader: Reader) -> FileChange:
    """Read one file's header and hunks."""
    line_number = reader.number
    first = reader.peek()
    header = None
    if first is not None and first.startswith(GIT_START):
        header = read_git_header(reader.lines, reader.at, reader.name)
        reader.at = header.end
        following = reader.peek()
        if following is not None and _BINARY.match(following):
            raise _binary(reader)
    if not _is_file_header(reader):
        if header is None or not header.says_anything:
            raise reader.malformed("a file header without a change")
        return _from_git(header, None, (), line_number)
    if not _HUNK.match(reader.peek(2) or b""):
        raise reader.malformed("a file header that no hunk follows")
    sides = _sides(reader)
    hunks = _hunks(reader)
    if header is None:
        return _from_sides(sides, hunks, line_number)
    return _from_git(header, sides, hunks, line_number)


_Side = tuple[str | None, Presence]


def _sides(reader: Reader) -> tuple[_Side, _Side]:
    """Read `---` and `+++` and look at the first hunk's ranges."""
    range_of = _HUNK.match(reader.peek(2) or b"")
    assert range_of is not None
    firsts = (int(range_of.group(1)), int(range_of.group(3)))
    sides: list[_Side] = []
    for ahead, first in enumerate(firsts):
        name, stamp = header_name((reader.peek(ahead) or b"")[4:])
        is_gone = name == b"/dev/null" or is_epoch(stamp)
        presence = Presence.PRESENT if first else Presence.ABSENT if is_gone else Presence.EMPTY
        sides.append((None if name == b"/dev/null" else text_of(name, reader.name), presence))
    if sides[0][0] is None and sides[1][0] is None:
        raise reader.malformed("a change of no file")
    return sides[0], sides[1]


def _from_sides(sides: tuple[_Side, _Side], hunks: tuple[Hunk, ...], line: int) -> FileChange:
    (old_name, old_presence), (new_name, new_presence) = sides
    return FileChange(
        old_name=old_name,
        new_name=new_name,
        old_presence=old_presence,
        new_presence=new_presence,
        hunks=hunks,
        patch_line=line,
    )


def _from_git(
    header: GitHeader, sides: tuple[_Side, _Side] | None, hunks: tuple[Hunk, ...], line: int
) -> FileChange:
    old_name: str | None = header.old_name
    new_name: str | None = header.new_name
    old_presence, new_presence = header.old_presence, header.new_presence
    if sides is not None and header.kind is Kind.CONTENT:
        (old_name, said_old), (new_name, said_new) = sides
        old_presence = max(old_presence, said_old)
        new_presence = max(new_presence, said_new)
    return FileChange(
        old_name=None if old_presence is Presence.ABSENT else old_name,
        new_name=None if new_presence is Presence.ABSENT else new_name,
        kind=header.kind,
        old_presence=old_presence if header.kind is Kind.CONTENT else Presence.PRESENT,
        new_presence=new_presence if header.kind is Kind.CONTENT else Presence.PRESENT,
        old_executable=header.old_executable,
        new_executable=header.new_executable,
        hunks=hunks,
        is_git=True,
        patch_line=line,
    )


def _hunks(reader: Reader) -> tuple[Hunk, ...]:
    """Read the hunks after a `---` and `+++` pair."""
    # A patch that went through a CRLF checkout has carriage returns in its headers too; a patch
    # of a CRLF file has them in its content only, and there they belong to the lines.
    has_crlf = (reader.peek(1) or b"").endswith(b"\r")
    reader.at += 2
    hunks: list[Hunk] = []
    while (line := reader.peek()) is not None and (found := _HUNK.match(line)) is not None:
        hunks.append(_hunk(reader, found, number=len(hunks) + 1, has_crlf=has_crlf))
    following = reader.peek()
    if following is not None and following[:1] in (b" ", b"+", b"-", b"\\"):
        is_end = following.rstrip(b"\r") in _SIGNATURES or _is_file_header(reader)
        if not is_end:
            raise reader.malformed("the hunk has more lines than its header says")
    return tuple(hunks)


def _hunk(reader: Reader, found: re.Match[bytes], *, number: int, has_crlf: bool) -> Hunk:
    """Read one hunk, its header line being the present one."""
    old_first, new_first = int(found.group(1)), int(found.group(3))
    old_left, new_left = (int(count or b"1") for count in found.group(2, 4))
    header = found.string[: found.end()].decode() + found.string[found.end() :].decode(
        "utf-8", "backslashreplace"
    ).rstrip("\r")
    if not old_left:
        old_first += 1
    if not new_left:
        new_first += 1
    reader.at += 1
    lines: list[tuple[str, bytes]] = []
    while old_left or new_left:
        tag, text = _hunk_line(reader, has_crlf=has_crlf)
        old_left -= tag != ADD
        new_left -= tag != DROP
        if old_left < 0 or new_left < 0:
            raise reader.malformed("the hunk has more lines than its header says")
        reader.at += 1
        if (reader.peek() or b"").startswith(b"\\"):
            if (tag != ADD and old_left) or (tag != DROP and new_left) or text == b"\n":
                raise reader.malformed("a last line that is not the last one")
            text = text[:-1]
            reader.at += 1
        lines.append((tag, text))
    changed = [at for at, (tag, _text) in enumerate(lines) if tag != KEEP]
    if not changed:
        raise reader.malformed("the hunk above changes nothing")
    return Hunk(
        number=number,
        header=header,
        old_first=old_first,
        new_first=new_first,
        lines=tuple(lines),
        old=tuple(text for tag, text in lines if tag != ADD),
        new=tuple(text for tag, text in lines if tag != DROP),
        prefix=changed[0],
        suffix=len(lines) - 1 - changed[-1],
    )


def _hunk_line(reader: Reader, *, has_crlf: bool) -> tuple[str, bytes]:
    """Return tag and text, with its line feed, of the present line."""
    line = reader.peek()
    if line is None:
        raise reader.malformed("the file ends inside a hunk")
    if has_crlf and line.endswith(b"\r"):
        line = line[:-1]
    if not line or line.startswith(b"\t"):
        return KEEP, line + b"\n"  # an editor has taken the blank in front
    tag = _TAGS.get(line[0])
    if tag is None:
        raise reader.malformed("a hunk's line that begins with no blank, plus or minus")
    return tag, line[1:] + b"\n"
