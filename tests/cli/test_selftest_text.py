"""The self-test's report on the terminal."""

from studio.cli import selftest_words
from studio.cli.selftest_text import report_text
from studio.domain.selftest import Defence, Place
from tests.cli.selftest_samples import OPEN, SAFE


def test_a_defence_that_held_takes_one_line() -> None:
    """A hundred attacks are eleven lines."""
    assert report_text(SAFE).splitlines() == [
        "  Keys                    1 of 1 attacks repelled",
        "",
        "No address is open, so only a gateway of its own was attacked.",
        "The gateway held: 1 attacks in 1.6 s, all repelled.",
    ]


def test_what_came_through_is_named_with_what_to_do() -> None:
    """Attack, place, answer; the missing defence; and that it should not go on like that."""
    text = report_text(OPEN)

    assert "  Host names              0 of 1 attacks repelled" in text
    assert "let through: A page's own name, pointed at this machine (rebinding, on the open" in text
    assert "The gateway let 1 of 2 attacks through. Missing: host names." in text
    assert "http://127.0.0.1:18020/v1 was attacked too" in text
    assert "Do not serve on this address" in text


def test_every_defence_and_place_has_words() -> None:
    """A new one must not appear as a code."""
    assert selftest_words.DEFENCES.keys() == set(Defence)
    assert selftest_words.PLACES.keys() == set(Place)
