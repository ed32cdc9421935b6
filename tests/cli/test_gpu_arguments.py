"""The words of `weir gpus`."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


def test_it_is_once_unless_followed() -> None:
    """And for people unless for programs."""
    plain, all_of_it = parse(["gpus"]), parse(["gpus", "--follow", "--json"])

    assert (plain.command, plain.follow, plain.json) == ("gpus", False, False)
    assert (all_of_it.follow, all_of_it.json) == (True, True)


def test_a_host_in_a_file_has_no_cards_that_do_anything() -> None:
    """Replays know what cards are, not what they do."""
    with pytest.raises(UsageError):
        parse(["gpus", "--host", "rtx3090-linux"])
