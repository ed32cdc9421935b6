"""Exit statuses as they are typed."""

import argparse

import pytest

from studio.cli.arguments import parse
from studio.cli.remedy_arguments import exit_code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("137", 137),
        ("-9", -9),
        ("0xC0000005", 0xC0000005),
        ("18446744072635812000", 18446744072635812000),
        ("-1073741510", -1073741510),
    ],
)
def test_every_form_of_a_status_is_read(text: str, code: int) -> None:
    """As a shell, Python or Windows shows it."""
    assert exit_code(text) == code
    assert parse(["diagnose", "--exit-code", text]).exit_code == code


@pytest.mark.parametrize("text", ["", "nine", "1.5", "1e3", "0x", "9" * 40])
def test_what_is_no_status_is_named(text: str) -> None:
    """Instead of a traceback."""
    with pytest.raises(argparse.ArgumentTypeError, match="exit status"):
        exit_code(text)


def test_words_of_both_commands() -> None:
    """Left out, they mean the last failure."""
    assert parse(["diagnose"]).log is None
    assert parse(["diagnose", "-"]).log == "-"
    assert parse(["fix"]).number is None
    assert parse(["fix", "2", "--yes"]).number == 2
