"""The words of `weir connect`."""

import pytest

from studio.cli.arguments import parse
from studio.cli.mistakes import UsageError


def test_one_action_at_a_time() -> None:
    """Showing is what happens when none is named."""
    assert parse(["connect", "zed"]).action is None or parse(["connect", "zed"]).action != "write"
    assert parse(["connect", "zed", "--undo"]).action == "undo"
    with pytest.raises(UsageError):
        parse(["connect", "zed", "--write", "--undo"])
