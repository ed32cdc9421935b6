"""Rates from counters, and series for charts."""

import math
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.domain.cards import CardSample, CardsReading
from studio.domain.histograms import Histogram
from studio.domain.metrics import EngineSample, HostSample, Tick
from studio.monitor import prometheus
from studio.monitor.history import History, Meter, Series
from tests.fakes.recordings import ENGINE


def sample(prompt: float = 0, generated: float = 0, **more: float) -> EngineSample:
    """Return a sample with these counters."""
    counters = {"prompt_tokens_total": prompt, "generation_tokens_total": generated, **more}
    return msgspec.convert(counters, EngineSample)


def decode_rates(counters: list[float | None], *, step_s: float = 1.0) -> list[float | None]:
    """Return the decode rate at each tick; None stands for an engine that did not answer."""
    meter = Meter()
    return [
        meter.tick(
            1000.0 + index * step_s, None if value is None else sample(generated=value), None
        ).decode_tokens_per_s
        for index, value in enumerate(counters)
    ]


def test_a_rate_is_a_mean_over_the_last_three_seconds() -> None:
    """The first tick knows nothing yet."""
    assert decode_rates([0, 10, 30, 60, 100]) == [None, 10, 15, 20, 30]


def test_decoding_does_not_fall_to_zero_between_two_steps_of_the_engine() -> None:
    """Counters of a slow engine move every other second."""
    rates = decode_rates([0, 20, 20, 40, 40, 60, 60, 80])

    assert all(rate is not None and rate > 0 for rate in rates[1:])


def test_an_idle_engine_reaches_zero_within_the_window() -> None:
    """Zero is known here, and is not a dash."""
    assert decode_rates([0, 90, 90, 90, 90])[-1] == 0


def test_a_restart_is_a_gap_and_no_spike() -> None:
    """The counter begins at 0 again, and then runs."""
    assert decode_rates([1000, 1100, 5, 25, 45]) == [None, 100, None, 20, 20]


def test_a_counter_that_overtook_its_old_value_is_not_trusted_after_a_restart() -> None:
    """If one counter fell, the engine is another one, and none of them is comparable."""
    meter = Meter()
    meter.tick(1.0, sample(prompt=500, generated=10), None)

    tick = meter.tick(2.0, sample(prompt=100, generated=4000), None)

    assert tick.decode_tokens_per_s is None
    assert tick.prefill_tokens_per_s is None


def test_a_missing_sample_is_a_gap_on_both_sides() -> None:
    """What happened in between is not known; averaging over it would hide a restart."""
    assert decode_rates([0, 10, None, 500, 510]) == [None, 10, None, None, 10]


@pytest.mark.parametrize("second", [1000.0, 990.0])
def test_a_clock_that_stands_or_goes_back_gives_no_rate(second: float) -> None:
    """Division by nothing, or by less than nothing."""
    meter = Meter()
    meter.tick(1000.0, sample(generated=0), None)

    assert meter.tick(second, sample(generated=50), None).decode_tokens_per_s is None


def test_monotonic_seconds_divide_where_they_are_given() -> None:
    """A clock that is being set must not bend the rates."""
    meter = Meter()
    meter.tick(1000.0, sample(generated=0), None, monotonic_s=5.0)

    tick = meter.tick(400.0, sample(generated=50), None, monotonic_s=6.0)

    assert tick.at == 400.0
    assert tick.decode_tokens_per_s == 50


@pytest.mark.parametrize("step_s", [0.2, 1.0, 10.0])
def test_every_sampling_interval_gives_rates(step_s: float) -> None:
    """The interval can be set from 0.2 to 10 s, which is longer than the window."""
    rates = decode_rates([index * 7.0 * step_s for index in range(30)], step_s=step_s)

    assert rates[0] is None
    assert rates[1:] == pytest.approx([7.0] * 29)


def test_prefill_counts_what_was_computed_and_not_what_was_reused() -> None:
    """A reused prefix costs nothing; counting it would show a card faster than it is."""
    meter = Meter()
    meter.tick(1.0, sample(prompt=0, cached_prompt_tokens_total=0.0), None)

    tick = meter.tick(2.0, sample(prompt=400, cached_prompt_tokens_total=384.0), None)

    assert tick.prefill_tokens_per_s == 16


