"""Every command that is listed can be parsed, and explains itself."""

import pytest

from studio.cli import parsers, words
from studio.cli.mistakes import TextAsked


@pytest.mark.parametrize("command", sorted(words.COMMANDS))
def test_every_command_has_a_help_text(command: str) -> None:
    """`--help` is the only manual that is always at hand."""
    with pytest.raises(TextAsked) as caught:
        parsers.build().parse_known_args([command, "--help"])

    assert f"weir {command}" in caught.value.text
