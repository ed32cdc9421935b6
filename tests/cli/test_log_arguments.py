"""The words of `weir logs`."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


def test_all_words_are_understood() -> None:
    """Each in the place where the command looks for it."""
    call = parse([
        "logs", "-f", "-n", "7", "--since", "10m", "--level", "error", "--grep", "x", "--full",
        "--service", "--json", "--set", "files=3",
    ])  # fmt: skip

    assert (call.follow, call.lines, call.since, call.level) == (True, 7, "10m", "error")
    assert (call.grep, call.full, call.of_service, call.json) == ("x", True, True, True)
    assert call.assigned == (("files", "3"),)


def test_without_words_nothing_is_asked_for() -> None:
    """How many lines there are depends on the rest."""
    call = parse(["logs"])

    assert (call.lines, call.since, call.full, call.of_service) == (None, None, False, False)


@pytest.mark.parametrize("words", [("-n", "0"), ("-n", "x"), ("--level", "loud"), ("--since",)])
def test_a_mistake_is_a_usage_error(words: tuple[str, ...]) -> None:
    """Before anything is read."""
    with pytest.raises(UsageError):
        parse(["logs", *words])
