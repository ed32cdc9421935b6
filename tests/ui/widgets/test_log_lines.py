"""What the log keeps, shows and finds."""

from hypothesis import given
from hypothesis import strategies as st

from studio.domain.metrics import LogLine
from studio.ui.viewmodels.logs import Gravity
from studio.ui.widgets.log_lines import CAPACITY, LogLines
from tests.ui.fake_service import line

LEVELS = ("info", "warning", "error", "none")


def many(start: int, count: int) -> list[LogLine]:
    """Return lines of all levels."""
    return [line(seq, f"line {seq}", level=LEVELS[seq % 4]) for seq in range(start, start + count)]


def test_the_oldest_go_when_there_are_too_many() -> None:
    """A week of uptime must not eat the memory."""
    lines = LogLines()
    gone = sum(lines.append(many(start, 10_000)) for start in range(0, 130_000, 10_000))

    assert CAPACITY <= lines.count <= CAPACITY + 5_000
    assert lines.count + gone == 130_000
    assert lines.dropped == gone
    assert lines.shown[-1].seq == 129_999
    assert lines.shown[0].seq == gone


def test_the_filter_keeps_warnings_and_errors_also_when_the_oldest_go() -> None:
    """Both lists age together."""
    lines = LogLines()
    lines.filter(Gravity.WARNINGS, only_matches=False)
    for start in range(0, 130_000, 10_000):
        lines.append(many(start, 10_000))

    assert {item.level for item in lines.shown} == {"warning", "error"}
    assert lines.shown[0].seq >= 130_000 - lines.count


@given(st.lists(st.integers(0, 400), max_size=8), st.sampled_from(Gravity), st.booleans())
def test_matches_point_at_lines_that_match_whatever_came_in_what_order(
    counts: list[int], gravity: Gravity, only_matches: bool
) -> None:
    """Searching while lines arrive and while one types finds what searching afterwards finds."""
    live, later = LogLines(), LogLines()
    live.filter(gravity, only_matches=only_matches)
    for typed in ("L", "LINE", "LINE 1"):
        live.search(typed)
    start = 0
    for count in counts:
        live.append(many(start, count))
        later.append(many(start, count))
        start += count
    live.search("LINE 12")
    live.search("LINE 1")
    later.search("LINE 1")
    later.filter(gravity, only_matches=only_matches)

    assert live.matches == later.matches
    assert live.shown == later.shown
    assert not only_matches or len(live.matches) == len(live.shown)
    assert all("line 1" in live.shown[row].text for row in live.matches)


def test_matches_follow_their_lines_when_the_oldest_go() -> None:
    """Row numbers shift; what was found stays found."""
    lines = LogLines()
    lines.search("9999")
    for start in range(0, 130_000, 10_000):
        lines.append(many(start, 10_000))

    assert lines.matches
    assert all("9999" in lines.shown[row].text for row in lines.matches)


def test_hostile_lines_are_drawn_harmlessly() -> None:
    """Control characters, tabs, and a line of a megabyte."""
    lines = LogLines()
    lines.append([line(0, "a" * 1_000_000), line(1, "\x1b[31m\tred\x00\r\n")])

    assert lines.longest == 4_000
    assert len(lines.text_of(lines.shown[0])) == 4_000
    assert lines.text_of(lines.shown[1]).isprintable()
