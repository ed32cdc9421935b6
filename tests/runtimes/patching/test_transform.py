"""Which file a change means, and when its being there or not forbids the change."""

import pytest

from studio.runtimes.patching.overlay import Overlay
from studio.runtimes.patching.parse import parse_patch
from studio.runtimes.patching.transform import Transformed, transform

CREATE = b"--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+a\n"
DELETE = b"--- a/m\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
EMPTY = b"--- a/m\n+++ b/m\n@@ -1 +0,0 @@\n-a\n"
FILL = b"--- a/m\n+++ b/m\n@@ -0,0 +1 @@\n+a\n"
EDIT = b"--- a/m\n+++ b/m\n@@ -1 +1 @@\n-a\n+b\n"
RENAME = b"diff --git a/m b/n\nsimilarity index 100%\nrename from m\nrename to n\n"
COPY = b"diff --git a/m b/n\nsimilarity index 100%\ncopy from m\ncopy to n\n"


def apply_to(tree: dict[str, bytes], patch: bytes) -> tuple[Transformed, dict[str, bytes | None]]:
    """Return the outcome of a one-file patch and what it changed."""
    overlay = Overlay(tree.get)
    (change,) = parse_patch("p", patch).diffs[0]
    old, new = (name and name[2:] for name in (change.old_name, change.new_name))
    result = transform(overlay, change, old, new, frozenset())
    return result, {one.path: one.content for one in overlay.changes()}


@pytest.mark.parametrize(
    ("patch", "tree", "expected"),
    [
        (CREATE, {}, {"m": b"a\n"}),
        (CREATE, {"m": b""}, {"m": b"a\n"}),
        (CREATE, {"m": b"x\n"}, "m exists already"),
        (DELETE, {"m": b"a\n"}, {"m": None}),
        (DELETE, {"m": b"a\nx\n"}, "m holds more than the patch deletes, so it cannot be deleted"),
        (DELETE, {"m": b""}, "m is empty already"),
        (DELETE, {}, "there is no file m"),
        (EMPTY, {"m": b"a\n"}, {"m": b""}),
        (EMPTY, {"m": b"a\nx\n"}, {"m": b"x\n"}),
        (EMPTY, {"m": b""}, "m is empty already"),
        (FILL, {"m": b""}, {"m": b"a\n"}),
        (FILL, {}, {"m": b"a\n"}),
        (FILL, {"m": b"x\n"}, {"m": b"a\nx\n"}),
        (EDIT, {}, "there is no file m"),
        (RENAME, {"m": b"a\n"}, {"m": None, "n": b"a\n"}),
        (RENAME, {"m": b"a\n", "n": b"b\n"}, "n exists already"),
        (RENAME, {"n": b"a\n"}, "there is no file m"),
        (COPY, {"m": b"a\n"}, {"n": b"a\n"}),
        (COPY, {"m": b"a\n", "n": b"b\n"}, "n exists already"),
    ],
)
def test_a_file_that_is_or_is_not_there_decides(
    patch: bytes, tree: dict[str, bytes], expected: str | dict[str, bytes | None]
) -> None:
    """Creating over a file or deleting a changed one would lose somebody's lines."""
    result, changes = apply_to(tree, patch)

    if isinstance(expected, str):
        assert (result.refusal, changes) == (expected, {})
    else:
        assert (result.refusal, changes) == (None, expected)


def test_of_two_names_the_existing_one_is_meant() -> None:
    """`diff -u m.orig m` names two files, one of which is the author's copy."""
    patch = b"--- a/m.orig\n+++ b/m\n@@ -1 +1 @@\n-a\n+b\n"

    assert apply_to({"m": b"a\n"}, patch)[1] == {"m": b"b\n"}
    assert apply_to({"m": b"a\n", "m.orig": b"a\n"}, patch)[1] == {"m": b"b\n"}
    assert apply_to({"m.orig": b"a\n"}, patch)[1] == {"m.orig": b"b\n"}


def test_a_hunk_that_does_not_fit_changes_nothing() -> None:
    """Half a file is worse than none."""
    patch = EDIT + b"@@ -5 +5 @@\n-x\n+y\n"

    result, changes = apply_to({"m": b"a\n"}, patch)

    assert [one.line for one in result.placements] == [1, None]
    assert changes == {}
