"""`weir connect` with words that it cannot take."""

import pytest

from studio.cli.arguments import parse
from studio.cli.connect import CONNECT_COMMANDS
from tests.cli.typed import Ran


@pytest.mark.parametrize("action", ["show", "write", "undo"])
def test_an_action_needs_a_client(weir: object, action: str) -> None:
    """Writing into every client's file is nothing to do by accident."""
    ran: Ran = weir("connect", f"--{action}")
    assert ran.status == 2
    assert f"--{action} needs a client" in ran.err


def test_both_commands_are_there() -> None:
    """With what they take."""
    assert set(CONNECT_COMMANDS) == {"connect", "try"}
    assert parse(["try", "Hi", "--model", "m"]).model == "m"
