"""What `weir ui` takes: handed on to the window as it was typed."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError
from studio.cli.window_arguments import LANGUAGES
from studio.ui import language


def test_the_windows_options_pass_the_command_line() -> None:
    """Once `--language` was known to the window alone, and refused before it."""
    for words in (
        ("--language", "zh_CN"),
        ("--ssh", "ada@gpu-box", "--remote-home", "/srv/weir ä"),
        ("--address", "127.0.0.1:7000", "--token-file", "token"),
    ):
        assert parse(["ui", *words]).window_arguments == words


def test_a_language_that_the_window_lacks_is_refused_at_once() -> None:
    """The command line and the window know the same ones."""
    with pytest.raises(UsageError):
        parse(["ui", "--language", "tlh"])

    assert LANGUAGES == language.LANGUAGES
