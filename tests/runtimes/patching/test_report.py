"""What a person reads when a hunk is rejected."""

import pytest

from studio.domain.errors import StudioError
from studio.runtimes.patching.decide import plan
from studio.runtimes.patching.parse import parse_series
from studio.runtimes.patching.report import rejection_error, shown

PATCH = (
    b"--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1,3 +1,3 @@ def f():\n a\n-b\n+B\n c\n"
    b"@@ -11,3 +11,3 @@\n k\n-l\n+L\n m\n"
)
GOOD = b"".join(b"%c\n" % one for one in range(ord("a"), ord("z")))


def rejected(target: bytes, patch: bytes = PATCH) -> StudioError:
    """Return the error for a patch that does not fit."""
    decided = plan(parse_series([("01-fix.patch", patch)]), {"pkg/m.py": target}.get, 1)
    return rejection_error(decided.rejections)


def test_the_error_names_patch_file_hunk_and_the_lines_that_differ() -> None:
    """Who maintains the series has to see at once what upstream changed."""
    error = rejected(b"new\n" + GOOD.replace(b"l\n", b"other(1)\n"))

    reason = "the lines at 12 are not what the patch expects"
    assert error.code == "patch-rejected"
    assert error.message == (
        f"The patch 01-fix.patch does not fit pkg/m.py: hunk 2 of 2 (@@ -11,3 +11,3 @@): {reason}."
    )
    assert error.evidence == (
        f"01-fix.patch: pkg/m.py: hunk 2 @@ -11,3 +11,3 @@: {reason}",
        "  line 13: expected `l`",
        "  line 13: found `other(1)`",
    )
    assert error.data["hunk"] == 2
    assert error.hint is not None


def test_every_rejected_hunk_is_listed() -> None:
    """Mending a series one hunk at a time takes all day."""
    error = rejected(GOOD.replace(b"l\n", b"x\n").replace(b"b\n", b"y\n"))

    assert "1 more hunks are rejected too" in error.message
    assert [line for line in error.evidence if line.startswith("  ")] == [
        "  line 2: expected `b`",
        "  line 2: found `y`",
        "  line 12: expected `l`",
        "  line 12: found `x`",
    ]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (GOOD.replace(b"\n", b"\r\n"), "the file has other line ends than the patch"),
        (b"", "the file is empty"),
        (b"x\n" + GOOD, "the patch expects the file's beginning there"),
        (GOOD.replace(b"b\n", b"B\n").replace(b"l\n", b"x\n"), "seems to be in the file already"),
    ],
)
def test_a_common_cause_is_named(target: bytes, reason: str) -> None:
    """The reason saves the reader from comparing blanks."""
    first = b"--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n"
    patch = first if b"x\n" in target[:2] else PATCH

    assert reason in rejected(target, patch).evidence[0]


def test_a_missing_file_is_named() -> None:
    """Upstream moved it, or the strip level is wrong."""
    decided = plan(parse_series([("01-fix.patch", PATCH)]), lambda _path: None, 1)

    assert "there is no file pkg/m.py" in rejection_error(decided.rejections).message


def test_evidence_is_safe_for_a_terminal_and_short() -> None:
    """A file may hold anything, and an error travels through logs and JSON."""
    assert shown(b"\x1b[31mred\xff\tx\n") == "`\\x1b[31mred\\xff\tx`"
    assert shown(b"a\r\n") == "`a` (CRLF)"
    assert shown(b"a") == "`a` (no line feed at its end)"
    assert len(shown(b"x" * 10_000)) < 200
    many = "".join(f"@@ -{n},1 +{n},1 @@\n-old {n}\n+new\n" for n in range(1, 200))

    assert len(rejected(GOOD, b"--- a/pkg/m.py\n+++ b/pkg/m.py\n" + many.encode()).evidence) == 41