def test_ttft_is_the_mean_of_those_who_got_their_first_token_since_the_last_tick() -> None:
    """And unknown when nobody did."""
    meter = Meter()
    ticks = [
        meter.tick(float(at), sample(ttft_sum_s=total, ttft_count=count), None)
        for at, (total, count) in enumerate([(1.0, 1.0), (2.0, 3.0), (2.0, 3.0), (2.5, 4.0)])
    ]

    assert [tick.ttft_s for tick in ticks] == [None, 0.5, None, 0.5]


def test_tokens_per_step_is_one_more_than_what_was_accepted() -> None:
    """Unknown without speculation, and while nothing is drafted."""
    meter = Meter()
    ticks = [
        meter.tick(float(at), sample(drafts_total=drafts, accepted_total=accepted), None)
        for at, (drafts, accepted) in enumerate([(0.0, 0.0), (10.0, 25.0)])
    ]

    assert [tick.tokens_per_step for tick in ticks] == [None, 3.5]
    assert Meter().tick(1.0, sample(), None).tokens_per_step is None


def test_prefix_hits_are_shown_over_the_last_minute() -> None:
    """A conversation's turns are minutes apart; a second's share would flicker."""
    meter = Meter()
    shares = []
    for second in range(70):
        queried, hit = (100.0, 80.0) if second >= 5 else (0.0, 0.0)
        tick = meter.tick(
            float(second), sample(prefix_queries_total=queried, prefix_hits_total=hit), None
        )
        shares.append(tick.prefix_hit_share)

    assert shares[4] is None
    assert shares[5:64] == [0.8] * 59
    assert shares[66] is None


def test_pool_and_counts_come_straight_from_the_sample() -> None:
    """Used tokens are the share of the pool."""
    engine = EngineSample(
        pool_tokens=23296,
        pool_used_share=0.25,
        running=6.0,
        waiting=2.0,
        preemptions_total=5.0,
        requests_finished_total=19.0,
    )
    host = HostSample(memory_bytes=8, memory_used_bytes=4, swap_used_bytes=2, engine_rss_bytes=1)

    tick = Meter().tick(1.0, engine, host)

    assert tick == Tick(
        at=1.0,
        pool_tokens=23296,
        pool_used_tokens=5824,
        pool_used_share=0.25,
        running=6,
        waiting=2,
        preemptions=5,
        requests_total=19,
        spill_bytes=2,
        memory_used_bytes=4,
        memory_bytes=8,
        engine_rss_bytes=1,
    )


def test_nothing_known_gives_nothing_known() -> None:
    """An unknown is shown as unknown, never as zero."""
    assert Meter().tick(1.0, None, None) == Tick(at=1.0)


def test_recorded_texts_give_the_recorded_rates() -> None:
    """From an idle engine to one under load: what moved between the two texts, over the time."""
    idle, load = (
        prometheus.parse((ENGINE / "metrics" / f"main-{name}.txt").read_text(encoding="utf-8"))
        for name in ("idle", "under-load")
    )
    meter = Meter()
    meter.tick(0.0, idle, None)

    tick = meter.tick(10.0, load, None)

    assert tick.decode_tokens_per_s == pytest.approx(50.1)
    assert tick.prefill_tokens_per_s == pytest.approx(95.7)
    assert tick.ttft_s == pytest.approx(26.093565940856934 / 25)
    assert tick.tokens_per_step == pytest.approx(1 + 93 / 57)
    assert tick.prefix_hit_share == pytest.approx(640 / 1597)
    assert tick.pool_used_tokens == round(0.03867403314917128 * 23296)


COUNTER = st.none() | st.floats(0, 1e12)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.none() | st.tuples(COUNTER, COUNTER)), max_size=30))
def test_rates_are_never_negative_and_never_infinite(
    steps: list[tuple[float, tuple[float | None, float | None] | None]],
) -> None:
    """Whatever counters and clocks do."""
    meter = Meter()
    for at, counters in steps:
        engine = None
        if counters is not None:
            engine = EngineSample(
                prompt_tokens_total=counters[0],
                cached_prompt_tokens_total=counters[1],
                generation_tokens_total=counters[1],
                ttft_sum_s=counters[0],
                ttft_count=counters[1],
                drafts_total=counters[0],
                accepted_total=counters[1],
                prefix_queries_total=counters[0],
                prefix_hits_total=counters[1],
            )
        tick = meter.tick(at, engine, None)
        for value in (
            tick.decode_tokens_per_s,
            tick.prefill_tokens_per_s,
            tick.ttft_s,
            tick.tokens_per_step,
            tick.prefix_hit_share,
        ):
            assert value is None or value >= 0
        assert tick.prefix_hit_share is None or tick.prefix_hit_share <= 1


