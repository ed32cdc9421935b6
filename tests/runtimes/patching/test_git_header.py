"""What stands between `diff --git` and the first hunk."""

import pytest

from studio.runtimes.patching.git_header import GitHeader, read_git_header
from studio.runtimes.patching.model import Kind, Presence


def header(*lines: str) -> GitHeader:
    """Return the header that `lines` say."""
    return read_git_header([line.encode() for line in (*lines, "@@")], 0, "p.patch")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("a/x.py b/x.py", ("a/x.py", "b/x.py")),
        ("a/x y.py b/x y.py", ("a/x y.py", "b/x y.py")),
        ("a/b b/b b/b b/b", ("a/b b/b", "b/b b/b")),
        ("x.py x.py", ("x.py", "x.py")),
        ('"a/\\"q\\".py" "b/\\"q\\".py"', ('a/"q".py', 'b/"q".py')),
        ('"a/\\303\\274" "b/\\303\\274"', ("a/ü", "b/ü")),
    ],
)
def test_names_are_told_apart(names: str, expected: tuple[str, str]) -> None:
    """Without hunks this line is the only place that names the file, and blanks are not quoted."""
    read = header(f"diff --git {names}", "old mode 100644", "new mode 100755")

    assert (read.old_name, read.new_name) == expected


@pytest.mark.parametrize(
    ("names", "source", "target", "expected"),
    [
        ("a/x b/y", "x", "y", ("a/x", "b/y")),
        ("a/x y b/z w", "x y", "z w", ("a/x y", "b/z w")),
        ("old/x new/y", "old/x", "new/y", ("old/x", "new/y")),
        ('a/x "b/\\303\\274"', "x", '"\\303\\274"', ("a/x", "b/ü")),
    ],
)
def test_a_rename_keeps_the_components_that_strip_takes(
    names: str, source: str, target: str, expected: tuple[str, str]
) -> None:
    """`rename from` lacks the `a/`, so its names are not what `-p1` counts from."""
    read = header(f"diff --git {names}", f"rename from {source}", f"rename to {target}")

    assert (read.old_name, read.new_name) == expected
    assert read.kind is Kind.RENAME
    assert read.says_anything


def test_an_index_line_tells_empty_files_from_missing_ones() -> None:
    """A new empty file has no hunk; its blob's hash is all that says it is empty."""
    new = header("diff --git a/x b/x", "new file mode 100644", "index 0000000..e69de29")
    gone = header("diff --git a/x b/x", "deleted file mode 100755", "index e69de29..0000000")

    assert (new.old_presence, new.new_presence) == (Presence.ABSENT, Presence.EMPTY)
    assert (gone.old_presence, gone.new_presence) == (Presence.EMPTY, Presence.ABSENT)
    assert gone.old_executable is True


def test_an_index_line_alone_changes_no_mode() -> None:
    """It repeats the mode that git knows, whatever the installed file has."""
    read = header("diff --git a/x b/x", "index 1111111..2222222 100644")

    assert (read.old_executable, read.new_executable) == (None, None)
    assert not read.says_anything
