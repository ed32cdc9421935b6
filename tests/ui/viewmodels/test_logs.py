"""Words of the log page."""

import re

import pytest

from studio.ui.viewmodels.logs import Gravity, clock_text, count_text, is_as_grave, line_text
from tests.ui.fake_service import line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, 0, None, None), "1 line"),
        ((100_000, 20, None, None), "100,000 lines · 20 older lines not kept"),
        ((12, 0, 0, None), "12 lines · 0 matches"),
        ((12, 0, 3, 1), "12 lines · 2 of 3 matches"),
    ],
)
def test_the_count_says_what_is_there_and_what_is_not(
    arguments: tuple[int, int, int | None, int | None], words: str
) -> None:
    """A log that forgets must say so."""
    assert count_text(*arguments) == words


def test_only_warnings_and_errors_are_grave() -> None:
    """The filter is for who looks for trouble."""
    grave = {
        level
        for level in ("debug", "info", "warning", "error", "none")
        if is_as_grave(line(0, "x", level=level), Gravity.WARNINGS)
    }

    assert grave == {"warning", "error"}


def test_a_copied_line_carries_time_source_and_level() -> None:
    """It will be pasted into a report."""
    copied = line_text(line(50, "engine said 你好", level="error"))

    assert re.fullmatch(r"\d\d:\d\d:\d\d engine error   engine said 你好", copied)
    assert re.fullmatch(r"\d\d:\d\d:\d\d", clock_text(0.0))
