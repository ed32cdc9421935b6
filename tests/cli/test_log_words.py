"""Sentences of `weir logs`."""

from studio.cli import log_words
from studio.domain.logs import LogLimits


def test_limits_are_said_in_words() -> None:
    """How many, and how large."""
    assert log_words.limits(LogLimits(file_mib=5, files=1)) == (
        "At most one file of 5 MiB is kept of the engine's log."
    )
    assert "20 files of 9 MiB" in log_words.limits(LogLimits(file_mib=9, files=20))


def test_mistakes_name_what_would_be_right() -> None:
    """Both settings are listed."""
    message, hint = log_words.unknown_limit("size")

    assert "`size`" in message
    assert "`file_mib`" in hint
    assert (
        log_words.limit_not_a_number("files", "x")
    ) == "`files` should be a whole number, found `x`."
