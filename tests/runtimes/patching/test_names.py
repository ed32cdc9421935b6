"""Names in patches: quotes, dates, strip levels, and paths that escape."""

import pytest

from studio.domain.errors import BadInput
from studio.runtimes.patching.names import header_name, inside, is_epoch, strip_components, unquote


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"a/x.py", b"a/x.py"),
        (b"a/x.py\r", b"a/x.py"),
        (b"a/x.py\t2026-01-01 00:00:00.0 +0000", b"a/x.py"),
        (b"a/x y.py\t", b"a/x y.py"),
        (b"a/x y.py", b"a/x y.py"),
        (b"a/x.py  2026-01-01 00:00:00", b"a/x.py"),
        (b'"a/\\303\\274\\t.py"', b"a/\xc3\xbc\t.py"),
        (b'"a/x.py"\t2026-01-01 00:00:00', b"a/x.py"),
    ],
)
def test_a_header_names_its_file(raw: bytes, name: bytes) -> None:
    """git, GNU diff, difflib and people all write this line in their own way."""
    assert header_name(raw)[0] == name


def test_an_open_quote_is_no_quote() -> None:
    """The text is then taken as it is."""
    assert unquote(b'"a/x') is None


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        (b"1970-01-01 00:00:00.000000000 +0000", True),
        (b"1970-01-01 01:00:00 +0100", True),
        (b"1969-12-31 19:00:00 -0500", True),
        (b"1970-01-01 05:30:00.000000000 +0530", True),
        (b"1970-01-01 00:00:00", True),
        (b"Thu Jan  1 00:00:00 1970 +0000", True),
        (b"Wed Dec 31 16:00:00 1969", True),
        (b"1970-01-03 00:00:00 +0000", False),
        (b"2026-11-29 12:00:00 +0000", False),
        (b"1970-13-01 00:00:00 +0000", False),
        (b"(revision 7)", False),
        (b"", False),
    ],
)
def test_the_epoch_in_any_zone_means_no_file(stamp: bytes, *, expected: bool) -> None:
    """`diff -N` writes the epoch in the author's local time."""
    assert is_epoch(stamp) is expected


@pytest.mark.parametrize(
    ("name", "strip", "expected"),
    [
        ("a/b/c", 0, "a/b/c"),
        ("a/b/c", 1, "b/c"),
        ("a//b/c", 1, "b/c"),
        ("/a/b", 1, "a/b"),
        ("a/b/c", 3, None),
        ("a/", 1, None),
        ("c", 1, None),
    ],
)
def test_strip_counts_components_as_gnu_patch_does(
    name: str, strip: int, expected: str | None
) -> None:
    """Series are cut with -p1 mostly, but not always."""
    assert strip_components(name, strip) == expected


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../x", "a/../../x", "a/..", "..", ".", "", "./", ".weir-patching/old-0"],
)
def test_a_path_that_leaves_the_tree_is_refused(name: str) -> None:
    """A patch comes from the network; it may not write to a home directory."""
    with pytest.raises(BadInput) as caught:
        inside(name, "p.patch")

    assert caught.value.code == "patch-escapes"


def test_a_path_inside_the_tree_gets_its_plainest_form() -> None:
    """Two spellings of one file must not count as two files."""
    assert inside("./a//b/./c..d", "p.patch") == "a/b/c..d"
