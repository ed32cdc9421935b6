"""argparse's messages become sentences of ours."""

import pytest

from studio.cli.mistakes import near, sentence


@pytest.mark.parametrize(
    ("found", "known", "expected"),
    [
        ("stat", ("start", "status"), "status"),
        ("sttus", ("start", "status"), "status"),
        ("STATUS", ("start", "status"), "status"),
        ("xyz", ("start", "status"), None),
        ("", ("start", "status"), None),
    ],
)
def test_the_nearest_word_is_found_or_none(
    found: str, known: tuple[str, ...], expected: str | None
) -> None:
    """A wrong guess is worse than none."""
    assert near(found, known) == expected


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("the following arguments are required: NAME", "NAME"),
        ("argument -p/--port: expected one argument", "--port"),
        ("argument --json: ignored explicit argument 'x'", "--json"),
        ("argument --level: invalid choice: 'loud' (choose from 'debug', 'info')", "debug, info"),
    ],
)
def test_a_message_names_what_it_is_about(message: str, word: str) -> None:
    """People read the option and what it takes, not the parser's inside."""
    said = sentence(message)

    assert word in said
    assert "argument -" not in said
