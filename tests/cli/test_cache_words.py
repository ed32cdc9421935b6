"""Sentences about caches."""

from studio.cli import cache_words
from studio.domain.cache import ChangeKind
from studio.gateway import cache_marks
from studio.host.paths import bundled_root


def test_one_and_many_are_told_apart() -> None:
    """In `weir status`."""
    assert cache_words.status(1).startswith("1 client has")
    assert cache_words.status(2).startswith("2 clients have")


def test_every_kind_and_every_mark_has_words() -> None:
    """A mark that is added to the data is not shown by its id."""
    assert set(cache_words.WHERE) == set(cache_words.REMEDIES) == set(ChangeKind)
    marks = cache_marks.load(bundled_root() / "runtimes" / "cache_marks.toml")
    assert {mark.id for mark, _ in marks._marks} <= set(cache_words.MARKS)
