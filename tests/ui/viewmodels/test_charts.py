"""Charts: scale, lines, crosshair."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.ui.viewmodels.charts import chart_moved, charts, lone_values, moment_text, nice_ceiling
from tests.ui.fake_service import POOL, tick


@given(st.floats(min_value=1e-6, max_value=1e12))
def test_a_ceiling_is_above_and_not_far(highest: float) -> None:
    """A chart whose line lies on the floor, or leaves the frame, says nothing."""
    top = nice_ceiling(highest)

    assert highest <= top <= highest * 2.5


@pytest.mark.parametrize(("highest", "top"), [(0, 1), (1, 1), (118, 200), (4_100, 5_000)])
def test_ceilings_are_round(highest: float, top: float) -> None:
    """Gridlines are read as numbers."""
    assert nice_ceiling(highest) == pytest.approx(top)


def test_the_pool_is_drawn_against_its_crest() -> None:
    """Half full must look half full."""
    pool, decode, ttft, requests = charts([tick(second) for second in range(10)], POOL)

    assert pool.top == POOL
    assert [text for _, text in pool.marks] == ["0", "34,302", "68,605"]
    assert decode.top == 200
    assert ttft.now == f"{tick(9).ttft_s:.2f} s"
    assert requests.now == "5 running · 0 waiting"


def test_gaps_stay_gaps() -> None:
    """A line drawn through the unknown claims to know it."""
    ticks = [tick(0), tick(1, decode_tokens_per_s=None), tick(2)]

    decode = charts(ticks, POOL)[1]

    assert [value is None for _, value in decode.lines[0].points] == [False, True, False]


def test_seconds_without_a_first_token_do_not_tear_the_ttft_line() -> None:
    """A line of lone dashes reads as a fault; while the engine is away there is a gap."""
    away = {"ttft_s": None, "running": None}
    ticks = [tick(0), tick(1, ttft_s=None), tick(2), tick(3, **away), tick(4), tick(5, ttft_s=None)]

    ttft = charts(ticks, POOL)[2]

    points = [(age, value is None) for age, value in ttft.lines[0].points]
    assert points == [(5, False), (3, False), (2, True), (1, False)]
    assert ttft.now == f"{tick(4).ttft_s:.2f} s"


def test_a_value_between_gaps_is_told_apart() -> None:
    """TTFT exists only in seconds in which a request began; a line would never show it."""
    assert lone_values(((4, None), (3, 0.2), (2, None), (1, 0.3), (0, 0.4))) == ((3, 0.2),)
    assert lone_values(((0, 0.2),)) == ((0, 0.2),)
    assert lone_values(()) == ()


def test_only_the_last_five_minutes_are_drawn() -> None:
    """The axis says five minutes."""
    view = charts([tick(second) for second in range(0, 1_000, 10)], POOL)[0]

    assert max(age for age, _ in view.lines[0].points) <= view.span_s


def test_nothing_measured_is_said() -> None:
    """An empty frame looks broken."""
    for view in charts([], None):
        assert view.empty == "Nothing measured yet"
        assert view.now == ""


def test_a_flat_line_that_grows_older_has_not_moved() -> None:
    """No paint for nothing."""
    idle = charts([tick(second, load=False) for second in range(301)], POOL)
    later = charts([tick(second, load=False) for second in range(1, 302)], POOL)
    busy = charts([tick(second) for second in range(301)], POOL)

    assert not any(chart_moved(old, new) for old, new in zip(idle, later, strict=True))
    assert all(chart_moved(old, new) for old, new in zip(idle, busy, strict=True))


def test_the_crosshair_names_every_value_or_that_there_is_none() -> None:
    """Where nothing was measured, nothing is read."""
    ticks = [tick(0), tick(1, running=None), tick(2)]
    requests = charts(ticks, POOL)[3]
    pool = charts(ticks, POOL)[0]

    assert moment_text(requests, 1.0) == "1 s ago · – running · 1 waiting"
    assert moment_text(pool, 0.0) == f"0 s ago · {tick(2).pool_used_tokens:,} tokens"
    assert moment_text(pool, 200.0) == "200 s ago · –"
    assert moment_text(msgspec.structs.replace(pool, lines=()), 3.0) == "3 s ago"
