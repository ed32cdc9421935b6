"""Sentences of `weir report`."""

from studio.cli import report_words


def test_it_says_where_the_report_lies() -> None:
    """And how much of it there is, before somebody mails it."""
    assert report_words.written("/x/y.zip", 2048, 12) == "/x/y.zip: 12 files, 2.0 KiB."
