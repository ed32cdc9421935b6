"""Where hunks go: the rules of GNU patch's search, one by one."""

import pytest

from studio.runtimes.patching.locate import fit, split_lines
from studio.runtimes.patching.model import Hunk
from studio.runtimes.patching.parse import parse_patch
from tests.runtimes.patching import gnu


def hunks(*texts: str) -> tuple[Hunk, ...]:
    """Return the hunks of a patch for one file."""
    patch = "--- a/f\n+++ b/f\n" + "".join(texts)
    return parse_patch("p", patch.encode()).diffs[0][0].hunks


def lines(text: str) -> bytes:
    """Return one line for each character."""
    return "".join(f"{one}\n" for one in text).encode()


CHANGE_C = "@@ -3,3 +3,3 @@\n b\n-c\n+C\n d\n"
FIRST_C = "@@ -1,2 +1,2 @@\n-c\n+C\n d\n"
LAST_C = "@@ -2,2 +2,2 @@\n b\n-c\n+C\n"
INSERT = "@@ -3,0 +4 @@\n+X\n"


@pytest.mark.parametrize(
    ("target", "texts", "places"),
    [
        pytest.param("abcdef", [CHANGE_C.replace("-3", "-2")], [(2, 0)], id="clean"),
        pytest.param("xxxabcdef", [CHANGE_C], [(5, 2)], id="below"),
        pytest.param("bcdef", [CHANGE_C], [(1, -2)], id="above"),
        pytest.param("bcdxbcd", [CHANGE_C], [(5, 2)], id="equally-far-below-first"),
        pytest.param("bcdxxxbcd", [CHANGE_C], [(1, -2)], id="nearest-wins"),
        pytest.param("bxcd", [CHANGE_C], [(None, 0)], id="no-fuzz"),
        pytest.param("cdef", [FIRST_C], [(1, 0)], id="start"),
        pytest.param("xcdef", [FIRST_C], [(None, 0)], id="anchored-at-the-start"),
        pytest.param("xxbc", [LAST_C], [(3, 1)], id="end"),
        pytest.param("abcx", [LAST_C], [(None, 0)], id="anchored-at-the-end"),
        pytest.param("abcdef", [INSERT], [(4, 0)], id="insertion-goes-where-it-says"),
        pytest.param("a", [INSERT], [(4, 0)], id="insertion-past-the-end"),
        pytest.param(
            "xxabcdefghbcd",
            ["@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "@@ -6,3 +6,3 @@\n f\n-g\n+G\n h\n"],
            [(3, 2), (8, 2)],
            id="offset-is-carried-on",
        ),
        pytest.param(
            "abcxx",
            ["@@ -2,1 +2,1 @@\n-b\n+B\n", "@@ -1,1 +1,1 @@\n-a\n+A\n"],
            [(2, 0), (None, 0)],
            id="never-back-above-an-earlier-hunk",
        ),
    ],
)
def test_a_hunk_goes_where_gnu_patch_puts_it(
    target: str, texts: list[str], places: list[tuple[int | None, int]]
) -> None:
    """One case for each rule; the same bytes go through GNU patch."""
    data = lines(target)

    fitted = fit(data, hunks(*texts))

    assert [(one.line, one.offset) for one in fitted.placements] == places
    patch = ("--- a/f\n+++ b/f\n" + "".join(texts)).encode()
    expected = gnu.patched({"f": data}, patch)
    assert expected == ({"f": fitted.content} if fitted.fits else None)


def test_a_missing_last_line_feed_is_part_of_the_line() -> None:
    """`c` and `c` with a line feed are two lines, for `diff` and for us."""
    (hunk,) = hunks("@@ -1 +1 @@\n-c\n\\ No newline at end of file\n+c\n")

    assert fit(b"c", [hunk]).content == b"c\n"
    assert not fit(b"c\n", [hunk]).fits


def test_what_comes_after_an_open_line_begins_a_new_one() -> None:
    """An insertion past an open end must not glue two lines together."""
    assert fit(b"a\nb", hunks("@@ -2,0 +3 @@\n+c\n")).content == b"a\nb\nc\n"


def test_lines_are_split_at_line_feeds_only() -> None:
    """Carriage returns, form feeds and exotic line separators are content."""
    assert split_lines(b"a\r\nb\x0c\x85\xe2\x80\xa8c\n\nd") == [
        b"a\r\n",
        b"b\x0c\x85\xe2\x80\xa8c\n",
        b"\n",
        b"d",
    ]


def test_a_large_file_of_equal_lines_is_searched_quickly() -> None:
    """A search that is quadratic in equal lines takes minutes on generated code."""
    data = b"x\n" * 200_000 + b"y\n"
    (hunk,) = hunks("@@ -9,3 +9,3 @@\n x\n-y\n+z\n\n".replace("\n\n", "\n x\n"))

    assert not fit(data, [hunk] * 50).fits
