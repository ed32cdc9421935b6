"""What a patch file may say, and what it may not."""

from pathlib import Path

import pytest

from studio.domain.errors import StudioError
from studio.runtimes.patching.model import ADD, DROP, KEEP, Kind, Presence
from studio.runtimes.patching.parse import parse_patch, parse_series
from tests.runtimes.patching.trees import FEATURES, MAILBOX, PATCHES

BAD = sorted((PATCHES / "bad").glob("*.patch"))


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_patch_is_refused_with_its_code(path: Path) -> None:
    """GNU patch drops some of these changes in silence; the name of each file begins with its
    code."""
    with pytest.raises(StudioError) as caught:
        parse_series([("bad.patch", path.read_bytes())])

    assert caught.value.code == path.name.partition(".")[0]
    assert "bad.patch" in caught.value.message


def test_every_feature_of_a_git_diff_is_read() -> None:
    """A recorded `git format-patch` with renames, copies, modes, deletions and odd names."""
    (diff,) = parse_patch(*FEATURES).diffs

    changes = {change.new_name or change.old_name: change for change in diff}
    assert len(changes) == 11
    assert changes["b/pkg/other/moved.py"].kind is Kind.RENAME
    assert changes["b/pkg/other/moved.py"].old_name == "a/pkg/moved.py"
    assert changes["b/pkg/copy.py"].kind is Kind.COPY
    assert changes["b/pkg/new_empty.py"].hunks == ()
    assert changes["b/pkg/tool.sh"].new_executable is True
    assert changes["b/pkg/fresh.py"].old_presence is Presence.ABSENT
    assert changes["b/pkg/fresh.py"].new_executable is True
    assert changes["a/pkg/sub/gone.py"].new_presence is Presence.ABSENT
    assert changes["b/pkg/größe.py"].hunks[0].old == (b'y = "\xe9"\n',)
    assert "b/pkg/with space/a b.py" in changes
    assert changes["b/pkg/open_end.py"].hunks[0].new == (b"a\n", b"b\n", b"C")
    assert changes["b/pkg/dos.py"].hunks[0].old[0] == b"one\r\n"


def test_commits_in_one_file_are_separate_diffs() -> None:
    """Copies take their source as it was before their own commit, not before the first one."""
    assert [len(diff) for diff in parse_patch(*MAILBOX).diffs] == [2, 1]


def test_a_patch_that_went_through_a_crlf_checkout_loses_its_carriage_returns() -> None:
    """Windows editors and git's autocrlf do this to patches of files with plain line feeds."""
    plain = b"--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"

    mangled = parse_patch("p", plain.replace(b"\n", b"\r\n"))

    assert mangled.diffs[0][0].hunks == parse_patch("p", plain).diffs[0][0].hunks


def test_blanks_that_an_editor_took_are_context_again() -> None:
    """Editors strip trailing blanks, and an empty context line is one blank."""
    patch = b"--- a/m.py\n+++ b/m.py\n@@ -1,4 +1,4 @@\n\n\tx\n-b\n+c\n\n"

    hunk = parse_patch("p", patch).diffs[0][0].hunks[0]

    assert hunk.lines == (
        (KEEP, b"\n"),
        (KEEP, b"\tx\n"),
        (DROP, b"b\n"),
        (ADD, b"c\n"),
        (KEEP, b"\n"),
    )


def test_words_around_a_diff_are_no_part_of_it() -> None:
    """Our patches begin with a preamble that may quote diffs, and mails end with a signature."""
    patch = (
        b"Purpose: replaces\n  --- a/x\n@@ -1 +1 @@\n\n---\n m.py | 2 +-\n\n"
        b"--- a/m.py\t2026-01-01 00:00:00 +0000\n+++ b/m.py\t2026-01-01 00:00:00 +0000\n"
        b"@@ -1 +1 @@ def f():\n-a\n+b\n-- \n2.39.5\n"
    )

    (change,) = parse_patch("p", patch).diffs[0]

    assert (change.old_name, change.new_name) == ("a/m.py", "b/m.py")
    assert change.hunks[0].header == "@@ -1 +1 @@ def f():"


def test_lines_that_look_like_headers_inside_a_hunk_are_lines() -> None:
    """A deleted SQL comment reads `--- x`; only the counts say where a hunk ends."""
    patch = b"--- a/m.sql\n+++ b/m.sql\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n -- end\n"

    (change,) = parse_patch("p", patch).diffs[0]

    assert change.hunks[0].old == (b"-- old\n", b"-- end\n")


def test_the_first_hunk_says_whether_a_file_is_new_or_emptied() -> None:
    """`diff -N` marks a missing side by the epoch, git by /dev/null, plain diff not at all."""
    patch = (
        b"--- a/new\t1970-01-01 01:00:00.000000000 +0100\n+++ b/new\t2026-01-01 00:00:00 +0000\n"
        b"@@ -0,0 +1 @@\n+a\n"
        b"--- a/emptied\t2026-01-01 00:00:00 +0000\n+++ b/emptied\t2026-01-01 00:00:00 +0000\n"
        b"@@ -1 +0,0 @@\n-a\n"
        b"--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    )

    new, emptied, gone = parse_patch("p", patch).diffs[0]

    assert new.old_presence is Presence.ABSENT
    assert emptied.new_presence is Presence.EMPTY
    assert (gone.new_presence, gone.new_name) == (Presence.ABSENT, None)
