"""The history of boots as text."""

import msgspec

from studio.cli.boots_text import history_text, temperature_text
from studio.domain.boots import BootHistory, BootOutcome
from tests.cli.boots_samples import COLD, HISTORY, WARM


def test_the_newest_boot_stands_first_with_all_that_is_known_of_it() -> None:
    """What a person looks for: how long, cold or warm, where the time went, why another pool."""
    text = history_text(HISTORY, None, 100)

    newest, older = text.split("\n\n")
    assert "27b-mtp · warm, a guess · ready after 1 min 21 s · forecast 1 min 26 s" in newest
    assert "second try, warm" in newest
    assert "pool 84,811 tokens" in newest
    assert "loading Python 10.0 s · loading weights 12.0 s · new-phase 3.0 s" in newest
    assert "811 tokens larger" in newest
    assert "The driver was 1 and is 2." in newest
    assert "cold · failed: kv-cache-too-small" in older
    assert "compiling 44.0 s" in older
    assert "reading the configuration" not in older  # 0.01 s are no news
    assert "pool" not in older


def test_no_line_is_wider_than_the_terminal_and_no_figure_is_torn_apart() -> None:
    """`5.7` at the end of a line and `s` at the beginning of the next."""
    lines = history_text(HISTORY, None, 60).splitlines()

    assert max(map(len, lines)) <= 60
    assert not any(line.strip().startswith(("s ", "min ", "tokens")) for line in lines)


def test_an_empty_history_says_so() -> None:
    """For all presets, and for one."""
    assert history_text(BootHistory(), None) == "Nothing has booted here yet."
    assert "`x`" in history_text(BootHistory(), "x")


def test_every_ending_has_words() -> None:
    """A boot that was stopped, and one that nobody can explain."""
    stopped = msgspec.structs.replace(COLD, outcome=BootOutcome.STOPPED, error=None)
    unexplained = msgspec.structs.replace(COLD, error=None)

    assert "stopped before it was ready" in history_text(BootHistory(boots=(stopped,)), None)
    assert " · failed" in history_text(BootHistory(boots=(unexplained,)), None)
    assert temperature_text(msgspec.structs.replace(WARM, is_cold=None)).endswith("not known")
