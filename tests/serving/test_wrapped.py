"""Wrapped logs: put together again, and never put together what does not belong together."""

import textwrap
from pathlib import Path

import pytest

from studio.serving import diagnose
from studio.serving.heard import Hearing
from studio.serving.wrapped import unwrapped, width_of
from tests.fakes import recordings

SIGNATURES = diagnose.load(Path(__file__).resolve().parents[2] / "runtimes" / "failures.toml")
FAILURES = sorted((recordings.ENGINE / "failures").glob("*.log"))


def by_terminal(lines: list[str], width: int) -> list[str]:
    """Return lines as a terminal of so many columns breaks them."""
    return [line[at : at + width] for line in lines for at in range(0, max(1, len(line)), width)]


def by_editor(lines: list[str], width: int) -> list[str]:
    """Return lines as an editor or a mail program breaks them."""
    return [
        piece
        for line in lines
        for piece in textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)
        or [""]
    ]


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_a_failure_is_recognised_in_what_was_copied_from_a_terminal(width: int) -> None:
    """Terminals break in the middle of words and numbers."""
    for path in FAILURES:
        lines = recordings.lines(path)
        plain = diagnose.matches(lines, None, SIGNATURES)
        broken = diagnose.matches(by_terminal(lines, width), None, SIGNATURES)

        assert broken[0].code == plain[0].code, path


@pytest.mark.parametrize("wrap", [by_terminal, by_editor])
def test_wrapped_healthy_logs_raise_no_alarm(wrap) -> None:
    """The rest of a warning is no error."""
    for path in recordings.healthy():
        lines = wrap(recordings.lines(path), 100)

        assert diagnose.matches(lines, None, SIGNATURES) == [], path


def test_one_wrapped_sentence_is_enough() -> None:
    """A mail with three lines."""
    line = (
        "ValueError: Free memory on device cuda:0 (12.1/31.74 GiB) on startup is less than desired "
        "GPU memory utilization (0.9, 28.57 GiB). Decrease GPU memory utilization."
    )

    for wrapped in (by_terminal([line], 72), by_editor([line], 72)):
        found = diagnose.matches(wrapped, None, SIGNATURES)
        assert [one.code for one in found] == ["gpu-memory-taken"]
        assert found[0].data["wanted_gib"] == 28.57


def test_an_unbroken_log_has_no_width() -> None:
    """Nothing is put together that was not taken apart."""
    hearing = Hearing()
    hearing.take(["INFO 11-29 13:00:00 [a.py:1] " + "x" * 100, "Killed", "Killed"])

    assert unwrapped(hearing.boot) is None or width_of(hearing.boot) is not None
    found = diagnose.matches_heard(hearing, None, SIGNATURES)
    assert [one.code for one in found] == ["worker-killed"]
