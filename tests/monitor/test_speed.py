"""Speeds are measured only while the load stands still."""

import pytest

from studio.domain.metrics import Tick
from studio.domain.speed import SpeedMeasured
from studio.monitor.speed import SpeedWindow, step_time


def tick(second: float, **known: float | int) -> Tick:
    """Return a second of one request at 100 tok/s, but for what is said."""
    usual: dict[str, float | int] = {"running": 1, "decode_tokens_per_s": 100.0}
    return Tick(at=1_000.0 + second, **{**usual, **known})


def measured(ticks: list[Tick], context: int | None = 500) -> SpeedMeasured:
    """Return what a window says of some seconds."""
    window = SpeedWindow()
    for one in ticks:
        window.add(one, context)
    return window.measured()


def test_steady_decoding_is_measured() -> None:
    """The first seconds still speak of the load before, and do not count."""
    found = measured([tick(s) for s in range(20)])

    assert found.seconds == 17
    assert found.requests == 1
    assert found.decode_tokens_per_s == pytest.approx(100)
    assert found.step_s == pytest.approx(0.01)
    assert found.tokens_per_step is None
    assert found.context_tokens == 500


def test_seconds_in_which_a_prompt_was_computed_do_not_count() -> None:
    """A long prompt halves the speed of those who read their answers; that is no fault."""
    ticks = [tick(s) for s in range(10)]
    ticks += [tick(s, prefill_tokens_per_s=900.0, decode_tokens_per_s=20.0) for s in range(10, 20)]
    ticks += [tick(s) for s in range(20, 25)]

    assert measured(ticks).decode_tokens_per_s == pytest.approx(100)


def test_seconds_after_a_request_came_or_went_do_not_count() -> None:
    """A rate looks three seconds back."""
    ticks = [tick(s) for s in range(10)]
    ticks += [tick(s, running=2, decode_tokens_per_s=130.0) for s in range(10, 13)]
    ticks += [tick(s) for s in range(13, 16)]

    assert measured(ticks).seconds == 7


def test_the_newest_number_of_requests_is_what_is_measured() -> None:
    """A mean over one and four requests is no speed of anything."""
    ticks = [tick(s) for s in range(10)]
    ticks += [tick(s, running=4, decode_tokens_per_s=260.0) for s in range(10, 20)]

    found = measured(ticks)

    assert found.requests == 4
    assert found.decode_tokens_per_s == pytest.approx(260)
    assert found.step_s == pytest.approx(4 / 260)


def test_with_speculation_a_step_is_longer_than_a_token() -> None:
    """Tokens per step times one over the speed."""
    found = measured([tick(s, tokens_per_step=4.0) for s in range(10)])

    assert found.tokens_per_step == pytest.approx(4)
    assert found.step_s == pytest.approx(0.04)


def test_one_unknown_makes_the_mean_unknown() -> None:
    """A context that was not known for a second may have been any."""
    window = SpeedWindow()
    for second in range(12):
        window.add(tick(second), None if second == 8 else 500)

    assert window.measured().context_tokens is None


def test_only_the_last_minute_counts() -> None:
    """Whoever lowers the power limit sees the difference within a minute."""
    ticks = [tick(s) for s in range(100)]
    ticks += [tick(s, decode_tokens_per_s=50.0) for s in range(100, 170)]

    assert measured(ticks).decode_tokens_per_s == pytest.approx(50)


@pytest.mark.parametrize("second", [5.0, 500.0])
def test_a_clock_that_is_set_costs_the_window_and_nothing_else(second: float) -> None:
    """Back and forward."""
    ticks = [tick(s) for s in range(10)] + [tick(second + s) for s in range(8)]

    found = measured(ticks)

    assert found.seconds <= 20
    assert found.decode_tokens_per_s == pytest.approx(100)


def test_nothing_is_measured_of_nothing() -> None:
    """An idle engine, one that does not answer, another one."""
    assert measured([]) == SpeedMeasured()
    assert measured([tick(s, running=0) for s in range(9)]) == SpeedMeasured()
    assert measured([Tick(at=float(s)) for s in range(9)]) == SpeedMeasured()
    window = SpeedWindow()
    for second in range(9):
        window.add(tick(second), 1)
    window.clear()
    assert window.measured() == SpeedMeasured()
    assert step_time(0, 10, None) is None
    assert step_time(1, 0, None) is None