@given(st.lists(st.none() | st.integers(0, 100), min_size=2, max_size=60))
def test_a_rate_never_exceeds_the_fastest_second(steps: list[int | None]) -> None:
    """No spike: the engine made at most 100 tokens in any second; None is a second without answer.

    After a None the engine may have been restarted.
    """
    counters: list[float | None] = []
    total = 0.0
    for step in steps:
        total = 0.0 if step is None else total + step
        counters.append(None if step is None else total)

    for rate in decode_rates(counters):
        assert rate is None or rate <= 100


def filled(count: int, *, capacity: int = 3600) -> History:
    """Return a history with one tick a second and a single peak."""
    history = History(capacity)
    for second in range(count):
        history.append(
            Tick(
                at=10_000.0 + second,
                decode_tokens_per_s=500.0 if second == 777 else float(second % 10),
                running=None if 100 <= second < 200 else 3,
            )
        )
    return history


def test_the_ring_keeps_the_newest_ticks() -> None:
    """An hour at one tick a second."""
    history = filled(5000)

    assert len(history) == 3600
    assert history.last is not None
    assert history.last.at == 14_999.0
    assert [tick.at for tick in history.since(14_997.0)] == [14_997.0, 14_998.0, 14_999.0]
    assert history.since(20_000.0) == []
    assert len(history.since(0.0)) == 3600
    assert History().last is None


def test_few_ticks_are_shown_as_they_are() -> None:
    """Nothing is thinned that fits."""
    series = filled(100).series("decode_tokens_per_s", 60, 500)

    assert len(series) == 61
    assert series[-1] == (10_099.0, 9.0)


@pytest.mark.parametrize("points", [1, 2, 10, 100, 300])
def test_thinning_keeps_the_peak_and_the_bound(points: int) -> None:
    """A spike that a chart swallows is a spike that nobody sees."""
    series = filled(3600).series("decode_tokens_per_s", 3600, points)

    assert 0 < len(series) <= points
    assert [at for at, _ in series] == sorted(at for at, _ in series)
    if points >= 10:
        assert (10_777.0, 500.0) in series
        assert min(value for _, value in series if value is not None) == 0.0


def test_a_long_gap_stays_a_gap() -> None:
    """The line must break where nothing was known."""
    series = filled(1000).series("running", 1000, 100)

    assert any(value is None for at, value in series if 10_100 <= at < 10_200)
    assert {value for at, value in series if not 10_080 <= at < 10_220} == {3}


def test_a_moving_chart_does_not_shimmer() -> None:
    """Stretches are aligned to the clock, so old points stay where they were."""
    history = filled(3599)
    before = set(history.series("decode_tokens_per_s", 600, 60))
    history.append(Tick(at=13_599.0, decode_tokens_per_s=1.0))

    after = set(history.series("decode_tokens_per_s", 600, 60))

    assert len(before & after) >= len(before) - 4


def test_an_empty_history_has_no_series() -> None:
    """The first paint comes before the first tick."""
    assert History().series("running", 60, 100) == []
    assert filled(10).series("running", 60, 0) == []


def test_every_series_is_a_field_of_a_tick() -> None:
    """A chart that asks for a field which is gone must fail here."""
    several = {"at", "cards", "cards_note", "spill", "acceptance", "waiting_by_reason"}

    assert set(get_args(Series)) == set(Tick.__struct_fields__) - several


def test_large_numbers_stay_finite() -> None:
    """Counters of a server that ran for a year."""
    rates = decode_rates([1e15, 1e15 + 100, 1e15 + 200])

    assert rates[1:] == [100, 100]
    assert all(rate is None or math.isfinite(rate) for rate in rates)


def histogram(*counts: float, bounds: tuple[float, ...] = (0.1, 0.5, math.inf)) -> Histogram:
    """Return a histogram with so many values up to each bound."""
    return Histogram(bounds=bounds, counts=counts, sum=None)


