"""What `weir gateway on-demand` takes."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


def test_every_option_is_one_change() -> None:
    """None of them stands for another."""
    line = "--default-ttl 1m --residence auto --wait 9 --queue 3 --abandoned end --off --by-hand"

    assert parse(["gateway", "on-demand", *line.split()]).changes == {
        "default_ttl": "1m",
        "residence": "auto",
        "wait": "9",
        "queue_length": 3,
        "abandoned": "end",
        "is_on": False,
        "ttl_by_hand": True,
    }


@pytest.mark.parametrize("line", ["--queue 0", "--ttl", "--by-hand --not-by-hand", "a b"])
def test_what_cannot_be_meant_is_a_usage_error(line: str) -> None:
    """Before anything is asked of a service."""
    with pytest.raises(UsageError):
        parse(["gateway", "on-demand", *line.split()])
