"""Lines, scales and words of the monitor's charts."""

import pytest

from studio.domain.cards import CardSample
from studio.domain.metrics import Tick
from studio.domain.spill import SpillFlow, SpillKind
from studio.monitor import readings
from studio.ui.viewmodels import monitor
from studio.ui.viewmodels.chart_kinds import BY_ID, KINDS, SPILL_WORDS
from studio.ui.viewmodels.track import Spot
from studio.ui.viewmodels.words import Role

TICK = Tick(
    at=1.0,
    running=3,
    decode_tokens_per_s=118.4,
    cards=(
        CardSample(index=0, name="A", power_w=310.0),
        CardSample(index=10, name="B", power_w=None, temperature_c=61),
    ),
    spill=(
        SpillFlow(kind=SpillKind.SWAP, bytes=5, where="a"),
        SpillFlow(kind=SpillKind.SWAP, bytes=7, where="b"),
        SpillFlow(kind=SpillKind.CPU_KV_TIER, bytes_per_s=2.5),
    ),
)


def test_a_live_second_gives_what_the_history_would_keep_of_it() -> None:
    """Otherwise a chart would bend where the history ends and the present begins."""
    kept = readings.values(TICK)

    assert kept
    for name, value in kept.items():
        assert monitor.value_of(TICK, name) == value, name
    for name in ("waiting", "card10.power_w", "card3.power_w", "spill.host-kv.bytes", "nonsense"):
        assert monitor.value_of(TICK, name) is None, name


def test_a_series_that_has_just_begun_is_noticed() -> None:
    """An engine came up, or a card was found, while one looks."""
    known = ("running", "decode_tokens_per_s", "spill.swap.bytes")

    assert monitor.missing(KINDS, TICK, known) == {
        "card0.power_w",
        "card10.temperature_c",
        "spill.cpu-kv-tier.bytes_per_s",
    }
    assert monitor.missing(KINDS, TICK, readings.values(TICK)) == frozenset()


def test_every_line_of_every_chart_is_a_series_that_can_be_kept() -> None:
    """A misspelt name would be an empty chart for ever."""
    cards, flows = CardSample.__struct_fields__, ("bytes", "bytes_per_s", "share")
    for kind in KINDS:
        for line in kind.lines:
            head, _, field = line.series.partition(".")
            if head == "card*":
                assert field in cards, line.series
            elif head == "spill":
                assert field.removeprefix("*.") in flows, line.series
            else:
                assert line.series in Tick.__struct_fields__, line.series


def test_every_kind_of_spill_has_a_word() -> None:
    """A new kind must not show its code."""
    assert set(SPILL_WORDS) == set(SpillKind)


def test_cards_have_a_line_each_in_the_order_of_their_numbers() -> None:
    """Eight cards, and ten is after two."""
    known = [f"card{number}.power_w" for number in (10, 2, 0)] + ["running"]

    lines = monitor.lines_of(BY_ID["card-power"], known)

    assert [line.name for line in lines] == ["card 0", "card 2", "card 10"]
    assert len({line.role for line in lines}) == 3


def test_spill_that_hurts_is_red_and_what_was_meant_is_not() -> None:
    """The colour is the message of that chart."""
    known = ("spill.swap.bytes", "spill.cpu-kv-tier.bytes", "spill.wddm-shared.bytes")

    roles = {line.name: line.role for line in monitor.lines_of(BY_ID["spill"], known)}

    assert roles["KV tier"] is Role.CLEAR
    assert {roles["swap"], roles["shared"]} == {Role.HARM, Role.WARN}


