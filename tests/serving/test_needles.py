"""The shortcut past patterns: certain, or none at all."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.serving.needles import needle_of


@pytest.mark.parametrize(
    ("pattern", "needle"),
    [
        (r"^ *\S+(?: serve)?: error: unrecognized (?P<a>.+)$", ": error: unrecognized "),
        (r"one|another", ""),
        (r"(?:one|another) thing", " thing"),
        (r"abc?d", "ab"),
        (r"abc*def", "def"),
        (r"abc{2}d", "ab"),
        (r"ab+c", "ab"),
        (r"[a]b\.c \d+ xyz", "b.c "),
        (r"[]x]yz[^]]w", "yz"),
        (r"\[Errno 24\]", "[Errno 24]"),
        (r"(?i)anything", ""),
        (r"a\nb", "a"),
        (r"x(y(z)?)*w", "x"),
    ],
)
def test_the_longest_certain_text(pattern: str, needle: str) -> None:
    """What a quantifier or another branch may leave out does not count."""
    assert needle_of(pattern) == needle


@given(st.text(alphabet="abcXYZ 0123.[](){}?*+|^$\\'\"", min_size=1, max_size=40))
def test_a_text_taken_literally_is_its_own_needle(text: str) -> None:
    """Escapes are read as `re` writes them."""
    assert needle_of(re.escape(text)) == text
