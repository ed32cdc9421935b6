"""The history in words and as CSV."""

import pytest

from studio.cli import history_text
from studio.cli.chart import PLAIN
from studio.domain.history import HistoryAnswer, HistoryEvent, HistoryEventKind, HistoryState
from tests.cli.monitor_samples import ANSWER


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """Also with long names of presets and other scripts."""
    event = HistoryEvent(at=1, kind=HistoryEventKind.DEATH, name="模" * 60, detail="x" * 200)
    answer = HistoryAnswer(
        since=ANSWER.since, until=ANSWER.until, step_s=1, series=ANSWER.series[:1], events=(event,)
    )
    lines = history_text.answer_text(answer, width, PLAIN).splitlines()

    assert max(len(line) for line in lines if "·" not in line) <= width


def test_control_characters_cannot_move_the_cursor() -> None:
    """A preset's name comes from a file."""
    event = HistoryEvent(at=1, kind=HistoryEventKind.DEATH, name="a\x1b[2Jb")

    assert "\x1b" not in history_text.events_text([event], 80)


def test_of_many_events_the_newest_are_shown() -> None:
    """And how many there were before."""
    many = [HistoryEvent(at=float(n), kind=HistoryEventKind.DEATH, name=f"n{n}") for n in range(50)]
    text = history_text.events_text(many, 80)

    assert "38 earlier ones" in text
    assert "n49" in text
    assert "n37" not in text


def test_nothing_kept_is_said() -> None:
    """And when it begins; a span without anything is another thing."""
    nothing = HistoryAnswer(since=0, until=1, step_s=1)

    assert "weir up" in history_text.answer_text(nothing, 80)
    known = HistoryAnswer(since=0, until=1, step_s=1, known=("running",))
    assert history_text.answer_text(known, 80) == "Nothing is kept of that span."
    assert "none yet" in history_text.state_text(HistoryState(file="f", most_bytes=1), ())


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "B", "–"),
        (1 << 30, "B", "1.00 GiB"),
        (1 << 20, "B/s", "1.0 MiB/s"),
        (0.5, "share", "50 %"),
        (101.0, "tok/s", "101 tok/s"),
        (3.14159, "s", "3.14 s"),
        (68_605.0, "tokens", "68,605 tokens"),
        (512.3333, "tokens", "512 tokens"),
        (4.6231, "tok/step", "4.62 tok/step"),
        (3.0, "", "3"),
    ],
)
def test_values_carry_their_unit(value: float | None, unit: str, text: str) -> None:
    """As everywhere else."""
    assert history_text.value_text(value, unit) == text