def test_charts_have_their_place_before_anything_is_known() -> None:
    """What is measured later fills a chart and moves none; only cards must be there."""
    choice = {"pool": False, "card-clock": True, "steps": False, "pressure": True}
    without = [kind.id for kind in monitor.chosen_kinds(choice, (), has_cards=False)]
    assert not any(name.startswith("card-") for name in without)
    assert {"pool", "steps"}.isdisjoint(without)
    assert {"decode", "spill", "pressure", "memory"} <= set(without)

    shown = monitor.chosen_kinds(choice, (), has_cards=True)

    names = [kind.id for kind in shown]
    assert names[: len(without)] == without
    assert "card-clock" in names
    known = ("running", "card0.sm_clock_mhz")
    assert monitor.chosen_kinds(choice, known, has_cards=False)[-1].id == "card-clock"
    assert monitor.wanted(shown, known) == (
        "running",
        "card0.sm_clock_mhz",
    )


@pytest.mark.parametrize(
    ("kind", "highest", "top", "marks"),
    [
        ("pool", 68_605.0, 80_000.0, ["0", "40,000", "80,000"]),
        ("reuse", 0.3, 1.0, ["0", "50", "100"]),
        ("requests", None, 4.0, ["0", "2", "4"]),
        ("itl", 0.034, 0.04, ["0", "20", "40"]),
        ("memory", 13.2 * 1024**3, 20.0 * 1024**3, ["0", "10 GiB", "20 GiB"]),
        ("spill-moves", 0.0, 1024.0**2, ["0", "512 KiB", "1 MiB"]),
        ("spill", 900.0 * 1024**3, 1_000.0 * 1024**3, ["0", "500 GiB", "1,000 GiB"]),
    ],
)
def test_scales_end_at_a_round_figure_above_the_largest(
    kind: str, highest: float | None, top: float, marks: list[str]
) -> None:
    """Bytes are round in GiB, milliseconds in milliseconds."""
    found = monitor.top_of(BY_ID[kind], highest)

    assert found == pytest.approx(top)
    assert [text for _, text in monitor.marks_of(BY_ID[kind], found)] == marks


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("pool", 1_234.6, "1,235 tokens"),
        ("decode", 118.4, "118 tok/s"),
        ("itl", 0.0214, "21 ms"),
        ("ttft", 0.1749, "0.17 s"),
        ("requests", 3.0, "3"),
        ("requests", 2.5, "2.5"),
        ("card-load", 0.861, "86 %"),
        ("memory", 5.2 * 1024**3, "5.20 GiB"),
        ("spill-moves", 2.0 * 1024**2, "2.0 MiB/s"),
        ("steps", 4.618, "4.62 tok/step"),
        ("card-heat", None, "–"),
    ],
)
def test_values_carry_their_unit(kind: str, value: float | None, text: str) -> None:
    """As everywhere else."""
    assert monitor.value_words(BY_ID[kind], value) == text


def test_the_head_names_each_value_or_of_many_the_largest() -> None:
    """Eight cards do not fit; what is not known is a dash."""
    power = BY_ID["card-power"]
    lines = monitor.lines_of(power, [f"card{number}.power_w" for number in range(5)])
    two = monitor.lines_of(BY_ID["ttft"], ("ttft_p50_s", "ttft_p95_s"))

    assert monitor.head_of(power, lines, [1.0, None, 312.0, 3.0, 4.0]).now == (
        "312 W at most, card 2"
    )
    assert monitor.head_of(power, lines, [None] * 5).now == "–"
    assert (
        monitor.head_of(BY_ID["ttft"], two, [0.42, 0.17]).now
        == "95 % within 0.42 s · half within 0.17 s"
    )


def test_a_moment_of_a_long_span_says_how_far_values_went() -> None:
    """One point of 90 days stands for hours."""
    kind = BY_ID["decode"]

    assert (
        monitor.spot_words(kind, Spot(0.0, 0.0, 120.0, 180.0))
        == "120 tok/s (0.0 tok/s – 180 tok/s)"
    )
    assert monitor.spot_words(kind, Spot(0.0, 5.0, 5.0, 5.0)) == "5.0 tok/s"
    assert monitor.spot_words(kind, None) == "–"
