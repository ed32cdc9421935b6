"""A run beside an earlier one."""

import msgspec
import pytest

from studio.benchmark.compare import cards_text, is_of_a_kind, with_earlier
from studio.domain.bench import BenchResult, BenchVerdict
from tests.benchmark.samples import LOAD, card, part, result

SAME = 0.05
FEWER = "a step brings fewer tokens (2.00, then 3.00): the drafter's guesses"


def compared(now: BenchResult, then: BenchResult) -> list[str]:
    """Return all that is said of two runs."""
    found = with_earlier(now, then, SAME)
    return [*(one.sentence for one in found.differences), *found.notes]


def test_the_noise_is_no_difference() -> None:
    """Two runs never have the same figures."""
    found = with_earlier(
        result(part(decode_tokens_per_s=117.0)), result(part(decode_tokens_per_s=121.0)), SAME
    )

    assert {one.verdict for one in found.differences} == {BenchVerdict.SAME}
    assert found.notes == ()


@pytest.mark.parametrize(
    ("now", "cause"),
    [
        (
            {"tokens_per_step": 2.0},
            f"{FEWER}; a step takes as long as then",
        ),
        ({"step_s": 0.05}, "a step takes longer (50.0 ms, then 25.0 ms)"),
        (
            {"tokens_per_step": 2.0, "step_s": 0.05},
            f"{FEWER}; a step takes longer (50.0 ms, then 25.0 ms)",
        ),
        ({"tokens_per_step": None}, None),
    ],
)
def test_a_slower_answer_is_split_into_its_two_causes(
    now: dict[str, float | None], cause: str | None
) -> None:
    """The one is cured at the drafter, the other at the card."""
    slower = part(decode_tokens_per_s=80.0, **now)

    said = compared(result(slower), result(part()))[0]

    expected = "Decode, one stream, one answer: 80.0 tok/s, then 120 tok/s: 33 % less"
    assert said == f"{expected}; {cause}." if cause else f"{expected}."


def test_less_time_is_better_and_less_speed_is_worse() -> None:
    """The sign alone does not say."""
    now = result(part("turns-later", kind="turns", ttft_p50_s=0.1), part("prefill-1k"))
    then = result(
        part("turns-later", kind="turns", ttft_p50_s=0.2),
        part("prefill-1k", prefill_tokens_per_s=2_400.0),
    )
    found = with_earlier(
        msgspec.convert(msgspec.to_builtins(now), BenchResult),
        msgspec.convert(msgspec.to_builtins(then), BenchResult),
        SAME,
    )

    by_part = {one.part: one.verdict for one in found.differences}
    assert by_part["turns-later"] is BenchVerdict.BETTER
    assert by_part["prefill-1k"] is BenchVerdict.WORSE


def test_whatever_else_differs_is_named() -> None:
    """A difference with a known reason needs no search."""
    now = result(
        part(),
        part("decode-4", is_disturbed=True),
        cards=(card(power_limit_w=250.0),),
        driver="590.2",
        preset_digest="d2",
        settings={"max_num_seqs": 4},
        overrides={"draft_tokens": "0"},
    )
    then = result(part(), part("copy"), settings={"max_num_seqs": 8})

    said = "\n".join(compared(now, then))

    assert "Another power limit: 250 W, then 350 W." in said
    assert "Another driver: 590.2, then 580.1." in said
    assert "The preset was changed in between." in said
    assert "Another setting: max_num_seqs is 4, was 8." in said
    assert "Another setting: draft_tokens is 0, was not set." in said
    assert "Other requests ran during this run" in said
    assert "Measured then and not now: Copying a text." in said


def test_runs_of_other_machines_and_presets_can_be_compared_on_demand() -> None:
    """The person asked; what is not alike is said."""
    now = result(part(), preset="other", runtime_id="r2", cards_key="GPU-2")

    said = "\n".join(compared(now, result(part())))

    assert "Another preset: other, then 27b-dflash2." in said
    assert "Another runtime: cu13-hyperqwen-0.31.0 r2, then cu13-hyperqwen-0.31.0 r1." in said
    assert "Other cards: RTX 3090 at 350 W, then RTX 3090 at 350 W." in said


def test_speeds_of_different_loads_are_not_compared() -> None:
    """A quick run asks for less and is faster for it."""
    now = result(part(decode_tokens_per_s=999.0), load=LOAD.digest(is_quick=True))

    said = "\n".join(compared(now, result(part())))

    assert "asked different things" in said
    assert "999" not in said


def test_runs_of_a_kind_have_preset_runtime_card_and_load_in_common() -> None:
    """What is compared unasked must be comparable."""
    assert is_of_a_kind(result(), result(id="20261129-110000"))
    for change in ({"preset": "x"}, {"runtime_id": "x"}, {"cards_key": "x"}, {"load": "x"}):
        assert not is_of_a_kind(result(), result(**change))


def test_cards_are_named_once() -> None:
    """Eight times the same name says less than a number."""
    assert cards_text(result(cards=(card(), card()))) == "2 × RTX 3090 at 350 W"
    assert cards_text(result(cards=(card(power_limit_w=None),))) == "RTX 3090"
    assert cards_text(result(cards=())) == "AMD EPYC 7B13"
    assert cards_text(result(cards=(), processor=None)) == "processor"
    assert cards_text(result(cards=(), is_adopted=True)) == "not known"