def test_quantiles_are_of_the_last_minute_and_not_of_the_whole_life() -> None:
    """A thousand slow first tokens before must not hide ten fast ones now."""
    meter = Meter()
    meter.tick(0.0, EngineSample(ttft=histogram(0, 1000, 1000), itl=histogram(5, 5, 5)), None)

    tick = meter.tick(1.0, EngineSample(ttft=histogram(10, 1010, 1010)), None)

    assert (tick.ttft_p50_s, tick.ttft_p95_s) == (pytest.approx(0.05), pytest.approx(0.095))
    assert tick.itl_p50_s is None


def test_quantiles_are_unknown_where_no_value_came() -> None:
    """Not the last known one for ever."""
    meter = Meter()
    for at in range(70):
        tick = meter.tick(float(at), EngineSample(ttft=histogram(3, 3, 3)), None)

    assert tick.ttft_p50_s is None


def test_acceptance_is_told_for_each_place_of_a_draft() -> None:
    """Which says whether a drafter is bad at once or only far ahead."""
    meter = Meter()
    begin = EngineSample(drafts_total=100.0, accepted_by_position=(50.0, 20.0, 10.0))
    end = EngineSample(drafts_total=200.0, accepted_by_position=(130.0, 70.0, 20.0))
    meter.tick(0.0, begin, None)

    assert meter.tick(1.0, end, None).acceptance == pytest.approx((0.8, 0.5, 0.1))
    assert meter.tick(2.0, end, None).acceptance == pytest.approx((0.8, 0.5, 0.1))


def test_acceptance_without_a_draft_is_unknown() -> None:
    """0 of 0."""
    meter = Meter()
    sample_ = EngineSample(drafts_total=100.0, accepted_by_position=(50.0,))
    meter.tick(0.0, sample_, None)

    assert meter.tick(1.0, sample_, None).acceptance is None


@pytest.mark.parametrize(
    ("running", "expected"), [((8.0, 8.0), 0.02), ((8.0, 0.0), None), ((0.0, 8.0), None)]
)
def test_a_step_takes_the_time_in_which_the_engine_worked(
    running: tuple[float, float], expected: float | None
) -> None:
    """Time at rest would look like slow steps."""
    meter = Meter()
    meter.tick(0.0, EngineSample(running=running[0], iteration_tokens=histogram(5, 5, 100)), None)

    end = EngineSample(running=running[1], iteration_tokens=histogram(5, 5, 150))

    assert meter.tick(1.0, end, None).step_s == (expected and pytest.approx(expected))


def test_the_kv_tier_is_told_in_bytes_a_second_each_way() -> None:
    """Loading is reuse, storing is what it costs."""
    meter = Meter()
    meter.tick(0.0, EngineSample(kv_load_bytes_total=0.0, kv_store_bytes_total=1e6), None)

    tick = meter.tick(2.0, EngineSample(kv_load_bytes_total=4e6, kv_store_bytes_total=1e6), None)

    assert (tick.kv_load_bytes_per_s, tick.kv_store_bytes_per_s) == (2e6, 0.0)


def test_waiting_is_told_by_reason_where_the_engine_tells() -> None:
    """No room, or put off."""
    reasons = EngineSample(waiting_by_reason={"capacity": 3.0, "deferred": 0.0})

    assert Meter().tick(0.0, reasons, None).waiting_by_reason == {"capacity": 3, "deferred": 0}
    assert Meter().tick(0.0, EngineSample(), None).waiting_by_reason is None


def test_cards_and_what_is_wrong_with_them_come_along() -> None:
    """A tick is all of one second."""
    card = CardSample(index=0, name="NVIDIA H200")

    tick = Meter().tick(0.0, None, None, cards=CardsReading(cards=(card,), note="Late."))

    assert (tick.cards, tick.cards_note) == ((card,), "Late.")
    assert Meter().tick(0.0, None, None).cards is None


def test_the_share_of_accepted_tokens_and_whole_requests_come_from_their_own_counts() -> None:
    """Of 100 drafted tokens 60 were accepted; two requests took between one and two seconds."""
    meter = Meter()
    meter.tick(
        0.0,
        EngineSample(accepted_total=0, draft_tokens_total=0, end_to_end=histogram(0, 0, 0)),
        None,
    )

    tick = meter.tick(
        1.0,
        EngineSample(accepted_total=60, draft_tokens_total=100, end_to_end=histogram(0, 2, 2)),
        None,
    )

    assert tick.draft_accepted_share == 0.6
    assert tick.end_to_end_p50_s is not None
    assert tick.end_to_end_p95_s is not None
    assert 0 < tick.end_to_end_p50_s < tick.end_to_end_p95_s
